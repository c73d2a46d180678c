"""Episodes of a session by Topic-Aware Event-Surprise segmentation, in one call (methods.md 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.algo.replies import Parsed, items, number, statement
from mnemic.prompts.data import DATA, LANGUAGE, NUMBER, TEXT, a_list, an_object, numbered, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

BLOCK: Final = 3
"""Turns of a segment where the model's reply gives none (SeCom)."""

_SYSTEM: Final = f"""\
You cut a dialogue into episodes. Its turns are numbered from 0.
{DATA}

A new episode begins at a turn if either holds:
- Topic: the subject, the goal or the activity is another one than before.
- Surprise: the turn is abrupt after what precedes it: feelings turn, somebody opens up, talk goes from feelings to
  arrangements, a new field comes up, a picture leads away, the tone changes sharply.

Rather cut too fine than too coarse. The episodes follow each other, begin with turn 0 and leave no turn out.
"topic" is one concept; "summary" has at most 25 words. {LANGUAGE}

Reply with one JSON object and nothing else:
{{"segments": [{{"start": 0, "end": 3, "topic": "…", "summary": "…"}}]}}"""
SCHEMA: Final[dict[str, Json]] = an_object(
    segments=a_list(an_object(start=NUMBER, end=NUMBER, topic=TEXT, summary=TEXT))
)
VERSION: Final = version(_SYSTEM, SCHEMA)


@dataclass(frozen=True, slots=True)
class Segment:
    """Turns ``[start, end)`` of a session; ``topic`` and ``summary`` are empty where the model gave none."""

    start: int
    end: int
    topic: str = ""
    summary: str = ""


def render(turns: Sequence[str], *, max_tokens: int = 2048) -> Completion:
    """The request for a session's turns, rendered for reading."""
    return Completion("segment", _SYSTEM, numbered("dialogue", turns, first=0), max_tokens, SCHEMA)


def parse(reply: Reply, *, turns: int) -> Parsed[Segment]:
    """The segments of so many turns, repaired: ordered, contiguous, exhaustive, none empty, whatever the reply says.

    They are cut where segments start; what a reply says about ends and counts drifts, and is not used. A turn that no
    segment names belongs to the one before it. Where nothing can be used there is none: ask again, or take ``blocks``.
    """

    def segment(value: Json) -> Segment | None:
        start = number(value.get("start")) if isinstance(value, dict) else None
        if not isinstance(value, dict) or start is None:
            return None
        topic, summary = statement(value.get("topic")), statement(value.get("summary"))
        return Segment(start, start + 1, topic or "", summary or "")

    found = items(reply, ("segments", "episodes"), segment)
    named = {min(max(one.start, 0), turns - 1): one for one in reversed(found.items)} if turns > 0 else {}
    starts = sorted(named)
    if not starts:
        return Parsed((), found.failure or "wrong_shape", found.dropped)
    ends = [*starts[1:], turns]
    segments = tuple(
        Segment(0 if place == 0 else start, end, named[start].topic, named[start].summary)
        for place, (start, end) in enumerate(zip(starts, ends, strict=True))
    )
    return Parsed(segments, found.failure, found.dropped)


def blocks(turns: int) -> tuple[Segment, ...]:
    """Segments of ``BLOCK`` turns, the last one perhaps shorter."""
    return tuple(Segment(start, min(start + BLOCK, turns)) for start in range(0, turns, BLOCK))
