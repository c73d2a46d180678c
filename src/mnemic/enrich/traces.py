"""HERO's reading of traces: notes and cues in one call (methods.md 1.2 C3 and C4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from mnemic.algo import claims, cues
from mnemic.algo.render import moment
from mnemic.enrich.asking import usable
from mnemic.enrich.notes import Gate
from mnemic.enrich.passage import Passage, is_open
from mnemic.prompts import trace as prompt
from mnemic.protocols import LanguageModel
from mnemic.types import Note, Span, Unit


@dataclass(frozen=True, slots=True)
class TraceCues:
    """Cues that a model found.

    Attributes:
        mentions: (turn_id, start of the sentence) -> cue key -> 1.
        surfaces: Cue key -> the words as the model wrote them.
    """

    mentions: Mapping[tuple[str, int], Mapping[str, int]] = field(
        default_factory=dict[tuple[str, int], Mapping[str, int]]
    )
    surfaces: Mapping[str, str] = field(default_factory=dict[str, str])


def read_traces(
    passage: Passage, units: Sequence[Unit], model: LanguageModel, gate: Gate, *, notes: bool, whole: bool
) -> tuple[TraceCues, list[Note]]:
    """Read a passage in one call.

    Args:
        passage: What to read.
        units: The sentences of its turns, in order.
        model: Asked once.
        gate: Holds the notes against the passage.
        notes: Whether its notes are wanted, too.
        whole: Whether a reply that was cut is refused.

    Raises:
        ReplyUnusable: Nothing could be taken from the reply.
        ModelError: No reply came.
    """
    spans = _held(passage, units)
    if not spans:
        return TraceCues(), []
    reading = prompt.parse(model.complete(prompt.render(_said(passage, spans))), sentences=len(spans))
    what = f"{model.name}, asked for the cues of {len(spans)} sentences"
    sentences = usable(reading.sentences, what, whole=whole)
    drafts = usable(reading.notes, f"{what} and their notes", whole=whole) if notes else ()
    surfaces: dict[str, str] = {}
    said = _words(passage)
    mentions = {
        (spans[one.number - 1].turn_id, spans[one.number - 1].start): _keys(one.cues, said, passage.speakers, surfaces)
        for one in sentences
    }
    cued = {draft.text: _keys(draft.cues, said, passage.speakers, surfaces) for draft in drafts}
    return TraceCues(mentions, surfaces), [replace(note, cues=cued[note.text]) for note in gate.notes(drafts, spans)]


def _held(passage: Passage, units: Sequence[Unit]) -> list[Span]:
    """The sentences that begin in the passage's traces, in the order of the dialogue."""
    of_turn: dict[str, list[Unit]] = {}
    for unit in units:
        of_turn.setdefault(unit.turn_id, []).append(unit)
    return [
        Span(unit.turn_id, unit.start, unit.end)
        for trace in passage.traces
        for span in trace.spans
        if is_open(passage.turns[span.turn_id])
        for unit in of_turn.get(span.turn_id, ())
        if span.start <= unit.start < span.end
    ]


def _said(passage: Passage, spans: Sequence[Span]) -> list[prompt.Said]:
    """Sentences by who said them in one go."""
    turns = passage.turns
    return [
        prompt.Said(
            f"{turns[turn_id].speaker} ({moment(turns[turn_id].timestamp)})",
            tuple(turns[turn_id].text[span.start : span.end] for span in its),
        )
        for turn_id, its in groupby(spans, key=lambda span: span.turn_id)
    ]


def _words(passage: Passage) -> frozenset[str]:
    """The words that a cue may be made of: those of the session, with its names and times."""
    shown = (f"{turn.speaker} {moment(turn.timestamp)} {turn.text}" for turn in passage.session)
    return frozenset(term for text in shown for term in claims.content(text))


def _keys(
    phrases: Sequence[str], said: frozenset[str], speakers: Collection[str], surfaces: dict[str, str]
) -> dict[str, int]:
    """Cue keys of phrases, once each; new keys' surfaces are noted.

    Those who speak are no topics, and a phrase of which no word was said is none either: a model copied it from the
    instructions, or made it up.
    """
    people = {cues.normalise(name) for name in speakers}
    found: dict[str, int] = {}
    for phrase in phrases:
        key = cues.normalise(phrase)
        if key and key not in people and not said.isdisjoint(claims.content(phrase)):
            found[key] = 1
            surfaces.setdefault(key, phrase)
    return found
