"""A receipt is true: what it says is gone stands in no file, in no form, whatever was under way."""

from __future__ import annotations

import base64
import gzip
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, text

from byte_search_kit import below, forms, found, unpacked, vectors
from mnemic import Memory
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.models.purposes import LanguageModels
from mnemic.protocols import KeptReply
from mnemic.store import open_store
from mnemic.types import Erased
from postgres_cluster import Cluster, own_cluster
from reading_kit import ReadingModel

NOW = datetime(2024, 5, 20, 10, tzinfo=UTC)
WORDS = ("zymurgyquokka", "heliotropeville")
SECRET = f"I love {WORDS[0]} and live in {WORDS[1]}."
KEPT = "We met at the harbourmaster on Monday."


class Place:
    """A database, and the files in which its words may be."""

    def __init__(self, address: str, files: Callable[[], list[Path]], out_of_reach: str) -> None:
        self.address = address
        self.files = files
        self.out_of_reach = out_of_reach

    def open(self, model: ReadingModel | None = None, *, workers: int = 0, dim: int = 64) -> Memory:
        store = open_store(self.address)
        models = LanguageModels(model, store, clock=lambda: NOW) if model else None
        return Memory(
            store, embedder=HashEmbedder(dim), cue_extractor=RuleCues(), clock=lambda: NOW, models=models,
            workers=workers,
        )  # fmt: skip


_FIRST_OF_USERS = 16384
"""PostgreSQL's own relations have smaller numbers."""


def _relation(file: Path) -> int:
    """The number of the relation that lies in a file; 0 for another file."""
    return int("".join(takewhile(str.isdigit, file.name)) or 0)


class Server:
    """A PostgreSQL of this module's own."""

    def __init__(self, cluster: Cluster, engine: Engine) -> None:
        self.address = cluster.address
        self._data = cluster.data
        self._engine = engine

    def files(self) -> list[Path]:
        """All that its programs did not make for themselves, samples for its planner besides.

        Its write-ahead log is not among them: receipts name it.
        """
        with self._engine.connect() as connection:
            for table in ("turns", "cues", "notes", "operations", "unit_vectors", "trace_vectors"):
                connection.execute(text(f"ANALYZE {table}"))  # as people do
            connection.execute(text("CHECKPOINT"))
            catalog = "SELECT pg_relation_filepath(c.oid) FROM pg_class c, pg_class s WHERE s.relname = 'pg_statistic'"
            query = text(f"{catalog} AND c.oid IN (s.oid, s.reltoastrelid)")
            samples = {self._data / name for name in connection.execute(query).scalars()}
        of_users = (path for path in below(self._data / "base") if _relation(path) >= _FIRST_OF_USERS)
        return [*of_users, *samples]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with own_cluster() as running:
        address = running.address.replace("postgresql:", "postgresql+psycopg:")
        engine = create_engine(address, isolation_level="AUTOCOMMIT")
        yield Server(running, engine)
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    if request.param == "sqlite":
        temporary = tmp_path / "temporary"
        temporary.mkdir()
        monkeypatch.setenv("SQLITE_TMPDIR", str(temporary))
        yield Place(str(tmp_path / "memory.db"), lambda: below(tmp_path), "backups and copies that were made")
        return
    server: Server = request.getfixturevalue("server")
    yield Place(server.address, server.files, "write-ahead log")
    with closing(open_store(server.address)) as store:
        store.delete_user("ana")


def needles(*dims: int) -> dict[str, bytes]:
    """All forms of the secret's words, and of its vectors by every embedder that was there."""
    embedded = [HashEmbedder(dim).embed([SECRET])[0] for dim in dims]
    return {f"{word}, {how}": form for word in WORDS for how, form in forms(word).items()} | vectors(embedded)


def tell(memory: Memory) -> None:
    """A secret in every way in which words come, beside what is to stay."""
    encoded = [base64.b64encode(b"\0" * before + SECRET.encode()).decode() for before in range(3)]
    message = {"id": "secret", "role": "user", "name": "Quokka", "content": SECRET, "metadata": {"encoded": encoded}}
    memory.add([message], user_id="ana", session_id="one", timestamp=NOW, idempotency_key="first")
    memory.add([{"id": "kept", "role": "user", "name": "Ana", "content": KEPT}], user_id="ana", session_id="one")
    memory.wait(user_id="ana")
    replies = memory._store
    packed = gzip.compress(SECRET.encode())
    replies.begin_reply("ana", "k", b"asked", now=NOW, keep_from=NOW)
    replies.finish_reply("ana", "k", KeptReply(b"asked", 200, packed + zlib.compress(SECRET.encode())))


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    every = {**forms("zymurgy>?"), **vectors(HashEmbedder(16).embed(["zymurgy"]))}
    vector = HashEmbedder(16).embed(["zymurgy"])[0]
    for how, content in {
        "plain": b"a zymurgy>? b",
        "base64 at 0": base64.b64encode(b"abczymurgy>?d"),
        "base64 at 1": base64.b64encode(b"abcdzymurgy>?ef"),
        "base64 at 2": base64.b64encode(b"abzymurgy>?"),
        "base64 at 2, of addresses": base64.urlsafe_b64encode(b"abzymurgy>?"),
        "<f2 0": b"x" + vector.astype("<f2").tobytes() + b"y",
        "<f4 0": b"xy" + vector.astype("<f4").tobytes(),
    }.items():
        for pack in (bytes, zlib.compress, gzip.compress, lambda plain: b"head" + zlib.compress(plain, 1) + b"tail"):
            file.write_bytes(pack(content))
            assert how in found([file], every), how
    file.write_bytes(b"x\x9c zymurg \x78\x9c\x1f\x8b\x08")
    assert found([file], every) == set()
    assert unpacked(b"..." + gzip.compress(b"abc") + b"...") == [b"abc"]


