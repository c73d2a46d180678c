"""Environments for peers: made once, made whole, and a failure says which and what to do. Nothing is installed here."""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.bench.peers import environment, recipes, wire
from mnemic.bench.peers.recipes import GENERATING, RECIPES, Recipe
from mnemic.errors import InvalidInput, MnemicError

FAKE = Recipe("fake", "fake", ("fake==1.0",), (), {})


class Commands:
    """Stands for ``subprocess.run``: keeps what was to run, and fails where it is told to."""

    def __init__(self):
        self.ran: list[list[str]] = []
        self.failing: str | None = None
        self.meanwhile: Callable[[], object] | None = None

    def __call__(self, command, **_):
        self.ran.append(command)
        if self.failing == "absent":
            raise FileNotFoundError(2, "No such file", command[0])
        if self.failing is not None and self.failing in command:
            return subprocess.CompletedProcess(command, 1, b"ERROR: could not find a version\n")
        if "venv" in command:
            (Path(command[-1]) / "bin").mkdir()
            meanwhile, self.meanwhile = self.meanwhile, None
            if meanwhile is not None:
                meanwhile()
        return subprocess.CompletedProcess(command, 0, b"")


@pytest.fixture
def commands(monkeypatch):
    found = Commands()
    monkeypatch.setattr(environment.subprocess, "run", found)
    return found


def test_it_is_installed_once_and_used_again(commands, tmp_path):
    told: list[str] = []
    first = environment.prepare(FAKE, tmp_path / "new" / "cache", say=told.append)
    assert first.parent.parent.parent == tmp_path / "new" / "cache"
    assert len(commands.ran) == 2
    assert commands.ran[1][-4:] == [*FAKE.requirements]
    assert "fake==1.0" in FAKE.requirements
    assert any(re.fullmatch(r"onnxruntime==[\d.]+", wanted) for wanted in FAKE.requirements)
    assert environment.prepare(FAKE, tmp_path / "new" / "cache", say=told.append) == first
    assert len(commands.ran) == 2
    assert len(told) == 1
    assert [path.name for path in (tmp_path / "new" / "cache").iterdir()] == [first.parent.parent.name]


def test_another_release_is_another_environment(commands, tmp_path):
    first = environment.prepare(FAKE, tmp_path)
    second = environment.prepare(Recipe("fake", "fake", ("fake==1.1",), (), {}), tmp_path)
    assert first != second
    assert first.parent.is_dir()
    assert second.parent.is_dir()


@pytest.mark.parametrize(("failing", "what"), [("venv", "making its virtual environment"), ("pip", "pip")])
def test_a_failure_names_the_peer_and_the_way_out_and_leaves_nothing(commands, tmp_path, failing, what):
    commands.failing = failing
    with pytest.raises(environment.PeerFailed) as caught:
        environment.prepare(FAKE, tmp_path)
    assert str(caught.value).startswith(f"fake cannot be installed: {what} ended with exit code 1")
    assert "with a network" in str(caught.value)
    assert "could not find a version" in str(caught.value)
    assert list(tmp_path.iterdir()) == []
    commands.failing = None
    environment.prepare(FAKE, tmp_path)


def test_an_interpreter_that_cannot_run_is_told(commands, tmp_path):
    commands.failing = "absent"
    with pytest.raises(environment.PeerFailed, match="fake cannot be installed: making its virtual environment: "):
        environment.prepare(FAKE, tmp_path)


def test_a_cache_that_is_no_folder_is_told(commands, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(environment.PeerFailed, match="name another folder"):
        environment.prepare(FAKE, tmp_path / "file" / "cache")


def test_what_another_process_made_meanwhile_is_used(commands, tmp_path):
    theirs: list[Path] = []
    commands.meanwhile = lambda: theirs.append(environment.prepare(FAKE, tmp_path))
    assert [environment.prepare(FAKE, tmp_path)] == theirs
    assert len(commands.ran) == 4
    assert [path.name for path in tmp_path.iterdir()] == [theirs[0].parent.parent.name]


@pytest.mark.parametrize("name", [*RECIPES, *GENERATING])
def test_every_recipe_names_exact_releases_and_an_adapter_that_loads_no_library(name):
    recipe = recipes.recipe(name)
    assert recipe.name == name
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", pin) for pin in recipe.pins)
    assert {pin.partition("==")[0] for pin in recipe.pins} == set(recipe.reported)
    adapter = importlib.import_module(f"mnemic.bench.peers.{recipe.adapter}")
    assert callable(adapter.open_asking if name in GENERATING else adapter.open_store)


def test_a_peer_that_nobody_knows_is_told():
    with pytest.raises(InvalidInput, match="No peer is called 'zep'; there are mem0, mem0-hybrid, "):
        recipes.recipe("zep")


def test_a_peers_process_gets_no_variable_of_ours(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    given = recipes.environment("/data")
    assert "OPENAI_API_KEY" not in given
    assert given["HOME"] == given["MEM0_DIR"] == "/data"
    assert given["MEM0_TELEMETRY"] == given["ANONYMIZED_TELEMETRY"] == "False"


def test_a_failure_is_one_of_ours():
    assert issubclass(wire.PeerFailed, MnemicError)


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none() | st.lists(st.text())))
def test_any_message_passes_the_wire_as_one_line(message):
    line = wire.encode(message)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert wire.decode(line) == message


@pytest.mark.parametrize("line", [b"", b"\n", b"hello\n", b"[1]\n", b"3\n", b"\xff\xfe\n", b'{"a": \n'])
def test_a_line_without_an_object_holds_no_message(line):
    assert wire.decode(line) is None
