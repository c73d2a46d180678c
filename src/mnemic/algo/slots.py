"""What has one value at a time, by the words of a statement: where somebody lives and works, a favourite, a birthday.

Two statements that give such a thing different values cannot both hold. By its own words the newer one says that it has
changed since, or that the older one was wrong; where it says neither, nobody knows, and both stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from mnemic.algo import claims
from mnemic.algo.asserted import hedged
from mnemic.algo.lexical import fold, terms

Conflict = Literal["changed", "corrected"]

_PATTERNS: Final = tuple(
    (name, re.compile(rf"\b(?:{pattern})\s+(?P<value>[^,;.!?()]+)", re.IGNORECASE))
    for name, pattern in (
        ("home", r"(?:lives?|living|resides?|moved|relocated|based) (?:in|to)"),
        ("work", r"(?:works?|working|employed|a job) (?:at|for)"),
        ("role", r"(?:works?|working) as"),
        ("favourite", r"favou?rite (?P<of>\w+(?: \w+)?) (?:is|are)(?: now)?"),
        ("marital", r"(?:is|am)(?: now)?(?=\s(?:married|single|divorced|engaged|widowed)\b)"),
        ("birthday", r"birthday (?:is|falls)(?: on)?"),
    )
)
_NAMED: Final = ("home", "work")
"""Whose value is a name."""
_LASTING: Final = re.compile(r"\bbirthday (?:is|falls)\b|\bwas born\b", re.IGNORECASE)
_CHANGED: Final = re.compile(
    r"\b(?:now|moved|relocated|no longer|anymore|any more|these days|nowadays|switched|changed|instead|since then|"
    r"just (?:started|began|got)|got (?:married|divorced|engaged)|new job)\b"
)
PAST: Final = re.compile(r"\b(?:used to|formerly|previously|once|back then|would)\b")
"""What says of a statement that it held before, and not that it holds now."""
_CORRECTS: Final = re.compile(
    r"\b(?:correction|typo|mistyped|misspoke|i meant|my mistake|i was wrong|got (?:it|that|this) wrong|not (?:the )?\w+"
    r" as i (?:said|wrote))\b"
)
_BEGINS: Final = re.compile(
    r"\b(?:moved|relocated) (?:\w+ )?to\b|\b(?:started|began) (?:working|a (?:new )?job|my (?:new )?job)\b"
    r"|\bgot (?:married|divorced|engaged)\b"
)


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing and its value.

    Attributes:
        name: What it is; with ``of``, a favourite what.
        value: The terms of its value; of a name, those of the name.
    """

    name: str
    of: str | None
    value: frozenset[str]


def slots(text: str) -> list[Slot]:
    """What a statement gives a value to."""
    found: list[Slot] = []
    for name, pattern in _PATTERNS:
        match = pattern.search(text)
        if match and (value := _value(match["value"], name)):
            found.append(Slot(name, match.groupdict().get("of"), value))
    return found


def conflict(new: str, old: str) -> Conflict | None:
    """Whether a newer statement takes the place of an older one, by its own words; and how."""
    said = change(new)
    return said.how if said is not None and said.replaces(slots(old)) else None


@dataclass(frozen=True, slots=True)
class Change:
    """What a statement changes or corrects by its own words.

    Attributes:
        how: Which of the two.
        values: What it gives a value to, at least one thing.
    """

    how: Conflict
    values: tuple[Slot, ...]

    def replaces(self, known: Iterable[Slot]) -> bool:
        """Whether an older statement, which gives these values, cannot hold any more."""
        there = {(slot.name, slot.of): slot.value for slot in known}
        return any((slot.name, slot.of) in there and _differ(slot, there[slot.name, slot.of]) for slot in self.values)


def change(text: str) -> Change | None:
    """What a statement changes or corrects; None for most, which by their own words do neither."""
    plain = fold(text)
    corrects = _CORRECTS.search(plain) is not None
    if not corrects and (not _CHANGED.search(plain) or PAST.search(plain) or hedged(text) or claims.denied(text)):
        return None
    values = slots(text)
    return Change("corrected" if corrects else "changed", tuple(values)) if values else None


def may_replace(text: str) -> bool:
    """Whether a statement may take the place of others: then it is worth comparing it with all that is known."""
    plain = fold(text)
    return bool(_CHANGED.search(plain) or _CORRECTS.search(plain)) and bool(slots(text))


def begins(text: str) -> bool:
    """Whether a statement tells of the beginning of what lasts from then on: a move, a new job, a marriage."""
    return _BEGINS.search(fold(text)) is not None


def is_lasting(text: str) -> bool:
    """Whether a statement is of what never changes: a birthday."""
    return _LASTING.search(text) is not None


def _differ(slot: Slot, there: frozenset[str]) -> bool:
    if slot.name == "birthday":
        return not (slot.value <= there or there <= slot.value)
    return slot.value.isdisjoint(there)


def _value(text: str, name: str) -> frozenset[str]:
    if name == "birthday":
        return frozenset(terms(text))
    if name not in _NAMED:
        return frozenset(claims.content(text))
    # A word before it, so that a name in the first place is not taken for the first word of a sentence.
    whole = f"in {text}"
    return frozenset(term for span in claims.names(whole) for term in terms(whole[slice(*span)]))
