"""JSON as language models write it: cut anywhere, with trailing commas, single quotes, bare keys, unescaped quotes.

Of well-formed JSON it reads the same values as ``json`` does. Of anything else it keeps what is whole, and says that
something was cut or could not be read; it never raises.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final, Literal, cast

from mnemic.types import Json

_DEEPEST: Final = 64
_BLANK = re.compile(r"[\s,;]*+")
_SPACE = re.compile(r"\s*+")
_START = re.compile(r"[{\[]")
_NUMBER = re.compile(r"-?\d++(?:\.\d++)?(?:[eE][+-]?\d++)?")
_WORD = re.compile(r"[^\s,:;\"'{}\[\]]++")
_RESYNC = re.compile(r"[,{}\[\]\"]")
_SPECIAL = {quote: re.compile(rf"[{quote}\\]") for quote in "\"'"}
# What may stand after a quote that ends a string; any other quote belongs to the words.
_ENDS = re.compile(
    r"\s*+(?:\Z|[:\]}]|,\s*+(?:\Z|[\"'{\[\]}\d-]|(?:true|false|null|True|False|None|NaN)\b|[tfnTFN]\w*+\Z|\w++\s*+:))"
    r"|[^\S\n]*+\n\s*+[\"{\[]"
)
_ESCAPE = re.compile(r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.S)
_PLAIN: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"} | {char: char for char in "\"'\\/"}
_LITERALS: Final[dict[str, Json]] = {
    **{"true": True, "false": False, "null": None, "True": True, "False": False, "None": None},
    **dict.fromkeys(("NaN", "Infinity", "-Infinity"), None),
}


class CutObject(dict[str, Json]):
    """An object whose end is missing, with its whole pairs."""


class CutList(list[Json]):
    """A list whose end is missing, with its whole items, and perhaps a cut one at the end."""


@dataclass(frozen=True, slots=True)
class Found:
    """One object or list of a text.

    Attributes:
        start, end: Where it stands.
        broken: How many of its pieces could not be read and were left out.
    """

    value: dict[str, Json] | list[Json]
    start: int
    end: int
    broken: int

    @property
    def cut(self) -> bool:
        """Whether the text ends in it."""
        return isinstance(self.value, (CutObject, CutList))


def containers(text: str, *, gather: Collection[str] = ()) -> Iterator[Found]:
    """The objects and lists of a text that lie in no other one, in order; what is between them is passed over.

    Args:
        text: Any text. Time is linear in its length.
        gather: Keys whose values are put together into one list where an object has the key more than once. Of other
            repeated keys, lists are put together, and else the last value counts, as in ``json``.
    """
    place = _START.search(text)
    while place is not None:
        reader = _Reader(text, place.start(), frozenset(gather))
        try:
            value = reader.container(0)
            yield Found(value, place.start(), reader.at, reader.broken)
        except _TooDeep:
            pass  # what is inside is passed over too
        place = _START.search(text, reader.at)


class _Cut(Exception):
    """The text ends inside this value, of which nothing is whole."""


class _Unreadable(Exception):
    """No value stands here."""


class _TooDeep(Exception):
    """More containers around it than a person would write."""


class _Reader:
    """Reads one container.

    Attributes:
        at: The place in the text that is read next.
        broken: See ``Found``.
    """

    def __init__(self, text: str, at: int, gather: frozenset[str]) -> None:
        self.at: int = at
        self.broken = 0
        self._text = text
        self._gather = gather

    def container(self, depth: int) -> dict[str, Json] | list[Json]:
        """The object or list that begins here."""
        if depth >= _DEEPEST:
            raise _TooDeep
        self.at += 1
        return self._object(depth) if self._text[self.at - 1] == "{" else self._list(depth)

    def _list(self, depth: int) -> list[Json]:
        items: list[Json] = []
        while (end := self._end("]")) is None:
            try:
                items.append(self._value(depth))
            except _Cut:
                return CutList(items)
            except _Unreadable:
                self._pass_over()
        return items if end == "end" else CutList(items)

    def _object(self, depth: int) -> dict[str, Json]:
        pairs: dict[str, Json] = {}
        seen: dict[str, int] = {}
        while (end := self._end("}")) is None:
            if self._text[self.at] in "{[":
                self.broken += 1
                self.container(depth + 1)  # without a key there is no place for it
                continue
            try:
                key = self._key()
                value = self._value(depth)
            except _Cut:
                return CutObject(pairs)
            except _Unreadable:
                self._pass_over()
                continue
            seen[key] = seen.get(key, 0) + 1
            pairs[key] = self._joined(key, pairs[key], value, seen[key]) if key in pairs else value
        return pairs if end == "end" else CutObject(pairs)

    def _joined(self, key: str, old: Json, new: Json, count: int) -> Json:
        """The value of a key that an object has for the ``count``-th time."""
        if isinstance(old, list) and isinstance(new, list):
            return [*old, *new]
        if key not in self._gather:
            return new
        former = old if isinstance(old, list) and count > 2 else [old]
        return [*former, *new] if isinstance(new, list) else [*former, new]

    def _end(self, closing: Literal["]", "}"]) -> Literal["end", "cut"] | None:
        """Whether the container ends here; a closing bracket of the other kind ends it too, for its own sake."""
        self.at = _end_of(_BLANK, self._text, self.at)
        if self.at >= len(self._text):
            return "cut"
        char = self._text[self.at]
        if char == closing:
            self.at += 1
            return "end"
        if char in "]}":
            self.broken += 1
            return "end"
        return None

    def _key(self) -> str:
        char = self._text[self.at]
        key = self._string(char) if char in "\"'" else self._word()
        self.at = _end_of(_SPACE, self._text, self.at)
        if self.at >= len(self._text):
            raise _Cut
        if self._text[self.at] != ":":
            raise _Unreadable
        self.at += 1
        return key

    def _value(self, depth: int) -> Json:
        self.at = _end_of(_SPACE, self._text, self.at)
        if self.at >= len(self._text):
            raise _Cut
        char = self._text[self.at]
        if char in "{[":
            return cast("Json", self.container(depth + 1))
        if char in "\"'":
            return self._string(char)
        return self._scalar()

    def _scalar(self) -> Json:
        word = self._word()
        if self.at >= len(self._text):
            raise _Cut  # 12 may have been going to be 123
        if word in _LITERALS:
            return _LITERALS[word]
        if _NUMBER.fullmatch(word) is None:
            raise _Unreadable
        return _number(word)

    def _word(self) -> str:
        found = _WORD.match(self._text, self.at)
        if found is None:
            raise _Unreadable
        self.at = found.end()
        return found[0]

    def _string(self, quote: str) -> str:
        """A string; a quote inside it that nobody escaped belongs to it."""
        begin: int = self.at + 1
        at: int = begin
        while (special := _SPECIAL[quote].search(self._text, at)) is not None:
            if special[0] == "\\":
                at = special.end() + 1
            elif _ENDS.match(self._text, special.end()) is None:
                at = special.end()
            else:
                self.at = special.end()
                return unescaped(self._text[begin : special.start()])
        self.at = len(self._text)
        raise _Cut

    def _pass_over(self) -> None:
        """Go on where the next value may begin, or the container ends."""
        self.broken += 1
        place = _RESYNC.search(self._text, self.at)
        self.at = len(self._text) if place is None else place.start()
        if place is not None and place[0] == ",":
            self.at += 1


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()


def _number(word: str) -> Json:
    try:
        return int(word)
    except ValueError:  # a fraction, or more digits than Python converts
        value = float(word)
        return value if math.isfinite(value) else None


def unescaped(text: str) -> str:
    """The words of a string; what is no escape of JSON stays as it is."""
    return _ESCAPE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    high, low, code, char = match.groups()
    if high is not None:
        return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10) + (int(low, 16) & 0x3FF))
    return chr(int(code, 16)) if code is not None else _PLAIN.get(char, match[0])
