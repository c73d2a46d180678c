"""Reading notes as callers give them, and resting them on turns."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

from mnemic.algo import render
from mnemic.errors import InvalidInput, NotFound
from mnemic.ingest import derive_given, embed
from mnemic.memory import noting
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.types import Interval, Note, Span, Turn

MAY = datetime(2024, 5, 2, 9, tzinfo=UTC)
TURNS = {
    turn.turn_id: turn
    for turn in (
        Turn("a", "s1", "user", "Ana", "I keep bees. They sleep now.", MAY),
        Turn("b", "s1", "user", "Bo", "Ana moved to Lisbon.", MAY - timedelta(days=1)),
        Turn("c", "s1", "assistant", "assistant", "Noted!"),
    )
}


def given(**more):
    return {"text": "Ana keeps bees", "sources": ["a"], **more}


def one(**more):
    return noting.read([given(**more)], "UTC")[0]


def test_a_note_says_what_its_giver_said():
    metadata = {"by": ("me",), "at": date(2024, 1, 2)}
    note = one(id=3, about="Bo", kind="trait", sources=["a", 7, ["a", 2, 6], Span("b", 0, 3)], metadata=metadata)
    sources = (("a", None), ("7", None), ("a", (2, 6)), ("b", (0, 3)))
    assert note == noting.Given(
        "3", "Ana keeps bees", tuple(noting.Source(*source) for source in sources), "Bo", "trait", None,
        {"by": ["me"], "at": "2024-01-02"},
    )  # fmt: skip
    assert note.turn_ids == ("a", "7", "b")


def test_what_is_left_open_is_none_or_a_fact():
    assert one(id=None, about=None, kind=None, valid=None, metadata=None) == one()
    assert (one().given_id, one().about, one().kind, one().valid, one().metadata) == (None, None, "fact", None, {})


@pytest.mark.parametrize(
    ("valid", "expected"),
    [
        ((None, None), Interval(None, None)),
        (["2024-05-01", None], Interval(datetime(2024, 5, 1, tzinfo=timezone(timedelta(hours=2))), None)),
        ((None, MAY), Interval(None, MAY)),
        (Interval(MAY, None), Interval(MAY, None)),
        ((1714640400, date(2024, 6, 1)), Interval(MAY, datetime(2024, 6, 1, tzinfo=timezone(timedelta(hours=2))))),
    ],
)
def test_times_are_read_as_everywhere(valid, expected):
    assert noting.read(given(valid=valid), "+02:00")[0].valid == expected


WRONG = {
    "a string": ("hello", r"notes must be a mapping or a list of mappings, not str"),
    "a number": (7, "not int"),
    "no mapping": ([given(), "hello"], r"notes\[1\]: must be a mapping with text and sources, not str"),
    "no text": ([{"sources": ["a"]}], r"notes\[0\]: has no text"),
    "no string": (given(text=b"x"), "text must be a string, not bytes"),
    "blank": (given(text=" \n\u3000"), "text is blank"),
    "no sources": ({"text": "x"}, "has no sources; name the turns"),
    "empty sources": (given(sources=()), "has no sources"),
    "sources as text": (given(sources="a"), "sources must be a list of turn ids, not str"),
    "sources of what is none": (given(sources=["a", 1.5]), r"sources\[1\] must be a string, not float"),
    "a slice without an end": (given(sources=[["a", 1]]), r"sources\[0\] is a turn id, or a turn id with the start"),
    "a slice of nothing": (given(sources=["a", ["a", 3, 3]]), r"sources\[1\] must start at 0 or later .* not 3 and 3"),
    "a slice from before": (given(sources=[Span("a", -1, 3)]), r"not -1 and 3"),
    "a slice by words": (given(sources=[["a", "0", 3]]), r"not '0' and 3"),
    "a slice of no turn": (given(sources=[["", 0, 3]]), r"sources\[0\] must not be empty"),
    "an empty id": (given(id=""), r"notes\[0\]: id must not be empty"),
    "an id that is none": (given(id=1.5), "id must be a string, not float"),
    "an id twice": ([given(id="x"), given(), given(id="x")], r"notes\[2\]: id 'x' is also the id of notes\[0\]"),
    "true is no id": (given(sources=[True]), r"sources\[0\] must be a string, not bool"),
    "empty id": (given(sources=[""]), r"sources\[0\] must not be empty"),
    "about nobody": (given(about=" "), "about must not be empty or blank"),
    "about what is no name": (given(about=["Ana"]), "about must be a string, not list"),
    "kind": (given(kind="rumour"), "kind is one of fact, state, preference, trait, not 'rumour'"),
    "valid once": (given(valid="2024"), "valid must be a pair of times"),
    "valid thrice": (given(valid=[None, None, None]), "valid must be a pair of times"),
    "valid from": (given(valid=["soon", None]), "valid from: 'soon' is not a time"),
    "valid to": (given(valid=[None, "later"]), "valid to: 'later' is not a time"),
    "valid backwards": (given(valid=["2024-02-01", "2024-01-01"]), "which is not after 2024-02-01"),
    "valid never": (given(valid=[MAY, MAY]), "which is not after"),
    "metadata": (given(metadata=[1]), "metadata must be a mapping, not list"),
    "metadata that is no JSON": (given(metadata={"a": {1}}), "metadata.a is of type set"),
    "a typing error": (given(source="a"), "has no field 'source'; there are: id, text, sources, about"),
    "a field without a name": ({**given(), 7: 1}, "has no field 7"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_used_is_named(case):
    notes, said = WRONG[case]
    with pytest.raises(InvalidInput, match=said):
        noting.read(notes, "UTC")


def test_a_timezone_that_is_none_is_named():
    with pytest.raises(InvalidInput, match="Atlantis"):
        noting.read([], "Atlantis")


def test_a_note_rests_on_whole_turns_and_on_slices():
    [note] = noting.resolved([one(id="n", sources=["a", ["b", 4, 9], "a"])], TURNS)
    assert note == Note(
        "", 1, "fact", "Ana", "Ana keeps bees", Interval(MAY - timedelta(days=1), None),
        (Span("a", 0, 28), Span("b", 4, 9)), given_id="n",
    )  # fmt: skip


def test_a_slice_ends_within_its_turn():
    assert noting.resolved([one(sources=[["b", 0, 20]])], TURNS)[0].sources == (Span("b", 0, 20),)
    with pytest.raises(InvalidInput, match=r"notes\[1\]: a source ends at 21, but turn 'b' has 20 characters"):
        noting.resolved([one(), one(sources=[["b", 0, 21]])], TURNS)


def test_without_an_id_it_has_one_of_what_it_states():
    same = [one(), one(kind="trait", metadata={"k": 1}), one(about="Ana"), one(sources=[["a", 0, 28]])]
    other = [one(about="Bo"), one(text="Ana keeps a bee"), one(sources=["a", "b"]), one(sources=[["a", 0, 12]])]
    ids = [note.given_id for note in noting.resolved([*same, *other], TURNS)]
    assert len(set(ids[:4])) == 1
    assert len(set(ids)) == 5
    assert noting.resolved([one(sources=["a", "b"])], TURNS)[0].given_id == ids[6]
    assert noting.resolved([one(sources=["b", "a"], about="Ana")], TURNS)[0].given_id == ids[6]
    assert one(text="\ud800").given_id is None
    assert noting.resolved([one(text="\ud800")], TURNS)[0].given_id.startswith("h")


def test_what_states_something_else_under_a_known_id_is_told():
    [note, other] = noting.resolved([one(id="n"), one(id="m", text="Bo sings")], TURNS)
    assert noting.contradicted([note, other], {"n": note}) == ()
    assert noting.contradicted([note, other], {"n": replace(note, kind="trait", note_id="N1"), "m": other}) == ()
    for changed in ({"text": "else"}, {"about": "Bo"}, {"sources": (Span("b", 0, 20),)}):
        told = noting.contradicted([note, other], {"n": replace(note, **changed), "m": other})
        assert told == ("notes not stored: 1; another statement has the id already ('n' first)",)


def test_about_and_valid_are_those_given_or_else_the_sources():
    resolved = noting.resolved([one(sources=["c"]), one(about="Cy", valid=(None, None), sources=["b"])], TURNS)
    assert [(note.about, note.valid) for note in resolved] == [
        ("assistant", Interval(None, None)),
        ("Cy", Interval(None, None)),
    ]


def test_turns_that_are_not_there_are_named_with_the_first_note_on_one():
    notes = [one(), one(sources=["a", "x"]), one(sources=[f"y{n}" for n in range(6)])]
    with pytest.raises(NotFound, match=r"notes\[1\]: there is no turn 'x', 'y0', 'y1', 'y2', 'y3' and 2 more;"):
        noting.resolved(notes, TURNS)


def test_what_is_embedded_has_no_speakers_in_it_unless_it_is_quoted():
    [note] = noting.resolved([one(text="Ana keeps Bo's bees")], TURNS)
    assert render.embedded_note(note, ["Ana", "Bo"]) == "keeps bees"
    assert render.embedded_note(replace(note, given_id=None), ["Ana", "Bo"]) == "Ana keeps Bo's bees"


def test_given_notes_get_cues_and_vectors_of_their_own():
    notes = noting.resolved([one(text="Ana loves Lisbon and Porto")], TURNS)
    batch = derive_given(notes, names=["Ana", "Bo"], extractor=RuleCues())
    assert {"lisbon", "porto"} <= set(batch.notes[0].cues)
    assert "ana" not in batch.surfaces
    assert (batch.surfaces["lisbon"], batch.trigger) == ("Lisbon", "person")
    model = HashEmbedder()
    vectors = embed(batch, {}, model, names=["Ana"], known_cues={"lisbon"}).vectors
    assert vectors.fingerprint == model.fingerprint
    assert np.allclose(vectors.notes[0], model.embed(["loves Lisbon and Porto"])[0], atol=1e-6)
    assert set(vectors.cues) == set(batch.surfaces) - {"lisbon"}
    assert not vectors.units
    assert not vectors.traces
