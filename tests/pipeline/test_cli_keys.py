"""``mnemic keys`` and ``mnemic notice``: a key is shown once, and people are told in words."""

from __future__ import annotations

import json
import re

from mnemic.service.access import Keys
from mnemic.store import open_store

KEY = re.compile(r"mnemic_[0-9a-f]{16}_[A-Za-z0-9_-]{43}\n")


def test_a_key_is_made_listed_and_revoked(cli, tmp_path):
    code, out, err = cli("keys", "create", "laptop", "--tenant", "acme", "--scope", "erase", "--scope", "read")
    assert code == 0
    assert KEY.fullmatch(out)
    key, key_id = out.strip(), out.split("_")[1]
    assert key_id in err
    assert key not in err
    code, listed, _ = cli("keys", "list")
    assert listed == f"{key_id}  laptop: tenant acme, read, erase\n"
    store = open_store(tmp_path / "m.db")
    assert Keys(store).verify(key).tenant.name == "acme"
    store.close()
    assert cli("keys", "revoke", key_id)[:2] == (0, f"Revoked {key_id}\n")
    assert "revoked" in cli("keys", "list")[1]
    code, _, err = cli("keys", "revoke", key_id)
    assert (code, key_id in err) == (1, True)


def test_json_has_the_key_once_and_no_hash_ever(cli):
    made = json.loads(cli("keys", "create", "agent", "--expires", "2100-01-01", "--json")[1])
    assert made["scopes"] == ["read", "write"]
    assert made["expires_at"] == "2100-01-01T00:00:00+00:00"
    [listed] = json.loads(cli("keys", "list", "--json")[1])["keys"]
    assert listed == {name: value for name, value in made.items() if name != "key"}
    assert not {"salt", "digest"} & set(made)


def test_a_key_that_cannot_be_is_refused_in_words(cli):
    for arguments, named in (
        (("--scope", "all"), "all"),
        (("--tenant", "A b"), "tenant"),
        (("--expires", "2001-01-01"), "over already"),
        (("--expires", "soon"), "soon"),
    ):
        code, out, err = cli("keys", "create", "laptop", *arguments)
        assert (code, out) == (1, "")
        assert named in err


def test_people_are_told_how_much_is_kept_of_them(filled):
    code, out, err = filled("notice", "--user", "ana", "--contact", "privacy@example.org")
    assert code == 0
    assert "3 messages in 2 conversations" in out
    assert "No language model reads it" in out
    assert "Ask: privacy@example.org" in out
    assert "erase: mnemic delete --user" in err
    assert "Nothing is kept about you" in filled("notice", "--user", "nobody")[1]
    assert "About you" not in filled("notice")[1]
    told = json.loads(filled("notice", "--user", "ana", "--json")[1])
    assert (told["keeps"], told["counts"]["turns"], told["models"]) == (True, 3, [])
    assert [way["right"] for way in told["ways"]] == ["see", "correct", "erase"]


def test_the_models_that_read_are_named(filled, monkeypatch):
    monkeypatch.setenv("MNEMIC_MODEL", "ollama:llama3")
    assert "ollama:llama3" in filled("notice")[1]


def test_the_ways_of_the_notice_are_routes_and_commands_that_there_are():
    from typer.main import get_command

    from mnemic import Memory
    from mnemic.cli import app
    from mnemic.memory.notice import notice
    from mnemic.service.examples import examples

    served = {re.sub(r"\{\w+\}", "{}", name) for name in examples()}
    for way in notice(None, [], contact=None).ways:
        for route in re.findall(r"[A-Z]+ /[\w/{}]+", way.rest):
            assert re.sub(r"\{\w+\}", "{}", route) in served
        for command in re.findall(r"mnemic (\w+)", way.command):
            assert command in get_command(app).commands
        for method in re.findall(r"memory\.(\w+)\(", way.python):
            assert hasattr(Memory, method)
