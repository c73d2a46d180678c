"""``bench graph`` and ``bench follow``: sizes and ways of a dialogue that is known."""

from __future__ import annotations

import json

import pytest

SAMPLE = {
    "sample_id": "talk",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ana", "dia_id": "D1:1", "text": "My kiln cracked all the bowls."},
            {"speaker": "Bo", "dia_id": "D1:2", "text": "Oh no! My cat Tadeus broke my last one, too."},
        ],
        "session_2_date_time": "10:00 am on 12 May, 2023",
        "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "Marguerite came by and fixed the kiln."}],
    },
    "observation": {
        "session_1_observation": {"Ana": [["Ana owns a kiln.", "D1:1"]]},
        "session_2_observation": {"Ana": [["Marguerite helped Ana.", ["D2:1"]]]},
    },
    "qa": [{"question": "Who repaired Ana's kiln?", "answer": "Marguerite", "evidence": ["D2:1"], "category": 4}],
}


@pytest.fixture
def talk(tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps([SAMPLE]))


def test_sizes_are_told_beside_what_was_published(cli, talk):
    code, out, err = cli("bench", "graph", "locomo", "--data", "talk.json", "--keep", "kept", "--json")
    assert code == 0, err
    found = json.loads(out)
    size = found["users"]["talk"]
    assert (size["turns"], size["traces"], size["trace-trace"]) == (3, 2, 1)
    assert size["edges"] == sum(size[kind] for kind in ("cue-trace", "cue-note", "note-trace", "trace-trace"))
    assert size["cues"] <= size["cue-trace"] + size["cue-note"]
    assert size["bytes"] >= size["bytes_without_vectors"] > 0
    assert found["mean"] == found["max"] == size
    assert found["build"]["tokens"] == {"in": 0, "out": 0}
    assert set(found["build"]["stages"]) == {"embedding", "cues", "rest"}
    assert found["published"]["mean"]["edges"] == 9181
    code, out, _ = cli("bench", "graph", "locomo", "--data", "talk.json", "--keep", "kept")
    assert code == 0
    assert "not measured here" in out
    assert ["traces", "2", "2"] in [[cell.strip() for cell in line.split("|")[1:4]] for line in out.splitlines()[2:4]]


def test_a_question_is_followed_to_its_evidence(cli, talk):
    code, out, err = cli("bench", "follow", "locomo", "talk/0", "--data", "talk.json", "--beside-notes", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["question"]["gold"] == ["D2:1"]
    assert "kiln" in found["entities"]
    assert list(found["ways"]) == ["hero", "default"]
    for way in found["ways"].values():
        assert any((link["from"], link["id"]) == ("kiln", "kiln") for link in way["anchors"])
        assert any("Marguerite" in link["text"] for link in way["contexts"])
        assert [hit["gold"] for hit in way["results"] if "D2:1" in hit["turn_ids"]] == [True]
        assert [hit["gold"] for hit in way["results"] if "D1:1" in hit["turn_ids"]] == [False]
    evidence = found["beside"][0]
    assert evidence["text"] == "Marguerite came by and fixed the kiln."
    assert evidence["notes"] == ["Marguerite helped Ana."]
    assert evidence["gold"]


def test_people_read_the_words_and_the_notes_on_them(cli, talk):
    code, out, err = cli("bench", "follow", "locomo", "talk/0", "--data", "talk.json", "--top-k", "1", "--beside-notes")
    assert code == 0, err
    for words in ("Who repaired Ana's kiln?", "answer: Marguerite", "holds evidence", "noted: Marguerite helped Ana."):
        assert words in out
    assert out.index("hero: ") < out.index("default: ") < out.index("Word for word")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("talk/7",), 1, "has no question 'talk/7'; there are 1 such as talk/0"),
        (("talk/0", "--beside-notes", "--notes", "n.jsonl"), 2, "give one of them"),
    ],
)
def test_what_cannot_be_followed_is_said(cli, talk, arguments, code, said):
    left, out, err = cli("bench", "follow", "locomo", *arguments, "--data", "talk.json")
    assert (left, out) == (code, "")
    assert said in " ".join(err.replace("│", " ").split())
