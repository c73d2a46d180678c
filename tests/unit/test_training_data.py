"""The corpus: nothing of an evaluation is in it; what is held out is not trained on; preparing twice is the same."""

import gzip
import json
from dataclasses import replace

import pytest

from mnemic.config import Environment
from mnemic.errors import InvalidFile
from mnemic.models.doubles import HashEmbedder
from training import data, evaluated, prepare
from training.data import Asked, Corpus, Remembered
from training.negatives import Mining
from training.pairs import Sizes

LONG = " ".join(f"word{number}" for number in range(60))


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


@pytest.fixture
def folder(tmp_path):
    questions = [
        {"question": "Where do I live?", "evidence_turns": ["I live in Rome.", "Evaluated turn."]},
        {"question": "What is evaluated?", "evidence_turns": ["Some turn of mine."]},
        {"question": "Who is it?", "evidence_turns": ["Evaluated turn."]},
    ]
    train = tmp_path / "train"
    write(train / data.QUESTIONS, questions)
    write(train / data.TURNS, [{"text": text} for text in ("Free turn.", "EVALUATED  turn!", LONG, "Free turn.")])
    memories = [("It is known.", "Evaluated turn."), ("It is not.", "Another turn.")]
    write(train / data.MEMORIES, [{"memory": m, "source_turn": t, "persona": 4} for m, t in memories])
    (tmp_path / "locomo").mkdir()
    session = [{"text": "Evaluated turn."}]
    sample = {"qa": [{"question": "What is evaluated?"}], "conversation": {"speaker_a": "A", "session_1": session}}
    (tmp_path / "locomo" / "locomo10.json").write_text(json.dumps([sample]))
    (tmp_path / "personamem").mkdir()
    (tmp_path / "personamem" / "questions_32k.csv").write_text("user_question_or_message\nA persona's question\n")
    context = json.dumps({"c": [{"role": "user", "content": "A persona's turn"}]})
    (tmp_path / "personamem" / "shared_contexts_32k.jsonl").write_text(context + "\n")
    instance = {"question": "A long question", "haystack_sessions": [[{"content": LONG + " and more that was cut"}]]}
    write(tmp_path / "longmemeval" / "longmemeval_s_dev.jsonl.gz", [instance])
    return tmp_path


def test_what_an_evaluation_has_is_left_out_and_counted(folder):
    corpus = data.read(folder / "train", evaluated.keys(folder))
    assert corpus.questions == (Asked("Where do I live?", ("I live in Rome.",)),)
    assert corpus.turns == ("Free turn.",)
    assert corpus.memories == (Remembered("It is not.", "Another turn.", 4),)
    assert corpus.dropped == {data.QUESTIONS: 3, data.TURNS: 2, data.MEMORIES: 1}


def test_keys_are_of_questions_and_turns_of_all_three(folder):
    assert evaluated.keys(folder) == frozenset(
        map(evaluated.key, ("Evaluated turn.", "What is evaluated?", "A persona's question", "A persona's turn",
                            "A long question", LONG))
    )  # fmt: skip


@pytest.mark.parametrize("missing", ["locomo/locomo10.json", "personamem/questions_32k.csv"])
def test_without_an_evaluations_data_nothing_is_trained(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(InvalidFile, match=f"{missing} is missing: .* set MNEMIC_DATA"):
        evaluated.keys(folder)


def test_missing_training_data_is_named(tmp_path):
    with pytest.raises(InvalidFile, match=r"longmemeval_questions.jsonl.gz: .* set MNEMIC_DATA"):
        data.read(tmp_path)


def corpus():
    memories = [
        Remembered(f"The user has pet {n}.", f"I have pet {n}. I feed it well daily.", n // 4) for n in range(40)
    ]
    turns = tuple(f"I saw film {n}. It was very long. My aunt liked film {n}." for n in range(12))
    return Corpus((Asked("Which tea do I like?", ("I like mint tea. I drink it.",)),), turns, tuple(memories), {"f": 2})


PREPARATION = prepare.Preparation(Sizes(clozes=3, distractors=5), Mining(count=1))


def test_held_out_personas_and_turns_are_in_no_pair():
    made = prepare.prepare(corpus(), PREPARATION, HashEmbedder())
    _, held = prepare.parted(corpus())
    texts = {text for pair in made.pairs for text in (pair.positive.text, *(one.text for one in pair.negatives))}
    for turn in (*held.turns, *(each.turn for each in held.memories)):
        assert not [text for text in texts if turn in text]
    assert {pair.pool for pair in made.held_out} == {"persona-8", "persona-9"}
    assert len(made.held_out) == 8
    assert made.dropped == {"f": 2}


def test_negatives_are_of_the_same_conversation_and_as_long_as_the_positive():
    made = prepare.prepare(corpus(), PREPARATION, HashEmbedder())
    of_personas = {each.turn: each.persona for each in corpus().memories}
    found = [(pair, one) for pair in made.pairs for one in pair.negatives]
    assert {pair.kind for pair, _ in found} >= {"memory", "memory-sentence", "window"}
    assert [pair for pair, _ in found if pair.speaker]
    for pair, one in found:
        assert set(one.groups).isdisjoint(pair.positive.groups)
        assert not [turn for turn in pair.positive.groups if turn in one.text]
        if pair.pool.startswith("persona"):
            assert {f"persona-{of_personas[turn]}" for turn in one.groups} == {pair.pool}
        lengths = {"memory-sentence": (1, False), "window": (2, True), "memory": (1, pair.speaker is not None)}
        if pair.kind in lengths:
            assert (len(one.groups), ":" in one.text) == lengths[pair.kind]
        if pair.speaker:
            assert one.text.startswith(f"{pair.speaker}: ")
            assert one.text.count(":") == 1


def test_preparing_again_gives_the_same_and_is_read_from_its_file(folder, tmp_path, monkeypatch):
    first = prepare.prepared(tmp_path / "made", PREPARATION, data_folder=folder, base=HashEmbedder())
    (kept,) = (tmp_path / "made").iterdir()
    monkeypatch.setattr(prepare, "prepare", None)
    assert prepare.prepared(tmp_path / "made", PREPARATION, data_folder=folder, base=HashEmbedder()) == first
    monkeypatch.undo()
    other = replace(PREPARATION, seed=1)
    prepare.prepared(tmp_path / "made", other, data_folder=folder, base=HashEmbedder())
    assert len(list((tmp_path / "made").iterdir())) == 2
    kept.unlink()
    assert prepare.prepared(tmp_path / "made", PREPARATION, data_folder=folder, base=HashEmbedder()) == first


def test_the_real_corpus_has_nothing_of_an_evaluation_and_what_was_dropped_is_what_the_decision_says():
    folder = Environment.read().data
    if not (folder / "train").is_dir():
        pytest.skip(f"no training data at {folder / 'train'}; set MNEMIC_DATA")
    asked = evaluated.keys(folder)
    corpus = data.read(folder / "train", asked)
    texts = [each.question for each in corpus.questions] + [turn for each in corpus.questions for turn in each.evidence]
    texts += [*corpus.turns, *(each.turn for each in corpus.memories), *(each.memory for each in corpus.memories)]
    assert not [text for text in texts if evaluated.key(text) in asked]
    assert corpus.dropped[data.TURNS] > 4000  # fillers that evaluated instances share
