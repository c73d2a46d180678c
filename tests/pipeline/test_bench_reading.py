"""mnemic with a language model that reads what is added, run whole: through the command line, a local server for it."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest
from test_bench_generated import MODEL, TALK, run

from mnemic.bench import datasets
from mnemic.bench.answers import ReplyCache
from mnemic.bench.cost import TimedEmbedder, TimedExtractor
from mnemic.bench.generated.model import MemoryModel
from mnemic.bench.generated.reader import Reader
from mnemic.bench.records import Question
from mnemic.bench.systems.named import READ
from mnemic.bench.systems.ours import Ours
from mnemic.config import Environment
from mnemic.errors import MnemicError
from mnemic.importers import Conversation
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.protocols import Reply
from model_server import serving

pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
pytest.importorskip("nltk", reason="the extra bench is not installed")


def numbers(user):
    """The numbers of what is shown, and their words."""
    return [(int(number), words) for number, words in re.findall(r"^(\d+)\. (.*)$", user, re.MULTILINE)]


def stated(user, tag):
    """What each numbered line of a part says, without who said it and when."""
    inside = user.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    return [(number, words.partition("): ")[2] or words) for number, words in numbers(inside)]


def scripted(system, user):
    """A model that notes what is said as it stands, and finds that notes never suffice."""
    if "memory graph" in system:
        said = numbers(user)
        notes = [{"from": [n], "kind": "fact", "about": "", "text": words, "cues": ["kiln"]} for n, words in said]
        return json.dumps({"notes": notes, "sentences": [{"n": n, "cues": ["pottery"]} for n, _ in said]})
    if "List what the question" in system:
        return json.dumps({"cues": ["kiln", "cat"]})
    if "collect facts" in system:
        return json.dumps({"facts": [{"from": [n], "text": words} for n, words in stated(user, "dialogue")]})
    if "what they said: numbered lines" in system:
        return json.dumps({"notes": []})
    if "in order. The lines" in system:
        said = [(n, words.removeprefix("[fact] ")) for n, words in stated(user, "notes")]
        notes = [{"from": [n], "kind": "fact", "text": words, "date": ""} for n, words in said]
        return json.dumps({"notes": notes})
    if "cut a dialogue" in system:
        last = max(n for n, _ in numbers(user))
        return json.dumps({"segments": [{"start": 0, "end": last, "topic": "pottery", "summary": "About a kiln."}]})
    if "exactly one character" in system:
        return "1" if user.count("Bo (") and user.count("Ana (") else "0"
    if "would have answered it" in system:
        said = [(n, words) for n, words in stated(user, "evidence") if "Marguerite" in words]
        return json.dumps({"notes": [{"from": [n], "kind": "fact", "text": words, "date": ""} for n, words in said]})
    if "compare each note" in system:
        return json.dumps({"pairs": [{"new": 1, "relation": "independent", "old": 0, "text": ""}]})
    raise AssertionError(system)


@pytest.fixture
def server(monkeypatch):
    with serving(scripted) as running:
        monkeypatch.setenv("OPENAI_BASE_URL", running.address)
        monkeypatch.setenv("OPENAI_API_KEY", "secret")
        yield running


@pytest.fixture
def bench(cli, server, tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps(TALK))
    return lambda *arguments: cli("bench", "locomo", "--data", "talk.json", *arguments)


def test_heros_half_of_a_model_reads_each_trace_once(bench, server):
    [found] = run(bench, "--system", "hero-model", *MODEL, "--json")
    build = found["build"]
    assert found["levels"] == ["trace", "turn"]
    assert found["trace"]["fraction"]["5"] == 1.0
    assert {purpose: one["calls"] for purpose, one in build["usage"].items()} == {"cues": 2}
    assert (build["model_calls"], build["tokens_in"], build["tokens_out"]) == (2, 200, 20)
    assert build["counts"]["work done"] == build["counts"]["traces"] == 2
    assert build["counts"]["work failed"] == 0
    assert build["counts"]["notes"] >= 5
    assert 0 < build["counts"]["prompt tokens"] < 3000
    assert found["configuration"]["enrichment"] == "hero"
    # And each question's cues are asked for once, whatever the level.
    assert calls(found["asking"]["usage"]) == {"cues": 3}
    assert len(server.asked) == 2 + 3
    # A second run asks nobody, and gives equal numbers.
    [again] = run(bench, "--system", "hero-model", *MODEL, "--json")
    assert len(server.asked) == 2 + 3
    assert (again["trace"], again["build"]["usage"]) == (found["trace"], build["usage"])


def calls(usage):
    return {purpose: one["calls"] for purpose, one in usage.items()}


def test_himem_reads_sessions_and_finds_notes_and_episodes(bench, server):
    [found] = run(bench, "--system", "himem", *MODEL, "--json")
    build = found["build"]
    assert found["levels"] == ["trace"]
    assert found["trace"]["fraction"]["5"] == 1.0
    # Three stages for each of two sessions and people; facts are not held against known notes.
    assert calls(build["usage"]) == {"notes": 12, "segment": 2}
    assert (build["counts"]["work done"], build["counts"]["episodes"]) == (4, 2)
    assert "asking" not in found
    assert found["configuration"]["mode"] == "hybrid"


@pytest.mark.parametrize(
    ("name", "usage"),
    [
        ("himem-no-alignment", {"notes": 8, "segment": 2}),
        ("himem-note-alignment", {"notes": 12, "segment": 2}),
        ("himem-episode-alignment", {"notes": 8, "segment": 2}),
    ],
)
def test_without_alignment_there_is_no_third_stage(bench, name, usage):
    [found] = run(bench, "--system", name, *MODEL, "--json")
    assert calls(found["build"]["usage"]) == usage
    assert found["trace"]["fraction"]["10"] == 1.0


@pytest.mark.parametrize(("aligned", "asked"), [("himem-episode-alignment", 1), ("himem-no-alignment", 0)])
def test_topics_are_aligned_or_not(bench, server, aligned, asked):
    topics = iter(("pottery kilns", "pottery ovens"))

    def reply(system, user):
        if "Choose the topic" in system:
            return json.dumps({"choice": 1})
        if "cut a dialogue" in system:
            found = json.loads(scripted(system, user))
            found["segments"][0]["topic"] = next(topics)
            return json.dumps(found)
        return scripted(system, user)

    server.reply = reply
    run(bench, "--system", aligned, *MODEL, "--json")
    assert sum("Choose the topic" in system for system, _ in server.asked) == asked


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("himem", "- Surprise: the turn is abrupt"),
        ("himem-topic-only", "and nowhere else"),
        ("himem-coarse", "Rather cut too coarse than too fine"),
    ],
)
def test_sessions_are_cut_by_the_rule_of_the_ablation(bench, server, name, wanted):
    run(bench, "--system", name, *MODEL, "--json")
    cuts = [system for system, _ in server.asked if "cut a dialogue" in system]
    assert len(cuts) == 2
    assert all(wanted in system for system in cuts)


def shown(server):
    """What the answering model was shown for Ana's kiln."""
    asked = [user for system, user in server.asked if "You answer a question" in system and "fixed Ana" in user]
    assert asked
    return re.findall(r"<fragment>\n(.*?)\n</fragment>", asked[-1], re.DOTALL)


