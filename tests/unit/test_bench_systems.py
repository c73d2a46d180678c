"""The systems that the benchmark compares: what they search, how they rank, and that they see nothing they may not."""

from __future__ import annotations

import mmap
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mnemic.bench.cost import Stopwatch, TimedEmbedder, TimedExtractor, resident_mb
from mnemic.bench.records import Question
from mnemic.bench.systems import NAMES, Setup, describe, kept, system
from mnemic.bench.systems.documents import documents, message_index
from mnemic.bench.systems.rankers import Bm25, Dense, Fused, reciprocal_ranks
from mnemic.bench.systems.reference import FullContext, Reference
from mnemic.bench.systems.settings import configured, value
from mnemic.config import Fusion, Hero
from mnemic.errors import InvalidFile, InvalidInput
from mnemic.importers import Conversation
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder


def said(session: str, *lines: str, first: int = 0, speaker: str = "Ana", numbered: bool = False) -> Conversation:
    return Conversation(
        "ana",
        session,
        tuple(
            {
                "id": str(first + n) if numbered else f"{session}:{n}",
                "role": "user",
                "name": speaker,
                "content": line,
                "timestamp": "2024-03-01T10:00:00+00:00",
            }
            for n, line in enumerate(lines)
        ),
    )


def asked(text: str, end: int | None = None) -> Question:
    return Question("q", "ana", "dev", text, "single-hop", end=end)


TALK = (
    said("s1", "My cat is called Tadeus.", "We moved to Lisbon in spring."),
    said("s2", "The kiln cracked all the bowls.", "Marguerite fixed the kiln."),
)


def test_turns_are_documents_one_by_one_and_traces_stay_within_their_conversation():
    turns, traces = documents(TALK, "turn"), documents(TALK, "trace")
    assert [hit.turn_ids for hit in turns.hits] == [("s1:0",), ("s1:1",), ("s2:0",), ("s2:1",)]
    assert [hit.turn_ids for hit in traces.hits] == [("s1:0", "s1:1"), ("s2:0", "s2:1")]
    assert [hit.session_id for hit in traces.hits] == ["s1", "s2"]
    assert traces.texts[0] == "Ana: My cat is called Tadeus.\nAna: We moved to Lisbon in spring."
    # A reader sees the date; the ranking does not.
    assert turns.hits[0].text == "Ana (2024-03-01 10:00 UTC): My cat is called Tadeus."


def test_traces_are_those_that_a_memory_packs(memory):
    long = [said("s", *(f"{word} " * 40 for word in ("red", "blue", "green", "brown", "black")))]
    for conversation in long:
        memory.add(list(conversation.messages), user_id="ana", session_id=conversation.session_id)
    found = memory.search("red blue green brown black", user_id="ana", top_k=20).results
    ours = {hit.turn_ids for hit in found}
    assert {hit.turn_ids for hit in documents(long, "trace").hits} == ours
    assert len(ours) > 1


def test_documents_before_an_end_are_those_whose_last_message_is():
    parts = (said("c", "a b", "c d", numbered=True), said("c", "e f", "g h", first=3, numbered=True))
    held = documents(parts, "trace")
    assert held.indices == (1, 4)
    assert [held.visible(end) for end in (0, 1, 2, 4, 5, None)] == [0, 0, 1, 1, 2, 2]
    with pytest.raises(InvalidFile, match="index"):
        documents(TALK, "turn").visible(2)


@pytest.mark.parametrize(("turn_id", "index"), [("17", 17), ("0", 0), ("D1:3", None), ("", None), ("١٢", None)])
def test_only_a_decimal_number_is_an_index(turn_id, index):
    assert message_index(turn_id) == index


def test_bm25_is_that_of_its_formula():
    """Lucene's: idf ln(1 + (N - n + .5) / (n + .5)), k1 1.5, b .75, over stems without stop words."""
    texts = ["Ana: the cats sleep", "Ana: a dog barks loudly at dogs", "Ana: kiln"]
    stems = [["ana", "cat", "sleep"], ["ana", "dog", "bark", "loud", "dog"], ["ana", "kiln"]]
    mean = sum(map(len, stems)) / 3

    def score(words: list[str], stem: str) -> float:
        held = sum(stem in other for other in stems)
        idf = np.log(1 + (3 - held + 0.5) / (held + 0.5))
        count = words.count(stem)
        return float(idf * count / (count + 1.5 * (0.25 + 0.75 * len(words) / mean)))

    found = Bm25()(texts).scores("Which dogs are barking?", 3)
    expected = score(stems[1], "dog") + score(stems[1], "bark")
    assert found[1] == pytest.approx(expected, rel=1e-5)
    assert list(np.isfinite(found)) == [False, True, False]


