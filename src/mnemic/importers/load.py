"""Puts conversations into a memory: resumable, and one bad message does not stop the others."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from mnemic.algo import messages as shapes
from mnemic.algo.moments import zone
from mnemic.algo.scope import check_id, check_user
from mnemic.errors import InvalidInput, InvalidScope, NotFound
from mnemic.importers.ids import was_made
from mnemic.importers.records import Conversation, Exported, Message, Noted, Notice, Record, Skipped
from mnemic.importers.report import Report
from mnemic.importers.storable import UNFIT, storable
from mnemic.types import Json, Turn

if TYPE_CHECKING:
    from mnemic.memory import Memory

BATCH = 200
"""Most messages in one ``add``: what a kill loses, and what one transaction holds."""
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


def survey(source: Iterable[Record]) -> Report:
    """Read a source once without storing anything: how many messages it has, and what is left out of it.

    Raises:
        InvalidFile: The file as a whole cannot be used.
    """
    report = Report()
    sessions: set[int] = set()
    for record in _merged(source):
        if isinstance(record, Conversation):
            report.messages += len(record.messages)
            sessions.update(_sessions(record))
            if record.user_id is not None and record.user_id not in report.users:
                report.users.append(record.user_id)
        elif isinstance(record, Noted):
            report.given += 1
        elif not isinstance(record, Exported):
            report.skip(record)
    report.sessions = len(sessions)
    return report


def load(
    source: Iterable[Record],
    memory: Memory,
    *,
    user_id: str | None = None,
    timezone: str | None = None,
    advance: Callable[[int], None] = lambda count: None,
    embed: Literal["now", "later"] = "now",
    progress: Callable[[Report], None] = lambda report: None,
) -> Report:
    """Add conversations to a memory, in order; again, it adds only what is new.

    Args:
        source: From ``read`` or ``read_folder``.
        memory: Where to.
        user_id: Whose memory; the file's own users where None. When it differs from the user that the file
            names, that one's name goes before session and message ids (``conv-41/D7:16``), so that the
            conversations of several users do not mix.
        timezone: Of times that name no zone; the memory's own where None.
        advance: Told how many messages are done, each time some are.
        embed: When their vectors are made: see ``Memory.add``. With ``later`` the words are stored and found at once.
        progress: Given the report as it stands, after each piece: the same object, which goes on to change.

    Raises:
        InvalidInput: Neither ``user_id`` nor the file says whose memory; no user or timezone is called so.
        InvalidFile: The file as a whole cannot be used; what came before is stored.
        StoreError: The database; what came before is stored.
    """
    if user_id is not None:
        check_user(user_id)
    if timezone is not None:
        zone(timezone)
    report = Report()
    sessions: set[int] = set()
    noted: list[Noted] = []
    aim = _Aim(memory, timezone, embed)
    for record in _unless_written_back(source, aim, user_id, report, advance):
        if isinstance(record, Noted):
            noted.append(record)
            continue
        if not isinstance(record, Conversation):
            if not isinstance(record, Exported):  # it was written back, or its records come one by one
                report.skip(record)
            continue
        target = _held(_addressed(record, user_id), report)
        assert target.user_id is not None
        if target.user_id not in report.users:
            report.users.append(target.user_id)
        sessions.update(_sessions(target))
        report.sessions = len(sessions)
        for start in range(0, len(target.messages), BATCH):
            batch = target.messages[start : start + BATCH]
            _add(batch, target, aim, report)
            advance(len(batch))
            progress(report)
    if noted:
        # Last: they rest on the messages. An export does not say whose it is.
        _give(noted, check_user(user_id), memory, report)
    return report


@dataclass(frozen=True, slots=True)
class _Aim:
    """Where messages go, and how."""

    memory: Memory
    timezone: str | None
    embed: Literal["now", "later"]


def _merged(source: Iterable[Record]) -> Iterator[Record]:
    """The records; of an export its messages, for the rest is written back with them."""
    for record in source:
        if isinstance(record, Exported):
            yield from (one for one in record.merged() if isinstance(one, (Conversation, Skipped)))
        else:
            yield record


def _unless_written_back(
    source: Iterable[Record], aim: _Aim, user_id: str | None, report: Report, advance: Callable[[int], None]
) -> Iterator[Record]:
    """The records, without the exports that were written back into the empty memory of a user."""
    for record in source:
        if not isinstance(record, Exported):
            yield record
        elif not _written_back(record, aim, check_user(user_id), report, advance):
            report.skip(Notice(f"user {user_id!r} has a memory already: the export's messages are added to it"))
            yield from record.merged()


def _written_back(exported: Exported, aim: _Aim, user_id: str, report: Report, advance: Callable[[int], None]) -> bool:
    """Write an export back; whether the user's memory was empty, or has the first half of it from before a cut."""
    sessions: set[int] = set()
    # The lines of the records that were read last: a record is told about some hundreds later.
    numbers: deque[int] = deque(maxlen=1000)
    count = 0

    def records() -> Iterator[dict[str, Json]]:
        nonlocal count
        for line in exported.lines():
            if isinstance(line, Skipped):
                report.skip(line)
                continue
            line_number, value = line
            numbers.append(line_number)
            count += 1
            if "session_id" in value:
                sessions.add(hash(str(value["session_id"])))
            yield value

    def skipped(reason: str, number: int) -> None:
        report.skip(Skipped(reason, f"line {numbers[number - count - 1]}"))

    try:
        found = aim.memory.recover(records(), user_id=user_id, skipped=skipped, progress=advance)
    except InvalidScope:
        return False
    if aim.embed == "now":
        aim.memory.wait(user_id=user_id)
    report.users += [user_id] * (user_id not in report.users)
    report.sessions += len(sessions)
    report.messages += found.turns
    report.new += found.new
    report.restored += found.notes + found.operations + found.episodes
    return True


