"""What cuts a session into episodes: mnemic's local segmenter, its channels alone, and what it must be better than."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.boundaries import Channel, Run, initiatives, segment
from mnemic.algo.openings import openings
from mnemic.bench.records import Half
from mnemic.types import Role

Floats = NDArray[np.floating]

PLAST_COSINE, PLAST_RATE = 0.5, 0.2
"""Of PLAST (methods.md 2.3)."""
DRIFT_GAMMA, DRIFT_SHORTEST = 2.25, 6
"""The best F1 on PersonaMem's development half, of gamma .5 to 4.25 by .25 and of 1, 2 or 6 turns at least."""
_SEEN: Final = 4  # cosines before the adaptive threshold means anything


@dataclass(frozen=True, slots=True)
class Session:
    """One session to be cut.

    Attributes:
        session_id: Its own.
        person: Whose it is; sessions of one person share parts.
        ids: Of its turns, in order, as the data set numbers its messages.
        gold: The places (not ids) at which gold segments begin, without 0.
    """

    session_id: str
    person: str
    half: Half
    ids: tuple[int, ...]
    roles: tuple[Role, ...]
    texts: tuple[str, ...]
    gold: tuple[int, ...]


Segmenter = Callable[[Session, Floats], list[Run]]


def systems() -> dict[str, tuple[str, Segmenter]]:
    """Name -> what it is, and the segmenter: given a session and its turns' (n, d) unit vectors."""
    found: dict[str, tuple[str, Segmenter]] = {
        "coarse": ("the whole session", lambda session, _: _runs([], session)),
        "fixed-6": ("three exchanges, as SeCom falls back to", _fixed(6)),
        "fixed-42": ("every 42 turns, the fixed length with the best F1 on the development half", _fixed(42)),
        "fixed-45": ("every 45 turns, the one with the best WindowDiff there", _fixed(45)),
        "drift-plast": ("running mean at rate .2, cosine below .5 (PLAST)", _drift(None)),
        "drift": (
            "running mean at rate .2, cosine below mean - 2.25 deviations, six turns at least",
            _drift(DRIFT_GAMMA),
        ),
    }
    for name, (what, channels) in _CHANNELS.items():
        found[name] = (what, _ours(channels))
    return found


_CHANNELS: Final[Mapping[str, tuple[str, tuple[Channel, ...] | None]]] = {
    "topic": ("mnemic's topic channel alone", ("topic",)),
    "surprise": ("mnemic's surprise channel alone", ("surprise",)),
    "opening": ("mnemic's opening channel alone", ("opening",)),
    "topic+surprise": ("the two channels that need no words", ("topic", "surprise")),
    "topic+opening": ("without surprise", ("topic", "opening")),
    "default": ("mnemic's local segmenter", None),
}


def _ours(channels: tuple[Channel, ...] | None) -> Segmenter:
    def cut(session: Session, vectors: Floats) -> list[Run]:
        marks, may_open = openings(session.texts), initiatives(session.roles)
        if channels is None:
            return segment(vectors, openings=marks, may_open=may_open)
        return segment(vectors, openings=marks, may_open=may_open, channels=channels)

    return cut


def _fixed(length: int) -> Segmenter:
    return lambda session, _: _runs(range(length, len(session.ids), length), session)


def _drift(gamma: float | None) -> Segmenter:
    """Topic drift alone: the next turn against the running mean of its segment.

    Args:
        gamma: Deviations below the mean of the cosines so far, at which a segment ends; None for PLAST's constant.
    """

    def cut(session: Session, vectors: Floats) -> list[Run]:
        may_open = initiatives(session.roles)
        mean = np.array(vectors[0], np.float64)
        cosines: list[float] = []
        cuts = [0]
        for place in range(1, len(vectors)):
            cosine = float(vectors[place] @ mean / max(float(np.linalg.norm(mean)), 1e-9))
            long = gamma is None or place - cuts[-1] >= DRIFT_SHORTEST
            if long and may_open[place] and cosine < _threshold(cosines, gamma):
                cuts.append(place)
                mean = np.array(vectors[place], np.float64)
            else:
                mean = (1 - PLAST_RATE) * mean + PLAST_RATE * vectors[place]
            cosines.append(cosine)
        return _runs(cuts[1:], session)

    return cut


def _threshold(cosines: Sequence[float], gamma: float | None) -> float:
    if gamma is None:
        return PLAST_COSINE
    return float(np.mean(cosines) - gamma * np.std(cosines)) if len(cosines) >= _SEEN else -1.0


def _runs(cuts: Sequence[int], session: Session) -> list[Run]:
    bounds = [0, *cuts, len(session.ids)]
    return [Run(start, end, ()) for start, end in pairwise(bounds)]
