"""``mnemic bench … --notes``: notes given to mnemic beside the conversations, and named wherever a result is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from mnemic.bench.cost import TimedEmbedder, TimedExtractor
from mnemic.bench.datasets.notes import GivenNote, GivenNotes
from mnemic.bench.systems import Setup, describe, labelled
from mnemic.bench.systems.ours import Ours
from mnemic.config import Fusion
from mnemic.errors import EmbeddingFailed, InvalidInput, NotFound
from mnemic.importers import Conversation
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder

TALK = (
    Conversation(
        "conv-1",
        "session_1",
        (
            {"id": "D1:1", "role": "user", "name": "Ana", "content": "My kiln cracked all the bowls."},
            {"id": "D1:2", "role": "user", "name": "Bo", "content": "My cat is called Tadeus."},
        ),
    ),
)
KILN = GivenNote("conv-1", "Ana", "Ana lost her pottery", ("D1:1",))
CAT = GivenNote("conv-1", None, "Bo keeps an animal", ("D1:2",))
NOTES = GivenNotes("observation", "ab" * 32, (KILN, CAT, KILN, GivenNote("conv-2", "Cy", "Cy paints", ("D1:1",))))
PUBLISHED = [
    {
        "sample_id": "talk",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "My kiln cracked all the bowls."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "My cat is called Tadeus."},
            ],
        },
        "observation": {
            "session_1_observation": {
                "Ana": [["Ana lost her pottery.", "D1:1"], ["Ana is sad.", "D9:9"]],
                "Bo": [["Bo keeps an animal.", ["D1:2", "D1:1"]]],
            }
        },
        "qa": [{"question": "What did Ana lose?", "answer": "bowls", "evidence": ["D1:1"], "category": 4}],
    }
]


class Later(HashEmbedder):
    """Embeds what was said, and none of the notes."""

    def embed(self, texts, *, kind="passage"):
        if any("animal" in text for text in texts):
            raise EmbeddingFailed("the power went")
        return super().embed(texts, kind=kind)


def ours(tmp_path, notes=None, embedder=None):
    return Ours(
        "default",
        Fusion(),
        embedder=TimedEmbedder(embedder or HashEmbedder()),
        extractor=TimedExtractor(RuleCues()),
        keep=tmp_path / "keep",
        notes=notes,
    )


def counts(system):
    try:
        return system.load("conv-1", TALK).counts
    finally:
        system.close()


def test_the_notes_of_a_user_are_given_after_the_conversations(tmp_path):
    plain, noted = counts(ours(tmp_path)), counts(ours(tmp_path, NOTES))
    assert noted["notes given"] == 2
    assert noted["notes"] == plain["notes"] + 2
    assert noted["note-trace"] == plain["note-trace"] + 2
    assert "notes given" not in plain


def test_what_is_kept_depends_on_them(tmp_path, monkeypatch):
    first = counts(ours(tmp_path, NOTES))
    monkeypatch.setattr(Ours, "_ingest", lambda *_: pytest.fail("ingested again"))
    # Notes about others are none of this memory's.
    assert counts(ours(tmp_path, replace(NOTES, notes=NOTES.notes[:3], label="other"))) == first
    for other in (None, replace(NOTES, notes=(KILN,)), replace(NOTES, notes=(KILN, replace(CAT, about="Bo"), KILN))):
        with pytest.raises(pytest.fail.Exception, match="ingested again"):
            counts(ours(tmp_path, other))


def test_results_say_so(tmp_path):
    system = ours(tmp_path, NOTES)
    assert system.configuration["notes"] == {"label": "observation", "checksum": "ab" * 32, "given": 4}
    assert "notes" not in ours(tmp_path).configuration
    setup = Setup(notes=NOTES)
    assert labelled("default", setup) == "default+notes:observation"
    assert (labelled("rrf", setup), labelled("default", Setup())) == ("rrf", "default")
    assert describe("default+notes:observation") == f"{describe('default')}; notes given: observation"
    with pytest.raises(InvalidInput, match="rff"):
        describe("rff+notes:observation")


def test_notes_without_vectors_or_turns_are_no_system(tmp_path):
    with pytest.raises(EmbeddingFailed, match="notes stored, without vectors for now: 2"):
        counts(ours(tmp_path, NOTES, embedder=Later()))
    with pytest.raises(NotFound, match="D9:9"):
        counts(ours(tmp_path, replace(NOTES, notes=(replace(KILN, turn_ids=("D9:9",)),))))


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_gives_them_and_names_them(cli, tmp_path, jobs):
    (tmp_path / "talk.json").write_text(json.dumps(PUBLISHED))
    arguments = ("--data", "talk.json", "--notes", "observation", "--system", "default-no-dense", "--json")
    code, out, err = cli("bench", "locomo", *arguments, "--jobs", jobs)
    assert code == 0, err
    assert "Notes given to mnemic: 2 of observation; left out: 1 a note that names no turn" in " ".join(err.split())
    found = json.loads(out)
    assert found["system"] == "default-no-dense+notes:observation"
    assert found["configuration"]["system"] == "default-no-dense+notes:observation"
    assert found["configuration"]["notes"]["given"] == 2
    assert found["build"]["counts"]["notes given"] == 2


def test_a_file_of_notes_is_named_by_its_name_and_others_go_without(cli, tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps(PUBLISHED))
    line = {"user_id": "talk", "about": "Ana", "text": "Ana lost her pottery.", "sources": ["D1:1"]}
    (tmp_path / "mine.jsonl").write_text(json.dumps(line) + "\n")
    systems = ("--system", "default-no-dense", "--system", "bm25", "--report", "report")
    code, out, err = cli("bench", "locomo", "--data", "talk.json", "--notes", "mine.jsonl", *systems)
    assert code == 0, err
    named = [line.split("|")[1].strip() for line in out.split("\n\n")[0].splitlines()[2:]]
    assert named == ["default-no-dense+notes:mine.jsonl", "bm25"]
    assert "notes given: mine.jsonl" in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_notes_that_cannot_be_read_are_an_error(cli, tmp_path):
    (tmp_path / "talk.json").write_text(json.dumps(PUBLISHED))
    code, out, err = cli("bench", "locomo", "--data", "talk.json", "--notes", "none.jsonl", "--system", "bm25")
    assert (code, out) == (1, "")
    assert "none.jsonl" in err
