"""Shared by the tests of the command line: it, run in this process on a database of its own."""

from __future__ import annotations

import json

import pytest

from mnemic.cli import main


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Runs one command on a database of its own, by words alone; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MNEMIC_USER", raising=False)
    monkeypatch.setenv("MNEMIC_DB", str(tmp_path / "m.db"))

    def run(*arguments: str) -> tuple[int, str, str]:
        code = 0
        try:
            main(arguments)
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def filled(cli, tmp_path):
    """The same, with three messages of ana."""
    said = [
        {"role": "user", "name": "Ana", "content": "I moved to Lisbon.", "id": "m1", "timestamp": "2024-03-01T10:00Z"},
        {"role": "user", "name": "Bo", "content": "My cat is called Tadeus.", "id": "m2", "metadata": {"mood": "good"}},
        {
            "role": "assistant",
            "content": "Noted: Tadeus the cat.",
            "id": "m3",
            "session_id": "s2",
            "agent_id": "helper",
        },
    ]
    (tmp_path / "said.json").write_text(json.dumps(said))
    assert cli("import", "said.json", "--user", "ana", "--embedder", "none")[0] == 0
    return cli
