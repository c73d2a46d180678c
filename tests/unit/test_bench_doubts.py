"""What makes results on a data set doubtful is told before anything runs."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from mnemic.bench.doubts import Shallow, shallow, suspects
from mnemic.bench.records import Dataset, Question
from mnemic.cli import app
from mnemic.importers import Conversation


def conversation(session, *texts, user="u"):
    messages = tuple({"id": f"{session}/{n}", "role": "user", "content": text} for n, text in enumerate(texts))
    return Conversation(user, session, messages)


def dataset(conversations, questions=(), name="longmemeval"):
    by_user = {}
    for one in conversations:
        by_user[one.user_id] = (*by_user.get(one.user_id, ()), one)
    return Dataset(name, "dev", "0" * 64, by_user, tuple(questions))


def question(answer, gold_sessions=("right",), **given):
    return Question("q", "u", "dev", "?", "c", gold_sessions=gold_sessions, answer=answer, **given)


@pytest.mark.fault("B202")
@pytest.mark.parametrize(("sessions", "found"), [(9, [(5, 1), (10, 1)]), (10, [(10, 1)]), (19, [(10, 1)]), (20, [])])
def test_a_depth_that_half_of_the_sessions_fit_into_is_trivial(sessions, found):
    some = [conversation(f"s{n}", *["x"] * 10) for n in range(sessions)]
    told = [one for one in shallow(dataset(some)) if one.what == "sessions"]
    assert told == [Shallow("sessions", k, users, 1) for k, users in found]


@pytest.mark.fault("B202")
def test_so_is_one_that_half_of_the_turns_fit_into_and_users_are_counted():
    some = [conversation("s", *["x"] * 39), conversation("t", *["x"] * 40, user="v")]
    assert shallow(dataset(some, name="locomo")) == (Shallow("turns", 20, 1, 2),)


HAYSTACK = [
    conversation("right", "I went there with Ann.", "We stayed a while."),
    conversation("wrong", "In May I flew to Kyoto, the old capital."),
]


@pytest.mark.fault("B205")
@pytest.mark.parametrize(
    ("asked", "is_suspect"),
    [
        (question("Kyoto"), True),
        (question("the old capital, Kyoto"), True),
        (question("Kyoto", gold_sessions=("wrong",)), False),
        (question("Kyoto", gold_sessions=("right", "wrong")), False),
        (question("with Ann, in Kyoto"), False),  # some of it is there
        (question("three days"), False),  # stands nowhere: to be concluded
        (question("no"), False),
        (question(None), False),
        (question("Kyoto", gold_sessions=()), False),
        (question("Kyoto", gold_sessions=("elsewhere",)), False),
        (question("Kyoto", answerable=False), False),
    ],
)
def test_gold_that_points_to_another_session_is_suspect(asked, is_suspect):
    assert suspects(dataset(HAYSTACK, [asked])) == (("q",) if is_suspect else ())


def test_words_in_parts_count():
    parts = ({"id": "1", "role": "user", "content": [{"type": "text", "text": "To Kyoto."}]},)
    some = [HAYSTACK[0], Conversation("u", "wrong", parts)]
    assert suspects(dataset(some, [question("Kyoto")])) == ("q",)


@pytest.mark.fault("B205")
def test_the_command_says_both(tmp_path):
    item = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where did I go?",
        "answer": "Kyoto",
        "question_date": "2023/05/30 (Tue) 10:00",
        "haystack_session_ids": ["right", "wrong"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "I went there with Ann.", "has_answer": True}],
            [{"role": "user", "content": "In May I flew to Kyoto."}],
        ],
        "answer_session_ids": ["right"],
    }
    file = tmp_path / "asked.json"
    file.write_text(json.dumps([item]))
    done = CliRunner().invoke(app, ["bench", "longmemeval", "--data", str(file), "--system", "bm25", "--json"])
    assert done.exit_code == 0, done.output
    assert (
        "Trivial, with fewer than 2 k sessions to choose from: recall@5 for 1 of 1 users, recall@10 for 1 of 1 users"
        in " ".join(done.stderr.split())
    )
    assert "Suspect gold: 1 of 1 questions" in done.stderr
    assert "q1" in done.stderr
    assert json.loads(done.stdout)["system"] == "bm25"
