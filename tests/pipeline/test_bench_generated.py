"""Systems whose memory a language model writes, run whole: through the command line, a local server for a model.

mem0 is the real one, in its own environment; where that cannot be made (no network, say) its tests are skipped.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from mnemic.bench.answers import ReplyCache
from mnemic.bench.generated.model import MemoryModel
from mnemic.bench.generated.peer import GeneratingPeer
from mnemic.bench.peers.environment import CACHE, prepare
from mnemic.bench.peers.recipes import Recipe, recipe
from mnemic.bench.peers.wire import PeerFailed
from mnemic.bench.records import Question, Usage
from mnemic.errors import LanguageModelFailed
from mnemic.importers import Conversation
from mnemic.models.doubles import HashEmbedder, ScriptedModel
from mnemic.protocols import Reply
from model_server import serving

pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
pytest.importorskip("nltk", reason="the extra bench is not installed")

PROGRAM = Path(__file__).parents[1] / "asking_peer_program.py"
MODEL = ("--model", "openai-chat:scripted", "--replies", "replies.jsonl")

TALK = [
    {
        "sample_id": "talk",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "My kiln cracked all the bowls."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "My cat is called Tadeus."},
                {"speaker": "Ana", "dia_id": "D1:3", "text": "I adore cats!"},
            ],
            "session_2_date_time": "10:00 am on 12 May, 2023",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "Marguerite came by and fixed the kiln."},
                {"speaker": "Bo", "dia_id": "D2:2", "text": "How kind of her."},
            ],
        },
        "qa": [
            {"question": "Who fixed Ana's kiln?", "answer": "Marguerite", "evidence": ["D2:1"], "category": 4},
            {"question": "What is the cat called?", "answer": "Tadeus", "evidence": ["D1:2"], "category": 4},
            {"question": "Why did Bo buy a kiln?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        ],
    }
]


def scripted(system, user):
    """Whoever asks gets what its prompt asks for; memories say what mem0's new messages say."""
    if "Memory Extractor" in system:
        said = re.findall(r"^user: (.*)$", user.partition("## New Messages")[2], re.MULTILINE)
        return json.dumps({"memory": [{"id": "0", "text": " ".join(said), "attributed_to": "user"}]})
    if "divide a conversation" in system:
        turns = user.count("<turn>")
        ends = [0, turns - 1] if turns > 2 else [turns - 1]
        starts = [0, *(end + 1 for end in ends)]
        found = [{"start": start, "end": end, "summary": "x"} for start, end in zip(starts, ends, strict=False)]
        return json.dumps({"segments": found})
    if "Decide how the new note" in system:
        return json.dumps({"links": [0], "tags": ["pottery"], "rewritten": []})
    if "Describe it" in system:
        return json.dumps({"keywords": ["kiln", "cat", "bowl"], "context": "About a kiln.", "tags": ["craft"]})
    return json.dumps({"reasoning": "x", "answer": "Marguerite"})


@pytest.fixture
def server(monkeypatch):
    """The model; ``reply`` may be changed while it runs."""
    with serving(scripted) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.address)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        yield running


@pytest.fixture
def bench(cli, server, tmp_path):
    """Runs ``mnemic bench locomo`` on a small file in the published form."""
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    return lambda *arguments: cli("bench", "locomo", "--data", "talk.json", *arguments)


@pytest.fixture(scope="module")
def mem0():
    """Makes sure that mem0's environment is there."""
    try:
        prepare(recipe("mem0-infer"), CACHE)
    except PeerFailed as reason:
        pytest.skip(f"mem0's environment cannot be made here: {reason}")


def run(bench, *arguments):
    code, out, err = bench(*arguments)
    assert code == 0, err
    return [json.loads(line) for line in out.splitlines()] if "--json" in arguments else out


# Our own two ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "level", "usage"),
    [("a-mem", "turn", {"notes": 5, "links": 4}), ("secom", "trace", {"segment": 2})],
)
def test_a_whole_run_measures_recall_and_counts_what_was_asked(bench, server, name, level, usage):
    [found] = run(bench, "--system", name, *MODEL, "--json")
    assert found["levels"] == [level]
    assert (found["n"], found[level]["fraction"]["5"]) == (2, 1.0)
    build = found["build"]
    calls = sum(usage.values())
    assert {purpose: one["calls"] for purpose, one in build["usage"].items()} == usage
    assert (build["model_calls"], build["tokens_in"], build["tokens_out"]) == (calls, 100 * calls, 10 * calls)
    assert not any(one["unreadable"] for one in build["usage"].values())
    assert build["counts"]["turns"] == 5
    assert found["configuration"]["model"] == "openai-chat:scripted"
    assert len(server.asked) == calls
    assert {body["model"] for body in server.bodies} == {"scripted"}
    # A second run asks nobody, and gives equal numbers.
    [again] = run(bench, "--system", name, *MODEL, "--json")
    assert len(server.asked) == calls
    assert {**again[level], "usage": again["build"]["usage"]} == {**found[level], "usage": build["usage"]}


