"""Proposals to changes of notes: nothing is lost, and nobody else's notes are touched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import count

import pytest

from mnemic.algo.revise import Change, Proposal, apply, revise, same_words, undo
from mnemic.types import Interval, Note, Span

APRIL, MAY, JUNE = (datetime(2024, month, 1, tzinfo=UTC) for month in (4, 5, 6))


def note(text, note_id="", *, start=None, turn="t1", about="Ana", kind="trait", **more):
    return Note(note_id, 1, kind, about, text, Interval(start, None), (Span(turn, 0, 1),), **more)


ROME = note("Ana lives in Rome.", "N1", start=MAY)
TEA = note("Ana likes tea.", "N2", kind="preference")
OSLO = note("Ana lives in Oslo.", start=JUNE, turn="t9")
KNOWN = (ROME, TEA)


def revised(*proposals, notes=KNOWN, shown=KNOWN, **more):
    numbers = count(8 + len(notes))
    return revise(notes, shown, proposals, new_id=lambda: f"N{next(numbers)}", **more)


def proposed(relation, new=OSLO, target=0, **more):
    return Proposal("Ana", relation, new, target, **more)


def test_an_independent_note_is_added():
    assert revised(proposed("independent")) == [Change("ADD", None, replace(OSLO, note_id="N10"))]


def test_an_extending_note_is_the_next_version_and_rests_on_both_sources():
    fuller = note("Ana lives in Rome with her cat.", start=JUNE, turn="t9")
    [change] = revised(proposed("extending", fuller))
    assert (change.action, change.before) == ("UPDATE", ROME)
    assert (change.after.note_id, change.after.version, change.after.text) == ("N1", 2, fuller.text)
    assert change.after.sources == (Span("t1", 0, 1), Span("t9", 0, 1))
    assert change.after.valid == Interval(MAY, None)
    after = apply(KNOWN, [change])
    assert [one.status for one in after] == ["superseded", "current", "current"]


def test_a_contradicted_note_stays_readable_and_ends_when_the_new_one_begins():
    expired, added = revised(proposed("contradictory"))
    assert expired == Change("EXPIRE", ROME, replace(ROME, status="superseded", valid=Interval(MAY, JUNE)))
    assert added == Change("ADD", None, replace(OSLO, note_id="N10"))
    assert ROME.text in [one.text for one in apply(KNOWN, [expired, added])]


def test_what_was_true_earlier_does_not_replace_what_is_true_now():
    earlier = replace(OSLO, valid=Interval(APRIL, None))
    [added] = revised(proposed("contradictory", earlier))
    assert added.action == "ADD"
    assert (added.after.status, added.after.valid) == ("superseded", Interval(APRIL, MAY))


def test_an_equivalent_note_changes_nothing():
    assert revised(proposed("equivalent")) == []


def test_a_deletion_retracts_and_keeps():
    assert revised(proposed("contradictory", None)) == [Change("DELETE", ROME, replace(ROME, status="retracted"))]


def test_without_its_target_an_update_adds_and_a_deletion_does_nothing():
    assert [change.action for change in revised(proposed("extending", target=7))] == ["ADD"]
    assert [change.action for change in revised(proposed("extending", target=-1))] == ["ADD"]
    assert [change.action for change in revised(proposed("contradictory", target=None))] == ["ADD"]
    assert revised(proposed("contradictory", None, target=7)) == []


def test_a_target_is_found_by_its_place_and_else_by_its_text():
    [change, _] = revised(proposed("contradictory", target=0, target_text="Ana likes tea."))
    assert change.before == ROME
    [change, _] = revised(proposed("contradictory", target=9, target_text="ana likes  tea"))
    assert change.before == TEA


def test_notes_of_others_are_never_touched():
    bos = replace(ROME, about="Bo")
    for new in (OSLO, None):
        found = revised(proposed("contradictory", new, target_text=bos.text), notes=(bos,), shown=(bos,))
        assert [change.action for change in found] == (["ADD"] if new else [])
    assert revised(Proposal("Bo", "independent", OSLO)) == []


def test_only_what_is_current_is_a_target():
    for status in ("superseded", "retracted", "archived", "unsupported"):
        old = replace(ROME, status=status)
        assert [change.action for change in revised(proposed("contradictory"), notes=(old,))] == ["ADD"]


def test_an_unsupported_note_changes_no_other_and_may_be_supported_later():
    doubtful = replace(OSLO, status="unsupported")
    [added] = revised(proposed("contradictory", doubtful))
    assert (added.action, added.after.status) == ("ADD", "unsupported")
    notes = apply(KNOWN, [added])
    assert [change.action for change in revised(proposed("contradictory"), notes=notes)] == ["EXPIRE", "ADD"]


def test_corrections_that_differ_in_a_number_are_no_duplicates():
    two, three = note("Ana has 2 dogs.", "N3"), note("Ana has 3 dogs.", turn="t9")
    assert not same_words(two.text, three.text)
    assert [change.action for change in revised(proposed("independent", three), notes=(two,))] == ["ADD"]
    again = note("ana has 2 dogs", turn="t9")
    assert revised(proposed("independent", again), notes=(two,)) == []


def test_the_same_event_at_another_time_is_another_event():
    ran = note("Ana ran 5 km.", "N3", kind="fact", start=MAY)
    again = note("Ana ran 5 km.", kind="fact", start=JUNE, turn="t9")
    assert [change.action for change in revised(proposed("independent", again), notes=(ran,))] == ["ADD"]


def test_facts_skip_the_conflict_check_in_himem_alone():
    old = note("Ana owns a boat.", "N3", kind="fact")
    new = note("Ana owns no boat.", kind="fact", turn="t9")
    actions = [
        [change.action for change in revised(proposed("contradictory", new), notes=(old,), shown=(old,), himem=himem)]
        for himem in (False, True)
    ]
    assert actions == [["EXPIRE", "ADD"], ["ADD"]]
    assert [change.action for change in revised(proposed("contradictory"), himem=True)] == ["EXPIRE", "ADD"]


def test_a_text_comes_back_when_it_is_said_again():
    changes = revised(proposed("contradictory"))
    notes = apply(KNOWN, changes)
    back = note("Ana lives in Rome.", start=datetime(2024, 9, 1, tzinfo=UTC), turn="t20")
    again = revised(proposed("contradictory", back), notes=notes, shown=(changes[1].after,))
    assert [change.action for change in again] == ["EXPIRE", "ADD"]
    assert revised(proposed("contradictory"), notes=apply(notes, again)) == []


def test_undo_refuses_what_has_changed_since():
    first = revised(proposed("extending", note("Ana lives in Rome with her cat.", turn="t9")))
    notes = apply(KNOWN, first)
    second = revised(proposed("contradictory"), notes=notes)
    later = apply(notes, second)
    with pytest.raises(ValueError, match="undo what came later first"):
        undo(later, first)
    assert undo(undo(later, second), first) == KNOWN


def test_a_change_of_a_note_that_has_changed_is_refused():
    [change, _] = revised(proposed("contradictory"))
    with pytest.raises(ValueError, match="plan it again"):
        apply([replace(ROME, text="Ana lives in Bari.")], [change])
