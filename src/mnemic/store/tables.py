"""The tables. Every primary key begins with ``user_id``, but for the few that belong to the whole database.

What a column of bytes holds is said by its type in ``encodings``. Numbers are counted per user and never reused:
``seq`` (turns), ``trace`` (public id ``T<trace>``), ``note`` (``N<note>``), ``operation`` (``O<operation>``), ``cue``
and ``request``. ``no`` counts within the owner. ``revision`` is the user's revision of the row's last change.
Changing a table here needs a new migration beside it; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

from mnemic.store.encodings import ExactJson, ExactText

tables = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(referred_table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

COUNTERS = (
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


def _user() -> Column[str]:
    return Column("user_id", ExactText, nullable=False)


def _number(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=null, autoincrement=False)


def _small(name: str, *, null: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=null, autoincrement=False)


def _owner(table: str, *columns: str) -> ForeignKeyConstraint:
    mine = ("user_id", *columns)
    return ForeignKeyConstraint(mine, [f"{table}.{column}" for column in mine], ondelete="CASCADE")


def _slim(name: str, *items: SchemaItem) -> Table:
    """A table of small rows: on SQLite they lie in the primary key's own tree."""
    return Table(name, tables, *items, sqlite_with_rowid=False)


def _vectors(name: str, *key: Column[int], owner: ForeignKeyConstraint) -> Table:
    """A table of what embedders made of the things with these numbers."""
    names = ("user_id", *(column.name for column in key), "embedder")
    data = Column("data", LargeBinary, nullable=False)
    return Table(name, tables, _user(), *key, _small("embedder"), data, PrimaryKeyConstraint(*names), owner)


users = _slim("users", _user(), *(_number(name) for name in COUNTERS), PrimaryKeyConstraint("user_id"))
# What is left of an erased user: a digest of the id and where its numbers stopped, so that none comes twice.
departed = _slim(
    "departed",
    Column("digest", LargeBinary, nullable=False),
    *(_number(name) for name in COUNTERS),
    PrimaryKeyConstraint("digest"),
)

