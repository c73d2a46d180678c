"""Stable ids for messages that have none, so that importing an updated or cut file again adds only what is new."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter

from mnemic.importers.records import Message

_SIGNIFICANT = ("role", "name", "speaker", "timestamp", "content", "tool_calls", "tool_call_id")
_MADE = re.compile(r"(?:.*/)?h[0-9a-f]{20}(?:-\d+)?", re.DOTALL)


class StableIds:
    """Names each message by a hash of its place and words, and by how many equal ones came before it.

    So two people who say "ok" twice make four turns, and the same file read again names them the same.
    The price: in a file without times whose beginning was cut, the n-th "ok" of a speaker is taken for the
    n-th one of the earlier import.
    """

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def of(self, session: str, message: Message) -> str:
        """The id of the next message.

        Args:
            session: The session's name in the source, or what the unnamed sessions of a file share.
            message: Role, speaker, time and content count; other fields do not.
        """
        digest = fingerprint(session, message)
        self._seen[digest] += 1
        count = self._seen[digest]
        return digest if count == 1 else f"{digest}-{count}"


def fingerprint(session: str, message: Message) -> str:
    """A hash of what a message says, by whom, when and in which session."""
    key = json.dumps([session, [message.get(name) for name in _SIGNIFICANT]], sort_keys=True)
    return f"h{hashlib.sha256(key.encode()).hexdigest()[:20]}"


def was_made(message_id: str) -> bool:
    """Whether an id looks like one of ``StableIds``: then equal ids mean equal words."""
    return _MADE.fullmatch(message_id) is not None