def test_who_answers_sees_what_was_written_and_episodes_whole(bench, server):
    server.reply = lambda system, user: (
        json.dumps({"reasoning": "x", "answer": "Marguerite"}) if "You answer" in system else scripted(system, user)
    )
    note = "Ana (2023-05-12 10:00 UTC): Marguerite came by and fixed the kiln."
    episode = f"{note}\nBo (2023-05-12 10:00 UTC): How kind of her."
    for name, wanted, unwanted in (
        ("himem-no-episodes", note, episode),
        ("himem-no-notes", episode, note),
        ("himem", note, None),
        ("himem", episode, None),
    ):
        run(bench, "--system", name, *MODEL, "--answer-model", "openai-chat:scripted", "--json")
        found = shown(server)
        assert wanted in found
        assert unwanted not in found


def test_best_effort_asks_once_where_notes_suffice_and_twice_where_not(bench, server):
    arguments = ("--system", "himem-best-effort", *MODEL, "--keep", "kept", "--json")
    [found] = run(bench, *arguments)
    # Two questions name one person, whose notes alone do not suffice.
    assert calls(found["asking"]["usage"]) == {"sufficiency": 5}
    assert found["asking"]["calls_per_query"] == pytest.approx(5 / 3, abs=1e-3)
    assert found["asking"]["model_tokens_per_query"] == pytest.approx(5 * 110 / 3, abs=1e-3)
    assert 0 < found["latency_without_models_ms"]["p50"] < found["latency_ms"]["p50"]
    asked = len(server.asked)
    [again] = run(bench, *arguments)
    assert len(server.asked) == asked
    assert again["asking"] == found["asking"]
    # Kept replies took as long as when they came.
    assert 0 < again["latency_without_models_ms"]["p50"] < again["latency_ms"]["p50"]
    assert again["trace"] == found["trace"]


