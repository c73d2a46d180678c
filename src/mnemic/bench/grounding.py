"""How well the grounding gate tells LoCoMo's notes from the same notes made false.

The notes are ``observation``: a language model wrote them, each with the turn it came from. All of them count as true,
those included that the model itself got wrong.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Final, Literal

import numpy as np

from mnemic.algo.grounding import Reason, ground
from mnemic.bench.alterations import KINDS, Kind, alter, runs
from mnemic.bench.datasets import split
from mnemic.bench.datasets.notes import GivenNote, GivenNotes
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Dataset
from mnemic.bench.statistics import CONFIDENCE, RESAMPLES, SEED, intervals
from mnemic.bench.summary import rounded
from mnemic.bench.systems.documents import turns_of
from mnemic.types import Json, Turn

BEFORE: Final = 2
"""So many turns before the first cited one are given to the gate as well."""

Trial = Literal["true", "source"] | Kind
"""What was held against its source: a note as it is, one that cites another turn of its speaker, an altered one."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What the gate said of one note, and the processor time that it took, in milliseconds."""

    trial: Trial
    user_id: str
    reasons: tuple[Reason, ...]
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a note's source stands: the cited turns, and those before the first of them in its session."""

    cited: tuple[Turn, ...]
    before: tuple[Turn, ...]


def measure(dataset: Dataset, notes: GivenNotes, *, progress: Callable[[int], None] = lambda _: None) -> list[Judged]:
    """Hold every note, as it is and altered, against its source.

    Notes about somebody who spoke none of the cited turns are not altered: another speaker could make them true.

    Args:
        dataset: Whose conversations.
        notes: About its users.
        progress: Called with the number of users done since; may raise to end it.
    """
    judged: list[Judged] = []
    for user_id, conversations in dataset.conversations.items():
        turns = {
            turn.turn_id: (said, place) for said in map(turns_of, conversations) for place, turn in enumerate(said)
        }
        speakers = tuple(dict.fromkeys(said[place].speaker for said, place in turns.values()))
        own = [(note, _place(note, turns)) for note in notes.notes if note.user_id == user_id]
        judged.extend(_judged(own, speakers))
        progress(1)
    return judged


def _place(note: GivenNote, turns: Mapping[str, tuple[Sequence[Turn], int]]) -> _Place:
    places = [turns[turn_id] for turn_id in note.turn_ids]
    said, first = places[0]
    return _Place(tuple(one[place] for one, place in places), tuple(said[max(0, first - BEFORE) : first]))


def _judged(notes: Sequence[tuple[GivenNote, _Place]], speakers: tuple[str, ...]) -> Iterator[Judged]:
    pool = sorted({note.text[slice(*span)] for note, _ in notes for span in runs(note.text, speakers)})
    spoken = [
        number for number, (note, place) in enumerate(notes) if note.about in {turn.speaker for turn in place.cited}
    ]
    elsewhere = _elsewhere(notes, spoken)
    for number, (note, place) in enumerate(notes):
        yield _judge("true", note, place, speakers)
        if number not in elsewhere:
            continue
        yield _judge("source", note, elsewhere[number], speakers)
        turn = number % max(1, len(pool))
        said = "\n".join(one.text for one in place.cited)
        for altered in alter(note, said, speakers, pool[turn:] + pool[:turn]):
            yield _judge(altered.kind, altered.note, place, speakers)


def _elsewhere(notes: Sequence[tuple[GivenNote, _Place]], spoken: Sequence[int]) -> dict[int, _Place]:
    """For the notes of one speaker, the place of the note that stands half of all of them away."""
    by_speaker: dict[str | None, list[int]] = defaultdict(list)
    for number in spoken:
        by_speaker[notes[number][0].about].append(number)
    return {
        number: notes[numbers[(turn + len(numbers) // 2) % len(numbers)]][1]
        for numbers in by_speaker.values()
        for turn, number in enumerate(numbers)
    }


def _judge(trial: Trial, note: GivenNote, place: _Place, speakers: tuple[str, ...]) -> Judged:
    start = process_time()
    faults = ground(note.text, str(note.about), place.cited, before=place.before, speakers=speakers)
    took = (process_time() - start) * 1000
    return Judged(trial, note.user_id, tuple(dict.fromkeys(fault.reason for fault in faults)), took)


def summarise(dataset: Dataset, notes: GivenNotes, judged: Sequence[Judged]) -> dict[str, Json]:
    """Shares of true notes refused and of altered ones caught, by kind, with intervals over conversations.

    Returns:
        ``{"dataset", "split", "checksum", "notes", "before", "true": {"n", "refused", "interval", "reasons"},
        "altered": {"n", "caught", "interval", "by_kind": {kind: {…}}}, "other_source": {…}, "by_half": {half: {"true",
        "altered", "other_source"}}, "cpu_ms": {"mean", "p95"}, "bootstrap", "commit", "date", "versions"}``.
        ``other_source`` is apart from the altered: the note is true, but cites another turn of its speaker. ``by_half``
        is there where the split is both halves.
    """
    made = Provenance.now()
    times = [one.cpu_ms for one in judged]
    halves: dict[str, Json] = {}
    if dataset.split == "all":
        for half in ("dev", "test"):
            halves[half] = _shares([one for one in judged if split.of_conversation(one.user_id) == half])
    return {
        "dataset": dataset.name,
        "split": dataset.split,
        "checksum": dataset.checksum,
        "notes": notes.label,
        "before": BEFORE,
        **_shares(judged),
        **({"by_half": halves} if halves else {}),
        "cpu_ms": {"mean": rounded(float(np.mean(times))), "p95": rounded(float(np.quantile(times, 0.95)))},
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED, "confidence": CONFIDENCE, "unit": "conversation"},
        "commit": made.commit,
        "date": made.date,
        "versions": dict[str, Json](made.versions),
    }


def _shares(judged: Sequence[Judged]) -> dict[str, Json]:
    trials = {trial: [one for one in judged if one.trial == trial] for trial in ("true", "source", *KINDS)}
    reasons = Counter(reason for one in trials["true"] for reason in one.reasons)
    altered = [one for kind in KINDS for one in trials[kind]]
    return {
        "true": {**_share(trials["true"], "refused"), "reasons": dict[str, Json](sorted(reasons.items()))},
        "altered": {
            **_share(altered, "caught"),
            "by_kind": {kind: _share(trials[kind], "caught") for kind in KINDS if trials[kind]},
        },
        "other_source": _share(trials["source"], "caught"),
    }


def _share(judged: Sequence[Judged], name: str) -> dict[str, Json]:
    """How many there are and which share of them was refused, with its interval; null where there are none."""
    if not judged:
        return {"n": 0, name: None, "interval": None}
    refused = np.array([[float(bool(one.reasons))] for one in judged])
    [[low, high]] = intervals(refused, clusters=[one.user_id for one in judged])
    return {"n": len(judged), name: rounded(refused.mean()), "interval": [rounded(low), rounded(high)]}
