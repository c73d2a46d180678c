"""How the benchmarks' prompts show what a memory found: alone, or beside what another memory keeps (HERO, figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.prompts.data import delimited, listed

ALONE: Final = """\
The parts of it that a memory found are in <fragments>, one <fragment> each, the most relevant first, so they may be out
of order in time. Each line begins with who spoke and, where it is known, when."""
BESIDE: Final = """\
What one memory system keeps of it is in <memories>. Beside that, <fragments> holds pieces of the original dialogue that
another memory found, the most relevant first. Use both; where they differ, the dialogue is right."""


def asking(
    question: str,
    entries: Sequence[str] | None,
    *,
    beside: Sequence[str] = (),
    asked_on: str | None = None,
    options: Sequence[str] = (),
) -> str:
    """The data of a request for an answer.

    Args:
        question: As asked.
        entries: What a memory found, best first; None where there is none to show.
        beside: What a second memory found, shown apart as original dialogue.
        asked_on: When it is asked, where that matters.
        options: Answers to choose from.
    """
    parts: list[str] = []
    if beside:
        parts += [listed("memories", "memory", entries or ()), listed("fragments", "fragment", beside)]
    elif entries is not None:
        parts.append(listed("fragments", "fragment", entries))
    if asked_on is not None:
        parts.append(delimited("asked_on", asked_on))
    parts.append(delimited("question", question))
    if options:
        parts.append(listed("options", "option", options))
    return "\n\n".join(parts)
