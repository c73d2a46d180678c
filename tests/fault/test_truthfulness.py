"""What a model or a recalled block cannot make a memory believe, and what a model that says nothing cannot lose."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mnemic import Enriching
from mnemic.algo import cues
from mnemic.algo.lexical import terms
from mnemic.algo.recalled import blanked
from mnemic.models.cues import RuleCues
from mnemic.types import STATUSES
from reading_kit import ReadingModel, kind_of, numbered, tagged

PAGES = sorted((Path(__file__).parent.parent / "unit" / "golden" / "prompts").glob("*.txt"))
QUIET = Enriching(episodes="rules", align=False)


def said(words, **more):
    return {"role": "user", "name": "Ana", "content": words, **more}


def texts(memory, *statuses):
    return [note.text for note in memory.notes(user_id="u", statuses=statuses or ("current",))]


@pytest.mark.fault("B038")
def test_a_nickname_that_a_model_invented_does_not_become_its_own_proof(open_memory):
    model = ReadingModel()
    model.say["facts"] = lambda request: json.dumps(
        {"facts": [{"from": [n], "text": "Ana goes by Captain Foxglove."} for n, _ in numbered(request, "dialogue")]}
    )
    memory = open_memory(model=model, enrichment=QUIET, workers=0)
    block = "<memory>\n[1] session s0 · turns t0\nAna (2024-05-01): I go by Captain Foxglove.\n</memory>"
    for session in range(3):
        given = [{"role": "system", "content": block}, said(f"{block}\nI like green tea with lemon.")]
        memory.add(given, user_id="u", session_id=f"s{session}", enrich="now")
        assert not any("Foxglove" in text for text in texts(memory)), session
    assert "Captain Foxglove" in " ".join(texts(memory, "unsupported"))
    assert all("Foxglove" not in request.user for request in model.requests if kind_of(request) == "facts")
    assert len(memory.search("Captain Foxglove", user_id="u").results) > 0  # as it came, it is kept and found


@pytest.mark.fault("B038")
@pytest.mark.fault("B039")
def test_what_context_gave_is_blank_where_notes_are_made(memory):
    memory.add(said("I love oak desks."), user_id="u")
    block = memory.context("oak desks", user_id="u")
    assert block.startswith("<memory>\n[1] session ")
    sent = f"Look:\n{block}\nI adore elm. <memory> is a word."
    assert blanked(sent) == sent.replace(block, " " * len(block))
    memory.add(said(sent), user_id="u", session_id="agent")
    assert [text.strip() for text in texts(memory)] == ["I love oak desks.", "I adore elm."]


@pytest.mark.fault("B040")
def test_words_are_found_though_the_model_finds_nothing_in_them(open_memory):
    model = ReadingModel()
    model.say["facts"] = lambda _: '{"facts": []}'
    memory = open_memory(model=model, enrichment=QUIET, workers=0)
    for number in range(10):
        memory.add(said("Testing the lamp on Tuesday.", id=str(number)), user_id="u", enrich="now")
    found = memory.search("lamp", user_id="u", granularity="turn", top_k=20)
    assert {hit.quotes for hit in found.results} == {("Testing the lamp on Tuesday.",)}
    assert {turn for hit in found.results for turn in hit.turn_ids} == {str(number) for number in range(10)}
    assert memory.status(user_id="u").enrichment.failed == 0


@pytest.mark.fault("B042")
def test_no_page_names_a_language():
    told = {page.stem: page.read_text(encoding="utf-8").partition("--------")[0].lower() for page in PAGES}
    assert {"facts", "profile", "align", "conflict", "trace", "segment"} <= set(told)
    for name, system in told.items():
        assert not re.search(r"\b(?:english|chinese|german|spanish|french|japanese|italian)\b", system), name


@pytest.mark.fault("B042")
def test_cues_are_in_the_language_of_the_words():
    text = "Domani porto la bicicletta di mia sorella dal meccanico di Bologna."
    surfaces: dict[str, str] = {}
    [found] = RuleCues().extract([text], names=["Ana"])
    words = set(terms(text))
    assert cues.counted(found, surfaces)
    assert all(set(terms(surface)) <= words for surface in surfaces.values())


@pytest.mark.fault("B044")
@pytest.mark.parametrize("kind", ["session", "trace"])
def test_a_model_that_copies_the_examples_of_its_prompt_is_not_believed(open_memory, kind):
    model = ReadingModel()

    def copied(request):
        examples = [*re.findall(r'"([^"\n]{4,})"', request.system), "Bob moved to Berlin.", "Caroline paints sunsets."]
        notes = [{"from": [1], "kind": "fact", "about": "Ana", "text": text, "cues": [text]} for text in examples]
        return json.dumps({"facts": notes, "notes": notes, "sentences": [{"n": 1, "cues": examples}]})

    model.say |= dict.fromkeys(("facts", "profile", "align", "cues"), copied)
    settings = Enriching(episodes="rules", notes=kind, cues="model")
    memory = open_memory(model=model, enrichment=settings, workers=0)
    memory.add(said("hello"), user_id="u", enrich="now")
    assert texts(memory) == []
    assert {cue.key for cue in memory.cues(user_id="u")} <= {"hello"}
    assert "hello" in tagged(model.requests[0], "dialogue")
    assert set(STATUSES) > {note.status for note in memory.notes(user_id="u", statuses=STATUSES)}
