"""Loads a data set by its name, or a file in the form of one."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from mnemic import importers
from mnemic.bench.datasets import dates, locomo, longmemeval, personamem
from mnemic.bench.datasets.parsed import Parsed
from mnemic.bench.records import Dataset, DatasetName, Half, Question, Split
from mnemic.errors import InvalidFile, InvalidInput
from mnemic.importers import Conversation

FILES: Mapping[DatasetName, str] = {
    "locomo": "locomo/locomo10.json",
    "personamem": "personamem/shared_contexts_32k.jsonl",
    "longmemeval": "longmemeval/longmemeval_s_dev.jsonl.gz",
}
"""Where each data set lies below ``MNEMIC_DATA``."""
CORRECTIONS = "audit_errors.json"

UNASKED = "a user whom no question is about"
UNKNOWN_USER = "a question about a memory that is not in the file"


def load(
    name: DatasetName | None,
    split: Split,
    *,
    data: Path,
    file: Path | None = None,
    gold: Literal["original", "corrected"] = "original",
    system_messages: bool = False,
) -> Dataset:
    """Load a data set.

    Halves are those of ``split``: with a file of one's own, users that the data sets do not know are in ``dev``. Times
    that are not in the data set's own form are read in whatever form ``dateparser`` reads, else left out and counted.
    ``left_out`` counts over the whole file, whatever the split.

    Args:
        name: Which; told by the content of ``file`` when None.
        split: Which half of its users.
        data: The folder of the data sets (``MNEMIC_DATA``).
        file: Another file in the same form: plain or gzip; for PersonaMem the contexts, with the questions beside it.
        gold: ``corrected`` takes LoCoMo's published corrections, from beside the file or else from ``data``.
        system_messages: PersonaMem: keep the messages that restate the persona.

    Raises:
        InvalidInput: Neither a name nor a file; corrections of another data set than LoCoMo; an empty half.
        InvalidFile: A file is missing, or not what it should be.
        MissingExtra: A time is in another form, and ``dateparser`` is not installed.
    """
    path, name = _found(name, file, data)
    if gold == "corrected" and name != "locomo":
        raise InvalidInput(f"{name} has no published corrections, only LoCoMo has: take the original gold")
    if name == "locomo":
        corrected_by = _corrections(path, data) if gold == "corrected" else None
        parsed = locomo.read(path, corrected_by=corrected_by, dates=dates.iso)
    elif name == "personamem":
        parsed = personamem.read(path, system_messages=system_messages)
    else:
        parsed = longmemeval.read(path, dates=dates.iso)
    conversations = _by_user(parsed.conversations)
    questions = _usable(parsed, conversations, name, path)
    chosen = _of_split(questions, split, path)
    asked = {question.user_id for question in chosen}
    return Dataset(
        name=name,
        split=split,
        checksum=checksum(parsed.files),
        conversations={user: found for user, found in conversations.items() if user in asked},
        questions=tuple(chosen),
        left_out=dict(parsed.left_out),
        gold=gold,
    )


def checksum(files: Iterable[Path]) -> str:
    """SHA-256 of the bytes of some files, one after the other, in hex."""
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as stream:
            while piece := stream.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def locate(name: DatasetName, data: Path) -> Path:
    """Where a data set lies.

    Args:
        name: Which.
        data: The folder of the data sets (``MNEMIC_DATA``).

    Raises:
        InvalidFile: It is not there.
    """
    path = data / FILES[name]
    if not path.is_file():
        raise InvalidFile(
            f"{path}: there is no such file; set MNEMIC_DATA to the folder that holds {FILES[name]}, or give the file"
        )
    return path


def _found(name: DatasetName | None, file: Path | None, data: Path) -> tuple[Path, DatasetName]:
    if file is not None:
        return file, name or _detected(file)
    if name is None:
        raise InvalidInput(f"name a data set ({', '.join(FILES)}) or give a file")
    return locate(name, data), name


def _detected(path: Path) -> DatasetName:
    found = importers.read(path).format
    for name in FILES:
        if name == found:
            return name
    raise InvalidFile(
        f"{path}: holds conversations without questions ({found}); give a file in the form of {', '.join(FILES)}"
    )


def _corrections(path: Path, data: Path) -> Path:
    places = [path.with_name(CORRECTIONS), (data / FILES["locomo"]).with_name(CORRECTIONS)]
    for place in places:
        if place.is_file():
            return place
    looked = " or ".join(dict.fromkeys(map(str, places)))
    raise InvalidFile(f"{path}: its corrections are not there; they would be in {looked}")


def _by_user(conversations: Iterable[Conversation]) -> dict[str, tuple[Conversation, ...]]:
    """User id -> conversations, oldest first; users in the order of the file."""
    found: dict[str, list[Conversation]] = {}
    for conversation in conversations:
        found.setdefault(str(conversation.user_id), []).append(conversation)
    return {user: _oldest_first(several) for user, several in found.items()}


def _oldest_first(conversations: list[Conversation]) -> tuple[Conversation, ...]:
    """In the order of their times; one without a time stays behind the one before it."""
    moments: list[datetime] = []
    last = datetime.min.replace(tzinfo=UTC)
    for conversation in conversations:
        written = conversation.messages[0].get("timestamp")
        last = datetime.fromisoformat(written) if isinstance(written, str) else last
        moments.append(last)
    order = sorted(range(len(moments)), key=moments.__getitem__)
    return tuple(conversations[i] for i in order)


def _usable(
    parsed: Parsed, conversations: Mapping[str, tuple[Conversation, ...]], name: DatasetName, path: Path
) -> list[Question]:
    """The questions that can be asked; the others, and the users whom nobody asks about, are counted."""
    questions = [question for question in parsed.questions if question.user_id in conversations]
    if lost := len(parsed.questions) - len(questions):
        parsed.left_out[UNKNOWN_USER] += lost
    if unasked := len(conversations.keys() - {question.user_id for question in questions}):
        parsed.left_out[UNASKED] += unasked
    if not questions:
        left_out = "; ".join(f"{reason}: {count}" for reason, count in parsed.left_out.items())
        raise InvalidFile(f"{path}: holds no question of {name}{f' (left out: {left_out})' * bool(left_out)}")
    repeated = [text for text, count in Counter(question.question_id for question in questions).items() if count > 1]
    if repeated:
        raise InvalidFile(
            f"{path}: {len(repeated)} names of questions come again, {repeated[0]!r} first; make them unique"
        )
    return questions


def _of_split(questions: list[Question], split: Split, path: Path) -> list[Question]:
    chosen = [question for question in questions if split in (question.half, "all")]
    if not chosen:
        other: Half = "dev" if split == "test" else "test"
        raise InvalidInput(
            f"{path}: none of its {len(questions)} questions is in the {split} half; take the split {other}, or all"
        )
    return chosen
