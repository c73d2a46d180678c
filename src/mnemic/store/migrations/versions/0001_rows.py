"""Users, turns, units, cues, traces, notes, vectors, the log, tasks and idempotency records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from mnemic.store.migrations.partitions import create_table

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_COUNTERS = (
    "revision",
    "base",
    "next_seq",
    "next_ordinal",
    "next_trace",
    "next_note",
    "next_operation",
    "next_cue",
    "next_request",
)


def upgrade() -> None:
    """Make all tables."""
    _make_users()
    _make_turns()
    _make_cues()
    _make_traces()
    _make_notes()
    _make_vectors()
    _make_records()
    _make_database_tables()


def _make_users() -> None:
    _make_slim("users", _bytes("user_id"), *_numbers(*_COUNTERS), key=["user_id"])
    _make_slim("departed", _bytes("digest"), *_numbers(*_COUNTERS), key=["digest"])


def _make_turns() -> None:
    _make(
        "turns",
        _bytes("user_id"),
        *_numbers("seq"),
        _bytes("turn_id"),
        _bytes("session_id"),
        _bytes("agent_id", null=True),
        _word("role"),
        _bytes("speaker"),
        _bytes("text"),
        _bytes("parts", null=True),
        _bytes("given", null=True),
        *_numbers("timestamp", null=True),
        *_smalls("utc_offset", null=True),
        _bytes("metadata", null=True),
        *_numbers("recorded_at", "revision"),
        _unique("turns", "user_id", "turn_id"),
        _owner("turns", "users"),
        key=["user_id", "seq"],
    )
    _index("turns", "user_id", "session_id", "seq")
    _index("turns", "user_id", "revision")
    _make_slim(
        "units",
        _bytes("user_id"),
        *_numbers("seq"),
        *_smalls("no", "start", "stop"),
        _owner("units", "turns", "seq"),
        key=["user_id", "seq", "no"],
    )
    _make_slim(
        "phrases",
        _bytes("user_id"),
        *_numbers("seq"),
        *_smalls("no", "start", "stop"),
        *_interval(),
        _owner("phrases", "turns", "seq"),
        key=["user_id", "seq", "no"],
    )


def _make_cues() -> None:
    _make_slim(
        "cues",
        _bytes("user_id"),
        *_numbers("cue"),
        _bytes("key"),
        _bytes("surface"),
        *_numbers("revision"),
        _unique("cues", "user_id", "key"),
        _owner("cues", "users"),
        key=["user_id", "cue"],
    )
    _index("cues", "user_id", "revision")
    _make_slim(
        "unit_cues",
        _bytes("user_id"),
        *_numbers("seq"),
        *_smalls("no"),
        *_numbers("cue"),
        *_smalls("mentions"),
        _owner("unit_cues", "units", "seq", "no"),
        _mentioned("unit_cues"),
        key=["user_id", "seq", "no", "cue"],
    )
    _index("unit_cues", "user_id", "cue")


def _make_traces() -> None:
    _make_slim(
        "traces",
        _bytes("user_id"),
        *_numbers("trace", "ordinal"),
        _bytes("session_id"),
        *_smalls("tokens"),
        *_numbers("revision"),
        _owner("traces", "users"),
        key=["user_id", "trace"],
    )
    _index("traces", "user_id", "revision")
    _make_slim(
        "trace_spans",
        _bytes("user_id"),
        *_numbers("trace"),
        *_smalls("no"),
        *_numbers("seq"),
        *_smalls("start", "stop"),
        _owner("trace_spans", "traces", "trace"),
        _owner("trace_spans", "turns", "seq"),
        key=["user_id", "trace", "no"],
    )
    _index("trace_spans", "user_id", "seq")


def _make_notes() -> None:
    _make(
        "notes",
        _bytes("user_id"),
        *_numbers("note"),
        *_smalls("version"),
        _word("kind"),
        _bytes("about"),
        _bytes("text"),
        *_interval(),
        _word("status"),
        _bytes("metadata", null=True),
        *_numbers("recorded_at", "revision"),
        _owner("notes", "users"),
        key=["user_id", "note", "version"],
    )
    _index("notes", "user_id", "revision")
    _make_slim(
        "note_sources",
        _bytes("user_id"),
        *_numbers("note"),
        *_smalls("version", "no"),
        *_numbers("seq"),
        *_smalls("start", "stop"),
        _owner("note_sources", "notes", "note", "version"),
        _owner("note_sources", "turns", "seq"),
        key=["user_id", "note", "version", "no"],
    )
    _index("note_sources", "user_id", "seq")
    _make_slim(
        "note_cues",
        _bytes("user_id"),
        *_numbers("note"),
        *_smalls("version"),
        *_numbers("cue"),
        *_smalls("mentions"),
        _owner("note_cues", "notes", "note", "version"),
        _mentioned("note_cues"),
        key=["user_id", "note", "version", "cue"],
    )
    _index("note_cues", "user_id", "cue")


def _make_vectors() -> None:
    _make_vectors_of("unit_vectors", "turns", "seq", within="no")
    _make_vectors_of("trace_vectors", "traces", "trace")
    _make_vectors_of("cue_vectors", "cues", "cue")
    _make_vectors_of("note_vectors", "notes", "note", "version")


def _make_vectors_of(name: str, owner: str, number: str, *more: str, within: str | None = None) -> None:
    within_owner = [within] if within else []
    _make(
        name,
        _bytes("user_id"),
        *_numbers(number),
        *_smalls(*more, *within_owner, "embedder"),
        _bytes("data"),
        _owner(name, owner, number, *more),
        key=["user_id", number, *more, *within_owner, "embedder"],
    )


def _make_records() -> None:
    _make_slim(
        "removals",
        _bytes("user_id"),
        *_numbers("revision"),
        sa.Column("kind", sa.String(8), nullable=False),
        *_numbers("number"),
        _owner("removals", "users"),
        key=["user_id", "revision", "kind", "number"],
    )
    _make(
        "operations",
        _bytes("user_id"),
        *_numbers("operation", "at"),
        _word("action"),
        _bytes("target_id"),
        *_smalls("version", null=True),
        _bytes("trigger"),
        _bytes("before", null=True),
        _bytes("after", null=True),
        _owner("operations", "users"),
        key=["user_id", "operation"],
    )
    _index("operations", "user_id", "target_id")
    _make_slim(
        "tasks",
        _bytes("user_id"),
        _word("kind"),
        _bytes("target_id"),
        _owner("tasks", "users"),
        key=["user_id", "target_id", "kind"],
    )
    _make_slim(
        "requests",
        _bytes("user_id"),
        *_numbers("request"),
        _bytes("key"),
        _unique("requests", "user_id", "key"),
        _owner("requests", "users"),
        key=["user_id", "request"],
    )
    _make_slim(
        "request_turns",
        _bytes("user_id"),
        *_numbers("request"),
        *_smalls("no"),
        *_numbers("seq"),
        _owner("request_turns", "requests", "request"),
        _owner("request_turns", "turns", "seq"),
        key=["user_id", "request", "no"],
    )
    _index("request_turns", "user_id", "seq")


def _make_database_tables() -> None:
    _make_slim(
        "embedders",
        *_smalls("embedder"),
        _bytes("fingerprint"),
        _bytes("name", null=True),
        *_smalls("dim"),
        _bytes("thresholds", null=True),
        sa.Column("active", sa.Boolean(), nullable=False),
        _unique("embedders", "fingerprint"),
        key=["embedder"],
    )
    _make_slim("settings", _bytes("name"), _bytes("value"), key=["name"])


# the vocabulary of this migration, frozen with it ------------------------------------------------------


def _make(name: str, *items: sa.schema.SchemaItem, key: list[str]) -> None:
    create_table(name, *items, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"))


def _make_slim(name: str, *items: sa.schema.SchemaItem, key: list[str]) -> None:
    create_table(name, *items, sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"), slim=True)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, list(columns))


def _bytes(name: str, *, null: bool = False) -> sa.Column[bytes]:
    return sa.Column(name, sa.LargeBinary(), nullable=null)


def _word(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(16), nullable=False)


def _numbers(*names: str, null: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), autoincrement=False, nullable=null) for name in names]


def _smalls(*names: str, null: bool = False) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.Integer(), autoincrement=False, nullable=null) for name in names]


def _interval() -> list[sa.Column[int]]:
    start = (*_numbers("from_at", null=True), *_smalls("from_offset", null=True))
    return [*start, *_numbers("until_at", null=True), *_smalls("until_offset", null=True)]


def _owner(table: str, owner: str, *columns: str) -> sa.ForeignKeyConstraint:
    mine = ["user_id", *columns]
    theirs = [f"{owner}.{column}" for column in mine]
    return sa.ForeignKeyConstraint(mine, theirs, name=f"fk_{table}_{owner}", ondelete="CASCADE")


def _mentioned(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(["user_id", "cue"], ["cues.user_id", "cues.cue"], name=f"fk_{table}_cues")


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")
