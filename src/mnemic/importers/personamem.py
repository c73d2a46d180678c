"""The PersonaMem benchmark, ``shared_contexts_32k.jsonl`` (Jiang et al. 2025): a user per shared context.

Turn ids are the message's index in its context, counted with everything that is left out. The prefixes
``User:`` and ``Assistant:`` go. System messages restate the persona, which a memory must learn from the dialogue
itself: they are left out and counted. A question sees its context up to an end index; where the questions lie
beside the contexts, a conversation ends at every such index, so that no trace reaches across it.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Iterator

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
            prefix = _PREFIX.match(content)
            words = content[prefix.end() :] if prefix else content
            messages.append({"id": str(index), "role": item.get("role"), "content": words})
    if messages:
        yield Conversation(user, SESSION, tuple(messages))


def _end_indices(file: SourceFile) -> dict[str, set[int]]:
    """Context id -> the end indices of its questions, from ``questions_<size>.csv`` beside the contexts."""
    ends: dict[str, set[int]] = defaultdict(set)
    name = file.path.name.removesuffix(".gz").removesuffix(".jsonl").replace("shared_contexts", "questions")
    path = file.path.with_name(f"{name}.csv")
    if name.startswith("questions") and path.is_file():
        try:
            with path.open(encoding="utf-8", newline="") as rows:
                for row in csv.DictReader(rows):
                    ends[row["shared_context_id"]].add(int(row["end_index_in_shared_context"]))
        except (csv.Error, KeyError, ValueError) as error:
            raise Unusable(path, "is not PersonaMem's questions", place=repr(error)) from error
    return ends
