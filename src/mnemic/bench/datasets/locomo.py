"""LoCoMo (Maharana et al. 2024): ten dialogues of two people, with questions and the turns that answer them.

What is peculiar about its file (methods.md 4.1) is handled here and in the importer: dates of sessions that have no
turns, malformed evidence, answers that are numbers, texts of questions that come again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mnemic.bench.datasets import corrections, evidence, split
from mnemic.bench.datasets.parsed import Parsed, as_text, listed
from mnemic.bench.records import Question
from mnemic.importers import Conversation, locomo
from mnemic.importers.files import SourceFile
from mnemic.importers.records import DateReader
from mnemic.types import Json

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_UNANSWERABLE = "adversarial"

NO_TEXT = "a question without text"
NO_TURN = "a piece of evidence that names no turn of its conversation"


@dataclass(frozen=True, slots=True)
class _Gold:
    """What a question's annotation says, after correction."""

    answer: str | None
    evidence: tuple[Json, ...]


def read(path: Path, *, corrected_by: Path | None = None, dates: DateReader | None = None) -> Parsed:
    """Read LoCoMo's file.

    Args:
        path: The array of conversations.
        corrected_by: The published corrections, which replace the answers and evidence that they name.
        dates: Reads times in other forms than LoCoMo's own.

    Raises:
        InvalidFile: A file is not what it should be.
    """
    file = SourceFile.at(path)
    parsed = Parsed((path,) if corrected_by is None else (path, corrected_by))
    parsed.take(locomo.read(file, dates=dates))
    right: dict[corrections.Key, corrections.Correction] = {}
    if corrected_by is not None:
        right, unreadable = corrections.read(corrected_by)
        parsed.left_out.update(unreadable)
    sessions = sessions_of_turns(parsed.conversations)
    for sample in locomo.samples(file):
        if isinstance(sample, dict) and locomo.is_sample(sample):
            _questions(str(sample["sample_id"]), sample, sessions, right, parsed)
    if right:
        parsed.left_out[corrections.UNMATCHED] += len(right)
    return parsed


def sessions_of_turns(conversations: list[Conversation]) -> dict[str, dict[str, str]]:
    """User id -> turn id -> the session it is in."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for conversation in conversations:
        turns = found[str(conversation.user_id)]
        turns.update((str(message["id"]), conversation.session_id) for message in conversation.messages)
    return found


def _questions(
    user: str,
    sample: Mapping[str, Json],
    sessions: Mapping[str, Mapping[str, str]],
    right: dict[corrections.Key, corrections.Correction],
    parsed: Parsed,
) -> None:
    """Add the questions of one conversation; what corrects one of them is taken out of ``right``."""
    for number, asked in enumerate(listed(sample.get("qa"))):
        text = asked.get("question") if isinstance(asked, dict) else None
        if not isinstance(asked, dict) or not isinstance(text, str) or not text.strip():
            parsed.left_out[NO_TEXT] += 1
            continue
        gold = _gold(user, text, asked, right)
        found = _question(f"{user}/{number}", user, text, asked, gold, sessions.get(user, {}), parsed.left_out)
        parsed.questions.append(found)


def _gold(
    user: str, text: str, asked: Mapping[str, Json], right: dict[corrections.Key, corrections.Correction]
) -> _Gold:
    answer = as_text(asked.get("answer"))
    correction = None if answer is None else right.pop((user, text, answer), None)
    if correction is not None:
        return _Gold(correction.answer, correction.evidence)
    return _Gold(answer, tuple(listed(asked.get("evidence"))))


def _question(
    question_id: str,
    user: str,
    text: str,
    asked: Mapping[str, Json],
    gold: _Gold,
    sessions: Mapping[str, str],
    left_out: Counter[str],
) -> Question:
    number = asked.get("category")
    category = CATEGORIES.get(number, str(number)) if isinstance(number, int) else "uncategorised"
    half = split.of_conversation(user)
    if category == _UNANSWERABLE:
        # The file's evidence shows where the question's false assumption comes from; two have an answer, "No".
        return Question(question_id, user, half, text, category, answerable=False)
    turns, lost = evidence.turn_ids(gold.evidence, sessions)
    if lost:
        left_out[NO_TURN] += lost
    of_gold = tuple(dict.fromkeys(sessions[turn] for turn in turns))
    return Question(question_id, user, half, text, category, turns, of_gold, gold.answer)
