"""What language models make of what is added, where something comes between, or is taken away."""

from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Budgets, Enriching, Limit, Memory
from mnemic.errors import EmbeddingFailed, LanguageModelBusy
from mnemic.memory.opening import enriching
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.models.patience import Patience
from mnemic.models.purposes import LanguageModels
from mnemic.store import open_store
from mnemic.types import STATUSES
from reading_kit import ReadingModel, numbered, tagged

MAY, JUNE, JULY = "2024-05-20T10:00:00Z", "2024-06-20T10:00:00Z", "2024-07-20T10:00:00Z"
NOTES = Enriching(episodes="rules")
PATIENCE_S = 60


class Clock:
    """A clock that tests move."""

    def __init__(self):
        self.now = datetime(2024, 8, 1, tzinfo=UTC)

    def __call__(self):
        return self.now

    def passes(self, **time):
        self.now += timedelta(**time)


class Near(HashEmbedder):
    """Everything is near everything."""

    def embed(self, texts):
        return super().embed(["x" for _ in texts])


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(tmp_path, clock):
    """Opens a memory over one file with a model; no thread of its own works."""
    memories = []

    def open_(model, enrichment=NOTES, *, budgets=None, embedder=None):
        store = open_store(tmp_path / "memory.db")
        models = LanguageModels(model, store, clock=clock, budgets=budgets, patience=Patience(1))
        memory = Memory(
            store,
            embedder=embedder,
            cue_extractor=RuleCues(),
            clock=clock,
            models=models,
            enrichment=enriching(enrichment),
        )
        memories.append(memory)
        return memory

    yield open_
    for memory in memories:
        memory.close()


def said(text, id=None, name="Ana", role="user", **more):
    given = {} if id is None else {"id": id}
    return {"role": role, "name": name, "content": text, **given, **more}


def texts(memory, *statuses):
    return sorted(note.text for note in memory._store.notes("ana", statuses=statuses or ("current",)))


def tell(memory, text, id, at, enrich="now", **more):
    memory.add(said(text, id, **more), user_id="ana", session_id=id, timestamp=at, enrich=enrich)


def facts(**by_words):
    """A reply of facts: of each line that holds a word, a text."""

    def reply(request):
        lines = numbered(request, "dialogue")
        found = [{"from": [n], "text": text} for word, text in by_words.items() for n, line in lines if word in line]
        return json.dumps({"facts": found})

    return reply


def pairs(relate):
    """A conflict reply: ``relate`` takes a new and an old line, and gives a relation and text, or None."""

    def reply(request):
        found = []
        for new, text in numbered(request, "new_notes"):
            related = [(old, it) for old, line in numbered(request, "old_notes") if (it := relate(text, line))]
            old, (relation, fuller) = related[0] if related else (0, ("independent", ""))
            found.append({"new": new, "relation": relation, "old": old, "text": fuller})
        return json.dumps({"pairs": found})

    return reply


def read_again(tmp_path):
    with closing(sqlite3.connect(tmp_path / "memory.db")) as connection, connection:
        connection.execute("UPDATE work SET state = 'pending'")


# notes -------------------------------------------------------------------------------------------------


def test_what_is_not_borne_out_is_not_asked_for_without_end_where_a_person_approves(opened, tmp_path):
    model = ReadingModel()
    model.say["facts"] = facts(moved="Ana moved to Reykjavik.")
    memory = opened(model, Enriching(episodes="rules", approve=True))
    tell(memory, "I moved to Lisbon.", "a", MAY)
    read_again(tmp_path)
    standing = memory.wait(user_id="ana", timeout=5)
    assert (standing.done, standing.running) == (1, 0)
    assert texts(memory, "unsupported") == ["Ana moved to Reykjavik."]


