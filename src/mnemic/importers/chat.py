"""Chat messages in loose JSON, as they lie in files, made into messages that ``Memory.add`` takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from mnemic.importers.ids import StableIds, fingerprint
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.types import Json

BATCH = 200
"""Most messages in one conversation made from single ones."""
SETTLED = 50
"""From this many messages on, a change of session ends the batch."""
NOT_A_MESSAGE = "not a message (a JSON object with role and content)"
NO_CONTENT = "a message without content"
REPEATED = "a message that came before, with the same id and words"

_SPEAKS = ("content", "text", "tool_calls", "tool_call_id", "function_call", "refusal", "audio")
_SESSION_KEYS = ("session_id", "conversation_id", "id")
HEAD = frozenset((*_SESSION_KEYS, "user_id", "agent_id", "timestamp", "created_at", "title", "metadata", "messages"))
"""The members of a conversation that are read."""


class Chat:
    """Reads the messages of one file, in order: their ids depend on what came before.

    Args:
        unnamed: Stands for the session in the ids of messages whose session the file does not name.
    """

    def __init__(self, unnamed: str) -> None:
        self._unnamed = unnamed
        self._made = StableIds()
        self._sessions: dict[str, str] = {}
        self._said: dict[str, str] = {}

    def message(self, raw: Json, session: str | None) -> Message | str:
        """One message, with an id; or the reason why it is none.

        ``text`` stands in for ``content``, ``created_at`` for ``timestamp``, and a speaker without a role is a
        user. A number as id is a place in its session, and so is an id that another session of the file has
        too: both are made unique with the session's name. An id that comes again with other words gets their
        hash; with the same words it is the same message.

        Args:
            raw: The message as it came.
            session: The session's name in the file, if it has one.
        """
        if not isinstance(raw, dict):
            return NOT_A_MESSAGE
        if not any(raw.get(key) is not None for key in _SPEAKS):
            return NO_CONTENT if "role" in raw else NOT_A_MESSAGE
        message = dict(raw)
        if message.get("content") is None and isinstance(message.get("text"), str):
            message["content"] = message.pop("text")
        if message.get("timestamp") is None and message.get("created_at") is not None:
            message["timestamp"] = message.pop("created_at")
        message.setdefault("role", "user")
        identified = self._id(message, first_text(raw, ("session_id",)) or session or self._unnamed)
        if identified is None:
            return REPEATED
        message["id"] = identified
        return message

    def conversation(self, raw: Json, name: str, where: str) -> Iterator[Record]:
        """One conversation: a list of messages, or an object with ``messages`` and perhaps its own names.

        Args:
            raw: The conversation as it came.
            name: The session's name where the conversation does not give one.
            where: Its place in the file, for what is left out.
        """
        head: dict[str, Json] = raw if isinstance(raw, dict) else {}
        listed = head.get("messages") if head else raw
        if isinstance(listed, list):
            yield from self.under(head, enumerate(listed, 1), name, where)
        else:
            yield Skipped("neither a message nor a conversation", where)

    def under(
        self, head: Mapping[str, Json], listed: Iterable[tuple[int, Json] | Skipped], name: str, where: str
    ) -> Iterator[Record]:
        """The messages of one conversation, at most ``BATCH`` together.

        Args:
            head: The conversation without its messages.
            listed: These, counted from 1.
            name: As for ``conversation``.
            where: As for ``conversation``.
        """
        session = first_text(head, _SESSION_KEYS)
        user, agent = (first_text(head, (key,)) for key in ("user_id", "agent_id"))
        whole = Conversation(user, session or name, (), agent, _metadata(head))
        when = head.get("timestamp", head.get("created_at"))
        messages: list[Message] = []
        for item in listed:
            if isinstance(item, Skipped):
                yield item
                continue
            number, raw = item
            message = self.message(raw, session)
            if isinstance(message, str):
                yield Skipped(message, f"{where}, message {number}".removeprefix(", "))
                continue
            if when is not None:
                message.setdefault("timestamp", when)
            if len(messages) == BATCH:
                yield replace(whole, messages=tuple(messages))
                messages = []
            messages.append(message)
        if messages:
            yield replace(whole, messages=tuple(messages))
        else:
            yield Skipped("a conversation without messages", where or "the file")

    def _id(self, message: Message, session: str) -> str | None:
        given = message.get("id")
        if isinstance(given, int) and not isinstance(given, bool):
            name = f"{session}/{given}"
        elif not isinstance(given, str) or not given:
            return self._made.of(session, message)
        else:
            first = self._sessions.setdefault(given, session)
            name = given if first == session else f"{session}/{given}"
        words = fingerprint(session, message)
        for candidate in (name, f"{name}/{words}"):
            if candidate not in self._said:
                self._said[candidate] = words
                return candidate
            if self._said[candidate] == words:
                return None
        return None


class Batch:
    """Gathers consecutive single messages of one user into conversations of at most ``BATCH``.

    Args:
        chat: Reads them.
        session: The session of those that name none.
    """

    def __init__(self, chat: Chat, session: str) -> None:
        self._chat = chat
        self._session = session
        self._messages: list[Message] = []
        self._user: str | None = None

    def put(self, raw: Json, where: str) -> Iterator[Record]:
        """Read a message; yields what is complete before it, or why it is left out."""
        message = self._chat.message(raw, None)
        if isinstance(message, str):
            yield Skipped(message, where)
            return
        user = first_text(message, ("user_id",))
        count = len(self._messages)
        settled = count >= SETTLED and message.get("session_id") != self._messages[-1].get("session_id")
        if user != self._user or settled or count == BATCH:
            yield from self.take()
        self._user = user
        message.pop("user_id", None)
        self._messages.append(message)

    def take(self) -> Iterator[Conversation]:
        """Yield what is gathered, and start anew."""
        if self._messages:
            yield Conversation(self._user, self._session, tuple(self._messages))
            self._messages = []


def is_message(raw: Json) -> bool:
    """Whether an object speaks, by the keys it has."""
    return isinstance(raw, dict) and "messages" not in raw and any(key in raw for key in ("role", *_SPEAKS))


def may_be_conversation(raw: Json) -> bool:
    """Whether a value has the shape of a conversation, whatever it holds."""
    return isinstance(raw, list) or (isinstance(raw, dict) and "messages" in raw)


def is_conversation(raw: Json) -> bool:
    """Whether a value is a list of messages, or an object that has one."""
    listed = raw.get("messages") if isinstance(raw, dict) else raw
    return isinstance(listed, list) and any(is_message(item) for item in cast("Sequence[Json]", listed))


def first_text(raw: Mapping[str, Json], keys: Sequence[str]) -> str | None:
    """The first of these fields that holds a name: a string that is not empty, or a number."""
    for key in keys:
        value = raw.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _metadata(head: Mapping[str, Json]) -> dict[str, Json]:
    given = head.get("metadata")
    metadata = dict(given) if isinstance(given, dict) else {}
    title = head.get("title")
    if isinstance(title, str):
        metadata.setdefault("title", title)
    return metadata
