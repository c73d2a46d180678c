"""What the tools of the MCP server take: none of it names a user."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

_MOST_LISTED: Final = 500


class Arguments(BaseModel):
    """What a tool takes; what it does not know, it refuses: a model that names a user is told that it cannot."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    def schema_sent(cls) -> dict[str, Any]:
        """Its JSON schema, without what only costs a model's tokens: titles, and the names of these classes."""
        found = _slim(cls.model_json_schema())
        return {key: value for key, value in found.items() if key != "description"}


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles; a property may be called title."""
    slim: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            slim[key] = {name: _slim(inner) for name, inner in value.items()}
        elif key == "items":
            slim[key] = _slim(value)
        elif key == "anyOf":
            slim[key] = [_slim(one) for one in value]
        elif key != "title":
            slim[key] = value
    return slim


class Message(Arguments):
    """One message, word for word."""

    role: Literal["user", "assistant", "system", "tool"] = "user"
    content: str
    name: Annotated[str | None, Field(description="Who said it, where known.")] = None
    id: Annotated[str | None, Field(description="An id of yours; a known one adds nothing.")] = None
    timestamp: Annotated[str | None, Field(description="When it was said (ISO 8601).")] = None


class Add(Arguments):
    """Of ``add_memory``."""

    messages: Annotated[
        str | list[Message], Field(description="The words exactly as they were said, not a summary of them.")
    ]
    session_id: Annotated[str | None, Field(description="The conversation they belong to.")] = None
    timestamp: Annotated[str | None, Field(description="When they were said (ISO 8601), where that is not now.")] = None
    idempotency_key: Annotated[str | None, Field(description="A repeat with the same key adds nothing.")] = None


class Search(Arguments):
    """Of ``search_memories``."""

    query: Annotated[str, Field(description="A question in plain words.")]
    top_k: Annotated[int, Field(ge=1, le=50)] = 10
    session_id: Annotated[str | None, Field(description="Only this conversation.")] = None
    since: Annotated[str | None, Field(description="Nothing said before this time (ISO 8601).")] = None
    until: Annotated[str | None, Field(description="Nothing said at this time or later.")] = None
    as_of: Annotated[str | None, Field(description="By what was true at this time.")] = None
    known_at: Annotated[str | None, Field(description="By what was known at this time.")] = None


class Context(Arguments):
    """Of ``get_context``."""

    query: Annotated[str, Field(description="What the conversation is about.")]
    max_tokens: Annotated[int, Field(ge=50, le=8000)] = 1500
    session_id: Annotated[str | None, Field(description="Only this conversation.")] = None
    as_of: Annotated[str | None, Field(description="By what was true at this time (ISO 8601).")] = None
    known_at: Annotated[str | None, Field(description="By what was known at this time.")] = None


class Get(Arguments):
    """Of ``get_memory``."""

    id: Annotated[str, Field(description="Of a turn, trace (T1), note (N1) or episode (E1), as results name them.")]
    as_of: Annotated[str | None, Field(description="Of a note: as it held at this time (ISO 8601).")] = None
    known_at: Annotated[str | None, Field(description="As it was known at this time.")] = None


class ListNotes(Arguments):
    """Of ``list_notes``."""

    about: Annotated[str | None, Field(description="Only about this person.")] = None
    as_of: Annotated[str | None, Field(description="What was true at this time (ISO 8601).")] = None
    known_at: Annotated[str | None, Field(description="What was believed at this time.")] = None
    limit: Annotated[int, Field(ge=1, le=_MOST_LISTED)] = 50


class HowChanged(Arguments):
    """Of ``how_it_changed``."""

    topic: Annotated[str, Field(description="In plain words.")]
    about: Annotated[str | None, Field(description="Only about this person.")] = None
    known_at: Annotated[str | None, Field(description="By what was known at this time (ISO 8601).")] = None


class WhatChanged(Arguments):
    """Of ``what_changed``."""

    a: Annotated[str, Field(description="The first moment (ISO 8601).")]
    b: Annotated[str | None, Field(description="The second one; now without it.")] = None


class Undo(Arguments):
    """Of ``undo_change``."""

    operation_id: Annotated[str, Field(description="As what_changed names it: O7.")]


class Update(Arguments):
    """Of ``update_memory``."""

    turn_id: str
    metadata: Annotated[dict[str, Any], Field(description="Replaces the turn's metadata.")]


class Delete(Arguments):
    """Of ``delete_memory``."""

    turn_id: Annotated[str | None, Field(description="One message.")] = None
    session_id: Annotated[str | None, Field(description="A whole conversation.")] = None
    speaker: Annotated[str | None, Field(description="All that somebody of exactly this name said.")] = None


class DeleteAll(Arguments):
    """Of ``delete_all_memories``."""

    confirm: Annotated[bool, Field(description="true, once the person has confirmed it.")]


class Nothing(Arguments):
    """Of ``memory_status``."""
