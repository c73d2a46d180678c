"""What a reader of a file yields: conversations, and what it had to leave out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from mnemic.types import Json

Message = dict[str, Json]

DateReader = Callable[[str], str | None]
"""Reads a time that is not in the form its format prescribes: as ISO format with a zone, or None when it is none."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """Consecutive messages of one user, for one ``Memory.add`` (each add starts a new trace).

    A long session may come as several of these, one after the other.

    Attributes:
        user_id: Whose memory the file says it is; None where it does not say.
        session_id: The session of every message that does not carry a ``session_id`` of its own.
        messages: In the shape that ``Memory.add`` takes; each has an ``id``, unique within the user.
        agent_id: The agent they were said to, where the file says so.
        metadata: The file's own data about the conversation.
    """

    user_id: str | None
    session_id: str
    messages: tuple[Message, ...]
    agent_id: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something of the file that was left out: a message, a line, or a part of one, such as its date.

    Attributes:
        reason: Why; the same words for the same cause, so that they can be counted.
        where: The place in the file: ``line 12``, ``session 'trip', message 3``.
    """

    reason: str
    where: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A note of mnemic's own export: it is not read, for it is made again from the messages."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A note of mnemic's own export that somebody else wrote, as ``Memory.add_notes`` takes it, and its place."""

    note: Mapping[str, Json]
    where: str


@dataclass(frozen=True, slots=True)
class Notice:
    """How a file was read, where it could have been read otherwise: told, and nothing is left out."""

    text: str


@dataclass(frozen=True, slots=True)
class Exported:
    """A whole export of mnemic's.

    Attributes:
        lines: Reads its lines with their numbers, to be written back as they are.
        merged: Reads what of it can be added to what a user has already.
    """

    lines: Callable[[], Iterator[tuple[int, dict[str, Json]] | Skipped]]
    merged: Callable[[], Iterator[Record]]


Record = Conversation | Skipped | Derived | Noted | Notice | Exported


def gathered(records: Iterable[Record], most: int = 200) -> Iterator[Record]:
    """Single messages of one session that follow each other, together: an ``add`` each would take long."""
    held: Conversation | None = None
    for record in records:
        if isinstance(record, Conversation) and held is not None and _may_join(held, record, most):
            held = replace(held, messages=(*held.messages, *record.messages))
            continue
        if held is not None and not isinstance(record, Skipped):
            yield held
            held = None
        if isinstance(record, Conversation):
            held = record
        else:
            yield record
    if held is not None:
        yield held


def _may_join(held: Conversation, more: Conversation, most: int) -> bool:
    count = len(held.messages) + len(more.messages)
    return count <= most and replace(held, messages=()) == replace(more, messages=())
