"""search(mode=…): what each mode finds, for whom, and within which bounds."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from mnemic.config import Enriching, Fusion
from mnemic.errors import InvalidQuery, RerankingFailed
from mnemic.models.doubles import ScriptedModel

LAYERED = ("notes", "episodes", "hybrid", "best_effort")
CONFIGS = ("default", "hero", "himem", Fusion(graph=0))
QUIET = Enriching(notes="rules", episodes="rules", conflicts=None)

MONDAY = [
    {"id": "m1", "role": "user", "name": "Ana", "content": "I moved to Lisbon in May."},
    {"id": "m2", "role": "assistant", "content": "Is the flat quiet?"},
    {"id": "m3", "role": "user", "name": "Ana", "content": "Yes. The landlord keeps bees on the roof."},
]
TUESDAY = [
    {"id": "t1", "role": "user", "name": "Ana", "content": "My sister Rosa plays the cello.", "metadata": {"n": 1}},
    {"id": "t2", "role": "assistant", "content": "Does the cello keep the bees awake?", "metadata": {"n": 2}},
]
NOTES = [
    {"id": "n1", "text": "Ana rents a flat from an apiarist", "sources": ["m1", ["m3", 5, 41]]},
    {"id": "n2", "text": "Ana has a sister who plays the cello", "sources": ["t1"]},
]


def fill(memory, user_id="ana"):
    memory.add(MONDAY, user_id=user_id, session_id="monday", agent_id="home", timestamp="2024-06-03T18:05:00Z")
    memory.add(TUESDAY, user_id=user_id, session_id="tuesday", agent_id="work", timestamp="2024-06-04T18:05:00Z")
    memory.add_notes(NOTES, user_id=user_id)
    return memory


@pytest.fixture
def ana(memory):
    return fill(memory)


def turns(found):
    return [turn_id for hit in found.results for turn_id in hit.turn_ids]


def given(found):
    return [one.note.given_id for one in found.notes if one.note.given_id]


def sound(found):
    for hit in found.results:
        assert sum(hit.signals.values()) == pytest.approx(hit.score)
        assert len(hit.spans) == len(hit.quotes)
        assert hit.trace_id.startswith("T")
    scores = [one.score for one in found.notes]
    assert scores == sorted(scores, reverse=True)


# what is found -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_notes_come_with_the_words_that_they_rest_on(ana, config):
    found = ana.search("Who rents from an apiarist?", user_id="ana", mode="notes", config=config, top_k=1)
    assert given(found) == ["n1"]
    assert [hit.quotes for hit in found.results] == [
        ("I moved to Lisbon in May.",),
        ("The landlord keeps bees on the roof.",),
    ]
    assert [hit.session_id for hit in found.results] == ["monday", "monday"]
    assert not found.nothing_relevant
    assert not found.sufficiency
    sound(found)


def test_words_that_an_earlier_note_showed_are_not_repeated(ana):
    ana.add_notes({"id": "n3", "text": "An apiarist rents flats", "sources": [["m3", 9, 17], "m2"]}, user_id="ana")
    found = ana.search("apiarist flat", user_id="ana", mode="notes")
    assert set(given(found)) == {"n1", "n2", "n3"}
    spans = [span for hit in found.results for span in hit.spans]
    assert len(spans) == len(set(spans))
    for i, one in enumerate(spans):
        for other in spans[:i]:
            assert not (one.turn_id == other.turn_id and other.start <= one.start and one.end <= other.end)
    sound(found)


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_an_episode_is_shown_whole(ana, config):
    found = ana.search("Who keeps bees on the roof?", user_id="ana", mode="episodes", config=config, explain=True)
    assert [hit.episode_id for hit in found.results] == ["E:m1", "E:t1"]
    assert found.results[0].quotes == tuple(message["content"] for message in MONDAY)
    assert found.results[0].trace_id == "T1"
    assert found.results[0].paths
    assert found.notes == ()
    sound(found)


def test_the_graph_is_the_default_and_knows_nothing_of_layers(ana):
    plain = ana.search("Who keeps bees?", user_id="ana")
    graph = ana.search("Who keeps bees?", user_id="ana", mode="graph")
    assert graph.results == plain.results
    assert (plain.notes, plain.sufficiency, plain.operations) == ((), (), ())
    assert all(hit.episode_id is None for hit in plain.results)


def test_hybrid_keeps_top_k_of_both_layers_together(ana):
    for top_k in (1, 2, 3, 10):
        found = ana.search("Who plays the cello?", user_id="ana", mode="hybrid", top_k=top_k)
        episodes = {hit.episode_id for hit in found.results if hit.episode_id}
        assert len(found.notes) + len(episodes) <= top_k
        sound(found)
    # Of equal rank the note goes first; the episode is whole though the note showed some of it.
    first = ana.search("Who plays the cello?", user_id="ana", mode="hybrid", top_k=2)
    assert [one.note.text for one in first.notes] == ["Ana has a sister who plays the cello"]
    assert [hit.turn_ids for hit in first.results] == [("t1",), ("t1", "t2")]
    assert [hit.score for hit in first.results] == pytest.approx([1 / 61, 1 / 61])


class Longest:
    """Prefers long texts; fails when told to."""

    name = "longest"

    def __init__(self, error=None, scores=None):
        self.error = error
        self.scores = scores
        self.texts = []

    def score(self, query, texts):
        self.texts.append(list(texts))
        if self.error:
            raise self.error
        return self.scores if self.scores is not None else [float(len(text)) for text in texts]


def test_hybrid_is_reranked_as_one_and_scaled(ana):
    reranker = Longest()
    found = ana.search("Who plays the cello?", user_id="ana", mode="hybrid", rerank=reranker, top_k=4)
    [texts] = reranker.texts
    assert sorted(map(len, texts), reverse=True) != list(map(len, texts))
    assert found.reranker == "longest"
    assert found.results[0].episode_id
    assert found.results[0].score == 1.0
    assert all(0.0 <= hit.score <= 1.0 for hit in found.results)
    assert all(0.0 <= one.score <= 1.0 for one in found.notes)
    sound(found)


@pytest.mark.parametrize("mode", LAYERED)
def test_one_layer_is_reranked_by_the_scores_themselves(ana, mode):
    found = ana.search("Who plays the cello?", user_id="ana", mode=mode, rerank=Longest(), top_k=2)
    assert found.reranker == "longest"
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    assert mode == "hybrid" or scores[0] > 1


@pytest.mark.parametrize("broken", [Longest(RerankingFailed("no")), Longest(OSError("gone")), Longest(scores=[1.0])])
@pytest.mark.parametrize("mode", LAYERED)
def test_a_reranker_that_fails_leaves_the_order_and_a_warning(ana, mode, broken):
    plain = ana.search("Who plays the cello?", user_id="ana", mode=mode)
    found = ana.search("Who plays the cello?", user_id="ana", mode=mode, rerank=broken)
    assert turns(found) == turns(plain)
    assert found.reranker is None
    assert any(warning.startswith("not reranked") for warning in found.warnings)


@pytest.mark.parametrize("mode", LAYERED)
def test_a_threshold_leaves_out_what_scores_less(ana, mode):
    everything = ana.search("Who plays the cello?", user_id="ana", mode=mode)
    scores = sorted({hit.score for hit in everything.results})
    found = ana.search("Who plays the cello?", user_id="ana", mode=mode, threshold=scores[-1])
    assert found.results
    assert {hit.score for hit in found.results} == {scores[-1]}
    assert not ana.search("Who plays the cello?", user_id="ana", mode=mode, threshold=9.0).results


# scopes and filters --------------------------------------------------------------------------------------


@pytest.mark.parametrize("config", ["default", "himem"])
@pytest.mark.parametrize("mode", LAYERED)
def test_nothing_of_another_user_is_ever_found(ana, mode, config):
    assert not ana.search("bees cello", user_id="bo", mode=mode, config=config).results
    ana.add({"id": "b1", "role": "user", "name": "Bo", "content": "I love bees."}, user_id="bo", session_id="monday")
    for user_id, own in (("bo", {"b1"}), ("ana", {"m1", "m2", "m3", "t1", "t2"})):
        found = ana.search("bees cello", user_id=user_id, mode=mode, config=config, keep_notes=mode == "best_effort")
        assert found.results
        assert set(turns(found)) <= own
        assert {span.turn_id for one in found.notes for span in one.note.sources} <= own
    assert [one.turn_ids for one in ana.episodes(user_id="bo")] == [("b1",)]


NARROWED = {
    "session": ({"session_id": "tuesday"}, {"t1", "t2"}),
    "agent": ({"agent_id": "work"}, {"t1", "t2"}),
    "since": ({"since": "2024-06-04"}, {"t1", "t2"}),
    "until": ({"until": "2024-06-04"}, {"m1", "m2", "m3"}),
    "filter": ({"filters": {"n": {"gte": 2}}}, {"t2"}),
    "nothing": ({"session_id": "sunday"}, set()),
}


@pytest.mark.parametrize("config", ["default", "himem"])
@pytest.mark.parametrize("name", NARROWED)
@pytest.mark.parametrize("mode", LAYERED)
def test_filters_apply_to_turns_and_to_notes_through_them(ana, mode, name, config):
    narrowing, own = NARROWED[name]
    asked = {"user_id": "ana", "mode": mode, "config": config, "keep_notes": mode == "best_effort"}
    found = ana.search("Who keeps bees or plays the cello in a flat?", **asked, **narrowing)
    assert set(turns(found)) <= own
    assert {span.turn_id for one in found.notes for span in one.note.sources} <= own
    if mode in ("episodes", "hybrid"):
        assert set(turns(found)) == own


def test_a_note_shows_only_with_all_its_turns(ana):
    asked = {"user_id": "ana", "mode": "notes"}
    ana.update("m1", user_id="ana", metadata={"secret": True})
    assert "n1" in given(ana.search("apiarist", **asked))
    assert "n1" not in given(ana.search("apiarist", **asked, filters={"secret": {"exists": False}}))


@pytest.mark.parametrize("config", ["default", "himem"])
@pytest.mark.parametrize("mode", LAYERED)
def test_erased_words_are_found_no_more(ana, mode, config):
    asked = {"user_id": "ana", "mode": mode, "config": config, "keep_notes": mode == "best_effort"}
    assert "m3" in turns(ana.search("landlord bees roof apiarist", **asked))
    ana.delete(user_id="ana", turn_id="m3")
    found = ana.search("landlord bees roof apiarist", **asked)
    assert "m3" not in turns(found)
    assert "n1" not in given(found)
    assert "landlord" not in str(found)
    assert [one.turn_ids for one in ana.episodes(user_id="ana")] == [("m1", "m2"), ("t1", "t2")]


# without vectors, and what cannot be asked ---------------------------------------------------------------


@pytest.mark.parametrize("config", ["default", "himem"])
@pytest.mark.parametrize("mode", LAYERED)
def test_words_alone_find_notes_and_episodes(open_memory, mode, config):
    memory = fill(open_memory(embedder=None))
    found = memory.search("Who plays the cello?", user_id="ana", mode=mode, config=config, top_k=1)
    assert "t1" in turns(found)
    sound(found)
    assert not memory.search("zeppelin", user_id="ana", mode="notes").results


def test_what_does_not_belong_together_is_refused(ana):
    for wrong in (
        {"mode": "episode"},
        {"mode": None},
        {"config": "himem"},
        {"mode": "notes", "config": "himen"},
        {"mode": "notes", "keep_notes": True},
        {"evolve": True},
        {"mode": "notes", "top_k": 0},
        {"mode": "episodes", "granularity": "word"},
    ):
        with pytest.raises(InvalidQuery):
            ana.search("bees", user_id="ana", **wrong)


def test_a_memory_without_notes_says_so_and_descends(memory):
    memory.add({"id": "a", "role": "assistant", "content": "The kiln is hot today."}, user_id="u")
    assert memory.search("kiln", user_id="u", mode="notes").nothing_relevant
    found = memory.search("Is the kiln hot?", user_id="u", mode="best_effort")
    assert [(one.layer, one.sufficient, one.by) for one in found.sufficiency] == [
        ("notes", False, "relevance"),
        ("episodes", True, "relevance"),
    ]
    assert turns(found) == ["a"]


# best effort ---------------------------------------------------------------------------------------------


def judging(open_memory, *replies, **more):
    judge = ScriptedModel(replies, name="scripted:judge")
    return fill(open_memory(model={"sufficiency": judge, **more}, enrichment=QUIET)), judge


def test_sufficient_notes_take_one_call(open_memory):
    memory, judge = judging(open_memory, "1")
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort", top_k=2)
    assert [(one.layer, one.sufficient, one.by) for one in found.sufficiency] == [("notes", True, "scripted:judge")]
    [request] = judge.requests
    assert request.purpose == "sufficiency"
    assert "Ana (2024-06-04 18:05 UTC): Ana has a sister who plays the cello" in request.user
    assert "n2" in given(found)
    assert all(hit.episode_id is None for hit in found.results)


@pytest.mark.parametrize("last", ["0", "1"])
def test_a_descent_takes_two_calls_and_returns_the_last_layer_whatever_it_is(open_memory, last):
    memory, judge = judging(open_memory, "0", last)
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort")
    assert [one.sufficient for one in found.sufficiency] == [False, last == "1"]
    assert len(judge.requests) == 2
    assert "assistant (2024-06-04 18:05 UTC): Does the cello keep the bees awake?" in judge.requests[1].user
    assert found.notes == ()
    assert [hit.episode_id for hit in found.results] == ["E:t1", "E:m1"]


def test_notes_that_fell_short_are_kept_where_that_is_asked_for(open_memory):
    memory, judge = judging(open_memory, "0", "0")
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort", keep_notes=True, top_k=1)
    assert len(judge.requests) == 2
    assert len(found.notes) == 1
    assert [hit.episode_id for hit in found.results] == [None, "E:t1"]


HANGING_UP = ConnectionResetError("the line is dead")


@pytest.mark.parametrize("reply", ["", "perhaps", "I'm sorry, I can't help with that.", "0 or 1", "<think>1"])
def test_a_reply_that_says_neither_counts_as_no(open_memory, reply):
    memory, judge = judging(open_memory, reply, "1")
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort")
    assert [(one.sufficient, one.by) for one in found.sufficiency] == [(False, judge.name), (True, judge.name)]
    assert len(found.warnings) == 1
    assert "neither 0 nor 1" in found.warnings[0]


def test_a_model_that_fails_leaves_it_to_relevance(open_memory):
    memory, judge = judging(open_memory, HANGING_UP)
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort")
    assert [(one.layer, one.sufficient, one.by) for one in found.sufficiency] == [("notes", True, "relevance")]
    assert len(judge.requests) == 1
    assert "the line is dead" in found.warnings[0]
    # At the end of its script it fails as a provider does.
    off = memory.search("glacier", user_id="ana", mode="best_effort")
    assert [(one.sufficient, one.by) for one in off.sufficiency] == [(False, "relevance")] * 2
    assert len(judge.requests) == 3
    assert off.nothing_relevant


def test_calibrated_relevance_descends_where_no_note_is_about_it(ana):
    enough = ana.search("Who has a sister who plays the cello?", user_id="ana", mode="best_effort")
    assert [one.layer for one in enough.sufficiency] == ["notes"]
    fallen = ana.search("Is it awake?", user_id="ana", mode="best_effort", top_k=1)
    assert [(one.layer, one.sufficient) for one in fallen.sufficiency] == [("notes", False), ("episodes", True)]
    assert turns(fallen) == ["t1", "t2"]


def test_a_layer_with_nothing_in_it_is_not_judged(open_memory):
    memory, judge = judging(open_memory, "1")
    found = memory.search("bees", user_id="ana", mode="best_effort", session_id="sunday")
    assert judge.requests == []
    assert [one.sufficient for one in found.sufficiency] == [False, False]
    assert found.results == ()


def test_a_question_is_read_by_a_model_once_for_both_layers(open_memory):
    reader = ScriptedModel(['{"cues": ["cello"]}'] * 3, name="scripted:reader")
    memory, judge = judging(open_memory, "0", "1", cues=reader)
    config = Fusion(query_cues="model")
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort", config=config)
    assert (len(judge.requests), len(reader.requests)) == (2, 1)
    assert found.warnings == ()
    assert found.results[0].episode_id == "E:t1"


def test_others_search_while_a_model_judges(open_memory):
    memory, judge = judging(open_memory, "0", "1")
    complete, heard = judge.complete, []

    def asking(request):
        other = threading.Thread(target=lambda: heard.append(memory.search("bees", user_id="ana", mode="episodes")))
        other.start()
        other.join(10)
        return complete(request)

    judge.complete = asking
    memory.search("Who plays the cello?", user_id="ana", mode="best_effort")
    assert len(judge.requests) == len(heard) == 2
    assert heard[0].results


# the same before and after a restart ---------------------------------------------------------------------


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("mode", LAYERED)
def test_an_index_that_followed_answers_as_one_made_anew(open_memory, mode, config):
    memory = open_memory()
    for message in MONDAY:
        memory.add(message, user_id="ana", session_id="monday", timestamp="2024-06-03T18:05:00Z")
        memory.search("bees", user_id="ana", mode=mode, config=config)
    memory.add(TUESDAY, user_id="ana", session_id="tuesday", timestamp="2024-06-04T18:05:00Z")
    memory.add_notes(NOTES, user_id="ana")
    memory.search("bees", user_id="ana", mode=mode, config=config)
    memory.delete(user_id="ana", turn_id="m2")
    for question in ("Who keeps bees?", "Who plays the cello?", "apiarist"):
        followed, fresh = (
            one.search(question, user_id="ana", mode=mode, config=config) for one in (memory, open_memory())
        )
        assert replace(followed, took_ms=0) == replace(fresh, took_ms=0)
    assert memory.episodes(user_id="ana") == open_memory().episodes(user_id="ana")
