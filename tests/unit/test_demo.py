"""The bundled dialogue: that it is what it claims to be, and that its questions really are answered."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest

from mnemic.demo import ASKED, USER, dialogue, questions
from mnemic.importers import load
from mnemic.memory import Memory

SESSIONS = dialogue()
TURNS = {m["id"]: (s.session_id, m["content"]) for s in SESSIONS for m in s.messages}


def test_eighty_messages_in_eight_sessions_over_five_months():
    times = [datetime.fromisoformat(str(session.messages[0]["timestamp"])) for session in SESSIONS]
    assert len(SESSIONS) == 8
    assert len(TURNS) == 80
    assert times == sorted(times)
    assert timedelta(140) < times[-1] - times[0] < timedelta(170)
    assert times[-1] < datetime.fromisoformat(ASKED)


def test_two_people_and_an_assistant():
    said = Counter((m["role"], m.get("name")) for session in SESSIONS for m in session.messages)
    assert set(said) == {("user", "Noor"), ("user", "Viktor"), ("assistant", None)}


def test_the_questions_are_of_the_kinds_promised():
    by_kind = {question.kind: question for question in questions()}
    assert len(by_kind) == 5
    assert all(turn_id in TURNS for question in questions() for turn_id in question.turn_ids)
    assert len({TURNS[turn_id][0] for turn_id in by_kind["two steps"].turn_ids}) == 2
    assert len({TURNS[turn_id][0] for turn_id in by_kind["a list"].turn_ids}) >= 4
    [date] = by_kind["a date"].turn_ids
    assert "last Saturday" in TURNS[date][1]
    first, last = by_kind["a fact that changed"].turn_ids
    assert ("Leiden" in TURNS[first][1], "Groningen" in TURNS[last][1]) == (True, True)


def test_saturday_before_the_session_of_the_race_is_the_thirteenth():
    said = next(datetime.fromisoformat(str(s.messages[0]["timestamp"])) for s in SESSIONS if s.session_id == "s3")
    assert (said.strftime("%A"), (said - timedelta(3)).strftime("%A %d %B %Y")) == ("Tuesday", "Saturday 13 April 2024")


@pytest.mark.parametrize("embedder", ["local", None])
def test_every_question_finds_its_turns_among_the_first_ten_results(tmp_path, embedder):
    with Memory.open(tmp_path / "demo.db", embedder=embedder) as memory:
        assert load(SESSIONS, memory).new == 80
        for question in questions():
            found = memory.search(question.question, user_id=USER, reference_time=ASKED)
            ranks = {t: rank for rank, hit in reversed(list(enumerate(found.results, 1))) for t in hit.turn_ids}
            missing = [turn_id for turn_id in question.turn_ids if turn_id not in ranks]
            if embedder is None:
                # By words alone "sews again" is no repair.
                assert len(missing) <= len(question.turn_ids) // 2, question
            else:
                assert not missing, question
                assert min(ranks[turn_id] for turn_id in question.turn_ids) <= 2, question
                assert not found.nothing_relevant
