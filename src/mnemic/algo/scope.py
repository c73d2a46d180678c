"""Checks on the names of a scope: user, agent and session ids."""

from __future__ import annotations

from typing import Final

from mnemic.errors import InvalidScope
from mnemic.types import Scope

LONGEST_ID: Final = 512
"""Characters that an id may have."""


def check_id(value: object, what: str) -> str:
    """An id as it was given, if it can be one.

    Args:
        value: What the caller gave.
        what: Its name, for the error: ``user_id``.

    Returns:
        The value: a string of 1 to 512 characters, not all of them blank. Nothing is stripped or folded.

    Raises:
        InvalidScope: It is not such a string.
    """
    fault = id_fault(value)
    if fault is not None:
        raise InvalidScope(f"{what} {fault}")
    return str(value)


def id_fault(value: object) -> str | None:
    """What is wrong with an id, in words that follow its name; None when nothing is."""
    if not isinstance(value, str):
        return f"must be a string, not {type(value).__name__}"
    if not value.strip():
        return "must not be empty or blank"
    if len(value) > LONGEST_ID:
        return f"must have at most {LONGEST_ID} characters, not {len(value)}"
    return None


def check_user(user_id: object) -> str:
    """The user id, if it is one: see ``check_id``. Raises InvalidScope."""
    return check_id(user_id, "user_id")


def check_scope(user_id: object, *, agent_id: object = None, session_id: object = None) -> Scope:
    """A scope of valid ids; agent and session may be None. Raises InvalidScope."""
    return Scope(
        check_user(user_id),
        None if agent_id is None else check_id(agent_id, "agent_id"),
        None if session_id is None else check_id(session_id, "session_id"),
    )
