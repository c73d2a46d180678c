"""What requests look like: the arguments of ``Memory``'s methods, with their names and defaults."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from mnemic.types import Granularity, Mode

Time = str | float | None


class Arguments(BaseModel):
    """The arguments of one method of ``Memory``."""

    model_config = ConfigDict(extra="forbid")

    def arguments(self) -> dict[str, Any]:
        """As the method takes them."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class Add(Arguments):
    """Arguments of ``Memory.add``."""

    messages: str | dict[str, Any] | list[dict[str, Any]]
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: Time = None
    timezone: str | None = None
    metadata: dict[str, Any] | None = None
    idempotency_key: str | None = None
    resend: Literal["prefix"] | None = None
    enrich: Literal["later", "now", "never"] = "later"


class Search(Arguments):
    """Arguments of ``Memory.search``."""

    query: str
    user_id: str
    top_k: int = 10
    threshold: float | None = None
    filters: dict[str, Any] | None = None
    agent_id: str | None = None
    session_id: str | None = None
    since: Time = None
    until: Time = None
    reference_time: Time = None
    granularity: Granularity = "trace"
    config: Literal["default", "hero", "himem"] = "default"
    rerank: str | None = None
    explain: bool = False
    mode: Mode = "graph"
    keep_notes: bool = False
    evolve: bool = False
