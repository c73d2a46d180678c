"""The shapes that mem0 gives results in, and the scopes and ids it takes.

mem0 knows a memory by its id alone. Here nothing is read but for one user: so an id holds the user's, percent-encoded,
behind the turn's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date, datetime
from typing import Final, NotRequired, TypedDict
from urllib.parse import quote, unquote

from mnemic.algo.scope import check_id
from mnemic.errors import InvalidInput, InvalidScope
from mnemic.types import Json, Metadata, Scope, Turn

DEFAULT_SESSION: Final = "default"
VERSIONS: Final = "_mem0"
"""In metadata: ``by``, the turn that replaces this one; ``of``, the turn that this one is a version of."""
EXPIRES: Final = "expiration_date"
_NOBODY: Final = "mem0/"
"""Begins the user id of what was stored for an agent or a run, and for no user."""
_PROMOTED: Final = ("role", "actor_id", EXPIRES)
IDENTITIES: Final = ("user_id", "agent_id", "run_id")


class Item(TypedDict):
    """One memory."""

    id: str
    memory: str
    hash: str
    metadata: dict[str, Json] | None
    score: NotRequired[float | None]
    created_at: str | None
    updated_at: str | None
    user_id: NotRequired[str]
    agent_id: NotRequired[str]
    run_id: NotRequired[str]
    actor_id: NotRequired[str]
    role: NotRequired[str]
    expiration_date: NotRequired[str]
    score_details: NotRequired[dict[str, float]]


class Event(TypedDict):
    """What became of a message."""

    id: str
    memory: str
    event: str
    actor_id: str | None
    role: str


class Change(TypedDict):
    """One entry of a memory's history."""

    id: str
    memory_id: str
    old_memory: str | None
    new_memory: str
    event: str
    created_at: str | None
    updated_at: str | None
    is_deleted: bool
    actor_id: str | None
    role: str


class Told(TypedDict):
    """That something was done."""

    message: str


class Items(TypedDict):
    """Memories."""

    results: list[Item]


class Events(TypedDict):
    """What became of messages."""

    results: list[Event]


def scope(given: Mapping[str, object]) -> Scope:
    """Whose memories are meant.

    What is stored for an agent or a run alone lies apart from every user's: nothing is read across users.

    Args:
        given: ``user_id``, ``agent_id`` and ``run_id``, of which at least one is not None.

    Raises:
        InvalidScope: None is there, or one cannot be one.
    """
    named = {name: _trimmed(given.get(name), name) for name in IDENTITIES}
    user_id, agent_id, run_id = (named[name] for name in IDENTITIES)
    if user_id is None:
        if agent_id is None and run_id is None:
            raise InvalidScope("give at least one of user_id, agent_id and run_id, as in filters={'user_id': 'ana'}")
        user_id = f"{_NOBODY}agent/{agent_id}" if agent_id is not None else f"{_NOBODY}run/{run_id}"
    return Scope(user_id, agent_id, run_id)


def _trimmed(value: object, name: str) -> str | None:
    if value is None:
        return None
    return check_id(value.strip() if isinstance(value, str) else value, name)


def memory_id(user_id: str, turn_id: str) -> str:
    """The id of a memory."""
    return f"{turn_id}@{quote(user_id, safe='')}"


def taken_apart(given: str) -> tuple[str, str]:
    """The user and the turn that a memory's id names. Raises InvalidInput for what is no such id."""
    turn_id, _, user_id = given.rpartition("@")
    if not turn_id or not user_id:
        raise not_found(given)
    return unquote(user_id), turn_id


def not_found(given: str) -> InvalidInput:
    """The error, a ValueError, for a memory that is not there."""
    return InvalidInput(f"Memory with id {given} not found")


def item(user_id: str, first: Turn, last: Turn) -> Item:
    """A memory as ``get`` gives it.

    Args:
        user_id: Whose.
        first: Its first version, which has given it its id.
        last: Its last version.
    """
    shown: Item = {
        "id": memory_id(user_id, first.turn_id),
        "memory": last.text,
        "hash": hashlib.md5(last.text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest(),
        "metadata": own(last.metadata) or None,
        "score": None,
        "created_at": moment(first.timestamp or first.recorded_at),
        "updated_at": moment(last.timestamp or last.recorded_at),
    }
    if not user_id.startswith(_NOBODY):
        shown["user_id"] = user_id
    if last.agent_id is not None:
        shown["agent_id"] = last.agent_id
    if last.session_id != DEFAULT_SESSION:
        shown["run_id"] = last.session_id
    if (name := actor(last)) is not None:
        shown["actor_id"] = name
    shown["role"] = last.role
    if isinstance(expires := last.metadata.get(EXPIRES), str):
        shown["expiration_date"] = expires
    return shown


def actor(turn: Turn) -> str | None:
    """Who said it, where that was told."""
    return None if turn.speaker == turn.role else turn.speaker


def own(metadata: Metadata) -> dict[str, Json]:
    """The caller's own metadata, without what has its own place or is kept for this interface."""
    return {key: value for key, value in metadata.items() if key != VERSIONS and key not in _PROMOTED}


def links(turn: Turn) -> Mapping[str, Json]:
    """How a turn hangs together with the other versions of its memory."""
    found = turn.metadata.get(VERSIONS)
    return found if isinstance(found, dict) else {}


def moment(at: datetime | None) -> str | None:
    """A time as mem0 writes it."""
    return None if at is None else at.isoformat()


def day(value: object) -> str | None:
    """A day as ``YYYY-MM-DD``. Raises InvalidInput."""
    if value is None:
        return None
    if isinstance(value, datetime):
        return value.date().isoformat()
    try:
        return (value if isinstance(value, date) else date.fromisoformat(str(value))).isoformat()
    except ValueError as error:
        raise InvalidInput(f"expiration_date must be a date as YYYY-MM-DD, not {value!r}") from error
