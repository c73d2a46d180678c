"""LoCoMo's references to turns, which are not always well formed (methods.md 4.1)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from mnemic.types import Json

_TURN_ID = re.compile(r"D:?(\d+):0*(\d+)")


def turn_ids(entries: Iterable[Json], known: Collection[str]) -> tuple[tuple[str, ...], int]:
    """The turns that some references name.

    One entry may name several (``D8:6; D9:17``), write a number with zeros (``D30:05``) or with a stray colon
    (``D:11:26``); or it may name none (``D``), or one that does not exist.

    Args:
        entries: As written.
        known: The ids of the conversation's turns.

    Returns:
        The ids, each once, in order; and how many references name no turn of the conversation.
    """
    found: dict[str, None] = {}
    lost = 0
    for entry in entries:
        named = [entry] if isinstance(entry, str) and entry in known else _named(entry)
        there = [turn_id for turn_id in named if turn_id in known]
        found.update(dict.fromkeys(there))
        lost += len(named) - len(there) if named else 1
    return tuple(found), lost


def _named(entry: Json) -> list[str]:
    if not isinstance(entry, str):
        return []
    return [f"D{session}:{turn}" for session, turn in _TURN_ID.findall(entry)]
