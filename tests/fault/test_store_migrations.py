"""The schema's history: from every past schema to the current one, whole or not at all, with a copy from before."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import StaticPool, Table, create_engine
from store_faults_kit import NOW, batch, python

from mnemic.config import Budgets
from mnemic.errors import MigrationFailed, StoreCorrupt, StoreError, StoreLocked, StoreNewer
from mnemic.protocols import Amount, KeptReply, Usage
from mnemic.store import Migrated, migrate, open_store, schema
from mnemic.store.columns import tables
from mnemic.store.migrations import REVISIONS
from mnemic.store.schema import HISTORY, History
from mnemic.store.sqlite import APPLICATION_ID, SqliteFile
from mnemic.types import Enrichment

DUMPS = Path(__file__).parent / "schemas"
HEADER = ("application_id", "user_version", "page_size", "journal_mode", "auto_vacuum", "encoding")
SPENT = Amount(2, 300, 40, 0.0012, 1)

NEXT = """
from alembic import op
import sqlalchemy as sa
revision, down_revision, branch_labels, depends_on = "next", "{head}", None, None

def upgrade():
    op.add_column("turns", sa.Column("mood", sa.Integer()))
    op.execute("UPDATE turns SET mood = 1")
    {body}
"""


MIGRATOR = """
import sys
from pathlib import Path
from mnemic.store import open_store, schema

schema.HISTORY = schema.History(tuple(sys.argv[2].split()), Path(sys.argv[3]))
open_store(sys.argv[1]).close()
"""

# Dies when so many of the statements that make a new file have been executed.
CREATOR = """
import os, signal, sys
from mnemic.store import open_store, schema

def dying(statements=schema.creation()):
    yield from statements[: int(sys.argv[2])]
    os.kill(os.getpid(), signal.SIGKILL)

schema.creation = dying
open_store(sys.argv[1])
"""


def history(folder: Path, body: str = "") -> History:
    """The real one and one migration more."""
    scripts = folder / "scripts"
    shutil.copytree(HISTORY.scripts, scripts, ignore=shutil.ignore_patterns("__pycache__"))
    (scripts / "versions" / "next.py").write_text(NEXT.format(head=HISTORY.head, body=body), encoding="utf-8")
    return History((*HISTORY.revisions, "next"), scripts)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A closed database with one turn, of what the tests make a past schema."""
    path = tmp_path / "data" / "memory.db"
    path.parent.mkdir()
    with closing(open_store(path)) as store:
        store.write("u", batch("a"), now=NOW)
    return path


