"""Whom words are from, and how far that is trusted: the person, an assistant, a tool, an import, or nobody known."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mnemic.types import TIERS, Role, Tier, Turn

_BY_ROLE: Final[dict[Role, Tier]] = {"user": "user", "assistant": "assistant", "tool": "tool", "system": "unknown"}


def tier_of(turn: Turn) -> Tier:
    """Of a turn's words: as the message said, else as its role says."""
    return said_by(turn.role, turn.tier)


def said_by(role: Role, tier: Tier | None) -> Tier:
    """Of words in a role, which may come from elsewhere."""
    return _BY_ROLE[role] if tier is None else tier


def least(tiers: Iterable[Tier]) -> Tier:
    """The least trusted of some, for a statement is no better than the weakest word it rests on; of none, unknown."""
    found = [TIERS.index(tier) for tier in tiers]
    return TIERS[max(found)] if found else "unknown"


def outranks(one: Tier, other: Tier) -> bool:
    """Whether one is trusted more than another."""
    return TIERS.index(one) < TIERS.index(other)
