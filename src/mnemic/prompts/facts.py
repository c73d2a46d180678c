"""Stage 1 of note extraction: facts (methods.md 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import Parsed, items
from mnemic.prompts.data import DATA, LANGUAGE, TEXT, a_list, an_object, delimited, numbered, version
from mnemic.prompts.drafts import SOURCES, Draft, reader
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
You collect facts from what one person, named in <owner>, said. The lines in <dialogue> are numbered.
{DATA}

Write sentences that answer who, what, when, how somebody felt, or what something means, each by itself:
- at two levels: the situation as a whole, and single statements that answer one question each. They may overlap.
- Keep the wording of signs, titles and names exactly. Give a feeling to the person who has it.
- Leave time words and pronouns as they are said; sort nothing, and judge nothing.
- Questions, jokes, quotations and suppositions state nothing. Write nothing that the lines do not say.
- "from" holds the numbers of the lines that say it. {LANGUAGE}

Reply with one JSON object and nothing else: {{"facts": [{{"from": [1], "text": "…"}}]}}, with an empty list where there
is none."""
SCHEMA: Final[dict[str, Json]] = an_object(facts=a_list(an_object(**{"from": SOURCES}, text=TEXT)))
VERSION: Final = version(_SYSTEM, SCHEMA)


def render(owner: str, lines: Sequence[str], *, max_tokens: int = 4096) -> Completion:
    """The request for the owner's own turns, rendered for reading."""
    user = f"{delimited('owner', owner)}\n\n{numbered('dialogue', lines)}"
    return Completion("notes", _SYSTEM, user, max_tokens, SCHEMA)


def parse(reply: Reply, *, lines: int) -> Parsed[Draft]:
    """The facts of a reply about so many lines."""
    return items(reply, ("facts",), reader(range(1, lines + 1), kind="fact"))