_TURN = ({"turn_id": "secret"}, "turn", "secret")
_SPEAKER = ({"speaker": "Quokka"}, "speaker", "Quokka")
_SESSION = ({"session_id": "one"}, "session", "one")
_USER = ({"everything": True}, "user", None)


@pytest.mark.parametrize(
    ("place", "given", "what", "name"),
    # On the slower one, the two that go by different ways; on the other, all.
    [("sqlite", *one) for one in (_TURN, _SPEAKER, _SESSION, _USER)]
    + [("postgres", *one) for one in (_SPEAKER, _USER)],
    indirect=["place"],
)
def test_nothing_is_left_of_what_the_receipt_says_is_gone(place: Place, given, what: str, name: str | None) -> None:
    with closing(place.open(ReadingModel(), workers=1)) as memory:
        tell(memory)
        memory.search("Who lives in heliotropeville?", user_id="ana", explain=True)
        wanted = needles(64)
        there = found(place.files(), wanted)
        assert {f"{word}, plain" for word in WORDS} <= there
        assert {f"{word}, base64 at {n}" for word in WORDS for n in range(3)} <= there
        assert "<f2 0" in there
        assert any(SECRET.encode() in one for file in place.files() for one in unpacked(file.read_bytes()))
        before = memory.status(user_id="ana").counts
        receipt = memory.erase(user_id="ana", **given)
        assert found(place.files(), wanted) == set()
        assert (receipt.what, receipt.name, receipt.at, receipt.lingers) == (what, name, NOW, ())
        assert any(place.out_of_reach in where for where in receipt.unreached)
        after = memory.status(user_id="ana").counts
        assert before is not None
        assert after is not None
        erased = receipt.erased
        assert (erased.turns, erased.units) == (before.turns - after.turns, before.units - after.units)
        assert erased.cues == before.cues - after.cues
        assert min(erased.turns, erased.traces, erased.cues, erased.vectors, erased.operations, erased.notes) > 0
        stays = what in ("turn", "speaker")
        assert bool(found(place.files(), {"kept": b"harbourmaster"})) == stays
        assert bool(memory.search("harbourmaster", user_id="ana").results) == stays
        assert memory.check() == []


class AtWork:
    """Adding, making vectors late, and changing the embedder, each by a thread of its own, until it is told to stop."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._stop = threading.Event()
        self._failures: list[Exception] = []
        self._began = threading.Event()
        self._threads = [threading.Thread(target=self._reported, args=(do,)) for do in (self._add, self._switch)]

    def __enter__(self) -> None:
        for thread in self._threads:
            thread.start()
        assert self._began.wait(30)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)
        assert self._failures == []

    def _reported(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:  # noqa: BLE001 - of any kind: told by the test
            self._failures.append(error)

    def _add(self) -> None:
        for number in range(40):
            message = {"id": f"more-{number}", "role": "user", "name": "Ana", "content": f"I have {number} bees."}
            self._memory.add([message], user_id="ana", session_id=f"s{number % 3}", embed="later")
            self._memory.add(SECRET, user_id="ana", session_id="gone", embed="later")
            self._began.set()
            if self._stop.is_set():
                return

    def _switch(self) -> None:
        self._began.wait(30)
        self._memory.reembed(HashEmbedder(96))


def test_nothing_comes_back_while_models_and_embedders_are_at_work(place: Place) -> None:
    """Erased in the midst of enrichment, of vectors made late, and of a change of the embedder."""
    wanted = needles(64, 96)
    with closing(place.open(ReadingModel(delay_s=0.01), workers=2)) as memory:
        tell(memory)
        assert "<f2 0" in found(place.files(), wanted)
        with AtWork(memory):
            memory.erase(user_id="ana", turn_id="secret")
            assert memory.erase(user_id="ana", session_id="gone").erased.turns >= 1
            time.sleep(0.2)
        memory.add(SECRET, user_id="ana", session_id="gone", embed="later")
        memory.erase(user_id="ana", session_id="gone")  # while the last of it is read and embedded
        memory.wait(user_id="ana", timeout=60)
        assert found(place.files(), wanted) == set()
        assert memory.check() == []
        assert memory.search("bees", user_id="ana").results
    assert found(place.files(), wanted) == set()


def test_a_receipt_of_nothing_counts_nothing(place: Place) -> None:
    with closing(place.open()) as memory:
        receipt = memory.erase(user_id="nobody", everything=True)
        assert receipt.erased == Erased()
        assert receipt.lingers == ()