def look(path: Path) -> tuple[str, list[str], int]:
    """Schema, columns of the turns, and how many there are."""
    with closing(sqlite3.connect(path)) as connection:
        (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        columns = [row[1] for row in connection.execute("PRAGMA table_info(turns)")]
        return revision, columns, connection.execute("SELECT count(*) FROM turns").fetchone()[0]


def names(path: Path) -> list[str]:
    return sorted(file.name for file in path.parent.iterdir())


# past schemas ------------------------------------------------------------------------------------------


def shape(path: Path) -> dict[str, str]:
    """Name -> definition of each table and index, white space aside."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return {name: "".join(sql.split()) for name, sql in rows if name != "alembic_version"}


def restore(revision: str, path: Path) -> None:
    """A database of a past schema, from its dump."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((DUMPS / f"{revision}.sql").read_text(encoding="utf-8"))
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")


def test_every_schema_has_its_dump() -> None:
    assert sorted(file.stem for file in DUMPS.iterdir()) == sorted(REVISIONS)


@pytest.mark.parametrize("revision", REVISIONS)
def test_from_every_past_schema(revision: str, tmp_path: Path) -> None:
    path, new = tmp_path / "old.db", tmp_path / "new.db"
    restore(revision, path)
    open_store(new).close()
    with closing(open_store(path)) as store:
        assert store.check() == []
        assert store.users() == ["ana\0", "bo"]
        first, second = store.turns("ana\0")
        assert (first.turn_id, first.text, first.metadata) == ("t1", "I moved to Oslo in May. \ud800", {"k": ["é"]})
        assert first.timestamp is not None
        assert first.timestamp.isoformat() == "2024-05-17T09:00:00+02:00"
        assert (second.turn_id, second.session_id, second.timestamp) == ("t2", "s1", None)
        assert [trace.spans[0].turn_id for trace in store.traces("ana\0")] == ["t1", "t2"]
        assert [list(unit.cues) for unit in store.units("ana\0", ["t1", "t2"])] == [["oslo", "may"], ["oslo"]]
        old, current = store.notes("ana\0", statuses=("current", "superseded"))
        assert (old.text, current.text, current.version) == ("I moved to Oslo in May.", "I live in Oslo.", 2)
        assert [entry.action for entry in store.operations("ana\0")] == ["ADD", "UPDATE"]
        assert store.request("ana\0", "key") == ("t1", "t2")
        delta = store.load("ana\0", since=0)
        assert [row.unit_vectors.tolist() for row in delta.turns if row.unit_vectors is not None] == [[[0.5, -2.0]]]
        assert [key for key, _, vector in delta.cues if vector is not None] == ["oslo"]
        assert store.counts("ana\0").pending == 1
        record = store.embedder()
        assert record is not None
        assert (record.fingerprint, record.dim, record.thresholds.tau_iter) == ("fp", 2, 0.3)
        assert store.setting("cue_extractor") == "rules"
        assert store.usage("ana\0") == ([Usage(NOW.date(), "notes", SPENT)] if revision >= "0004" else [])
        enriched = store.enrichment("ana\0"), [found.topic for found in store.episodes("ana\0")]
        assert enriched == ((Enrichment(pending=2), ["moving"]) if revision >= "0005" else (Enrichment(), []))
        assert store.enqueue("ana\0", ("notes", "cues"), due=NOW) == (2 if revision >= "0005" else 4)
        assert [key.name for key in store.all_keys()] == (["laptop"] if revision >= "0006" else [])
        known = store.begin_reply("ana\0", "r1", b"again", now=NOW, keep_from=datetime(2024, 1, 1, tzinfo=UTC))
        assert known == (KeptReply(b"asked", 201, b"{}") if revision >= "0006" else KeptReply(b"again"))
        store.spend("ana\0", "notes", SPENT, day=NOW.date(), within=Budgets())
        store.write("bo", batch("new"), now=NOW)
    assert shape(path) == shape(new)


def test_a_new_file_is_what_the_migrations_lead_to(tmp_path: Path) -> None:
    new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
    open_store(new).close()
    file = SqliteFile(migrated, busy_timeout_s=1)
    file.create_if_missing()
    file.prepare_new()
    with file.raw() as raw:
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
        with engine.begin() as connection:
            config = Config()
            config.set_main_option("script_location", str(HISTORY.scripts))
            config.attributes["connection"] = connection
            command.upgrade(config, HISTORY.head)
            raw.execute(f"PRAGMA application_id={APPLICATION_ID}")
    file.close()
    assert everything(new) == everything(migrated)
    assert len(everything(new)["objects"]) > 60


def everything(path: Path) -> dict[str, object]:
    """What SQLite knows of a file: its header, each table, index and column with its definition, and the stamp."""
    with closing(sqlite3.connect(path)) as connection:
        header = [connection.execute(f"PRAGMA {name}").fetchone() for name in HEADER]
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        of_tables = {
            (table, pragma): connection.execute(f"PRAGMA {pragma}({table})").fetchall()
            for kind, table, _, _ in rows
            if kind == "table"
            for pragma in ("table_xinfo", "foreign_key_list")
        }
        stamp = connection.execute("SELECT * FROM alembic_version").fetchall()
    objects = sorted((kind, name, of, "".join((sql or "").split())) for kind, name, of, sql in rows)
    return {"header": header, "objects": objects, "tables": of_tables, "stamp": stamp}


def test_the_revisions_are_those_of_the_scripts() -> None:
    found = [script.revision for script in ScriptDirectory(str(HISTORY.scripts)).walk_revisions()]
    assert tuple(reversed(found)) == REVISIONS


@pytest.mark.parametrize("table", tables.sorted_tables, ids=lambda table: table.name)
def test_every_primary_key_begins_with_the_user(table: Table) -> None:
    key = [column.name for column in table.primary_key]
    shared = {
        **{"embedders": ["embedder"], "settings": ["name"], "departed": ["digest"]},
        "spending": ["day", "purpose"],
        "api_keys": ["key_id"],
    }
    assert key == shared.get(table.name, ["user_id", *key[1:]])


# migrating ---------------------------------------------------------------------------------------------


def test_opening_migrates_after_a_copy(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent))
    open_store(path).close()
    revision, columns, count = look(path)
    assert (revision, columns[-1], count) == ("next", "mood", 1)
    copy = path.with_name(f"memory.db.backup-{HISTORY.head}")
    assert names(path) == ["memory.db", copy.name]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert look(copy)[0] == HISTORY.head
    monkeypatch.undo()
    with closing(open_store(copy)) as store:
        assert store.check() == []
        assert [turn.turn_id for turn in store.turns("u")] == ["a"]
    with pytest.raises(StoreNewer):
        open_store(path)


