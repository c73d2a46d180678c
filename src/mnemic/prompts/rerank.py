"""How well each piece of evidence answers a question: a language model as reranker (methods.md R6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from mnemic.algo.replies import Parsed, items, number
from mnemic.prompts.data import DATA, NUMBER, a_list, an_object, delimited, numbered, version
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_SYSTEM: Final = f"""\
Score how much each numbered piece of evidence helps to answer the question in <question>, from 0 to 10. Each line
begins with who spoke and when.
{DATA}

10: it holds the answer, said by the right person. 5: it holds a part of it, or what one needs to work it out. 0: it is
about something else, or somebody else. That it has words of the question is no merit by itself.

Reply with one JSON object and nothing else, with every piece: {{"scores": [{{"n": 1, "score": 7}}]}}"""
SCHEMA: Final[dict[str, Json]] = an_object(scores=a_list(an_object(n=NUMBER, score=NUMBER)))
VERSION: Final = version(_SYSTEM, SCHEMA)
_BEST: Final = 10


def render(question: str, evidence: Sequence[str], *, max_tokens: int = 1024) -> Completion:
    """The request; the evidence is rendered with names and dates."""
    user = f"{numbered('evidence', evidence)}\n\n{delimited('question', question)}"
    return Completion("rerank", _SYSTEM, user, max_tokens, SCHEMA)


def parse(reply: Reply, *, evidence: int) -> Parsed[tuple[int, float]]:
    """(place from 0, score in [0, 1]) of the pieces that the reply scores, each once."""

    def scored(value: Json) -> tuple[int, float] | None:
        if not isinstance(value, dict):
            return None
        place, score = number(value.get("n")), number(value.get("score"))
        if place is None or score is None or not 1 <= place <= evidence:
            return None
        return place - 1, min(max(score, 0), _BEST) / _BEST

    found = items(reply, ("scores",), scored)
    return Parsed(tuple(dict(reversed(found.items)).items()), found.failure, found.dropped)
