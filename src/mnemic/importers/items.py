"""The items of JSON arrays one by one, in memory that does not grow with the file.

Written here because no incremental parser keeps every word: the C one that ijson uses turns an escaped lone surrogate
into a question mark, refuses the same in UTF-8, and quotes the words of a dialogue in its errors. This one only finds
where an item ends; the standard library reads it, and one broken item costs only itself.
"""

from __future__ import annotations

import io
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from mnemic.importers.files import MAX_LINE, Damaged, SourceFile, Unusable, parse
from mnemic.importers.records import Skipped
from mnemic.types import Json

MAX_ITEM = MAX_LINE
"""Bytes of one item or member; a longer one ends the reading."""
BEHIND = "what stands behind the end of the JSON value"
_PIECE = 1 << 18
_HEAD = 1 << 10
# A whole string, a bracket, a comma; or the beginning of a string whose end was not read yet.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[\[\]{},]|"', re.DOTALL)
# What stands before the value of a member.
_KEY = re.compile(rb'\s*("(?:[^"\\]++|\\.)*+")\s*:\s*', re.DOTALL)
_SPACE = b" \t\r\n"
_WITHIN = 2
"""How deep the items of an array in an object lie."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item of an array, counted from 1."""

    number: int
    value: Json


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object."""

    key: str
    value: Json


@dataclass(frozen=True, slots=True)
class _Cut:
    """What stands before a comma or an end, or before an array that is gone into.

    Attributes:
        level: How deep: 1, or 2 within an array that was gone into.
        mark: The comma or bracket behind it.
        raw: The bytes, without the space around them.
    """

    level: int
    mark: bytes
    raw: bytes


def begins_with(file: SourceFile, bracket: bytes) -> bool:
    """Whether a file begins as a JSON array (``[``) or a JSON object (``{``) does.

    Raises:
        Unusable: It cannot be read.
    """
    return file.head(_HEAD).lstrip(_SPACE).startswith(bracket)


def items(file: SourceFile) -> Iterator[Item | Skipped]:
    """Read the items of a file that is one JSON array.

    An item that is not JSON or not UTF-8 is skipped; so is what a file that ends in the midst has of its last one.

    Raises:
        Unusable: It is no array, or an item is longer than ``MAX_ITEM``.
    """
    for number, cut in enumerate(_pieces(file, b"["), 1):
        yield cut if isinstance(cut, Skipped) else _item(cut.raw, number)


def items_within(file: SourceFile, arrays: Collection[str]) -> Iterator[Item | Skipped]:
    """Read the items of arrays that are members of a file that is one JSON object; else as ``items``.

    Args:
        file: The file.
        arrays: The keys of these members; several are counted through. The others are passed over.

    Raises:
        Unusable: It is no object, or an item or a member is longer than ``MAX_ITEM``.
    """
    found = (cut for cut in _pieces(file, b"{", arrays) if isinstance(cut, Skipped) or cut.level == _WITHIN)
    for number, cut in enumerate(found, 1):
        yield cut if isinstance(cut, Skipped) else _item(cut.raw, number)


def members(file: SourceFile, arrays: Collection[str]) -> Iterator[Member | Skipped]:
    """Read the members of a file that is one JSON object.

    Args:
        file: The file.
        arrays: The keys of members that are passed over where they are arrays: ``items_within`` reads those. Of
            each comes an empty one.

    Raises:
        Unusable: It is no object, or a member or an item is longer than ``MAX_ITEM``.
    """
    number = 0
    for cut in _pieces(file, b"{", arrays, opened=True):
        if isinstance(cut, Skipped):
            yield cut
        elif cut.level != _WITHIN:
            number += 1
            yield _member(cut.raw + b"[]" * (cut.mark == b"["), number)


def _pieces(
    file: SourceFile, opening: bytes, arrays: Collection[str] = (), *, opened: bool = False
) -> Iterator[_Cut | Skipped]:
    """The items and members of a file, also empty ones where a comma says that there is one.

    Args:
        file: The file.
        opening: What it must begin with.
        arrays: The keys of members whose items are meant.
        opened: Whether to tell where an array is gone into.
    """
    with file.open() as stream:
        before = opening
        try:
            for cut in _cuts(file, stream, opening, arrays):
                if isinstance(cut, Skipped):
                    yield cut
                    continue
                # Nothing but space between two commas is no item. Before the end it is an empty array, and behind
                # an array that was gone into it is the rest of its member.
                is_none = not cut.raw and (before == b"]" or (before in b"[{" and cut.mark in b"]}"))
                if opened if cut.mark == b"[" else not is_none:
                    yield cut
                before = cut.mark
        except Damaged:
            yield Skipped("the packed file is cut or damaged from here on", "the end of what can be read")


def _cuts(
    file: SourceFile, stream: io.BufferedIOBase, opening: bytes, arrays: Collection[str]
) -> Iterator[_Cut | Skipped]:
    """Cut an array or object at its commas, and so those of its members that are meant."""
    held = stream.read(_PIECE).lstrip(_SPACE)
    if not held.startswith(opening):
        raise Unusable(file.path, f"is not a JSON {'array' if opening == b'[' else 'object'}")
    held = held[1:]
    at, depth, level, count = 0, 1, 1, 0
    while True:
        start = 0
        for token in _TOKEN.finditer(held, at):
            mark = token.group()
            at = token.end()
            if mark == b'"':
                at = token.start()  # goes on in the next piece
                break
            depth += (mark in b"[{") - (mark in b"]}")
            enters = mark == b"[" and depth == _WITHIN > level and _key(held[start : token.start()]) in arrays
            if enters or depth < level or (mark == b"," and depth == level):
                yield _Cut(level, mark, held[start : token.start()].strip(_SPACE))
                start = at
                level, count = (_WITHIN, 0) if enters else (min(level, depth), count + 1)
            if depth == 0:
                yield from _end(held[at:], stream)
                return
        else:
            at = max(at, len(held))
        held, at = held[start:], at - start
        is_member = opening == b"{" and level < _WITHIN
        place = "behind the last whole member" if is_member else f"item {count + 1}"
        if len(held) > MAX_ITEM:
            raise Unusable(file.path, f"has an item longer than {MAX_ITEM >> 20} MiB", place=place)
        more = stream.read(max(_PIECE, len(held)))
        if not more:
            yield Skipped("the file ends in the midst of it", place)
            return
        held += more


def _key(raw: bytes) -> str | None:
    """The key whose value begins behind this; None where none does."""
    found = _KEY.fullmatch(raw)
    try:
        return None if found is None else str(parse(found[1].decode("utf-8", "surrogatepass")))
    except ValueError:
        return None


def _end(rest: bytes, stream: io.BufferedIOBase) -> Iterator[Skipped]:
    if rest.strip(_SPACE) or stream.read(_PIECE).strip(_SPACE):
        yield Skipped(BEHIND, "the end of the file")


def _item(raw: bytes, number: int) -> Item | Skipped:
    value = _parsed(raw, f"item {number}")
    return value if isinstance(value, Skipped) else Item(number, value)


def _member(raw: bytes, number: int) -> Member | Skipped:
    value = _parsed(b"{" + raw + b"}", f"member {number}")
    if isinstance(value, dict) and len(value) == 1:
        return Member(*next(iter(value.items())))
    return value if isinstance(value, Skipped) else Skipped("not JSON", f"member {number}")


def _parsed(raw: bytes, where: str) -> Json | Skipped:
    try:
        return parse(raw.decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return Skipped("not UTF-8", where)
    except ValueError:
        return Skipped("not JSON", where)
