"""Which registered topic an episode's topic is, if any (methods.md 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import field, number
from mnemic.prompts.data import DATA, NUMBER, an_object, delimited, numbered, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
Choose the topic in <topics> that means the same as the one in <topic>, or nearly the same.
{DATA}
Reply with one JSON object and nothing else: {{"choice": 2}}, its number; 0 where none does."""
SCHEMA: Final[dict[str, Json]] = an_object(choice=NUMBER)
VERSION: Final = version(_SYSTEM, SCHEMA)


def render(topic: str, candidates: Sequence[str], *, max_tokens: int = 20) -> Completion:
    """The request: a new topic, and the registered ones that are near it."""
    user = f"{delimited('topic', topic)}\n\n{numbered('topics', candidates)}"
    return Completion("segment", _SYSTEM, user, max_tokens, SCHEMA)


def parse(reply: Reply, *, candidates: int) -> int | None:
    """The place of the chosen candidate, from 0; None for a new topic, also where the reply says nothing usable."""
    chosen = number(field(reply.text, "choice"))
    return chosen - 1 if chosen is not None and 1 <= chosen <= candidates else None
