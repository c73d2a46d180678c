"""Episodes of a session by Topic-Aware Event-Surprise segmentation, in one call (methods.md 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import Parsed, items
from mnemic.algo.segments import Segment, repair
from mnemic.prompts.data import DATA, LANGUAGE, NUMBER, TEXT, a_list, an_object, numbered, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Cut, Json

_BEGINS: Final[dict[Cut, str]] = {
    "either": """\
A new episode begins at a turn if either holds:
- Topic: the subject, the goal or the activity is another one than before.
- Surprise: the turn is abrupt after what precedes it: feelings turn, somebody opens up, talk goes from feelings to
  arrangements, a new field comes up, a picture leads away, the tone changes sharply.

Rather cut too fine than too coarse.""",
    "topic": """\
A new episode begins at a turn where the subject, the goal or the activity is another one than before, and nowhere else.

Rather cut too fine than too coarse.""",
    "coarse": """\
A new episode begins only where the dialogue as a whole turns to something else for good. Mostly the whole dialogue is
one episode, and seldom more than three.

Rather cut too coarse than too fine.""",
}
SYSTEMS: Final[dict[Cut, str]] = {
    cut: f"""\
You cut a dialogue into episodes. Its turns are numbered from 0.
{DATA}

{begins} The episodes follow each other, begin with turn 0 and leave no turn out.
"topic" is one concept; "summary" has at most 25 words. {LANGUAGE}

Reply with one JSON object and nothing else:
{{"segments": [{{"start": 0, "end": 3, "topic": "…", "summary": "…"}}]}}"""
    for cut, begins in _BEGINS.items()
}
SCHEMA: Final[dict[str, Json]] = an_object(
    segments=a_list(an_object(start=NUMBER, end=NUMBER, topic=TEXT, summary=TEXT))
)
VERSIONS: Final[dict[Cut, str]] = {cut: version(system, SCHEMA) for cut, system in SYSTEMS.items()}
VERSION: Final = VERSIONS["either"]


def render(turns: Sequence[str], *, cut: Cut = "either", max_tokens: int = 2048) -> Completion:
    """The request for a session's turns, rendered for reading, to be cut by a rule (``config.Enriching``)."""
    return Completion("segment", SYSTEMS[cut], numbered("dialogue", turns, first=0), max_tokens, SCHEMA)


def parse(reply: Reply, *, turns: int) -> Parsed[Segment]:
    """The segments of so many turns, repaired: ordered, contiguous, exhaustive, none empty, whatever the reply says.

    Where nothing can be used there is none: ask again, or take the blocks that ``repair`` makes of nothing.
    """
    found = items(reply, ("segments", "episodes"), lambda value: value if isinstance(value, dict) else None)
    repaired = repair(list(found.items), turns)
    if not repaired.usable:
        return Parsed((), found.failure or "wrong_shape", found.dropped)
    return Parsed(repaired.segments, found.failure, found.dropped)
