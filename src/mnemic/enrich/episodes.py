"""HiMem's Episode Memory: a session cut by a model in one call, its topics chosen among known ones (methods.md 2.3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemic.algo import render, segments
from mnemic.algo.segments import Segment
from mnemic.enrich.asking import usable
from mnemic.prompts import segment as prompt
from mnemic.prompts import topic
from mnemic.protocols import LanguageModel
from mnemic.types import Cut, Episode, Interval, Turn

_BEGINNING, _END = 800, 200
"""Characters of a turn that one call reads: eighty long ones must fit into it, too."""

NearTopics = Callable[[str], Sequence[str]]
"""Up to five known topics that are near a new one (cosine of at least .5), the nearest first."""

_WINDOW, _OVERLAP = 80, 16
"""Turns of a session that one call cuts, and those that the next one cuts again."""


def segment(turns: Sequence[Turn], model: LanguageModel, *, cut: Cut, near: NearTopics | None) -> list[Episode]:
    """Cut turns of one session into episodes: contiguous, exhaustive, without overlap, whatever the model says.

    Args:
        turns: In order, at least one.
        model: Asked once for each 80 turns, and once for each topic that is near known ones.
        cut: By which rule.
        near: Which those are; None to keep the topics as they come.

    Raises:
        ReplyUnusable: Nothing in a reply can be used.
        ModelError: No reply came.
    """
    texts = [_line(turn) for turn in turns]
    parts: list[tuple[int, Sequence[Segment]]] = []
    for start, stop in segments.windows(len(turns), _WINDOW, _OVERLAP):
        parsed = prompt.parse(model.complete(prompt.render(texts[start:stop], cut=cut)), turns=stop - start)
        what = f"{model.name}, asked for the episodes of {stop - start} turns"
        parts.append((start, usable(parsed, what, whole=False)))
    known: dict[str, str] = {}
    return [_episode(turns, one, model, near, known) for one in segments.join(parts)]


def _line(turn: Turn) -> str:
    """A turn for reading; of one that is long, how it begins and ends."""
    size = len(turn.text)
    if size <= _BEGINNING + _END:
        return render.line(turn, 0, size)
    return f"{render.line(turn, 0, _BEGINNING)} … {render.one_line(render.words(turn, size - _END, size))}"


def _episode(
    turns: Sequence[Turn], one: Segment, model: LanguageModel, near: NearTopics | None, known: dict[str, str]
) -> Episode:
    said = turns[one.start : one.end]
    if near is not None and one.topic and one.topic not in known:
        known[one.topic] = _aligned(one.topic, [*near(one.topic)], model)
    times = sorted(turn.timestamp for turn in said if turn.timestamp is not None)
    return Episode(
        episode_id="",
        session_id=said[0].session_id,
        turn_ids=tuple(turn.turn_id for turn in said),
        topic=known.get(one.topic, one.topic),
        summary=one.summary,
        time=Interval(times[0], times[-1]) if times else Interval(None, None),
        made_by=model.name,
    )


def _aligned(new: str, candidates: Sequence[str], model: LanguageModel) -> str:
    """The known topic that a new one is, if any; a topic that is known word for word needs no question."""
    if not candidates or new in candidates:
        return new
    chosen = topic.parse(model.complete(topic.render(new, candidates)), candidates=len(candidates))
    return new if chosen is None else candidates[chosen]
