"""Growing: what is measured at each size, and that a failure is told."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

import pytest

from mnemic.bench.cost import TimedEmbedder
from mnemic.bench.peers import ours
from mnemic.bench.peers.embedding import embedder
from mnemic.bench.peers.recipes import Recipe
from mnemic.bench.peers.system import Peer
from mnemic.bench.speed import Growth, dialogue, grow, start
from mnemic.bench.speed.measure import Measuring
from mnemic.models.doubles import HashEmbedder

PROGRAM = Path(__file__).parents[1] / "peer_program.py"
RECIPE = Recipe("fake", "fake", (), ("numpy",), {})
NOON = "2024-05-01T12:00:00+00:00"
TIMES = {"cpu_ms", "wall_ms", "cpu_ms_without_embedding", "wall_ms_without_embedding"}


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Starts a peer that keeps all items in a JSON file."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    command = (sys.executable, str(PROGRAM), "good")
    return lambda: Peer(RECIPE, command, fingerprint=HashEmbedder().fingerprint, search_timeout_s=20)


def test_each_size_has_a_measurement(fake):
    added = []
    growth = Growth((30, 50), (2,), queries=4, adds=3, limit_s=60)
    found = list(grow("fake", fake, growth, progress=added.append))
    assert [(one["system"], one["users"], one["turns"]) for one in found] == [
        ("fake", 1, 30),
        ("fake", 1, 50),
        ("fake", 2, 100),
    ]
    # 30; 17 more, for 3 were added one by one; 200.
    assert [one["load"]["turns"] for one in found] == [30, 17, 200]
    assert sum(added) == 53 + 203
    for one in found:
        for what in ("add_one", "search", "search_after_add"):
            assert set(one[what]) == TIMES
            for quantiles in one[what].values():
                assert 0 <= quantiles["p50"] <= quantiles["p95"]
        for clock in ("cpu_ms", "wall_ms"):
            # It embeds when it searches.
            assert one["search"][f"{clock}_without_embedding"]["p50"] < one["search"][clock]["p50"]
        assert one["add_one_ms"] == one["add_one"]["cpu_ms_without_embedding"]["p50"]
        assert one["search_cpu_ms"] == one["search"]["cpu_ms_without_embedding"]
        assert one["search_wall_ms"] == one["search"]["wall_ms"]["p50"]
        assert one["restart_ms"] > 50
        assert one["rss_mb"] > 10
    assert found[0]["bytes"] < found[1]["bytes"] < found[2]["bytes"]


def test_a_failure_is_a_measurement_too_and_ends_that_process(fake, monkeypatch):
    asked = []

    def questions(user, number, *, held, seed):
        asked.append(held)
        return ["raise" if held >= 50 else "we"] * number

    monkeypatch.setattr(dialogue, "questions", questions)
    found = list(grow("fake", fake, Growth((20, 50, 80), (2,), queries=2, adds=1, limit_s=60)))
    assert [(one["users"], one["turns"]) for one in found] == [(1, 20), (1, 50), (1, 80), (2, 100)]
    assert "failed" not in found[0]
    assert "upside down" in found[1]["failed"]
    assert found[2]["failed"] == "not tried after it failed at the size before"
    assert "upside down" in found[3]["failed"]


def test_a_size_has_a_time_limit(fake):
    with fake() as peer:
        began = time.monotonic()
        measuring = Measuring(peer, queries=2, adds=1, seed=0, limit_s=0.0, progress=lambda _: None)
        with pytest.raises(Exception, match="longer than 0 s at this size; give it more by --limit"):
            measuring.measure(1, 10_000)
        assert time.monotonic() - began < 5


def test_mnemic_grows_behind_the_same_wire(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with start("default", embedding="hash", limit_s=60) as peer:
        turns = list(dialogue.turns("u", 0, 41))
        peer.add_turns("u", turns[:40])
        assert peer.search_text("u", turns[3].text, 3).hits[0].session_id == "s0"
        assert peer.add_one("u", turns[40]).embedding_cpu_s > 0
        assert turns[40].turn_id in [t for hit in peer.search_text("u", turns[40].text, 3).hits for t in hit.turn_ids]
        assert peer.restart() > 0
        assert peer.search_text("u", turns[3].text, 3).hits
        assert peer.bytes_on_disk() > 10_000


def test_mnemic_is_given_speakers_times_and_sessions(tmp_path):
    store = ours.variant("default-no-dense")(tmp_path, TimedEmbedder(HashEmbedder()))
    store.add(
        "u",
        [
            {"id": "0", "session": "s0", "text": "Ana: Hi, Bo: hi.", "speaker": "Ana", "said_at": NOON},
            {"id": "1", "session": "s1", "text": "Undated words.", "speaker": "Bo", "said_at": None},
        ],
    )
    first, second = store._memory.get_all(user_id="u")
    assert (first.speaker, first.text, first.session_id) == ("Ana", "Hi, Bo: hi.", "s0")
    assert first.timestamp.isoformat() == NOON
    assert (second.text, second.session_id, second.timestamp) == ("Undated words.", "s1", None)
    assert store.search("u", "undated", 5)[0][0] == "1"
    store.close()


def test_the_embedder_keeps_as_much_as_the_local_one():
    fast, local = embedder("hash"), embedder("local")
    assert fast.dim == local.dim
    text = "My kiln cracked all the bowls, alas!"
    near, far = fast.embed(["my kiln cracked", "bees on the roof"]) @ fast.embed([text])[0]
    assert near > far


def test_the_command_tells_and_writes_every_measurement(cli, tmp_path, monkeypatch):
    def grow(name, start_one, growth, *, progress):
        slow = {"default": 1.0, "chroma": 4.0}[name]
        assert start_one.keywords["embedding"] == "hash"
        for turns in growth.turns:
            progress(turns)
            yield {"system": name, "users": 1, "turns": turns, "add_one_ms": slow, "restart_ms": None}
        yield {"system": name, "users": 2, "turns": 100, "failed": "the index is upside down"}

    monkeypatch.setattr("mnemic.bench.speed.grow", grow)
    arguments = ("bench", "speed", "--sizes", "20,30", "--system", "default", "--system", "chroma", "--queries", "2")
    code, out, err = cli(*arguments, "--output", "s.json", "--json")
    assert code == 0, err
    lines = [json.loads(line) for line in out.splitlines()]
    assert [(one["system"], one["turns"]) for one in lines] == [
        (system, turns) for system in ("default", "chroma") for turns in (20, 30, 100)
    ]
    assert {(one["embedder"], one["queries"], one["seed"]) for one in lines} == {("hash", 2, 0)}
    written = json.loads((tmp_path / "s.json").read_text())
    assert written["speed"] == lines
    assert {"commit", "date", "versions"} <= set(written)
    code, out, err = cli(*arguments, "--report", "report")
    assert code == 0, err
    assert "chroma, 2 × 100 turns: the index is upside down" in out
    multiples = out.partition("As multiples of default")[2]
    assert "4×" in multiples
    assert "upside down" in (tmp_path / "report" / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--sizes", "many"), 2, "whole numbers"),
        (("--sizes", "20,10"), 1, "must rise"),
        (("--sizes", "none", "--users", "none"), 1, "nothing to grow"),
        (("--system", "rrf"), 1, "'rrf' is not measured"),
        (("--embedder", "hush"), 1, "No embedder is called 'hush'"),
    ],
)
def test_what_is_wrong_is_said_first(cli, arguments, code, said):
    left, out, err = cli("bench", "speed", *arguments)
    assert (left, out) == (code, "")
    assert said in " ".join(err.replace("│", " ").split())