def test_a_run_that_was_cut_goes_on_and_pays_nothing_twice(bench, server):
    code, out, err = bench("--system", "a-mem", *MODEL, "--model-tokens", "330", "--json")
    assert (code, out) == (1, "")
    assert "took 330 tokens" in " ".join(err.split())
    assert len(server.asked) == 3
    [found] = run(bench, "--system", "a-mem", *MODEL, "--json")
    assert found["build"]["model_calls"] == 9
    assert len(server.asked) == 9


@pytest.mark.parametrize("reply", ["I cannot do that.", ("", "content_filter"), ('{"segments": [{"start', "length")])
def test_bad_replies_lose_no_turn(bench, server, reply):
    server.reply = lambda *_: reply
    for name, level, unreadable in (("secom", "trace", 2), ("a-mem", "turn", 9)):
        code, out, err = bench("--system", name, *MODEL, "--json")
        assert code == 0, err
        found = json.loads(out)
        assert found[level]["fraction"]["20"] == 1.0
        assert sum(one["unreadable"] for one in found["build"]["usage"].values()) == unreadable
        assert f"{name}: {unreadable} of {unreadable} replies were declined" in " ".join(err.split())


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--system", "a-mem"), 1, "add --model PROVIDER:MODEL"),
        (("--system", "mem0-infer"), 1, "add --model PROVIDER:MODEL"),
        (("--beside", "secom", "--answer-model", "openai-chat:x", "--replies", "r"), 1, "add --model PROVIDER:MODEL"),
        (("--system", "a-mem", "--model", "gpt"), 1, "PROVIDER:MODEL"),
        (("--model-tokens", "5"), 2, "nothing to limit without --model"),
        (("--system", "secom", "--set", "graph=1", *MODEL), 1, "has no settings"),
    ],
)
def test_it_is_refused_before_anything_is_asked(bench, server, arguments, code, said):
    left, out, err = bench(*arguments)
    assert (left, out) == (code, "")
    assert said in " ".join(err.replace("│", " ").split())
    assert server.asked == []


def test_a_model_that_is_given_is_asked_by_nobody_who_was_not_named(bench, server):
    run(bench, "--system", "bm25", *MODEL, "--json")
    assert server.asked == []


def test_raw_evidence_stands_against_generated_memory_and_beside_it(bench, server, tmp_path):
    """A report compares recall of turns, segments and notes; mnemic's evidence is added to what each of them found."""
    answering = ("--answer-model", "openai-chat:scripted", "--beside", "default-no-dense")
    names = ("default-no-dense", "a-mem", "secom")
    told = run(
        bench, *(part for name in names for part in ("--system", name)), *MODEL, *answering, "--report", "report"
    )
    assert re.search(r"^\| cost .*\| model calls \| tokens in \| tokens out \|$", told, re.MULTILINE)
    page = (tmp_path / "report" / "report.md").read_text()
    against = page.partition("### Against")[2].partition("### ")[0]
    assert re.search(r"^\| a-mem +\|", against, re.MULTILINE)
    assert re.search(r"^\| secom +\|", against, re.MULTILINE)
    assert re.search(r"^\| a-mem, links +\| 4 +\| 400 +\| 40 +\| 0 +\|$", page, re.MULTILINE)
    for host in ("a-mem", "secom"):
        assert re.search(rf"^\| {host}\+default-no-dense +\|", page, re.MULTILINE)
    beside = [user for _, user in server.asked if "<memories>" in user]
    assert any("keywords: kiln" in user.partition("<fragments>")[0] for user in beside)
    assert all("Marguerite came by and fixed the kiln." in user.partition("<fragments>")[2] for user in beside)


# A peer that asks over the wire -----------------------------------------------------------------------


def said(*lines, session="s1"):
    messages = (
        {
            "id": f"{session}:{place}",
            "role": "user",
            "name": "Ana",
            "content": line,
            "timestamp": "2024-03-01T10:00:00Z",
        }
        for place, line in enumerate(lines)
    )
    return Conversation("u", session, tuple(messages))


def asked(text):
    return Question("q", "u", "dev", text, "")


