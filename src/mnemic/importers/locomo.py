"""The LoCoMo benchmark, ``locomo10.json`` (Maharana et al. 2024): a user per conversation, a session per session.

User ids are the ``sample_id`` (``conv-41``), session ids the source's keys (``session_7``), turn ids its
``dia_id`` (``D7:16``). Every turn has the time of its session, taken as UTC. Questions, summaries and
observations are not part of the dialogue and are not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.records import Conversation, DateReader, Message, Record, Skipped
from mnemic.types import Json

_SESSION = re.compile(r"(session_\d+)(?:_date_time)?")
_DATE = re.compile(r"(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) ([a-z]+), (\d{4})", re.IGNORECASE)
_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip


def read(file: SourceFile, *, dates: DateReader | None = None) -> Iterator[Record]:
    """Yield one conversation for each session that has turns.

    Args:
        file: The array of conversations.
        dates: Asked about times that are not written as LoCoMo writes them; without it those are left out.

    Raises:
        Unusable: It is not JSON, or not of LoCoMo's shape.
    """
    for number, sample in enumerate(samples(file), 1):
        if isinstance(sample, dict) and isinstance(conversation := sample.get("conversation"), dict):
            yield from _sessions(str(sample.get("sample_id")), conversation, dates)
        else:
            yield Skipped("not a conversation", f"item {number}")


def samples(file: SourceFile) -> list[Json]:
    """The items of the file, at least one of which is a conversation.

    Raises:
        Unusable: It is not JSON, or not of LoCoMo's shape.
    """
    whole = file.json()
    if not isinstance(whole, list) or not any(is_sample(sample) for sample in whole):
        raise Unusable(file.path, 'is not LoCoMo (an array of objects with "sample_id" and "conversation")')
    return whole


def is_sample(value: Json) -> bool:
    """Whether a JSON value is one conversation of LoCoMo."""
    return isinstance(value, dict) and "sample_id" in value and isinstance(value.get("conversation"), dict)


def _sessions(user: str, conversation: dict[str, Json], dates: DateReader | None) -> Iterator[Record]:
    for session in dict.fromkeys(found[1] for key in conversation if (found := _SESSION.fullmatch(key))):
        place = f"{user}, {session}"
        written = conversation.get(f"{session}_date_time")
        timestamp = _timestamp(written)
        if timestamp is None and dates is not None and isinstance(written, str):
            timestamp = dates(written)
        if timestamp is None:
            yield Skipped("a session's time that cannot be read, left out", place)
        messages: list[Message] = []
        turns = conversation.get(session)
        for number, turn in enumerate(turns if isinstance(turns, list) else [], 1):
            message = _message(turn, timestamp)
            if message is None:
                yield Skipped("not a turn (speaker, dia_id, text)", f"{place}, turn {number}")
            else:
                messages.append(message)
        if messages:
            yield Conversation(user, session, tuple(messages))
        else:
            yield Skipped("a session without turns", place)


def _message(turn: Json, timestamp: str | None) -> Message | None:
    if not isinstance(turn, dict):
        return None
    speaker, turn_id, text = turn.get("speaker"), turn.get("dia_id"), turn.get("text")
    if not isinstance(speaker, str) or not isinstance(turn_id, str) or not isinstance(text, str):
        return None
    message: Message = {"id": turn_id, "role": "user", "name": speaker, "content": text}
    if timestamp is not None:
        message["timestamp"] = timestamp
    caption, urls = turn.get("blip_caption"), turn.get("img_url")
    if isinstance(caption, str) or urls:
        images = urls if isinstance(urls, list) and urls else [""]
        parts: list[Json] = [{"type": "text", "text": text}]
        for number, url in enumerate(images):
            # There is one caption a turn; a second picture has none.
            parts.append({"type": "image_url", "image_url": {"url": url}, "caption": "" if number else caption or ""})
        message["content"] = parts
    return message


def _timestamp(written: Json) -> str | None:
    """``1:56 pm on 8 May, 2023`` in ISO format, as UTC; None when it is no such time."""
    found = _DATE.fullmatch(written.strip()) if isinstance(written, str) else None
    if not found:
        return None
    hour, minute, half, day, month, year = found.groups()
    try:
        number = _MONTHS.index(month.lower()) + 1
        clock = int(hour) % 12 + (12 if half.lower() == "p" else 0)
        return datetime(int(year), number, int(day), clock, int(minute), tzinfo=UTC).isoformat()
    except ValueError:
        return None
