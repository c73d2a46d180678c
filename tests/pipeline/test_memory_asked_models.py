"""Language models in a search: the cues of its question, and the order of its hits."""

from __future__ import annotations

import json

import pytest

from mnemic import Fusion, Hero, Memory
from mnemic.errors import InvalidInput, LanguageModelBusy, LanguageModelUnavailable
from mnemic.models.doubles import HashEmbedder
from reading_kit import ReadingModel, numbered

SAID = ("I painted the lighthouse.", "My kayak is red.", "The lighthouse keeper sold me a kayak.")


@pytest.fixture
def model():
    return ReadingModel()


@pytest.fixture
def memory(tmp_path, model):
    models = {"cues": model, "rerank": model}
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder(64), model=models, workers=0) as opened:
        for place, text in enumerate(SAID):
            message = {"role": "user", "name": "Ana", "content": text}
            opened.add(message, user_id="ana", session_id=str(place), enrich="never")
        yield opened


@pytest.mark.parametrize("config", [Hero(query_cues="model"), Fusion(query_cues="model")], ids=["hero", "default"])
def test_a_model_finds_the_cues_of_a_question_by_one_call(memory, model, config):
    model.say["cues"] = lambda _: '{"cues": ["the Kayak", "submarine"]}'
    found = memory.search("Who sold the kayak?", user_id="ana", config=config, explain=True)
    assert (model.asked["cues"], found.warnings) == (1, ())
    steps = {step.text for hit in found.results for path in hit.paths for step in path if step.kind == "query"}
    assert steps - {"Who sold the kayak?"} == {"the kayak"}  # as the question has it; what is not in it leads nowhere


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (LanguageModelBusy("too many requests"), "too many requests"),
        ("I'm sorry, I can't help with that.", "refused"),
        ('{"cues": ["submarine"]}', "none of its cues is in the question"),
        ("", "empty"),
    ],
)
def test_without_its_cues_rules_find_them_and_the_result_says_so(memory, model, said, why, monkeypatch):
    monkeypatch.setattr("mnemic.models.patience._spread", lambda _: None)
    model.say["cues"] = lambda _: said
    found = memory.search("Who sold the kayak?", user_id="ana", config=Hero(query_cues="model"))
    plain = memory.search("Who sold the kayak?", user_id="ana", config="hero")
    assert [hit.trace_id for hit in found.results] == [hit.trace_id for hit in plain.results]
    [warning] = found.warnings
    assert warning.startswith("cues of the question by rules: ")
    assert why in warning


def test_a_model_reranks(memory, model):
    def scores(request):
        return json.dumps(
            {"scores": [{"n": n, "score": 9 if "red" in line else 1} for n, line in numbered(request, "evidence")]}
        )

    model.say["rerank"] = scores
    found = memory.search("lighthouse", user_id="ana", rerank="model")
    assert (found.results[0].text.endswith("My kayak is red."), found.results[0].score) == (True, 0.9)
    assert (found.reranker, model.asked["rerank"]) == ("scripted:reader", 1)


@pytest.mark.parametrize("said", ["no", '{"scores": []}', '{"scores": [{"n": 99, "score": 1}]}'])
def test_where_it_gives_no_scores_the_order_stays_and_the_result_says_so(memory, model, said):
    model.say["rerank"] = lambda _: said
    found = memory.search("lighthouse", user_id="ana", rerank="model")
    plain = memory.search("lighthouse", user_id="ana")
    assert [hit.trace_id for hit in found.results] == [hit.trace_id for hit in plain.results]
    assert found.reranker is None
    assert found.warnings[0].startswith("not reranked: scripted:reader gave no scores")


def test_without_a_model_it_is_an_error_that_names_the_way_out(tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=None) as memory:
        memory.add("I painted the lighthouse.", user_id="ana")
        with pytest.raises(LanguageModelUnavailable, match=r"Memory\.open\(model=…\)"):
            memory.search("lighthouse", user_id="ana", rerank="model")
        found = memory.search("lighthouse", user_id="ana", config=Hero(query_cues="model"))
        assert found.warnings[0].startswith("cues of the question by rules: no language model")
        with pytest.raises(InvalidInput, match="cross-encoder:MODEL and model"):
            memory.search("lighthouse", user_id="ana", rerank="modell")
