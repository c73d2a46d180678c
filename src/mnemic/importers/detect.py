"""Which format a file is in, by its content."""

from __future__ import annotations

import itertools
from typing import Literal

from mnemic.errors import InvalidFile
from mnemic.importers import locomo, longmemeval, personamem, text
from mnemic.importers.chat import is_conversation, is_message
from mnemic.importers.files import Line, SourceFile, parse
from mnemic.types import Json

Format = Literal["messages", "jsonl", "text", "locomo", "personamem", "longmemeval"]

_HEAD = 1 << 16
_LINES = 5
_BINARY = (b"SQLite format 3\0", b"PK\x03\x04", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\xff\xfe", b"\xfe\xff")


def detect(file: SourceFile) -> Format:
    """Tell the format.

    Raises:
        InvalidFile: It is none of them.
    """
    head = file.head(_HEAD)
    if head.startswith(_BINARY):
        raise InvalidFile(f"{file.path}: is not UTF-8 text; give a transcript, JSON or JSON lines in UTF-8")
    start = head.lstrip()[:1]
    found = _of_lines(file) if start == b"{" else None
    wrong = None
    if found is None and start in (b"{", b"["):
        try:
            found = _of_whole(file.json())
        except InvalidFile as error:
            wrong = error
    if found is None and text.looks_like(head.decode("utf-8", "replace")):
        found = "text"
    if found is None:
        raise wrong or InvalidFile(
            f"{file.path}: is neither chat messages in JSON or JSON lines, nor a transcript of 'Name: words' lines, "
            "nor a known benchmark; if it is one of them, name it with --format to see what is wrong"
        )
    return found


def _of_lines(file: SourceFile) -> Format | None:
    """By the first lines, of which one broken one does not hide the others; None when none is a JSON object."""
    for line in itertools.islice(file.lines(), _LINES):
        try:
            value = parse(line.text) if isinstance(line, Line) else None
        except ValueError:
            continue
        if found := _of_value(value):
            return found
        if is_message(value) or is_conversation(value):
            return "jsonl"
    return None


def _of_whole(value: Json) -> Format | None:
    items = value if isinstance(value, list) else [value]
    for item in items:
        if found := _of_value(item):
            return found
    return "messages" if is_conversation(value) or any(is_conversation(item) for item in items) else None


def _of_value(value: Json) -> Format | None:
    """The benchmark that a value is an item of."""
    if longmemeval.is_question(value):
        return "longmemeval"
    if locomo.is_sample(value):
        return "locomo"
    return "personamem" if personamem.is_contexts(value) else None
