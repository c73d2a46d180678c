"""The PersonaMem benchmark, ``shared_contexts_32k.jsonl`` (Jiang et al. 2025): a user per shared context.

Turn ids are the message's index in its context, counted with everything that is left out. The prefixes
``User:`` and ``Assistant:`` go. System messages restate the persona, which a memory must learn from the dialogue
itself: they are left out and counted. A question sees its context up to an end index; where the questions lie
beside the contexts, a conversation ends at every such index, so that no trace reaches across it.
"""

from __future__ import annotations

import csv
import io
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from mnemic.importers.files import SourceFile, Unusable, parse
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.types import Json

SESSION = "context"
_CONTEXT_ID = re.compile(r"[0-9a-f]{64}")
_PREFIX = re.compile(r"(?:User|Assistant): ?")


def read(file: SourceFile, *, system_messages: bool = False) -> Iterator[Record]:
    """Yield the pieces of each context, in order.

    Args:
        file: The contexts, one ``{id: [messages]}`` a line.
        system_messages: Keep the system messages too.

    Raises:
        Unusable: The questions beside it cannot be read.
    """
    ends = _end_indices(file)
    for line in file.lines():
        if isinstance(line, Skipped):
            yield line
            continue
        try:
            value = parse(line.text)
        except ValueError:
            yield Skipped("not JSON", f"line {line.number}")
            continue
        contexts = value if isinstance(value, dict) else {}
        if not contexts:
            yield Skipped("not a context", f"line {line.number}")
        for user, messages in contexts.items():
            yield from _pieces(user, messages if isinstance(messages, list) else [], ends[user], system_messages)


def is_contexts(value: Json) -> bool:
    """Whether a JSON value maps context ids to lists of messages."""
    return isinstance(value, dict) and bool(value) and all(_CONTEXT_ID.fullmatch(key) for key in value)


def _pieces(user: str, raw: list[Json], ends: Collection[int], system_messages: bool) -> Iterator[Record]:
    messages: list[Message] = []
    for index, item in enumerate(raw):
        if index in ends and messages:
            yield Conversation(user, SESSION, tuple(messages))
            messages = []
        place = f"context {user}, message {index}"
        content = item.get("content") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(content, str):
            yield Skipped("a message without content", place)
        elif item.get("role") == "system" and not system_messages:
            yield Skipped("a system message (it restates the persona)", place)
        else:
            messages.append({"id": str(index), "role": item.get("role"), "content": without_prefix(content)})
    if messages:
        yield Conversation(user, SESSION, tuple(messages))


def without_prefix(content: str) -> str:
    """The words of a message, without the name of who says them."""
    prefix = _PREFIX.match(content)
    return content[prefix.end() :] if prefix else content


def questions_path(contexts: Path) -> Path | None:
    """Where the questions about a file of contexts lie: ``questions_32k.csv`` beside ``shared_contexts_32k.jsonl``.

    It may be missing; None when the file of contexts is not named so.
    """
    name = contexts.name.removesuffix(".gz").removesuffix(".jsonl")
    if not name.startswith("shared_contexts"):
        return None
    return contexts.with_name(f"{name.replace('shared_contexts', 'questions')}.csv")


def end_index(row: Mapping[str, str]) -> int:
    """The index of the first message of its context that a question does not see.

    Raises:
        KeyError: The row has no such field.
        ValueError: It holds no number.
    """
    return int(row["end_index_in_shared_context"])


def questions(path: Path) -> list[dict[str, str]]:
    """The rows of a file of questions; each names its context and end index.

    Raises:
        Unusable: It is not CSV in UTF-8, or has other columns.
    """
    text = SourceFile.at(path).text()
    try:
        rows = [
            {key: value or "" for key, value in row.items()} for row in csv.DictReader(io.StringIO(text, newline=""))
        ]
        for row in rows:
            _ = row["shared_context_id"], end_index(row)
    except (csv.Error, KeyError, ValueError) as error:
        raise Unusable(path, "is not PersonaMem's questions", place=repr(error)) from error
    return rows


def _end_indices(file: SourceFile) -> dict[str, set[int]]:
    """Context id -> the end indices of its questions, from the questions beside the contexts."""
    ends: dict[str, set[int]] = defaultdict(set)
    path = questions_path(file.path)
    if path is not None and path.is_file():
        for row in questions(path):
            ends[row["shared_context_id"]].add(end_index(row))
    return ends
