"""What a language model's reply says, whatever it is wrapped in, and by name what is wrong with it.

Replies come with reasoning before, prose around, code fences, in other shapes than asked for, cut at the limit of
tokens, or as refusals. What is whole and fits is kept; a reply of which something was lost always says so, and nothing
is never a success: a reply without items and without a failure says in so many words that there are none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Generic, Literal, TypeVar, cast

from mnemic.algo.lenient_json import CutList, CutObject, Found, containers
from mnemic.protocols import Reply
from mnemic.types import Json

T = TypeVar("T")

Failure = Literal["empty", "prose", "refused", "truncated", "wrong_shape", "unfit"]
"""``empty``: nothing but white space and reasoning. ``prose``: no JSON. ``refused``: by the provider, or in words.
``truncated``: the end is missing. ``wrong_shape``: JSON that nothing can be taken from. ``unfit``: some items cannot be
used."""

_OPENING = re.compile(r"\s*+<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CLOSING = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```[a-z]*", re.IGNORECASE)
_REFUSAL = re.compile(
    r"\W*+(?:(?:i['’]m|i am|we['’]re|we are) (?:very |so |really )?(?:sorry|afraid)\W+(?:but |that )?(?:i|we|this|it)\b"
    r"|(?:i['’]m|i am) (?:unable|not able) to\b|sorry, (?:but )?(?:i|we)\b|i apologi[sz]e\b|as an ai\b"
    r"|i (?:cannot|can['’]?t|can not|won['’]t|will not|am not able to|don['’]t feel comfortable)"
    r" (?:assist|help|comply|do (?:that|this)|provide|fulfil|process|extract|answer|continue|create|generate)\b)",
    re.IGNORECASE,
)
_TRIED: Final = 20
"""Closing tags looked at, at most: the time of reading stays linear."""
_NESTED: Final = 3
"""Objects that wrap what was asked for, at most."""


@dataclass(frozen=True, slots=True)
class Parsed(Generic[T]):
    """What was taken from a reply.

    Attributes:
        items: What is whole and fits, in order.
        failure: What was lost, or why there is nothing; None where the reply was used as it is.
        dropped: How many items were left out because they do not fit.
    """

    items: tuple[T, ...]
    failure: Failure | None = None
    dropped: int = 0


def items(reply: Reply, keys: Sequence[str], item: Callable[[Json], T | None]) -> Parsed[T]:
    """The items of a reply that was asked for ``{"KEY": [item, …]}``.

    Also read: the bare list, one item without a list, a list under another single key, objects numbered ``"0"`` and so
    on, JSON in a string, a line of JSON for each item, an object around the object, and a list of such objects. Of
    several in one reply the first one that anything can be taken from counts: what a model writes on behind it is
    invented.

    Args:
        reply: Any.
        keys: What the list may be called, lower case; all of them are taken.
        item: Makes an item of a value, or None of one that does not fit.
    """
    text = _whole_text(reply.text)
    found = list(containers(text, gather=keys))
    best: tuple[list[Json], bool, int] | None = None
    for group in _groups(text, found):
        values = [one.value for one in group]
        entries = _entries(values[0] if len(values) == 1 else cast("Json", values), keys, item, _NESTED)
        if entries is None:
            continue
        cut = group[-1].cut or (len(group) > 1 and reply.finish == "length")
        candidate = (entries, cut, sum(one.broken for one in group))
        best = best or candidate
        if any(_fits(entry, item) for entry in entries):
            best = candidate
            break
    if best is None:
        return Parsed((), _failure(reply, text, found))
    entries, cut, broken = best
    made = [item(entry) for entry in entries if not _is_cut(entry)]
    good = tuple(one for one in made if one is not None)
    dropped = len(made) - len(good) + broken
    return Parsed(good, _shortcoming(reply, good, cut=cut, dropped=dropped), dropped)


def fields(text: str) -> Iterator[dict[str, Json]]:
    """The JSON objects of a reply that lie in no other one, the last first; of cut ones the whole pairs."""
    for found in reversed(list(containers(_whole_text(text)))):
        inside = [found.value] if isinstance(found.value, dict) else reversed(found.value)
        yield from (value for value in inside if isinstance(value, dict))


def having(text: str, name: str) -> dict[str, Json] | None:
    """The last JSON object in a reply that has a field with words or a number in it; None where none does."""
    return next((found for found in fields(text) if as_text(found.get(name)) is not None), None)


def field(text: str, name: str) -> str | None:
    """The value, as text, of a field of the last JSON object in a reply that has it; None where none does."""
    found = having(text, name)
    return None if found is None else as_text(found[name])


def spoken(text: str) -> str:
    """A reply without the reasoning before it.

    The last closing tag ends the reasoning, except where it stands in the JSON of the reply itself. Of reasoning that
    never ends nothing is said.
    """
    reasons = _OPENING.match(text) is not None
    closings = [match.end() for match in _CLOSING.finditer(text)]
    if not closings:
        return "" if reasons else text
    for begin in (closings[:-1] if reasons else [0, *closings[:-1]])[:_TRIED]:
        said = text[begin:]
        if begin and said.lstrip()[:1] not in ("{", "["):
            continue
        first = next(containers(said), None)
        if first is not None and begin + first.end > closings[-1]:
            return said
    return text[closings[-1] :]


def unfenced(text: str) -> str:
    """What a reply in prose says: without the reasoning before it and the code fences around it."""
    return _FENCE.sub("", spoken(text)).strip()


def ending(reply: Reply) -> Failure | None:
    """What the way in which a reply ended says of it."""
    match reply.finish:
        case "length":
            return "truncated"
        case "refusal":
            return "refused"
        case "stop":
            return None


def refuses(text: str) -> bool:
    """Whether a text begins as a model does that declines."""
    return _REFUSAL.match(text) is not None


def statement(value: Json) -> str | None:
    """A value as one line of words; None of what is none: another type, blank, a refusal, or the model's own JSON."""
    if not isinstance(value, str):
        return None
    line = " ".join(value.split())
    if not line or refuses(line) or _is_json(line):
        return None
    return line