def test_bm25_returns_nothing_for_words_that_nobody_said_and_for_no_words():
    ranker = Bm25()(["Ana: hello kiln"])
    assert not np.isfinite(ranker.scores("zebra", 1)).any()
    assert not np.isfinite(ranker.scores("the", 1)).any()
    assert not np.isfinite(Bm25()(["the", "of"]).scores("kiln", 2)).any()
    assert Bm25()([]).scores("kiln", 0).shape == (0,)


def test_bm25_of_a_part_knows_no_words_of_the_rest():
    """The same scores as an index of that part alone: frequencies and lengths are its own."""
    texts = ["the kiln is hot", "a kiln cracked", "kiln kiln kiln and bowls", "bowls and more words of every sort"]
    whole, part = Bm25()(texts), Bm25()(texts[:2])
    assert whole.scores("hot kiln", 2) == pytest.approx(part.scores("hot kiln", 2))
    assert whole.scores("hot kiln", 4)[:2] != pytest.approx(part.scores("hot kiln", 2))


def test_reciprocal_ranks_are_summed():
    nothing = -np.inf
    one, other = np.array([0.9, 0.5, 0.7, nothing]), np.array([nothing, 3.0, 3.0, nothing])
    assert reciprocal_ranks([one, other]) == pytest.approx([1 / 61, 1 / 63 + 1 / 61, 1 / 62 + 1 / 62, nothing])


def test_fused_ranks_what_either_finds():
    embedder = HashEmbedder()
    scores = Fused(Bm25(), Dense(embedder))(["red kiln", "blue cat", "green tree"]).scores("the red kiln", 3)
    assert int(np.argmax(scores)) == 0
    assert scores[0] == pytest.approx(2 / 61)


def test_a_reference_system_returns_its_best_documents_first():
    timed = TimedEmbedder(HashEmbedder())
    reference = Reference("dense", Dense(timed), timed)
    built = reference.load("ana", TALK)
    assert built.counts == {"turns": 4, "traces": 2}
    found = reference.search(asked("the kiln cracked all bowls"), top_k=3, level="turn")
    assert found.hits[0].turn_ids == ("s2:0",)
    assert len(found.hits) == 3
    vectors = HashEmbedder().embed(["Ana: The kiln cracked all the bowls.", "the kiln cracked all bowls"])
    assert found.relevance == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-6)
    assert 0 <= found.embedding_cpu_ms <= found.cpu_ms + 0.01


@pytest.mark.parametrize("level", ["trace", "turn"])
def test_reference_systems_keep_to_the_part_before_the_end(level):
    parts = (
        said("c", "red kiln", "blue cat", numbered=True),
        said("c", "red kiln", "grey dog", first=2, numbered=True),
    )
    timed = TimedEmbedder(HashEmbedder())
    for subject in (Reference("rrf", Fused(Bm25(), Dense(timed)), timed), Reference("bm25", Bm25())):
        subject.load("ana", parts)
        for end, most in ((0, 0), (2, 2), (4, 4)):
            found = subject.search(asked("red kiln", end), top_k=20, level=level)
            ids = {int(turn_id) for hit in found.hits for turn_id in hit.turn_ids}
            assert ids == {n for n in ids if n < end}
            assert bool(ids) == bool(most)


def test_full_context_is_everything_visible_in_order_a_hit_a_session():
    subject = FullContext()
    subject.load("ana", TALK)
    found = subject.search(asked("anything"), top_k=1, level="trace")
    assert [hit.turn_ids for hit in found.hits] == [("s1:0", "s1:1"), ("s2:0", "s2:1")]
    subject.load("ana", (said("c", "a", "b", "c", numbered=True),))
    assert [hit.turn_ids for hit in subject.search(asked("x", 2), top_k=1, level="trace").hits] == [("0", "1")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [(".6", 0.6), ("2", 2), ("none", None), ("True", True), ("false", False), (" keep ", "keep"), ("-1e-3", -0.001)],
)
def test_values_on_the_command_line(text, expected):
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


def test_settings_are_put_into_a_configuration():
    assert configured(Fusion(), {"graph": 0, "spread": 5}) == Fusion(graph=0, spread=5)
    assert configured(Hero(), {"tau_alias": 0.7, "ppr": False, "seeds": None}) == Hero(
        tau_alias=0.7, ppr=False, seeds=None
    )


