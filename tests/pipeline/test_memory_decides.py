"""Memory.confirm and retract, the whole log, and notes of every status: what a person says about notes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemic import Budgets, Limit
from mnemic.errors import InvalidInput, NotFound
from mnemic.memory.facade import Memory
from mnemic.models.doubles import HashEmbedder, ScriptedModel
from mnemic.protocols import Batch
from mnemic.store import open_store
from mnemic.types import STATUSES, Interval, Note, Span

SAID = datetime(2024, 6, 3, 12, tzinfo=UTC)


@pytest.fixture
def now():
    return [datetime(2026, 1, 1, tzinfo=UTC)]


@pytest.fixture
def memory(tmp_path, now):
    """Ana's note N1, and N2, which its source does not bear out."""
    from mnemic.models.registry import cue_extractor

    store = open_store(tmp_path / "m.db")
    with Memory(store, embedder=HashEmbedder(), cue_extractor=cue_extractor("rules"), clock=lambda: now[0]) as found:
        found.add(
            {"name": "Ana", "role": "user", "content": "I live in Lisbon.", "id": "m1"}, user_id="u", timestamp=SAID
        )
        wrong = Note(
            "", 1, "fact", "Ana", "Ana lives in Oulu.", Interval(None, None), (Span("m1", 0, 5),), "unsupported"
        )
        store.write("u", Batch(notes=(wrong,), trigger="model"), now=SAID)
        yield found


def note(memory, note_id="N1"):
    [found] = [one for one in memory.notes(user_id="u", statuses=STATUSES) if one.note_id == note_id]
    return found


def test_what_is_confirmed_was_last_confirmed_then(memory, now):
    assert note(memory).last_confirmed == SAID
    confirmed = memory.confirm("N1", user_id="u")
    assert confirmed.last_confirmed == now[0]
    assert note(memory) == confirmed
    now[0] += timedelta(days=1)
    assert memory.confirm("N1", user_id="u").last_confirmed == now[0]
    last = memory.history("N1", user_id="u")[-1]
    assert (last.action, last.trigger, last.detail["decision"]) == ("UPDATE", "person", "confirmed")
    memory.undo(last.operation_id, user_id="u")
    assert note(memory).last_confirmed == now[0] - timedelta(days=1)


def test_a_person_can_vouch_for_what_no_source_bears_out(memory):
    assert [one.note_id for one in memory.notes(user_id="u")] == ["N1"]
    assert memory.confirm("N2", user_id="u").status == "current"
    assert [one.note_id for one in memory.notes(user_id="u")] == ["N1", "N2"]
    memory.undo(memory.history("N2", user_id="u")[-1].operation_id, user_id="u")
    assert note(memory, "N2").status == "unsupported"


def test_what_is_retracted_counts_no_more_and_stays_readable(memory, now):
    gone = memory.retract("N1", user_id="u", reason="She moved.")
    assert (gone.status, gone.text) == ("retracted", "I live in Lisbon.")
    assert memory.notes(user_id="u") == []
    assert note(memory).status == "retracted"
    last = memory.history(user_id="u")[-1]
    assert (last.action, last.target_id, last.detail["reason"]) == ("RETRACT", "N1", "She moved.")
    for verb in (memory.retract, memory.confirm):
        with pytest.raises(InvalidInput, match=r"'N1' of user 'u' cannot be .* it is retracted; undo"):
            verb("N1", user_id="u")
    memory.undo(last.operation_id, user_id="u")
    assert [one.status for one in memory.notes(user_id="u")] == ["current"]


def test_unknown_notes_are_named_and_those_of_others_are_unknown(memory):
    for verb in (memory.retract, memory.confirm):
        with pytest.raises(NotFound, match="user 'v' has no note 'N1'"):
            verb("N1", user_id="v")


def test_what_waits_is_approved_or_rejected_not_confirmed(memory):
    waits = replace(note(memory), note_id="", status="proposed")
    memory._store.write("u", Batch(notes=(waits,)), now=SAID)
    with pytest.raises(InvalidInput, match="it is proposed; approve or reject it"):
        memory.confirm("N3", user_id="u")


def test_history_without_an_id_is_the_whole_log(memory):
    assert [one.target_id for one in memory.history(user_id="u")] == ["N1", "N2"]
    assert memory.history(user_id="v") == []


def test_statuses_are_checked(memory):
    assert [one.note_id for one in memory.notes(user_id="u", statuses=["unsupported"])] == ["N2"]
    for wrong in ("current", ["gone"]):
        with pytest.raises(InvalidInput, match="statuses"):
            memory.notes(user_id="u", statuses=wrong)


def test_status_says_what_budgets_allow_and_what_is_spent(open_memory):
    budgets = Budgets(call=Limit(tokens=9000), user_day=Limit(calls=5), total=Limit(tokens=50_000))
    model = ScriptedModel(['{"answer": "Bees", "sources": [1]}'])
    memory = open_memory(model={"answer": model}, budgets=budgets)
    memory.add("The landlord keeps bees.", user_id="ana")
    memory.answer("Who keeps bees?", user_id="ana")
    of_call, of_day, of_all = memory.status(user_id="ana").allowances
    assert (of_call.budget, of_call.unit, of_call.limit, of_call.spent) == ("call", "tokens", 9000, None)
    assert (of_day.budget, of_day.unit, of_day.limit, of_day.spent) == ("user_day", "calls", 5, 1)
    assert (of_all.budget, of_all.unit, of_all.limit) == ("total", "tokens", 50_000)
    assert of_all.spent > 0
    assert [one.spent for one in memory.status().allowances] == [None, None, of_all.spent]
    assert memory.status(user_id="bo").allowances[1].spent == 0
    assert memory.status().fingerprint == HashEmbedder().fingerprint
