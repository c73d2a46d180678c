"""SQLite's error codes as the store's errors: one place, and every message names the file and the way out."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from sqlalchemy.exc import StatementError

from mnemic.errors import StoreCorrupt, StoreError, StoreFull, StoreLocked, StoreReadOnly

Failure = sqlite3.Error | StatementError


def translate(failure: Failure, path: Path) -> StoreError:
    """The error that a caller should see, to be raised ``from failure``."""
    cause = failure.orig if isinstance(failure, StatementError) else failure
    # The low byte is the primary code; the rest says more about it.
    code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    match code:
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreLocked(f"{path} is locked by another process; wait for it or end it, then try again")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
            return read_only(path)
        case sqlite3.SQLITE_FULL:
            return StoreFull(f"the disk is full: nothing of this write to {path} was stored; free some space first")
        case sqlite3.SQLITE_NOTADB:
            return StoreCorrupt(f"{path} is not a database; choose another file")
        case sqlite3.SQLITE_CORRUPT:
            return StoreCorrupt(f"{path} is damaged ({cause}); restore a backup copy of it")
        case sqlite3.SQLITE_CANTOPEN:
            return _cannot_open(path)
        case _:
            return StoreError(f"{path}: {cause}")


def read_only(path: Path) -> StoreReadOnly:
    """The error for a file or folder without write permission."""
    return StoreReadOnly(f"{path} cannot be written; allow writing to the file and to its folder {path.parent}")


def _cannot_open(path: Path) -> StoreError:
    if not path.exists():
        return StoreError(f"{path} is gone; open the database again to make a new one")
    if not os.access(path, os.R_OK):
        return StoreError(f"{path} cannot be read; check its permissions")
    return read_only(path)
