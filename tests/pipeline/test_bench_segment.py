"""``bench segment``: gold where the system messages stood, nothing of the words in the results."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from mnemic.bench import segmentation
from mnemic.bench.segmenters import systems
from mnemic.config import Environment

KILN = ["The kiln cracked my clay bowls.", "A kiln cracks clay bowls when it is hot.", "I glazed the clay bowls again."]
CAT = ["My cat sleeps all day.", "Cats sleep a lot, yours sleeps all day.", "The cat caught a mouse in its sleep."]
ONE, OTHER = "ab" * 32, "cd" * 32


def block(system, said):
    messages = [{"role": "system", "content": system}]
    roles = ("user", "assistant")
    return messages + [
        {"role": roles[i % 2], "content": f"{roles[i % 2].title()}: {text}"} for i, text in enumerate(said)
    ]


def write(folder, contexts, personas):
    (folder / "shared_contexts_x.jsonl").write_text("".join(json.dumps({k: v}) + "\n" for k, v in contexts.items()))
    fields = ("persona_id", "question_id", "question_type", "user_question_or_message", "correct_answer",
              "all_options", "shared_context_id", "end_index_in_shared_context")  # fmt: skip
    with (folder / "questions_x.csv").open("w", newline="") as stream:
        rows = csv.DictWriter(stream, fields)
        rows.writeheader()
        for place, (context, persona) in enumerate(personas.items()):
            rows.writerow(
                {"persona_id": persona, "question_id": f"q{place}", "question_type": "x", "correct_answer": "(a)",
                 "user_question_or_message": "What?", "all_options": '["(a) x"]', "shared_context_id": context,
                 "end_index_in_shared_context": 5}
            )  # fmt: skip


@pytest.fixture
def contexts(tmp_path):
    kiln, cat = block("Persona", KILN * 4), block("Persona", CAT * 4)
    write(tmp_path, {ONE: kiln + cat, OTHER: kiln[:2] + kiln + cat + cat[:1]}, {ONE: "0", OTHER: "12"})
    return tmp_path / "shared_contexts_x.jsonl"


def test_gold_is_the_next_message_after_a_system_message_that_was_removed(contexts):
    gathered = segmentation.gather("all", data=Path("nowhere"), file=contexts)
    one, other = gathered.sessions
    assert (one.half, other.half) == ("dev", "test")
    assert one.ids == (*range(1, 13), *range(14, 26))
    assert [one.ids[place] for place in one.gold] == [14]
    # Here two blocks begin after another, and the last system message opens nothing.
    assert [other.ids[place] for place in other.gold] == [3, 16]
    assert not any("Persona" in text or text.startswith("User:") for text in one.texts)


def test_the_numbers_are_told_and_kept_without_the_words(cli, contexts):
    arguments = ("bench", "segment", "--data", str(contexts), "--split", "all", "--embedder", "hash")
    code, out, err = cli(*arguments, "--output", "kept", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert json.loads(Path("kept.json").read_text()) == found
    assert not any(word in out for word in ("kiln", "cat ", "Persona"))
    assert (found["dataset"], found["vectors"], found["embedder"][:4]) == ("personamem", "sentences", "hash")
    assert set(found["halves"]) == {"dev", "test"}
    assert list(found["halves"]["dev"]["systems"]) == list(systems())
    assert found["halves"]["test"]["boundaries"] == 2
    coarse, topic = (found["halves"]["dev"]["systems"][name] for name in ("coarse", "topic"))
    # 24 turns, a boundary before the thirteenth, windows of six: six of the eighteen see it.
    assert (coarse["f1"], coarse["precision"], coarse["window_diff"]) == (0.0, None, pytest.approx(6 / 18))
    assert (topic["f1"], topic["window_diff"], topic["hits"], topic["predicted"]) == (1.0, 0.0, 1, 1)
    assert topic["channels"] == {"topic": {"boundaries": 1, "right": 1}}
    assert found["sessions"][ONE]["gold"] == found["sessions"][ONE]["systems"]["topic"]["boundaries"] == [14]


def test_people_get_a_table(cli, contexts):
    code, out, err = cli("bench", "segment", "--data", str(contexts), "--embedder", "hash", "--vectors", "turns")
    assert code == 0, err
    assert out.startswith("dev: 1 sessions, 24 turns, 1 boundaries")
    assert any(line.startswith("| topic ") and "1.000" in line for line in out.splitlines())
    assert "test:" not in out


def test_contexts_of_one_message_cannot_be_cut(cli, tmp_path):
    write(tmp_path, {ONE: block("Persona", KILN[:1])}, {ONE: "0"})
    code, out, err = cli("bench", "segment", "--data", str(tmp_path / "shared_contexts_x.jsonl"), "--embedder", "hash")
    assert (code, out) == (1, "")
    assert "no context has two messages" in " ".join(err.split())


PERSONAMEM = Environment.read().data / "personamem"


@pytest.mark.skipif(not PERSONAMEM.is_dir(), reason="PersonaMem is not here")
def test_gold_is_what_the_data_set_says_of_its_blocks():
    starts = json.loads((PERSONAMEM / "block_starts_32k.json").read_text())
    gathered = segmentation.gather("all", data=PERSONAMEM.parent)
    assert len(gathered.sessions) == 37
    for session in gathered.sessions:
        # A block begins with its system message; gold is the message after it.
        assert [session.ids[place] - 1 for place in session.gold] == starts[session.session_id][1:]
