"""What goes wrong around PostgreSQL: it restarts, crashes, is away, is not ours, or has words to forget."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import Connection, create_engine, text
from store_faults_kit import NOW, batch

from mnemic.errors import MigrationFailed, StoreCorrupt, StoreError, StoreLocked, StoreNewer, StoreUnavailable
from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Batch
from mnemic.store import migrate, open_store, postgres_schema, schema
from mnemic.store.postgres import PostgresDatabase
from postgres_cluster import Cluster, own_cluster
from scripts.many_processes import run

PASSWORD = "s3cret-password"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with own_cluster() as running:
        yield running


def execute(cluster: Cluster, *statements: str) -> None:
    """From outside, as somebody else."""
    engine = create_engine(cluster.address.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_restart_in_the_middle_is_waited_for_and_loses_nothing(cluster: Cluster, how: str) -> None:
    def between() -> None:
        time.sleep(1.5)
        cluster.stop(how)
        time.sleep(0.5)
        cluster.start()

    found = run(f"{cluster.address}?schema=restarted_{how}", processes=2, seconds=5, users=3, meanwhile=between)
    wrong = ("lost", "duplicated", "reordered", "errors", "indexes_unlike_a_new_one", "problems")
    assert {name: found[name] for name in wrong} == {**dict.fromkeys(wrong, 0), "errors": [], "problems": []}
    assert found["adds"] > 2


def test_four_processes_write_and_read_at_once(cluster: Cluster) -> None:
    found = run(f"{cluster.address}?schema=four", processes=4, seconds=4, users=20)
    wrong = ("lost", "duplicated", "reordered", "errors", "indexes_unlike_a_new_one", "problems")
    assert {name: found[name] for name in wrong} == {**dict.fromkeys(wrong, 0), "errors": [], "problems": []}
    assert found["stored"] == found["acknowledged"] > 0


def test_two_processes_write_and_read_one_file(tmp_path: Path) -> None:
    found = run(str(tmp_path / "m.db"), processes=2, seconds=2, users=20)
    wrong = ("lost", "duplicated", "reordered", "errors", "indexes_unlike_a_new_one", "problems")
    assert {name: found[name] for name in wrong} == {**dict.fromkeys(wrong, 0), "errors": [], "problems": []}
    assert found["stored"] == found["acknowledged"] > 0


def test_a_server_that_is_away_is_said_to_be_and_serves_again_when_it_is_back(cluster: Cluster, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    with closing(open_store(f"{cluster.address}?schema=away", busy_timeout_s=1.0)) as store:
        store.write("u", batch("a"), now=NOW)
        cluster.stop()
        try:
            for attempt in (lambda: store.turns("u"), lambda: store.write("u", batch("b"), now=NOW)):
                with pytest.raises(StoreUnavailable, match=r"cannot be reached.*try again later") as caught:
                    attempt()
                assert PASSWORD not in f"{caught.value!r} {caught.value} {store!r} {vars(store)}"
                assert caught.value.__suppress_context__
            with pytest.raises(StoreUnavailable):
                open_store(f"{cluster.address}?schema=away")
        finally:
            cluster.start()
        store.write("u", batch("c"), now=NOW)
        assert [turn.turn_id for turn in store.turns("u")] == ["a", "c"]
    assert PASSWORD not in caplog.text


def test_a_commit_whose_answer_was_lost_is_looked_up_not_repeated(cluster: Cluster, monkeypatch) -> None:
    """The connection breaks after the server committed: the write counts, once."""
    with closing(open_store(f"{cluster.address}?schema=answer")) as store:
        store.write("u", batch("a"), now=NOW)
        was_cut: list[bool] = []
        looked_up: list[bool] = []
        counts, commit = PostgresDatabase._counts, Connection._commit_impl

        def cut(connection: Connection) -> None:
            commit(connection)
            if not was_cut:
                was_cut.append(True)
                raw = connection.connection.driver_connection
                number = raw.info.backend_pid
                execute(cluster, f"SELECT pg_terminate_backend({number})")
                time.sleep(0.2)
                raw.execute("SELECT 1")

        def count(self: PostgresDatabase, number: int, user_id: str | None) -> bool:
            looked_up.append(counts(self, number, user_id))
            return looked_up[-1]

        monkeypatch.setattr(PostgresDatabase, "_counts", count)
        monkeypatch.setattr(Connection, "_commit_impl", cut)
        store.write("u", batch("b"), now=NOW)
        monkeypatch.undo()
        assert looked_up == [True]
        assert [turn.turn_id for turn in store.turns("u")] == ["a", "b"]


def test_who_holds_a_user_too_long_is_in_the_way_of_that_user_alone(cluster: Cluster) -> None:
    address = f"{cluster.address}?schema=held"
    with closing(open_store(address)) as holder, closing(open_store(address, busy_timeout_s=0.3)) as store:
        store.write("u", batch("a"), now=NOW)
        held, done = threading.Event(), threading.Event()

        def hold(_: Connection) -> None:
            held.set()
            done.wait(20)

        thread = threading.Thread(target=lambda: holder._database.change(hold, user_id="u"))
        thread.start()
        held.wait(20)
        try:
            with pytest.raises(StoreLocked, match="held is locked by other transactions"):
                store.write("u", batch("b"), now=NOW)
            store.write("v", batch("b"), now=NOW)
            assert [turn.turn_id for turn in store.turns("u")] == ["a"]
        finally:
            done.set()
            thread.join()
        store.write("u", batch("b"), now=NOW)


def test_transactions_that_collide_are_run_again(cluster: Cluster) -> None:
    """Two that take the same two users crosswise: the server ends one of them, which is run again."""
    with closing(open_store(f"{cluster.address}?schema=cross")) as store:
        for user in ("u", "v"):
            store.write(user, batch("a"), now=NOW)
        meet = threading.Barrier(2)
        tries: list[str] = []

        def cross(first: str, second: str) -> None:
            def do(connection: Connection) -> None:
                tries.append(first)
                for user in (first, second):
                    connection.execute(
                        text("UPDATE users SET revision = revision + 1 WHERE user_id = :user"), {"user": user.encode()}
                    )
                    if len(tries) <= 2 and user == first:
                        meet.wait(20)

            store._database.change(do)

        threads = [threading.Thread(target=cross, args=pair) for pair in (("u", "v"), ("v", "u"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(tries) == 3
        assert [store.revision(user) for user in ("u", "v")] == [3, 3]


def test_erased_words_are_in_no_file_of_the_tables(cluster: Cluster) -> None:
    address = f"{cluster.address}?schema=erased"
    with Memory.open(address, embedder=HashEmbedder(16), workers=0) as memory:
        memory.add("The zanzibarword is my plan.", user_id="ana")
        memory.add("The xylophoneword stays.", user_id="ana")
        memory.add("The wolverineword is mine.", user_id="quokkauser")
        (first, _) = memory.get_all(user_id="ana")
        assert found_in(cluster, "zanzibarword", "quokkauser") == {"zanzibarword", "quokkauser"}
        memory.delete(user_id="ana", turn_id=first.turn_id)
        memory.delete_all(user_id="quokkauser")
        words = ("zanzibarword", "xylophoneword", "wolverineword", "quokkauser")
        assert found_in(cluster, *words) == {"xylophoneword"}
        assert memory._store.check() == []


def found_in(cluster: Cluster, *words: str) -> set[str]:
    """Which words stand in files of tables and indexes."""
    execute(cluster, "CHECKPOINT")
    files = [path.read_bytes() for path in (cluster.data / "base").rglob("*") if path.is_file()]
    return {word for word in words if any(word.encode() in content for content in files)}


def test_what_could_not_be_rewritten_is_at_the_next_opening(cluster: Cluster, monkeypatch, caplog) -> None:
    address = f"{cluster.address}?schema=later"
    monkeypatch.setattr("mnemic.store.postgres_erasure._PATIENCE_S", 0.2)
    with closing(open_store(address)) as store:
        store.write("u", batch("a", text="The narwhalword.", cue="narwhalword"), now=NOW)
        with store._database.read() as reader:
            reader.execute(text("SELECT count(*) FROM turns")).all()  # holds the table
            store.delete_user("u")
        assert "erased words stay" in caplog.text
        assert found_in(cluster, "narwhalword")
    open_store(address).close()
    assert not found_in(cluster, "narwhalword")


def test_tables_of_another_program_are_left_alone(cluster: Cluster) -> None:
    execute(cluster, "CREATE SCHEMA theirs", "CREATE TABLE theirs.users (name text)")
    for attempt in (open_store, migrate):
        with pytest.raises(StoreCorrupt, match="theirs holds the tables of another program"):
            attempt(f"{cluster.address}?schema=theirs")


def test_a_newer_schema_is_refused_and_an_older_one_on_request(cluster: Cluster) -> None:
    address = f"{cluster.address}?schema=newer"
    open_store(address).close()
    execute(cluster, "UPDATE newer.alembic_version SET version_num = '9999'")
    with pytest.raises(StoreNewer, match="schema 9999"):
        open_store(address)
    execute(cluster, "UPDATE newer.alembic_version SET version_num = '0006'")
    with pytest.raises(StoreError, match="older mnemic; run: mnemic migrate --db") as caught:
        open_store(address, migrate=False)
    assert PASSWORD not in str(caught.value)


def test_a_database_grows_through_all_schemas_and_a_failure_leaves_the_old_one(cluster: Cluster, monkeypatch) -> None:
    address = f"{cluster.address}?schema=grows"
    old = schema.History(schema.REVISIONS[:4], schema.HISTORY.scripts)
    with monkeypatch.context() as patch:
        for module in (schema, postgres_schema):
            patch.setattr(module, "HISTORY", old)
        assert migrate(address).after == "0004"

    def fails(connection: Connection) -> None:
        connection.execute(text("DROP TABLE usage"))
        raise RuntimeError("no luck")

    with monkeypatch.context() as patch:
        patch.setattr(schema, "upgrade", fails)
        with pytest.raises(MigrationFailed, match=r"still at schema 0004 and usable.*no luck"):
            migrate(address)
    done = migrate(address)
    assert (done.before, done.after, done.backup) == ("0004", schema.HISTORY.head, None)
    with closing(open_store(address)) as store:
        store.write("u", batch("a"), now=NOW)
        assert store.check() == []


def test_wrong_passwords_and_names_are_refused_at_once(cluster: Cluster) -> None:
    started = time.monotonic()
    with pytest.raises(StoreError, match='database "nowhere" does not exist') as caught:
        open_store(cluster.address.replace("/postgres", "/nowhere"))
    assert PASSWORD not in str(caught.value)
    assert time.monotonic() - started < 10


def test_an_unlike_row_is_a_problem(cluster: Cluster) -> None:
    with closing(open_store(f"{cluster.address}?schema=odd")) as store:
        store.write("u", batch("a"), now=NOW)
        store.write("u", Batch(), now=NOW)
        execute(cluster, "DELETE FROM odd.trace_spans")
        assert any("traces hold no words" in problem for problem in store.check())
