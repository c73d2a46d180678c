"""Episodes as everybody sees them: a graph knows slots and cues, the rows know words and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.algo.activation import inverse_frequency
from mnemic.algo.episodes import BY_RULES, Stretch, distinctive
from mnemic.algo.graph import Doubles, Graph
from mnemic.types import Episode, Interval, Turn


def described(graph: Graph, cut: Sequence[Stretch], turns: Mapping[str, Turn]) -> list[Episode]:
    """Episodes with topic and time: stored ones as they are, local ones named by their most distinctive cues.

    Args:
        graph: Holds them.
        cut: Which.
        turns: turn_id -> turn, of those of the local ones; a turn that is missing was erased meanwhile.
    """
    rarity = inverse_frequency(graph.frequency, int(graph.trace_alive.sum()))
    return [one.stored or _local(graph, one, turns, rarity) for one in cut]


def _local(graph: Graph, one: Stretch, turns: Mapping[str, Turn], rarity: Doubles) -> Episode:
    said = [turns[turn_id] for slot in one.turns if (turn_id := graph.turn_ids[slot]) in turns]
    words = "\n".join(turn.text for turn in said).casefold()
    times = [turn.timestamp for turn in said if turn.timestamp is not None]
    cues = distinctive(graph, one.turns, rarity)
    return Episode(
        episode_id=one.episode_id,
        session_id=graph.turn_session[one.turns[0]],
        turn_ids=tuple(graph.turn_ids[slot] for slot in one.turns),
        topic=", ".join(_surface(graph, cue, words) for cue in cues),
        summary="",
        time=Interval(min(times, default=None), max(times, default=None)),
        made_by=BY_RULES,
    )


def _surface(graph: Graph, cue: int, words: str) -> str:
    """A cue as somebody wrote it here; else its key: who wrote it elsewhere may have been erased."""
    surface = graph.cue_surfaces[cue]
    return surface if surface.casefold() in words else graph.cue_keys[cue]
