"""Knowledge from evidence that answered what the notes could not: HiMem's self-evolution (methods.md 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import Parsed, items
from mnemic.prompts.data import DATA, LANGUAGE, TEXT, a_list, an_object, delimited, numbered, version
from mnemic.prompts.drafts import SOURCES, TEXT_OR_EMPTY, Draft, kinds, reader
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
The numbered evidence answers the question in <question>. Write the notes that would have answered it, or a part of it.
{DATA}

- Each note stands alone, in the third person, with names; it says nothing that the evidence does not say.
- Take only what the person named in <owner> says or confirms; what an assistant says is no fact about them.
- "from" holds the numbers of its evidence; "date" the day, YYYY-MM-DD, from which it holds, by the time of its
  evidence, else "".
- "kind": "fact" for events and single facts, "state" for what passes, "preference", or "trait" for what lasts.
{LANGUAGE}

Reply with one JSON object and nothing else:
{{"notes": [{{"from": [1], "kind": "fact", "text": "…", "date": ""}}]}}, with an empty list where there is none."""
SCHEMA: Final[dict[str, Json]] = an_object(
    notes=a_list(
        an_object(
            **{"from": SOURCES}, kind=kinds("fact", "state", "preference", "trait"), text=TEXT, date=TEXT_OR_EMPTY
        )
    )
)
VERSION: Final = version(_SYSTEM, SCHEMA)


def render(owner: str, question: str, evidence: Sequence[str], *, max_tokens: int = 1024) -> Completion:
    """The request; the pieces of evidence are rendered with their time and names."""
    parts = (delimited("owner", owner), numbered("evidence", evidence), delimited("question", question))
    return Completion("notes", _SYSTEM, "\n\n".join(parts), max_tokens, SCHEMA)


def parse(reply: Reply, *, evidence: int) -> Parsed[Draft]:
    """The notes of a reply about so many pieces of evidence."""
    return items(reply, ("notes",), reader(range(1, evidence + 1), kind="fact"))
