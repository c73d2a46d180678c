"""Notes and cues of one or more traces, in one call (methods.md 1.2 C3 and C4, 1.6).

HERO makes two calls a trace; here the sentences are sent once. Several traces may share a call and its instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.algo.replies import Parsed, items, number
from mnemic.prompts.data import DATA, LANGUAGE, NUMBER, TEXT, a_list, an_object, delimited, hanging, version
from mnemic.prompts.drafts import SOURCES, Draft, kinds, phrases, reader
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
You read a dialogue for a memory graph. Its sentences are numbered; who said them, and when, stands above them.
{DATA}

1. "notes": what the sentences tell about the people in them: one-off events and actions (kind "fact"), momentary
states and feelings ("state"), likes and dislikes ("preference"), lasting traits, roles and habits ("trait").
- One piece of information a note, in the third person, with names instead of pronouns, understandable alone.
- Say the thing itself, not that somebody said it. Questions, jokes, quotations and suppositions tell nothing.
- "from": the numbers of its sentences. "about": the name of the person.
- Make relative time a date, counted from when it was said; where you cannot, keep the words. Invent no date.
2. "sentences": for each sentence, and under "cues" for each note, 1 to 5 things that a later question could mention:
people, places, objects, activities, topics, dates as written. Base forms; no pronouns, no general verbs.
{LANGUAGE}

For example, from "4. I code best after midnight, but today I am just tired.", said by Oda: "Oda is a programmer."
(trait), "Oda works best after midnight." (preference), "Oda is tired today." (state).

Reply with one JSON object and nothing else:
{{"notes": [{{"from": [4], "kind": "trait", "about": "Oda", "text": "…", "cues": ["…"]}}],
"sentences": [{{"n": 4, "cues": ["…"]}}]}}"""

SCHEMA: Final[dict[str, Json]] = an_object(
    notes=a_list(
        an_object(
            **{"from": SOURCES},
            kind=kinds("fact", "state", "preference", "trait"),
            about=TEXT,
            text=TEXT,
            cues=a_list(TEXT),
        )
    ),
    sentences=a_list(an_object(n=NUMBER, cues=a_list(TEXT))),
)
VERSION: Final = version(_SYSTEM, SCHEMA)


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences that one person said in one go; ``header`` says who and when."""

    header: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SentenceCues:
    """The cues of the sentence with a number, from 1."""

    number: int
    cues: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TraceReading:
    """What a model read in traces; each half with its own failure."""

    notes: Parsed[Draft]
    sentences: Parsed[SentenceCues]


def render(said: Sequence[Said], *, max_tokens: int = 2048) -> Completion:
    """The request. Sentences count through, from 1, over all that is given."""
    lines: list[str] = []
    count = 0
    for one in said:
        lines.append(f"{' '.join(one.header.split())}:")
        for sentence in one.sentences:
            count += 1
            lines.append(f"{count}. {hanging(sentence)}")
    return Completion("cues", _SYSTEM, delimited("dialogue", "\n".join(lines)), max_tokens, SCHEMA)


def parse(reply: Reply, *, sentences: int) -> TraceReading:
    """Read a reply about so many sentences."""
    offered = range(1, sentences + 1)

    def cues(value: Json) -> SentenceCues | None:
        place = number(value.get("n")) if isinstance(value, dict) else None
        if not isinstance(value, dict) or place is None or place not in offered:
            return None
        return SentenceCues(place, phrases(value.get("cues")))

    return TraceReading(
        items(reply, ("notes", "facts"), reader(offered, kind="fact")), items(reply, ("sentences",), cues)
    )
