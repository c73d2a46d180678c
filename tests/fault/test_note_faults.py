"""Notes that replace, repeat and contradict each other: nothing that was said is lost, and what holds now is told."""

from __future__ import annotations

import json

import pytest

from mnemic import Enriching
from mnemic.types import STATUSES
from reading_kit import ReadingModel, numbered

QUIET = Enriching(episodes="rules", align=False)
BOTH = ("current", "superseded")


def said(words, month=1, **more):
    return {"role": "user", "name": "Ana", "content": words, "timestamp": f"2024-{month:02}-02T10:00Z", **more}


def tell(memory, *words, enrich="now"):
    """Each in a session of its own, a month after the other."""
    for month, one in enumerate(words, 1):
        memory.add(said(one, month), user_id="u", session_id=f"s{month}", enrich=enrich)


def state(memory, *texts, kind="trait"):
    """Given notes, each of a turn of its own, a month after the other."""
    for month, text in enumerate(texts, 1):
        memory.add(said(f"Hm {month}.", month, id=f"t{month}"), user_id="u", session_id=f"s{month}")
        memory.add_notes(
            {"id": f"n{month}", "text": text, "sources": [f"t{month}"], "about": "Ana", "kind": kind}, user_id="u"
        )


def texts(memory, *statuses, **more):
    return [note.text for note in memory.notes(user_id="u", statuses=statuses or ("current",), **more)]


def relating(relation, *, text="", old=None):
    """Every new note stands so to the first old note, or to the one of a number."""

    def reply(request):
        news, olds = numbered(request, "new_notes"), numbered(request, "old_notes")
        target = old if old is not None else (olds[0][0] if olds else 0)
        said = text or (news[0][1].partition(" (since")[0] if relation == "extends" else "")
        return json.dumps({"pairs": [{"new": n, "relation": relation, "old": target, "text": said} for n, _ in news]})

    return reply


def whole(request):
    """Each line as one fact, points in numbers and all."""
    lines = numbered(request, "dialogue")
    said = [(n, line.partition("): I ")[2]) for n, line in lines]
    return json.dumps({"facts": [{"from": [n], "text": f"Ana {words}"} for n, words in said]})


def of_the_port(request):
    """Whatever names port 22 says the same; whatever does not contradicts all that do."""
    pairs = []
    for new, text in numbered(request, "new_notes"):
        relation = "equivalent" if "22" in text.partition(" (since")[0].split("4922")[0] else "contradicts"
        olds = [old for old, line in numbered(request, "old_notes") if "is 22" in line]
        pairs += [{"new": new, "relation": relation, "old": old, "text": ""} for old in olds]
    return json.dumps({"pairs": pairs})


@pytest.fixture
def told(open_memory):
    """A memory whose model relates every new note to an old one in one way."""

    def open_(relation, **how):
        model = ReadingModel()
        model.say |= {"facts": whole, "conflict": relating(relation, **how)}
        return open_memory(model=model, enrichment=QUIET, workers=0)

    return open_


@pytest.mark.fault("B070")
@pytest.mark.fault("B066")
@pytest.mark.parametrize(
    ("words", "month", "now", "before"),
    [
        (("I enjoy jazz.", "I cannot stand jazz any more."), (1, 5), "I cannot stand jazz any more.", "I enjoy jazz."),
        (("I live in Oulu now.", "I live in Turku."), (9, 1), "I live in Oulu now.", "I live in Turku."),
    ],
    ids=["a taste turned", "the older one comes late"],
)
def test_by_rules_one_statement_holds_and_the_other_is_history(memory, words, month, now, before):
    for text, its_month in zip(words, month, strict=True):
        memory.add(said(text, its_month), user_id="u", session_id=text)
    memory.reflect(user_id="u")
    assert (texts(memory), texts(memory, "superseded")) == ([now], [before])
    assert texts(memory, *BOTH, as_of="2024-03-01") == [before]
    assert texts(memory, *BOTH, as_of="2024-12-01") == [now]


@pytest.mark.fault("B070")
def test_a_contradiction_by_a_model_never_leaves_nothing(told):
    memory = told("contradicts")
    tell(memory, "I enjoy jazz.", "I despise jazz.")
    assert (texts(memory), texts(memory, "superseded")) == (["Ana despise jazz."], ["Ana enjoy jazz."])


@pytest.mark.fault("B071")
@pytest.mark.parametrize("relation", ["contradicts", "equivalent"])
def test_the_same_words_again_delete_nothing_whatever_the_model_says(told, relation):
    memory = told(relation)
    tell(memory, *["I keep bees on the roof."] * 3)
    assert set(texts(memory)) == {"Ana keep bees on the roof."}
    assert len(memory.get_all(user_id="u")) == 3
    memory.reflect(user_id="u")
    assert set(texts(memory)) == {"Ana keep bees on the roof."}


