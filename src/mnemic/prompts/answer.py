"""An answer from original words, with its sources, or the statement that memory does not contain it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.algo.replies import Failure, as_text, having, numbers, refuses, spoken
from mnemic.prompts.data import DATA, NUMBERS, TEXT, an_object, delimited, numbered, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
You answer a question from what people said. The pieces in <evidence> are numbered, the most relevant first; each line
begins with who spoke and when. The question is asked on the day in <asked_on>.
{DATA}

- Use only what the pieces say; one answer may need several. Mind who said a thing, and about whom.
- Where they contradict each other, what was said later counts.
- "yesterday", "last week" and the like count from the date of their own line; write the date that comes out.
- Keep names, numbers and other exact words. Be short. Answer in the language of the question.
- "sources": the numbers of the pieces that your answer rests on.
- Where they do not hold the answer, or hold it of somebody else, "answer" is "" and "sources" is empty.

Reply with one JSON object and nothing else: {{"answer": "…", "sources": [1]}}"""
SCHEMA: Final[dict[str, Json]] = an_object(answer=TEXT, sources=NUMBERS)
VERSION: Final = version(_SYSTEM, SCHEMA)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a reply answers.

    Attributes:
        text: The answer; None where memory does not contain it, or where nothing could be read.
        sources: Places of the evidence it rests on, from 0, all of which were shown.
        failure: Why nothing could be read, or that the answer came in prose, without sources.
    """

    text: str | None
    sources: tuple[int, ...]
    failure: Failure | None


def render(question: str, evidence: Sequence[str], *, asked_on: str, max_tokens: int = 512) -> Completion:
    """The request; the evidence is rendered with names and dates, best first."""
    parts = (numbered("evidence", evidence), delimited("asked_on", asked_on), delimited("question", question))
    return Completion("answer", _SYSTEM, "\n\n".join(parts), max_tokens, SCHEMA)


def parse(reply: Reply, *, evidence: int) -> Answered:
    """Read a reply about so many pieces of evidence."""
    if reply.finish == "refusal":
        return Answered(None, (), "refused")
    found = having(reply.text, "answer")
    if found is not None:
        text = as_text(found["answer"])
        sources = numbers(found.get("sources"), range(1, evidence + 1))
        failure: Failure | None = "truncated" if reply.finish == "length" and not sources and text else None
        return Answered(text or None, tuple(number - 1 for number in sources) if text else (), failure)
    said = spoken(reply.text).strip()
    if not said:
        return Answered(None, (), "truncated" if reply.finish == "length" else "empty")
    if said[0] in "{[" or reply.finish == "length":
        return Answered(None, (), "truncated" if reply.finish == "length" else "wrong_shape")
    return Answered(None, (), "refused") if refuses(said) else Answered(said, (), "prose")
