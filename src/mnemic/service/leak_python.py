"""The leak test's way through Python: ``TenantMemory``, as whatever is mounted in the server uses it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mnemic.errors import MnemicError
from mnemic.service.leak_probes import Planted, ids, questions, unquoted, users
from mnemic.service.replies import as_json
from mnemic.types import STATUSES

if TYPE_CHECKING:
    from mnemic.memory import Memory
    from mnemic.service.access import Keys
    from mnemic.service.tenant_memory import TenantMemory


class Python:
    """Every method of ``TenantMemory``.

    Args:
        memory: Of all tenants.
        keys: Theirs.
    """

    def __init__(self, memory: Memory, keys: Keys) -> None:
        self._memory = memory
        self._keys = keys

    def __call__(self, key: str, own: Planted, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
        """Call every method that reads, and of those that change or erase whatever names another's things."""
        opened = self._keys.verify(key).memory(self._memory)
        yield "users", _said(opened.users)
        yield "status", _said(opened.status)
        for user in users(own, other, chance):
            yield from _searched(opened, user, other, chance)
            yield from _listed(opened, user, other)
            yield from _changed(opened, user, ids(other, chance))
            if user != own.user_id:
                yield "erase", _said(lambda u=user: opened.erase(user_id=u, everything=True))
                yield "delete_all", _said(lambda u=user: opened.delete_all(user_id=u))


def _searched(opened: TenantMemory, user: str, other: Planted, chance: random.Random) -> Iterator[tuple[str, str]]:
    for query in (*questions(chance, 3), other.ids[0]):
        for narrowed in _narrowed(other):
            found = _said(lambda q=query, n=narrowed: opened.search(q, user_id=user, **n))
            yield f"search {narrowed}", unquoted(found, query)
        asked: dict[str, Callable[[str], object]] = {
            "context": lambda q: opened.context(q, user_id=user),
            "answer": lambda q: opened.answer(q, user_id=user),
            "answer_stream": lambda q: opened.answer_stream(q, user_id=user),
            "cues": lambda q: opened.cues(user_id=user, like=q),
            "neighbours": lambda q: opened.neighbours(q, user_id=user),
            "evolution": lambda q: opened.evolution(q, user_id=user),
        }
        for name, read in asked.items():
            yield name, unquoted(_said(lambda r=read, q=query: r(q)), query)


def _listed(opened: TenantMemory, user: str, other: Planted) -> Iterator[tuple[str, str]]:
    named = (
        "notes", "episodes", "get_all", "history", "proposals", "notice", "status", "sessions", "traces", "cues",
        "enrich", "retry", "quarantine",
    )  # fmt: skip
    for name in named:
        yield name, unquoted(_said(lambda n=name: getattr(opened, n)(user_id=user)), user)
    more: dict[str, Callable[[], object]] = {
        "export": lambda: list(opened.export(user_id=user)),
        "notes of every status": lambda: opened.notes(user_id=user, statuses=STATUSES),
        "get_all of ids": lambda: opened.get_all(user_id=user, turn_ids=list(other.ids)),
        "neighbours": lambda: opened.neighbours(other.secret, user_id=user, limit=1000),
        "diff": lambda: opened.diff("2000-01-01", user_id=user),
        "wait": lambda: opened.wait(user_id=user, timeout=0),
        "reflect": lambda: opened.reflect(user_id=user, dry_run=True),
        "forget": lambda: opened.forget(user_id=user, max_notes=1, dry_run=True),
    }
    for name, read in more.items():
        yield name, unquoted(_said(read), user, *other.ids)


def _changed(opened: TenantMemory, user: str, named: Sequence[str]) -> Iterator[tuple[str, str]]:
    """All that takes an id; what reads comes first, and what erases last."""
    tries: dict[str, Callable[[str], object]] = {
        "get": lambda i: opened.get(i, user_id=user),
        "history": lambda i: opened.history(i, user_id=user),
        "get_all after": lambda i: opened.get_all(user_id=user, after=i),
        "get_all of a session": lambda i: opened.get_all(user_id=user, session_id=i),
        "get_all of an agent": lambda i: opened.get_all(user_id=user, agent_id=i),
        "get_all of an id": lambda i: opened.get_all(user_id=user, turn_ids=[i]),
        "episodes": lambda i: opened.episodes(user_id=user, session_id=i),
        "traces": lambda i: opened.traces(user_id=user, session_id=i),
        "notes": lambda i: opened.notes(user_id=user, about=i, statuses=STATUSES),
        "cues": lambda i: opened.cues(user_id=user, like=i),
        "neighbours": lambda i: opened.neighbours(i, user_id=user),
        "add": lambda i: opened.add([{"id": i, "role": "user", "content": "x"}], user_id=user, session_id="made"),
        "add_notes": lambda i: opened.add_notes({"text": "x", "sources": [i]}, user_id=user),
        "recover": lambda i: opened.recover([{"id": i}], user_id=user),
        "confirm": lambda i: opened.confirm(i, user_id=user),
        "approve": lambda i: opened.approve(i, user_id=user),
        "reject": lambda i: opened.reject(i, user_id=user),
        "retract": lambda i: opened.retract(i, user_id=user),
        "restore": lambda i: opened.restore(i, user_id=user),
        "release": lambda i: opened.release(i, user_id=user),
        "discard": lambda i: opened.discard(i, user_id=user),
        "undo": lambda i: opened.undo(i, user_id=user),
        "undo a run": lambda i: opened.undo(run=i, user_id=user),
        "update": lambda i: opened.update(i, user_id=user, metadata={}),
        "erase": lambda i: opened.erase(user_id=user, turn_id=i),
        "erase a session": lambda i: opened.erase(user_id=user, session_id=i),
        "erase a speaker": lambda i: opened.erase(user_id=user, speaker=i),
        "delete": lambda i: opened.delete(user_id=user, turn_id=i),
        "delete a session": lambda i: opened.delete(user_id=user, session_id=i),
    }
    for name, read in tries.items():
        for one in named:
            yield name, unquoted(_said(lambda r=read, i=one: r(i)), one)


def _narrowed(other: Planted) -> Sequence[dict[str, Any]]:
    """Arguments of a search that may lead to the other tenant's words."""
    return (
        {"mode": "hybrid"},
        {"session_id": other.secret},
        {"agent_id": other.secret},
        {"filters": {"secret": other.secret}},
        {"granularity": "turn", "explain": True, "top_k": 1000},
    )


def _said(read: Callable[[], object]) -> str:
    """What came of a call, an error's words included."""
    try:
        return as_json(read()).decode()
    except MnemicError as error:
        return str(error)
