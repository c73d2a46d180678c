"""LangGraph's ``BaseStore`` over a memory, and a retriever of what was said in it.

store = MemoryStore(memory, user_id="ana")              # one user
store = MemoryStore(memory, user_id=label_of_user(1))   # of each namespace its second label: ("memories", "ana")
graph = builder.compile(store=store)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document as Passage
from langchain_core.retrievers import BaseRetriever
from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    get_text_at_path,
)
from pydantic import ConfigDict, field_validator

from mnemic.adapters.documents import Document, Documents
from mnemic.algo.jsonable import as_object
from mnemic.algo.scope import check_user
from mnemic.errors import InvalidScope
from mnemic.memory import Memory
from mnemic.types import Evidence, Json

Namespace = tuple[str, ...]
UserOf = Callable[[Namespace], str]
"""Whose a namespace is, or the beginning of one that is searched; raises InvalidScope where it is nobody's."""
_KIND: Final = "langgraph"
_INDEXED: Final = "indexed"


def label_of_user(place: int) -> UserOf:
    """The label at a place of each namespace, from 0, as the user: 1 of ``("memories", "ana")`` is ``ana``."""

    def user_of(namespace: Namespace) -> str:
        if len(namespace) <= place or namespace[place] == "*":
            raise InvalidScope(
                f"the namespace {namespace!r} has no user at place {place}: nothing is read across users"
            )
        return namespace[place]

    return user_of


class MemoryStore(BaseStore):
    """A store whose items are found by mnemic's search; what LangGraph's own stores do, it does.

    An item's words lie in the memory of its user beside what was said, and are found by other searches of it too. Its
    value has to be JSON. There is no time to live.

    Args:
        memory: Where it keeps them.
        user_id: Whose they are, or what tells it of a namespace (``label_of_user``). The program says so: a model
            that chooses namespaces must not choose the label of the user.
    """

    supports_ttl = False

    def __init__(self, memory: Memory, *, user_id: str | UserOf) -> None:
        self._memory = memory
        if isinstance(user_id, str):
            named = check_user(user_id)
            self._user_of: UserOf = lambda _: named
        else:
            self._user_of = user_id

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations: what they read is what was there before, and of several puts under a key the last one counts.

        Raises:
            InvalidScope: A namespace is nobody's.
            InvalidInput: A value is no JSON.
        """
        results: list[Result] = []
        puts: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            match op:
                case GetOp():
                    found = self._documents(op.namespace).get(_address(op.namespace, op.key))
                    results.append(None if found is None else _item(found))
                case SearchOp():
                    results.append(self._search(op))
                case ListNamespacesOp():
                    results.append(self._namespaces(op))
                case PutOp():
                    puts[op.namespace, op.key] = op
                    results.append(None)
                case _:
                    raise ValueError(f"Unknown operation type: {type(op)}")
        for op in puts.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _documents(self, namespace: Namespace) -> Documents:
        return Documents(self._memory, self._user_of(namespace), _KIND)

    def _put(self, op: PutOp) -> None:
        documents, address = self._documents(op.namespace), _address(op.namespace, op.key)
        if op.value is None:
            documents.delete(address)
            return
        value = as_object(op.value, "value")
        data: dict[str, Json] = {
            "namespace": list[Json](op.namespace),
            "key": op.key,
            "value": value,
            "within": list[Json](_within(op.namespace)),
            _INDEXED: op.index is not False,
        }
        documents.put(address, _text(op, value), data)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        documents = self._documents(op.namespace_prefix)
        found = {
            address: one
            for address, one in documents.all().items()
            if _namespace(one)[: len(op.namespace_prefix)] == op.namespace_prefix and _meets(one, op.filter)
        }
        if not op.query:
            latest = list(reversed(found.values()))
            return [_hit(one) for one in latest[op.offset : op.offset + op.limit]]
        return self._ranked(op, documents, found) if found else []

    def _ranked(self, op: SearchOp, documents: Documents, found: Mapping[str, Document]) -> list[SearchItem]:
        """What a query finds, and behind it what was not to be found by its words: one list, cut into pages."""
        wanted: list[Json] = [address for address, one in found.items() if one.data[_INDEXED]]
        hits = (
            self._memory.search(
                str(op.query),
                user_id=documents.user_id,
                agent_id=documents.kind,
                top_k=op.offset + op.limit,
                filters={"document.address": {"in": wanted}},
                granularity="turn",
            ).results
            if wanted and op.offset + op.limit > 0
            else ()
        )
        by_turn = {one.turn_id: one for one in found.values()}
        items = [_hit(by_turn[hit.turn_ids[0]], hit.score) for hit in hits if hit.turn_ids[0] in by_turn]
        silent = [_hit(one) for one in found.values() if not one.data[_INDEXED]]
        return (items + silent)[op.offset : op.offset + op.limit]

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        begins = next((tuple(one.path) for one in conditions if one.match_type == "prefix"), ())
        there = {_namespace(one) for one in self._documents(begins).all().values()}
        kept = {one[: op.max_depth] for one in there if all(_matches(condition, one) for condition in conditions)}
        return sorted(kept)[op.offset : op.offset + op.limit]


class MemoryRetriever(BaseRetriever):
    """LangChain's retriever: the words in a memory that matter to a query, each a document with what cites it.

    Attributes:
        memory: What is searched.
        user_id: Whose it is.
        top_k: Documents at most.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    user_id: str
    top_k: int = 10

    @field_validator("user_id")
    @classmethod
    def _is_a_user(cls, value: str) -> str:
        return check_user(value)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Passage]:
        found = self.memory.search(query, user_id=self.user_id, top_k=self.top_k)
        return [] if found.nothing_relevant else [_passage(hit) for hit in found.results]


