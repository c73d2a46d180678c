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
from mnemic.importers.records import Conversation, DateReader, Message, Record, Skipped
from mnemic.types import Json

_WEEKDAY = re.compile(r" \([A-Za-z]{3}\) ")


def read(file: SourceFile, *, dates: DateReader | None = None) -> Iterator[Record]:
    """Yield one conversation for each session of each question.

    Args:
        file: One question a line, or the published array of questions.
        dates: Asked about times that are not written as LongMemEval writes them; without it those are left out.

    Raises:
        Unusable: It is an array that is not JSON.
    """
    for item in items(file):
        if isinstance(item, Skipped):
            yield item
        else:
            yield from _question(*item, dates)


def items(file: SourceFile) -> Iterator[tuple[Json, str] | Skipped]:
    """The values of the file, each with its place.

    Raises:
        Unusable: It is an array that is not JSON.
    """
    if file.head(64).lstrip()[:1] == b"[":
        whole = file.json()
        for number, value in enumerate(whole if isinstance(whole, list) else [], 1):
            yield value, f"item {number}"
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
            yield value, place


def is_question(value: Json) -> bool:
    """Whether a JSON value is one question of LongMemEval with its haystack."""
    return isinstance(value, dict) and "question_id" in value and isinstance(value.get("haystack_sessions"), list)


def sessions(question: dict[str, Json]) -> Iterator[tuple[str, list[Json]]]:
    """The sessions of a question's haystack, by their ids."""
    haystack = question.get("haystack_sessions")
    names = _texts(question.get("haystack_session_ids"))
    seen: Counter[str] = Counter()
    for number, turns in enumerate(haystack if isinstance(haystack, list) else []):
        name = names[number] if number < len(names) else f"session_{number + 1}"
        seen[name] += 1
        yield name if seen[name] == 1 else f"{name}#{seen[name]}", turns if isinstance(turns, list) else []


def turn_id(session: str, number: int) -> str:
    """The id of a session's turn, counted from 1."""
    return f"{session}_{number}"


def timestamp(written: str, dates: DateReader | None = None) -> str | None:
    """``2023/04/25 (Tue) 04:07``, or ISO format, in ISO format, as UTC; None when it is no such time.

    Args:
        written: The time.
        dates: Asked about what is no such time.
    """
    try:
        moment = datetime.fromisoformat(_WEEKDAY.sub(" ", written).replace("/", "-"))
    except ValueError:
        return dates(written) if dates is not None else None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _question(value: Json, place: str, dates: DateReader | None) -> Iterator[Record]:
    if not isinstance(value, dict) or not is_question(value):
        yield Skipped("not a question with haystack_sessions", place)
        return
    user = str(value["question_id"])
    written = _texts(value.get("haystack_dates"))
    for number, (session, turns) in enumerate(sessions(value)):
        when = timestamp(written[number], dates) if number < len(written) else None
        if when is None:
            yield Skipped("a session's time that cannot be read, left out", f"{user}, session {session!r}")
        yield from _session(user, session, turns, when)


def _session(user: str, session: str, turns: list[Json], when: str | None) -> Iterator[Record]:
    place = f"{user}, session {session!r}"
    messages: list[Message] = []
    for number, turn in enumerate(turns, 1):
        content = turn.get("content") if isinstance(turn, dict) else None
        if not isinstance(turn, dict) or not isinstance(content, str):
            yield Skipped("a turn without content", f"{place}, turn {number}")
            continue
        message: Message = {"id": turn_id(session, number), "role": turn.get("role"), "content": content}
        if when is not None:
            message["timestamp"] = when
        messages.append(message)
    if messages:
        yield Conversation(user, session, tuple(messages))
    else:
        yield Skipped("a session without turns", place)


def _texts(value: Json) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []
