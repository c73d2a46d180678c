"""mem0's interface over mnemic: called as theirs and answering in their shapes, as recorded from mem0 itself."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import logging
from pathlib import Path

import pytest

from mnemic import Memory as Words
from mnemic.compat.mem0 import AsyncMemory, Memory

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads((ROOT / "tests" / "data" / "mem0_shapes.json").read_text(encoding="utf-8"))
_spec = importlib.util.spec_from_file_location("mem0_shapes", ROOT / "scripts" / "mem0_shapes.py")
recorder = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(recorder)
OURS = {"search with a user beside the filters"}
"""What mem0 2 refuses and mem0 1 took: here it works."""


@pytest.fixture
def theirs(memory):
    """mem0's interface over an empty memory."""
    return Memory(memory)


# as recorded ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [Memory, AsyncMemory])
def test_methods_take_what_mem0_s_take(kind):
    signatures = recorder.signatures(kind)
    for name, parameters in RECORDED["signatures"][kind.__name__].items():
        # ``llm`` is a model of theirs for one call; no model rewords anything here.
        assert signatures[name] == [one for one in parameters if one[0] != "llm"], name


@pytest.mark.parametrize("name", recorder.METHODS)
def test_what_mem0_has_to_be_awaited_for_has_to_be_here(name):
    assert inspect.iscoroutinefunction(getattr(AsyncMemory, name)) == (name not in ("from_config", "close"))


def test_results_have_mem0_s_shapes(theirs):
    shapes = {name: recorder.shape(answer) for name, answer in recorder.scenario(theirs).items()}
    assert shapes == RECORDED["shapes"]


def test_what_mem0_refuses_is_refused_with_the_same_kind_of_error(theirs):
    refused = recorder.refusals(theirs)
    assert refused == {name: kind for name, kind in RECORDED["refusals"].items() if name not in OURS}


# what it does ---------------------------------------------------------------------------------------------


def texts(found):
    return [one["memory"] for one in found["results"]]


def test_words_are_kept_and_found(theirs, memory):
    said = "I'm allergic to  bee stings,\n so I never go up there."
    theirs.add([{"role": "user", "name": "Ana", "content": said}], user_id="ana", run_id="r1", metadata={"n": 1})
    [turn] = memory.get_all(user_id="ana", session_id="r1")
    assert (turn.text, turn.speaker, turn.metadata["n"]) == (said, "Ana", 1)
    [found] = theirs.search("bee stings?", filters={"user_id": "ana"})["results"]
    assert (found["memory"], found["metadata"], found["run_id"]) == (said, {"n": 1}, "r1")
    assert found == {**theirs.get(found["id"]), "score": found["score"]}
    assert theirs.search("bee stings?", filters={"user_id": "bo"})["results"] == []


def test_an_update_is_found_in_place_of_what_it_replaces_and_both_are_in_the_history(theirs, memory):
    [added] = theirs.add("I row on Sundays.", user_id="ana", metadata={"mood": "good"})["results"]
    theirs.update(added["id"], text="I row on Mondays.")
    theirs.update(added["id"], data="I row on Fridays.", metadata={"user_id": "bo", "sure": True})
    now = theirs.get(added["id"])
    assert (now["memory"], now["metadata"], now["user_id"]) == (
        "I row on Fridays.", {"mood": "good", "sure": True}, "ana",
    )  # fmt: skip
    assert texts(theirs.get_all(filters={"user_id": "ana"})) == ["I row on Fridays."]
    assert texts(theirs.search("When do I row?", filters={"user_id": "ana"}, threshold=0.0)) == ["I row on Fridays."]
    history = theirs.history(added["id"])
    assert [(one["event"], one["old_memory"], one["new_memory"]) for one in history] == [
        ("ADD", None, "I row on Sundays."),
        ("UPDATE", "I row on Sundays.", "I row on Mondays."),
        ("UPDATE", "I row on Mondays.", "I row on Fridays."),
    ]
    assert len(memory.get_all(user_id="ana")) == 3  # no word is lost
    theirs.delete(added["id"])
    assert (theirs.get(added["id"]), theirs.history(added["id"])) == (None, [])
    assert memory.get_all(user_id="ana") == []


def test_metadata_alone_is_added_to(theirs):
    [added] = theirs.add("I row.", user_id="ana", metadata={"a": 1})["results"]
    theirs.update(added["id"], metadata={"b": 2})
    assert theirs.get(added["id"])["metadata"] == {"a": 1, "b": 2}
    assert len(theirs.history(added["id"])) == 1


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"topic": "work"}, [0, 1]),
        ({"stars": {"gte": 2}}, [1, 2]),
        ({"topic": {"in": ["home"]}}, [2]),
        ({"topic": {"icontains": "WOR"}}, [0, 1]),
        ({"stars": "*"}, [0, 1, 2]),
        ({"note": "*"}, [1]),
        ({"AND": [{"topic": "work"}, {"stars": {"gt": 1}}]}, [1]),
        ({"OR": [{"topic": "home"}, {"stars": 1}]}, [0, 2]),
        ({"NOT": [{"topic": "home"}, {"stars": 1}]}, [1]),
        ({"actor_id": "Ana"}, [0]),
        ({"role": "assistant"}, [1]),
    ],
)
def test_filters_are_mem0_s(theirs, filters, found):
    said = [
        ({"role": "user", "name": "Ana", "content": "I row at dawn."}, {"topic": "work", "stars": 1}),
        ({"role": "assistant", "content": "You row at dusk."}, {"topic": "work", "stars": 2, "note": "x"}),
        ({"role": "user", "content": "They row at noon."}, {"topic": "home", "stars": 3}),
    ]
    for message, metadata in said:
        theirs.add([message], user_id="ana", metadata=metadata)
    wanted = [said[place][0]["content"] for place in found]
    assert texts(theirs.get_all(filters={"user_id": "ana", **filters})) == wanted
    assert sorted(texts(theirs.search("row", filters={"user_id": "ana", **filters}, threshold=0.0))) == sorted(wanted)
    nested = {"AND": [{"user_id": "ana"}, filters]}
    assert texts(theirs.get_all(filters=nested)) == wanted


