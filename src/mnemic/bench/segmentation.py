"""The local segmenter on the blocks that PersonaMem's contexts are made of, beside what it must be better than.

A context is one session of several blocks. Each begins with a system message that restates the persona and would give
the block away: these are removed first. Gold is the next message that is kept after one; the start of the first block
is none.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Literal, cast

import numpy as np
from numpy.typing import NDArray

import mnemic
from mnemic.algo import sentences
from mnemic.algo.boundaries import Run
from mnemic.algo.vectors import direction
from mnemic.bench.boundary_scores import f1, half_segment, window_diff
from mnemic.bench.datasets.loading import load, locate
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Half, Split
from mnemic.bench.segmenters import Session, systems
from mnemic.bench.statistics import percentiles, resampled
from mnemic.errors import InvalidFile, InvalidInput
from mnemic.importers import personamem
from mnemic.types import Json, Role

if TYPE_CHECKING:
    from mnemic.protocols import Embedder

Floats = NDArray[np.floating]
VectorsOf = Literal["sentences", "turns"]
"""What a turn's vector is: the mean of its sentences', which a memory holds anyway, or one of its whole text."""


@dataclass(frozen=True, slots=True)
class Cut:
    """One session as one system cuts it.

    Attributes:
        predicted: The runs after the first.
        window_diff: Against the session's gold.
        cpu_ms: Of cutting, vectors given.
    """

    predicted: tuple[Run, ...]
    window_diff: float
    cpu_ms: float


@dataclass(frozen=True, slots=True)
class Gathered:
    """What is to be cut; ``checksum`` is of the data set's files."""

    split: Split
    checksum: str
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """All systems on all sessions; ``cuts`` is system -> session id -> what it did."""

    gathered: Gathered
    embedder: str
    vectors: VectorsOf
    cuts: Mapping[str, Mapping[str, Cut]]


def gather(split: Split, *, data: Path, file: Path | None = None) -> Gathered:
    """Read a part of PersonaMem's contexts; those of fewer than two turns are left out.

    Args:
        split: Which personas.
        data: The folder of the data sets.
        file: Other contexts in the same form, with their questions beside them.

    Raises:
        InvalidFile, InvalidInput: See ``datasets.load``; no context has two turns.
    """
    dataset = load("personamem", split, data=data, file=file, system_messages=True)
    path = file or locate("personamem", data)
    halves: dict[str, Half] = {question.user_id: question.half for question in dataset.questions}
    people = _people(path)
    sessions = [
        _session(user, people[user], halves[user], [m for one in conversations for m in one.messages])
        for user, conversations in dataset.conversations.items()
    ]
    whole = tuple(session for session in sessions if len(session.ids) > 1)
    if not whole:
        raise InvalidInput(f"{path}: no context has two messages; nothing can be cut")
    return Gathered(split, dataset.checksum, whole)


def measure(
    gathered: Gathered,
    embedder: Embedder,
    *,
    vectors: VectorsOf = "sentences",
    progress: Callable[[int], None] = lambda _: None,
) -> Measured:
    """Cut every session by every system.

    Args:
        gathered: The sessions.
        embedder: Of their turns.
        vectors: What a turn's vector is.
        progress: Called with the number of sessions done since; may raise to end it.

    Raises:
        EmbeddingFailed: Something could not be embedded.
    """
    cuts: dict[str, dict[str, Cut]] = {name: {} for name in systems()}
    known: dict[str, Floats] = {}
    for session in gathered.sessions:
        found = _vectors(session, embedder, vectors, known)
        for name, (_, cut) in systems().items():
            begun = time.process_time()
            runs = cut(session, found)
            spent = (time.process_time() - begun) * 1000
            n = len(session.ids)
            k = half_segment(n, session.gold)
            difference = window_diff(session.gold, [run.start for run in runs[1:]], n, k)
            cuts[name][session.session_id] = Cut(tuple(runs[1:]), difference, spent)
        progress(1)
    return Measured(gathered, embedder.name, vectors, cuts)


def summarise(found: Measured) -> dict[str, Json]:
    """Numbers by half and system, and every boundary by the number of its message; no text of the data set.

    Returns:
        ``{"mnemic", "dataset", "split", "checksum", "embedder", "vectors", "made", "halves": {half: {"sessions",
        "persons", "turns", "boundaries", "systems": {name: {"what", "f1", "precision", "recall", "window_diff", "hits",
        "predicted", "interval": {"f1", "window_diff"}, "cpu_ms", "channels"}}}}, "sessions": {id: {"half", "turns",
        "k", "gold", "systems": {name: {"boundaries", "window_diff"}}}}}``. F1, precision and recall are over all
        boundaries of a half, which count where they are exact; ``window_diff`` and ``cpu_ms`` are means over sessions.
        Intervals are bootstrapped over persons. ``channels`` counts a system's boundaries, and the right ones of them,
        by what made them.
    """
    made = Provenance.now()
    sessions = found.gathered.sessions
    return {
        "mnemic": mnemic.__version__,
        "dataset": "personamem",
        "split": found.gathered.split,
        "checksum": found.gathered.checksum,
        "embedder": found.embedder,
        "vectors": found.vectors,
        "made": {"commit": made.commit, "date": made.date, "versions": {**made.versions}},
        "halves": {
            half: _half(found, [session for session in sessions if session.half == half])
            for half in dict.fromkeys(session.half for session in sessions)
        },
        "sessions": {session.session_id: _one(found, session) for session in sessions},
    }


