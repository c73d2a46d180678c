"""A session to episodes without a language model: HiMem's Topic-Aware Event-Surprise segmentation (methods.md 2.3).

A boundary lies where either the topic drifts or something abrupt happens (the OR rule). Nothing here is in cosines of
one embedder: every threshold is relative to the session's own spread.

* *topic*: an episode is represented by the mean of its turns, as in a segmenter that compares the next turn with the
  running mean, and the cuts are those under which all turns lie nearest the means of their own episodes.
* *surprise*: neighbouring windows of turns differ far more than they do elsewhere in the session, as in
  EM-LLM (mean + gamma * std).
* *opening*: the words themselves begin anew (``algo.openings``).
* *gap*: a pause far longer than the session's usual one.
* *length*: an episode would be longer than the limit; it is cut where that costs least.

Topics told turn about turn have one mean: they stay one episode, for an episode is a run of whole turns.
``docs/decisions/0005-segmentation.md`` has the measurements.
"""

from __future__ import annotations

import math
from bisect import bisect, insort
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.changepoints import change_points, gain, noise
from mnemic.types import Role

Floats = NDArray[np.floating]
Doubles = NDArray[np.float64]
Mask = NDArray[np.bool_]
Channel = Literal["gap", "opening", "surprise", "topic", "length"]

CHANNELS: Final[tuple[Channel, ...]] = get_args(Channel)
SHORTEST, LONGEST = 2, 128

_PENALTY: Final = 1.4  # times ln n times the noise; PersonaMem's development half, at lengths from 12 to 200 turns
_LEAST: Final = 1e-6  # of a penalty: what rounding makes of turns that are all alike
_BEYOND: Final = 1.1  # times the largest of n normal deviates, about sqrt(2 ln n)
_WIDTH: Final = 2  # turns on each side: an exchange
_WINDOW, _OVERLAP = 512, 128  # turns that are cut at once, and those of them that are cut again with what follows
_HALF_HOUR: Final = 1800.0  # Nemori's sign of a new conversation (methods.md 3)
_PAUSES: Final = 8.0  # times the usual one
_UNKNOWN: Final = 3  # pauses of no length, until the session has shown more of its own


@dataclass(frozen=True, slots=True)
class Run:
    """The turns ``[start, end)`` of a session, and what made a boundary of ``start``; nothing for the first run."""

    start: int
    end: int
    opened_by: tuple[Channel, ...]


def segment(
    vectors: Floats,
    *,
    times: Doubles | None = None,
    openings: Mask | None = None,
    may_open: Mask | None = None,
    shortest: int = SHORTEST,
    longest: int = LONGEST,
    channels: Collection[Channel] = CHANNELS,
) -> list[Run]:
    """Cut one session into episodes.

    Args:
        vectors: (n, d) unit vectors of its turns; zeros for a blank turn.
        times: (n,) seconds; NaN where unknown. None: no gaps.
        openings: (n,) turns that begin anew, from ``algo.openings``. None: there are none.
        may_open: (n,) where an episode may begin, from ``initiatives``. None: anywhere.
        shortest: Turns of an episode at least, from 1. Only a gap makes a shorter one.
        longest: At most; from ``2 * shortest - 1`` to 256.
        channels: Those to heed. Without ``length`` only ``longest`` of 256 holds.

    Returns:
        The episodes in order, contiguous, from 0 to n; none for an empty session.

    Raises:
        ValueError: The arguments do not belong together, or vectors are not finite.
    """
    n = len(vectors)
    _check(n, vectors, (times, openings, may_open), shortest, longest)
    if not n:
        return []
    allowed = np.ones(n, np.bool_) if may_open is None else may_open
    fired = {
        "gap": np.zeros(n, np.bool_) if times is None else gaps(times),
        "opening": np.zeros(n, np.bool_) if openings is None else openings,
        "surprise": surprises(vectors),
    }
    fired = {channel: marks & allowed for channel, marks in fired.items() if channel in channels}
    penalty = _PENALTY * math.log(max(min(n, _WINDOW), 2)) * noise(vectors)
    topic = max(penalty, _LEAST) if "topic" in channels else n + 1.0  # more than all scatter there can be
    most = longest if "length" in channels else _WINDOW - 2 * _OVERLAP
    forced = _spaced(fired, shortest, n)
    cuts = [
        cut
        for start, end in pairwise([0, *forced, n])
        for cut in (start, *_cut(vectors, allowed, start, end, penalty=topic, shortest=shortest, longest=most))
    ]
    return [*_runs(vectors, [*cuts, n], fired, topic, most)]


def initiatives(roles: Sequence[Role]) -> Mask:
    """(n,) where an episode may begin: not at a reply, that is at a tool's turn or an assistant's after another's."""
    marks = np.ones(len(roles), np.bool_)
    for place, (before, role) in enumerate(pairwise(roles), 1):
        marks[place] = role in ("user", "system") or (role == "assistant" and before == "assistant")
    return marks