def _sessions(conversation: Conversation) -> set[int]:
    """What counts its sessions: hashes, for an export may have a million."""
    names = {str(message.get("session_id") or conversation.session_id) for message in conversation.messages}
    return {hash((conversation.user_id, session)) for session in names}


def _held(conversation: Conversation, report: Report) -> Conversation:
    """What of a conversation a memory can hold; what it cannot is counted."""
    held, unfit = storable(conversation)
    for where in unfit:
        report.skip(Skipped(UNFIT, f"session {held.session_id!r}, {where}"))
    return held


def _addressed(conversation: Conversation, user_id: str | None) -> Conversation:
    """The conversation as it goes to a user."""
    whose = conversation.user_id
    if user_id is None and whose is None:
        raise InvalidScope("the file does not say whose memory it is; name the user")
    if user_id is None or whose in (None, user_id):
        return replace(conversation, user_id=user_id or whose)
    return replace(
        conversation,
        user_id=user_id,
        session_id=f"{whose}/{conversation.session_id}",
        messages=tuple(_prefixed(message, whose) for message in conversation.messages),
    )


def _prefixed(message: Message, whose: str) -> Message:
    named = {key: f"{whose}/{message[key]}" for key in ("id", "session_id") if message.get(key) is not None}
    return {**message, **named}


def _add(messages: Sequence[Message], target: Conversation, aim: _Aim, report: Report) -> None:
    """Add what a memory takes of some messages; the rest is counted, for one of them would make it refuse them all."""
    assert target.user_id is not None
    turns: list[tuple[Message, Turn]] = []
    for message in messages:
        try:
            turns.append((message, _turn(message, target)))
        except InvalidInput as error:
            report.skip(Skipped(str(error).removeprefix("messages[0]: "), _place(target, message)))
    known = _Known(aim.memory, target.user_id, [turn.turn_id for _, turn in turns])
    usable: dict[str, Message] = {}
    for message, turn in turns:
        try:
            turn_id = known.settled_id(turn)
        except InvalidInput as error:
            report.skip(Skipped(str(error), _place(target, message)))
            continue
        if turn_id is None:
            report.skip(
                Skipped("an id that is stored with other words or another speaker; those stay", _place(target, message))
            )
        elif turn_id in usable:
            report.skip(Skipped("a message with the id of another one", _place(target, message)))
        else:
            usable[turn_id] = {**message, "id": turn_id}
    if not usable:
        return
    added = aim.memory.add(
        list(usable.values()),
        user_id=target.user_id,
        session_id=target.session_id,
        agent_id=target.agent_id,
        timezone=aim.timezone,
        metadata=target.metadata,
        embed=aim.embed,
    )
    report.messages += len(usable)
    report.new += added.new
    report.warnings.extend(warning for warning in added.warnings if warning not in report.warnings)


def _give(noted: Sequence[Noted], user_id: str, memory: Memory, report: Report) -> None:
    """Add given notes, all at once; where one cannot be used, by halves, so that it costs only itself."""
    try:
        added = memory.add_notes([one.note for one in noted], user_id=user_id)
    except (InvalidInput, NotFound) as error:
        if len(noted) == 1:
            report.skip(Skipped(str(error).removeprefix("notes[0]: "), noted[0].where))
            return
        middle = len(noted) // 2
        _give(noted[:middle], user_id, memory, report)
        _give(noted[middle:], user_id, memory, report)
        return
    report.given += len(noted)
    report.warnings.extend(warning for warning in added.warnings if warning not in report.warnings)


class _Known:
    """What is stored under the ids of some messages, read at once."""

    def __init__(self, memory: Memory, user_id: str, ids: Sequence[str]) -> None:
        self._memory = memory
        self._user_id = user_id
        self._turns = self._read([turn_id for turn_id in ids if not was_made(turn_id)])

    def settled_id(self, turn: Turn) -> str | None:
        """The id under which a message is stored, or will be; None when something else of its session has it.

        An id that another session has for something else, as where every file counts its own messages, is made unique
        with the session's name.

        Raises:
            InvalidInput: The id is too long then.
        """
        turn_id = turn.turn_id
        if was_made(turn_id):
            return turn_id
        known = self._turns.get(turn_id)
        if known is not None and known.session_id != turn.session_id and _said(known) != _said(turn):
            turn_id = check_id(f"{turn.session_id}/{turn_id}", "id")
            known = self._read([turn_id]).get(turn_id)
        return turn_id if known is None or _said(known) == _said(turn) else None

    def _read(self, ids: Sequence[str]) -> dict[str, Turn]:
        if not ids:
            return {}
        return {turn.turn_id: turn for turn in self._memory.get_all(user_id=self._user_id, turn_ids=ids)}


def _said(turn: Turn) -> tuple[str, str, str]:
    return turn.role, turn.speaker, turn.text


def _turn(message: Message, target: Conversation) -> Turn:
    """What a memory makes of a message. Raises InvalidInput."""
    [turn] = shapes.normalise(
        message,
        session_id=target.session_id,
        agent_id=target.agent_id,
        timestamp=None,
        timezone="UTC",
        metadata=target.metadata,
        now=_ANY_TIME,
        make_id=lambda: "",
    )
    return turn


def _place(target: Conversation, message: Message) -> str:
    return f"session {target.session_id!r}, message {message.get('id')!r}"
