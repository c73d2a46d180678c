"""The items of a JSON array one by one, in memory that does not grow with the file.

Written here because no incremental parser keeps every word: the C one that ijson uses turns an escaped lone surrogate
into a question mark, refuses the same in UTF-8, and quotes the words of a dialogue in its errors. This one only finds
where an item ends; the standard library reads it, and one broken item costs only itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mnemic.importers.files import MAX_LINE, Damaged, SourceFile, Unusable, parse
from mnemic.importers.records import Skipped
from mnemic.types import Json

MAX_ITEM = MAX_LINE
"""Bytes of one item; a longer one ends the reading."""
_PIECE = 1 << 18
_HEAD = 1 << 10
# A whole string, a bracket, a comma; or the beginning of a string whose end was not read yet.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},]|"', re.DOTALL)
_SPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Item:
    """One item of the array, counted from 1."""

    number: int
    value: Json


def is_array(file: SourceFile) -> bool:
    """Whether a file begins as a JSON array does.

    Raises:
        Unusable: It cannot be read.
    """
    return file.head(_HEAD).lstrip(_SPACE).startswith(b"[")


def items(file: SourceFile) -> Iterator[Item | Skipped]:
    """Read the items of a file that is one JSON array.

    An item that is not JSON or not UTF-8 is skipped; so is what a file that ends in the midst has of its last one.

    Raises:
        Unusable: It is no array, or an item is longer than ``MAX_ITEM``.
    """
    with file.open() as stream:
        try:
            for number, raw in enumerate(_raw_items(file, stream), 1):
                yield raw if isinstance(raw, Skipped) else _parsed(raw, number)
        except Damaged:
            yield Skipped("the packed file is cut or damaged from here on", "the end of what can be read")


def _raw_items(file: SourceFile, stream: io.BufferedIOBase) -> Iterator[bytes | Skipped]:
    """The bytes of each item, without the commas around them."""
    held = stream.read(_PIECE).lstrip(_SPACE)
    if not held.startswith(b"["):
        raise Unusable(file.path, "is not a JSON array")
    held = held[1:]
    at, depth, count = 0, 1, 0
    while True:
        start = 0
        for token in _TOKEN.finditer(held, at):
            mark = token.group()
            at = token.end()
            if mark == b'"':
                at = token.start()  # goes on in the next piece
                break
            depth += (mark in b"[{") - (mark in b"]}")
            if (mark == b"," and depth == 1) or depth == 0:
                raw = held[start : token.start()].strip(_SPACE)
                start = at
                count += 1
                # Nothing but space between two commas is no item; before the end it is an empty array.
                if raw or mark == b"," or count > 1:
                    yield raw
            if depth == 0:
                yield from _end(held[at:], stream)
                return
        else:
            at = max(at, len(held))
        held, at = held[start:], at - start
        if len(held) > MAX_ITEM:
            raise Unusable(file.path, f"has an item longer than {MAX_ITEM >> 20} MiB", place=f"item {count + 1}")
        more = stream.read(max(_PIECE, len(held)))
        if not more:
            yield Skipped("the file ends in the midst of it", f"item {count + 1}")
            return
        held += more


def _end(rest: bytes, stream: io.BufferedIOBase) -> Iterator[Skipped]:
    if rest.strip(_SPACE) or stream.read(_PIECE).strip(_SPACE):
        yield Skipped("what stands behind the end of the JSON array", "the end of the file")


def _parsed(raw: bytes, number: int) -> Item | Skipped:
    where = f"item {number}"
    try:
        return Item(number, parse(raw.decode("utf-8", "surrogatepass")))
    except UnicodeDecodeError:
        return Skipped("not UTF-8", where)
    except ValueError:
        return Skipped("not JSON", where)
