"""How often the first hits in a large memory are those of exact cosines: the number of decision 0007.

    python scripts/first_hits.py [TURNS]

Takes minutes at 100,000 turns, and prints one line of JSON. Both searches run over one memory: for exact cosines the
size is raised up to which all sentences are compared with the question.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from unittest import mock

from mnemic import Memory
from mnemic.bench.speed import dialogue
from mnemic.models.doubles import HashEmbedder
from mnemic.retrieve import matched
from mnemic.types import Turn

QUESTIONS, FIRST, PIECE = 200, 20, 5000


def main(turns: int) -> dict[str, int]:
    """Measure on so many turns."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(f"{folder}/m.db", embedder=HashEmbedder(384)) as memory:
        said = list(dialogue.turns("u", 0, turns))
        for start in range(0, turns, PIECE):
            pieces = said[start : start + PIECE]
            memory.add([message(turn) for turn in pieces], user_id="u")
        questions = dialogue.questions("u", QUESTIONS, held=turns)
        found = [hits(memory, question) for question in questions]
        with mock.patch.object(matched, "_FEW_UNITS", sys.maxsize):
            exact = [hits(memory, question) for question in questions]
        same = [one == other for one, other in zip(found, exact, strict=True)]
        as_sets = [set(one) == set(other) for one, other in zip(found, exact, strict=True)]
        return {
            "turns": turns,
            "sentences": memory.status(user_id="u").counts.units,
            "questions": QUESTIONS,
            "first": FIRST,
            "same_in_order": sum(same),
            "same_in_any_order": sum(as_sets),
        }


def message(turn: Turn) -> dict[str, object]:
    return {
        "id": turn.turn_id,
        "role": turn.role,
        "name": turn.speaker,
        "content": turn.text,
        "timestamp": turn.timestamp,
        "session_id": turn.session_id,
    }


def hits(memory: Memory, question: str) -> list[str]:
    return [hit.trace_id for hit in memory.search(question, user_id="u", top_k=FIRST).results]


if __name__ == "__main__":
    found = main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
    Path("results/speed/first_hits.json").write_text(json.dumps(found) + "\n")
    print(json.dumps(found))
