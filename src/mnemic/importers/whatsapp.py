r"""The ``whatsapp`` format: a chat that WhatsApp exported as text, also within its zip file.

::

    [12/03/24, 14:05:33] Ana: Did you find the key?          (iOS)
    12.03.24, 14:05 - Bo: Yes. It was                        (Android)
    in my other coat.

Whether ``3/4/24`` is March or April is decided over the whole file: by a number above 12, else by the order of the
messages, which only one of the two keeps; else it is taken as day and month, unless ``date_order`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from mnemic.importers import archive
from mnemic.importers.files import Line, SourceFile, Unusable
from mnemic.importers.ids import StableIds
from mnemic.importers.records import Conversation, Message, Notice, Record, Skipped
from mnemic.importers.whatsapp_dates import Moment, Order, decided, moment_of, read_order
from mnemic.importers.whatsapp_words import OWN, content

BATCH = 200
"""Most messages in one conversation; a chat goes on in the next."""
_HEAD_LINES = 50


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the chat, in conversations of at most ``BATCH`` messages.

    Raises:
        Unusable: No line of it starts a message.
    """
    chat = _text(file)
    order = read_order(_moments(chat), file.date_order)
    if order is None:
        raise Unusable(file.path, "has no line that starts a message of WhatsApp ('12/03/24, 14:05 - Name: words')")
    yield Notice(order.told)
    reading = _Reading(file.session, order)
    for line in chat.lines(blank=True):
        if isinstance(line, Skipped):
            yield line
        else:
            yield from reading.take(line)
    yield from reading.end()


def looks_like(head: str) -> bool:
    """Whether a text begins as such a chat does.

    Dates in ISO order stand in other transcripts too: there it takes an invisible mark, or a line that nobody says.
    """
    lines = [line for line in head.split("\n", _HEAD_LINES)[:_HEAD_LINES] if line.strip()]
    starts = [found for line in lines if (found := moment_of(line)) is not None]
    if not starts or moment_of(lines[0]) is None or 3 * len(starts) < len(lines):
        return False
    is_iso = starts[0].mark == "-" and starts[0].date[0] > 31
    return not is_iso or "\u200e" in head or any(content(one.rest, is_ios=one.is_ios) == OWN for one in starts)


def _text(file: SourceFile) -> SourceFile:
    """The chat of a zip file, whose media lie beside it."""
    if not archive.is_zip(file):
        return file
    for name, member in archive.members(file).items():
        if name.endswith(".txt") and looks_like(member.head(1 << 14).decode("utf-8", "replace")):
            return member
    raise Unusable(file.path, "is a zip file without a chat of WhatsApp")


def _moments(chat: SourceFile) -> Iterator[tuple[int, Moment]]:
    for line in chat.lines():
        if isinstance(line, Line) and (found := moment_of(line.text)) is not None:
            yield line.number, found


class _Reading:
    """The messages as they are read, line by line."""

    def __init__(self, session: str, order: Order) -> None:
        self._session = session
        self._order = order
        self._ids = StableIds()
        self._messages: list[Message] = []
        self._lines: list[str] = []
        self._start: tuple[int, Moment] | None = None

    def take(self, line: Line) -> Iterator[Record]:
        """Read the next line; yields what is complete before it."""
        found = moment_of(line.text)
        if found is None:
            if self._start is not None:
                self._lines.append(line.text)
            elif line.text.strip():
                yield Skipped("text before the first message", f"line {line.number}")
            return
        yield from self._finish()
        self._start, self._lines = (line.number, found), [found.rest]
        if len(self._messages) >= BATCH:
            yield from self._batch()

    def end(self) -> Iterator[Record]:
        """Yield what is left."""
        yield from self._finish()
        yield from self._batch()

    def _finish(self) -> Iterator[Record]:
        if self._start is None:
            return
        number, moment = self._start
        while len(self._lines) > 1 and not self._lines[-1].strip():
            self._lines.pop()
        said = content("\n".join(self._lines), is_ios=moment.is_ios)
        self._start = None
        if isinstance(said, str):
            yield Skipped(said, f"line {number}")
            return
        message: Message = {"role": "user", "name": said.speaker}
        when = decided(moment, self._order)
        if isinstance(when, datetime):
            message["timestamp"] = when.isoformat()
        else:
            yield Skipped(when, f"line {number}")
        message["content"] = said.words
        if said.was_edited:
            message["metadata"] = {"edited": True}
        message["id"] = self._ids.of(self._session, message)
        self._messages.append(message)

    def _batch(self) -> Iterator[Record]:
        if self._messages:
            yield Conversation(None, self._session, tuple(self._messages), None, {"source": "whatsapp"})
            self._messages = []
