"""The published corrections of LoCoMo's gold annotations, ``audit_errors.json`` (dial481/locomo-audit).

Each names its question by the place of the conversation in the file and that of the question in it
(``locomo_3_qa66``), repeats the question's text and wrong answer, and gives a right answer and right evidence. Where it
says that nothing can be known, it says so in words; such a question stays answerable here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mnemic.bench.datasets.parsed import as_text, listed
from mnemic.bench.datasets.split import LOCOMO
from mnemic.importers.files import SourceFile, Unusable
from mnemic.types import Json

_QUESTION_ID = re.compile(r"locomo_(\d+)_qa\d+")
UNREADABLE = "a published correction that cannot be read"
UNMATCHED = "a published correction whose question, with its wrong answer, is not in the file"

Key = tuple[str, str, str]
"""Conversation (``conv-26``), question, and the answer that is corrected."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What is right.

    Attributes:
        answer: As text.
        evidence: References to turns, as written; may be empty.
    """

    answer: str
    evidence: tuple[Json, ...]


def read(path: Path) -> tuple[dict[Key, Correction], Counter[str]]:
    """Read the corrections.

    Returns:
        What is corrected -> how; and reason -> how many could not be read.

    Raises:
        InvalidFile: It is not JSON, or not an array.
    """
    whole = SourceFile.at(path).json()
    if not isinstance(whole, list):
        raise Unusable(path, "is not LoCoMo's corrections (an array of objects)")
    found: dict[Key, Correction] = {}
    left_out: Counter[str] = Counter()
    for entry in whole:
        one = _correction(entry) if isinstance(entry, dict) else None
        if one is None or one[0] in found:
            left_out[UNREADABLE] += 1
        else:
            found[one[0]] = one[1]
    return found, left_out


def _correction(entry: Mapping[str, Json]) -> tuple[Key, Correction] | None:
    named = _QUESTION_ID.fullmatch(str(entry.get("question_id")))
    question, wrong, right = entry.get("question"), as_text(entry.get("golden_answer")), entry.get("correct_answer")
    answer = as_text(right)
    if named is None or int(named[1]) >= len(LOCOMO) or not isinstance(question, str) or wrong is None or not answer:
        return None
    evidence = tuple(listed(entry.get("correct_evidence")))
    return (LOCOMO[int(named[1])], question, wrong), Correction(answer, evidence)
