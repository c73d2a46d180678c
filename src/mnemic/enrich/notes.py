"""From a model's drafts to notes: with their sources, their time, and whether these bear them out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Final

from mnemic.algo import grounding
from mnemic.algo.borrowed import borrowed
from mnemic.algo.lexical import fold, terms
from mnemic.algo.trust import least, tier_of
from mnemic.enrich.passage import Passage
from mnemic.prompts.drafts import Draft
from mnemic.types import Interval, Note, Span, Turn

Nearness = Callable[[str, Sequence[str]], float | None]
"""Cosine, in [-1, 1], of a text to the nearest of some others; None where there are no vectors."""

_CITED: Final = 3
"""Lines that a note without sources is laid at, at most."""


@dataclass(frozen=True, slots=True)
class Gate:
    """Holds notes against the turns that they cite (``algo.grounding``).

    Attributes:
        passage: What was read.
        nearness: Asked only where a note shares too few words with its source.
        others: Finds turns of other sessions, by their ids: those of a note that says more than before.
    """

    passage: Passage
    nearness: Nearness
    others: Callable[[Sequence[str]], Sequence[Turn]]

    def notes(self, drafts: Sequence[Draft], spans: Sequence[Span], *, owner: str | None = None) -> list[Note]:
        """Notes of drafts, the last of those that are alike; unsupported ones say so.

        Args:
            drafts: Their sources are numbers of the spans, from 1.
            spans: What the model was shown, at least one.
            owner: Whom they are about; else whom the draft names, or who spoke.
        """
        made = [self._note(draft, spans, owner) for draft in drafts]
        return list({(note.about, note.text): note for note in made}.values())

    def checked(self, note: Note) -> Note:
        """The note, unsupported where its sources do not bear it out."""
        cited, before = self.passage.cited(note.sources)
        turns = self.passage.turns
        elsewhere = [span.turn_id for span in note.sources if span.turn_id not in turns]
        if elsewhere:
            cited = [*self.others(elsewhere), *cited]
        if not cited:  # erased meanwhile: nothing bears it out, and nothing of it will be written
            return replace(note, status="unsupported")
        faults = self._faults(note, cited, before)
        if not faults:
            return note
        told = [f"{fault.reason}: {fault.what}" for fault in faults]
        return replace(note, status="unsupported", metadata={**note.metadata, "unsupported": [*told]})

    def _note(self, draft: Draft, spans: Sequence[Span], owner: str | None) -> Note:
        numbers = draft.sources or self._likeliest(draft.text, spans)
        sources = tuple(dict.fromkeys(spans[number - 1] for number in numbers))
        cited, _ = self.passage.cited(sources)
        times = [turn.timestamp for turn in cited if turn.timestamp is not None]
        start = min(times, default=None)
        if draft.since is not None:
            start = datetime.combine(draft.since, time(), start.tzinfo if start else None) if start else None
        note = Note(
            note_id="",
            version=1,
            kind=draft.kind,
            about=owner or self._named(draft.about) or cited[0].speaker,
            text=draft.text,
            valid=Interval(start, None),
            sources=sources,
        )
        # What it rests on goes with it, though it is held against what it cites alone.
        turns = self.passage.turns
        lines = [turns[span.turn_id].text[span.start : span.end] for span in spans]
        others = borrowed(draft.text, [number - 1 for number in numbers], lines, speakers=self.passage.speakers)
        rooted = tuple(dict.fromkeys((*sources, *(spans[place] for place in others))))
        tier = least(tier_of(turns[span.turn_id]) for span in rooted)
        return replace(self.checked(note), sources=rooted, tier=tier)

    def _likeliest(self, text: str, spans: Sequence[Span]) -> list[int]:
        """The numbers of the spans that share most words with a text."""
        turns, wanted = self.passage.turns, set(terms(text))
        shared = [len(wanted.intersection(terms(turns[span.turn_id].text[span.start : span.end]))) for span in spans]
        best = sorted(range(len(spans)), key=lambda place: (-shared[place], place))[:_CITED]
        return sorted(place + 1 for place in best if shared[place] == shared[best[0]])

    def _named(self, name: str) -> str:
        """A name as the speaker who has it writes it, or as given."""
        return next((speaker for speaker in self.passage.speakers if fold(speaker) == fold(name)), name)

    def _faults(self, note: Note, cited: Sequence[Turn], before: Sequence[Turn]) -> tuple[grounding.Fault, ...]:
        people = self.passage.speakers
        faults = grounding.ground(note.text, note.about, cited, before=before, speakers=people)
        if [fault.reason for fault in faults] != ["content"]:
            return faults
        near = self.nearness(note.text, [turn.text for turn in cited if turn.speaker == note.about])
        return grounding.ground(note.text, note.about, cited, before=before, speakers=people, cosine=near)
