"""Every text that an evaluation of mnemic asks about or searches, as keys: none of it may be trained on.

LongMemEval's instances share their filler sessions, so a turn that nobody asks about can still lie in the haystack of
an evaluated question.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path

from mnemic.errors import InvalidFile

_WORD = re.compile(r"\w+")
_WORDS = 40
"""Enough to know a text by, and fewer than the data sets keep of a long one."""
_FILES = (
    "locomo/locomo10.json",
    "personamem/questions_32k.csv",
    "personamem/shared_contexts_32k.jsonl",
    "longmemeval/longmemeval_s_dev.jsonl.gz",
)


def key(text: str) -> str:
    """The first 40 words of a text, in lower case, without anything between them."""
    return " ".join(_WORD.findall(text.lower())[:_WORDS])


def keys(data: Path) -> frozenset[str]:
    """The keys of all questions and turns of LoCoMo, PersonaMem and the evaluated instances of LongMemEval.

    Args:
        data: ``MNEMIC_DATA``.

    Raises:
        InvalidFile: A data set is missing, so that nobody knows what it holds.
    """
    locomo, questions, contexts, longmemeval = (data / name for name in _FILES)
    for path in (locomo, questions, contexts, longmemeval):
        if not path.is_file():
            raise InvalidFile(f"{path} is missing: what is evaluated must be known before training; set MNEMIC_DATA")
    found: set[str] = set()
    for text in (*_locomo(locomo), *_personamem(questions, contexts), *_longmemeval(longmemeval)):
        found.add(key(text))
    return frozenset(found - {""})


def _locomo(path: Path) -> Iterator[str]:
    for sample in json.loads(path.read_text(encoding="utf-8")):
        yield from (asked["question"] for asked in sample["qa"])
        for session in sample["conversation"].values():
            if isinstance(session, list):
                yield from (message["text"] for message in session)


def _personamem(questions: Path, contexts: Path) -> Iterator[str]:
    with questions.open(encoding="utf-8", newline="") as rows:
        yield from (row["user_question_or_message"] for row in csv.DictReader(rows))
    with contexts.open(encoding="utf-8") as lines:
        for line in lines:
            for messages in json.loads(line).values():
                yield from (message["content"] for message in messages)


def _longmemeval(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for instance in map(json.loads, lines):
            yield instance["question"]
            for session in instance["haystack_sessions"]:
                yield from (turn["content"] for turn in session)