def gaps(times: Doubles) -> Mask:
    """Where the pause is half an hour at least, and at least eight times the session's usual one.

    Args:
        times: (n,) seconds in the order of the turns; NaN where unknown; going back counts as no pause.

    Returns:
        (n,) marks. The usual pause is the median of the session's own and three of no length, so that of up to three
        pauses the half hour alone decides.
    """
    marks = np.zeros(len(times), np.bool_)
    known = np.flatnonzero(np.isfinite(times))
    pauses = np.maximum(np.diff(times[known]), 0.0)
    usual = np.sort(np.concatenate([np.zeros(_UNKNOWN), pauses]))[(len(pauses) + _UNKNOWN - 1) // 2]
    marks[known[1:]] = pauses >= max(_HALF_HOUR, _PAUSES * usual)
    return marks


def surprises(vectors: Floats) -> Mask:
    """Where two turns differ from the two before more than chance makes them, and more than a turn earlier or later.

    The differences are ``discontinuity``; one stands out where it is above their mean by 1.1 * sqrt(2 ln n) deviations,
    n of them there being. Of fewer than seven none can.

    Args:
        vectors: (n + 1, d).

    Returns:
        (n + 1,) marks, the first False.
    """
    marks = np.zeros(len(vectors), np.bool_)
    scores = discontinuity(vectors)[1:]
    if not len(scores):
        return marks
    beside = np.pad(scores, 1, constant_values=-np.inf)
    gamma = _BEYOND * math.sqrt(2 * math.log(len(scores)))
    marks[1:] = (scores > scores.mean() + gamma * scores.std()) & (scores >= beside[:-2]) & (scores >= beside[2:])
    return marks


def discontinuity(vectors: Floats) -> Doubles:
    """(n,) one minus the cosine of the sums of the two turns before and the two from here on; 0 at the first turn.

    In [0, 2]; 0 too where either side is blank.
    """
    n = len(vectors)
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    here = np.arange(n)
    before = sums[here] - sums[np.maximum(here - _WIDTH, 0)]
    after = sums[np.minimum(here + _WIDTH, n)] - sums[here]
    lengths = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosines = np.einsum("nd,nd->n", before, after) / np.where(lengths > 1e-9, lengths, 1.0)
    return np.where(lengths > 1e-9, np.clip(1.0 - cosines, 0.0, 2.0), 0.0)


def _check(n: int, vectors: Floats, aligned: Sequence[Doubles | Mask | None], shortest: int, longest: int) -> None:
    if vectors.ndim != 2 or any(array is not None and array.shape != (n,) for array in aligned):
        raise ValueError("a session needs vectors (n, d), and times and marks (n,)")
    if not np.isfinite(vectors).all():
        raise ValueError("the vectors of a session must be finite")
    if shortest < 1 or not 2 * shortest - 1 <= longest <= _WINDOW - 2 * _OVERLAP:
        raise ValueError(f"episodes of {shortest} to {longest} turns: give 1 <= shortest, 2 * shortest - 1 <= longest "
                         f"<= {_WINDOW - 2 * _OVERLAP}")  # fmt: skip


def _spaced(fired: Mapping[str, Mask], shortest: int, n: int) -> list[int]:
    """The places that fired, all gaps, and of the others those that leave no run too short; openings go first."""
    kept = [0, n]
    for channel in ("gap", "opening", "surprise"):
        for place in map(int, np.flatnonzero(fired[channel])) if channel in fired else ():
            at = bisect(kept, place)
            if channel == "gap" or min(place - kept[at - 1], kept[at] - place) >= shortest:
                insort(kept, place)
    return kept[1:-1]


def _cut(
    vectors: Floats, allowed: Mask, start: int, end: int, *, penalty: float, shortest: int, longest: int
) -> list[int]:
    """Cuts within ``[start, end)``, by windows: each begins at the last cut that lay well inside the one before."""
    cuts: list[int] = []
    while True:
        stop = min(start + _WINDOW, end)
        found = change_points(
            vectors[start:stop],
            allowed[start:stop],
            penalty=penalty,
            shortest=shortest,
            longest=longest,
        )
        if stop == end:
            return [*cuts, *(start + cut for cut in found)]
        sure = [cut for cut in found if cut <= _WINDOW - _OVERLAP]
        cuts += [start + cut for cut in sure]
        start += sure[-1]


def _runs(vectors: Floats, bounds: Sequence[int], fired: Mapping[str, Mask], topic: float, longest: int) -> list[Run]:
    runs = [Run(0, bounds[1], ())]
    for before, start, end in zip(bounds, bounds[1:], bounds[2:], strict=False):
        channels = {channel for channel, marks in fired.items() if marks[start]}
        if gain(vectors[before:start], vectors[start:end]) >= topic:
            channels.add("topic")
        elif not channels:
            # Without the limit the two would be one.
            channels.add("length" if end - before > longest else "topic")
        runs.append(Run(start, end, tuple(channel for channel in CHANNELS if channel in channels)))
    return runs