def number(value: Json) -> int | None:
    """A value as a whole number: 3, ``3.0``, ``"3"``, ``"[3]"``; None of anything else, True and False too."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        digits = value.strip(" .#[]()")
        return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) else None


def numbers(value: Json, allowed: Collection[int]) -> tuple[int, ...]:
    """The numbers in a value, one or a list, that are among those that were offered; each once, in order."""
    given = value if isinstance(value, list) else [value]
    found = (number(one) for one in given)
    return tuple(dict.fromkeys(one for one in found if one is not None and one in allowed))


def choice(value: Json, allowed: Sequence[str]) -> str | None:
    """The one of some lower-case words that a value is, whatever its case and the punctuation around it."""
    word = value.strip(" .:\"'`*_()[]").lower() if isinstance(value, str) else None
    return word if word in allowed else None


def as_text(value: Json) -> str | None:
    """A value as words: a text without blanks around it, a number, or a list of these; None of anything else."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        parts = [part for one in value if (part := as_text(one)) is not None]
        return ", ".join(parts) if parts else None
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole_text(text: str) -> str:
    """What is said, out of the string or the content blocks that it may be wrapped in."""
    said = spoken(text)
    try:
        value = json.loads(said, strict=False)
    except (ValueError, RecursionError):
        return said
    if isinstance(value, str):
        return spoken(value)
    if isinstance(value, list) and value:
        blocks = [_block(cast("Json", one)) for one in cast("list[object]", value)]
        if None not in blocks:
            return spoken("".join(block for block in blocks if block is not None))
    return said


def _block(value: Json) -> str | None:
    match value:
        case {"type": "text", "text": str(text)}:
            return text
        case _:
            return None


def _groups(text: str, found: Sequence[Found]) -> Iterator[list[Found]]:
    """The containers of a text; objects with nothing but blanks and commas between them are lines of one list."""
    group: list[Found] = []
    for one in found:
        joins = group and isinstance(one.value, dict) and isinstance(group[-1].value, dict)
        if joins and not text[group[-1].end : one.start].strip(" \t\r\n,"):
            group.append(one)
            continue
        if group:
            yield group
        group = [one]
    if group:
        yield group


def _entries(value: Json, keys: Sequence[str], item: Callable[[Json], T | None], depth: int) -> list[Json] | None:
    """The values that should be items; None where nothing says that they are."""
    if isinstance(value, list):
        return [entry for one in value for entry in _flat(one, keys, item, depth)]
    if not isinstance(value, dict):
        return None
    named = [one for key, one in value.items() if _name(key) in keys]
    if named:
        return [entry for one in named for entry in _listed(one, keys, item, depth)]
    if value and all(key.strip().isdigit() for key in value):
        return list(value.values())
    if _fits(value, item) or (isinstance(value, CutObject) and not any(map(_is_container, value.values()))):
        return [value]
    inner = [one for one in value.values() if _is_container(one)]
    return _entries(inner[0], keys, item, depth - 1) if len(inner) == 1 and depth else None


def _flat(value: Json, keys: Sequence[str], item: Callable[[Json], T | None], depth: int) -> list[Json]:
    """One entry of a list, or those of the object asked for that stands there in its place."""
    if isinstance(value, dict) and depth and not _fits(value, item) and any(_name(key) in keys for key in value):
        return _entries(value, keys, item, depth - 1) or []
    return [_decoded(value, item)]


def _listed(value: Json, keys: Sequence[str], item: Callable[[Json], T | None], depth: int) -> list[Json]:
    """The entries of what stands where the list should."""
    if value is None:
        return []
    value = _decoded(value, item)
    if isinstance(value, list):
        return [entry for one in value for entry in _flat(one, keys, item, depth)]
    if isinstance(value, dict) and not _fits(value, item):
        return list(value.values())
    return [value]


def _decoded(value: Json, item: Callable[[Json], T | None]) -> Json:
    """A value, out of the string that it was encoded into a second time."""
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    inner = next(containers(value), None)
    if inner is None or inner.cut or value[inner.end :].strip():
        return value
    return inner.value if isinstance(inner.value, list) or _fits(inner.value, item) else value


def _failure(reply: Reply, text: str, found: Sequence[Found]) -> Failure:
    """Why nothing could be taken from a reply."""
    if reply.finish == "refusal":
        return "refused"
    if not text.strip():
        return "truncated" if reply.finish == "length" else "empty"
    if reply.finish == "length" or any(one.cut for one in found):
        return "truncated"
    if refuses(text):
        return "refused"
    return "wrong_shape" if found else "prose"


def _shortcoming(reply: Reply, good: Sequence[object], *, cut: bool, dropped: int) -> Failure | None:
    """What was lost of a reply that had the right shape."""
    if reply.finish == "refusal":
        return "refused"
    if cut:
        return "truncated"
    if dropped:
        return "unfit" if good else "wrong_shape"
    return None


def _fits(value: Json, item: Callable[[Json], T | None]) -> bool:
    return not _is_cut(value) and item(value) is not None


def _is_json(line: str) -> bool:
    inner = next(containers(line), None) if line[0] in "{[" else None
    return inner is not None and inner.end == len(line)


def _is_cut(value: Json) -> bool:
    return isinstance(value, (CutObject, CutList))


def _is_container(value: Json) -> bool:
    return isinstance(value, (dict, list))


def _name(key: str) -> str:
    return key.strip().lower().replace(" ", "_")