def save(path: Path, summary: Mapping[str, Json]) -> None:
    """Write a summary as JSON.

    Raises:
        InvalidFile: It cannot be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(summary, indent=1, allow_nan=False) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidFile(f"{path} cannot be written ({error.strerror}); give another place") from error


def _people(contexts: Path) -> dict[str, str]:
    asked = personamem.questions_path(contexts)
    assert asked is not None  # else the data set could not have been loaded
    return {row["shared_context_id"]: row["persona_id"].strip() for row in personamem.questions(asked)}


def _session(user: str, person: str, half: Half, messages: Sequence[Mapping[str, Json]]) -> Session:
    kept = [message for message in messages if message.get("role") != "system"]
    ids = [int(str(message["id"])) for message in kept]
    opened = (int(str(message["id"])) for message in messages if message.get("role") == "system")
    gold = {int(np.searchsorted(ids, index)) for index in opened} - {0, len(ids)}
    return Session(
        session_id=user,
        person=person,
        half=half,
        ids=tuple(ids),
        roles=tuple(cast("Role", str(message["role"])) for message in kept),
        texts=tuple(str(message["content"]) for message in kept),
        gold=tuple(sorted(gold)),
    )


def _vectors(session: Session, embedder: Embedder, of: VectorsOf, known: dict[str, Floats]) -> Floats:
    """(n, d) unit vectors of a session's turns; each text is embedded once for all sessions."""
    pieces = [
        [text[start:end] for start, end in sentences.split(text)] if of == "sentences" else [text] * bool(text.strip())
        for text in session.texts
    ]
    new = [piece for piece in dict.fromkeys(piece for some in pieces for piece in some) if piece not in known]
    known.update(zip(new, embedder.embed(new), strict=True))
    blank = np.zeros((1, embedder.dim), np.float32)
    return np.stack([direction(np.stack([known[piece] for piece in some]) if some else blank) for some in pieces])


def _half(found: Measured, sessions: Sequence[Session]) -> dict[str, Json]:
    return {
        "sessions": len(sessions),
        "persons": len({session.person for session in sessions}),
        "turns": sum(len(session.ids) for session in sessions),
        "boundaries": sum(len(session.gold) for session in sessions),
        "systems": {name: _system(what, found.cuts[name], sessions) for name, (what, _) in systems().items()},
    }


def _system(what: str, cuts: Mapping[str, Cut], sessions: Sequence[Session]) -> dict[str, Json]:
    counts = np.array([[*_counts(cuts[one.session_id], one), cuts[one.session_id].window_diff] for one in sessions])
    hits, predicted, gold = map(int, counts[:, :3].sum(axis=0))
    drawn = np.concatenate([*resampled(len(sessions), clusters=[one.person for one in sessions])])
    sums = drawn @ counts
    agreed = np.array([f1(*row[:3]) for row in sums])
    ends = percentiles(np.stack([agreed, sums[:, 3] / drawn.sum(axis=1)], axis=1))
    return {
        "what": what,
        "f1": f1(hits, predicted, gold),
        "precision": hits / predicted if predicted else None,
        "recall": hits / gold if gold else None,
        "window_diff": float(counts[:, 3].mean()),
        "hits": hits,
        "predicted": predicted,
        "interval": {"f1": [*map(float, ends[0])], "window_diff": [*map(float, ends[1])]},
        "cpu_ms": fmean(cuts[one.session_id].cpu_ms for one in sessions),
        "channels": _channels(cuts, sessions),
    }


def _counts(cut: Cut, session: Session) -> tuple[int, int, int]:
    """Right boundaries, predicted ones, gold ones."""
    return len({run.start for run in cut.predicted} & set(session.gold)), len(cut.predicted), len(session.gold)


def _channels(cuts: Mapping[str, Cut], sessions: Sequence[Session]) -> dict[str, Json]:
    counts: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for session in sessions:
        for run in cuts[session.session_id].predicted:
            name = "+".join(run.opened_by)
            counts[name] += 1
            right[name] += run.start in session.gold
    return {name: {"boundaries": count, "right": right[name]} for name, count in sorted(counts.items()) if name}


def _one(found: Measured, session: Session) -> dict[str, Json]:
    n = len(session.ids)
    return {
        "half": session.half,
        "turns": n,
        "k": half_segment(n, session.gold),
        "gold": [session.ids[place] for place in session.gold],
        "systems": {
            name: {
                "boundaries": [session.ids[run.start] for run in cuts[session.session_id].predicted],
                "window_diff": cuts[session.session_id].window_diff,
            }
            for name, cuts in found.cuts.items()
        },
    }
