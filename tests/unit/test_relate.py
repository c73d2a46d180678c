"""How two notes relate, by rules: only what is plainly so is not independent."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mnemic.algo.relate import relate, says_both
from mnemic.types import Interval, Note, Span

MAY, JUNE = (datetime(2024, month, 1, tzinfo=UTC) for month in (5, 6))


def note(text, kind="trait", start=None, **more):
    return Note("", 1, kind, "Ana", text, Interval(start, None), (Span("t", 0, 1),), **more)


def relation(new, old, kind="trait", starts=(None, None)):
    return relate(note(new, kind, starts[0]), [note(old, kind, starts[1])]).relation


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana lives in Rome.", "ana  lives in Rome"),
        ("I live in Rome", "Ana lives in Rome."),
        ("Ana lives in Rome with her cat.", "Ana lives in Rome."),
        ("Ana has two dogs.", "Ana has 2 dogs"),
    ],
)
def test_equivalent(old, new):
    assert relation(new, old) == "equivalent"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana has two dogs.", "Ana has three dogs."),
        ("Ana was born on 3 May 1990.", "Ana was born on 4 May 1990."),
        ("Ana was born in July.", "Ana was born in June."),
        ("Ana smokes.", "Ana does not smoke."),
        ("Ana lives in Rome.", "Ana no longer lives in Rome."),
        ("Ana lives in Rome.", "Ana moved to Oslo."),
        ("I live in Rome.", "Ana now lives in Oslo."),
        ("Ana works at Siemens.", "Ana works for Bosch now."),
        ("Ana works as a nurse.", "These days Ana works as a teacher."),
        ("Ana's favourite colour is blue.", "Ana's favourite colour is now red."),
        ("Ana is single.", "Ana is now married."),
        ("I enjoy jazz.", "I cannot stand jazz any more."),
        ("Ana hates green tea.", "Ana loves green tea now."),
        ("Ana is fond of her bike.", "Ana doesn't like her bike."),
    ],
)
def test_contradictory(old, new):
    assert relation(new, old) == "contradictory"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana lives in Rome.", "Ana lives in Rome with her cat."),
        ("Ana plays the cello.", "Ana plays the cello and has two students."),
    ],
)
def test_extending(old, new):
    assert relation(new, old) == "extending"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Ana plays chess.", "Ana loves tea."),
        # No word says that something has changed.
        ("Ana lives in Rome.", "Ana lives in Oslo."),
        ("Ana lives in Rome.", "Ana wants to move to Oslo."),
        ("Ana lives in Rome.", "Ana used to live in Oslo, now she reads."),
        ("Ana lives in Rome.", "Ana moved to the front row."),
        ("Ana lives in Rome.", "Ana lives in a flat in Rome now."),
        ("Ana lives in Rome.", "Ana now works as a nurse."),
        ("Ana's favourite colour is blue.", "Ana's favourite film is now Alien."),
        ("Ana likes dogs.", "Ana likes hot dogs."),
        ("Ana likes tea.", "Ana likes tea towels."),
        ("Ana has two dogs and a cat.", "Ana has three dogs."),
        ("", "Ana"),
        ("Ana enjoys jazz.", "Ana cannot stand jazz clubs."),
        ("Ana enjoys jazz.", "Ana used to hate jazz."),
        ("Ana hates jazz.", "Ana does not hate jazz clubs."),
        ("Ana enjoys jazz.", "Ana enjoys tea, but cannot stand jazz."),
    ],
)
def test_independent(old, new):
    assert relation(new, old) == "independent"


def test_events_at_other_times_are_other_events():
    assert relation("Ana ran 5 km.", "Ana ran 10 km.", "fact") == "independent"
    assert relation("Ana ran 5 km.", "Ana ran 5 km.", "fact", (JUNE, MAY)) == "independent"
    assert relation("Ana ran 5 km.", "Ana ran 10 km.", "fact", (MAY, MAY)) == "contradictory"
    assert relation("Ana ran 5 km.", "Ana ran 5 km.", "fact", (MAY, MAY)) == "equivalent"


def test_an_event_ends_what_held_before_and_no_other_event():
    moved = note("Ana moved to Oulu.", "fact", JUNE)
    assert relate(moved, [note("Ana lives in Turku.", "trait", MAY)]).relation == "contradictory"
    assert relate(moved, [note("Ana moved to Turku.", "fact", MAY)]).relation == "contradictory"
    assert relate(moved, [note("Ana went to Turku.", "fact", MAY)]).relation == "independent"


def test_a_fuller_text_has_the_words_and_numbers_of_both():
    cat, name = note("Ana adopted a cat."), note("Ana's cat is called Miso.")
    assert says_both(note("Ana adopted a cat called Miso."), cat, name)
    assert not says_both(note("Ana eats soup at night."), note("Ana dreams of sailing."))
    assert not says_both(note("Ana weighed 70.8 kg on 9 May."), note("Ana weighed 71.2 kg on 2 May."))


def test_only_current_notes_of_the_same_person_count():
    new, old = note("Ana smokes."), note("Ana does not smoke.")
    assert relate(new, [replace(old, about="Bo"), replace(old, status="superseded")]).relation == "independent"


def test_the_closest_relation_is_proposed_with_its_place_and_text():
    known = [note("Ana plays chess."), note("Ana has two dogs."), note("Ana has three dogs.")]
    found = relate(note("Ana has 3 dogs"), known)
    assert (found.relation, found.target, found.target_text) == ("equivalent", 2, "Ana has three dogs.")
    found = relate(note("Ana has four dogs"), known)
    assert (found.relation, found.target) == ("contradictory", 1)