def test_evolution_writes_notes_and_changes_no_memory_that_is_kept(bench, server):
    arguments = ("--system", "himem-evolution", *MODEL, "--keep", "kept", "--json")
    [found] = run(bench, *arguments)
    assert calls(found["asking"]["usage"]) == {"sufficiency": 5, "notes": 2}
    [again] = run(bench, *arguments)
    assert (again["trace"], again["asking"]) == (found["trace"], found["asking"])
    [plain] = run(bench, "--system", "himem-best-effort", *MODEL, "--keep", "kept", "--json")
    assert plain["build"]["counts"] == found["build"]["counts"]


def test_a_report_tells_searches_with_and_without_the_models_time(bench, tmp_path):
    names = ("himem", "himem-best-effort", "hero-model", "default")
    systems = [part for name in names for part in ("--system", name)]
    told = run(bench, *systems, *MODEL, "--report", "report")
    assert re.search(
        r"^\| models asked by a search .*\| without model p50 .*\| calls \| tokens \|$", told, re.MULTILINE
    )
    assert re.search(r"^\| himem-best-effort +\|.* 1.67 +\| 183 +\|$", told, re.MULTILINE)
    page = (tmp_path / "report" / "report.md").read_text()
    assert re.search(
        r"^\| himem-best-effort, searching: sufficiency +\| 5 +\| 500 +\| 50 +\| 0 +\|$", page, re.MULTILINE
    )
    assert re.search(r"^\| hero-model, cues +\| 2 +\| 200 +\| 20 +\| 0 +\|$", page, re.MULTILINE)
    assert "HERO's paper counts 182,269" in page