def test_migrating_by_hand_says_what_was_done(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = HISTORY.head
    assert migrate(path) == Migrated(head, head, None)
    assert migrate(path.with_name("new.db")) == Migrated(None, head, None)
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent))
    with pytest.raises(StoreError, match=r"run: mnemic migrate --db .*memory\.db"):
        open_store(path, migrate=False)
    assert names(path) == ["memory.db", "new.db"]
    assert migrate(str(path)) == Migrated(head, "next", path.with_name(f"memory.db.backup-{head}"))
    open_store(path, migrate=False).close()


def test_migrating_says_nothing_else(path: Path) -> None:
    more = history(path.parent.parent)
    loud = f"import logging\nlogging.basicConfig(level=logging.INFO)\n{MIGRATOR}"
    process = python(loud, path, " ".join(more.revisions), more.scripts)
    assert process.communicate() == ("", "")
    assert look(path)[0] == "next"


@pytest.mark.parametrize(
    "body",
    [
        'raise RuntimeError("no")',
        'op.execute("SELECT nothing")',
        'op.execute("DELETE FROM users")',
    ],
)
def test_a_failing_migration_leaves_the_old_schema(path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    before = look(path)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "HISTORY", history(path.parent.parent, body))
        with pytest.raises(MigrationFailed, match=rf"memory\.db is still at schema {HISTORY.head} and usable"):
            open_store(path)
    assert look(path) == before
    with closing(open_store(path)) as store:
        store.write("u", batch("b"), now=NOW)
        assert store.check() == []


def test_a_failing_copy_stops_the_migration(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look(path)
    path.with_name(f"memory.db.backup-{HISTORY.head}.partial").mkdir()
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent))
    with pytest.raises(MigrationFailed, match="usable"):
        open_store(path)
    assert look(path) == before


@pytest.mark.fault("B191")
def test_a_killed_migration_leaves_the_old_schema(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = look(path)
    killing = history(path.parent.parent, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    process = python(MIGRATOR, path, " ".join(killing.revisions), killing.scripts)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert "memory.db-wal" in names(path)
    with closing(open_store(path)) as store:
        assert [turn.turn_id for turn in store.turns("u")] == ["a"]
        assert store.check() == []
    assert look(path) == before
    shutil.rmtree(killing.scripts)
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent))
    open_store(path).close()
    assert look(path)[0] == "next"


@pytest.mark.parametrize("made", [1, 30])
def test_a_killed_creation_is_made_up_for(made: int, tmp_path: Path) -> None:
    path = tmp_path / "data" / "memory.db"
    path.parent.mkdir()
    process = python(CREATOR, path, made)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    with closing(open_store(path)) as store:
        store.write("u", batch("a"), now=NOW)
    assert look(path)[0] == HISTORY.head
    assert names(path) == ["memory.db"]


def test_of_those_who_open_at_once_one_migrates(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = 'op.execute("UPDATE turns SET mood = 1 + (SELECT count(*) FROM turns WHERE mood > 1)")'
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent, counted))
    with ThreadPoolExecutor(5) as pool:
        done = list(pool.map(migrate, [path] * 5))
    assert sorted(one.before for one in done if one.before) == sorted([HISTORY.head] + ["next"] * 4)
    assert look(path)[0] == "next"


def test_a_writer_in_the_way_is_waited_for(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "HISTORY", history(path.parent.parent))
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreLocked):
            migrate(path, busy_timeout_s=0.05)
    assert look(path)[0] == HISTORY.head
    assert names(path) == ["memory.db"]


def test_a_file_of_another_program_is_not_migrated(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("PRAGMA application_id=7")
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match="another program"):
        migrate(path)
    assert path.read_bytes() == before
