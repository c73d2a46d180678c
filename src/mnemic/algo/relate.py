"""How a new note relates to known ones, by rules, for use without a language model.

Careful by default: a note is superseded only where two texts say the same thing with another polarity, number or date,
where one thing is liked in one of them and disliked in the other, or where a person says that something with one value
at a time (where they live or work, their age, a favourite) has changed. Whatever the rules do not understand is
independent, and both notes stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from mnemic.algo import claims, slots, tastes
from mnemic.algo.lexical import STOP_WORDS, fold, terms
from mnemic.algo.revise import Proposal, Relation, same_occasion, same_words
from mnemic.algo.temporal import find
from mnemic.types import Interval, Note

_DENYING: Final = frozenset(terms("never nobody none nothing neither cannot longer anymore"))
_FEWEST: Final = 2
"""So many terms must two notes have in common for one to be the longer version of the other."""
# Only where time phrases stand is asked, not what they mean.
_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)
_CLOSEST: Final[tuple[Relation, ...]] = ("equivalent", "contradictory", "extending")


@dataclass(frozen=True, slots=True)
class _Said:
    """A note, taken apart.

    Attributes:
        terms: Its content in order, without the person's name, numbers, times and words that deny.
        breaks: For each of them, whether a stop word follows it, as where a clause is added to a whole statement.
        values: Its numbers and time phrases.
        denies: Whether it denies.
    """

    terms: tuple[str, ...]
    breaks: tuple[bool, ...]
    values: frozenset[float | str]
    denies: bool


def relate(new: Note, known: Sequence[Note]) -> Proposal:
    """Propose what to do with a new note, by the known one that it relates to most closely.

    Args:
        new: With no id yet.
        known: What it may relate to; only current notes about the same person count. The proposal's target is a place
            among them.
    """
    related = [
        (_CLOSEST.index(relation), place)
        for place, old in enumerate(known)
        if old.about == new.about and old.status == "current" and (relation := _relation(new, old)) != "independent"
    ]
    if not related:
        return Proposal(new.about, "independent", new)
    rank, place = min(related)
    return Proposal(new.about, _CLOSEST[rank], new, place, known[place].text)


def values(note: Note) -> tuple[frozenset[float], frozenset[Interval]]:
    """The numbers of a note, and the times that it names, counted from when it began to hold.

    Two notes that differ in any are a correction, and no repetition, whoever says they are equivalent.
    """
    text, times = note.text, list[Interval]()
    for mention in reversed(find(text, note.valid.start)):
        times.append(mention.interval)
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return frozenset(claims.numbers(text)), frozenset(times)


def says_both(fuller: Note, *notes: Note) -> bool:
    """Whether a note can take the place of others: it has all their numbers, and at least half of their words each.

    A fuller text that lacks them would overwrite what it was to extend.
    """
    has, numbers = frozenset(claims.content(fuller.text)), claims.numbers(fuller.text)

    def is_in(note: Note) -> bool:
        words = frozenset(claims.content(note.text)) - frozenset(terms(note.about))
        return claims.numbers(note.text) <= numbers and 2 * len(words & has) >= len(words)

    return all(map(is_in, notes))


def _relation(new: Note, old: Note) -> Relation:
    if slots.conflict(new.text, old.text) is not None:
        return "contradictory"
    if not same_occasion(new, old):
        return "independent"
    if same_words(new.text, old.text):
        return "equivalent"
    here, there = _said(new), _said(old)
    if here.terms == there.terms and here.terms:
        return _same_content(here, there, event="fact" in (new.kind, old.kind) and new.valid.start is None)
    if tastes.turned(new.text, old.text):
        return "contradictory"
    if here.denies == there.denies and new.kind == old.kind:
        return _longer(here, there)
    return "independent"


def _same_content(here: _Said, there: _Said, *, event: bool) -> Relation:
    """Of two notes with the same content; of events at unknown times both may have happened."""
    if here.values == there.values and here.denies == there.denies:
        return "equivalent"
    return "independent" if event else "contradictory"


def _longer(here: _Said, there: _Said) -> Relation:
    """Whether one of two notes goes on where the other ends: then it says all that the other says."""
    shorter = min(len(here.terms), len(there.terms))
    longer = max(here, there, key=lambda said: len(said.terms))
    if shorter < _FEWEST or here.terms[:shorter] != there.terms[:shorter] or not longer.breaks[shorter - 1]:
        return "independent"
    if len(here.terms) > shorter:
        return "extending" if here.values >= there.values else "independent"
    return "equivalent" if here.values <= there.values else "independent"


def _said(note: Note) -> _Said:
    text = note.text
    times: set[str] = set()
    for mention in reversed(find(text, _ANY_TIME)):
        times.add(fold(text[mention.start : mention.end]))
        text = f"{text[: mention.start]} {text[mention.end :]}"
    skipped = _DENYING | frozenset(terms(note.about))
    found = [term for term in terms(claims.without_numbers(text)) if term not in skipped]
    places = [place for place, term in enumerate(found) if term not in STOP_WORDS]
    breaks = tuple(not STOP_WORDS.isdisjoint(found[place + 1 : place + 2]) for place in places)
    kept = tuple(claims.present(found[place]) for place in places)
    return _Said(kept, breaks, frozenset(times) | claims.numbers(text), claims.denied(note.text))
