"""Stage 3 of note extraction: knowledge alignment (methods.md 2.4). It may reword and split notes, and loses none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from mnemic.algo.replies import Parsed, items
from mnemic.prompts.data import DATA, LANGUAGE, TEXT, a_list, an_object, delimited, numbered, version
from mnemic.prompts.drafts import SOURCES, TEXT_OR_EMPTY, Draft, kinds, lines_of, reader
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
You put numbered notes about the person named in <owner> in order. The lines they were taken from are in <dialogue>,
and were said at <session_time>.
{DATA}

- Of notes that say the same keep one; "from" then holds the numbers of all of them. A preference or trait goes before
  a fact.
- Put names for pronouns and for "the user". Put dates for relative time, counted from the session's: in the text, and
  in "date" as YYYY-MM-DD where the note holds from one day on, else "". Keep time that is vague by nature as it is.
- Each note needs one that means the same: merge nothing further, generalise nothing, drop nothing. You may split one.
  Keep notes that contradict each other as they are. Add nothing.
- "kind" stays what it is. {LANGUAGE}

Reply with one JSON object and nothing else:
{{"notes": [{{"from": [1, 4], "kind": "fact", "text": "…", "date": ""}}]}}"""
SCHEMA: Final[dict[str, Json]] = an_object(
    notes=a_list(
        an_object(
            **{"from": SOURCES}, kind=kinds("fact", "state", "preference", "trait"), text=TEXT, date=TEXT_OR_EMPTY
        )
    )
)
VERSION: Final = version(_SYSTEM, SCHEMA)


@dataclass(frozen=True, slots=True)
class Aligned:
    """Notes after alignment.

    Attributes:
        notes: The aligned ones, then those that the model left out, unchanged. Their ``sources`` are lines of the
            dialogue again: those of the notes that they come from.
        left_out: How many those are.
        reply: What was read of the reply; its ``sources`` are numbers of notes.
    """

    notes: tuple[Draft, ...]
    left_out: int
    reply: Parsed[Draft]


def render(
    owner: str, lines: Sequence[str], notes: Sequence[Draft], session_time: str, *, max_tokens: int = 4096
) -> Completion:
    """The request: the notes of stages 1 and 2, the turns, and when the session was."""
    parts = (
        delimited("owner", owner),
        delimited("session_time", session_time),
        numbered("dialogue", lines),
        numbered("notes", lines_of(notes)),
    )
    return Completion("notes", _SYSTEM, "\n\n".join(parts), max_tokens, SCHEMA)


def parse(reply: Reply, notes: Sequence[Draft]) -> Aligned:
    """The aligned notes. One that names no note it comes from is left out as invented; what is not covered is kept."""
    found = items(reply, ("notes",), reader(range(1, len(notes) + 1), kind="fact"))
    made: list[Draft] = []
    covered: set[int] = set()
    for one in found.items:
        if one.sources:
            covered.update(one.sources)
            sources = dict.fromkeys(line for number in one.sources for line in notes[number - 1].sources)
            made.append(replace(one, sources=tuple(sources), about=notes[one.sources[0] - 1].about))
    kept = [note for number, note in enumerate(notes, 1) if number not in covered]
    return Aligned((*made, *kept), len(kept), found)
