"""The tables of the whole database, and what language models took. See ``tables``."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Date, Index, LargeBinary, PrimaryKeyConstraint, String, UniqueConstraint

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

MARKS = "store: "
"""How the names of settings begin that the store makes for itself: they say how far it is, and are not copied."""

# Who may use a server; the key itself is nowhere.
api_keys = slim(
    "api_keys",
    Column("key_id", ExactText, nullable=False),
    Column("name", ExactText, nullable=False),
    Column("tenant", ExactText, nullable=False),
    Column("scopes", ExactJson, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    number("created_at"),
    number("expires_at", null=True),
    number("revoked_at", null=True),
    PrimaryKeyConstraint("key_id"),
)
# What a server replied to requests that may come again. No foreign key: a user's first request is noted before the user
# is there. Whatever erases something of a user drops them all.
replies = slim(
    "replies",
    user(),
    Column("key", ExactText, nullable=False),
    Column("request", LargeBinary, nullable=False),
    small("status", null=True),
    Column("body", LargeBinary, nullable=False),
    number("at"),
    PrimaryKeyConstraint("user_id", "key"),
    Index(None, "at"),
)
