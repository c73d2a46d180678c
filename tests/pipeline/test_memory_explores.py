"""Memory.sessions, traces, cues and neighbours: looking around without a question."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.errors import InvalidInput, InvalidScope, NotFound

NOON = datetime(2024, 6, 3, 12, tzinfo=UTC)
SAID = [
    {"id": "m1", "name": "Ana", "content": "The landlord keeps bees. He sells honey.", "timestamp": NOON},
    {"id": "m2", "name": "Bo", "content": "Bees make honey in Lisbon.", "session_id": "tue"},
    {"id": "m3", "name": "Ana", "content": "I moved to Lisbon.", "session_id": "mon"},
]


@pytest.fixture
def said(memory):
    memory.add(SAID, user_id="ana", session_id="mon")
    memory.add("Lisbon has trams.", user_id="bo")
    return memory


def test_sessions_stand_in_the_order_in_which_they_began(said):
    mon, tue = said.sessions(user_id="ana")
    assert (mon.session_id, mon.turns, mon.time.start, mon.time.end) == ("mon", 2, NOON, None)
    assert (tue.session_id, tue.turns) == ("tue", 1)
    assert said.sessions(user_id="nobody") == []
    said.delete(user_id="ana", turn_id="m2")
    assert [one.session_id for one in said.sessions(user_id="ana")] == ["mon"]


def test_traces_are_those_of_the_store_and_of_one_session(said):
    every = said.traces(user_id="ana")
    assert [one.session_id for one in every] == ["mon", "tue", "mon"]
    assert said.traces(user_id="ana", session_id="tue") == [every[1]]
    assert [span.turn_id for one in said.traces(user_id="ana", session_id="mon") for span in one.spans] == ["m1", "m3"]
    assert said.traces(user_id="ana", session_id="sun") == []


def test_cues_are_counted_where_they_stand(said):
    found = {one.key: one for one in said.cues(user_id="ana")}
    assert (found["bee"].units, found["bee"].notes, found["bee"].traces) == (2, 0, 2)
    assert found["honey"].units == 2
    # "I moved to Lisbon." is a note, too.
    assert (found["lisbon"].units, found["lisbon"].notes, found["lisbon"].surface) == (2, 1, "Lisbon")
    assert next(iter(found)) == "lisbon"
    assert "tram" not in found
    assert [one.key for one in said.cues(user_id="ana", like="HON")] == ["honey", "sells honey"]
    assert len(said.cues(user_id="ana", limit=2)) == 2


def test_a_step_from_a_cue_leads_to_sentences_notes_and_cues_beside_it(said):
    around = said.neighbours("lisbon", user_id="ana")
    assert [(one.turn.turn_id, one.text) for one in around.units] == [
        ("m2", "Bees make honey in Lisbon."),
        ("m3", "I moved to Lisbon."),
    ]
    assert [note.text for note in around.notes] == ["I moved to Lisbon."]
    shared = {one.cue.key: one.shared for one in around.neighbours}
    assert (shared["bee"], shared["move"]) == (1, 2)
    assert "lisbon" not in shared
    assert around.neighbours[0].cue.key == "move"
    assert len(said.neighbours("lisbon", user_id="ana", limit=1).units) == 1


def test_what_is_gone_or_does_not_count_is_no_neighbour(said):
    [note] = said.notes(user_id="ana")
    said.retract(note.note_id, user_id="ana")
    assert said.neighbours("lisbon", user_id="ana").notes == ()
    said.delete(user_id="ana", turn_id="m3")
    assert [one.turn.turn_id for one in said.neighbours("lisbon", user_id="ana").units] == ["m2"]
    with pytest.raises(NotFound, match="no cue 'move'"):
        said.neighbours("move", user_id="ana")


def test_nobody_sees_another_users_cues(said):
    assert [one.key for one in said.cues(user_id="bo", like="bee")] == []
    with pytest.raises(NotFound, match="user 'bo' has no cue 'bee'"):
        said.neighbours("bee", user_id="bo")


def test_arguments_are_checked(said):
    with pytest.raises(InvalidInput, match="limit"):
        said.cues(user_id="ana", limit=0)
    with pytest.raises(InvalidInput, match="like"):
        said.cues(user_id="ana", like=3)
    for call in (said.sessions, said.traces, said.cues, lambda **k: said.neighbours("x", **k)):
        with pytest.raises(InvalidScope):
            call(user_id="")
