"""The ``csv`` format: a message a row, under a row of names.

Which column is what is told by its name, or by ``columns``: ``content`` is needed; ``name``, ``role``, ``timestamp``,
``session_id``, ``id``, ``agent_id`` and ``user_id`` are used where they are there, and every other column is kept in
the message's metadata.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, cast

from mnemic.errors import InvalidInput
from mnemic.importers.files import MAX_LINE, SourceFile, Unusable
from mnemic.importers.ids import StableIds
from mnemic.importers.loose import set_time
from mnemic.importers.records import Conversation, Message, Record, Skipped, gathered

FIELDS: Mapping[str, tuple[str, ...]] = {
    "content": ("content", "text", "message", "body", "words"),
    "name": ("name", "speaker", "author", "sender", "from", "who"),
    "role": ("role",),
    "timestamp": ("timestamp", "created_at", "datetime", "date", "time", "when"),
    "session_id": ("session_id", "session", "conversation_id", "thread_id", "channel"),
    "id": ("id", "message_id"),
    "agent_id": ("agent_id",),
    "user_id": ("user_id",),
}
"""Field -> the names by which a column is known to hold it, in any case."""
_DELIMITERS = ",;\t|"
_NOT_UTF8 = re.compile("[\udc80-\udcff]")
_ROLES = {"assistant": "assistant", "ai": "assistant", "bot": "assistant", "system": "system"}


def columns(given: Iterable[str]) -> dict[str, str]:
    """Field -> column, of what a person wrote: ``content=Text``.

    Raises:
        InvalidInput: One is not written so.
    """
    found: dict[str, str] = {}
    for one in given:
        field, is_, column = one.partition("=")
        if not (field and is_ and column):
            raise InvalidInput(f"column is written FIELD=NAME, content=Text, not {one!r}")
        found[field] = column
    return found


def read(file: SourceFile) -> Iterator[Record]:
    """Yield the messages, in order, in conversations of one session each.

    Raises:
        Unusable: It has no row of names, or no column with the words.
    """
    return gathered(_records(file))


def looks_like(head: str) -> bool:
    """Whether a text begins with a row of names, one of which is that of the words."""
    try:
        names = _next(csv.reader([head.split("\n", 1)[0].rstrip("\r")], delimiter=_delimiter(head)))
    except csv.Error:
        return False
    known = {one.strip().lower() for one in names}
    return len(names) > 1 and any(word in known for word in FIELDS["content"]) and len(known & _KNOWN) > 1


_KNOWN = {word for called in FIELDS.values() for word in called}


def _records(file: SourceFile) -> Iterator[Record]:
    before = csv.field_size_limit(MAX_LINE)
    try:
        with io.TextIOWrapper(cast("IO[bytes]", file.open()), "utf-8", errors="surrogateescape", newline="") as stream:
            delimiter = _delimiter(file.head(1 << 14).decode("utf-8", "replace"))
            rows = csv.reader(stream, delimiter=delimiter)
            yield from _Table(file, _names(file, rows)).messages(rows)
    finally:
        csv.field_size_limit(before)


def _names(file: SourceFile, rows: Iterator[list[str]]) -> list[str]:
    try:
        return _next(rows)
    except csv.Error as error:
        raise Unusable(file.path, "has no row of names", place=str(error)) from error


def _next(rows: Iterator[list[str]]) -> list[str]:
    return next(rows, list[str]())


def _delimiter(head: str) -> str:
    first = head.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


class _Table:
    """The rows under their names."""

    def __init__(self, file: SourceFile, names: Sequence[str]) -> None:
        self._session = file.session
        self._names = [one.strip() for one in names]
        self._places = _places(file, self._names)
        self._ids = StableIds()

    def messages(self, rows: Iterator[list[str]]) -> Iterator[Record]:
        """Yield a conversation for each row."""
        number = 1
        while True:
            number += 1
            try:
                row = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Skipped(f"a row that is not CSV ({error})", f"row {number}")
                continue
            if not any(cell.strip() for cell in row):
                continue
            if any(_NOT_UTF8.search(cell) for cell in row):
                yield Skipped("not UTF-8", f"row {number}")
                continue
            yield from self._message(row, f"row {number}")

    def _message(self, row: Sequence[str], where: str) -> Iterator[Record]:
        given = {key: row[place] for key, place in self._places.items() if place < len(row) and row[place].strip()}
        if "content" not in given:
            yield Skipped("a message without words", where)
            return
        speaker = given.get("name")
        role = given.get("role") or _ROLES.get((speaker or "").strip().lower(), "user")
        message: Message = {"role": role, "content": given["content"]}
        if speaker:
            message["name"] = speaker
        if (wrong := set_time(message, given.get("timestamp"), where)) is not None:
            yield wrong
        session = given.get("session_id") or self._session
        message["id"] = given.get("id") or self._ids.of(session, message)
        used = set(self._places.values())
        rest = {self._names[i]: cell for i, cell in enumerate(row[: len(self._names)]) if i not in used and cell}
        if rest:
            message["metadata"] = {**rest}
        yield Conversation(given.get("user_id"), session, (message,), given.get("agent_id"))


def _places(file: SourceFile, names: Sequence[str]) -> dict[str, int]:
    """Field -> place of its column."""
    lower = [one.lower() for one in names]
    places: dict[str, int] = {}
    for key, column in file.columns.items():
        if key not in FIELDS:
            raise Unusable(file.path, f"has no use for a column as {key!r}", way_out=f"a column is {', '.join(FIELDS)}")
        if column not in names:
            raise Unusable(file.path, f"has no column {column!r}", place=f"there are: {', '.join(names)}")
        places[key] = names.index(column)
    for key, known in FIELDS.items():
        free = [one for one in known if one in lower and lower.index(one) not in places.values()]
        if key not in places and free:
            places[key] = lower.index(free[0])
    if "content" not in places:
        raise Unusable(
            file.path,
            "has no column with the words",
            place=f"there are: {', '.join(names)}",
            way_out="name it with --column content=NAME",
        )
    return places