def test_nothing_is_read_across_users(theirs):
    [hers] = theirs.add("Ana rows.", user_id="ana", agent_id="coach")["results"]
    theirs.add("The coach rows.", agent_id="coach")
    theirs.add("The run rows.", run_id="r1")
    assert texts(theirs.get_all(filters={"agent_id": "coach"})) == ["The coach rows."]
    assert texts(theirs.get_all(filters={"run_id": "r1"})) == ["The run rows."]
    assert texts(theirs.get_all(filters={"user_id": "ana", "agent_id": "coach"})) == ["Ana rows."]
    assert "user_id" not in theirs.get_all(filters={"agent_id": "coach"})["results"][0]
    with pytest.raises(ValueError, match="across users"):
        theirs.search("rows", filters={"user_id": "ana", "OR": [{"user_id": "bo"}]})
    turn_id = hers["id"].partition("@")[0]
    for other in (f"{turn_id}@bo", turn_id, f"{turn_id}@", "", "@ana"):
        assert theirs.get(other) is None


def test_any_user_id_makes_an_id_that_leads_back(theirs):
    for user_id in ("a@b.c", "tenant/é 李", "%40", "x@"):
        [added] = theirs.add("I row.", user_id=user_id)["results"]
        assert theirs.get(added["id"])["user_id"] == user_id


def test_what_has_expired_is_not_shown(theirs):
    [gone] = theirs.add("I row until spring.", user_id="ana", expiration_date="2020-03-01")["results"]
    theirs.add("I row for ever.", user_id="ana", expiration_date="2999-01-01")
    assert texts(theirs.get_all(filters={"user_id": "ana"})) == ["I row for ever."]
    assert len(theirs.get_all(filters={"user_id": "ana"}, show_expired=True)["results"]) == 2
    assert theirs.get(gone["id"])["expiration_date"] == "2020-03-01"
    theirs.update(gone["id"], expiration_date=None)
    assert len(theirs.search("row", filters={"user_id": "ana"}, threshold=0.0)["results"]) == 2


def test_delete_all_may_be_of_a_run_or_an_agent(theirs, memory):
    for agent, run in (("a", "1"), ("a", "2"), ("b", "1")):
        theirs.add(f"I row with {agent} in {run}.", user_id="ana", agent_id=agent, run_id=run)
    theirs.add("Bo rows.", user_id="bo")
    theirs.delete_all(user_id="ana", run_id="2")
    theirs.delete_all(user_id="ana", agent_id="b")
    assert texts(theirs.get_all(filters={"user_id": "ana"})) == ["I row with a in 1."]
    theirs.delete_all(user_id="ana")
    assert memory.users() == ["bo"]


def test_calls_of_mem0_1_work_too(theirs):
    for number in range(3):
        theirs.add(f"I row boat {number}.", user_id="ana")
    assert len(theirs.search("row", user_id="ana", limit=2)["results"]) == 2
    assert len(theirs.get_all(user_id="ana", limit=1)["results"]) == 1
    assert theirs.get_all(user_id="ana", limit=0)["results"] == []
    with pytest.raises(ValueError, match="no argument 'usr'"):
        theirs.search("row", usr="ana")


def test_scores_can_be_explained_and_cut(theirs):
    theirs.add("I row on Sundays.", user_id="ana")
    [found] = theirs.search("row on Sundays", filters={"user_id": "ana"}, explain=True)["results"]
    assert sum(found["score_details"].values()) == pytest.approx(found["score"])
    assert theirs.search("row on Sundays", filters={"user_id": "ana"}, threshold=1)["results"] == []


def test_it_is_configured_under_mnemic_and_says_what_has_no_use(tmp_path, caplog):
    config = {"mnemic": {"database": tmp_path / "m.db", "embedder": None}, "vector_store": {"provider": "qdrant"}}
    with caplog.at_level(logging.WARNING), Memory.from_config(config) as theirs:
        theirs.add("I row.", user_id="ana")
    assert "vector_store" in caplog.text
    with Words.open(tmp_path / "m.db", embedder=None) as memory:
        assert memory.users() == ["ana"]


def test_the_asynchronous_one_does_the_same(memory):
    async def work():
        async with AsyncMemory(memory) as theirs:
            [added] = (await theirs.add("I row on Sundays.", user_id="ana"))["results"]
            await theirs.update(added["id"], text="I row on Mondays.")
            found = await theirs.search("row", filters={"user_id": "ana"}, threshold=0.0)
            return texts(found), await theirs.history(added["id"])

    found, history = asyncio.run(work())
    assert found == ["I row on Mondays."]
    assert len(history) == 2
