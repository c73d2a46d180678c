"""PersonaMem (Jiang et al. 2025): four possible replies to what a person says, of which one fits what they said before.

A question sees the messages of its context with an index below ``end`` (methods.md 4.4). Several contexts are of one
person: the memory is the context's, the half is the person's.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path

from mnemic.bench.datasets import split
from mnemic.bench.datasets.parsed import Parsed
from mnemic.bench.records import Question
from mnemic.importers import personamem
from mnemic.importers.files import SourceFile, Unusable

NO_OPTIONS = "the options of a question, which cannot be read"


def read(path: Path, *, system_messages: bool = False) -> Parsed:
    """Read a file of contexts, with the questions beside it.

    Args:
        path: The contexts, ``shared_contexts_32k.jsonl``; the questions are in ``questions_32k.csv``.
        system_messages: Keep the messages that restate the persona. Results with and without do not compare.

    Raises:
        InvalidFile: A file is missing, or not what it should be.
    """
    asked = personamem.questions_path(path)
    if asked is None:
        raise Unusable(
            path,
            "does not say by its name where its questions are",
            way_out="call it shared_contexts_NAME.jsonl, and the questions questions_NAME.csv, in the same folder",
        )
    if not asked.is_file():
        raise Unusable(path, "has no questions beside it", way_out=f"they would be in {asked}")
    parsed = Parsed((path, asked))
    parsed.take(personamem.read(SourceFile.at(path), system_messages=system_messages))
    try:
        parsed.questions += map(_question, personamem.questions(asked))
    except KeyError as error:
        raise Unusable(asked, "is not PersonaMem's questions", place=f"it has no column {error}") from error
    if lost := sum(not question.options for question in parsed.questions):
        parsed.left_out[NO_OPTIONS] += lost
    return parsed


def _question(row: Mapping[str, str]) -> Question:
    return Question(
        question_id=row["question_id"],
        user_id=row["shared_context_id"],
        half=split.of_persona(row["persona_id"].strip()),
        text=personamem.without_prefix(row["user_question_or_message"]),
        category=row["question_type"],
        answer=row["correct_answer"].strip() or None,
        options=_options(row["all_options"]),
        end=personamem.end_index(row),
    )


def _options(written: str) -> tuple[str, ...]:
    """A list of texts, in JSON or as Python writes it: the file has both. Empty when it is neither."""
    try:
        options: object = json.loads(written)
    except ValueError:
        try:
            options = ast.literal_eval(written)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return ()
    except RecursionError:
        return ()
    return tuple(map(str, options)) if isinstance(options, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] - whatever the file holds
