"""Which prompt asks which data set's questions, and how its reply is read.

A prompt's text is part of its request, and so of the key under which the reply is cached: changing a word of it asks
again.
"""

from __future__ import annotations

from functools import partial

from mnemic.algo.replies import Failure, ending, spoken
from mnemic.bench.answers.data import Context
from mnemic.bench.answers.records import Form
from mnemic.bench.records import DatasetName, Question
from mnemic.prompts import chosen_reply, history_answer, short_answer
from mnemic.prompts.short_answer import Variant
from mnemic.protocols import Completion, Reply


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
        variant: LoCoMo's reading of relative time; the other data sets have one prompt.
        abstain: LoCoMo: allow "No information available", for runs that ask unanswerable questions too.
        max_tokens: Of the reply, its reasoning included.
    """
    render = {
        "locomo": partial(short_answer.render, variant=variant, abstain=abstain),
        "personamem": chosen_reply.render,
        "longmemeval": history_answer.render,
    }[dataset]
    return render(
        question.text,
        context.entries,
        beside=context.beside,
        asked_on=question.asked_at,
        options=question.options,
        max_tokens=max_tokens,
    )


def answered(dataset: DatasetName, reply: Reply) -> tuple[str, Form]:
    """What a reply answers, without the reasoning before it, and how it came."""
    if dataset == "locomo":
        text, failure = short_answer.parse(reply)
        return text, _form(failure)
    return spoken(reply.text).strip(), _form(ending(reply))


def _form(failure: Failure | None) -> Form:
    match failure:
        case None:
            return "formatted"
        case "refused" | "truncated":
            return failure
        case _:
            return "prose"
