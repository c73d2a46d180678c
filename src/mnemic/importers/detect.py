"""Which format a file is in, by its content."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Literal

from mnemic.importers import (
    archive,
    chatgpt,
    claude,
    langgraph,
    locomo,
    longmemeval,
    mem0,
    messages,
    own,
    personamem,
    slack,
    table,
    text,
    whatsapp,
)
from mnemic.importers.chat import is_conversation, is_message
from mnemic.importers.files import Line, SourceFile, Unusable, parse
from mnemic.importers.items import BEHIND, Item, Member, items, items_within, members
from mnemic.types import Json

Format = Literal[
    "messages", "jsonl", "text", "csv", "chatgpt", "claude", "slack", "whatsapp", "mem0", "langgraph", "mnemic",
    "locomo", "personamem", "longmemeval",
]  # fmt: skip

_HEAD = 1 << 16
_LINES = 5
_LINE = 8 << 20
_ITEMS = 1000
_SMALL = 64 << 20
_BINARY = (b"SQLite format 3\0", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\xff\xfe", b"\xfe\xff")


def detect(file: SourceFile) -> Format:
    """Tell the format.

    Raises:
        Unusable: It is none of them.
    """
    if file.path.is_dir() or archive.is_zip(file):
        return _of_archive(file)
    head = file.head(_HEAD)
    if head.startswith(_BINARY):
        raise _binary(file)
    start = head.lstrip()[:1]
    wrong = None
    found: Format | None = None
    if start == b"{":
        found = _of_lines(file, _LINE)
    if found is None and start in (b"{", b"["):
        found, wrong = _of_json(file, is_array=start == b"[")
    if found is None:
        found = _of_text(head.decode("utf-8", "replace"))
    if found is None:
        raise wrong or (_binary(file) if b"\0" in head else _no_conversation(file))
    return found


def _of_archive(file: SourceFile) -> Format:
    members = archive.members(file)
    if slack.is_export(members):
        return "slack"
    for name, member in members.items():
        base = name.rpartition("/")[2]
        if base.startswith("conversations") and base.endswith(".json"):
            found, _ = _of_json(member, is_array=True)
            if found in ("chatgpt", "claude"):
                return found
        if base.endswith(".txt") and whatsapp.looks_like(member.head(_HEAD).decode("utf-8", "replace")):
            return "whatsapp"
    raise Unusable(
        file.path,
        "is a zip file without conversations" if archive.is_zip(file) else "is a folder without an export's files",
        way_out="it would be an export of ChatGPT, Claude, Slack or WhatsApp; unpack any other and import the folder",
    )


def _of_json(file: SourceFile, *, is_array: bool) -> tuple[Format | None, Unusable | None]:
    """By a JSON value; where it is none, what is wrong with it."""
    try:
        if is_array:
            for item in itertools.islice(items(file), _ITEMS):
                if isinstance(item, Item) and (found := _of_item(item.value)):
                    return found, None
        elif found := _of_object(file):
            return found, None
        if file.member is None and file.path.stat().st_size <= _SMALL:
            return _of_value(file.json()), None
    except Unusable as error:
        return None, error
    return None, None


def _of_object(file: SourceFile) -> Format | None:
    """By the arrays of one object, however long they are; or by lines, where it is only the first."""
    arrays = [key for _, keys, _ in _HELD for key in keys]
    held: set[str] = set()
    for one in members(file, arrays):
        if isinstance(one, Member):
            held.update(key for key in arrays if one == Member(key, []))
        elif one.reason == BEHIND:
            return _of_lines(file)
    for format, keys, fits in _HELD:
        if not held.isdisjoint(keys):
            for item in itertools.islice(items_within(file, keys), _ITEMS):
                if isinstance(item, Item) and fits(item.value):
                    return format
    return None


def _of_text(head: str) -> Format | None:
    if whatsapp.looks_like(head):
        return "whatsapp"
    if table.looks_like(head):
        return "csv"
    return "text" if text.looks_like(head) else None


def _binary(file: SourceFile) -> Unusable:
    return Unusable(file.path, "is not UTF-8 text", way_out="give a transcript, JSON or JSON lines in UTF-8")


def _no_conversation(file: SourceFile) -> Unusable:
    return Unusable(
        file.path,
        "is no conversation",
        way_out="it would be chat messages in JSON, JSON lines or CSV, a transcript of 'Name: words' lines, or an "
        "export of a known program; if it is one of them, name it with --format to see what is wrong",
    )


def _of_lines(file: SourceFile, longest: int | None = None) -> Format | None:
    """By the first lines, of which one broken one does not hide the others; None when none is a JSON object."""
    for line in itertools.islice(file.lines(longest=longest), _LINES):
        try:
            value = parse(line.text) if isinstance(line, Line) else None
        except ValueError:
            continue
        if found := _of_value(value):
            return found
        if own.is_header(value):
            return "mnemic"
        if langgraph.is_item(value):
            return "langgraph"
        if is_message(value) or is_conversation(value):
            return "jsonl"
    return None


def _of_item(value: Json) -> Format | None:
    """By an item of an array."""
    for format, fits in _ITEM_OF:
        if fits(value):
            return format
    if found := _of_value(value):
        return found
    return "messages" if is_conversation(value) or is_message(value) else None


def _of_value(value: Json) -> Format | None:
    """The benchmark that a value is an item of."""
    if longmemeval.is_question(value):
        return "longmemeval"
    if locomo.is_sample(value):
        return "locomo"
    return "personamem" if personamem.is_contexts(value) else None


_ITEM_OF: tuple[tuple[Format, Callable[[Json], bool]], ...] = (
    ("chatgpt", chatgpt.is_conversation),
    ("claude", claude.is_conversation),
    ("langgraph", langgraph.is_item),
    ("mem0", mem0.is_memory),
)
_HELD: tuple[tuple[Format, Sequence[str], Callable[[Json], bool]], ...] = (
    ("mem0", mem0.ARRAYS, mem0.is_memory),
    ("langgraph", langgraph.ARRAYS, langgraph.is_item),
    ("messages", messages.ARRAYS, is_message),
)
