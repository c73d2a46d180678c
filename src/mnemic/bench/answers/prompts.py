"""The prompts that answer a question from what a memory found.

The required contents are those of methods.md 1.6 (HERO's appendix, for LoCoMo and PersonaMem) and 4.5 (LongMemEval);
the wording is mnemic's own. What people said is data (``prompts.data``). A prompt's text is part of its request, and so
of the key under which the reply is cached: changing a word here asks again.
"""

from __future__ import annotations

from typing import Final, Literal

from mnemic.bench.answers.data import Context
from mnemic.bench.records import DatasetName, Question
from mnemic.prompts.data import DATA, delimited, listed
from mnemic.protocols import Completion
from mnemic.types import Json

Variant = Literal["paper", "resolve"]
"""How LoCoMo's prompt dates "yesterday": ``paper`` by the day of the fragment itself, as HERO's examples do,
``resolve`` by the day before it (methods.md A32). The other data sets have one prompt."""

_FRAGMENTS: Final = """\
The parts of it that a memory found are in <fragments>, one <fragment> each, the most relevant first, so they may be out
of order in time. Each line begins with who spoke and, where it is known, when."""
_BESIDE: Final = """\
What one memory system keeps of it is in <memories>. Beside that, <fragments> holds pieces of the original dialogue that
another memory found, the most relevant first. Use both; where they differ, the dialogue is right."""

_LOCOMO: Final = """\
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

_PERSONAMEM: Final = """\
You are an assistant with a long history with one user. The user says something new, and four replies are offered.

{source}
{data}

Choose the reply that shows that you remember this user rightly:
- What it says about the user's facts and preferences must agree with what was said.
- A personal reply is better than a general one only if its details hold.
- Where a preference changed, the latest one counts.
- Use only what was said, nothing that you suppose about people in general.

Give your reasons in a few sentences. End with a line that has one letter: Answer: (a), (b), (c) or (d)"""

_PERSONAMEM_ALONE: Final = """\
You are an assistant. The user says something, and four replies are offered. You know nothing else about this user.

{data}

Choose the reply that is most likely the best one.

Give your reasons in a few sentences. End with a line that has one letter: Answer: (a), (b), (c) or (d)"""

_LONGMEMEVAL: Final = """\
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

_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["reasoning", "answer"],
    "additionalProperties": False,
}


def answering(
    dataset: DatasetName,
    question: Question,
    context: Context,
    *,
    variant: Variant = "paper",
    abstain: bool = False,
    max_tokens: int = 1024,
) -> Completion:
    """The request for an answer to one question.

    Args:
        dataset: Whose prompt.
        question: Its options are shown, its gold answer is not.
        context: What a memory found. PersonaMem has a prompt of its own for none at all.
        variant: LoCoMo's reading of relative time.
        abstain: LoCoMo: allow "No information available", for runs that ask unanswerable questions too.
        max_tokens: Of the reply, its reasoning included.
    """
    source = _BESIDE if context.beside else _FRAGMENTS
    if dataset == "locomo":
        times = _TIME[variant]
        system = _LOCOMO.format(source=source, data=DATA, abstain=_ABSTAIN if abstain else "", **times)
        return Completion("answer", system, _user(question, context), max_tokens, _SCHEMA)
    if dataset == "personamem":
        alone = not context.entries and not context.beside
        system = (_PERSONAMEM_ALONE if alone else _PERSONAMEM).format(source=source, data=DATA)
        return Completion("answer", system, _user(question, context, shown=not alone), max_tokens)
    system = _LONGMEMEVAL.format(source=source, data=DATA)
    return Completion("answer", system, _user(question, context), max_tokens)


def _user(question: Question, context: Context, *, shown: bool = True) -> str:
    parts: list[str] = []
    if context.beside:
        parts += [
            listed("memories", "memory", context.entries),
            listed("fragments", "fragment", context.beside),
        ]
    elif shown:
        parts.append(listed("fragments", "fragment", context.entries))
    if question.asked_at is not None:
        parts.append(delimited("asked_on", question.asked_at))
    parts.append(delimited("question", question.text))
    if question.options:
        parts.append(listed("options", "option", question.options))
    return "\n\n".join(parts)
