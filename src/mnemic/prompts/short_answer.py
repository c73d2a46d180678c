"""A short answer from a conversation: HERO's answer format for LoCoMo (methods.md 1.6)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Final, Literal, get_args

from mnemic.algo.replies import Failure, ending, field, unfenced
from mnemic.prompts.data import DATA, TEXT, an_object, version
from mnemic.prompts.fragments import ALONE, BESIDE, asking
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

Variant = Literal["paper", "resolve"]
"""How "yesterday" is dated: ``paper`` by the day of the fragment itself, as HERO's examples do, ``resolve`` by the day
before it (methods.md A32)."""

_SYSTEM: Final = """\
You answer a question about people from a conversation that they had over months.

{source}
{data}

How to answer:
- Read all of it before you decide: one answer may need several pieces together.
- Mind who said a thing, whom it is about, and when it was said.
- Keep names, titles, numbers, how often something happened, and other exact words as they stand.
- {time}
- Write a date like 20 January 2026.
- Prefer words of the conversation to words of your own.
- Be short and specific: give the answer itself, without a sentence around it.
{abstain}
Two examples of dates:
Mira (2026-01-20 10:04 UTC): I signed the lease yesterday!
When did Mira sign the lease? -> {first}
Tobias (2025-11-03 18:30 UTC): The choir sang at the harbour yesterday, in the rain.
When did the choir sing at the harbour? -> {second}

Reply with one JSON object and nothing else:
{{"reasoning": "how what was said leads to the answer", "answer": "the short answer"}}"""

_ABSTAIN: Final = """\
- Where what was said does not hold the answer, or says it of somebody else, answer "No information available".
"""

_TIME: Final[dict[Variant, dict[str, str]]] = {
    "paper": {
        "time": 'What somebody says happened "yesterday" takes the date of the line that says so.',
        "first": "20 January 2026",
        "second": "3 November 2025",
    },
    "resolve": {
        "time": 'Words like "yesterday", "last week" or "two months ago" count from the date of their line.',
        "first": "19 January 2026",
        "second": "2 November 2025",
    },
}
SCHEMA: Final[dict[str, Json]] = an_object(reasoning=TEXT, answer=TEXT)


def _system(source: str, variant: Variant, *, abstain: bool) -> str:
    return _SYSTEM.format(source=source, data=DATA, abstain=_ABSTAIN if abstain else "", **_TIME[variant])


VERSION: Final = version(
    "\n".join(
        _system(source, variant, abstain=abstain)
        for source, variant, abstain in product((ALONE, BESIDE), get_args(Variant), (False, True))
    ),
    SCHEMA,
)


def render(
    question: str,
    entries: Sequence[str],
    *,
    beside: Sequence[str] = (),
    asked_on: str | None = None,
    options: Sequence[str] = (),
    variant: Variant = "paper",
    abstain: bool = False,
    max_tokens: int = 1024,
) -> Completion:
    """The request.

    Args:
        question: As asked.
        entries: What a memory found, best first.
        beside: What a second memory found beside it.
        asked_on: When it is asked, where that matters.
        options: Answers to choose from, where there are any.
        variant: The reading of relative time.
        abstain: Allow "No information available", for runs that ask unanswerable questions too.
        max_tokens: Of the reply, its reasoning included.
    """
    system = _system(BESIDE if beside else ALONE, variant, abstain=abstain)
    user = asking(question, entries, beside=beside, asked_on=asked_on, options=options)
    return Completion("answer", system, user, max_tokens, SCHEMA)


def parse(reply: Reply) -> tuple[str, Failure | None]:
    """The answer, and what is wrong with the reply: without the JSON that was asked for all of it is the answer.

    A reply that was cut before its answer holds none: it is the empty answer, not half a JSON object.
    """
    failure = ending(reply)
    found = field(reply.text, "answer")
    if found is not None:
        return found, failure
    if failure == "truncated":
        return "", failure
    return unfenced(reply.text), failure or "prose"
