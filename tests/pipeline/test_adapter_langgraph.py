"""LangGraph's store over a memory, held against LangGraph's own; a graph that uses it; and the retriever.

LangGraph publishes a conformance kit for checkpointers alone (langgraph-checkpoint-conformance); for stores its own
``InMemoryStore`` is the reference, so any sequence of operations is done to both, and must answer alike.
"""

import asyncio
import itertools
from typing import TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("langgraph", reason="the extra langgraph is not installed")

from langgraph.graph import START, StateGraph
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from mnemic import Memory
from mnemic.adapters.langgraph import MemoryRetriever, MemoryStore, label_of_user
from mnemic.errors import InvalidInput, InvalidScope

labels = st.sampled_from(["a", "b", "ü"])
namespaces = st.lists(labels, min_size=1, max_size=3).map(tuple)
prefixes = st.lists(labels, max_size=2).map(tuple)
keys = st.sampled_from(["k1", "k2", "x\n["])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, "", "cat", "A cat.\nB"]))
values = st.dictionaries(
    st.sampled_from(["text", "n", "deep"]),
    st.one_of(scalars, st.lists(scalars, max_size=2), st.fixed_dictionaries({"n": scalars})),
    max_size=3,
)
paths = st.lists(st.sampled_from(["a", "b", "*"]), min_size=1, max_size=2).map(tuple)
conditions = st.builds(MatchCondition, match_type=st.sampled_from(["prefix", "suffix"]), path=paths)
filters = st.one_of(
    st.none(),
    st.dictionaries(
        st.sampled_from(["text", "deep"]), st.one_of(scalars, st.fixed_dictionaries({"n": scalars})), max_size=2
    ),
    st.builds(lambda op, n: {"text": {op: n}}, st.sampled_from(["$eq", "$ne"]), scalars),
)
plainly = st.none()
"""Said outright, or hypothesis tries what the field's type admits; no two stores rank alike."""
batches = st.lists(
    st.one_of(
        st.builds(
            PutOp, namespace=namespaces, key=keys, value=st.one_of(st.none(), values), index=plainly, ttl=plainly
        ),
        st.builds(GetOp, namespace=namespaces, key=keys),
        st.builds(
            SearchOp,
            namespace_prefix=prefixes,
            filter=filters,
            limit=st.just(100),
            offset=st.just(0),
            query=plainly,
        ),
        st.builds(
            ListNamespacesOp,
            match_conditions=st.one_of(st.none(), st.lists(conditions, max_size=2).map(tuple)),
            max_depth=st.one_of(st.none(), st.integers(1, 3)),
            limit=st.sampled_from([1, 100]),
            offset=st.integers(0, 1),
        ),
    ),
    max_size=4,
)


def plain(result):
    """An answer without times; what a search lists in the order of its addresses, for no order is promised."""
    if isinstance(result, list):
        return sorted(map(plain, result), key=repr)
    if result is None or isinstance(result, tuple):
        return result
    return (result.namespace, result.key, repr(result.value))


def emptied(store):
    """LangGraph's own keeps the namespaces of what was deleted; no other of its stores does."""
    for namespace in [namespace for namespace, held in store._data.items() if not held]:
        del store._data[namespace]


def listed_apart(ops):
    """The same without gets beside a listing: in LangGraph's own store a get of nothing makes its namespace."""
    lists = any(isinstance(op, ListNamespacesOp) for op in ops)
    return [op for op in ops if not (lists and isinstance(op, GetOp))]


NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One memory for all examples, each of which has a user of its own."""
    with Memory.open(tmp_path_factory.mktemp("shared") / "m.db", embedder=None) as memory:
        yield memory


@settings(max_examples=30, deadline=None)
@given(st.lists(batches, max_size=6))
def test_it_answers_as_langgraph_s_own_store(shared, given):
    ours, theirs = MemoryStore(shared, user_id=f"user {next(NUMBERS)}"), InMemoryStore()
    for ops in map(listed_apart, given):
        assert [plain(one) for one in ours.batch(ops)] == [plain(one) for one in theirs.batch(ops)]
        emptied(theirs)


@pytest.fixture
def store(memory):
    return MemoryStore(memory, user_id="ana")


def test_numbers_are_compared_as_in_langgraph_s_own(store):
    theirs = InMemoryStore()
    for number, name in ((1, "one"), (2.5, "two"), ("3", "three")):
        for one in (store, theirs):
            one.put(("n",), name, {"n": number})
    for operator in ("$gt", "$gte", "$lt", "$lte"):
        wanted = {"n": {operator: 2.5}}
        found, expected = (sorted(item.key for item in one.search(("n",), filter=wanted)) for one in (store, theirs))
        assert found == expected
    with pytest.raises(ValueError, match="Unsupported operator"):
        store.search(("n",), filter={"n": {"$near": 1}})


def test_pages_neither_skip_nor_repeat_and_the_latest_is_first(store):
    for number in range(7):
        store.put(("n",), str(number), {"n": number})
    store.put(("n",), "2", {"n": "again"})
    pages = [[item.key for item in store.search(("n",), limit=3, offset=offset)] for offset in (0, 3, 6)]
    assert pages == [["2", "6", "5"], ["4", "3", "1"], ["0"]]


def test_a_query_finds_the_item_that_means_it(store):
    store.put(("facts", "home"), "bees", {"text": "The landlord keeps bees on the roof."})
    store.put(("facts", "home"), "flat", {"text": "The flat is quiet.", "topic": "home"})
    store.put(("facts", "work"), "roof", {"text": "The roof of the office leaks."})
    found = store.search(("facts",), query="Who keeps bees on the roof?")
    assert (found[0].key, found[0].namespace) == ("bees", ("facts", "home"))
    assert found[0].score > found[-1].score
    assert [item.key for item in store.search(("facts", "work"), query="bees on the roof")] == ["roof"]
    assert [item.key for item in store.search(("facts",), query="the quiet roof", filter={"topic": "home"})] == ["flat"]
    assert len(store.search(("facts",), query="the roof", limit=1)) == 1
    first, second = (store.search(("facts",), query="the roof", limit=1, offset=offset) for offset in (0, 1))
    assert first[0].key != second[0].key
    assert store.search(("none",), query="bees") == []


def test_only_indexed_fields_are_searched_and_what_is_not_comes_last_without_a_score(store):
    store.put(("a",), "in", {"text": "Bees hum.", "secret": "zebra"}, index=["text"])
    store.put(("a",), "out", {"text": "Zebra bees."}, index=False)
    found = store.search(("a",), query="bees hum zebra")
    assert [(item.key, item.score is None) for item in found] == [("in", False), ("out", True)]
    paged = [store.search(("a",), query="bees hum zebra", limit=1, offset=offset) for offset in range(3)]
    assert [[item.key for item in page] for page in paged] == [["in"], ["out"], []]


def test_words_are_kept_as_they_are_and_are_found_by_every_search(store, memory):
    text = "  The landlord keeps\tbees.\n\nOn the roof."
    store.put(("facts",), "bees", {"text": text})
    assert store.get(("facts",), "bees").value == {"text": text}
    assert [turn.text for turn in memory.get_all(user_id="ana")] == [text]
    assert memory.search("Who keeps bees?", user_id="ana").results[0].session_id == 'langgraph:["facts", "bees"]'


def test_putting_again_does_nothing_and_replacing_leaves_nothing(store, memory):
    store.put(("a",), "k", {"text": "one"})
    before = store.get(("a",), "k")
    turns = memory.get_all(user_id="ana")
    store.put(("a",), "k", {"text": "one"})
    assert memory.get_all(user_id="ana") == turns
    store.put(("a",), "k", {"text": "two"})
    after = store.get(("a",), "k")
    assert (after.created_at, after.value) == (before.created_at, {"text": "two"})
    assert after.updated_at > before.updated_at
    assert [turn.text for turn in memory.get_all(user_id="ana")] == ["two"]
    store.delete(("a",), "k")
    assert memory.get_all(user_id="ana") == []


def test_what_was_said_is_out_of_its_reach(store, memory):
    memory.add("I row on Sundays.", user_id="ana", session_id='langgraph:["a", "k"]')
    store.delete(("a",), "k")
    assert store.search(()) == []
    assert len(memory.get_all(user_id="ana")) == 1


def test_long_addresses_stay_apart(store):
    for end in "ab":
        store.put(("n" * 600,), "k" + end, {"text": end})
    assert [store.get(("n" * 600,), "k" + end).value["text"] for end in "ab"] == ["a", "b"]


def test_the_namespace_may_say_whose_it_is(memory):
    store = MemoryStore(memory, user_id=label_of_user(1))
    store.put(("memories", "ana"), "k", {"text": "Ana rows."})
    store.put(("memories", "bo"), "k", {"text": "Bo sings."})
    assert memory.users() == ["ana", "bo"]
    assert [item.value["text"] for item in store.search(("memories", "ana"))] == ["Ana rows."]
    assert store.list_namespaces(prefix=("memories", "bo")) == [("memories", "bo")]
    for nobody in (
        lambda: store.search(("memories",)),
        lambda: store.list_namespaces(),
        lambda: store.get(("memories",), "k"),
    ):
        with pytest.raises(InvalidScope):
            nobody()
    with pytest.raises(InvalidScope):
        store.list_namespaces(prefix=("memories", "*"))


def test_a_user_is_required(memory):
    with pytest.raises(TypeError):
        MemoryStore(memory)
    with pytest.raises(InvalidScope):
        MemoryStore(memory, user_id="")


def test_values_are_json_and_namespaces_are_langgraph_s(store):
    with pytest.raises(InvalidInput):
        store.put(("a",), "k", {"x": object()})
    for wrong in ((), ("a.b",), ("",), ("langgraph",)):
        with pytest.raises(InvalidNamespaceError):
            store.put(wrong, "k", {})
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {}, ttl=3)


def test_everything_can_be_awaited(store):
    async def work():
        await store.aput(("a",), "k", {"text": "Bees hum."})
        found = await store.asearch(("a",), query="bees")
        spaces = await store.alist_namespaces()
        item = await store.aget(("a",), "k")
        await store.adelete(("a",), "k")
        return found[0].key, spaces, item.value, await store.aget(("a",), "k")

    assert asyncio.run(work()) == ("k", [("a",)], {"text": "Bees hum."}, None)


class State(TypedDict):
    said: str
    known: list[str]


def test_a_graph_remembers_from_one_run_to_the_next(memory):
    def remember(state: State, *, store: BaseStore) -> State:
        known = [item.value["text"] for item in store.search(("facts",), query=state["said"])]
        store.put(("facts",), state["said"], {"text": state["said"]})
        return {"said": state["said"], "known": known}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    graph = builder.compile(store=MemoryStore(memory, user_id="ana"))
    assert graph.invoke({"said": "The landlord keeps bees."})["known"] == []
    assert graph.invoke({"said": "Who keeps bees?"})["known"] == ["The landlord keeps bees."]


def test_the_retriever_gives_words_with_what_cites_them(memory):
    memory.add({"role": "user", "name": "Ana", "content": "I keep bees.", "id": "m1"}, user_id="ana", session_id="s")
    retriever = MemoryRetriever(memory=memory, user_id="ana", top_k=3)
    [found] = retriever.invoke("Who keeps bees?")
    assert found.page_content == "Ana (undated): I keep bees."
    assert (found.metadata["turn_ids"], found.metadata["session_id"]) == (["m1"], "s")
    assert asyncio.run(retriever.ainvoke("Who keeps bees?"))[0].id == found.id
    assert MemoryRetriever(memory=memory, user_id="bo").invoke("Who keeps bees?") == []
    with pytest.raises(ValueError, match="user_id"):
        MemoryRetriever(memory=memory, user_id=" ")
