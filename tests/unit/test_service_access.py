"""API keys: shown once, kept as a slow hash, refused once revoked or expired."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest

from mnemic.errors import InvalidInput, KeyRefused, NotAllowed, NotFound
from mnemic.service import access
from mnemic.service.access import Keys
from mnemic.store import open_store
from service_kit import ALL, NOW


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now


@pytest.fixture
def store(tmp_path):
    opened = open_store(tmp_path / "m.db")
    yield opened
    opened.close()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def keys(store, clock):
    return Keys(store, clock=clock)


def test_a_key_opens_its_tenant_with_its_scopes(keys):
    made = keys.create("laptop", tenant="acme", scopes=("write", "read"))
    opened = keys.verify(made.key)
    assert (opened.key_id, opened.name, opened.tenant.name) == (made.row.key_id, "laptop", "acme")
    assert opened.scopes == {"read", "write"}
    with pytest.raises(NotAllowed, match="'erase'; yours has read, write"):
        opened.require("erase")


def test_the_key_itself_is_nowhere_in_the_database(keys, store, tmp_path):
    made = keys.create("laptop")
    secret = made.key.rpartition("_")[2] if made.key.count("_") == 2 else made.key.split("_", 2)[2]
    store.close()
    assert secret.encode() not in (tmp_path / "m.db").read_bytes()
    assert made.row.key_id.encode() in (tmp_path / "m.db").read_bytes()


def test_another_secret_with_the_same_id_is_refused(keys):
    made = keys.create("laptop")
    wrong = made.key[:-1] + ("A" if made.key[-1] != "A" else "B")
    keys.verify(made.key)
    with pytest.raises(KeyRefused):
        keys.verify(wrong)


@pytest.mark.parametrize("key", ["", "x", "mnemic_", "mnemic_" + "0" * 16 + "_" + "A" * 43, "mnemic_é_\ud800"])
def test_what_is_no_key_is_refused_in_the_same_words(keys, key):
    with pytest.raises(KeyRefused, match="unknown, revoked or expired"):
        keys.verify(key)


def test_a_revoked_key_is_refused_at_once_though_it_was_revoked_elsewhere(keys, store):
    made = keys.create("laptop")
    keys.verify(made.key)
    Keys(store).revoke(made.row.key_id)
    with pytest.raises(KeyRefused):
        keys.verify(made.key)
    with pytest.raises(NotFound, match="keys list"):
        keys.revoke(made.row.key_id)


def test_a_key_is_refused_from_when_it_expires(keys, clock):
    made = keys.create("laptop", expires_at=NOW + timedelta(hours=1))
    clock.now = NOW + timedelta(minutes=59)
    keys.verify(made.key)
    clock.now = NOW + timedelta(hours=1)
    with pytest.raises(KeyRefused):
        keys.verify(made.key)


def test_the_slow_hash_is_computed_once_a_key_and_for_unknown_ids_too(keys, monkeypatch):
    counted = []
    slow = access.slow_hash
    monkeypatch.setattr(access, "slow_hash", lambda key, salt: counted.append(key) or slow(key, salt))
    made = keys.create("laptop")
    counted.clear()
    for _ in range(5):
        keys.verify(made.key)
    assert counted == [made.key]
    unknown = "mnemic_" + "0" * 16 + "_" + "A" * 43
    with pytest.raises(KeyRefused):
        keys.verify(unknown)
    assert counted == [made.key, unknown]


def test_what_is_remembered_is_bounded(keys, monkeypatch):
    monkeypatch.setattr(access, "_REMEMBERED", 2)
    made = [keys.create(f"k{n}") for n in range(3)]
    for one in made:
        keys.verify(one.key)
    assert [keys.has_proved(one.key) for one in made] == [False, True, True]


def test_many_threads_may_verify_at_once(keys):
    made = keys.create("laptop", scopes=ALL)
    opened = []
    threads = [threading.Thread(target=lambda: opened.append(keys.verify(made.key).key_id)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [made.row.key_id] * 8


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"scopes": ("read", "all")}, "scopes"),
        ({"scopes": ()}, "scopes"),
        ({"tenant": "A/B"}, "tenant"),
        ({"expires_at": NOW}, "expires_at"),
    ],
)
def test_a_key_that_cannot_be_is_not_made(keys, options, named):
    with pytest.raises(InvalidInput, match=named):
        keys.create("laptop", **options)
    assert keys.list() == []
