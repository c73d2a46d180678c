"""PostgreSQL's error codes as the store's errors: every message names the database and the way out.

Never what the server says in detail (DETAIL and CONTEXT quote rows), nor the statement or its parameters: both hold
words of dialogues.
"""

from __future__ import annotations

from typing import Literal

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from mnemic.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly, StoreUnavailable

Failure = psycopg.Error | SQLAlchemyError
Kind = Literal["lost", "collided", "locked", "other"]

_COLLIDED = ("40001", "40P01")
"""Serialization failure, deadlock: the server undid the transaction, which may be run again at once."""
_LOCKED = ("55P03", "57014")
"""A lock waited for too long, a statement that took too long."""
_FULL = ("53100", "53200", "53400", "54000")
_DAMAGED = ("XX001", "XX002")
_REFUSED = ("28000", "28P01", "3D000", "42501")
"""Who, the password, which database, what is allowed: trying again does not help."""


def cause_of(failure: BaseException) -> psycopg.Error | None:
    """What the driver said."""
    cause = failure.orig if isinstance(failure, DBAPIError) else failure
    return cause if isinstance(cause, psycopg.Error) else None


def kind_of(failure: BaseException) -> Kind:
    """What may be done about a failure."""
    cause = cause_of(failure)
    state = None if cause is None else cause.sqlstate
    if state in _COLLIDED:
        return "collided"
    if state in _LOCKED:
        return "locked"
    if state in _REFUSED or _is_refused(cause):
        return "other"
    if isinstance(failure, PoolTimeout) or _is_lost(failure, cause, state):
        return "lost"
    return "other"


def _is_lost(failure: BaseException, cause: psycopg.Error | None, state: str | None) -> bool:
    """The connection broke, or none could be made: the server restarts, is full, or cannot be reached."""
    if isinstance(failure, DBAPIError) and failure.connection_invalidated:
        return True
    if state is not None:
        return state.startswith(("08", "57P")) or state == "53300"
    return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)


def _is_refused(cause: psycopg.Error | None) -> bool:
    """A refusal while connecting, which comes without a code."""
    said = str(cause) if cause is not None else ""
    refusals = ("authentication failed", "no password supplied", "does not exist", "no pg_hba.conf entry")
    return "FATAL" in said and any(refusal in said for refusal in refusals)


def translate(failure: BaseException, name: str) -> StoreError:
    """The error that a caller should see, to be raised ``from None``: the failure quotes its statement."""
    cause = cause_of(failure)
    state = (None if cause is None else cause.sqlstate) or ""
    said = _said(cause)
    kind = kind_of(failure)
    if kind == "lost":
        return StoreUnavailable(f"{name} cannot be reached ({said}): nothing was stored; try again later")
    if kind == "collided":
        return StoreLocked(f"{name}: others write the same at the same time; try again")
    if kind == "locked":
        return StoreLocked(f"{name} is locked by other transactions; wait for them or end them, then try again")
    if state in _FULL:
        return StoreFull(f"{name}: no room ({said}): nothing of this write was stored; free some space first")
    if state in _DAMAGED:
        return StoreCorrupt(f"{name} is damaged ({said}); restore a backup of it")
    if state in ("25006", "42501"):
        return StoreReadOnly(f"{name} cannot be written ({said}); use the primary server, and a role that may write")
    return StoreError(f"{name}: {said}")


def _said(cause: psycopg.Error | None) -> str:
    """The server's main message; of the driver's own, the first line that says something."""
    if cause is None:
        return "too many transactions under way"
    if primary := cause.diag.message_primary:
        return primary
    lines = [line.strip() for line in str(cause).splitlines() if line.strip()]
    return lines[0] if lines else type(cause).__name__
