"""The tables. Every primary key begins with ``user_id``, but for the few that belong to the whole database.

What a column of bytes holds is said by its type in ``encodings``. Numbers are counted per user and never reused:
``seq`` (turns), ``trace`` and ``episode``, together (public ids ``T<trace>``, ``E<episode>``), ``note`` (``N<note>``),
``operation`` (``O<operation>``), ``cue`` and ``request``. ``no`` counts within the owner. ``revision`` is the user's
revision of the row's last change.
Changing a table here needs a new migration beside it; a test compares the two.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
)

from mnemic.store.columns import number, owner, slim, small, tables, user, vectors
from mnemic.store.encodings import ExactJson, ExactText

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

users = slim("users", user(), *(number(name) for name in COUNTERS), PrimaryKeyConstraint("user_id"))
# What is left of an erased user: a digest of the id and where its numbers stopped, so that none comes twice.
departed = slim(
    "departed",
    Column("digest", LargeBinary, nullable=False),
    *(number(name) for name in COUNTERS),
    PrimaryKeyConstraint("digest"),
)

turns = Table(
    "turns",
    tables,
    user(),
    number("seq"),
    Column("turn_id", ExactText, nullable=False),
    Column("session_id", ExactText, nullable=False),
    Column("agent_id", ExactText),
    Column("role", String(16), nullable=False),
    Column("speaker", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    Column("parts", ExactJson),
    Column("given", ExactJson),
    number("timestamp", null=True),
    small("utc_offset", null=True),
    Column("metadata", ExactJson),
    number("recorded_at"),
    number("revision"),
    Column("tier", String(12)),
    Column("quarantine", String(12)),
    PrimaryKeyConstraint("user_id", "seq"),
    UniqueConstraint("user_id", "turn_id"),
    Index(None, "user_id", "session_id", "seq"),
    Index(None, "user_id", "revision"),
    Index(None, "user_id", "speaker"),
    owner("users"),
)
units = slim(
    "units",
    user(),
    number("seq"),
    small("no"),
    small("start"),
    small("stop"),
    PrimaryKeyConstraint("user_id", "seq", "no"),
    owner("turns", "seq"),
)
phrases = slim(
    "phrases",
    user(),
    number("seq"),
    small("no"),
    small("start"),
    small("stop"),
    number("from_at", null=True),
    small("from_offset", null=True),
    number("until_at", null=True),
    small("until_offset", null=True),
    PrimaryKeyConstraint("user_id", "seq", "no"),
    owner("turns", "seq"),
)

cues = slim(
    "cues",
    user(),
    number("cue"),
    Column("key", ExactText, nullable=False),
    Column("surface", ExactText, nullable=False),
    number("revision"),
    PrimaryKeyConstraint("user_id", "cue"),
    UniqueConstraint("user_id", "key"),
    Index(None, "user_id", "revision"),
    owner("users"),
)
unit_cues = slim(
    "unit_cues",
    user(),
    number("seq"),
    small("no"),
    number("cue"),
    small("mentions"),
    PrimaryKeyConstraint("user_id", "seq", "no", "cue"),
    owner("units", "seq", "no"),
    ForeignKeyConstraint(("user_id", "cue"), ["cues.user_id", "cues.cue"]),
    Index(None, "user_id", "cue"),
)

traces = slim(
    "traces",
    user(),
    number("trace"),
    number("ordinal"),
    Column("session_id", ExactText, nullable=False),
    small("tokens"),
    number("revision"),
    PrimaryKeyConstraint("user_id", "trace"),
    Index(None, "user_id", "revision"),
    owner("users"),
)
trace_spans = slim(
    "trace_spans",
    user(),
    number("trace"),
    small("no"),
    number("seq"),
    small("start"),
    small("stop"),
    PrimaryKeyConstraint("user_id", "trace", "no"),
    owner("traces", "trace"),
    owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)

notes = Table(
    "notes",
    tables,
    user(),
    number("note"),
    small("version"),
    Column("kind", String(16), nullable=False),
    Column("about", ExactText, nullable=False),
    Column("text", ExactText, nullable=False),
    number("from_at", null=True),
    small("from_offset", null=True),
    number("until_at", null=True),
    small("until_offset", null=True),
    Column("status", String(16), nullable=False),
    Column("metadata", ExactJson),
    number("recorded_at"),
    number("revision"),
    PrimaryKeyConstraint("user_id", "note", "version"),
    Index(None, "user_id", "revision"),
    owner("users"),
)
note_sources = slim(
    "note_sources",
    user(),
    number("note"),
    small("version"),
    small("no"),
    number("seq"),
    small("start"),
    small("stop"),
    PrimaryKeyConstraint("user_id", "note", "version", "no"),
    owner("notes", "note", "version"),
    owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)
# Of the notes that somebody else wrote, under which id.
given_notes = slim(
    "given_notes",
    user(),
    number("note"),
    small("version"),
    Column("given_id", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "note", "version"),
    UniqueConstraint("user_id", "given_id", "version"),
    owner("notes", "note", "version"),
)
# Turns that say again what a version says; a note does not rest on them, and stays when they go.
note_confirmations = slim(
    "note_confirmations",
    user(),
    number("note"),
    small("version"),
    number("seq"),
    PrimaryKeyConstraint("user_id", "note", "version", "seq"),
    owner("notes", "note", "version"),
    owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)
note_cues = slim(
    "note_cues",
    user(),
    number("note"),
    small("version"),
    number("cue"),
    small("mentions"),
    PrimaryKeyConstraint("user_id", "note", "version", "cue"),
    owner("notes", "note", "version"),
    ForeignKeyConstraint(("user_id", "cue"), ["cues.user_id", "cues.cue"]),
    Index(None, "user_id", "cue"),
)

# Of the notes that wait for a person: how each stands to which other note.
proposals = slim(
    "proposals",
    user(),
    number("note"),
    small("version"),
    Column("relation", String(16), nullable=False),
    number("target", null=True),
    PrimaryKeyConstraint("user_id", "note", "version"),
    owner("notes", "note", "version"),
)

episodes = Table(
    "episodes",
    tables,
    user(),
    number("episode"),
    Column("session_id", ExactText, nullable=False),
    Column("topic", ExactText, nullable=False),
    Column("summary", ExactText, nullable=False),
    Column("made_by", ExactText, nullable=False),
    number("recorded_at"),
    number("revision"),
    PrimaryKeyConstraint("user_id", "episode"),
    Index(None, "user_id", "revision"),
    owner("users"),
)
episode_turns = slim(
    "episode_turns",
    user(),
    number("episode"),
    small("no"),
    number("seq"),
    PrimaryKeyConstraint("user_id", "episode", "no"),
    UniqueConstraint("user_id", "seq"),
    owner("episodes", "episode"),
    owner("turns", "seq"),
)

# What language models are to do with each trace. What is done stays: a trace without a row was never to be read.
work = slim(
    "work",
    user(),
    number("trace"),
    Column("kind", String(8), nullable=False),
    Column("state", String(8), nullable=False),
    small("attempts"),
    number("due_at"),
    Column("lease", String(32)),
    Column("reason", ExactText),
    PrimaryKeyConstraint("user_id", "trace", "kind"),
    Index(None, "state", "due_at"),
    owner("traces", "trace"),
)

unit_vectors = vectors("unit_vectors", number("seq"), small("no"), owner=owner("turns", "seq"))
trace_vectors = vectors("trace_vectors", number("trace"), owner=owner("traces", "trace"))
cue_vectors = vectors("cue_vectors", number("cue"), owner=owner("cues", "cue"))
note_vectors = vectors("note_vectors", number("note"), small("version"), owner=owner("notes", "note", "version"))

# Numbers only: a removed cue is not among them, for its key would be an erased word.
removals = slim(
    "removals",
    user(),
    number("revision"),
    Column("kind", String(8), nullable=False),
    number("number"),
    PrimaryKeyConstraint("user_id", "revision", "kind", "number"),
    owner("users"),
)
operations = Table(
    "operations",
    tables,
    user(),
    number("operation"),
    number("at"),
    Column("action", String(16), nullable=False),
    Column("target_id", ExactText, nullable=False),
    small("version", null=True),
    Column("trigger", ExactText, nullable=False),
    Column("before", ExactText),
    Column("after", ExactText),
    PrimaryKeyConstraint("user_id", "operation"),
    Index(None, "user_id", "target_id"),
    owner("users"),
)
operation_details = slim(
    "operation_details",
    user(),
    number("operation"),
    Column("detail", ExactJson, nullable=False),
    PrimaryKeyConstraint("user_id", "operation"),
    owner("operations", "operation"),
)
tasks = slim(
    "tasks",
    user(),
    Column("kind", String(16), nullable=False),
    Column("target_id", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "target_id", "kind"),
    owner("users"),
)
requests = slim(
    "requests",
    user(),
    number("request"),
    Column("key", ExactText, nullable=False),
    PrimaryKeyConstraint("user_id", "request"),
    UniqueConstraint("user_id", "key"),
    owner("users"),
)
request_turns = slim(
    "request_turns",
    user(),
    number("request"),
    small("no"),
    number("seq"),
    PrimaryKeyConstraint("user_id", "request", "no"),
    owner("requests", "request"),
    owner("turns", "seq"),
    Index(None, "user_id", "seq"),
)
