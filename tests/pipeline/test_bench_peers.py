"""A peer's process, under the current interpreter: what it answers, and every way in which it fails."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mnemic.bench.peers import bootstrap
from mnemic.bench.peers.recipes import Recipe
from mnemic.bench.peers.system import Peer
from mnemic.bench.peers.wire import Connection, PeerFailed
from mnemic.bench.records import Question
from mnemic.importers import Conversation
from mnemic.models.doubles import HashEmbedder
from mnemic.types import Turn

PROGRAM = Path(__file__).parents[1] / "peer_program.py"
RECIPE = Recipe("fake", "fake", (), ("numpy",), {"kind": "a double"})
WORDS = ["The barge carries crates.", "Bees live on the roof.", "The barge left at noon.", "Tulips in May."]


def said(*words: str, session: str = "s1", first: int = 0) -> Conversation:
    messages = [
        {"id": str(number), "role": "user", "name": "Ana" if number % 2 else "Bo", "content": text}
        for number, text in enumerate(words, first)
    ]
    return Conversation("u", session, tuple(messages))


def question(text: str, *, user: str = "u", end: int | None = None) -> Question:
    return Question("q", user, "dev", text, "", end=end)


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts peers whose data lies in ``tmp_path``, and closes them."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with ExitStack() as stack:

        def start_one(mode="good", recipe=RECIPE, **limits):
            command = (sys.executable, str(PROGRAM), mode)
            return stack.enter_context(Peer(recipe, command, fingerprint=HashEmbedder().fingerprint, **limits))

        yield start_one


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Iterator[Peer]:
    """One that most tests share, each with a user of its own; ``u`` has said ``WORDS`` in two sessions."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("running")))
        peer = Peer(RECIPE, (sys.executable, str(PROGRAM), "good"), fingerprint=HashEmbedder().fingerprint)
    with peer:
        peer.load("u", [said(*WORDS[:2]), said(*WORDS[2:], session="s2", first=2)])
        yield peer


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits for its parent does not."""
    stat = Path(f"/proc/{pid}/stat")
    try:
        return stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_was_loaded_is_found_with_its_costs(running):
    folder = running._folder
    found = running.search(question("barge"), top_k=2, level="turn")
    assert {hit.turn_ids for hit in found.hits} == {("0",), ("2",)}
    assert {hit.session_id for hit in found.hits} == {"s1", "s2"}
    assert "Bo (undated): The barge left at noon." in {hit.text for hit in found.hits}
    texts = [item["text"] for item in json.loads((folder / "items.json").read_text())["u"]]
    assert texts[:2] == ["Bo: The barge carries crates.", "Ana: Bees live on the roof."]
    assert found.wall_ms > 0
    assert found.cpu_ms >= found.embedding_cpu_ms > 0
    query, *barges = HashEmbedder().embed(["barge", *(texts[int(hit.turn_ids[0])] for hit in found.hits)])
    assert found.relevance == pytest.approx(max(float(query @ barge) for barge in barges), abs=1e-6)
    assert running.rss_mb() > 10
    assert running.configuration["versions"].keys() >= {"numpy", "onnxruntime"}
    assert running.configuration["kind"] == "a double"


def test_loading_tells_how_much_and_how_large(running):
    built = running.load("long", [said(*WORDS)])
    assert built.counts == {"turns": 4}
    assert built.wall_s > 0
    assert built.bytes_on_disk == running.bytes_on_disk() == (running._folder / "items.json").stat().st_size


def test_the_time_of_the_peers_own_process_counts(running):
    assert running.search_text("u", "burn").cpu_ms >= 100
    assert running.search_text("u", "bees").cpu_ms < 100


def test_a_turn_added_later_is_found_and_another_users_is_not(running):
    running.load("ana", [said(*WORDS)])
    running.load("bo", [said("The barge is blue.")])
    running.add_one("ana", Turn("n1", "s9", "user", "Ana", "A barge full of tulips."))
    assert {hit.turn_ids[0] for hit in running.search_text("ana", "barge tulips", 20).hits} == {
        "0",
        "1",
        "2",
        "3",
        "n1",
    }
    assert [hit.turn_ids for hit in running.search_text("bo", "barge", 20).hits] == [("0",)]
    assert running.search_text("nobody", "barge", 20).hits == ()


def test_traces_hold_the_turns_that_mnemic_packs_together(start):
    peer = start(level="trace")
    built = peer.load("u", [said(*WORDS[:2]), said(*WORDS[2:], session="s2", first=2)])
    found = peer.search(question("barge"), top_k=5, level="trace")
    assert sorted(hit.turn_ids for hit in found.hits) == [("0", "1"), ("2", "3")]
    assert built.counts == {"traces": 2}
    assert peer.levels == ("trace",)
    with pytest.raises(ValueError, match="level 'trace', not 'turn'"):
        peer.search(question("barge"), top_k=5, level="turn")


def test_a_question_about_a_part_of_the_history_sees_nothing_later(running):
    running.load("p", [said("Tulips.", *["The barge."] * 9)])
    found = running.search(question("barge", user="p", end=3), top_k=2, level="turn")
    assert {hit.turn_ids for hit in found.hits} == {("1",), ("2",)}
    everything = running.search(question("barge", user="p", end=3), top_k=8, level="turn")
    assert {hit.turn_ids for hit in everything.hits} == {("0",), ("1",), ("2",)}
    assert running.search(question("barge", user="p", end=0), top_k=8, level="turn").hits == ()


def test_it_finds_the_same_after_a_restart(start, tmp_path):
    peer = start()
    peer.load("u", [said(*WORDS)])
    before = peer.search_text("u", "barge")
    seconds = peer.restart()
    assert seconds is not None
    assert 0 < seconds < 60
    assert (next(tmp_path.iterdir()) / "closed").is_file()
    assert peer.search_text("u", "barge").hits == before.hits


def test_a_peer_that_keeps_nothing_is_not_restarted(start):
    peer = start(recipe=Recipe("fake", "fake", (), (), {}, persistent=False))
    peer.load("u", [said(*WORDS)])
    pid = peer._connection.pid
    assert peer.restart() is None
    assert peer._connection.pid == pid


def test_what_the_library_raises_names_the_peer_and_leaves_it_running(running):
    with pytest.raises(PeerFailed, match="fake failed at search: RuntimeError: the index is upside down"):
        running.search_text("u", "raise")
    assert len(running.search_text("u", "barge").hits) == 4


@pytest.mark.parametrize("way", ["call", "lookup"])
def test_nothing_leaves_the_machine(running, way):
    with pytest.raises(PeerFailed, match=r"stays offline.*(192\.0\.2\.1|telemetry\.example)"):
        running.search_text("u", way)


def test_a_crash_names_the_peer_the_exit_code_and_its_last_words(start):
    peer = start()
    pid = peer._connection.pid
    with pytest.raises(
        PeerFailed, match=r"fake's process ended during search \(exit code 7\)(.|\n)*Segmentation fault"
    ):
        peer.search_text("u", "crash")
    with pytest.raises(ProcessLookupError):  # reaped, too
        os.kill(pid, 0)
    with pytest.raises(PeerFailed, match="closed before search"):
        peer.search_text("u", "barge")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see other processes")
def test_one_that_hangs_is_ended_with_its_children(start, tmp_path):
    peer = start(search_timeout_s=1.0)
    started = time.perf_counter()
    with pytest.raises(PeerFailed, match=r"fake did not answer search within 1 s and was ended"):
        peer.search_text("u", "hang")
    assert time.perf_counter() - started < 20
    child = int((next(tmp_path.iterdir()) / "child").read_text())
    for _ in range(100):  # the kernel ends it when it can
        if not is_running(child):
            break
        time.sleep(0.05)
    assert not is_running(child)


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="needs signals sent to one thread")
def test_ctrl_c_ends_the_peer_at_once(tmp_path):
    connection = Connection("deaf", [sys.executable, str(PROGRAM), "deaf", "x"], folder=tmp_path, environment={})
    here = threading.get_ident()
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(here, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        connection.request("load", timeout_s=60)
    timer.join()
    with pytest.raises(ProcessLookupError):
        os.kill(connection.pid, 0)


def test_the_peer_ends_when_its_owner_is_killed(tmp_path):
    # The owner starts a peer, tells its number, and dies without a word to it.
    script = (
        "import os, sys; from mnemic.bench.peers.wire import Connection; from pathlib import Path\n"
        f"c = Connection('p', [sys.executable, {str(PROGRAM)!r}, 'good', {str(tmp_path)!r}],"
        f" folder=Path({str(tmp_path)!r}), environment={{}})\n"
        "c.request('hello', timeout_s=60, packages=[]); print(c.pid, flush=True); os.kill(os.getpid(), 9)\n"
    )
    owner = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert owner.stdout.strip().isdigit(), owner.stderr
    for _ in range(200):
        if (tmp_path / "closed").is_file():
            break
        time.sleep(0.05)
    assert (tmp_path / "closed").is_file()


@pytest.mark.parametrize("words", [10, 200_000], ids=["short", "more than a pipe holds"])
def test_one_that_never_reads_is_ended(tmp_path, words):
    connection = Connection("deaf", [sys.executable, str(PROGRAM), "deaf", "x"], folder=tmp_path, environment={})
    with pytest.raises(PeerFailed, match="deaf did not answer load within"):
        connection.request("load", timeout_s=0.6, items="word " * words)
    connection.close()


@pytest.mark.parametrize(("mode", "line"), [("garbage", "Welcome to the peer!"), ("array", r"\[1\]")])
def test_a_line_that_is_no_reply_is_shown(start, tmp_path, mode, line):
    with pytest.raises(PeerFailed, match=f"fake answered hello with what is no reply: b'{line}"):
        start(mode)
    assert list(tmp_path.iterdir()) == []


def test_another_embedder_is_refused(start, tmp_path):
    with pytest.raises(PeerFailed, match=r"fake embeds with .*, not with "):
        start("other embedder")
    assert list(tmp_path.iterdir()) == []


def test_an_id_that_nobody_gave_is_refused(running):
    with pytest.raises(PeerFailed, match="fake found what is none of user 'u'"):
        running.search_text("u", "stranger")


def test_closing_saves_ends_and_removes_everything(start, tmp_path):
    peer = start()
    peer.load("u", [said(*WORDS)])
    pid = peer._connection.pid
    peer.close()
    peer.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_command_that_cannot_run_says_so(tmp_path):
    with pytest.raises(PeerFailed, match="fake: /no/such/python cannot be run"):
        Connection("fake", ["/no/such/python"], folder=tmp_path, environment={})


def test_a_program_of_a_real_peer_answers_through_the_bootstrap(tmp_path):
    # No peer is installed here, so the answer is which module its environment lacks.
    command = [sys.executable, "-I", bootstrap.__file__, "chroma", str(tmp_path)]
    connection = Connection("chroma", command, folder=tmp_path, environment={})
    try:
        with pytest.raises(PeerFailed, match="chroma failed at hello: ModuleNotFoundError: No module named 'chromadb'"):
            connection.request("hello", timeout_s=60, packages=[])
    finally:
        connection.close()
