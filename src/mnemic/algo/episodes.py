"""The episodes of a memory: those that a model made, and between them those that local rules cut (methods.md 2.3).

What is local is kept nowhere: it follows from the turns, so it is the same after a restart, and gone with its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from mnemic.algo import boundaries
from mnemic.algo.graph import Doubles, Floats, Graph, Ints
from mnemic.algo.openings import beginnings
from mnemic.algo.vectors import direction
from mnemic.types import Episode

LOCAL = "E:"
"""What the id of a local episode begins with; its first turn's id follows."""
BY_RULES = "rules"

_CUES = 3
"""Cues that name a local episode, at most."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """An episode as a graph knows it.

    Attributes:
        turns: Slots of its turns, in the order of the dialogue, at least one.
        stored: As a model made it; None of a local one.
    """

    episode_id: str
    turns: tuple[int, ...]
    stored: Episode | None = None


def stretches(graph: Graph, session_id: str | None = None) -> list[Stretch]:
    """The episodes of all sessions or of one, by where they begin.

    Every living turn is in exactly one of them. Sessions that did not change since are not cut again.
    """
    sessions = graph.sessions
    wanted = sessions if session_id is None else [session_id] if session_id in sessions else []
    stored: dict[str, list[Episode]] = {}
    for session in wanted:
        if session not in graph.cuts:
            stored = stored or _by_session(graph)
            graph.cuts[session] = tuple(_cut(graph, sessions[session], stored.get(session, ())))
    return sorted((one for session in wanted for one in graph.cuts[session]), key=lambda one: one.turns[0])


def owners(graph: Graph, episodes: Sequence[Stretch]) -> Ints:
    """(n,) the place among ``episodes`` of the one that holds each turn; -1 where none does."""
    owner = np.full(len(graph.turn_ids), -1, np.int64)
    for place, one in enumerate(episodes):
        owner[list(one.turns)] = place
    return owner


def distinctive(graph: Graph, turns: Sequence[int], rarity: Doubles) -> list[int]:
    """The cues that tell some turns from all others: the largest count of mentions times rarity, at most three.

    Args:
        graph: Holds the turns.
        turns: Their slots.
        rarity: (cues,) as of ``activation.inverse_frequency``.

    Returns:
        Slots of cues, the most distinctive first; of equal ones by key.
    """
    first, stop = _units(graph, np.array(sorted(turns), np.int64))
    units = [unit for a, b in zip(first.tolist(), stop.tolist(), strict=True) for unit in range(a, b)]
    _, columns, counts = graph.mentions.row_entries(np.array(units, np.int64))
    cues, places = np.unique(columns, return_inverse=True)
    weights = np.bincount(places, counts, minlength=len(cues)) * rarity[cues]
    order = sorted(range(len(cues)), key=lambda i: (-weights[i], graph.cue_keys[int(cues[i])]))
    return [int(cues[i]) for i in order[:_CUES]]


def turn_vectors(graph: Graph, turns: Ints) -> Floats:
    """(k,) slots to (k, dim): of each turn the mean of its sentences as a unit vector; zeros where it has none."""
    bounds = zip(*(edge.tolist() for edge in _units(graph, turns)), strict=True)
    rows = [direction(graph.unit_vectors[first:stop]) for first, stop in bounds]
    return np.array(rows, np.float32).reshape(len(turns), graph.dim)


def _cut(graph: Graph, turns: Ints, stored: Sequence[Episode]) -> list[Stretch]:
    """One session's episodes."""
    slots = {graph.turn_ids[slot]: slot for slot in turns.tolist()}
    # One that lost a turn is gone, though its removal may not have come yet.
    whole = [one for one in stored if all(turn_id in slots for turn_id in one.turn_ids)]
    made = [Stretch(one.episode_id, tuple(slots[turn_id] for turn_id in one.turn_ids), one) for one in whole]
    taken = {slot for one in made for slot in one.turns}
    for is_taken, group in groupby(turns.tolist(), key=taken.__contains__):
        if not is_taken:
            made += _local(graph, np.array(list(group), np.int64))
    return made


def _local(graph: Graph, turns: Ints) -> list[Stretch]:
    """What local rules cut some neighbouring turns of a session into."""
    slots: list[int] = turns.tolist()
    runs = boundaries.segment(
        turn_vectors(graph, turns),
        times=graph.turn_time[turns],
        openings=beginnings(graph.turn_opens[turns]),
        may_open=boundaries.initiatives([graph.turn_role[slot] for slot in slots]),
    )
    pieces = [tuple(slots[run.start : run.end]) for run in runs]
    return [Stretch(LOCAL + graph.turn_ids[piece[0]], piece) for piece in pieces]


def _by_session(graph: Graph) -> dict[str, list[Episode]]:
    found: dict[str, list[Episode]] = {}
    for one in graph.episodes.values():
        found.setdefault(one.session_id, []).append(one)
    return found


def _units(graph: Graph, turns: Ints) -> tuple[Ints, Ints]:
    """Where the units of each turn begin and end; they stand turn by turn."""
    return np.searchsorted(graph.unit_turn, turns, "left"), np.searchsorted(graph.unit_turn, turns, "right")