def test_words_stand_beside_what_a_model_made_of_them(cli, bench, server):
    """HERO's table 3: a detail that the words have, and memory that a model wrote has lost."""
    server.reply = lambda system, user: scripted(system, user).replace("Marguerite came by and", "Somebody")
    arguments = ("talk/0", "--data", "talk.json", "--system", "himem-no-episodes", "--top-k", "2", *MODEL)
    code, out, err = cli("bench", "follow", "locomo", *arguments, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert any("Marguerite" in hit["text"] for hit in found["ways"]["default"]["results"] if hit["gold"])
    [lost] = [one for one in found["others"]["himem-no-episodes"] if one["gold"]]
    assert (lost["turn_ids"], lost["text"]) == (["D2:1"], "Ana (2023-05-12 10:00 UTC): Somebody fixed the kiln.")
    code, out, err = cli("bench", "follow", "locomo", *arguments)
    assert code == 0, err
    assert out.index("himem-no-episodes: HiMem: notes alone") < out.index("Somebody fixed the kiln.")
    assert re.search(r"\d\. of D2:1  holds evidence", out)


class Scripted:
    name = "scripted:model"

    def complete(self, request):
        return Reply(scripted(request.system, request.user), "stop", 10, 5)


@pytest.mark.parametrize("name", ["himem", "himem-best-effort", "himem-no-episodes", "himem-no-notes", "hero-model"])
def test_a_question_about_a_part_of_a_history_sees_that_part_alone(tmp_path, name):
    """As PersonaMem asks: messages are numbered, and what lies behind the question's place lends nothing."""
    lines = ("My kiln cracked.", "How sad.", "Marguerite fixed the kiln.", "How kind.")
    messages = tuple(
        {"id": str(place), "role": "user", "name": "Bo" if place % 2 else "Ana", "content": line}
        for place, line in enumerate(lines)
    )
    subject = Ours(
        name,
        READ[name].config,
        embedder=TimedEmbedder(HashEmbedder()),
        extractor=TimedExtractor(RuleCues()),
        reader=Reader(READ[name].reading, MemoryModel(Scripted(), ReplyCache(tmp_path / "replies.jsonl"))),
    )
    with closing(subject):
        subject.load("ana", [Conversation("ana", "s", messages)])
        for end, unseen in ((2, "Marguerite"), (4, None)):
            asked = Question("q", "ana", "dev", "Who fixed Ana's kiln?", "x", end=end)
            found = subject.search(asked, top_k=10, level="trace")
            turns = {int(turn_id) for hit in found.hits for turn_id in hit.turn_ids}
            assert turns
            assert max(turns) < end
            assert unseen is None or not any(unseen in hit.text for hit in found.hits)
            assert (2 in turns) == (end == 4)


class Silent:
    """A model that finds nothing in a dialogue."""

    name = "scripted:silent"

    def complete(self, request):
        said = [{"n": n, "cues": ["x"]} for n, _ in numbers(request.user)]
        return Reply(json.dumps({"notes": [], "sentences": said}), "stop", 1, 1)


def test_heros_half_of_a_model_is_sent_at_most_half_of_what_the_paper_counts(tmp_path):
    """182,269 tokens for a conversation of LoCoMo (methods.md 5.3); what is sent depends on the words alone."""
    try:
        found = datasets.load("locomo", "dev", data=Environment.read().data)
    except MnemicError as reason:
        pytest.skip(str(reason))
    reader = Reader(READ["hero-model"].reading, MemoryModel(Silent(), ReplyCache(tmp_path / "replies.jsonl")))
    subject = Ours(
        "hero-model",
        READ["hero-model"].config,
        embedder=TimedEmbedder(HashEmbedder()),
        extractor=TimedExtractor(RuleCues()),
        reader=reader,
    )
    user, conversations = max(found.conversations.items(), key=lambda one: sum(len(said.messages) for said in one[1]))
    with closing(subject):
        built = subject.load(user, conversations)
    assert 20_000 < built.counts["prompt tokens"] < 182_269 / 2
    assert built.counts["work done"] == built.counts["traces"]


# Models that fail -------------------------------------------------------------------------------------


def test_a_run_that_was_cut_goes_on_and_pays_nothing_twice(bench, server):
    code, out, err = bench("--system", "himem", *MODEL, "--model-tokens", "330", "--json")
    assert (code, out) == (1, "")
    assert "took 330 tokens" in " ".join(err.split())
    assert len(server.asked) == 3
    [found] = run(bench, "--system", "himem", *MODEL, "--json")
    assert found["build"]["model_calls"] == len(server.asked) == 14


def test_a_reply_that_cannot_be_used_is_asked_for_anew(bench, server):
    answers = iter(["I would rather not.", "{"])
    server.reply = lambda system, user: (
        next(answers, None) or scripted(system, user) if "collect facts" in system else scripted(system, user)
    )
    [found] = run(bench, "--system", "himem", *MODEL, "--json")
    assert found["build"]["counts"]["work failed"] == 0
    assert found["build"]["usage"]["notes"] == {"calls": 14, "tokens_in": 1400, "tokens_out": 140, "unreadable": 2}
    asked = len(server.asked)
    [again] = run(bench, "--system", "himem", *MODEL, "--json")
    assert len(server.asked) == asked
    assert again["build"]["usage"] == found["build"]["usage"]


@pytest.mark.parametrize(
    ("system", "prompt", "purpose", "unusable"),
    [
        ("hero-model", "List what the question", "cues", 3),
        ("himem-best-effort", "exactly one character", "sufficiency", 6),
        ("himem-evolution", "would have answered it", "notes", 2),
    ],
)
def test_replies_that_a_search_cannot_use_are_counted(bench, server, system, prompt, purpose, unusable):
    server.reply = lambda said, user: "Hm." if prompt in said else scripted(said, user)
    code, out, err = bench("--system", system, *MODEL, "--json")
    assert code == 0, err
    assert json.loads(out)["asking"]["usage"][purpose]["unreadable"] == unusable
    assert "replies were declined or not what was asked for" in " ".join(err.split())


def test_work_that_fails_for_good_is_counted_and_loses_no_words(bench, server):
    server.reply = lambda system, user: "" if "collect facts" in system else scripted(system, user)
    [found] = run(bench, "--system", "himem", *MODEL, "--json")
    assert found["build"]["counts"]["work failed"] == 2
    assert found["build"]["counts"]["episodes"] == 2
    assert found["trace"]["fraction"]["20"] == 1.0


def test_a_model_that_is_gone_ends_the_run(bench, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    code, out, err = bench("--system", "hero-model", *MODEL, "--json")
    assert (code, out) == (1, "")
    assert "gave no reply about cues" in " ".join(err.split())


@pytest.mark.parametrize("name", ["hero-model", "himem", "himem-coarse"])
def test_without_a_model_it_is_refused(bench, server, name):
    code, out, err = bench("--system", name)
    assert (code, out) == (1, "")
    assert "add --model PROVIDER:MODEL" in " ".join(err.split())
    code, _, err = bench("--system", "himem", "--set", "graph=1", *MODEL)
    assert (code, "has no settings" in " ".join(err.split())) == (1, True)
    assert server.asked == []
