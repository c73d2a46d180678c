"""Self-evolution: what is learnt from episodes that answered, by how many calls, and what nothing is learnt from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from test_memory_modes import fill

from mnemic.config import Budgets, Enriching, Limit
from mnemic.errors import StoreConflict
from mnemic.memory.evolving import evolved
from mnemic.memory.search import Request, checked
from mnemic.models.doubles import ScriptedModel
from mnemic.protocols import Reply
from mnemic.types import Scope, Span

QUIET = Enriching(notes="rules", episodes="rules", conflicts=None)
HANGING_UP = ConnectionResetError("the line is dead")


def said(*notes):
    return json.dumps({"notes": [{"kind": "fact", "date": "", **note} for note in notes]})


ROSA = {"from": [1], "kind": "trait", "text": "Ana's sister Rosa plays the cello."}


class Learning:
    """A memory whose judge and writer are scripted, and which remembers what it was to reconcile."""

    def __init__(self, open_memory, judge, writer, error=None, **more):
        self.judge = ScriptedModel(judge, name="scripted:judge")
        self.writer = ScriptedModel(writer or (), name="scripted:writer")
        models = {"sufficiency": self.judge} | ({} if writer is None else {"notes": self.writer})
        self.memory = fill(open_memory(model=models, enrichment=QUIET, **more))
        self.memory._modes._reconcile = self.reconcile
        self.error = error
        self.given = []

    def reconcile(self, user_id, notes, by):
        self.given.append((user_id, list(notes)))
        if self.error:
            raise self.error
        return tuple(f"O{number}" for number, _ in enumerate(notes, 1))

    def ask(self, query="Who plays the cello?", **more):
        how = {"mode": "best_effort", "evolve": True, "top_k": 1} | more
        return self.memory.search(query, user_id="ana", **how)


def test_insufficient_notes_and_a_sufficient_episode_take_one_more_call(open_memory):
    one = Learning(open_memory, ["0", "1"], [said(ROSA)])
    found = one.ask()
    assert (len(one.judge.requests), len(one.writer.requests)) == (2, 1)
    assert found.operations == ("O1",)
    assert found.warnings == ()
    [request] = one.writer.requests
    assert request.purpose == "notes"
    assert "<owner>\nAna\n</owner>" in request.user
    assert "1. Ana (2024-06-04 18:05 UTC): My sister Rosa plays the cello." in request.user
    assert "2. assistant (2024-06-04 18:05 UTC): Does the cello" in request.user
    [(user_id, [note])] = one.given
    assert user_id == "ana"
    assert (note.note_id, note.version, note.status, note.kind, note.about) == ("", 1, "current", "trait", "Ana")
    assert note.text == ROSA["text"]
    assert note.sources == (Span("t1", 0, 31),)
    assert note.valid.start == datetime(2024, 6, 4, 18, 5, tzinfo=UTC)
    assert note.metadata == {"question": "Who plays the cello?", "episodes": ["E:t1"]}
    assert [hit.episode_id for hit in found.results] == ["E:t1"]


@pytest.mark.parametrize(("judge", "calls"), [(["1"], 1), (["0", "0"], 2)])
def test_otherwise_nothing_is_learnt(open_memory, judge, calls):
    one = Learning(open_memory, judge, [said(ROSA)])
    found = one.ask()
    assert (len(one.judge.requests), len(one.writer.requests)) == (calls, 0)
    assert found.operations == ()
    assert one.given == []


def test_it_is_off_by_default(open_memory):
    one = Learning(open_memory, ["0", "1"], [said(ROSA)])
    assert one.ask(evolve=False).operations == ()
    assert one.writer.requests == []


def test_without_a_model_there_is_a_warning(open_memory):
    one = Learning(open_memory, ["0", "1"], None)
    found = one.ask()
    assert one.given == []
    assert found.warnings == ("nothing was learnt: no language model has the purpose notes; see Memory.open(model=…)",)


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (HANGING_UP, "the line is dead"),
        ("I'm sorry, I can't help with that.", "refused"),
        (Reply("", "refusal", 1, 0), "refused"),
        ("", "empty"),
        ("The cello is played by Rosa.", "prose"),
        (Reply('{"notes": [{"from": [1', "length", 1, 1), "truncated"),
    ],
    ids=str,
)
def test_a_model_that_fails_or_says_nothing_teaches_nothing_and_the_search_stands(open_memory, reply, told):
    one = Learning(open_memory, ["0", "1"], [reply])
    found = one.ask()
    assert found.operations == ()
    assert one.given == []
    assert [hit.episode_id for hit in found.results] == ["E:t1"]
    assert len(found.warnings) == 1
    assert told in found.warnings[0]


def test_an_empty_list_is_no_failure(open_memory):
    one = Learning(open_memory, ["0", "1"], ['{"notes": []}'])
    found = one.ask()
    assert (found.operations, found.warnings, one.given) == ((), (), [])


def test_statements_without_the_owners_words_are_left_out_by_name(open_memory):
    assistants = {"from": [2], "text": "The cello keeps the bees awake."}
    from_nowhere = {"from": [], "text": "Ana is tall."}
    invented = {"from": [7], "text": "Ana is short."}
    confirmed = {"from": [2, 1], "text": "Ana hears the cello.", "date": "2024-06-01"}
    one = Learning(open_memory, ["0", "1"], [said(assistants, from_nowhere, ROSA, invented, confirmed)])
    found = one.ask()
    [(_, notes)] = one.given
    assert [note.text for note in notes] == [ROSA["text"], "Ana hears the cello."]
    assert [span.turn_id for span in notes[1].sources] == ["t2", "t1"]
    assert notes[1].valid.start == datetime(2024, 6, 1, tzinfo=UTC)
    assert found.warnings == ("statements not learnt: 3; they rest on no words of Ana",)
    assert found.operations == ("O1", "O2")


def test_what_cannot_be_reconciled_is_a_warning(open_memory):
    one = Learning(open_memory, ["0", "1"], [said(ROSA)], error=StoreConflict("somebody wrote"))
    found = one.ask()
    assert found.operations == ()
    assert found.warnings == ("nothing was learnt: somebody wrote",)
    assert [hit.episode_id for hit in found.results] == ["E:t1"]


def test_a_budget_that_is_spent_is_a_warning_and_makes_no_call(open_memory):
    one = Learning(open_memory, ["0", "1"], [said(ROSA)], budgets=Budgets(total=Limit(calls=2)))
    found = one.ask()
    assert (len(one.judge.requests), len(one.writer.requests)) == (2, 0)
    assert found.operations == ()
    assert "budget" in found.warnings[0]


def test_relevance_can_judge_where_a_model_only_writes(open_memory):
    writer = ScriptedModel([said({"from": [2], "text": "x"}, {"from": [1], "text": "Ana knows a cellist."})])
    memory = fill(open_memory(model={"notes": writer}, enrichment=QUIET))
    given = []
    memory._modes._reconcile = lambda user_id, notes, by: (given.extend(notes), ("O1",))[1]
    found = memory.search("Is it awake?", user_id="ana", mode="best_effort", evolve=True, top_k=1)
    assert [one.by for one in found.sufficiency] == ["relevance", "relevance"]
    assert [note.text for note in given] == ["Ana knows a cellist."]
    assert found.operations == ("O1",)


def test_the_owner_is_whom_the_question_names_or_who_says_most(open_memory):
    memory = open_memory()
    talk = [
        {"id": "1", "speaker": "Ana", "content": "I sail."},
        {"id": "2", "speaker": "Bo", "content": "I climb."},
        {"id": "3", "speaker": "Ana", "content": "On lakes."},
        {"id": "4", "role": "assistant", "content": "Nice."},
    ]
    memory.add(talk, user_id="u", session_id="s")
    layers, searcher = memory._modes._layers, memory._modes._searcher

    request = Request(
        "sail climb", Scope("u"), 5, None, {}, None, None, datetime.now(UTC), "turn", "default", None, False
    )
    with searcher.looked(request, checked(request), granularity="turn", limit=5) as seen:
        layer = layers.episodes(seen, request, himem=False, limit=5)
    for query, owner in (("What does Bo do?", "Bo"), ("Who sails?", "Ana"), ("Do Ana and Bo sail?", "Ana")):
        writer = ScriptedModel([said({"from": [1, 2], "text": "x"})])
        given = []
        evolved("u", query, layer, writer, lambda user_id, notes, by, given=given: (given.extend(notes), ())[1])
        assert [note.about for note in given] == [owner]
    silent = replace(layer, items=tuple(replace(item, turns=item.turns[3:]) for item in layer.items))
    nobody = evolved("u", "Who sails?", silent, ScriptedModel([]), lambda *_: ())
    assert nobody == ((), ("nothing was learnt: the evidence holds no words of a person",))


# whole, with the real reconciliation ---------------------------------------------------------------------


def whole(open_memory, note, *pairs):
    models = {
        "sufficiency": ScriptedModel(["0", "1", "1"], name="scripted:judge"),
        "notes": ScriptedModel([said(note)], name="scripted:writer"),
        "conflict": ScriptedModel([json.dumps({"pairs": pairs})], name="scripted:conflict"),
    }
    memory = fill(open_memory(model=models, enrichment=Enriching(notes="rules", episodes="rules")))
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort", evolve=True, top_k=1)
    assert found.warnings == ()
    return memory, found, {purpose: len(model.requests) for purpose, model in models.items()}


def test_what_was_learnt_is_a_note_that_suffices_the_next_time(open_memory):
    independent = {"new": 1, "relation": "independent", "old": 0, "text": ""}
    memory, found, calls = whole(open_memory, ROSA, independent)
    assert calls == {"sufficiency": 2, "notes": 1, "conflict": 1}
    [note] = [one for one in memory.notes(user_id="ana") if one.text == ROSA["text"]]
    assert (note.about, note.kind, note.status) == ("Ana", "trait", "current")
    assert note.sources == (Span("t1", 0, 31),)
    assert note.metadata["question"] == "Who plays the cello?"
    history = memory.history(note.note_id, user_id="ana")
    assert [one.operation_id for one in history if one.operation_id in found.operations]
    assert {one.trigger for one in history} == {"scripted:writer: evolution"}
    again = memory.search("Rosa plays the cello", user_id="ana", mode="best_effort", evolve=True, top_k=1)
    assert [one.note.note_id for one in again.notes] == [note.note_id]
    assert [(one.layer, one.sufficient) for one in again.sufficiency] == [("notes", True)]
    assert again.operations == ()
    # The words are what they were, and erasing them takes the note along.
    assert memory.get("t1", user_id="ana").text == "My sister Rosa plays the cello."
    memory.delete(user_id="ana", turn_id="t1")
    assert ROSA["text"] not in [one.text for one in memory.notes(user_id="ana")]


def test_what_was_learnt_takes_the_place_of_what_it_contradicts(open_memory):
    old = {"new": 1, "relation": "contradicts", "old": 1, "text": ""}
    memory, found, _ = whole(open_memory, ROSA, old)
    assert len(found.operations) >= 2
    superseded = memory._store.notes("ana", statuses=("superseded",))
    assert len(superseded) == 1
    shown = memory.search("Who plays the cello?", user_id="ana", mode="notes").notes
    assert superseded[0].note_id not in [one.note.note_id for one in shown]


def test_what_the_words_do_not_bear_out_is_never_shown(open_memory):
    invented = ROSA | {"text": "Ana's sister Bella plays 3 cellos in Vienna."}
    memory, _, calls = whole(open_memory, invented)
    assert calls["conflict"] == 0
    [note] = memory._store.notes("ana", statuses=("unsupported",))
    assert note.text == invented["text"]
    for mode in ("notes", "hybrid"):
        assert "Bella" not in str(memory.search("Bella plays cellos in Vienna", user_id="ana", mode=mode))


def test_words_erased_while_it_is_learnt_are_not_learnt(open_memory):
    models = {"sufficiency": ScriptedModel(["0", "1"]), "notes": ScriptedModel([said(ROSA)])}
    memory = fill(open_memory(model=models, enrichment=Enriching(notes="rules", episodes="rules")))
    writer = models["notes"]
    complete = writer.complete

    def erasing(request):
        memory.delete(user_id="ana", turn_id="t1")
        return complete(request)

    writer.complete = erasing
    found = memory.search("Who plays the cello?", user_id="ana", mode="best_effort", evolve=True, top_k=1)
    assert found.operations == ()
    assert "Rosa" not in str(memory.notes(user_id="ana"))
