"""The benchmark's runner, and mnemic as one of its systems."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mnemic.bench import runner
from mnemic.bench.cost import TimedEmbedder, TimedExtractor
from mnemic.bench.records import Dataset, Found, Hit, Question
from mnemic.bench.systems import Setup
from mnemic.bench.systems.ours import Ours
from mnemic.config import Fusion, Hero
from mnemic.errors import EmbeddingFailed, InvalidFile
from mnemic.importers import Conversation
from mnemic.memory import Memory
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder

KILN = ("Ana", "My kiln cracked all the bowls.")
CAT = ("Bo", "My cat is called Tadeus.")
MOVE = ("Ana", "We moved to Lisbon in spring.")
DOG = ("Bo", "The dog sleeps beside the kiln.")


def conversation(user, session, *lines, ids=None):
    return Conversation(
        user,
        session,
        tuple(
            {
                "id": ids[n] if ids else f"{session}:{n}",
                "role": "user",
                "name": speaker,
                "content": words,
                "timestamp": f"2024-03-{n + 1:02}T10:00:00+00:00",
            }
            for n, (speaker, words) in enumerate(lines)
        ),
    )


def ask(number, text, *gold, user="u1", **more):
    return Question(f"{user}/{number}", user, "dev", text, "single-hop", gold=gold, **more)


@pytest.fixture
def dataset():
    return Dataset(
        name="locomo",
        split="dev",
        checksum="0" * 64,
        conversations={
            "u1": (conversation("u1", "s1", KILN, CAT), conversation("u1", "s2", MOVE)),
            "u2": (conversation("u2", "s1", DOG, MOVE),),
        },
        questions=(
            ask(0, "What did the kiln crack?", "s1:0", gold_sessions=("s1",)),
            ask(0, "Where did they move in spring?", "s1:1", user="u2"),
            ask(1, "Where is Lisbon?", "s2:0", "s1:1"),
            ask(2, "What is the name of the parrot?", answerable=False),
        ),
    )


def ours(tmp_path, config=None, keep=None, embedder=None):
    return Ours(
        "default",
        config or Fusion(),
        embedder=TimedEmbedder(embedder or HashEmbedder()),
        extractor=TimedExtractor(RuleCues()),
        keep=keep or tmp_path / "keep",
    )


def hit(*turn_ids, session="s1", text="one two three"):
    return Hit(turn_ids, session, text)


def test_ranks_are_those_of_the_first_hit_that_shows_a_turn_or_session():
    question = ask(0, "?", "a", "b", "c", gold_sessions=("s2", "s3", "s9"))
    found = Found((hit("x"), hit("a", "c"), hit("c", "b", session="s2"), hit("a", session="s3")), wall_ms=3.0)
    row = runner.row(question, "trace", found)
    assert row.ranks == (2, 3, 2)
    # Distinct sessions: s1 comes twice and counts once.
    assert row.session_ranks == (2, 3, None)
    assert row.tokens == {1: 3, 5: 12, 10: 12, 20: 12}
    assert (row.hits, row.wall_ms, row.level) == (4, 3.0, "trace")


def test_what_lies_beyond_the_deepest_rank_does_not_count():
    found = Found(tuple(hit(f"t{n}", session=f"s{n}") for n in range(25)))
    row = runner.row(ask(0, "?", "t19", "t20", gold_sessions=("s20",)), "turn", found)
    assert row.ranks == (20, None)
    assert row.session_ranks == (None,)
    assert row.hits == 20


@pytest.mark.parametrize("jobs", [None, 2])
def test_every_question_is_asked_at_every_level_in_the_order_of_the_data(dataset, jobs):
    advanced = []
    outcome = runner.run(dataset, "bm25", jobs=jobs, trial=2, progress=advanced.append)
    asked = [question.question_id for question in dataset.questions]
    assert [row.question_id for row in outcome.rows] == asked * 2
    assert [row.level for row in outcome.rows] == ["trace"] * 4 + ["turn"] * 4
    first = {row.question_id: row for row in outcome.rows if row.level == "turn"}
    assert first["u1/0"].ranks[0] == 1
    assert first["u2/0"].ranks == (1,)
    assert first["u1/2"].answerable is False
    assert list(outcome.built) == ["u1", "u2"]
    assert (outcome.system, outcome.trial, outcome.checksum) == ("bm25", 2, "0" * 64)
    assert outcome.rss_mb > 1
    assert sum(advanced) == 4


def test_a_run_in_other_processes_gives_the_same_rows(dataset, tmp_path):
    """The second takes what the first ingested; only times differ."""
    setup = Setup(keep=tmp_path)
    here, there = (runner.run(dataset, "default-no-dense", setup, jobs=jobs) for jobs in (None, 2))
    assert [timeless(row) for row in there.rows] == [timeless(row) for row in here.rows]
    assert there.built == here.built


def timeless(row):
    return replace(row, wall_ms=0, cpu_ms=0, embedding_cpu_ms=0)


def test_a_failure_in_another_process_arrives(dataset):
    twice = conversation("u1", "s1", KILN, CAT, ids=["same", "same"])
    broken = replace(dataset, conversations={**dataset.conversations, "u1": (twice,)})
    with pytest.raises(Exception, match="same"):
        runner.run(broken, "default-no-dense", jobs=1)


def test_progress_may_end_a_run(dataset):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        runner.run(dataset, "bm25", jobs=1, progress=stop)


def test_our_hits_are_those_of_the_memory(tmp_path, dataset):
    system = ours(tmp_path)
    built = system.load("u1", dataset.conversations["u1"])
    assert built.counts["turns"] == 3
    assert built.bytes_on_disk > 10_000
    assert sum(built.stages.values()) == pytest.approx(built.cpu_s)
    for level, ids in (("turn", ("s1:0",)), ("trace", ("s1:0", "s1:1"))):
        found = system.search(dataset.questions[0], top_k=20, level=level)
        assert found.hits[0].turn_ids == ids
        assert found.hits[0].session_id == "s1"
        assert "My kiln cracked" in found.hits[0].text
    system.close()
    system.close()


@pytest.mark.fault("B112")
def test_a_run_leaves_the_users_own_database_alone(tmp_path, dataset, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Memory.open("memory.db", embedder=HashEmbedder()) as memory:
        memory.add("I keep bees.", user_id="u1")
        before = list(memory.export(user_id="u1"))
        system = ours(tmp_path)
        system.load("u1", dataset.conversations["u1"])
        assert system.search(dataset.questions[0], top_k=5, level="turn").hits
        system.close()
        assert list(memory.export(user_id="u1")) == before
        assert memory.users() == ["u1"]


def test_what_was_ingested_is_taken_again_and_only_by_the_same_ingestion(tmp_path, dataset, monkeypatch):
    talk = dataset.conversations["u1"]
    first = ours(tmp_path)
    built = first.load("u1", talk)
    first.close()
    assert not list((tmp_path / "keep").glob("building-*"))

    monkeypatch.setattr(Ours, "_ingest", lambda *_: pytest.fail("ingested again"))
    second = ours(tmp_path, Hero())
    assert second.load("u1", talk) == built
    assert second.search(dataset.questions[0], top_k=5, level="turn").hits[0].turn_ids == ("s1:0",)
    second.close()
    third = ours(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="ingested again"):
        third.load("u1", talk[:1])
    third.close()


@pytest.mark.fault("B209")
def test_an_ingestion_that_was_cut_leaves_nothing_that_is_taken_for_whole(tmp_path, dataset, monkeypatch):
    talk = dataset.conversations["u1"]
    cut = ours(tmp_path, embedder=Failing(after=2))
    with pytest.raises(EmbeddingFailed, match="s2"):
        cut.load("u1", talk)
    cut.close()
    assert list((tmp_path / "keep").iterdir()) == []
    whole = ours(tmp_path)
    assert whole.load("u1", talk).counts["turns"] == 3
    whole.close()


class Failing(HashEmbedder):
    """Fails after some calls."""

    def __init__(self, after):
        super().__init__()
        self.left = after

    def embed(self, texts, *, kind="passage"):
        self.left -= 1
        if self.left < 0:
            raise EmbeddingFailed("the power went")
        return super().embed(texts, kind=kind)


@pytest.mark.fault("B207")
def test_a_question_that_could_not_be_embedded_is_no_result(tmp_path, dataset):
    # The warm-up of the ingestion, two conversations, the warm-up of the search.
    system = ours(tmp_path, embedder=Failing(after=4))
    system.load("u1", dataset.conversations["u1"])
    with pytest.raises(EmbeddingFailed, match=r"u1/0.*power"):
        system.search(dataset.questions[0], top_k=5, level="turn")
    system.close()


def test_messages_with_one_id_are_refused(tmp_path):
    talk = (conversation("u1", "s1", KILN, ids=["m"]), conversation("u1", "s2", KILN, ids=["m"]))
    system = ours(tmp_path)
    with pytest.raises(InvalidFile, match="s2"):
        system.load("u1", talk)
    system.close()


@pytest.mark.parametrize("config", [Fusion(), Hero(), Hero(directed=True, rounds=3), Fusion(graph=5.0)])
@pytest.mark.parametrize("level", ["trace", "turn"])
def test_a_question_about_a_part_of_a_history_sees_nothing_of_the_rest(tmp_path, config, level):
    """PersonaMem: hits, scores of hits and all that leads to them are as if the rest had never been said."""
    lines = [KILN, CAT, MOVE, DOG] * 6
    parts = tuple(
        conversation("u", "context", *lines[start:end], ids=[str(n) for n in range(start, end)])
        for start, end in ((0, 7), (7, 12), (12, 24))
    )
    system = ours(tmp_path, config)
    system.load("u", parts)
    for end in (7, 12, 24):
        for text in ("What did Ana's kiln crack?", "Where did they move in spring?", "What is the cat called?"):
            question = replace(ask(0, text, user="u"), end=end)
            found = system.search(question, top_k=50, level=level)
            ids = {int(turn_id) for hit in found.hits for turn_id in hit.turn_ids}
            assert ids
            assert max(ids) < end
    system.close()


def test_an_undated_question_is_asked_at_the_end_of_the_history(tmp_path, dataset, monkeypatch):
    system = ours(tmp_path)
    system.load("u1", dataset.conversations["u1"])
    times = []
    monkeypatch.setattr(
        "mnemic.memory.Memory.search", lambda *_, reference_time, **__: times.append(reference_time) or Nothing()
    )
    system.search(dataset.questions[0], top_k=1, level="turn")
    system.search(replace(dataset.questions[0], asked_at="2025-01-01T00:00:00+00:00"), top_k=1, level="turn")
    assert times[0].isoformat() == "2024-03-02T10:00:00+00:00"
    assert times[1] == "2025-01-01T00:00:00+00:00"
    system.close()


class Nothing:
    results = ()
    calibrated = True
    nothing_relevant = True
    warnings = ()
    relevance = 0.25