def test_two_extensions_of_one_note_lose_neither_s_words(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I adopted a cat.", "a", MAY)
    fuller = {"Miso": "Ana adopted a cat called Miso.", "black": "Ana adopted a black cat."}

    def relate(new, old):
        return "cat" in old and next((("extends", text) for word, text in fuller.items() if word in new), None)

    model.say["conflict"] = pairs(relate)
    memory.add([said("I named my cat Miso.", "b"), said("I have a black cat.", "c")], user_id="ana", enrich="now")
    shown = " ".join(texts(memory))
    assert "Miso" in shown
    assert "black" in shown


def test_an_extension_does_not_bring_back_what_is_erased_while_the_model_thinks(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I hide gold.", "a", MAY)

    def erasing(request):
        memory.delete(user_id="ana", turn_id="a")
        model.say.pop("conflict")
        return json.dumps({"pairs": [{"new": 1, "relation": "extends", "old": 1, "text": "Ana hide gold and hens."}]})

    model.say["conflict"] = erasing
    tell(memory, "I hide hens.", "b", JUNE)
    memory.wait(user_id="ana")
    assert texts(memory, *STATUSES) == ["Ana hide hens."]


def test_a_proposed_extension_goes_with_the_words_that_it_extends(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I hide gold.", "a", MAY)
    memory.close()
    memory = opened(model, Enriching(episodes="rules", approve=True))
    model.say["conflict"] = pairs(lambda new, old: "gold" in old and ("extends", "Ana hide gold and hens."))
    tell(memory, "I hide hens.", "b", JUNE)
    assert [note.text for note in memory.proposals(user_id="ana")] == ["Ana hide gold and hens."]
    memory.delete(user_id="ana", turn_id="a")
    assert all("gold" not in text for text in texts(memory, *STATUSES))


def test_an_approved_extension_does_not_undo_another_one(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I adopted a cat.", "a", MAY)
    memory.close()
    memory = opened(model, Enriching(episodes="rules", approve=True))
    model.say["conflict"] = pairs(lambda new, old: "Ana" in old and ("extends", "Ana adopted a cat called Miso."))
    tell(memory, "I named my cat Miso.", "b", JUNE)
    model.say["conflict"] = pairs(lambda new, old: "Ana" in old and ("extends", "Ana adopted a black cat."))
    tell(memory, "I have a black cat.", "c", JULY)
    for waiting in memory.proposals(user_id="ana"):
        memory.approve(waiting.note_id, user_id="ana")
    assert {"Ana adopted a cat called Miso.", "Ana adopted a black cat."} <= set(texts(memory))


def test_what_says_the_same_as_a_note_erased_meanwhile_is_a_note_itself(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I keep bees.", "a", MAY)

    def erasing(request):
        memory.delete(user_id="ana", turn_id="a")
        return json.dumps({"pairs": [{"new": 1, "relation": "equivalent", "old": 1, "text": ""}]})

    model.say["conflict"] = erasing
    tell(memory, "I keep bees.", "b", JUNE)
    [note] = memory.notes(user_id="ana")
    assert (note.text, note.sources[0].turn_id) == ("Ana keep bees.", "b")


def test_a_quotation_stays_where_a_person_took_the_note_back(opened, tmp_path):
    memory = opened(ReadingModel())
    tell(memory, "I moved to Lisbon.", "a", MAY)
    for entry in reversed(memory._store.operations("ana")):
        if entry.detail.get("run"):
            memory.undo(entry.operation_id, user_id="ana")
    assert texts(memory) == ["I moved to Lisbon."]
    read_again(tmp_path)
    memory.wait(user_id="ana")
    assert texts(memory) == ["I moved to Lisbon."]


@pytest.mark.parametrize("verdict", ["approve", "reject"])
def test_a_decision_that_is_undone_can_be_made_again(opened, verdict):
    model = ReadingModel()
    memory = opened(model, Enriching(episodes="rules", approve=True))
    tell(memory, "I work at the harbour.", "a", MAY)
    [waiting] = memory.proposals(user_id="ana")
    memory.approve(waiting.note_id, user_id="ana")
    model.say["conflict"] = pairs(lambda new, old: "Ana" in old and ("contradicts", ""))
    tell(memory, "I work at the library.", "b", JUNE)
    [waiting] = memory.proposals(user_id="ana")
    decided = getattr(memory, verdict)(waiting.note_id, user_id="ana")
    undone = [memory.undo(entry.operation_id, user_id="ana") for entry in reversed(decided)]
    assert memory.proposals(user_id="ana") == [waiting]
    for [entry] in reversed(undone):
        memory.undo(entry.operation_id, user_id="ana")
    assert memory.proposals(user_id="ana") == []
    memory.undo(memory._store.operations("ana")[-1].operation_id, user_id="ana")
    if verdict == "approve":
        memory.undo(memory._store.operations("ana")[-3].operation_id, user_id="ana")
    memory.approve(waiting.note_id, user_id="ana")
    assert "Ana work at the library." in texts(memory)
    assert "Ana work at the harbour." not in texts(memory)


def test_versions_are_undone_one_after_the_other(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I adopted a cat.", "a", MAY)
    for id, word, at in (("b", "black", JUNE), ("c", "old", JULY)):
        fuller = {"black": "Ana adopted a black cat.", "old": "Ana adopted an old black cat."}[word]
        model.say["conflict"] = pairs(lambda new, old, fuller=fuller: "cat" in old and ("extends", fuller))
        tell(memory, f"I have a {word} cat.", id, at)
    versions = [entry for entry in memory._store.operations("ana") if entry.action == "UPDATE"]
    assert texts(memory) == ["Ana adopted an old black cat."]
    for entry in reversed(versions):
        memory.undo(entry.operation_id, user_id="ana")
    assert texts(memory) == ["Ana adopted a cat."]


# work --------------------------------------------------------------------------------------------------


def test_nobody_waits_for_what_they_have_no_model_for(opened, clock):
    model = ReadingModel()
    model.say["segment"] = lambda _: LanguageModelBusy("too many requests", retry_after_s=900.0)
    memory = opened(model, "default")
    tell(memory, "I moved.", "a", MAY, enrich="later")
    clock.passes(minutes=1)
    assert [memory._enricher.step() for _ in range(2)] == ["done", "put_off"]
    memory.close()
    begun = time.monotonic()
    assert opened(None).wait(timeout=PATIENCE_S).waiting_for == ("too many requests",)
    notes_only = opened(model)
    assert notes_only.wait(user_id="ana", timeout=PATIENCE_S).pending == 1
    with closing(open_store(notes_only._store._database.path)) as store:
        clock.passes(hours=1)
        until = clock.now + timedelta(hours=1)
        assert store.claim(["episodes"], token="dead", now=clock.now, until=until) is not None
    assert (notes_only.wait(timeout=PATIENCE_S).running, opened(None).wait(timeout=PATIENCE_S).running) == (1, 1)
    assert time.monotonic() - begun < PATIENCE_S  # else one of them waited


def test_what_others_finish_meanwhile_ends_no_waiting_for_what_is_left(opened, monkeypatch):
    memory = opened(ReadingModel())
    tell(memory, "I moved.", "a", MAY, enrich="later")
    tell(memory, "I bake bread.", "b", MAY, enrich="later")
    lease = memory._enricher._claim("ana", hurry=True)
    settled = memory._workers._is_settled

    def others_are_done(user_id):
        memory._enricher._do(lease)
        return settled(user_id)

    monkeypatch.setattr(memory._workers, "_is_settled", others_are_done)
    assert memory.wait(user_id="ana", timeout=5).done == 2


def test_what_no_model_will_read_does_not_take_its_neighbours_with_it(opened):
    model = ReadingModel()
    model.say["facts"] = lambda request: "I cannot help with that." if "bomb" in request.user else model._facts(request)
    memory = opened(model, Enriching(episodes="rules", tries=2))
    long = " ".join(["really"] * 120)
    things = ("fox", "owl", "bomb", "elk", "hen")
    memory.add([said(f"I saw the {thing}. It was {long}.") for thing in things], user_id="ana")
    standing = memory.wait(user_id="ana")
    assert (standing.failed, standing.pending) == (1, 0)
    read = [f"Ana saw the {thing}." for thing in ("elk", "fox", "hen", "owl")]
    assert texts(memory) == [*read, "I saw the bomb."]


def test_a_budget_of_a_call_is_kept_by_smaller_calls(opened):
    model = ReadingModel()
    memory = opened(model, Enriching(episodes="rules", align=False), budgets=Budgets(call=Limit(tokens=5000)))
    long = " ".join(["really"] * 120)
    things = ("fox", "owl", "eel", "elk", "hen", "ant", "bee", "cow", "dog", "emu")
    memory.add([said(f"I saw the {thing}. It was {long}.") for thing in things], user_id="ana")
    standing = memory.wait(user_id="ana")
    assert (standing.pending, standing.waiting_for) == (0, ())
    assert len(texts(memory)) == len(things)


def test_work_that_stops_its_process_is_not_begun_for_ever(opened, clock, tmp_path):
    model = ReadingModel()
    memory = opened(model, Enriching(episodes="rules", tries=3))
    tell(memory, "I moved.", "a", MAY, enrich="later")
    with closing(open_store(tmp_path / "memory.db")) as store:
        for number in range(3):
            clock.passes(minutes=5)
            until = clock.now + timedelta(minutes=1)
            assert store.claim(["notes"], token=f"dead {number}", now=clock.now, until=until) is not None
    clock.passes(minutes=5)
    standing = memory.wait(user_id="ana")
    assert (standing.failed, model.asked.total()) == (1, 0)
    assert "begun 3 times" in standing.failures[0].reason
    memory.retry(user_id="ana")
    assert memory.wait(user_id="ana").done == 1


def test_an_embedder_that_fails_does_not_lose_what_was_read(opened):
    class Failing(HashEmbedder):
        broken = False

        def embed(self, texts):
            if self.broken:
                raise EmbeddingFailed("out of order")
            return super().embed(texts)

    model, embedder = ReadingModel(), Failing(64)
    memory = opened(model, "default", embedder=embedder)
    for number, animal in enumerate(("cat", "dog", "hen", "owl", "eel", "elk")):
        tell(memory, f"I adopted the {animal}.", f"a{number}", MAY)
    embedder.broken = True
    added = memory.add(said("I adopted the fox.", "b"), user_id="ana", session_id="b", enrich="now")
    assert not any("read by models" in warning for warning in added.warnings)
    assert "Ana adopted the fox." in texts(memory)


def test_an_assistant_with_a_persons_name_is_no_person(opened):
    model = ReadingModel()
    memory = opened(model)
    memory.add([said("I moved."), said("I love jazz.", role="assistant")], user_id="ana", enrich="now")
    assert texts(memory) == ["Ana moved."]
    assert all("jazz" not in request.user for request in model.requests)


# erasure -----------------------------------------------------------------------------------------------


def test_what_was_never_to_be_read_is_not_read_when_its_neighbour_is_erased(opened):
    model = ReadingModel()
    memory = opened(model, "default")
    memory.add([said("I hide gold.", "a"), said("I moved.", "b")], user_id="ana", enrich="never")
    memory.delete(user_id="ana", turn_id="a")
    assert memory.wait(user_id="ana").done == model.asked.total() == 0
    assert memory.enrich(user_id="ana") == 2


def test_what_was_never_to_be_read_is_in_no_episode_of_a_model(opened):
    model = ReadingModel()
    memory = opened(model, "default")
    for text, id, enrich in (("I moved.", "a", "now"), ("I hide gold.", "b", "never"), ("I bake.", "c", "now")):
        memory.add(said(text, id), user_id="ana", enrich=enrich)
    assert [episode.turn_ids for episode in memory._store.episodes("ana")] == [("a",), ("c",)]
    assert all("gold" not in request.user for request in model.requests)
    memory.enrich(user_id="ana")
    memory.wait(user_id="ana")
    assert [turn for episode in memory._store.episodes("ana") for turn in episode.turn_ids] == ["a", "b", "c"]


def test_cues_of_what_is_left_of_a_trace_are_still_found(opened):
    model = ReadingModel()
    memory = opened(model, Enriching(cues="model", notes="rules", episodes="rules"))
    memory.add([said("I repaired the lantern.", "a"), said("I painted the foghorn.", "b")], user_id="ana")
    memory.delete(user_id="ana", turn_id="a")
    assert (memory.wait(user_id="ana").done, model.asked["cues"]) == (1, 1)
    memory.add([said("I mended the net.", "c"), said("I sold the oars.", "d")], user_id="ana", enrich="now")
    memory.delete(user_id="ana", turn_id="c")
    assert (memory.wait(user_id="ana").done, model.asked["cues"]) == (2, 2)


@pytest.mark.parametrize("relation", ["extends", "equivalent"])
def test_what_is_said_elsewhere_too_is_a_note_again_when_the_first_words_are_erased(opened, relation):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I keep bees.", "a", MAY)
    model.say["conflict"] = pairs(lambda new, old: "bees" in old and (relation, "Ana keep bees and many hens."))
    tell(memory, "I keep many hens." if relation == "extends" else "I keep bees.", "b", JUNE)
    memory.delete(user_id="ana", turn_id="a")
    memory.wait(user_id="ana")
    assert texts(memory) == ["Ana keep many hens." if relation == "extends" else "Ana keep bees."]


@pytest.mark.parametrize("approve", [False, True])
def test_what_was_contradicted_counts_again_when_the_contradiction_is_erased(opened, approve):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I work at the harbour.", "a", MAY)
    [before] = memory.notes(user_id="ana")
    memory.close()
    memory = opened(model, Enriching(episodes="rules", approve=approve))
    model.say["conflict"] = pairs(lambda new, old: "harbour" in old and ("contradicts", ""))
    tell(memory, "I work at the library.", "b", JUNE)
    for waiting in memory.proposals(user_id="ana"):
        memory.approve(waiting.note_id, user_id="ana")
    assert "Ana work at the harbour." in texts(memory, "superseded")
    memory.delete(user_id="ana", turn_id="b")
    assert memory.notes(user_id="ana") == [before]
    assert all("2024-06-20" not in str(entry.detail) for entry in memory._store.operations("ana"))
    assert memory.check() == []


def test_what_was_contradicted_twice_stays_so_when_the_first_contradiction_is_erased(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I work at the harbour.", "a", MAY)
    model.say["conflict"] = pairs(lambda new, old: "Ana" in old and ("contradicts", ""))
    tell(memory, "I work at the library.", "b", JUNE)
    tell(memory, "I work at the bakery.", "c", JULY)
    memory.delete(user_id="ana", turn_id="b")
    assert texts(memory) == ["Ana work at the bakery."]
    memory.delete(user_id="ana", turn_id="c")
    assert texts(memory) == ["Ana work at the harbour."]


def test_a_note_goes_with_every_turn_that_it_has_words_from(opened):
    model = ReadingModel()
    model.say["facts"] = facts(red="Ana painted the boat Petrel red.")
    memory = opened(model)
    memory.add([said("I bought a boat called Petrel.", "a"), said("I painted it red.", "b")], user_id="ana")
    memory.wait(user_id="ana")
    [note] = [one for one in memory.notes(user_id="ana") if one.text.startswith("Ana")]
    assert [span.turn_id for span in note.sources] == ["b", "a"]
    memory.delete(user_id="ana", turn_id="a")
    assert all("Petrel" not in text for text in texts(memory, *STATUSES))


def test_what_is_learnt_goes_with_every_turn_that_it_has_words_from(opened):
    model = ReadingModel()
    memory = opened(model, Enriching(notes="rules", episodes="rules"))
    memory.add([said("I bought a boat called Petrel.", "a"), said("I painted it red.", "b")], user_id="ana")
    verdicts = iter("01")  # of the notes, and of the episodes
    model.say["sufficiency"] = lambda _: next(verdicts)

    def learn(request):
        [number] = [number for number, line in numbered(request, "evidence") if "red" in line]
        note = {"from": [number], "kind": "fact", "text": "Ana painted the boat Petrel red.", "date": ""}
        return json.dumps({"notes": [note]})

    model.say["evolve"] = learn
    memory.search("What did Ana paint red?", user_id="ana", mode="best_effort", evolve=True)
    assert "Ana painted the boat Petrel red." in texts(memory, *STATUSES)
    memory.delete(user_id="ana", turn_id="a")
    assert all("painted the boat Petrel" not in text for text in texts(memory, *STATUSES))


def test_a_turn_as_long_as_a_book_is_cut_into_episodes_by_its_ends(opened):
    model = ReadingModel()
    memory = opened(model, Enriching(notes="rules"))
    memory.add([said("I begin here. " + "It rains. " * 5000 + "I end here.", "long"), said("I moved.")], user_id="ana")
    assert memory.wait(user_id="ana").failed == 0
    [request] = model.requests
    assert len(request.user) < 2000
    assert "I begin here" in request.user
    assert "I end here" in request.user
    assert len(memory._store.episodes("ana")) == 1


def test_a_topic_with_erased_words_goes_from_the_episodes_that_took_it_over(opened):
    model = ReadingModel()
    topic = iter(["hidden gold", "treasures"])
    model.say["segment"] = lambda _: json.dumps(
        {"segments": [{"start": 0, "end": 0, "topic": next(topic, "treasures"), "summary": ""}]}
    )
    memory = opened(model, Enriching(notes="rules"), embedder=Near(64))
    tell(memory, "I hide gold.", "a", MAY)
    tell(memory, "I bury my treasures.", "b", JUNE)
    assert [episode.topic for episode in memory._store.episodes("ana")] == ["hidden gold"] * 2
    memory.delete(user_id="ana", turn_id="a")
    assert memory._store.episodes("ana") == []
    memory.wait(user_id="ana")
    assert [episode.topic for episode in memory._store.episodes("ana")] == ["treasures"]


def test_a_topic_of_an_episodes_own_words_stays(opened):
    model = ReadingModel()
    model.say["segment"] = lambda _: json.dumps({"segments": [{"start": 0, "end": 0, "topic": "gold", "summary": ""}]})
    memory = opened(model, Enriching(notes="rules"))
    tell(memory, "I hide gold.", "a", MAY)
    tell(memory, "I sell gold.", "b", JUNE)
    memory.delete(user_id="ana", turn_id="a")
    assert [episode.topic for episode in memory._store.episodes("ana")] == ["gold"]


def test_why_reading_failed_is_erased_with_the_words_that_it_may_quote(opened, tmp_path):
    model = ReadingModel()
    model.say["facts"] = lambda request: ValueError(tagged(request, "dialogue"))
    memory = opened(model)
    long = " ".join(["really"] * 120)
    memory.add([said("I hide gold.", "a"), said(f"I saw a fox. It was {long}.", "b")], user_id="ana", enrich="now")
    assert "gold" in memory.status(user_id="ana").enrichment.failures[0].reason
    memory.delete(user_id="ana", turn_id="a")
    assert "erased" in memory.status(user_id="ana").enrichment.failures[0].reason
    memory.close()
    assert b"gold" not in (tmp_path / "memory.db").read_bytes()


def test_learning_does_not_make_an_erased_user_anew(opened):
    model = ReadingModel()
    memory = opened(model)
    tell(memory, "I bought a boat.", "a", MAY)
    notes = memory.notes(user_id="ana")
    memory.delete_all(user_id="ana")
    assert memory._enricher.learn("ana", notes, by="a model") == ()
    assert memory._store.users() == []
