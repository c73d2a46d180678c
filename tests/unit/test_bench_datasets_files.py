"""Files of one's own in the form of a data set: told apart, their dates read, what is wrong in them counted."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.bench import datasets
from mnemic.bench.datasets import dates
from mnemic.bench.datasets.evidence import turn_ids
from mnemic.bench.datasets.notes import GivenNote, load_notes
from mnemic.errors import InvalidFile, InvalidInput, MissingExtra

CONTEXT, OTHER = "0a" * 32, "1b" * 32


def turn(turn_id, text="words"):
    return {"speaker": "Ana", "dia_id": turn_id, "text": text}


def sample(user="mine", *, date="1:56 pm on 8 May, 2023", qa=None, **given):
    asked = [{"question": "q0", "answer": "a0", "evidence": ["D1:1"], "category": 4}] if qa is None else qa
    conversation = {"session_1_date_time": date, "session_1": [turn("D1:1"), turn("D1:2")]}
    return {"sample_id": user, "conversation": conversation, "qa": asked, **given}


def instance(question_id="q1", **given):
    fields = {
        "question_id": question_id, "question_type": "multi-session", "question": "How many?", "answer": 3,
        "question_date": "2023/05/30 (Tue) 23:40", "haystack_session_ids": ["late", "early"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/19 (Fri) 02:21"], "answer_session_ids": ["late", "gone"],
        "haystack_sessions": [
            [{"role": "user", "content": "two", "has_answer": True}, {"role": "assistant", "content": "oh"}],
            [{"role": "user", "content": "one", "has_answer": False}],
        ],
    }  # fmt: skip
    return {**fields, **given}


def question_row(**given):
    fields = {
        "persona_id": "3", "question_id": "p1", "question_type": "suggest_new_ideas",
        "user_question_or_message": "User: What now?", "correct_answer": "(b)",
        "all_options": "['(a) x', \"(b) it's\"]", "shared_context_id": CONTEXT, "end_index_in_shared_context": "3",
    }  # fmt: skip
    return {**fields, **given}


@pytest.fixture
def put(tmp_path):
    """Writes a file: a JSON value, or bytes."""

    def write(value, name="file.json"):
        path = tmp_path / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    return write


@pytest.fixture
def personamem(put):
    """Writes contexts, and questions beside them."""

    def write(rows, *, contexts=None, suffix=""):
        said = [{"role": "user", "content": f"User: {i}"} for i in range(5)]
        lines = json.dumps(contexts or {CONTEXT: said}).encode()
        out = io.StringIO()
        table = csv.DictWriter(out, rows[0])
        table.writeheader()
        table.writerows(rows)
        put(out.getvalue().encode(), "questions_my.csv")
        return put(gzip.compress(lines) if suffix else lines, f"shared_contexts_my.jsonl{suffix}")

    return write


@pytest.fixture
def load(tmp_path):
    def loaded(name, file, split="dev", **given):
        return datasets.load(name, split, file=file, data=tmp_path / "nothing", **given)

    return loaded


# telling the form --------------------------------------------------------------------------------------------


def test_the_form_is_told_by_the_content(load, put, personamem):
    two = [instance("a"), instance("b")]
    files = [
        ("locomo", put([sample()])),
        ("locomo", put(gzip.compress(json.dumps([sample()]).encode()), "l.json.gz")),
        ("personamem", personamem([question_row()])),
        ("personamem", personamem([question_row()], suffix=".gz")),
        ("longmemeval", put(two, "array.json")),
        ("longmemeval", put(b"".join(json.dumps(one).encode() + b"\n" for one in two), "lines.jsonl")),
        ("longmemeval", put(gzip.compress(json.dumps(two).encode()), "array.json.gz")),
    ]
    for name, file in files:
        told = load(None, file)
        assert told.name == name
        assert told == load(name, file)
        assert len(told.questions) == (2 if name == "longmemeval" else 1)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([{"role": "user", "content": "hi"}], "conversations without questions \\(messages\\)"),
        (b"prose", "is no conversation"),
        (b"", "is empty"),
    ],
)
def test_a_file_of_no_data_set_is_refused(load, put, value, said):
    with pytest.raises(InvalidFile, match=said):
        load(None, put(value))


@pytest.mark.parametrize("name", ["locomo", "personamem", "longmemeval"])
def test_a_file_in_another_form_than_named_is_refused(load, put, personamem, name):
    for other, file in [
        ("locomo", put([sample()])),
        ("longmemeval", put([instance()], "l.json")),
        ("personamem", personamem([question_row()])),
    ]:
        if other != name:
            with pytest.raises(InvalidFile, match=file.name):
                load(name, file)


def test_neither_a_name_nor_a_file_and_a_folder_without_data(tmp_path):
    with pytest.raises(InvalidInput, match="name a data set"):
        datasets.load(None, "dev", data=tmp_path)
    with pytest.raises(InvalidFile, match=r"locomo10\.json: there is no such file; set MNEMIC_DATA"):
        datasets.load("locomo", "dev", data=tmp_path)
    with pytest.raises(InvalidFile, match="there is no such file"):
        datasets.load("locomo", "dev", data=tmp_path, file=tmp_path / "gone.json")


# halves ------------------------------------------------------------------------------------------------------


def test_only_users_that_the_data_sets_know_can_be_in_the_test_half(load, put, personamem):
    file = put([sample(), sample("conv-44"), sample("conv-26")])
    assert list(load("locomo", file).conversations) == ["mine", "conv-26"]
    assert list(load("locomo", file, "test").conversations) == ["conv-44"]
    assert list(load("locomo", file, "all").conversations) == ["mine", "conv-44", "conv-26"]
    with pytest.raises(InvalidInput, match="none of its 1 questions is in the test half; take the split dev"):
        load("longmemeval", put([instance()]), "test")
    for persona, half in [("9", "dev"), ("10", "test"), ("19", "test"), ("20", "dev"), ("Ana", "dev")]:
        assert [q.half for q in load(None, personamem([question_row(persona_id=persona)]), half).questions] == [half]


# LoCoMo ------------------------------------------------------------------------------------------------------


def test_what_is_wrong_in_a_question_is_counted_and_the_others_keep_their_numbers(load, put):
    qa = [
        {"question": " "},
        "what?",
        {"question": "q2", "answer": 2022, "evidence": ["D1:02; D9:9", "D", 7, "D1:1", "D1:1"], "category": 1},
        {"question": "q3", "answer": None, "category": 9},
        {"question": "q4", "adversarial_answer": "x", "answer": "No", "evidence": ["D1:1", "D"], "category": 5},
        {"question": "q5", "evidence": "D1:1", "category": None},
    ]
    found = load("locomo", put([sample(qa=qa), {"no": "conversation"}]))
    assert [(q.question_id, q.category, q.gold, q.answer, q.answerable) for q in found.questions] == [
        ("mine/2", "multi-hop", ("D1:2", "D1:1"), "2022", True),
        ("mine/3", "9", (), None, True),
        ("mine/4", "adversarial", (), None, False),
        ("mine/5", "uncategorised", (), None, True),
    ]
    assert found.questions[0].gold_sessions == ("session_1",)
    assert found.left_out == {
        "not a conversation": 1,
        "a question without text": 2,
        "a piece of evidence that names no turn of its conversation": 3,
    }


def test_ids_in_another_form_are_taken_as_they_are(load, put):
    conversation = {"session_1": [turn("t-1"), turn("D1:01")]}
    qa = [{"question": "q", "answer": "a", "evidence": ["t-1", "D1:01"], "category": 4}]
    found = load("locomo", put([{"sample_id": "mine", "conversation": conversation, "qa": qa}]))
    assert found.questions[0].gold == ("t-1", "D1:01")


def test_two_questions_of_one_name_are_refused(load, put, personamem):
    for file in (
        put([sample(), sample()]),
        put([instance(), instance()], "l.json"),
        personamem([question_row(), question_row()]),
    ):
        with pytest.raises(InvalidFile, match="names of questions come again"):
            load(None, file)


def test_who_is_not_asked_about_is_not_built_and_counted(load, put, personamem):
    found = load("locomo", put([sample(), sample("quiet", qa=[])]))
    assert list(found.conversations) == ["mine"]
    assert found.left_out == {"a user whom no question is about": 1}
    found = load(None, personamem([question_row(), question_row(question_id="p2", shared_context_id=OTHER)]))
    assert [q.question_id for q in found.questions] == ["p1"]
    assert found.left_out == {"a question about a memory that is not in the file": 1}


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=6), st.data())
def test_references_are_read_however_they_are_written(wanted, data):
    known = {f"D{session}:{number}" for session, number in wanted}
    forms = ["D{}:{}", "D:{}:{}", "D{}:0{}", "D{}:00{}", "({})".format("D{}:{}")]
    written = [data.draw(st.sampled_from(forms)).format(*pair) for pair in wanted]
    entries = written if data.draw(st.booleans()) else [data.draw(st.sampled_from(["; ", " ", ", "])).join(written)]
    assert turn_ids(entries, known) == (tuple(dict.fromkeys(f"D{a}:{b}" for a, b in wanted)), 0)
    assert turn_ids(entries, set()) == ((), len(wanted))


def test_corrections_match_by_conversation_question_and_wrong_answer(load, put):
    def correction(question_id="locomo_0_qa7", question="q0", wrong="a0", **given):
        fields = {"question_id": question_id, "question": question, "golden_answer": wrong}
        return fields | {"correct_answer": "right", "correct_evidence": ["D1:2", "D8:8"]} | given

    file = put([sample("conv-26"), sample("conv-30")])
    entries = [
        correction(),
        correction("locomo_1_qa0", wrong="another"),
        correction("locomo_1_qa0", question="another"),
        correction("locomo_9_qa0"),
        correction("locomo_10_qa0"),
        correction("x"),
        correction(correct_answer=""),
        "no object",
    ]
    put(entries, "audit_errors.json")
    found = load("locomo", file, gold="corrected")
    assert [(q.user_id, q.answer, q.gold) for q in found.questions] == [
        ("conv-26", "right", ("D1:2",)),
        ("conv-30", "a0", ("D1:1",)),
    ]
    assert found.left_out == {
        "a published correction that cannot be read": 4,
        "a published correction whose question, with its wrong answer, is not in the file": 3,
        "a piece of evidence that names no turn of its conversation": 1,
    }
    assert [q.answer for q in load("locomo", file).questions] == ["a0", "a0"]


def test_corrections_are_looked_for_beside_the_file_then_in_the_data_and_belong_to_locomo(load, put, tmp_path):
    file = put([sample("conv-26")])
    with pytest.raises(InvalidFile, match=r"its corrections are not there; they would be in .* or "):
        load("locomo", file, gold="corrected")
    elsewhere = tmp_path / "nothing" / "locomo"
    elsewhere.mkdir(parents=True)
    (elsewhere / "audit_errors.json").write_text("[]")
    assert load("locomo", file, gold="corrected").gold == "corrected"
    (elsewhere / "audit_errors.json").write_text("{}")
    with pytest.raises(InvalidFile, match="is not LoCoMo's corrections"):
        load("locomo", file, gold="corrected")
    with pytest.raises(InvalidInput, match="longmemeval has no published corrections"):
        load("longmemeval", put([instance()]), gold="corrected")


# LongMemEval -------------------------------------------------------------------------------------------------


def test_longmemeval_gold_turns_sessions_and_what_is_counted(load, put):
    twice = instance("q2", haystack_session_ids=["s", "s"], answer_session_ids=["s#2"], question_date=None)
    twice["haystack_sessions"][1][0]["has_answer"] = True
    values = [instance(), twice, instance("q3_abs"), instance("q4", question=None), {"no": "question"}]
    found = load("longmemeval", put(values))
    first, second, unanswerable = found.questions
    assert (first.gold, first.gold_sessions, first.answer) == (("late_1",), ("late",), "3")
    assert first.asked_at == "2023-05-30T23:40:00+00:00"
    assert [c.session_id for c in found.conversations["q1"]] == ["early", "late"]
    assert (second.gold, second.gold_sessions, second.asked_at) == (("s_1", "s#2_1"), ("s#2",), None)
    assert (unanswerable.gold, unanswerable.gold_sessions, unanswerable.answerable) == ((), (), False)
    assert found.left_out == {
        "an answer session that is not in the haystack": 1,
        "a question without text": 1,
        "a user whom no question is about": 1,
        "not a question with haystack_sessions": 1,
    }


def test_a_session_without_a_time_stays_behind_the_one_before_it(load, put):
    said = [[{"role": "user", "content": "x"}]] * 4
    dated = ["2023/05/20 (Sat) 02:21", "soon", "2023/05/19 (Fri) 02:21"]
    found = load(
        "longmemeval", put([instance(haystack_session_ids=[*"abcd"], haystack_dates=dated, haystack_sessions=said)])
    )
    assert [c.session_id for c in found.conversations["q1"]] == ["c", "d", "a", "b"]
    assert found.left_out["a session's time that cannot be read, left out"] == 2


# PersonaMem --------------------------------------------------------------------------------------------------


def test_personamem_questions(load, personamem):
    rows = [
        question_row(),
        question_row(question_id="p2", all_options='["(a) \\ud83d\\ude00"]', end_index_in_shared_context="5"),
        question_row(question_id="p3", all_options="__import__('os')", correct_answer=""),
        question_row(question_id="p4", all_options="{" * 3000),
    ]
    found = load(None, personamem(rows))
    first = found.questions[0]
    assert (first.text, first.end, first.category, first.answer) == ("What now?", 3, "suggest_new_ideas", "(b)")
    assert [q.options for q in found.questions] == [("(a) x", "(b) it's"), ("(a) 😀",), (), ()]
    assert found.questions[2].answer is None
    assert found.left_out == {"the options of a question, which cannot be read": 2}
    assert [[m["id"] for m in c.messages] for c in found.conversations[CONTEXT]] == [["0", "1", "2"], ["3", "4"]]


def test_personamem_keeps_system_messages_when_told(load, personamem):
    contexts = {CONTEXT: [{"role": "system", "content": "Ana likes tea."}, {"role": "user", "content": "hi"}]}
    file = personamem([question_row()], contexts=contexts)
    for kept, ids in [(False, ["1"]), (True, ["0", "1"])]:
        found = load(None, file, system_messages=kept)
        assert [m["id"] for c in found.conversations[CONTEXT] for m in c.messages] == ids


def test_personamem_without_its_questions(load, put, personamem):
    file = personamem([question_row()])
    moved = file.rename(file.with_name("contexts.jsonl"))
    with pytest.raises(InvalidFile, match="does not say by its name where its questions are; call it shared_contexts"):
        load(None, moved)
    lonely = moved.rename(moved.with_name("shared_contexts_9.jsonl"))
    with pytest.raises(InvalidFile, match=r"has no questions beside it; they would be in .*questions_9\.csv"):
        load(None, lonely)
    file = personamem([{k: v for k, v in question_row().items() if k != "persona_id"}])
    with pytest.raises(InvalidFile, match=r"questions_my\.csv: is not PersonaMem's questions .*persona_id"):
        load(None, file)
    file = personamem([question_row(end_index_in_shared_context="many")])
    with pytest.raises(InvalidFile, match=r"questions_my\.csv: is not PersonaMem's questions"):
        load(None, file)


# dates -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("8 May 2023, 13:56", "2023-05-08T13:56:00+00:00"),
        ("May 8th, 2023 at noon", "2023-05-08T12:00:00+00:00"),
        ("8.5.2023", "2023-08-05T00:00:00+00:00"),  # the American order
        ("25.5.2023", "2023-05-25T00:00:00+00:00"),
        ("2023-05-08 15:56 +0200", "2023-05-08T13:56:00+00:00"),
        ("1683554160", "2023-05-08T13:56:00+00:00"),
        # What would be filled in from today is not read, or a file would mean something else tomorrow.
        ("May 2023", None),
        ("8 May", None),
        ("Tuesday", None),
        ("yesterday", None),
        ("in 3 days", None),
        ("now", None),
        ("32 May 2023", None),
        ("8 May 99999", None),
        ("", None),
    ],
)  # fmt: skip
def test_dates_of_any_form(written, read):
    assert dates.iso(written) == read


@given(st.text(alphabet="0123456789 :/-.,+TZapmMayJUC", max_size=24))
def test_no_text_breaks_the_reading_of_dates(written):
    read = dates.iso(written)
    assert read is None or read.endswith("+00:00")


def test_dates_in_another_form_are_read_and_the_others_counted(load, put):
    found = load(
        "locomo", put([sample(date="May 8, 2023 1:56 PM"), sample("no", date="some day"), sample("x", date=5)])
    )
    stamps = {user: c[0].messages[0].get("timestamp") for user, c in found.conversations.items()}
    assert stamps == {"mine": "2023-05-08T13:56:00+00:00", "no": None, "x": None}
    assert found.left_out == {"a session's time that cannot be read, left out": 2}
    value = instance(question_date="30 May 2023", haystack_dates=["20 May 2023", "19 May 2023"], answer_session_ids=[])
    found = load("longmemeval", put([value, instance("q2", question_date="then", answer_session_ids=[])]))
    assert [q.asked_at for q in found.questions] == ["2023-05-30T00:00:00+00:00", None]
    assert [c.session_id for c in found.conversations["q1"]] == ["early", "late"]
    assert found.left_out == {"a question's date that cannot be read": 1}


def test_without_the_extra_only_other_forms_need_it(load, put, monkeypatch):
    dates.iso.cache_clear()
    monkeypatch.setitem(sys.modules, "dateparser", None)
    assert load("locomo", put([sample()])).questions
    with pytest.raises(MissingExtra, match=r"pip install 'mnemic\[bench\]'"):
        load("locomo", put([sample(date="May 8, 2023, noon")]))


def test_the_package_loads_neither_dateparser_nor_the_network():
    script = "import sys, mnemic.bench.datasets; print(*sorted({'dateparser', 'urllib.request'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


# notes -------------------------------------------------------------------------------------------------------


def test_notes_from_a_file_a_line_each(load, put, tmp_path):
    dataset = load("locomo", put([sample()]))
    lines = [
        {"user_id": "mine", "about": "Ana", "text": "Ana talks.", "sources": ["D1:1", "D1:1", "D9:9"]},
        {"user_id": "mine", "text": "Words.", "sources": ["D1:2"]},
        {"user_id": "other", "text": "x", "sources": ["D1:1"]},
        {"user_id": "mine", "text": "x", "sources": []},
        {"user_id": "mine", "text": "x", "sources": ["D7:7", None]},
        {"user_id": "mine", "text": " ", "sources": ["D1:1"]},
        ["no note"],
    ]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines) + b"{broken"
    given = load_notes(put(text, "notes.jsonl"), dataset, data=tmp_path)
    assert given.notes == (
        GivenNote("mine", "Ana", "Ana talks.", ("D1:1",)),
        GivenNote("mine", None, "Words.", ("D1:2",)),
    )
    assert given.left_out == {
        "a source of a note that names no turn of its conversation": 1,
        "a note about a user who is not measured": 1,
        "a note that names no turn of its conversation": 2,
        "not a note (an object with user_id, text and sources)": 3,
    }
    assert given.label == "notes.jsonl"
    assert load_notes(put(gzip.compress(text), "n.jsonl.gz"), dataset, data=tmp_path).notes == given.notes
    with pytest.raises(InvalidFile, match=r"holds no note about the users of the data set .*not measured: 1"):
        load_notes(put(lines[2], "none.jsonl"), dataset, data=tmp_path)


def test_notes_may_name_turns_by_number(load, personamem, put, tmp_path):
    dataset = load(None, personamem([question_row()]))
    note = {"user_id": CONTEXT, "text": "Counts.", "sources": [0, "4"]}
    assert load_notes(put(note, "n.jsonl"), dataset, data=tmp_path).notes[0].turn_ids == ("0", "4")
    with pytest.raises(InvalidInput, match="personamem has no observations"):
        load_notes("observation", dataset, data=tmp_path)


def test_observations_of_a_file_of_ones_own(load, put, tmp_path):
    facts = [
        ["Ana talks.", "D1:1"],
        ["Both.", ["D1:1", "D1:2"]],
        ["Joined.", "D1:2, D1:1"],
        ["Lost.", "D"],
        ["Bare."],
        7,
    ]
    observation = {"session_1_observation": {"Ana": facts, "Bo": None}, "session_2_observation": None}
    file = put([sample(observation=observation), sample("quiet", observation=None), "no sample"])
    given = load_notes("observation", load("locomo", file), data=tmp_path, file=file)
    assert given.notes == (
        GivenNote("mine", "Ana", "Ana talks.", ("D1:1",)),
        GivenNote("mine", "Ana", "Both.", ("D1:1", "D1:2")),
        GivenNote("mine", "Ana", "Joined.", ("D1:2", "D1:1")),
    )
    assert given.left_out == {
        "a note that names no turn of its conversation": 1,
        "not a note (an object with user_id, text and sources)": 2,
    }
