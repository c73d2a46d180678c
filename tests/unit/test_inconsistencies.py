"""Which notes are compared, and what follows from how they relate."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo.inconsistencies import by_age, follow, near
from mnemic.types import Interval, Note, Span


def month(number):
    return datetime(2024, number, 1, tzinfo=UTC)


def note(number, text, *, since=None, about="Ana", kind="state"):
    valid = Interval(None if since is None else month(since), None)
    return Note(f"N{number}", 1, kind, about, text, valid, (Span("m", 0, 1),))


def named(found):
    return [(one.action, one.before.note_id, one.other.note_id) for one in found]


# which are compared ------------------------------------------------------------------------------------------


def test_age_is_when_it_began_to_hold_and_else_when_it_was_stored():
    notes = [note(1, "a", since=5), note(2, "b"), note(3, "c", since=2), note(4, "d", since=9)]
    assert [one.note_id for one in by_age(notes)] == ["N3", "N1", "N2", "N4"]
    assert [one.note_id for one in by_age([note(1, "a"), note(2, "b", since=1)])] == ["N1", "N2"]


def test_the_nearest_older_ones_about_the_same_person():
    vectors = np.array([[1, 0], [0.8, 0.6], [1, 0], [0.6, 0.8], [0, 1]], np.float32)
    people = ["Ana", "Ana", "Bo", "Ana", "Ana"]
    words = [frozenset[str]()] * 5
    assert near(vectors, words, people, floor=0.5) == [(1, 0), (3, 1), (3, 0), (4, 3), (4, 1)]
    assert near(vectors, words, people, floor=0.5, most=1) == [(1, 0), (3, 1), (4, 3)]
    assert near(vectors, words, people, floor=0.9) == [(3, 1)]
    assert near(vectors[:0], [], [], floor=0.5) == []


def test_without_vectors_words_are_compared():
    vectors = np.zeros((4, 0), np.float32)
    words = [frozenset(text.split()) for text in ("live lisbon", "live oulu", "love tea", "")]
    assert near(vectors, words, ["Ana"] * 4, floor=0.5) == [(1, 0)]
    half = np.array([[1, 0], [0, 0], [0, 1], [0, 1]], np.float32)
    assert near(half, words, ["Ana"] * 4, floor=0.5) == [(1, 0), (3, 2)]


def test_rows_in_several_blocks_are_all_compared():
    n = 600
    vectors = np.zeros((n, n), np.float32)
    vectors[np.arange(n), np.arange(n)] = 1
    vectors[n - 1] = vectors[3]
    assert near(vectors, [frozenset[str]()] * n, ["Ana"] * n, floor=0.5) == [(n - 1, 3)]


# what follows ------------------------------------------------------------------------------------------------


def test_a_contradicted_note_holds_until_the_newer_one_does():
    lisbon, oulu = note(1, "Ana lives in Lisbon", since=1), note(2, "Ana lives in Oulu", since=4)
    [one] = follow([lisbon, oulu], {(1, 0): "contradictory"})
    assert (one.action, one.relation, one.other) == ("EXPIRE", "contradictory", oulu)
    assert one.after == replace(lisbon, status="superseded", valid=Interval(month(1), month(4)))
    assert one.before == lisbon


def test_the_newer_of_two_that_say_the_same_goes():
    notes = [note(1, "Ana loves tea", since=1), note(2, "Ana loves tea.", since=4)]
    [one] = follow(notes, {(1, 0): "equivalent"})
    assert (one.action, one.before, one.after.status, one.other) == ("MERGE", notes[1], "retracted", notes[0])
    assert one.after.valid == notes[1].valid


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("Ana has 2 cats", "Ana has 3 cats", "state"),
        ("Ana starts on 5 May 2024", "Ana starts on 6 May 2024", "state"),
        ("Ana ran a marathon", "Ana ran a marathon", "fact"),
    ],
)
def test_corrections_and_events_of_other_days_are_no_duplicates(old, new, kind):
    notes = [note(1, old, since=1, kind=kind), note(2, new, since=4, kind=kind)]
    assert follow(notes, {(1, 0): "equivalent"}) == []


def test_of_a_then_b_then_a_again_the_last_holds():
    notes = [note(1, "Ana lives in Lisbon", since=1), note(2, "Ana lives in Oulu", since=4),
             note(3, "Ana lives in Lisbon", since=8)]  # fmt: skip
    relations = {(1, 0): "contradictory", (2, 1): "contradictory", (2, 0): "equivalent"}
    for order in permutations(relations.items()):
        assert named(follow(notes, dict(order))) == [("EXPIRE", "N1", "N2"), ("EXPIRE", "N2", "N3")]


def test_of_many_that_say_the_same_the_oldest_stays():
    notes = [note(number, "Ana loves tea", since=number) for number in range(1, 5)]
    relations = {(1, 0): "equivalent", (2, 1): "equivalent", (3, 2): "equivalent"}
    assert named(follow(notes, relations)) == [("MERGE", f"N{number}", "N1") for number in (2, 3, 4)]


def test_other_relations_change_nothing():
    notes = [note(1, "Ana loves tea"), note(2, "Ana loves green tea")]
    assert follow(notes, {(1, 0): "extending"}) == follow(notes, {(1, 0): "independent"}) == []


RELATIONS = st.sampled_from(["independent", "extending", "contradictory", "equivalent"])


@given(
    st.dictionaries(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] > pair[1]), RELATIONS)
)
def test_each_note_changes_once_and_something_of_each_matter_stays(relations):
    notes = [note(number, "Ana loves tea", since=number + 1) for number in range(8)]
    found = follow(notes, relations)
    changed = [one.before.note_id for one in found]
    assert len(changed) == len(set(changed))
    for one in found:
        newer, older = (one.other, one.before) if one.action == "EXPIRE" else (one.before, one.other)
        assert newer.valid.start > older.valid.start
        # Whatever it gives way to is current, or gave way to something later still.
        assert one.action == "EXPIRE" or one.other.note_id not in changed
    assert len(found) < len(notes)
