r"""The ``text`` format: a plain transcript.

::

    # Session 3, 2024-03-01
    [2024-03-01 10:22] Ana: Did you find the key?
    2024-03-01 10:23 - Bo: Yes. It was
    in my other coat.
    [10:25] Ana: Good.

A message starts with ``Name: `` (at most 40 characters; ``：`` too), after an optional time in ISO order, in
brackets or not. Any other line continues the message above it; once the first message has a time, so does
every message, and a line ``Note: milk`` without one is a continuation. An indented line always is.

A session starts at a heading ``# Session ...``, at a line with nothing but a date, and, in a file that has
neither, at a blank line, unless blank lines stand between most messages. A date in such a line is the date of
the messages below it that give none.

``Assistant``, ``AI``, ``Bot`` and ``System`` speak in their own roles, everyone else as a user.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.ids import StableIds
from mnemic.importers.records import Conversation, Message, Record, Skipped

_DAY = r"(?P<date>\d{4}-\d{2}-\d{2})"
_TIME = r"(?P<time>\d{1,2}:\d{2}(?::\d{2})?)"
_MOMENT = rf"{_DAY}(?:[T ,]{{1,2}}{_TIME} ?(?P<zone>Z|[+-]\d{{2}}:?\d{{2}})?)?"
_STAMP = rf"(?:{_MOMENT}|(?P<clock>\d{{1,2}}:\d{{2}}(?::\d{{2}})?))"
_WORD = r"[^\s:：\[\]<>{}|/\\\"]{1,40}"
_NAME = rf"(?P<name>[^\W\d_](?:{_WORD})?(?: {_WORD}){{0,3}})"
_MESSAGE = re.compile(rf"(?:(?P<open>\[)?{_STAMP}(?(open)\]) ?[-–—]? ?)?{_NAME}(?::(?: |$)|：\s?)")
_HEADING = re.compile(r"#{1,6} +session\b.*|(?:#{1,6} +|[-=]{2,} *)?\d{4}-\d{2}-\d{2}(?: *[-=]{2,})?", re.IGNORECASE)
_HEADING_MOMENT = re.compile(_MOMENT)

_ROLES = {"assistant": "assistant", "ai": "assistant", "bot": "assistant", "chatbot": "assistant", "system": "system"}


def read(file: SourceFile) -> Iterator[Record]:
    """Yield one conversation for each session of the transcript.

    Raises:
        Unusable: It is not UTF-8, or no line starts a message.
    """
    transcript = _Transcript(file.text().replace("\r\n", "\n").split("\n"))
    if not transcript.starts:
        raise Unusable(file.path, "has no line that starts with a speaker ('Name: words')")
    sessions = transcript.sessions(file.session)
    yield from transcript.skipped
    ids = StableIds()
    for session in sessions:
        messages: list[Message] = []
        for said in session.said:
            message = said.message()
            if message["content"]:
                message["id"] = ids.of(session.key, message)
                messages.append(message)
            else:
                yield Skipped("a message without words", f"line {said.line}")
        if messages:
            yield Conversation(None, session.name, tuple(messages))
        elif session.key != file.session:
            yield Skipped("a session without messages", f"session {session.name!r}")


def looks_like(text: str) -> bool:
    """Whether a text is a transcript, rather than prose with a line ``Note: words`` in it.

    So it is when a line has a time and a speaker; when the first line, headings aside, or half of all lines have
    a speaker; or when two speakers take turns.
    """
    lines = [line for line in text.split("\n") if line.strip() and not _HEADING.fullmatch(line.strip())]
    starts = [found for line in lines if (found := _MESSAGE.match(line))]
    if not starts:
        return False
    turns = Counter(start["name"] for start in starts)
    return (
        any(map(_stamped, starts))
        or starts[0].string == lines[0]
        or 2 * len(starts) >= len(lines)
        or sum(count > 1 for count in turns.values()) > 1
    )


@dataclass(slots=True)
class _Said:
    """A message while its lines are read."""

    line: int
    speaker: str
    timestamp: str | None
    lines: list[str]

    def message(self) -> Message:
        """The message; its words end before trailing blank lines, and may begin on the line after the name."""
        lines = self.lines[1:] if len(self.lines) > 1 and not self.lines[0] else self.lines[:]
        while lines and not lines[-1].strip():
            lines.pop()
        message: Message = {"role": _ROLES.get(self.speaker.lower(), "user"), "name": self.speaker}
        if self.timestamp is not None:
            message["timestamp"] = self.timestamp
        message["content"] = "\n".join(lines)
        return message


@dataclass(slots=True)
class _Session:
    """A session while it is read; ``key`` stands for it in message ids and does not depend on its number."""

    name: str
    key: str
    said: list[_Said] = field(default_factory=list[_Said])


class _Transcript:
    """The lines of a transcript, and what they are.

    Attributes:
        starts: Line index -> how a message starts there.
        skipped: What was left out; complete after ``sessions``.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._headings = {i for i, line in enumerate(lines) if _HEADING.fullmatch(line.strip())}
        starts = {i: found for i, line in enumerate(lines) if (found := _MESSAGE.match(line))}
        if starts and _stamped(next(iter(starts.values()))):
            starts = {i: found for i, found in starts.items() if _stamped(found)}
        self.starts = {i: found for i, found in starts.items() if i not in self._headings}
        self.skipped: list[Skipped] = []
        self._date: str | None = None

    def sessions(self, file_name: str) -> list[_Session]:
        """Read the lines into sessions, in order; a heading that comes again goes on with its session."""
        sessions = [_Session(file_name, file_name)]
        separated = self._blank_lines_separate()
        for i, line in enumerate(self._lines):
            said = sessions[-1].said
            if i in self._headings:
                name = f"{file_name}/{line.strip(' #-=')}"
                sessions.append(_Session(name, name))
                self._timestamp(_HEADING_MOMENT.search(line), i)
            elif start := self.starts.get(i):
                if separated and said and not self._lines[i - 1].strip():
                    sessions.append(_Session(f"{file_name}/{len(sessions) + 1}", file_name))
                timestamp = self._timestamp(start, i)
                sessions[-1].said.append(_Said(i + 1, start["name"], timestamp, [line[start.end() :]]))
            elif said:
                said[-1].lines.append(line)
            elif line.strip():
                self.skipped.append(Skipped("text before the first speaker", f"line {i + 1}"))
        return sessions

    def _blank_lines_separate(self) -> bool:
        after_blank = sum(1 for i in self.starts if i and not self._lines[i - 1].strip())
        return not self._headings and 2 * after_blank < len(self.starts)

    def _timestamp(self, found: re.Match[str] | None, i: int) -> str | None:
        """The time of a line in ISO format, with the date of the lines above where it has none itself."""
        parts = found.groupdict() if found else {}
        day, clock = parts.get("date") or self._date, parts.get("time") or parts.get("clock")
        if day is None:
            if clock:
                self.skipped.append(Skipped("a time without a date, left out", f"line {i + 1}"))
            return None
        clock = f"0{clock}" if clock and clock[1] == ":" else clock
        try:
            moment = datetime.fromisoformat(f"{day}T{clock}{parts.get('zone') or ''}" if clock else day)
        except ValueError:
            self.skipped.append(Skipped("a time that does not exist, left out", f"line {i + 1}"))
            return None
        self._date = day
        return moment.isoformat() if clock else day


def _stamped(found: re.Match[str]) -> bool:
    return (found["date"] or found["clock"]) is not None
