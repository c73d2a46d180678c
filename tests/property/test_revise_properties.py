"""Revision of notes: applied twice is applied once, undo is exact, nothing is lost.

Texts, sources and people are few, so that notes meet one another.
"""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.relate import relate
from mnemic.algo.revise import Proposal, Relation, apply, revise, undo
from mnemic.types import Interval, Note, NoteKind, NoteStatus, Span

PEOPLE = st.sampled_from(["Ana", "Bo"])
TEXTS = st.sampled_from(
    [
        "lives in Rome",
        "now lives in Oslo",
        "has 2 dogs",
        "has 3 dogs",
        "has 3 dogs and a cat",
        "has no dogs",
        "Has 2 dogs.",
    ]
)
INTERVALS = st.builds(
    Interval, st.none() | st.integers(1, 4).map(lambda month: datetime(2024, month, 1, tzinfo=UTC)), st.none()
)
SOURCES = st.lists(st.integers(0, 5).map(lambda turn: Span(f"t{turn}", 0, 1)), min_size=1, max_size=2, unique=True)
RELATIONS = get_args(Relation)
STATUSES = st.sampled_from(get_args(NoteStatus)) | st.just("current")


@st.composite
def known(draw):
    """Notes of two people, some with several versions, of which only the last may be current."""
    notes = []
    for number in range(draw(st.integers(0, 4))):
        about, versions = draw(PEOPLE), draw(st.integers(1, 2))
        for version in range(1, versions + 1):
            status = draw(STATUSES) if version == versions else "superseded"
            notes.append(draw(a_note(about, f"N{number}", version, status)))
    return tuple(notes)


def a_note(about, note_id, version, status):
    kinds = st.sampled_from(get_args(NoteKind))
    return st.builds(
        Note,
        st.just(note_id),
        st.just(version),
        kinds,
        st.just(about),
        TEXTS.map(lambda text: f"{about} {text}"),
        INTERVALS,
        SOURCES.map(tuple),
        st.just(status),
    )


@st.composite
def proposals(draw, relations=RELATIONS):
    about = draw(PEOPLE)
    note = draw(st.none() | a_note(about, "", 1, "current") | a_note(about, "", 1, "unsupported"))
    relation = draw(st.sampled_from(relations))
    text = draw(st.none() | TEXTS.map(lambda text: f"{about} {text}"))
    return Proposal(about, relation, note, draw(st.none() | st.integers(-1, 8)), text)


def ids():
    numbers = count(100)
    return lambda: f"N{next(numbers)}"


def texts(notes):
    """What is there, whatever ids the new notes got."""
    return sorted(
        (note.about, note.text, note.kind, note.version, note.status, str(note.valid), str(note.sources))
        for note in notes
    )


FEW = settings(max_examples=40, deadline=None)
LISTS = st.lists(proposals(), max_size=6)
HIMEM = st.booleans()


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_the_same_proposals_change_nothing_a_second_time(notes, asked, himem):
    new_id = ids()
    first = revise(notes, notes, asked, new_id=new_id, himem=himem)
    after = apply(notes, first)
    assert revise(after, notes, asked, new_id=new_id, himem=himem) == []


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_the_same_changes_change_nothing_a_second_time(notes, asked, himem):
    changes = revise(notes, notes, asked, new_id=ids(), himem=himem)
    after = apply(notes, changes)
    assert apply(after, changes) == after


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_undo_gives_the_former_notes_exactly_all_at_once_or_one_by_one(notes, asked, himem):
    changes = revise(notes, notes, asked, new_id=ids(), himem=himem)
    after = apply(notes, changes)
    assert undo(after, changes) == notes
    for change in reversed(changes):
        after = undo(after, [change])
    assert after == notes


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_no_version_and_no_new_text_is_ever_lost(notes, asked, himem):
    after = apply(notes, revise(notes, notes, asked, new_id=ids(), himem=himem))
    there = {(note.note_id, note.version): note for note in after}
    for note in notes:
        kept = there[note.note_id, note.version]
        assert (kept.text, kept.sources, kept.about, kept.kind) == (note.text, note.sources, note.about, note.kind)
    folded = {(note.about, note.text.lower().rstrip(".")) for note in after}
    for proposal in asked:
        if proposal.note is not None and proposal.relation != "equivalent":
            assert (proposal.about, proposal.note.text.lower().rstrip(".")) in folded


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_notes_of_people_without_a_proposal_stay_as_they_are(notes, asked, himem):
    after = apply(notes, revise(notes, notes, asked, new_id=ids(), himem=himem))
    for person in {note.about for note in notes} - {proposal.about for proposal in asked}:
        assert [note for note in after if note.about == person] == [note for note in notes if note.about == person]


@FEW
@given(notes=known(), asked=LISTS, himem=HIMEM)
def test_at_most_one_version_of_a_note_is_current(notes, asked, himem):
    after = apply(notes, revise(notes, notes, asked, new_id=ids(), himem=himem))
    current = [note.note_id for note in after if note.status == "current"]
    assert len(current) == len(set(current))


@FEW
@given(notes=known(), data=st.data())
def test_independent_notes_may_come_in_any_order(notes, data):
    # Of notes that say the same in the same words the first stays, so each text is asked for once.
    asked = data.draw(
        st.lists(
            proposals(["independent"]).filter(lambda one: one.note is not None),
            max_size=5,
            unique_by=lambda one: (one.about, one.note.text.lower().rstrip(".")),
        )
    )
    other = data.draw(st.permutations(asked))
    results = [apply(notes, revise(notes, notes, some, new_id=ids())) for some in (asked, other)]
    assert texts(results[0]) == texts(results[1])


@FEW
@given(notes=known(), new=st.lists(PEOPLE.flatmap(lambda about: a_note(about, "", 1, "current")), max_size=4))
def test_what_the_rules_propose_can_be_followed_and_undone(notes, new):
    after, changes, new_id = notes, [], ids()
    for note in new:
        found = revise(after, after, [relate(note, after)], new_id=new_id)
        after, changes = apply(after, found), [*changes, *found]
    assert undo(after, changes) == notes
