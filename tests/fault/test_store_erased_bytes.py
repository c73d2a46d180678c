"""After an erasure no byte of the erased words is left in any of the database's files."""

from __future__ import annotations

import logging
import random
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from store_faults_kit import NOW, batch

from mnemic.protocols import Batch, Held, NoteState, Store
from mnemic.store import open_store
from mnemic.store.sqlite import SqliteFile
from mnemic.types import Episode, Interval, Span, Trace, Turn, Unit


def words_left(path: Path, words: Iterable[str]) -> set[str]:
    """Those of the words that stand in one of the files."""
    content = b"\n".join(file.read_bytes() for file in path.parent.iterdir())
    return {word for word in words if word.encode() in content}


def secret(name: str) -> Batch:
    """One turn with words of its own in every place where a caller's words can be."""
    made = batch(f"id-{name}", text=f"text-{name}", cue=f"cue-{name}")
    (turn,), (note,) = made.turns, made.notes
    told = replace(
        turn,
        speaker=f"speaker-{name}",
        session_id=f"session-{name}",
        agent_id=f"agent-{name}",
        given={"given": f"given-{name}"},
        metadata={"key": f"metadata-{name}"},
    )
    noted = replace(
        note, text=f"note-{name}", about=f"about-{name}", metadata={"key": f"aside-{name}"}, given_id=f"under-{name}"
    )
    trace = replace(made.traces[0], session_id=f"session-{name}")
    surfaces = {f"cue-{name}": f"surface-{name}"}
    return replace(made, turns=(told,), notes=(noted,), traces=(trace,), surfaces=surfaces)


_IN_A_TURN = ("id", "text", "cue", "surface", "speaker", "session", "agent", "given", "metadata", "earlier", "later")
_IN_A_NOTE = ("note", "about", "aside", "under", "revised", "detail", "why")
_OF_A_MODEL = ("topic", "summary", "late", "form", "replaced")
SECRETS = [f"{place}-owl" for place in (*_IN_A_TURN, *_IN_A_NOTE, *_OF_A_MODEL)]


def read_by_a_model(store: Store, user_id: str, name: str) -> None:
    """What a model makes of the secret turn: in every place where its words can be."""
    (note,) = store.notes(user_id, about=f"about-{name}")
    always = Interval(None, None)
    next_version = replace(note, version=2, text=f"revised-{name}", status="proposed")
    made = Batch(
        mentions={(f"id-{name}", 0): {f"late-{name}": 1}},
        surfaces={f"late-{name}": f"form-{name}"},
        notes=(next_version,),
        details={0: {"key": f"detail-{name}"}},
        held={0: Held("extending", note.note_id)},
        states=(
            NoteState(note.note_id, 1, "RETRACT", ("current", always), ("retracted", always), {"w": f"why-{name}"}),
        ),
        episodes=(Episode("", f"session-{name}", (f"id-{name}",), f"replaced-{name}", "", always, "model"),),
    )
    (first,) = store.write(user_id, made, now=NOW).episode_ids
    again = replace(made.episodes[0], topic=f"topic-{name}", summary=f"summary-{name}")
    store.write(user_id, Batch(episodes=(again,), remove_episodes=(first,)), now=NOW)


def tell(store: Store) -> None:
    store.write("u", batch("kept", text="kept words", cue="kept cue"), now=NOW)
    store.write("u", secret("owl"), now=NOW)
    read_by_a_model(store, "u", "owl")
    store.set_metadata("u", "id-owl", {"key": "earlier-owl"}, now=NOW)
    store.set_metadata("u", "id-owl", {"key": "later-owl"}, now=NOW)


def forget(store: Store) -> None:
    (trace,) = store.traces("u", turn_ids=["id-owl"])
    store.write("u", Batch(remove_turns=("id-owl",), remove_traces=(trace.trace_id,)), now=NOW)


@pytest.mark.fault("B111")
def test_an_erased_turn_leaves_no_word(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as store:
        tell(store)
        # SQLite itself wipes what was in the place of an episode.
        assert words_left(path, SECRETS) >= set(SECRETS) - {"replaced-owl"}
        forget(store)
        assert words_left(path, SECRETS) == set()
        assert words_left(path, ["kept words", "kept cue"]) == {"kept words", "kept cue"}
        assert store.check() == []


def test_an_erased_user_leaves_no_word(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as store:
        store.write("user-owl", replace(secret("owl"), work=("notes",), due=NOW), now=NOW)
        read_by_a_model(store, "user-owl", "owl")
        store.write("other", batch("kept", text="kept words"), now=NOW)
        store.delete_user("user-owl")
        assert words_left(path, [*SECRETS, "user-owl", "kept words"]) == {"kept words"}


def test_rows_that_moved_between_pages_leave_no_copy(tmp_path: Path) -> None:
    """SQLite's ``secure_delete`` alone fails this: it zeroes a row, not the copies that moving it left behind."""
    path, random_ = tmp_path / "memory.db", random.Random(5)
    living: dict[str, tuple[str, str]] = {}
    erased: list[str] = []
    with closing(open_store(path)) as store:
        for round_ in range(12):
            turns, units, traces = [], [], []
            for i in range(60):
                turn_id, word = f"{random_.getrandbits(32):08x}", f"w{random_.getrandbits(48):012x}"
                text = word + " " * int(random_.expovariate(1 / 150))
                turns.append(Turn(turn_id, f"s{i % 3}", "user", "Ana", text))
                units.append(Unit(turn_id, 0, len(text), {f"c{word}": 1}))
                traces.append(Trace("", -1, f"s{i % 3}", (Span(turn_id, 0, len(text)),), 1))
                living[turn_id] = (word, "")
            written = store.write("u", Batch(turns=tuple(turns), units=tuple(units), traces=tuple(traces)), now=NOW)
            for turn, trace_id in zip(turns, written.trace_ids, strict=True):
                living[turn.turn_id] = (living[turn.turn_id][0], trace_id)
            gone = random_.sample(sorted(living), 20 + round_)
            removed = tuple(living[turn_id][1] for turn_id in gone)
            store.write("u", Batch(remove_turns=tuple(gone), remove_traces=removed), now=NOW)
            erased += gone
            erased += [living.pop(turn_id)[0] for turn_id in gone]
        assert words_left(path, erased) == set()
        kept = [word for word, _ in living.values()]
        assert words_left(path, kept) == set(kept)


def test_a_reader_in_the_way_only_delays_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path, busy_timeout_s=0.05)) as store:
        tell(store)
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM turns").fetchall()
            with caplog.at_level(logging.WARNING, "mnemic"):
                forget(store)
        assert "erased words stay" in caplog.text
        assert words_left(path, SECRETS) >= set(SECRETS) - {"replaced-owl"}
        with closing(open_store(path)):
            assert words_left(path, SECRETS) == set()


def test_being_killed_before_it_only_delays_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory.db"
    with monkeypatch.context() as patch, closing(open_store(path)) as store:
        tell(store)
        patch.setattr(SqliteFile, "scrub", lambda _: None)
        forget(store)
        assert words_left(path, SECRETS) != set()
    with closing(open_store(path)):
        assert words_left(path, SECRETS) == set()


def test_no_erasure_no_rewriting(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(open_store(path)) as store:
        tell(store)
        forget(store)
    before = path.stat().st_mtime_ns
    with closing(open_store(path)):
        assert path.stat().st_mtime_ns == before
