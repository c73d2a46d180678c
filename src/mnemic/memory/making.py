"""What language models make of a passage, as a batch to be written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from mnemic import enrich
from mnemic.algo import cues
from mnemic.algo.recalled import blanked
from mnemic.config import Enriching
from mnemic.enrich import Judged, Passage, TraceCues
from mnemic.enrich.notes import Gate
from mnemic.memory.counted import CountedModel
from mnemic.memory.neighbours import Neighbours
from mnemic.protocols import Batch, Lease, NoteState
from mnemic.types import STATUSES, Json, Note, Purpose, Turn

if TYPE_CHECKING:
    from mnemic.models.purposes import LanguageModels
    from mnemic.protocols import CueExtractor, LanguageModel, Store

Build = Callable[[], Batch | None]
"""What is written, by what is stored now; None where it has to be asked for anew."""


class Maker:
    """Asks for what a passage holds; what it gives can be built again when the rows have changed.

    Args:
        store: Where the rows are.
        models: Who is asked for what.
        settings: What shall be made.
        extractor: Finds the cues of notes.
        neighbours: Gives who finds what is near, by the current embedder.
    """

    def __init__(
        self,
        store: Store,
        models: LanguageModels,
        settings: Enriching,
        extractor: CueExtractor,
        neighbours: Callable[[], Neighbours],
    ) -> None:
        self._store = store
        self._models = models
        self._settings = settings
        self._extractor = extractor
        self._neighbours = neighbours

    def built(self, lease: Lease, passage: Passage) -> Build:
        """Ask for what a lease is for.

        Raises:
            ModelError: No reply came, or none of use.
        """
        counted = CountedModel()
        if lease.kind == "episodes":
            return self._episodes(lease, passage, counted)
        found, notes = TraceCues(), list[Note]()
        gate = self.gate(passage)
        wants_notes = lease.kind == "notes"
        whole = len(lease.trace_ids) > 1
        if lease.kind == "cues" or self._settings.notes == "trace":
            model = self._model("cues", lease.user_id, counted)
            units = self._store.units(lease.user_id, list(passage.turns))
            found, notes = enrich.read_traces(passage, units, model, gate, notes=wants_notes, whole=whole)
            if wants_notes and self._settings.cues == "rules":
                found = replace(found, mentions={})
        else:
            model = self._model("notes", lease.user_id, counted)
            notes = enrich.distil(passage, model, gate, aligned=self._settings.align, whole=whole)
        judged = self._judged(lease.user_id, notes, gate, counted)
        detail: dict[str, Json] = {"run": lease.token, **counted.spent}
        trigger = f"{counted.name}: notes"
        return partial(self._changes, lease.user_id, judged, found, trigger, detail)

    def learnt(self, user_id: str, notes: Sequence[Note], *, run: str, trigger: str) -> Build:
        """Hold notes against their sources, wherever these are, and ask how they relate to the known ones.

        Notes whose sources were erased since they were made are none any more.

        Raises:
            ModelError: No reply came.
        """
        alive = self._store.known_turns(user_id, [span.turn_id for note in notes for span in note.sources])
        notes = [note for note in notes if all(span.turn_id in alive for span in note.sources)]
        counted = CountedModel()
        gate = self.gate(Passage(user_id, "", (), (), {}, tuple(self._store.speakers(user_id))))
        judged = self._judged(user_id, [gate.checked(note) for note in notes], gate, counted)
        detail: dict[str, Json] = {"run": run, **counted.spent}
        return partial(self._changes, user_id, judged, TraceCues(), trigger, detail)

    def gate(self, passage: Passage) -> Gate:
        """Holds notes against what was said in a passage."""
        others = partial(self._turns, passage.user_id)
        return Gate(passage, self._neighbours().nearness, others)

    def _turns(self, user_id: str, turn_ids: Sequence[str]) -> list[Turn]:
        return [replace(turn, text=blanked(turn.text)) for turn in self._store.turns(user_id, turn_ids=turn_ids)]

    def _judged(self, user_id: str, notes: Sequence[Note], gate: Gate, counted: CountedModel) -> list[Judged]:
        asked = self._settings.conflicts
        model = self._models.of("conflict", user_id) if asked == "model" else None
        sources = [span for note in notes for span in note.sources]

        def nearest(about: str, texts: Sequence[str]) -> Sequence[Note]:
            known = self._store.notes(user_id, about=about)
            others = [note for note in known if not enrich.quotes(note, sources)]
            return self._neighbours().notes(user_id, texts, others)

        return enrich.judge(
            notes,
            nearest,
            model=None if model is None else counted.of(model),
            rules=asked is not None,
            check=gate.checked,
            facts=self._settings.check_facts,
        )

    def _changes(
        self,
        user_id: str,
        judged: Sequence[Judged],
        found: TraceCues,
        trigger: str,
        detail: dict[str, Json],
    ) -> Batch | None:
        """The batch, with cues and still without vectors, of what rests on turns that are still there.

        None where a note rests on some that are and some that are not: what it says of the former is to be read anew.
        """
        parts: list[Batch] = []
        cited = set[str]().union(*_cited(judged))
        alive = self._store.known_turns(user_id, sorted({*cited, *(turn_id for turn_id, _ in found.mentions)}))
        if any(0 < len(alive.intersection(its)) < len(its) for its in _cited(judged)):
            return None
        for one in judged:
            kept = tuple(
                proposal
                for proposal in one.proposals
                if proposal.note is None or all(span.turn_id in alive for span in proposal.note.sources)
            )
            versions = self._store.notes(user_id, about=one.about, statuses=STATUSES)
            part = enrich.changed(
                replace(one, proposals=kept),
                versions,
                trigger=trigger,
                facts=self._settings.check_facts,
                approve=self._settings.approve,
                detail=detail,
            )
            if not self._settings.approve:
                touched = {(state.note_id, state.version) for state in part.states}
                known = [note for note in versions if note.status == "current"]
                free = [note for note in known if (note.note_id, note.version) not in touched]
                said = [proposal.note for proposal in kept if proposal.note is not None]
                stated = [note for note in said if not enrich.taken_back(note, versions)]
                part = replace(part, states=(*part.states, *enrich.quotations(stated, free, detail)))
            parts.append(part)
        surfaces = dict(found.surfaces)
        batch = _merged(parts, trigger)
        notes = tuple(self._cued(batch.notes, self._store.speakers(user_id), surfaces))
        mentions = {place: keys for place, keys in found.mentions.items() if place[0] in alive}
        return replace(batch, notes=notes, mentions=mentions, surfaces=surfaces)

    def _cued(self, notes: Sequence[Note], speakers: Collection[str], surfaces: dict[str, str]) -> list[Note]:
        """Notes with the cues that rules find in them, besides those they have."""
        found = self._extractor.extract([note.text for note in notes], names=speakers)
        counted = [cues.counted(its, surfaces) for its in found]
        return [replace(note, cues={**note.cues, **its}) for note, its in zip(notes, counted, strict=True)]

    def _episodes(self, lease: Lease, passage: Passage, counted: CountedModel) -> Build:
        """Cut the stretch of the session that the leased traces lie in, with the episode that ends where it begins."""
        stored = self._store.episodes(lease.user_id, session_id=lease.session_id)
        place = {turn.turn_id: number for number, turn in enumerate(passage.session)}
        leased = [place[span.turn_id] for trace in passage.traces for span in trace.spans]
        first, last = min(leased), max(leased)
        bounds = [(place[one.turn_ids[0]], place[one.turn_ids[-1]], one) for one in stored if one.turn_ids[0] in place]
        gone = [(start, stop, one) for start, stop, one in bounds if stop >= first - 1 and start <= last]
        begin = min([first, *(start for start, _, _ in gone)])
        following = [start for start, _, _ in bounds if start > last]
        end = min([*following, len(passage.session)])
        covered = {turn_id for _, _, one in bounds for turn_id in one.turn_ids}
        while begin > 0 and passage.session[begin - 1].turn_id not in covered:
            begin -= 1
        topics = list(dict.fromkeys(one.topic for one in self._store.episodes(lease.user_id) if one.topic))
        near = partial(self._neighbours().topics, known=topics) if self._settings.align_topics else None
        model = self._model("segment", lease.user_id, counted)
        cut = self._settings.cut
        withheld = self._store.withheld(lease.user_id, lease.session_id, "episodes")
        withheld |= {turn.turn_id for turn in passage.session if not enrich.is_open(turn)}
        runs = groupby(passage.session[begin:end], key=lambda turn: turn.turn_id in withheld)
        made = [one for hidden, run in runs if not hidden for one in enrich.segment([*run], model, cut=cut, near=near)]

        def build() -> Batch | None:
            wanted = [turn_id for one in made for turn_id in one.turn_ids]
            if len(self._store.known_turns(lease.user_id, wanted)) < len(wanted):
                return None
            removed = tuple(one.episode_id for _, _, one in gone)
            return Batch(episodes=tuple(made), remove_episodes=removed, trigger=f"{counted.name}: episodes")

        return build

    def _model(self, purpose: Purpose, user_id: str, counted: CountedModel) -> LanguageModel:
        model = self._models.of(purpose, user_id)
        assert model is not None  # work of a kind is only claimed where a model is there for it
        return counted.of(model)


def _cited(judged: Sequence[Judged]) -> list[set[str]]:
    """Of each new note the turns that it rests on."""
    notes = [proposal.note for one in judged for proposal in one.proposals]
    return [{span.turn_id for span in note.sources} for note in notes if note is not None]


def _shifted(state: NoteState, places: int) -> NoteState:
    return state if state.by is None else replace(state, by=state.by + places)


def _merged(parts: Sequence[Batch], trigger: str) -> Batch:
    """Batches about different people as one."""
    notes: list[Note] = []
    merged = Batch(trigger=trigger)
    for part in parts:
        shift = len(notes)
        notes += part.notes
        merged = replace(
            merged,
            states=(*merged.states, *(_shifted(state, shift) for state in part.states)),
            confirmations={**merged.confirmations, **part.confirmations},
            details={**merged.details, **{place + shift: detail for place, detail in part.details.items()}},
            held={**merged.held, **{place + shift: held for place, held in part.held.items()}},
        )
    return replace(merged, notes=tuple(notes))