def _passage(hit: Evidence) -> Passage:
    cited: dict[str, object] = {
        "session_id": hit.session_id,
        "turn_ids": list(hit.turn_ids),
        "speakers": list(hit.speakers),
        "timestamp": None if hit.timestamp is None else hit.timestamp.isoformat(),
        "score": hit.score,
    }
    return Passage(id=hit.trace_id, page_content=hit.text, metadata=cited)


def _address(namespace: Namespace, key: str) -> str:
    return json.dumps([*namespace, key], ensure_ascii=False)


def _within(namespace: Namespace) -> list[str]:
    """The namespace and all that it lies in; labels have no dots."""
    return [".".join(namespace[:depth]) for depth in range(len(namespace) + 1)]


def _namespace(one: Document) -> Namespace:
    return tuple(map(str, cast(list[Json], one.data["namespace"])))


def _text(op: PutOp, value: dict[str, Json]) -> str:
    """The words that searches find an item by: its texts, or those of its indexed fields; else where it stands."""
    where = _address(op.namespace, op.key)
    if op.index is False:
        return where
    if op.index is None:
        texts = list(_texts(value))
    else:
        texts = [text for path in op.index for text in get_text_at_path(value, path)]
    joined = "\n".join(text for text in texts if text)
    return joined if joined.strip() else where


def _texts(value: Json) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict():
            for one in value.values():
                yield from _texts(one)
        case list():
            for one in value:
                yield from _texts(one)
        case bool() | None:
            return
        case _:
            yield str(value)


def _item(found: Document) -> Item:
    return Item(
        value=cast(dict[str, Json], found.data["value"]),
        key=cast(str, found.data["key"]),
        namespace=_namespace(found),
        created_at=found.created_at,
        updated_at=found.updated_at,
    )


def _hit(found: Document, score: float | None = None) -> SearchItem:
    one = _item(found)
    return SearchItem(one.namespace, one.key, one.value, one.created_at, one.updated_at, score)


def _matches(condition: MatchCondition, namespace: Namespace) -> bool:
    path = tuple(condition.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for wanted, label in zip(path, part, strict=True))


def _meets(one: Document, wanted: Mapping[str, Any] | None) -> bool:
    """LangGraph's filter, which goes by the value's fields."""
    value = cast(dict[str, Json], one.data["value"])
    return all(_equals(value.get(key), expected) for key, expected in (wanted or {}).items())


def _equals(value: Json, wanted: object) -> bool:
    if isinstance(wanted, Mapping):
        expected = cast(Mapping[str, object], wanted)
        if any(key.startswith("$") for key in expected):
            return all(_compare(value, operator, operand) for operator, operand in expected.items())
        return isinstance(value, dict) and all(_equals(value.get(key), inner) for key, inner in expected.items())
    if isinstance(wanted, list | tuple):
        inner = cast("list[object] | tuple[object, ...]", wanted)
        return (
            isinstance(value, list)
            and len(value) == len(inner)
            and all(_equals(one, other) for one, other in zip(value, inner, strict=True))
        )
    return value == wanted


def _compare(value: Json, operator: str, operand: object) -> bool:
    if operator in ("$eq", "$ne"):
        return (value == operand) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"Unsupported operator: {operator}")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return False
    try:
        left, right = float(value), float(cast(float, operand))
    except ValueError:
        return False
    return {"$gt": left > right, "$gte": left >= right, "$lt": left < right, "$lte": left <= right}[operator]
