"""A model's segmentation of a session, whatever it looks like, to episodes that are whole (methods.md 2.3, check 7).

A model is asked for segments with a start, an end, a topic and a summary. Its numbers drift, overlap, leave gaps and
begin at 1; what it said that can be kept is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final, cast

import numpy as np

LONGEST_TOPIC, LONGEST_SUMMARY = 120, 600
"""Characters that are kept of a topic and of a summary; a model that writes more repeats the session."""

_BLOCK: Final = 6  # turns: SeCom's three exchanges
_DEPTH: Final = 5  # containers around a segment
_NUMBER: Final = re.compile(r"(-?\d{1,9})(?:\.0*)?|\D{0,20}?(\d{1,9})\D{0,20}")  # 7, -1, 3.0, "turn 12"
_NUMBERS: Final = re.compile(r"\d{1,9}")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")

_START: Final = ("start", "begin", "first", "from")
_END: Final = ("end", "last", "to", "stop")
_COUNT: Final = ("num", "number", "count", "length")
_TIMES: Final = ("time", "date", "timestamp")
_TURNS: Final = ("turns", "turn_ids", "exchanges", "messages", "indices", "ids", "range", "span")
_TOPIC: Final = ("topic", "title", "name", "label", "theme", "subject")
_SUMMARY: Final = ("topic_summary", "summary", "description", "abstract", "gist")


@dataclass(frozen=True, slots=True)
class Segment:
    """The turns ``[start, end)`` of a session, with what the model called them; empty where it said nothing."""

    start: int
    end: int
    topic: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Repaired:
    """Episodes made of a reply.

    Attributes:
        segments: In order, contiguous, without overlap, from 0 to n.
        usable: Whether anything of the reply went into them; otherwise they are blocks of six turns, and the model
            may be asked again.
        repairs: What had to be repaired, in a few words each; empty for a reply that was right.
    """

    segments: tuple[Segment, ...]
    usable: bool
    repairs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Item:
    """A segment as the model gave it: its numbers, ends included, None where missing."""

    start: int | None
    end: int | None
    count: int | None
    topic: str
    summary: str

    @property
    def placed(self) -> bool:
        """Whether it says where it begins or ends."""
        return self.start is not None or self.end is not None

    @property
    def empty(self) -> bool:
        """Whether it says nothing at all."""
        return not (self.placed or self.count is not None or self.topic or self.summary)


def repair(reply: object, n: int) -> Repaired:
    """Make episodes of any reply.

    A segment's numbers may be missing, strings, negative, out of range or the wrong way round, and its turns a list of
    them. Where segments overlap, a turn belongs to the one that began last, so that of a segment within another both
    keep their topic; what no segment claims belongs to the one before it. Of two with the same turns the first stays.
    Numbers that begin at 1 and end at n are taken for what they are.

    Args:
        reply: The parsed reply, of any shape; turns are numbered from 0, ends are included.
        n: Turns of the session, at least 0.
    """
    if n <= 0:
        return Repaired((), usable=False, repairs=())
    repairs: dict[str, None] = {}
    items = _from_zero([item for item in _items(reply) if not item.empty], n, repairs)
    claims = _distinct(_placed(items, n, repairs), repairs)
    if not claims:
        blocks = tuple(Segment(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
        return Repaired(blocks, usable=False, repairs=("no segment could be read",))
    return Repaired(tuple(_painted(claims, n, repairs)), usable=True, repairs=tuple(repairs))


def windows(n: int, size: int, overlap: int) -> list[tuple[int, int]]:
    """A long session as windows ``[start, end)`` of at most ``size`` turns, each sharing ``overlap`` with the next.

    Raises:
        ValueError: Unless 1 <= overlap < size: without a shared turn nobody sees whether a boundary lies between.
    """
    if not 1 <= overlap < size:
        raise ValueError(f"windows of {size} turns cannot share {overlap}")
    starts = range(0, max(n - overlap, min(n, 1)), size - overlap)
    return [(start, min(start + size, n)) for start in starts]


def join(parts: Sequence[tuple[int, Sequence[Segment]]]) -> list[Segment]:
    """The segments of overlapping windows as those of the whole session.

    In the middle of what two windows share the later one takes over, for it sees what follows. A segment across that
    seam is one with the segment across it in the next window, and is called as the longer of the two.

    Args:
        parts: For each window where it begins, in order, and its segments, counted from there; contiguous, as of
            ``repair``. Each window begins no later than the one before it ends, and ends later than that.
    """
    joined: list[Segment] = []
    for offset, segments in parts:
        placed = [replace(one, start=one.start + offset, end=one.end + offset) for one in segments]
        if not joined or not placed:
            joined += placed
            continue
        seam = (joined[-1].end + placed[0].start) // 2
        before = [replace(one, end=min(one.end, seam)) for one in joined if one.start < seam]
        after = [replace(one, start=max(one.start, seam)) for one in placed if one.end > seam]
        joined = [*_across(before, joined, after, placed, seam), *after[1:]]
    return joined


def _across(
    before: list[Segment], earlier: Sequence[Segment], after: list[Segment], later: Sequence[Segment], seam: int
) -> list[Segment]:
    """What stands before the seam, and the first segment after it: joined where neither window has a boundary there."""
    if not before or any(one.start == seam for one in later[1:]) or any(one.start == seam for one in earlier[1:]):
        return [*before, *after[:1]]
    left, right = before[-1], after[0]
    named = left if left.end - left.start >= right.end - right.start else right
    return [*before[:-1], replace(named, start=left.start, end=right.end)]


def _items(value: object, depth: int = _DEPTH) -> Iterator[_Item]:
    """The segments in a reply, in its order, out of whatever objects and lists they are wrapped in."""
    if isinstance(value, Mapping) and depth:
        fields = {_key(key): one for key, one in cast("Mapping[object, object]", value).items()}
        item = _item(fields)
        inner = [fields[key] for key in fields if key not in _TURNS and isinstance(fields[key], (Mapping, list, tuple))]
        if item.placed or not inner:
            yield item
        else:
            for one in inner:
                yield from _items(one, depth - 1)
    elif isinstance(value, (list, tuple)) and depth:
        row = cast("Sequence[object]", value)
        numbers = [number for number in map(_number, row) if number is not None]
        if len(numbers) == len(row) > 2:
            yield from (_Item(number, None, None, "", "") for number in numbers)
        elif len(row) >= 2 and _number(row[0]) is not None and _number(row[1]) is not None:
            topic, summary = [*map(_words, row[2:4], (LONGEST_TOPIC, LONGEST_SUMMARY)), "", ""][:2]
            yield _Item(_number(row[0]), _number(row[1]), None, topic, summary)
        else:
            for one in row:
                yield from _items(one, depth - 1)


def _item(fields: Mapping[str, object]) -> _Item:
    turns = [number for key in _TURNS for number in _several(fields.get(key))]
    start, end = _first_number(fields, _START, ()), _first_number(fields, _END, ())
    return _Item(
        start=min(turns) if start is None and turns else start,
        end=max(turns) if end is None and turns else end,
        count=_first_number(fields, _COUNT, (*_START, *_END)),
        topic=next(filter(None, (_words(fields.get(key), LONGEST_TOPIC) for key in _TOPIC)), ""),
        summary=next(filter(None, (_words(fields.get(key), LONGEST_SUMMARY) for key in _SUMMARY)), ""),
    )


def _key(key: object) -> str:
    """``startExchange``, ``Start exchange`` and ``start-exchange`` are ``start_exchange``."""
    return re.sub(r"[\W_]+", "_", _CAMEL.sub("_", key)).strip("_").lower() if isinstance(key, str) else ""


def _first_number(fields: Mapping[str, object], words: Sequence[str], others: Sequence[str]) -> int | None:
    """The number under a key with one of the words and none of the others (``start_exchange``); no time of day."""
    for key, value in fields.items():
        parts = key.split("_")
        if not set(words).isdisjoint(parts) and {*others, *_TIMES}.isdisjoint(parts):
            number = _number(value)
            if number is not None:
                return number
    return None


def _number(value: object) -> int | None:
    if isinstance(value, str):
        found = _NUMBER.fullmatch(value.strip()) if len(value) <= 100 else None
        return int(found[1] or found[2]) if found else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _several(value: object) -> list[int]:
    """The numbers of a list of turns, or of a range that is written ``3-7``."""
    if isinstance(value, str):
        return [int(number) for number in _NUMBERS.findall(value[:100])]
    numbers = map(_number, cast("Sequence[object]", value)) if isinstance(value, (list, tuple)) else ()
    return [number for number in numbers if number is not None]


def _words(value: object, longest: int) -> str:
    return " ".join(value[: 4 * longest].split())[:longest].rstrip() if isinstance(value, str) else ""


def _from_zero(items: Sequence[_Item], n: int, repairs: dict[str, None]) -> Sequence[_Item]:
    """The items, counted from 0: from 1 they were where none is 0 and one is n."""
    numbers = [number for item in items for number in (item.start, item.end) if number is not None]
    if not numbers or min(numbers) != 1 or max(numbers) != n:
        return items
    repairs["turns were counted from 1"] = None
    return [
        replace(
            item,
            start=None if item.start is None else item.start - 1,
            end=None if item.end is None else item.end - 1,
        )
        for item in items
    ]


def _placed(items: Sequence[_Item], n: int, repairs: dict[str, None]) -> Iterator[Segment]:
    """The turns that each item claims, within the session; a missing number is taken from the items beside it."""
    known = sorted(item.start for item in items if item.start is not None)
    following = 0
    for item in items:
        start, end = item.start, item.end
        if not item.placed and item.count is None and len(items) > 1:
            repairs["a segment had no numbers"] = None
            continue
        if start is None or (end is None and item.count is None):
            repairs["a start or an end was missing"] = None
        start = following if start is None else start
        if end is None and item.count is not None:
            end = start + max(item.count, 1) - 1
        if end is None:
            end = next((other - 1 for other in known if other > start), n - 1)
        start, end = min(start, end), max(start, end)
        if start >= n or end < 0:
            repairs["a segment lay outside the session"] = None
            continue
        following = end + 1
        if start < 0 or end >= n:
            repairs["a segment reached beyond the session"] = None
        yield Segment(max(start, 0), min(end + 1, n), item.topic, item.summary)


def _distinct(claims: Iterable[Segment], repairs: dict[str, None]) -> list[Segment]:
    """Claims by where they begin, the longer first; of two equal ones the first, with what only the other says."""
    found: dict[tuple[int, int], Segment] = {}
    for claim in claims:
        same = found.get((claim.start, claim.end))
        if same is None:
            found[claim.start, claim.end] = claim
            continue
        repairs["a segment was given twice"] = None
        found[claim.start, claim.end] = replace(
            same, topic=same.topic or claim.topic, summary=same.summary or claim.summary
        )
    ordered = sorted(found.values(), key=lambda claim: (claim.start, -claim.end))
    if [claim.start for claim in found.values()] != [claim.start for claim in ordered]:
        repairs["segments were out of order"] = None
    return ordered


def _painted(claims: Sequence[Segment], n: int, repairs: dict[str, None]) -> Iterator[Segment]:
    """Every turn to the claim that began last, else to the one before it, and runs of one claim's turns to segments."""
    owner = np.full(n, -1)
    for place, claim in enumerate(claims):
        owner[claim.start : claim.end] = place
    claimed = np.flatnonzero(owner >= 0)
    if len(claimed) < n:
        repairs["turns were in no segment"] = None
    if sum(claim.end - claim.start for claim in claims) > len(claimed):
        repairs["segments overlapped"] = None
    nearest = np.maximum(np.searchsorted(claimed, np.arange(n), side="right") - 1, 0)
    owner = owner[claimed[nearest]]
    bounds = [0, *(int(place) + 1 for place in np.flatnonzero(np.diff(owner))), n]
    for start, end in pairwise(bounds):
        yield replace(claims[int(owner[start])], start=start, end=end)