turns = Table(
    "turns",
    tables,
    _user(),
    _number("seq"),
    Column("turn_id", ExactText, nullable=False),
    Column("session_id", ExactText, nullable=False),
    Column("agent_id", ExactText),
    Column("role", String(16), nullable=False),
    Column("speaker", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    Column("parts", ExactJson),
    Column("given", ExactJson),
    _number("timestamp", null=True),
    _small("utc_offset", null=True),
    Column("metadata", ExactJson),
    _number("recorded_at"),
    _number("revision"),
    PrimaryKeyConstraint("user_id", "seq"),
    UniqueConstraint("user_id", "turn_id"),
    Index(None, "user_id", "session_id", "seq"),
    Index(None, "user_id", "revision"),
    Index(None, "user_id", "speaker"),
    _owner("users"),
)
units = _slim(
    "units",
    _user(),
    _number("seq"),
    _small("no"),
    _small("start"),
    _small("stop"),
    PrimaryKeyConstraint("user_id", "seq", "no"),
    _owner("turns", "seq"),
)
phrases = _slim(
    "phrases",
    _user(),
    _number("seq"),
    _small("no"),
    _small("start"),
    _small("stop"),
    _number("from_at", null=True),
    _small("from_offset", null=True),
    _number("until_at", null=True),
    _small("until_offset", null=True),
    PrimaryKeyConstraint("user_id", "seq", "no"),
    _owner("turns", "seq"),
)

cues = _slim(
    "cues",
    _user(),
    _number("cue"),
    Column("key", ExactText, nullable=False),
    Column("surface", ExactText, nullable=False),
    _number("revision"),
    PrimaryKeyConstraint("user_id", "cue"),
    UniqueConstraint("user_id", "key"),
    Index(None, "user_id", "revision"),
    _owner("users"),
)
unit_cues = _slim(
    "unit_cues",
    _user(),
    _number("seq"),
    _small("no"),
    _number("cue"),
    _small("mentions"),
    PrimaryKeyConstraint("user_id", "seq", "no", "cue"),
    _owner("units", "seq", "no"),
    ForeignKeyConstraint(("user_id", "cue"), ["cues.user_id", "cues.cue"]),
    Index(None, "user_id", "cue"),
)

traces = _slim(
    "traces",
    _user(),
    _number("trace"),
    _number("ordinal"),
    Column("session_id", ExactText, nullable=False),
    _small("tokens"),
    _number("revision"),
    PrimaryKeyConstraint("user_id", "trace"),
    Index(None, "user_id", "revision"),
    _owner("users"),
)
trace_spans = _slim(
    "trace_spans",
    _user(),
    _number("trace"),
    _small("no"),
    _number("seq"),
    _small("start"),
    _small("stop"),
    PrimaryKeyConstraint("user_id", "trace", "no"),
    _owner("traces", "trace"),
    _owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)

notes = Table(
    "notes",
    tables,
    _user(),
    _number("note"),
    _small("version"),
    Column("kind", String(16), nullable=False),
    Column("about", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    _number("from_at", null=True),
    _small("from_offset", null=True),
    _number("until_at", null=True),
    _small("until_offset", null=True),
    Column("status", String(16), nullable=False),
    Column("metadata", ExactJson),
    _number("recorded_at"),
    _number("revision"),
    PrimaryKeyConstraint("user_id", "note", "version"),
    Index(None, "user_id", "revision"),
    _owner("users"),
)
note_sources = _slim(
    "note_sources",
    _user(),
    _number("note"),
    _small("version"),
    _small("no"),
    _number("seq"),
    _small("start"),
    _small("stop"),
    PrimaryKeyConstraint("user_id", "note", "version", "no"),
    _owner("notes", "note", "version"),
    _owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)
# Of the notes that somebody else wrote, under which id.
given_notes = _slim(
    "given_notes",
    _user(),
    _number("note"),
    _small("version"),
    Column("given_id", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "note", "version"),
    UniqueConstraint("user_id", "given_id", "version"),
    _owner("notes", "note", "version"),
)
note_cues = _slim(
    "note_cues",
    _user(),
    _number("note"),
    _small("version"),
    _number("cue"),
    _small("mentions"),
    PrimaryKeyConstraint("user_id", "note", "version", "cue"),
    _owner("notes", "note", "version"),
    ForeignKeyConstraint(("user_id", "cue"), ["cues.user_id", "cues.cue"]),
    Index(None, "user_id", "cue"),
)

unit_vectors = _vectors("unit_vectors", _number("seq"), _small("no"), owner=_owner("turns", "seq"))
trace_vectors = _vectors("trace_vectors", _number("trace"), owner=_owner("traces", "trace"))
cue_vectors = _vectors("cue_vectors", _number("cue"), owner=_owner("cues", "cue"))
note_vectors = _vectors("note_vectors", _number("note"), _small("version"), owner=_owner("notes", "note", "version"))

# Numbers only: a removed cue is not among them, for its key would be an erased word.
removals = _slim(
    "removals",
    _user(),
    _number("revision"),
    Column("kind", String(8), nullable=False),
    _number("number"),
    PrimaryKeyConstraint("user_id", "revision", "kind", "number"),
    _owner("users"),
)
operations = Table(
    "operations",
    tables,
    _user(),
    _number("operation"),
    _number("at"),
    Column("action", String(16), nullable=False),
    Column("target_id", ExactText, nullable=False),
    _small("version", null=True),
    Column("trigger", ExactText, nullable=False),
    Column("before", ExactText),
    Column("after", ExactText),
    PrimaryKeyConstraint("user_id", "operation"),
    Index(None, "user_id", "target_id"),
    _owner("users"),
)
tasks = _slim(
    "tasks",
    _user(),
    Column("kind", String(16), nullable=False),
    Column("target_id", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "target_id", "kind"),
    _owner("users"),
)
requests = _slim(
    "requests",
    _user(),
    _number("request"),
    Column("key", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "request"),
    UniqueConstraint("user_id", "key"),
    _owner("users"),
)
request_turns = _slim(
    "request_turns",
    _user(),
    _number("request"),
    _small("no"),
    _number("seq"),
    PrimaryKeyConstraint("user_id", "request", "no"),
    _owner("requests", "request"),
    _owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)

# What language models took; the cost in billionths of the currency.
AMOUNTS = ("calls", "tokens_in", "tokens_out", "cost", "unpriced")
usage = _slim(
    "usage",
    _user(),
    Column("day", Date, nullable=False),
    Column("purpose", String(16), nullable=False),
    *(_number(name) for name in AMOUNTS),
    PrimaryKeyConstraint("user_id", "day", "purpose"),
    _owner("users"),
)
# The same of all users together, erased ones too: money that is gone stays gone.
spending = _slim(
    "spending",
    Column("day", Date, nullable=False),
    Column("purpose", String(16), nullable=False),
    *(_number(name) for name in AMOUNTS),
    PrimaryKeyConstraint("day", "purpose"),
)

embedders = _slim(
    "embedders",
    _small("embedder"),
    Column("fingerprint", ExactText, nullable=False),
    Column("name", ExactText),
    _small("dim"),
    Column("thresholds", ExactJson),
    Column("active", Boolean, nullable=False),
    PrimaryKeyConstraint("embedder"),
    UniqueConstraint("fingerprint"),
)
settings = _slim(
    "settings",
    Column("name", ExactText, nullable=False),
    Column("value", ExactText, nullable=False),
    PrimaryKeyConstraint("name"),
)
