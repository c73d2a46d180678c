"""The data sets as published, read where they lie: what methods.md section 4 counts in them is what comes out."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from mnemic.bench import datasets
from mnemic.bench.datasets import FILES
from mnemic.bench.datasets.download import PUBLISHED
from mnemic.bench.datasets.notes import load_notes
from mnemic.bench.datasets.split import LOCOMO
from mnemic.config import Environment
from mnemic.errors import InvalidInput
from yardstick import at_most

DATA = Path(__file__).parents[2] / Environment.read().data
TYPES = {
    "generalizing_to_new_scenarios": 57,
    "provide_preference_aligned_recommendations": 55,
    "recall_user_shared_facts": 129,
    "recalling_facts_mentioned_by_the_user": 17,
    "recalling_the_reasons_behind_previous_updates": 99,
    "suggest_new_ideas": 93,
    "track_full_preference_evolution": 139,
}


def load(name, split="all", **given):
    if not (DATA / FILES[name]).is_file():
        pytest.skip(f"no {FILES[name]} in {DATA}; set MNEMIC_DATA to the folder that holds it")
    return datasets.load(name, split, data=DATA, **given)


def raw_locomo():
    return json.loads((DATA / FILES["locomo"]).read_bytes())


def turn_ids(dataset):
    """User id -> session id -> turn ids."""
    return {
        user: {c.session_id: [m["id"] for m in c.messages] for c in conversations}
        for user, conversations in dataset.conversations.items()
    }


# LoCoMo ------------------------------------------------------------------------------------------------------


@pytest.mark.fault("B200")
def test_locomo_has_the_questions_of_the_specification():
    dataset = load("locomo")
    assert Counter(q.category for q in dataset.questions) == {
        "single-hop": 841, "multi-hop": 282, "temporal": 321, "open-domain": 96, "adversarial": 446,
    }  # fmt: skip
    assert sum(q.answerable for q in dataset.questions) == 1540
    assert sum(bool(q.gold) for q in dataset.questions) == 1536
    assert {q.category for q in dataset.questions if q.answerable and not q.gold} == {"open-domain"}
    assert all(q.gold == () and q.answer is None for q in dataset.questions if not q.answerable)
    assert {q.category for q in dataset.questions if not q.answerable} == {"adversarial"}
    assert (dataset.name, dataset.split, dataset.gold) == ("locomo", "all", "original")
    assert all(q.asked_at is None and q.end is None and q.options == () for q in dataset.questions)


def test_locomo_has_its_sessions_and_turns():
    dataset = load("locomo")
    turns = turn_ids(dataset)
    assert tuple(turns) == LOCOMO
    assert sum(map(len, turns.values())) == 272
    assert len(turns["conv-26"]) == 19
    assert sum(len(ids) for sessions in turns.values() for ids in sessions.values()) == 5882


def test_locomo_leaves_out_three_references_and_the_sessions_without_turns():
    assert load("locomo").left_out == {
        "a session without turns": 16,
        "a piece of evidence that names no turn of its conversation": 3,
    }


def test_locomo_repairs_malformed_evidence():
    questions = {q.question_id: q for q in load("locomo").questions}
    assert questions["conv-26/37"].gold == ("D8:6", "D9:17")
    assert questions["conv-26/37"].gold_sessions == ("session_8", "session_9")
    assert questions["conv-49/46"].gold == ("D21:18", "D21:22", "D11:15", "D11:19")
    assert "D11:26" in questions["conv-43/18"].gold
    assert questions["conv-50/69"].gold == ("D30:5",)
    assert questions["conv-42/88"].gold == ("D1:18", "D1:20")
    assert questions["conv-50/5"].gold == ("D4:5", "D5:5")
    assert questions["conv-47/38"].gold == ("D18:1", "D18:7")


def test_locomo_evidence_is_the_turns_that_the_file_names():
    """Against the raw file: well-formed evidence comes out as it is, and each turn lies in its session."""
    dataset = load("locomo")
    sessions = turn_ids(dataset)
    questions = {q.question_id: q for q in dataset.questions}
    for sample in raw_locomo():
        user = sample["sample_id"]
        known = {turn: session for session, turns in sessions[user].items() for turn in turns}
        for number, asked in enumerate(sample["qa"]):
            question = questions.pop(f"{user}/{number}")
            assert (question.text, question.user_id) == (asked["question"], user)
            assert set(question.gold) <= known.keys()
            assert set(question.gold_sessions) == {known[turn] for turn in question.gold}
            if question.answerable and all(turn in known for turn in asked["evidence"]):
                assert question.gold == tuple(dict.fromkeys(asked["evidence"]))
    assert questions == {}


def test_locomo_answers_are_text():
    questions = load("locomo").questions
    raw = {f"{s['sample_id']}/{n}": q for s in raw_locomo() for n, q in enumerate(s["qa"])}
    numbers = [
        (q.answer, str(raw[q.question_id]["answer"]))
        for q in questions
        if q.answerable and not isinstance(raw[q.question_id]["answer"], str)
    ]
    assert len(numbers) == 6
    assert all(ours == theirs for ours, theirs in numbers)


def test_locomo_halves():
    both = {half: load("locomo", half) for half in ("dev", "test")}
    assert tuple(both["dev"].conversations) == ("conv-26", "conv-30", "conv-41", "conv-42", "conv-43")
    assert tuple(both["test"].conversations) == ("conv-44", "conv-47", "conv-48", "conv-49", "conv-50")
    for half, dataset in both.items():
        assert {q.half for q in dataset.questions} == {half}
        assert {q.user_id for q in dataset.questions} == set(dataset.conversations)
    assert sum(len(d.questions) for d in both.values()) == 1986


def test_question_ids_are_unique_where_texts_repeat():
    questions = load("locomo").questions
    assert len({q.question_id for q in questions}) == 1986
    texts = Counter((q.user_id, q.text) for q in questions if q.answerable)
    assert sum(count > 1 for count in texts.values()) == 11


def test_all_published_corrections_apply_beside_the_original():
    original, corrected = load("locomo"), load("locomo", gold="corrected")
    entries = json.loads((DATA / "locomo" / "audit_errors.json").read_bytes())
    assert len(entries) == 156
    assert corrected.gold == "corrected"
    assert corrected.left_out == {"a session without turns": 16}  # each lost reference is one of the corrected ones
    assert corrected.checksum != original.checksum
    named = {
        f"{LOCOMO[int(place)]}/{number}": entry
        for entry in entries
        for place, number in [entry["question_id"].removeprefix("locomo_").split("_qa")]
    }
    for before, after in zip(original.questions, corrected.questions, strict=True):
        if entry := named.pop(before.question_id, None):
            assert (after.answer, after.gold) == (entry["correct_answer"], tuple(entry["correct_evidence"]))
            assert before.answer == entry["golden_answer"]
            assert (after.text, after.category, after.half) == (before.text, before.category, before.half)
        else:
            assert before == after
    assert named == {}
    changed = sum(a.answer != b.answer for a, b in zip(original.questions, corrected.questions, strict=True))
    assert changed == sum(entry["correct_answer"] != entry["golden_answer"] for entry in entries)


def test_corrections_do_not_depend_on_the_split():
    halves = {half: load("locomo", half, gold="corrected") for half in ("dev", "test")}
    assert halves["dev"].questions + halves["test"].questions == load("locomo", gold="corrected").questions
    assert not any("correction" in reason for half in halves.values() for reason in half.left_out)


def test_observations_are_notes_with_their_turns():
    dataset = load("locomo")
    given = load_notes("observation", dataset, data=DATA)
    raw = [
        (sample["sample_id"], speaker, text, written)
        for sample in raw_locomo()
        for of_session in sample["observation"].values()
        for speaker, facts in of_session.items()
        for text, written in facts
    ]
    assert len(given.notes) == len(raw) == 2541
    assert given.left_out == {}
    assert given.label == "observation"
    for note, (user, speaker, text, written) in zip(given.notes, raw, strict=True):
        assert (note.user_id, note.about, note.text) == (user, speaker, text)
        listed = written if isinstance(written, list) else written.split(", ")
        assert note.turn_ids == tuple(dict.fromkeys(listed))
    assert sum(isinstance(written, str) and ", " in written for *_, written in raw) == 5
    half = load_notes("observation", load("locomo", "dev"), data=DATA)
    assert half.notes == tuple(note for note in given.notes if note.user_id in LOCOMO[:5])


def test_locomo_loads_fast():
    load("locomo")
    with at_most(1.5):
        load("locomo", gold="corrected")


# PersonaMem --------------------------------------------------------------------------------------------------


def test_personamem_has_the_questions_of_the_specification():
    dataset = load("personamem")
    assert Counter(q.category for q in dataset.questions) == TYPES
    assert len(dataset.questions) == sum(TYPES.values()) == 589
    assert len(dataset.conversations) == 37
    assert Counter(q.answer for q in dataset.questions).keys() == {"(a)", "(b)", "(c)", "(d)"}
    assert all([o[:4] for o in q.options] == ["(a) ", "(b) ", "(c) ", "(d) "] for q in dataset.questions)
    assert all(q.gold == () and q.gold_sessions == () and q.answerable for q in dataset.questions)
    assert len({(q.user_id, q.end) for q in dataset.questions}) == 222
    assert not any(q.text.startswith(("User:", "Assistant:")) for q in dataset.questions)
    assert dataset.left_out == {"a system message (it restates the persona)": 195}


def test_personamem_halves_go_by_the_person():
    dataset = load("personamem")
    with (DATA / "personamem" / "questions_32k.csv").open(encoding="utf-8", newline="") as file:
        personas = {row["question_id"]: int(row["persona_id"]) for row in csv.DictReader(file)}
    assert all(q.half == ("dev" if personas[q.question_id] < 10 else "test") for q in dataset.questions)
    dev, test = load("personamem", "dev"), load("personamem", "test")
    assert dev.conversations.keys().isdisjoint(test.conversations)
    assert len(dev.questions) + len(test.questions) == 589


def test_no_piece_of_a_personamem_context_reaches_across_the_end_of_a_question():
    """What a question sees, whole conversations below its end, is the visible history without system messages."""
    dataset = load("personamem")
    contexts = {}
    for line in (DATA / FILES["personamem"]).read_text(encoding="utf-8").splitlines():
        contexts |= json.loads(line)
    for question in dataset.questions:
        pieces = [[int(m["id"]) for m in c.messages] for c in dataset.conversations[question.user_id]]
        assert all(piece[-1] < question.end or piece[0] >= question.end for piece in pieces)
        seen = [index for piece in pieces for index in piece if index < question.end]
        history = contexts[question.user_id][: question.end]
        assert seen == [index for index, message in enumerate(history) if message["role"] != "system"]


def test_the_end_of_a_personamem_question_is_exclusive():
    """The file says how long the visible history is, in letters; with the message at ``end`` it would be longer."""
    dataset = load("personamem", system_messages=True)
    with (DATA / "personamem" / "questions_32k.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["question_id"]: row for row in csv.DictReader(file)}
    lengths = {}
    for line in (DATA / FILES["personamem"]).read_text(encoding="utf-8").splitlines():
        lengths |= {user: [len(m["content"]) for m in messages] for user, messages in json.loads(line).items()}
    for question in dataset.questions:
        row = rows[question.question_id]
        assert sum(lengths[question.user_id][: question.end]) == int(row["context_length_in_letters"])
        assert question.options == tuple(ast.literal_eval(row["all_options"]))
    kept = sum(len(c.messages) for several in dataset.conversations.values() for c in several)
    assert kept == sum(map(len, lengths.values()))
    assert dataset.left_out == {}


# LongMemEval -------------------------------------------------------------------------------------------------


def test_longmemeval_has_its_instances():
    dataset = load("longmemeval", "dev")
    assert Counter(q.category for q in dataset.questions) == {
        "multi-session": 7, "temporal-reasoning": 5, "single-session-preference": 4, "knowledge-update": 3,
        "single-session-assistant": 1, "single-session-user": 1,
    }  # fmt: skip
    assert dataset == load("longmemeval", "dev")
    assert tuple(dataset.conversations) == tuple(q.user_id for q in dataset.questions)
    assert [q.question_id for q in dataset.questions if not q.answerable] == ["031748ae_abs", "0862e8bf_abs"]
    for question in dataset.questions:
        assert bool(question.gold) == bool(question.gold_sessions) == question.answerable
        assert isinstance(question.answer, str)
    question = next(q for q in dataset.questions if q.question_id == "8c18457d")
    assert question.gold == ("answer_124f5dc3_2_5", "answer_124f5dc3_2_11", "answer_124f5dc3_1_1")
    assert question.gold_sessions == ("answer_124f5dc3_2", "answer_124f5dc3_1")
    assert question.asked_at == "2023-03-29T13:43:00+00:00"


def test_longmemeval_gold_lies_in_the_haystack_and_the_oldest_session_comes_first():
    dataset = load("longmemeval", "dev")
    sessions = turn_ids(dataset)
    for question in dataset.questions:
        there = sessions[question.user_id]
        assert set(question.gold_sessions) <= there.keys()
        marked = {s for s, turns in there.items() if set(turns) & set(question.gold)}
        # Of one question the authors name a session in which they mark no turn.
        unmarked = {"answer_c2204106_3"} if question.question_id == "3a704032" else set()
        assert set(question.gold_sessions) - marked == unmarked
        assert marked <= set(question.gold_sessions)
        times = [c.messages[0]["timestamp"] for c in dataset.conversations[question.user_id]]
        assert times == sorted(times)


def test_longmemeval_has_no_test_half():
    with pytest.raises(InvalidInput, match="none of its 21 questions is in the test half; take the split dev, or all"):
        load("longmemeval", "test")


# the files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", [file for several in PUBLISHED.values() for file in several], ids=lambda f: f.path)
def test_the_pinned_checksums_are_those_of_the_files_measured_on(file):
    path = DATA / file.path
    if not path.is_file():
        pytest.skip(f"no {file.path} in {DATA}; set MNEMIC_DATA to the folder that holds it")
    data = path.read_bytes()
    assert (len(data), hashlib.sha256(data).hexdigest()) == (file.size, file.sha256)


def test_a_checksum_is_that_of_the_bytes_read():
    assert load("locomo").checksum == hashlib.sha256((DATA / FILES["locomo"]).read_bytes()).hexdigest()
    contexts = DATA / FILES["personamem"]
    both = contexts.read_bytes() + contexts.with_name("questions_32k.csv").read_bytes()
    assert load("personamem", "dev").checksum == hashlib.sha256(both).hexdigest()
