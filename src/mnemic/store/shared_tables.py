"""The tables of the whole database, and what language models took. See ``tables``."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Date, PrimaryKeyConstraint, String, UniqueConstraint

from mnemic.store.columns import number, owner, slim, small, user
from mnemic.store.encodings import ExactJson, ExactText

# What language models took; the cost in billionths of the currency.
AMOUNTS = ("calls", "tokens_in", "tokens_out", "cost", "unpriced")
usage = slim(
    "usage",
    user(),
    Column("day", Date, nullable=False),
    Column("purpose", String(16), nullable=False),
    *(number(name) for name in AMOUNTS),
    PrimaryKeyConstraint("user_id", "day", "purpose"),
    owner("users"),
)
# The same of all users together, erased ones too: money that is gone stays gone.
spending = slim(
    "spending",
    Column("day", Date, nullable=False),
    Column("purpose", String(16), nullable=False),
    *(number(name) for name in AMOUNTS),
    PrimaryKeyConstraint("day", "purpose"),
)

embedders = slim(
    "embedders",
    small("embedder"),
    Column("fingerprint", ExactText, nullable=False),
    Column("name", ExactText),
    small("dim"),
    Column("thresholds", ExactJson),
    Column("active", Boolean, nullable=False),
    PrimaryKeyConstraint("embedder"),
    UniqueConstraint("fingerprint"),
)
settings = slim(
    "settings",
    Column("name", ExactText, nullable=False),
    Column("value", ExactText, nullable=False),
    PrimaryKeyConstraint("name"),
)
