"""The ``slack`` format: a workspace's export, as zip file or as the folder it was unpacked to.

Each channel is a session, and each thread one of its own, with the message that began it:
``general/1717434300.000100``. A message's id is its channel and its ``ts``.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field

from mnemic.importers import archive
from mnemic.importers.files import SourceFile, Unusable
from mnemic.importers.items import items
from mnemic.importers.loose import kept, listed, mapping, name, set_time, words
from mnemic.importers.records import Conversation, Message, Record, Skipped
from mnemic.importers.slack_words import said
from mnemic.types import Json

OWN = "a line of Slack's own (who joined or left, a new topic)"

LISTS = ("channels.json", "groups.json", "dms.json", "mpims.json")
"""The files that name channels."""
_DAY = re.compile(r"(?P<channel>[^/]+)/\d{4}-\d{2}-\d{2}\.json")
_SPOKEN = (None, "bot_message", "file_share", "me_message", "thread_broadcast", "huddle_thread", "reply_broadcast")


def is_export(names: Container[str]) -> bool:
    """Whether these files are those of an export."""
    return "users.json" in names and any(name in names for name in LISTS)


def read(file: SourceFile) -> Iterator[Record]:
    """Yield each day of each channel, and of each thread in it.

    Raises:
        Unusable: It is neither a zip file nor a folder, or holds no day of a channel.
    """
    if not (file.path.is_dir() or archive.is_zip(file)):
        raise Unusable(
            file.path, "is no export of Slack", way_out="give its zip file, or the folder it was unpacked to"
        )
    members = archive.members(file)
    days = {name: found["channel"] for name in members if (found := _DAY.fullmatch(name))}
    if not days:
        raise Unusable(file.path, "has no day of a channel (general/2024-06-03.json)")
    people = _People()
    yield from people.read(members)
    channels: dict[str, str] = {}
    for listing in LISTS:
        if listing in members:
            channels |= _named(members[listing])
    for path, channel in days.items():
        yield from _day(members[path], path, channels.get(channel, channel), people)


@dataclass(slots=True)
class _People:
    """The names of the workspace's people, by their ids."""

    names: dict[str, str] = field(default_factory=dict[str, str])
    bots: set[str] = field(default_factory=set[str])

    def read(self, members: Mapping[str, SourceFile]) -> Iterator[Skipped]:
        """Take them from ``users.json``."""
        if "users.json" not in members:
            return
        for item in items(members["users.json"]):
            if isinstance(item, Skipped):
                yield Skipped(item.reason, f"users.json, {item.where}")
                continue
            person = mapping(item.value)
            profile = mapping(person.get("profile"))
            called = (
                profile.get("display_name"),
                person.get("real_name"),
                profile.get("real_name"),
                person.get("name"),
            )
            if (identity := name(person.get("id"))) is not None:
                self.names[identity] = next((one for one in called if isinstance(one, str) and one.strip()), identity)
                if person.get("is_bot") is True:
                    self.bots.add(identity)


def _named(file: SourceFile) -> dict[str, str]:
    """The folder of each channel -> its name: a direct message's folder is called by its id."""
    found = (mapping(item.value) for item in items(file) if not isinstance(item, Skipped))
    return {str(one["id"]): str(one["name"]) for one in found if name(one.get("id")) and name(one.get("name"))}


def _day(file: SourceFile, path: str, channel: str, people: _People) -> Iterator[Record]:
    sessions: dict[str, list[Message]] = {}
    for item in items(file):
        if isinstance(item, Skipped):
            yield Skipped(item.reason, f"{path}, {item.where}")
            continue
        place = f"{path}, message {item.number}"
        raw = mapping(item.value)
        message = _message(raw, channel, people)
        if isinstance(message, str):
            yield Skipped(message, place)
            continue
        if (wrong := set_time(message, raw.get("ts"), place)) is not None:
            yield wrong
        thread = name(raw.get("thread_ts"))
        sessions.setdefault(channel if thread is None else f"{channel}/{thread}", []).append(message)
    for session, messages in sessions.items():
        linked = {} if session == channel else {"thread_of": f"{channel}/{session.removeprefix(f'{channel}/')}"}
        yield Conversation(None, session, tuple(messages), None, {"source": "slack", "channel": channel, **linked})


def _message(raw: Mapping[str, Json], channel: str, people: _People) -> Message | str:
    """A message; or why it is none."""
    subtype = raw.get("subtype")
    if raw.get("type", "message") != "message" or name(raw.get("ts")) is None:
        return "not a message of Slack"
    if subtype == "tombstone":
        return "a message that was deleted"
    if subtype not in _SPOKEN:
        return OWN
    content = said(raw, people.names)
    if not content:
        return "a message without words"
    speaker, is_bot = _speaker(raw, people)
    message: Message = {
        "id": f"{channel}/{words(raw.get('ts'))}",
        "role": "assistant" if is_bot else "user",
        "content": content,
    }
    if speaker is not None:
        message["name"] = speaker
    details = kept(
        edited=name(mapping(raw.get("edited")).get("ts")),
        reactions=[f":{one}:" for one in (name(mapping(r).get("name")) for r in listed(raw.get("reactions"))) if one],
    )
    if details:
        message["metadata"] = dict(details)
    return message


def _speaker(raw: Mapping[str, Json], people: _People) -> tuple[str | None, bool]:
    """Who said it, and whether that is a program."""
    user, profile = name(raw.get("user")), mapping(raw.get("user_profile"))
    if raw.get("bot_id") is not None or raw.get("subtype") == "bot_message" or user in people.bots:
        called = name(raw.get("username")) or name(mapping(raw.get("bot_profile")).get("name"))
        return called or people.names.get(user or "") or "bot", True
    if user is None:
        return name(raw.get("username")), False
    return people.names.get(user) or name(profile.get("real_name")) or user, False
