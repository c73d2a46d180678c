"""Messages as callers give them, made into turns: the one place that knows the shapes of chat formats."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from mnemic.algo.jsonable import as_json
from mnemic.algo.moments import clip, parse_time, zone
from mnemic.algo.parts import Content
from mnemic.algo.scope import check_id, id_fault
from mnemic.algo.trust import said_by
from mnemic.errors import InvalidInput, InvalidMessage
from mnemic.types import TIERS, Json, Metadata, Part, Role, Tier, Turn

_ROLES: Final[dict[str, Role]] = {
    "user": "user", "assistant": "assistant", "system": "system", "tool": "tool",
    "human": "user", "model": "assistant", "ai": "assistant", "bot": "assistant",
    "developer": "system", "function": "tool",
}  # fmt: skip
# What a turn has a place of its own for, where it may be given by the call instead; metadata can even change.
_PLACED: Final = frozenset(("name", "speaker", "id", "timestamp", "session_id", "agent_id", "metadata", "tier"))
# A message with more than this is kept in ``given``, without what is placed elsewhere.
_HELD: Final = _PLACED | {"role", "content"}


@dataclass(frozen=True, slots=True)
class _Call:
    """What one call gives for all of its messages."""

    session_id: str
    agent_id: str | None
    timestamp: datetime | None
    timezone: str
    metadata: dict[str, Json]
    now: datetime
    make_id: Callable[[], str]


def normalise(
    messages: object,
    *,
    session_id: str,
    agent_id: str | None,
    timestamp: object,
    timezone: str,
    metadata: Metadata | None,
    now: datetime,
    make_id: Callable[[], str],
) -> list[Turn]:
    """Make turns of messages.

    A message is a string (the user's), or a mapping in the OpenAI chat shape, or an object whose ``model_dump()``
    is one:

    * ``role``: user, assistant, system, tool, or one of their other names (human; model, ai, bot; developer;
      function), in any case. It may lack where a speaker is named: then it is the user.
    * ``content``: a string, which becomes the text unchanged; None; or parts. Texts, captions, transcripts, file
      names, tool calls and tool results are joined by newlines; addresses and data stay out of the text.
    * ``name`` or ``speaker``, ``id``, ``timestamp`` (see ``parse_time``), ``session_id``, ``agent_id``, ``metadata``
      (added to the call's): optional, and stronger than what the call says.
    * ``tier``: whose words these are, where they are not of who says them: ``tool`` for a page that a person pasted,
      ``import`` for what another program remembered, ``unknown``.

    Args:
        messages: One message or any number of them, in order; they are not changed.
        session_id: Of messages that name none.
        agent_id: Of messages that name none.
        timestamp: Of messages that have none; None leaves their time unknown.
        timezone: Where times without an offset lie.
        metadata: For every message.
        now: When they were given.
        make_id: Makes ids for messages without one.

    Returns:
        A turn for each message, in order; none for an empty list.

    Raises:
        InvalidScope: The call's session or agent id cannot be one.
        InvalidMessage: A message cannot be used, or two have the same id. The error names the message by its index;
            nothing about the call can be kept.
        InvalidInput: The call's timestamp, timezone or metadata cannot be used.
    """
    zone(timezone)
    try:
        common = as_json(metadata or {}, "metadata")
    except InvalidInput as error:
        raise InvalidInput(f"metadata: {error}") from error
    if not isinstance(common, dict):
        raise InvalidInput(f"metadata must be a mapping, not {type(metadata).__name__}")
    call = _Call(
        check_id(session_id, "session_id"),
        None if agent_id is None else check_id(agent_id, "agent_id"),
        parse_time(timestamp, timezone),
        timezone,
        common,
        now,
        make_id,
    )
    turns: list[Turn] = []
    places: dict[str, int] = {}
    for index, message in enumerate(_listed(messages)):
        try:
            turn = _turn(message, call)
        except InvalidInput as error:
            raise InvalidMessage(f"messages[{index}]: {error}") from error
        first = places.setdefault(turn.turn_id, index)
        if first != index:
            raise InvalidMessage(f"messages[{index}]: id {clip(turn.turn_id)} is also the id of messages[{first}]")
        turns.append(turn)
    return turns


def _listed(messages: object) -> Iterable[object]:
    if isinstance(messages, (str, Mapping)) or _dumped(messages) is not None:
        return (cast(object, messages),)
    if isinstance(messages, Iterable) and not isinstance(messages, (bytes, bytearray, memoryview)):
        return cast(Iterable[object], messages)
    kind = type(cast(object, messages)).__name__
    raise InvalidMessage(f"messages must be a string, a message or a list of messages, not {kind}")


def _dumped(message: object) -> Mapping[str, object] | None:
    """The fields of an object that can give them as a mapping, as pydantic models do."""
    dump = getattr(message, "model_dump", None)
    fields = dump() if callable(dump) and not isinstance(message, type) else None
    return cast(Mapping[str, object], fields) if isinstance(fields, Mapping) else None


def _turn(message: object, call: _Call) -> Turn:
    """One turn. Raises InvalidInput, whose message does not say which message."""
    fields = _fields(message)
    moment = parse_time(fields.pop("timestamp", None), call.timezone) or call.timestamp
    whole = as_json(fields)
    if not isinstance(whole, dict):
        raise InvalidMessage("must be a mapping")
    name = _name(whole)
    role = _role(whole, named=name is not None)
    text, parts = _content(whole, role)
    plain = isinstance(whole.get("content"), str) and whole.keys() <= _HELD and whole.get("role", role) == role
    return Turn(
        turn_id=_turn_id(whole.get("id"), call),
        session_id=_own_id(whole, "session_id") or call.session_id,
        role=role,
        speaker=name or role,
        text=text,
        timestamp=moment,
        parts=parts,
        given=None if plain else {key: value for key, value in whole.items() if key not in _PLACED},
        agent_id=_own_id(whole, "agent_id") or call.agent_id,
        metadata={**call.metadata, **_own_metadata(whole)},
        recorded_at=call.now,
        tier=_tier(whole.get("tier"), role),
    )


def _fields(message: object) -> dict[object, object]:
    """What a message says, without what it leaves open (None)."""
    if isinstance(message, str):
        return {"role": "user", "content": message}
    given = cast(Mapping[object, object], message) if isinstance(message, Mapping) else _dumped(message)
    if given is None:
        kind = type(cast(object, message)).__name__
        raise InvalidMessage(f"must be a string or a mapping with role and content, not {kind}")
    return {key: value for key, value in given.items() if value is not None}


def _name(whole: Mapping[str, Json]) -> str | None:
    for key in ("speaker", "name"):
        value = whole.get(key)
        if value is None or value == "":
            continue
        fault = id_fault(value)
        if fault is not None:
            raise InvalidMessage(f"{key} {fault}")
        return str(value)
    return None


def _role(whole: Mapping[str, Json], *, named: bool) -> Role:
    value = whole.get("role")
    if value is None and named:
        return "user"
    role = _ROLES.get(value.strip().lower()) if isinstance(value, str) else None
    if role is None:
        said = "has no role" if value is None else f"role {clip(value)} is unknown"
        raise InvalidMessage(f"{said}; use user, assistant, system or tool (or {', '.join(list(_ROLES)[4:])})")
    return role


def _content(whole: Mapping[str, Json], role: Role) -> tuple[str, tuple[Part, ...]]:
    given = whole.get("content")
    calls = whole.get("tool_calls") or []
    legacy = whole.get("function_call")
    if not isinstance(calls, list):
        raise InvalidMessage(f"tool_calls must be a list or None, not {type(calls).__name__}")
    content = Content()
    try:
        content.add_all(given, text_kind="tool_result" if role == "tool" else "text")
    except InvalidInput as error:
        raise InvalidMessage(f"content {error}") from error
    for call in [*calls, *([legacy] if legacy is not None else [])]:
        content.add_call(call)
    _add_spoken(content, whole)
    if role != "tool" and not content.text.strip() and not any(part.ref for part in content.parts):
        raise InvalidMessage("is empty: it has neither text nor a tool call nor a reference to an image, audio or file")
    plain = isinstance(given, str) and len(content.parts) == 1 and role != "tool"
    return content.text, () if plain else tuple(content.parts)


def _add_spoken(content: Content, whole: Mapping[str, Json]) -> None:
    """What chat completions put beside the content: a refusal, and the assistant's speech."""
    refusal, audio = whole.get("refusal"), whole.get("audio")
    if isinstance(refusal, str):
        content.add("text", refusal)
    if isinstance(audio, dict):
        content.add_all({**audio, "type": "audio"})


def _turn_id(value: Json, call: _Call) -> str:
    if value is None:
        return call.make_id()
    given = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    fault = id_fault(given)
    if fault is not None:
        raise InvalidMessage(f"id {fault}")
    return str(given)


def _own_id(whole: Mapping[str, Json], key: str) -> str | None:
    value = whole.get(key)
    if value is None:
        return None
    fault = id_fault(value)
    if fault is not None:
        raise InvalidMessage(f"{key} {fault}")
    return str(value)


def _tier(value: Json, role: Role) -> Tier | None:
    """Whose words these are; None where the role says it."""
    if value is None:
        return None
    for tier in TIERS:
        if value == tier:
            return None if said_by(role, None) == tier else tier
    raise InvalidMessage(f"tier is one of {', '.join(TIERS)}, not {clip(value)}")


def _own_metadata(whole: Mapping[str, Json]) -> dict[str, Json]:
    value = whole.get("metadata")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidMessage(f"metadata must be a mapping, not {type(value).__name__}")
    return value
