"""HERO's Table 10: PersonaMem's question on a living space, followed along both paths, by words and by the profile.

The question and the dialogue are read from the data, nothing of them stands here but the ids.
"""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from mnemic.config import Environment, Hero
from mnemic.models.doubles import HashEmbedder

QUESTION = "2aa34e34-c074-4d1d-8bf0-f45716dbfd53"
FOLDER = Path(__file__).parents[2] / Environment.read().data / "personamem"


@pytest.fixture
def asked(open_memory):
    if not FOLDER.is_dir():
        pytest.skip(f"no PersonaMem data at {FOLDER}; set MNEMIC_DATA to the folder that holds personamem/")
    with (FOLDER / "questions_32k.csv").open(encoding="utf-8", newline="") as stream:
        [question] = [row for row in csv.DictReader(stream) if row["question_id"] == QUESTION]
    with (FOLDER / "shared_contexts_32k.jsonl").open(encoding="utf-8") as stream:
        contexts = {name: said for line in stream for name, said in json.loads(line).items()}
    said = contexts[question["shared_context_id"]][: int(question["end_index_in_shared_context"])]
    memory = open_memory(embedder=HashEmbedder(384))
    memory.add([{**message, "id": f"m{n}"} for n, message in enumerate(said)], user_id="u")
    # The thresholds are the embedder's own, by quantile: this one is not the paper's.
    config = Hero(thresholds="quantile")
    text = question["user_question_or_message"]
    found = memory.search(text, user_id="u", config=config, explain=True, top_k=40)
    return memory, text, {f"m{n}": message["content"] for n, message in enumerate(said)}, found


def test_the_published_question_is_explained_along_both_paths(asked):
    memory, text, said, found = asked
    notes = {note.note_id: note for note in memory.notes(user_id="u")}
    ways = [(hit, path) for hit in found.results for path in hit.paths]
    by_words = [path for _, path in ways if [step.kind for step in path] == ["query", "cue", "unit", "cue", "trace"]]
    by_profile = [(hit, path) for hit, path in ways if [step.kind for step in path][1:3] == ["cue", "note"]]
    assert by_words
    assert by_profile
    for _, path in ways:
        assert path[0].text.casefold() in text.casefold() or path[0].text == path[1].text
        assert path[-1].kind == "trace"
    for path in by_words:
        assert path[2].text in said[path[2].id]
    # What is wanted of a living space was said of another thing: the note is a bridge, its words are the speaker's own.
    bridges = [(hit, notes[path[2].id]) for hit, path in by_profile if "living space" in notes[path[2].id].text]
    assert bridges
    for hit, note in bridges:
        [source, *_] = note.sources
        assert said[source.turn_id][source.start : source.end] == note.text
        assert hit.trace_id
