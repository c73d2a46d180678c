"""True notes made false, each in one way, by rules alone: another name, number, date or speaker, or a negation.

Deterministic: the same notes give the same alterations. A name that stands in for another is taken from the other notes
of the same conversation, so that it fits the subject as the mistake of a language model would.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

from mnemic.algo import claims
from mnemic.bench.datasets.notes import GivenNote

Kind = Literal["name", "number", "date", "speaker", "subject", "negation"]
"""What is altered; of ``speaker`` whom the note is about and names, of ``subject`` only whom it names."""
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_NUMBERS: Final = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER: Final = re.compile(
    rf"(?<![\w.,:'’$-])(?:\d{{1,3}}(?![\w,:%]|[.-]\d)|(?:{'|'.join(_NUMBERS)})\b)", re.IGNORECASE
)
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_OTHER_TIMES: Final = {
    "yesterday": "last year", "last night": "last month", "last week": "last year", "last month": "last year",
    "last year": "last week", "last weekend": "last month", "last summer": "last winter", "today": "last month",
    "next month": "next year", "next week": "next year", "next year": "next week", "tomorrow": "next year",
    "a few weeks ago": "yesterday", "a few days ago": "last year", "this week": "last year", "this month": "last year",
}  # fmt: skip
_TIME: Final = re.compile(
    rf"\b(?:{'|'.join((*_DAYS, *_OTHER_TIMES))}|(?<![$.,])(?:19|20)\d\d"
    rf"|(?:(?<=\bin )|(?<=\bsince )|(?<=\d ))(?:{'|'.join(_MONTHS)}))\b",
    re.IGNORECASE,
)
_NOT: Final = re.compile(r"\b(?:not|never) |(?<!ca)n['’]t\b|(?<=can)['’]t\b", re.IGNORECASE)
_VERB: Final = re.compile(
    r"(?P<lead>(?: and \w+)?(?: (?:\w+ly|also|often|still|once|now|just|first|always))* )"
    r"(?:(?P<aux>is|are|was|were|has|had|can|could|will|would|should)\b|(?P<verb>\w+)\b)"
)


@dataclass(frozen=True, slots=True)
class Altered:
    """A note that its source does not support any more, and in what way it was altered."""

    kind: Kind
    note: GivenNote


def alter(note: GivenNote, said: str, speakers: Sequence[str], names: Sequence[str]) -> list[Altered]:
    """Alter a note in every way that it allows, each by itself.

    Args:
        note: A true one about one of the speakers.
        said: The words of its cited turns.
        speakers: Those of its conversation; each is swapped with the next one.
        names: What can stand in for a name, in the order to try them.

    Returns:
        At most one alteration of each kind; none puts in a name that the note or its cited turns hold.
    """
    other = {name: speakers[place - 1] for place, name in enumerate(speakers)}
    swapped = _swapped(note.text, other)
    texts: dict[Kind, str | None] = {
        "name": _other_name(note.text, said, speakers, names),
        "number": _once(_NUMBER, note.text, _other_number),
        "date": _once(_TIME, note.text, _other_time),
        "speaker": swapped,
        "subject": swapped,
        "negation": _other_polarity(note.text, speakers),
    }
    return [
        Altered(kind, replace(note, text=text, about=other.get(str(note.about)) if kind == "speaker" else note.about))
        for kind, text in texts.items()
        if text is not None
    ]


def runs(text: str, speakers: Sequence[str]) -> list[tuple[int, int]]:
    """Spans of the names in a text, of one word or more, that are none of the speakers'."""
    found: list[tuple[int, int]] = []
    for start, end in claims.names(text):
        if text[start:end] in speakers:
            continue
        if found and text[found[-1][1] : start] == " ":
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _other_name(text: str, said: str, speakers: Sequence[str], names: Sequence[str]) -> str | None:
    places = runs(text, speakers)
    known = f"{text} {said}".casefold()
    other = next((name for name in names if not any(word.casefold() in known for word in name.split())), None)
    if not places or other is None:
        return None
    start, end = places[0]
    return text[:start] + other + text[end:]


def _once(pattern: re.Pattern[str], text: str, other: Callable[[str], str]) -> str | None:
    match = pattern.search(text)
    return None if match is None else text[: match.start()] + other(match.group()) + text[match.end() :]


def _other_number(word: str) -> str:
    if word.isdecimal():
        return str(int(word) + (1 if int(word) < 10 else 7))
    return _like(word, _NUMBERS[(_NUMBERS.index(word.lower()) + 1) % len(_NUMBERS)])


def _other_time(words: str) -> str:
    lowered = words.lower()
    if lowered.isdecimal():
        return str(int(lowered) - 1)
    for cycle, step in ((_DAYS, 2), (_MONTHS, 3)):
        if lowered in cycle:
            return cycle[(cycle.index(lowered) + step) % len(cycle)].capitalize()
    return _like(words, _OTHER_TIMES[lowered])


def _like(word: str, other: str) -> str:
    return other.capitalize() if word[0].isupper() else other


def _swapped(text: str, other: Mapping[str, str]) -> str | None:
    swapped = re.sub(r"\w+", lambda match: other.get(match.group(), match.group()), text)
    return swapped if swapped != text else None


def _other_polarity(text: str, speakers: Sequence[str]) -> str | None:
    """Without its negation where it has one; else with one before its first verb."""
    if (negation := _NOT.search(text)) is not None:
        return text[: negation.start()] + text[negation.end() :]
    subject = re.match("|".join(speakers), text)
    verb = None if subject is None else _VERB.match(text, subject.end())
    if verb is None:
        return None
    if verb["aux"]:
        return f"{text[: verb.end()]} not{text[verb.end() :]}"
    return f"{text[: verb.end('lead')]}never {text[verb.start('verb') :]}"
