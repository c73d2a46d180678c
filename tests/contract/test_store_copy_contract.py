"""Copies of whole databases: nothing is lost, in either direction, cut or not."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import delete
from store_kit import NOW, batch, claimed, embedder, fresh, note, removal, turn

import mnemic.store
from mnemic.errors import StoreConflict, StoreCorrupt, StoreError
from mnemic.protocols import Store
from mnemic.store import Copied, copy, copying, open_store
from mnemic.store.tables import turns
from postgres_kit import emptied

Place = Callable[[Path], str]
NAMES = ("\0", "\ud83d\ude00", "😀", "ana", "Ana", "; DROP TABLE turns; --", "日本語")
PLACES: dict[str, Place] = {"sqlite": lambda folder: str(folder / "copy.db"), "postgres": emptied}


def fill(store: Store) -> list[str]:
    """A bit of everything; the users."""
    store.use_embedder(embedder())
    store.set_setting("cue_extractor", "rules")
    for name in NAMES:
        said = turn("a", f"words of {name}", metadata={name: name}), turn("b", name)
        store.write(name, batch(*said, vectors="fp", notes=(note("n", said[0]),), work=("notes",), due=NOW), now=NOW)
    store.write("erased some", batch(turn("a"), turn("b")), now=NOW)
    store.write("erased some", removal(store, "erased some", "a"), now=NOW)
    store.write("gone", batch(turn("a")), now=NOW)
    store.delete_user("gone")
    claimed(store, user_id="ana")
    store.begin_reply("no rows yet", "key", b"digest", now=NOW, keep_from=NOW)
    return [*NAMES, "erased some", "gone", "no rows yet"]


def states(store: Store, users: list[str]) -> list[object]:
    return [
        (fresh(store, user).state(), store.counts(user), store.operations(user), store.notes(user)) for user in users
    ]


@pytest.mark.parametrize("to", PLACES)
@pytest.mark.parametrize("cut", [False, True])
def test_everything_arrives_and_comes_back(tmp_path: Path, to: str, cut: bool) -> None:
    source, there, back = tmp_path / "m.db", PLACES[to](tmp_path), tmp_path / "back.db"
    with closing(open_store(source)) as store:
        users = fill(store)
        given = states(store, users)
    if cut:
        _cut(source, there)
    copied = copy(source, there)
    assert copied.users == len(NAMES) + 2
    assert copied.written == copied.users - (5 if cut else 0)
    with closing(open_store(there)) as store:
        assert states(store, users) == given
        assert store.check() == []
        assert (store.embedder(), store.setting("cue_extractor")) == (embedder(), "rules")
        with pytest.raises(StoreConflict, match="not empty"):
            copy(source, there)
    assert copy(there, back) == Copied(copied.users, copied.users, copied.rows, copied.checksum)
    with closing(open_store(back)) as store:
        assert states(store, users) == given
        written = store.write("ana", batch(turn("new")), now=NOW)
        assert written.trace_ids == ("T2",)


def _cut(source: Path, there: str) -> None:
    """Copy six users, then be interrupted; nobody opens the half, and one of the six loses something."""
    done = 0

    def interrupt(users: int) -> None:
        nonlocal done
        done += users
        if done == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy(source, there, progress=interrupt)
    with pytest.raises(StoreError, match=r"is half a copy of .*m.db; finish that with: mnemic copy"):
        open_store(there)
    # What is unlike the source by now is written again.
    half, _ = mnemic.store._prepared(there, 30.0, may_migrate=False)
    with closing(half):
        half.change(lambda connection: connection.execute(delete(turns).where(turns.c.user_id == NAMES[0])))


def test_a_half_copy_of_another_database_and_a_missing_source_are_refused(tmp_path: Path, monkeypatch) -> None:
    for name in ("one.db", "two.db"):
        with closing(open_store(tmp_path / name)) as store:
            store.write("u", batch(turn("a")), now=NOW)
    with monkeypatch.context() as patch:
        patch.setattr(copying, "_finish", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            copy(tmp_path / "one.db", tmp_path / "to.db")
    with pytest.raises(StoreConflict, match=r"to\.db is half a copy of .*one\.db"):
        copy(tmp_path / "two.db", tmp_path / "to.db")
    with pytest.raises(StoreError, match=r"there is no database at .*none\.db"):
        copy(tmp_path / "none.db", tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()
    assert not (tmp_path / "none.db").exists()
    with pytest.raises(StoreConflict, match="onto itself"):
        copy(tmp_path / "one.db", tmp_path / "one.db")
    assert copy(tmp_path / "one.db", tmp_path / "to.db").written == 0


def _interrupted(_: object) -> None:
    raise KeyboardInterrupt


def test_what_does_not_read_back_as_it_was_written_is_told(tmp_path: Path, monkeypatch) -> None:
    with closing(open_store(tmp_path / "m.db")) as store:
        store.write("u", batch(turn("a")), now=NOW)
    truly = copying.insert_rows

    def forgetful(there, table, rows) -> None:
        truly(there, table, [] if table.name == "unit_cues" else rows)

    monkeypatch.setattr(copying, "insert_rows", forgetful)
    with pytest.raises(StoreCorrupt, match="user 'u' read back as"):
        copy(tmp_path / "m.db", tmp_path / "to.db")
