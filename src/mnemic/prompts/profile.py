"""Stage 2 of note extraction: preferences, profile, and what convention implies (methods.md 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import Parsed, items
from mnemic.prompts.data import DATA, LANGUAGE, TEXT, a_list, an_object, delimited, numbered, version
from mnemic.prompts.drafts import SOURCES, Draft, kinds, lines_of, reader
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
You describe the person named in <owner> from what they said: numbered lines in <dialogue>. <notes> holds facts that
were taken from the same lines before.
{DATA}

Collect only what lasts:
- "trait": stable identity, family, job, what they own, roles and relations.
- "preference": recurring likes and dislikes, habits, attitudes.
- What convention implies at once, and nothing further: who says "my husband" is married; who says "my students"
  teaches.
Better leave something out than guess. No single events, no new facts, no work on dates or pronouns. Questions, jokes,
quotations and suppositions tell nothing. "from" holds the numbers of the lines of <dialogue>. {LANGUAGE}

Reply with one JSON object and nothing else: {{"notes": [{{"from": [1], "kind": "trait", "text": "…"}}]}}, with an empty
list where there is none."""
SCHEMA: Final[dict[str, Json]] = an_object(
    notes=a_list(an_object(**{"from": SOURCES}, kind=kinds("preference", "trait"), text=TEXT))
)
VERSION: Final = version(_SYSTEM, SCHEMA)


def render(owner: str, lines: Sequence[str], facts: Sequence[Draft], *, max_tokens: int = 2048) -> Completion:
    """The request for the owner's own turns, rendered for reading, with stage 1's facts."""
    parts = (delimited("owner", owner), numbered("dialogue", lines), numbered("notes", lines_of(facts)))
    return Completion("notes", _SYSTEM, "\n\n".join(parts), max_tokens, SCHEMA)


def parse(reply: Reply, *, lines: int) -> Parsed[Draft]:
    """The notes of a reply about so many lines."""
    return items(reply, ("notes", "preferences", "profile"), reader(range(1, lines + 1), kind="trait"))
