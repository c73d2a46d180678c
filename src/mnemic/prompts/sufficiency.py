"""Whether evidence answers a question: HiMem's self-evaluation (methods.md 2.7)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import field, number, spoken
from mnemic.prompts.data import DATA, delimited, numbered, version
from mnemic.protocols import Completion, Reply

_SYSTEM: Final = f"""\
Decide whether the numbered evidence fixes one answer to the question. Each piece has its time.
{DATA}

Mind the order in time: what was said later overrides what was said before.
1: the evidence, taken together, leaves one answer. 0: it lacks something, is about somebody or something else, is
vague, or leaves several answers.

Reply with exactly one character: 0 or 1."""
VERSION: Final = version(_SYSTEM, None)
_DIGIT = re.compile(r"(?<![\w.])[01](?![\w.]*\w)")


def render(question: str, evidence: Sequence[str], *, max_tokens: int = 8) -> Completion:
    """The request; the pieces of evidence are rendered with their time and names."""
    user = f"{numbered('evidence', evidence)}\n\n{delimited('question', question)}"
    return Completion("sufficiency", _SYSTEM, user, max_tokens)


def parse(reply: Reply) -> bool | None:
    """Whether it suffices; None where the reply says neither, which counts as no."""
    said = spoken(reply.text)
    digits = set(_DIGIT.findall(said))
    if not digits:
        named = number(field(said, "sufficient"))
        return bool(named) if named in (0, 1) else None
    return digits == {"1"} if len(digits) == 1 else None
