"""Two embedders compared on LoCoMo: the same questions, without names where names are left out, development alone."""

from dataclasses import replace

import pytest

from mnemic.bench.records import Dataset, Question
from mnemic.importers import Conversation
from mnemic.models.doubles import HashEmbedder
from training import on_locomo

SAID = (
    ("Ana", "I adopted a grey kitten."),
    ("Bo", "My guitar teacher moved to Oslo."),
    ("Ana", "Ana Ana what kitten?"),
)
MESSAGES = tuple(
    {"id": f"t{i}", "role": "user", "name": name, "content": text, "timestamp": "2024-05-01T10:00:00Z"}
    for i, (name, text) in enumerate(SAID)
)
DATASET = Dataset(
    "locomo",
    "dev",
    "",
    {"c": (Conversation("c", "s", MESSAGES),)},
    (
        Question("c/0", "c", "dev", "What grey kitten did Ana have adopted?", "single-hop", ("t0",)),
        Question("c/1", "c", "dev", "Who moved to Oslo?", "single-hop", ("t1",)),
        Question("c/2", "c", "dev", "Which car is hers?", "adversarial", (), answerable=False),
    ),
)


class Asked(HashEmbedder):
    """Knows words only, and remembers what it was asked."""

    def __init__(self):
        super().__init__()
        self.queries = []

    def embed(self, texts, *, kind="passage"):
        if kind == "query":
            self.queries += texts
        return super().embed(texts, kind=kind)


@pytest.mark.parametrize("name", on_locomo.SYSTEMS)
def test_every_question_is_asked_at_both_levels(name):
    rows = on_locomo.rows(name, HashEmbedder(), DATASET)
    assert sorted((row.question_id, row.level) for row in rows) == [
        (question.question_id, level) for question in DATASET.questions for level in ("trace", "turn")
    ]
    assert {row.ranks for row in rows if row.question_id == "c/1"} == {(1,)}


def test_names_are_left_out_where_the_system_says_so():
    asked = {name: Asked() for name in ("dense", "dense-nameless")}
    for name, embedder in asked.items():
        on_locomo.rows(name, embedder, DATASET)
    assert asked["dense"].queries[0] == "What grey kitten did Ana have adopted?"
    assert asked["dense-nameless"].queries[0] == "What grey kitten did have adopted?"


def test_the_difference_is_of_the_answerable_questions():
    rows = on_locomo.rows("dense", HashEmbedder(), DATASET)
    worse = [replace(row, ranks=(None,) * len(row.ranks)) if row.question_id == "c/0" else row for row in rows]
    found = on_locomo.compared(worse, rows)["turn fraction@10"]
    assert (found["n"], found["a"], found["b"]) == (2, 0.5, 1.0)


@pytest.mark.parametrize("split", ["test", "all"])
def test_the_test_half_is_refused(split):
    with pytest.raises(ValueError, match=f"development half, not on {split}"):
        on_locomo.rows("dense", HashEmbedder(), replace(DATASET, split=split))