@pytest.fixture
def start(tmp_path, monkeypatch):
    """Starts a peer that asks this script."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    opened = []

    def start_one(*replies):
        model = MemoryModel(ScriptedModel(replies), ReplyCache(tmp_path / "replies.jsonl"), wait=lambda _: None)
        command = (sys.executable, str(PROGRAM))
        fake = Recipe("fake", "fake", (), (), {"kind": "a double"}, persistent=False)
        opened.append(GeneratingPeer(fake, command, fingerprint=HashEmbedder().fingerprint, model=model))
        return opened[-1]

    yield start_one
    for peer in opened:
        peer.close()


def test_a_memory_shows_all_messages_of_the_call_it_came_from(start):
    peer = start("Ana has a kiln.", "", Reply("Ana likes tulips.", "stop", 7, 3))
    built = peer.load("u", [said("kiln", "bowls", "rain"), said("tulips", session="s2")])
    [tulips, kiln] = peer.search(asked("tulips"), top_k=5, level="trace").hits
    assert (tulips.turn_ids, tulips.session_id) == (("s2:0",), "s2")
    assert (kiln.turn_ids, kiln.text) == (("s1:0", "s1:1"), "Memory (2024-03-01 10:00 UTC): Ana has a kiln.")
    assert built.counts == {"turns": 4, "memories": 2}
    assert built.usage["notes"].calls == 3
    assert built.wall_s > 0
    assert peer.levels == ("trace",)
    assert peer.configuration["writer"] == "scripted:model"


def test_what_the_library_could_not_read_is_counted(start):
    peer = start("unreadable", "Ana has a kiln.")
    built = peer.load("u", [said("a", "b", "c")])
    assert built.usage["notes"] == Usage(2, *_tokens(peer), unreadable=1)
    assert len(peer.search(asked("kiln"), top_k=5, level="trace").hits) == 1


def _tokens(peer):
    usage = peer._model.usage["notes"]
    return usage.tokens_in, usage.tokens_out


def test_another_user_begins_anew(start):
    peer = start("one", "two", "three")
    peer.load("u", [said("a", "b", "c")])
    assert peer.load("v", [said("d")]).usage["notes"].calls == 1
    assert [hit.text for hit in peer.search(Question("q", "v", "dev", "three", ""), top_k=5, level="trace").hits] == [
        "Memory (2024-03-01 10:00 UTC): three"
    ]


def test_the_peer_has_no_key(start, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    peer = start("environment")
    peer.load("u", [said("a")])
    [hit] = peer.search(asked("a"), top_k=1, level="trace").hits
    assert "MEM0_TELEMETRY" in hit.text
    assert "OPENAI" not in hit.text


def test_a_model_that_fails_ends_the_run_and_the_peer(start):
    peer = start("one")
    with pytest.raises(LanguageModelFailed, match="gave no reply about notes"):
        peer.load("u", [said("a", "b", "c")])
    with pytest.raises(ProcessLookupError):
        os.kill(peer._connection.pid, 0)


# mem0, the real one -----------------------------------------------------------------------------------


def test_mem0_writes_memories_and_they_are_measured(bench, server, mem0):
    arguments = (
        "--system",
        "mem0-infer",
        *MODEL,
        "--answer-model",
        "openai-chat:scripted",
        "--beside",
        "bm25",
        "--json",
    )
    found, alone, beside = run(bench, *arguments)
    # Two messages a call: two and one of the first session, two of the second.
    assert found["build"]["usage"] == {"notes": {"calls": 3, "tokens_in": 300, "tokens_out": 30, "unreadable": 0}}
    assert found["build"]["counts"] == {"turns": 5, "memories": 3}
    assert found["trace"]["fraction"]["5"] == 1.0
    assert found["configuration"]["versions"]["mem0ai"] == "2.2.1"
    assert [one["answers"]["system"] for one in (alone, beside)] == ["mem0-infer", "mem0-infer+bm25"]
    extracting = [user for system, user in server.asked if "Memory Extractor" in system]
    assert len(extracting) == 3  # the second ingestion, for the answers, took the kept replies
    assert "## Observation Date\n2023-05-12" in extracting[2]
    assert "user: Ana: Marguerite came by and fixed the kiln." in extracting[2]
    shown = next(user for _, user in server.asked if "<memories>" in user)
    assert "Memory (2023-05-12 10:00 UTC): Ana: Marguerite came by and fixed the kiln." in shown


def test_mem0_goes_on_after_replies_that_it_cannot_read(bench, server, mem0):
    def reply(system, user):
        new = user.partition("## New Messages")[2]
        if "bowls" in new:
            return json.dumps({"memory": ["a text", "and another"]})
        if "adore" in new:
            return "", "content_filter"
        return f"<think>Hm.</think>\n```json\n{scripted(system, user)}\n```"

    server.reply = reply
    [found] = run(bench, "--system", "mem0-infer", *MODEL, "--json")
    assert found["build"]["usage"]["notes"]["unreadable"] == 1
    assert found["build"]["counts"] == {"turns": 5, "memories": 1}
    assert found["trace"]["fraction"]["5"] == 0.5
