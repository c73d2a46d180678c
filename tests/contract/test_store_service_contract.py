"""What every store promises a server (``protocols.ServiceRows``)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from store_kit import HOSTILE, NOW, batch, turn

from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, KeptReply, KeyRow

KEY = KeyRow("k1", "laptop", "acme", ("read", "write"), b"salt", b"digest", NOW, NOW + timedelta(days=1))
LONG_AGO = NOW - timedelta(days=365)


def begin(store, user_id="ana", key="r", request=b"asked", now=NOW, keep_from=LONG_AGO):
    return store.begin_reply(user_id, key, request, now=now, keep_from=keep_from)


def test_keys_are_kept_as_they_are_given(store):
    other = replace(KEY, key_id="k2", expires_at=None, created_at=NOW - timedelta(1), scopes=("admin",))
    store.add_key(KEY)
    store.add_key(other)
    assert (store.key("k1"), store.key("k2"), store.key("k3")) == (KEY, other, None)
    assert list(store.all_keys()) == [other, KEY]


def test_no_two_keys_have_one_id(store):
    store.add_key(KEY)
    with pytest.raises(StoreConflict):
        store.add_key(replace(KEY, name="another"))
    assert store.key("k1").name == "laptop"


def test_a_key_is_revoked_once(store):
    store.add_key(KEY)
    assert store.revoke_key("k1", now=NOW)
    assert store.key("k1").revoked_at == NOW
    assert not store.revoke_key("k1", now=NOW + timedelta(1))
    assert store.key("k1").revoked_at == NOW
    assert not store.revoke_key("k2", now=NOW)


def test_a_request_is_begun_and_its_reply_kept(store):
    assert begin(store) == KeptReply(b"asked")
    assert begin(store, request=b"something else") == KeptReply(b"asked")
    store.finish_reply("ana", "r", KeptReply(b"asked", 201, b"{}"))
    assert begin(store) == KeptReply(b"asked", 201, b"{}")


def test_what_came_to_nothing_is_forgotten_and_what_was_replied_is_not(store):
    begin(store)
    store.drop_reply("ana", "r")
    assert begin(store, request=b"another") == KeptReply(b"another")
    store.finish_reply("ana", "r", KeptReply(b"another", 200, b"1"))
    store.drop_reply("ana", "r")
    assert begin(store) == KeptReply(b"another", 200, b"1")


def test_replies_belong_to_one_user(store):
    begin(store, "ana", request=b"a")
    begin(store, "bo", request=b"b")
    store.finish_reply("ana", "r", KeptReply(b"a", 200, b"of ana"))
    assert begin(store, "bo") == KeptReply(b"b")
    assert begin(store, "ana\0") == KeptReply(b"asked")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_key_may_be_any_text(store, text):
    begin(store, key=text, request=b"1")
    assert begin(store, key=text, request=b"2") == KeptReply(b"1")
    assert begin(store, key=text + "x", request=b"2") == KeptReply(b"2")


def test_old_replies_of_all_users_are_dropped(store):
    begin(store, "ana", now=NOW - timedelta(hours=2))
    begin(store, "bo", now=NOW)
    begin(store, "cy", keep_from=NOW - timedelta(hours=1))
    assert begin(store, "ana", request=b"new") == KeptReply(b"new")
    assert begin(store, "bo", request=b"new") == KeptReply(b"asked")


def test_erasing_anything_of_a_user_drops_the_users_replies(store):
    for user in ("ana", "bo"):
        store.write(user, batch(turn("a"), turn("b")), now=NOW)
        begin(store, user)
        store.finish_reply(user, "r", KeptReply(b"asked", 200, b"words"))
    traces = tuple(trace.trace_id for trace in store.traces("ana", turn_ids=["a"]))
    store.write("ana", Batch(remove_turns=("a",), remove_traces=traces), now=NOW)
    assert begin(store, "ana", request=b"new") == KeptReply(b"new")
    assert begin(store, "bo", request=b"new") == KeptReply(b"asked", 200, b"words")
    store.delete_user("bo")
    assert begin(store, "bo", request=b"new") == KeptReply(b"new")


def test_a_reply_that_an_erasure_overtook_is_not_kept(store):
    store.write("ana", batch(turn("a")), now=NOW)
    begin(store)
    store.delete_user("ana")
    store.finish_reply("ana", "r", KeptReply(b"asked", 200, b"words"))
    assert begin(store, request=b"new") == KeptReply(b"new")
