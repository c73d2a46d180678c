"""The schema's history. Append-only: a released migration is never edited, a change is a new one.

Add ``versions/<number>_<subject>.py``, its number here, and a dump of a filled database of the former schema to
``tests/fault/schemas``. A new file is made from ``store/tables.py`` in one step; a test sees that it is the same.
"""

from __future__ import annotations

REVISIONS = ("0001", "0002", "0003", "0004", "0005", "0006", "0007", "0008", "0009")
"""Oldest first; the last one is what ``store/tables.py`` describes."""

PARTITIONS = 8
"""Of each table of users' rows on PostgreSQL, by a hash of the user. Another number would move every row."""


def partition(table: str, number: int) -> str:
    """The name of a part of a table."""
    return f"{table}_p{number}"
