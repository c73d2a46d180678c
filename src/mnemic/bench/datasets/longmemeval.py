"""LongMemEval (Wu et al. 2024): questions, each with a haystack of sessions of its own, some of which answer it.

Gold turns are those marked ``has_answer``, gold sessions the ``answer_session_ids``. Questions whose id ends in
``_abs`` have no answer in their haystack: no gold, as the authors leave them out of retrieval.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from mnemic.bench.datasets.parsed import Parsed, as_text, listed
from mnemic.bench.records import Question
from mnemic.importers import Skipped, longmemeval
from mnemic.importers.files import SourceFile
from mnemic.importers.records import DateReader
from mnemic.types import Json

NO_TEXT = "a question without text"
NO_DATE = "a question's date that cannot be read"
NO_SESSION = "an answer session that is not in the haystack"


def read(path: Path, *, dates: DateReader | None = None) -> Parsed:
    """Read a file of questions with their haystacks.

    Args:
        path: One question a line, or the published array; plain or gzip.
        dates: Reads times in other forms than LongMemEval's own.

    Raises:
        InvalidFile: It is an array that is not JSON.
    """
    file = SourceFile.at(path)
    parsed = Parsed((path,))
    parsed.take(longmemeval.read(file, dates=dates))
    for item in longmemeval.items(file):
        # What is no question is counted with the conversations.
        if isinstance(item, Skipped) or not isinstance(value := item[0], dict) or not longmemeval.is_question(value):
            continue
        text = value.get("question")
        if isinstance(text, str) and text.strip():
            parsed.questions.append(_question(text, value, dates, parsed.left_out))
        else:
            parsed.left_out[NO_TEXT] += 1
    return parsed


def _question(text: str, value: dict[str, Json], dates: DateReader | None, left_out: Counter[str]) -> Question:
    question_id = str(value["question_id"])
    answerable = not question_id.endswith("_abs")
    turns, sessions = _gold(value, left_out) if answerable else ((), ())
    return Question(
        question_id=question_id,
        user_id=question_id,
        half="dev",
        text=text,
        category=str(value.get("question_type") or "uncategorised"),
        gold=turns,
        gold_sessions=sessions,
        answer=as_text(value.get("answer")),
        answerable=answerable,
        asked_at=_asked_at(value, dates, left_out),
    )


def _gold(value: dict[str, Json], left_out: Counter[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the turns and of the sessions that answer a question."""
    haystack = dict(longmemeval.sessions(value))
    turns = tuple(
        longmemeval.turn_id(session, number)
        for session, said in haystack.items()
        for number, turn in enumerate(said, 1)
        if isinstance(turn, dict) and turn.get("has_answer") is True and isinstance(turn.get("content"), str)
    )
    named = list(dict.fromkeys(map(str, listed(value.get("answer_session_ids")))))
    sessions = tuple(session for session in named if session in haystack)
    if lost := len(named) - len(sessions):
        left_out[NO_SESSION] += lost
    return turns, sessions


def _asked_at(value: Mapping[str, Json], dates: DateReader | None, left_out: Counter[str]) -> str | None:
    written = value.get("question_date")
    if written is None:
        return None
    asked = longmemeval.timestamp(str(written), dates)
    if asked is None:
        left_out[NO_DATE] += 1
    return asked
