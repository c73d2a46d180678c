"""The grounding gate: whether what a note claims is borne out by the turns that it cites.

By rules and without a model. A note's names, numbers and dates must be in its source, what it denies must be denied
there, it must be said by the one whom it is about, and its words must be among those that were stated: not only asked,
supposed, quoted or said in jest. The rules and what they catch are in docs/decisions/0006-grounding.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from mnemic.algo import claims
from mnemic.algo.asserted import hedged, manners
from mnemic.algo.lexical import fold, terms
from mnemic.algo.temporal import TimeMention, find
from mnemic.algo.temporal.words import UNITS
from mnemic.types import Interval, Turn

Reason = Literal["speaker", "name", "number", "date", "polarity", "assertion", "content"]

_LEAST: Final = 0.15
"""So much of a note's content must be in its source."""
_COSINE: Final = 0.5
"""Or so near must it be to the source's nearest sentence."""
_OTHERS: Final = 0.5
"""So much of it is in the source, and none in what its subject stated: then somebody else said it."""
_HEAD: Final = 3
"""So many terms after a denial are what it denies first of all."""
_COARSEST: Final = timedelta(days=400)
# Words of a note that tells what somebody said or thinks of something: nobody need deny them for it to be denied.
_REPORTING: Final = frozenset(
    terms(
        "mentions expresses says shares believes feels finds considers thinks appreciates describes recommends advises "
        "encourages emphasizes supports enjoys values recently conversation importance"
    )
)
_CONFIRMS: Final = re.compile(
    r"\W*(?:(?:oh|ah|haha|well|wow|thanks|hey)\W+)*(?:yes|yeah|yep|yup|yea|right|exactly|correct|indeed|true|absolutely|"
    r"definitely|totally|sure|of course|certainly|agreed|that's right|"
    r"(?:i (?:did|do|am|have)|it (?:is|was))(?=[,.!]|\Z))\b",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(r"\?+")
_CAPITAL: Final = re.compile(r"\b[^\W\d_a-z]\w+")
_BETWEEN: Final = re.compile(r" (?:(?:of|the|and|for|in) )*")
_SUBJECT: Final = re.compile(r"(?P<name>[^\W\d_]+)(?P<of>['’]s)?(?: (?:and|&) \w+)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that a note claims and its source does not bear out, in the note's words or terms."""

    reason: Reason
    what: str


@dataclass(frozen=True, slots=True)
class _Source:
    """What a note is held against.

    Attributes:
        turns: The cited turns and those before them: names, numbers and dates may come from any.
        text: The words of ``turns``.
        known: Their terms.
        written: Their words with a capital, folded.
        at: When the last of them was said.
    """

    turns: tuple[Turn, ...]
    text: str
    known: frozenset[str]
    written: frozenset[str]
    at: datetime | None


@dataclass(frozen=True, slots=True)
class _Own:
    """What a note's subject said; ``confirms``: with what they were told and said yes to."""

    text: str
    confirms: bool


def ground(
    text: str,
    about: str,
    cited: Sequence[Turn],
    *,
    before: Sequence[Turn] = (),
    speakers: Collection[str] = (),
    cosine: float | None = None,
) -> tuple[Fault, ...]:
    """Look for what a note claims and its source does not bear out.

    Args:
        text: The note.
        about: Whom it is about. One who speaks must have said it, or confirmed it when told; anybody else must be
            mentioned by a person.
        cited: The turns that it rests on, in their order, at least one.
        before: Turns just before those, which what is said may refer to.
        speakers: Everybody who speaks in the memory, where that is more than the speakers of these turns.
        cosine: Similarity, in [-1, 1], of the note to the best sentence of its subject, if vectors are at hand: words
            may then differ altogether.

    Returns:
        The faults; none for a supported note.

    Raises:
        ValueError: No turn is cited.
    """
    if not cited:
        raise ValueError("a note that cites no turn cannot be held against its source")
    turns = (*before, *cited)
    people = frozenset({*speakers, *(turn.speaker for turn in turns)})
    own = _own(about, cited, before, people)
    if own is None or _names_another_first(text, about, people):
        return (Fault("speaker", about),)
    whole = "\n".join(turn.text for turn in turns)
    written = frozenset(fold(word) for word in _CAPITAL.findall(whole))
    source = _Source(turns, whole, frozenset([*terms(whole), *claims.content(whole)]), written, cited[-1].timestamp)
    dates, rest = _dates(text, source)
    missing = sorted(claims.numbers(rest) - claims.numbers(whole, loose=True))
    return (
        *(Fault("name", name) for name in _names(text, source, people)),
        *(Fault("number", f"{number:g}") for number in missing),
        *(Fault("date", date) for date in dates),
        *(Fault("polarity", words) for words in _polarity(text, own.text)),
        *_stated(text, own, source, people, cosine),
    )


def _own(about: str, cited: Sequence[Turn], before: Sequence[Turn], people: frozenset[str]) -> _Own | None:
    """What the subject says, or what people say of a subject who does not speak; None where there is nothing."""
    if about not in people:
        told = [turn.text for turn in cited if turn.role != "assistant"]
        named = set(terms(about)) <= set(terms("\n".join(told)))
        return _Own("\n".join(told), confirms=False) if told and named else None
    turns = [*before, *cited]
    said: list[str] = []
    confirms = False
    for place in range(len(before), len(turns)):
        if turns[place].speaker != about:
            continue
        if place and turns[place - 1].speaker != about and _CONFIRMS.match(turns[place].text):
            said.append(_ASKING.sub(".", turns[place - 1].text))
            confirms = True
        said.append(turns[place].text)
    return _Own("\n".join(said), confirms) if said else None


def _names_another_first(text: str, about: str, people: frozenset[str]) -> bool:
    """Whether the statement begins with another speaker's name, as its subject."""
    opening = _SUBJECT.match(text)
    if opening is None or about not in people or opening["name"] not in people - {about}:
        return False
    return about not in (text if opening["of"] else opening[0])


def _names(text: str, source: _Source, people: frozenset[str]) -> list[str]:
    """The names of a text that its source lacks: in full, in short (NYC, Mel) or as part of a longer one."""
    spans = list(claims.names(text))
    short = {span for run in _runs(text, spans) for span in run if _initials(text, run) in source.known}
    return [
        text[slice(*span)] for span in spans if span not in short and not _has_name(text[slice(*span)], source, people)
    ]


def _runs(text: str, spans: Sequence[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Names of several words: capitals with nothing but small connecting words between them."""
    runs: list[list[tuple[int, int]]] = []
    for span in spans:
        if runs and _BETWEEN.fullmatch(text, runs[-1][-1][1], span[0]):
            runs[-1].append(span)
        else:
            runs.append([span])
    return runs


def _initials(text: str, run: Sequence[tuple[int, int]]) -> str:
    words = text[run[0][0] : run[-1][1]].split()
    return fold("".join(word[0] for word in words)) if len(words) > 1 else ""


def _has_name(name: str, source: _Source, people: frozenset[str]) -> bool:
    if name in people:
        return True
    for part in name.split("-"):
        folded = fold(part)
        if not part[:1].isupper() or source.known.issuperset(terms(part)):
            continue
        if not any(_is_short(folded, word) or _is_short(word, folded) for word in source.written):
            return False
    return True


def _is_short(short: str, long: str) -> bool:
    return len(short) > 2 and long.startswith(short)


def _dates(text: str, source: _Source) -> tuple[list[str], str]:
    """The time phrases of a text that its source does not bear out, and the text without any."""
    faults: list[str] = []
    mentions = find(text, source.at)
    told: list[Interval] = []
    if mentions:
        told = [mention.interval for turn in source.turns for mention in find(turn.text, turn.timestamp)]
        told += [Interval(turn.timestamp, turn.timestamp) for turn in source.turns if turn.timestamp is not None]
    folded = fold(source.text)
    for mention in reversed(mentions):
        words = text[mention.start : mention.end]
        if fold(words) not in folded and not _told(mention, words, told, source):
            faults.insert(0, words)
        text = f"{text[: mention.start]} {text[mention.end :]}"
    return faults, text


def _told(mention: TimeMention, words: str, told: Sequence[Interval], source: _Source) -> bool:
    """Whether a time is meant by the source too, as finely, or follows from a count that stands there."""
    counted = claims.numbers(words)
    if counted and not set(fold(words).split()).isdisjoint(UNITS):
        return counted <= claims.numbers(source.text, loose=True)
    return any(_covers(mention.interval, one) for one in told)


def _covers(coarse: Interval, fine: Interval) -> bool:
    """Whether an interval holds another, and is no longer than about a year."""
    if coarse.start is None or coarse.end is None or fine.start is None or fine.end is None:
        return coarse == fine
    within = coarse.start <= fine.start and fine.end <= coarse.end
    return within and coarse.end - coarse.start <= _COARSEST


def _polarity(text: str, own: str) -> list[str]:
    """What a note denies and its subject does not, and what the subject denies and the note states, as terms."""
    denied_here, denied_there = claims.denials(text), claims.denials(own)
    noted, said = frozenset(claims.content(text)), claims.content(own)
    faults: list[str] = []
    for denial in denied_here:
        head = frozenset([term for term in denial.denied if term not in _REPORTING][:_HEAD])
        if denial.strong and not any(_bears_out(other, head, noted, head & set(said)) for other in denied_there):
            faults.append("not " + " ".join(denial.denied[:_HEAD]))
    taken_back = {term for denial in denied_here for term in denial.denied}
    for denial in denied_there:
        head = denial.denied[:2]
        stated = noted.issuperset(head) and taken_back.isdisjoint(head)
        clear = len(head) == 2 or (denial.alone and head)
        if denial.strong and clear and stated and all(said.count(term) == 1 for term in head):
            faults.append(" ".join(head))
    return faults


def _bears_out(denial: claims.Denial, head: frozenset[str], noted: frozenset[str], present: frozenset[str]) -> bool:
    """Whether a denial of the source denies what a note denies first of all.

    A bare "No" denies whatever was said. Where no word of the note's denial is in the source (``present``), any word in
    common is enough.
    """
    if not denial.denied or not head.isdisjoint(denial.denied):
        return True
    return not present and not noted.isdisjoint(denial.clause)


def _stated(text: str, own: _Own, source: _Source, people: frozenset[str], cosine: float | None) -> list[Fault]:
    """Whether a note's words were said at all, by its subject, and in a manner that asserts them."""
    names = {term for name in people for term in terms(name)}
    wanted = frozenset(claims.content(text)) - names
    if len(wanted & source.known) < _LEAST * len(wanted) and (cosine is None or cosine < _COSINE):
        return [Fault("content", " ".join(sorted(wanted - source.known)))]
    if hedged(text):
        return []
    said = [(manner, wanted.intersection(claims.content(sentence))) for sentence, manner in manners(own.text)]
    stated = frozenset[str]().union(*(found for manner, found in said if manner == "stated"))
    merely = frozenset[str]().union(*(found for manner, found in said if manner != "stated")) - stated
    if len(merely) > len(stated):
        manner = max((one for one in said if one[0] != "stated"), key=lambda one: len(one[1]))[0]
        return [Fault("assertion", manner)]
    if not own.confirms and len(wanted & source.known - stated) >= _OTHERS * len(wanted) and not stated:
        return [Fault("speaker", "said by somebody else")]
    return []
