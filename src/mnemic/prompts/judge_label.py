"""A judge of answers that labels them CORRECT or WRONG: lenient as in Mem0's and HERO's evaluations, or strict.

The required contents are those of the published judges (methods.md 1.6 and 4.2).
"""

from __future__ import annotations

from typing import Final, Literal

from mnemic.algo.replies import choice, field
from mnemic.prompts.data import COMPARED, TEXT, an_object, delimited, one_of, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

Rule = Literal["lenient", "strict"]

_LABEL: Final = """\
Reply with one JSON object and nothing else. It has two fields: "reasoning", one sentence, and then "label", which is
"CORRECT" or "WRONG"."""

_SYSTEMS: Final[dict[Rule, str]] = {
    "lenient": f"""\
You mark the answer to a question that one person asks about another, from what they told each other before. You are
given the question, the correct answer and the answer to mark.
{COMPARED}

The correct answer is mostly a few words; the other may be much longer. Be generous: it is CORRECT if it touches on the
same topic as the correct answer. For example, "a shell necklace" is the correct answer to "What did I bring you from
Hawaii?", and a whole paragraph about that necklace is CORRECT.

Where a time is asked for, be generous too: an answer that means the same date or period is CORRECT, in any format
("May 7th", "7 May") and also as a relative expression ("last Tuesday", "next month").

{_LABEL}""",
    "strict": f"""\
You mark an answer against the correct answer to the same question.
{COMPARED}

It is CORRECT if it states the core facts of the correct answer: who, what, where, when, how many. More words, other
words and further details are no fault while the core facts agree. It is WRONG if a core fact is missing, differs or is
contradicted, or if it does not answer the question. That it is about the same topic is not enough.

{_LABEL}""",
}
SCHEMA: Final[dict[str, Json]] = an_object(reasoning=TEXT, label=one_of("CORRECT", "WRONG"))
TOKENS: Final = 256
"""Limit of a judgement."""
VERSION: Final = version("\n".join(_SYSTEMS.values()), SCHEMA)


def render(rule: Rule, question: str, gold: str, answer: str, *, max_tokens: int = TOKENS) -> Completion:
    """The request for one judgement."""
    said = (delimited("question", question), delimited("correct_answer", gold), delimited("generated_answer", answer))
    return Completion("judge", _SYSTEMS[rule], "\n\n".join(said), max_tokens, SCHEMA)


def parse(reply: Reply) -> bool | None:
    """Whether the answer is labelled correct; None where the reply has no such label."""
    label = choice(field(reply.text, "label"), ("correct", "wrong"))
    return None if label is None else label == "correct"
