"""Which format a file is in, by its content."""

from __future__ import annotations

import itertools
from typing import Literal

from mnemic.importers import locomo, longmemeval, personamem, text
from mnemic.importers.chat import is_conversation, is_message
from mnemic.importers.files import Line, SourceFile, Unusable, parse
from mnemic.types import Json

Format = Literal["messages", "jsonl", "text", "locomo", "personamem", "longmemeval"]

_HEAD = 1 << 16
_LINES = 5
_BINARY = (b"SQLite format 3\0", b"PK\x03\x04", b"%PDF", b"\x89PNG", b"\xff\xd8\xff", b"\xff\xfe", b"\xfe\xff")


def detect(file: SourceFile) -> Format:
    """Tell the format.

    Raises:
        Unusable: It is none of them.
    """
    head = file.head(_HEAD)
    if head.startswith(_BINARY):
        raise _binary(file)
    start = head.lstrip()[:1]
    found = _of_lines(file) if start == b"{" else None
    wrong = None
    if found is None and start in (b"{", b"["):
        try:
            found = _of_whole(file.json())
        except Unusable as error:
            wrong = error
    if found is None and text.looks_like(head.decode("utf-8", "replace")):
        found = "text"
    if found is None:
        raise wrong or (_binary(file) if b"\0" in head else _no_conversation(file))
    return found


def _binary(file: SourceFile) -> Unusable:
    return Unusable(file.path, "is not UTF-8 text", way_out="give a transcript, JSON or JSON lines in UTF-8")


def _no_conversation(file: SourceFile) -> Unusable:
    return Unusable(
        file.path,
        "is no conversation",
        way_out="it would be chat messages in JSON or JSON lines, a transcript of 'Name: words' lines, or a known "
        "benchmark; if it is one of them, name it with --format to see what is wrong",
    )


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