@pytest.mark.parametrize(
    ("config", "settings", "said"),
    [
        (Fusion(), {"grph": 0.1}, "graph"),
        (Fusion(), {"graph": "much"}, "graph"),
        (Fusion(), {"graph": True}, "graph"),
        (Fusion(), {"spread": 1.5}, "spread"),
        (Fusion(), {"graph": -1}, "graph"),
        (Hero(), {"ppr": 1}, "ppr"),
        (Hero(), {"names": "other"}, "names"),
        (Hero(), {"tau_init": "high"}, "tau_init"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_by_name(config, settings, said):
    with pytest.raises(InvalidInput, match=said):
        configured(config, settings)


def test_every_system_has_a_description_and_an_unknown_one_is_answered_with_the_names():
    assert all(describe(name) for name in NAMES)
    assert len(set(NAMES)) == len(NAMES)
    with pytest.raises(InvalidInput, match="rrf"):
        describe("rff")
    with pytest.raises(InvalidInput, match="settings"):
        system("bm25", Setup(settings={"graph": 0.1}))


@pytest.mark.parametrize(
    ("name", "kind", "differs"),
    [
        ("default", Fusion, {}),
        ("default-no-graph", Fusion, {"graph": 0.0}),
        ("default-no-date", Fusion, {"date": 0.0}),
        ("default-no-lexical", Fusion, {"lexical": 0.0}),
        ("hero", Hero, {}),
        ("hero-no-profile", Hero, {"profile": False}),
        ("hero-no-expansion", Hero, {"rounds": 0}),
        ("hero-no-ppr", Hero, {"ppr": False}),
        ("hero-directed", Hero, {"directed": True}),
    ],
)
def test_an_ablation_differs_in_what_its_name_says_alone(name, kind, differs):
    subject = system(name, Setup(settings={"follow": 0.25}))
    found = subject.configuration[kind.__name__]
    subject.close()
    standard = {field: getattr(kind(), field) for field in kind.__dataclass_fields__}
    assert found == {**standard, "follow": 0.25, **differs}


def test_no_dense_has_no_embedder():
    subject = system("default-no-dense")
    assert subject.configuration["embedder"] is None
    subject.close()


def test_the_name_of_a_kept_memory_depends_on_all_that_goes_into_it():
    names = {
        kept.key(TALK, "e1", "rules"),
        kept.key(TALK, "e2", "rules"),
        kept.key(TALK, None, "rules"),
        kept.key(TALK, "e1", "spacy"),
        kept.key(TALK[:1], "e1", "rules"),
        kept.key(TALK[::-1], "e1", "rules"),
    }
    assert len(names) == 6
    assert kept.key(TALK, "e1", "rules") in names


def test_code_is_followed_through_imports_but_not_through_those_for_types():
    source = b"""
from mnemic.algo import pack
import json
if TYPE_CHECKING:
    from mnemic.algo import ppr
def late():
    from mnemic import erase
"""
    found = set(kept.imported(source))
    assert {"mnemic.algo.pack", "mnemic.erase"} <= found
    assert "mnemic.algo.ppr" not in found
    # What adding a message runs is within reach; what searching runs is not.
    reached = reach(["mnemic.memory.writing", "mnemic.store"])
    assert {"mnemic.algo.pack", "mnemic.ingest", "mnemic.store.add"} <= reached
    assert not any(module.startswith("mnemic.retrieve") for module in reached)


def reach(modules: Sequence[str]) -> set[str]:
    """Every module of mnemic within reach, found by Python itself."""
    seen: set[str] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        with suppress(ModuleNotFoundError):  # a function, not a module
            spec = find_spec(module)
            if spec and spec.origin and module not in seen:
                seen.add(module)
                waiting += kept.imported(Path(spec.origin).read_bytes())
    return seen


def test_timed_models_give_what_they_wrap_and_count():
    plain, timed = HashEmbedder(), TimedEmbedder(HashEmbedder())
    assert (timed.name, timed.fingerprint, timed.dim) == (plain.name, plain.fingerprint, plain.dim)
    assert timed.thresholds == plain.thresholds
    texts = [f"text number {n}" for n in range(200)]
    assert np.array_equal(timed.embed(texts), plain.embed(texts))
    assert timed.cpu_s > 0
    extractor = TimedExtractor(RuleCues())
    assert extractor.name == RuleCues().name
    assert extractor.extract(["Ana moved to Lisbon."], names={"Ana"}) == RuleCues().extract(
        ["Ana moved to Lisbon."], names={"Ana"}
    )
    assert extractor.cpu_s > 0


def test_a_stopwatch_counts_work_and_not_sleep():
    with Stopwatch() as watch:
        time.sleep(0.05)
    assert watch.wall_s >= 0.05
    assert watch.cpu_s < 0.04


def test_resident_memory_grows_with_what_is_held():
    before = resident_mb()
    held = mmap.mmap(-1, 64_000_000)  # of the system's own, not of what was given back to this process before
    held.write(b"x" * len(held))
    assert resident_mb() - before > 50
    held.close()
