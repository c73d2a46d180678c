"""An answer to a user with a long history, for LongMemEval (methods.md 4.5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.prompts.data import DATA, version
from mnemic.prompts.fragments import ALONE, BESIDE, asking
from mnemic.protocols import Completion

_SYSTEM: Final = """\
You are an assistant with a long history with one user, who asks you something on the day in <asked_on>.

{source}
{data}

How to answer:
- Use what was said in the history; piece together what lies in several of its sessions.
- Count time up to the day on which you are asked.
- Where something changed, the latest state counts.
- Where the user wants advice, fit it to what you know about them.
- Where the history does not hold what is asked for, say so, and say what is missing.
- Be short."""

VERSION: Final = version("\n".join((_SYSTEM, DATA, ALONE, BESIDE)), None)


def render(
    question: str,
    entries: Sequence[str],
    *,
    beside: Sequence[str] = (),
    asked_on: str | None = None,
    options: Sequence[str] = (),
    max_tokens: int = 1024,
) -> Completion:
    """The request; the answer is free text."""
    system = _SYSTEM.format(source=BESIDE if beside else ALONE, data=DATA)
    user = asking(question, entries, beside=beside, asked_on=asked_on, options=options)
    return Completion("answer", system, user, max_tokens)
