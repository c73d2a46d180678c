"""The closed sets of words, and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Metadata = Mapping[str, Json]

Role = Literal["user", "assistant", "system", "tool"]
PartKind = Literal["text", "image", "audio", "file", "tool_call", "tool_result"]
NoteKind = Literal["fact", "state", "preference", "trait"]
NoteStatus = Literal["current", "superseded", "unsupported", "retracted", "archived", "proposed", "quarantined"]
STATUSES: Final[tuple[NoteStatus, ...]] = get_args(NoteStatus)
Action = Literal["ADD", "UPDATE", "DELETE", "MERGE", "RETRACT", "EXPIRE"]
Tier = Literal["user", "assistant", "tool", "import", "unknown"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
"""Whom words are from, the most trusted first."""
Quarantine = Literal["held", "released", "discarded"]
Granularity = Literal["trace", "turn"]
Cut = Literal["either", "topic", "coarse"]
Mode = Literal["graph", "notes", "episodes", "hybrid", "best_effort"]
WorkKind = Literal["cues", "notes", "episodes"]
KeyScope = Literal["read", "write", "erase", "admin"]
KEY_SCOPES: Final[tuple[KeyScope, ...]] = get_args(KeyScope)
WorkState = Literal["pending", "running", "done", "failed"]
Purpose = Literal["cues", "notes", "links", "segment", "conflict", "sufficiency", "rerank", "answer", "judge"]
