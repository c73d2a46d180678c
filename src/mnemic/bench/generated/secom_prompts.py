"""The prompt of SeCom-style segments: where one session's topics begin and end.

The required contents are those of SeCom (methods.md section 3; Pan et al. 2025, arXiv:2502.05589, its appendix); the
wording is mnemic's own. What people said is data (``prompts.data``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import items, number
from mnemic.prompts.data import DATA, NUMBER, TEXT, a_list, an_object, listed
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

GROUP: Final = 6
"""Turns of a segment where no reply says otherwise: three exchanges, of two turns each, as SeCom falls back to."""
TOKENS: Final = 4096
"""Limit of a reply: some 60 segments with their summaries."""

_SEGMENT: Final = f"""\
You divide a conversation into segments, so that each is about one topic. <session> holds its turns in order, one
<turn> each, which begins with its number.
{DATA}

- A segment is a run of consecutive turns. A question and its answer belong together.
- Begin a new one where the conversation turns to another topic; small talk at either end may be one of its own.
- The segments cover all turns: the first begins with the first turn, each begins right behind the one before it, and
  the last ends with the last turn.
- For each give "start" and "end", the numbers of its first and its last turn, and "summary", what it is about, in at
  most 30 words.

Reply with one JSON object and nothing else:
{{"segments": [{{"start": 0, "end": 3, "summary": "…"}}, {{"start": 4, "end": 9, "summary": "…"}}]}}"""

_SCHEMA: Final[dict[str, Json]] = an_object(segments=a_list(an_object(start=NUMBER, end=NUMBER, summary=TEXT)))


def segmenting(turns: Sequence[str]) -> Completion:
    """The request for the segments of one session.

    Args:
        turns: Each with its speaker and date, in order.
    """
    numbered = [f"{number}. {text}" for number, text in enumerate(turns)]
    return Completion("segment", _SEGMENT, listed("session", "turn", numbered), TOKENS, _SCHEMA)


def segments(reply: Reply, turns: int) -> tuple[list[range], bool]:
    """The segments of a session of so many turns: every turn is in exactly one, whatever the reply says.

    Segments are taken for as long as each begins right behind the one before it and ends within the session; what
    they leave of it is cut into groups of three exchanges.

    Returns:
        The segments in order, and whether the reply gave all of them.
    """
    found: list[range] = []
    for start, end in items(reply, ("segments",), _range).items:
        place = found[-1].stop if found else 0
        if start != place or not start <= end < turns:
            break
        found.append(range(start, end + 1))
    place = found[-1].stop if found else 0
    return found + groups(range(place, turns)), place == turns


def groups(turns: range) -> list[range]:
    """Consecutive groups of three exchanges; the last may be smaller."""
    return [turns[first : first + GROUP] for first in range(0, len(turns), GROUP)]


def _range(value: Json) -> tuple[int, int] | None:
    """First and last turn, as they are written."""
    if not isinstance(value, dict):
        return None
    start, end = number(value.get("start")), number(value.get("end"))
    return None if start is None or end is None else (start, end)
