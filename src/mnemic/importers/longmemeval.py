"""The LongMemEval benchmark (Wu et al. 2024): a user per question, with the sessions of its haystack.

User ids are the ``question_id``, session ids the ``haystack_session_ids`` (made unique where one comes again),
times the ``haystack_dates``, taken as UTC. Turn ids are the session and the turn's place in it, ``ab12_3``, as in
the benchmark's own retrieval script. Question and answer labels are not part of the dialogue and are not read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from mnemic.importers.files import SourceFile, parse
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.types import Json

_WEEKDAY = re.compile(r" \([A-Za-z]{3}\) ")


def read(file: SourceFile) -> Iterator[Record]:
    """Yield one conversation for each session of each question.

    One question a line, or the published array of questions.

    Raises:
        Unusable: It is an array that is not JSON.
    """
    if file.head(64).lstrip()[:1] == b"[":
        whole = file.json()
        for number, value in enumerate(whole if isinstance(whole, list) else [], 1):
            yield from _question(value, f"item {number}")
        return
    for line in file.lines():
        if isinstance(line, Skipped):
            yield line
            continue
        place = f"line {line.number}"
        try:
            value = parse(line.text)
        except ValueError:
            yield Skipped("not JSON", place)
        else:
            yield from _question(value, place)


def is_question(value: Json) -> bool:
    """Whether a JSON value is one question of LongMemEval with its haystack."""
    return isinstance(value, dict) and "question_id" in value and isinstance(value.get("haystack_sessions"), list)


def _question(value: Json, place: str) -> Iterator[Record]:
    sessions = value.get("haystack_sessions") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(sessions, list) or "question_id" not in value:
        yield Skipped("not a question with haystack_sessions", place)
        return
    user = str(value["question_id"])
    names, dates = _texts(value.get("haystack_session_ids")), _texts(value.get("haystack_dates"))
    seen: Counter[str] = Counter()
    for number, turns in enumerate(sessions):
        name = names[number] if number < len(names) else f"session_{number + 1}"
        seen[name] += 1
        session = name if seen[name] == 1 else f"{name}#{seen[name]}"
        timestamp = _timestamp(dates[number]) if number < len(dates) else None
        if timestamp is None:
            yield Skipped("a session's time that cannot be read, left out", f"{user}, session {session!r}")
        yield from _session(user, session, turns if isinstance(turns, list) else [], timestamp)


def _session(user: str, session: str, turns: list[Json], timestamp: str | None) -> Iterator[Record]:
    place = f"{user}, session {session!r}"
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        content = turn.get("content") if isinstance(turn, dict) else None
        if not isinstance(turn, dict) or not isinstance(content, str):
            yield Skipped("a turn without content", f"{place}, turn {number}")
            continue
        message: Message = {"id": f"{session}_{number}", "role": turn.get("role"), "content": content}
        if timestamp is not None:
            message["timestamp"] = timestamp
        messages.append(message)
    if messages:
        yield Conversation(user, session, tuple(messages))
    else:
        yield Skipped("a session without turns", place)


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _timestamp(written: str) -> str | None:
    """``2023/04/25 (Tue) 04:07``, or ISO format, in ISO format, as UTC; None when it is no such time."""
    try:
        moment = datetime.fromisoformat(_WEEKDAY.sub(" ", written).replace("/", "-"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()