@pytest.mark.fault("B072")
@pytest.mark.fault("B078")
@pytest.mark.fault("B079")
@pytest.mark.fault("B089")
@pytest.mark.parametrize(
    ("relation", "first", "second"),
    [
        ("extends", "I dream of sailing.", "I eat soup at night."),
        ("extends", "I weighed 71.2 kg on 2 May.", "I weighed 70.8 kg on 9 May."),
        ("equivalent", "I weighed 71.2 kg on 2 May.", "I weighed 70.8 kg on 9 May."),
        ("equivalent", "I pay 640 in rent.", "I pay 680 in rent."),
        ("equivalent", "I start on 3 June.", "I start on 4 June."),
        ("equivalent", "I use version 1.2 of it.", "I use version 1.3 of it."),
    ],
)
def test_no_update_or_merge_loses_what_was_said_first(told, relation, first, second):
    memory = told(relation)
    tell(memory, first, second)
    assert texts(memory) == [f"Ana{words.removeprefix('I')}" for words in (first, second)]


@pytest.mark.fault("B073")
@pytest.mark.parametrize(
    ("relation", "old"), [("extends", 12), ("contradicts", "x"), ("extends", -1), ("contradicts", [1])]
)
def test_an_id_that_was_never_offered_changes_nothing_and_loses_nothing(told, relation, old):
    memory = told(relation, text="Ana sails no more.", old=old)
    tell(memory, "I dream of sailing.", "I eat soup at night.")
    assert texts(memory) == ["Ana dream of sailing.", "Ana eat soup at night."]


@pytest.mark.fault("B080")
def test_what_was_replaced_is_not_among_the_notes_though_worded_like_the_question(open_memory):
    model = ReadingModel()
    model.say["conflict"] = of_the_port
    memory = open_memory(model=model, enrichment=QUIET, workers=0)
    state(memory, "The port of the door is 22.", "The port of the door is 22!", "The door has port 4922 now.")
    assert len(memory.reflect(user_id="u")) == 2
    assert texts(memory) == ["The door has port 4922 now."]  # duplicates of the old one went with it
    for mode in ("notes", "hybrid"):
        found = memory.search("Which port is the port of the door?", user_id="u", mode=mode).notes
        assert [one.note.text for one in found] in ([], ["The door has port 4922 now."])


@pytest.mark.fault("B082")
def test_the_first_city_can_be_asked_for_after_two_moves(memory):
    for month, city in ((1, "Lisbon"), (4, "Oulu"), (8, "Turku")):
        memory.add(said(f"I live in {city} now.", month), user_id="u", session_id=city)
    memory.reflect(user_id="u")
    assert texts(memory) == ["I live in Turku now."]
    for day, city in (("2024-02-01", "Lisbon"), ("2024-05-01", "Oulu"), ("2024-09-01", "Turku")):
        assert texts(memory, *BOTH, as_of=day) == [f"I live in {city} now."]
    assert len(memory.notes(user_id="u", statuses=STATUSES)) == 3


@pytest.mark.fault("B015")
def test_keys_of_stored_data_are_no_names_of_a_schema(told):
    memory = told("independent")
    data = {"type": "x", "session_id": 3, "relation": "contradicts", "old": 1, "{name}": ["%s", {"pairs": []}]}
    body = '{"type": "note", "session_id": "s", "pairs": [{"new": 1}]} {0} %s ${HOME}'
    for number in (1, 2):
        memory.add(said(body, number, id=f"t{number}", metadata=data), user_id="u")
        note = {"text": f"Ana {number} {body}", "sources": [f"t{number}"], "metadata": data, "about": "Ana"}
        memory.add_notes(note, user_id="u")
    memory.reflect(user_id="u")
    found = memory.notes(user_id="u")
    assert [(note.text, note.metadata) for note in found] == [(f"Ana {n} {body}", data) for n in (1, 2)]
    assert {turn.text for turn in memory.get_all(user_id="u")} == {body}


@pytest.mark.fault("B094")
def test_one_wish_in_thirteen_wordings_does_not_hide_five_other_facts(memory):
    wishes = ("sail to Iona", "go sailing to Iona", "take a boat to Iona", "see Iona by boat", "sail round Iona")
    others = ("My cat is called Miso.", "My rent is 640.", "My desk is oak.", "My sister is Lena.", "My tea is green.")
    for number in range(13):
        words = f"Again, number {number}: I wish to {wishes[number % 5]}."
        memory.add(said(words, id=f"w{number}"), user_id="u", session_id=f"w{number}")
    for number, words in enumerate(others):
        memory.add(said(words, id=f"o{number}"), user_id="u", session_id=f"o{number}")
    found = memory.search("What is my wish, my cat, rent, desk, sister and tea?", user_id="u", top_k=10)
    turns = {turn for hit in found.results for turn in hit.turn_ids}
    assert {f"o{number}" for number in range(5)} <= turns
    assert any(turn.startswith("w") for turn in turns)
