"""What is sent again: message ids, idempotency keys, whole histories, and words that were meant twice."""

from __future__ import annotations

import threading

import pytest

from mnemic.errors import InvalidInput, InvalidMessage, InvalidScope
from mnemic.models.doubles import HashEmbedder


def user(text, **more):
    return {"role": "user", "content": text, **more}


def bot(text):
    return {"role": "assistant", "content": text}


def texts(memory, **given):
    return [turn.text for turn in memory.get_all(user_id="u", **given)]


def test_two_people_saying_ok_twice_are_four_turns(memory):
    for _ in range(2):
        memory.add([user("ok", name="Ana"), user("ok", name="Bo")], user_id="u")
    assert texts(memory) == ["ok"] * 4


@pytest.mark.fault("B090")
def test_near_copies_are_both_kept(memory):
    memory.add("The key is under the red pot.", user_id="u")
    memory.add("The key is under the red mat.", user_id="u")
    assert texts(memory) == ["The key is under the red pot.", "The key is under the red mat."]
    assert len(memory.search("Where is the key?", user_id="u", granularity="turn").results) == 2


# message ids -------------------------------------------------------------------------------------------


def test_a_known_message_adds_nothing(memory):
    first = memory.add([user("one", id="1"), user("two", id="2")], user_id="u")
    again = memory.add([user("two", id="2"), user("three", id=3)], user_id="u")
    assert (first.turn_ids, first.new) == (("1", "2"), 2)
    assert (again.turn_ids, again.new, again.warnings) == (("2", "3"), 1, ())
    assert memory.add([user("one", id="1")], user_id="u").new == 0
    assert texts(memory) == ["one", "two", "three"]
    assert memory.add([user("one", id="1")], user_id="other").new == 1


@pytest.mark.fault("B090")
def test_other_words_under_a_known_id_are_refused_aloud(memory):
    memory.add([user("one", id="1"), user("two", id="2")], user_id="u")
    again = memory.add([user("ONE", id="1"), user("two", id="2"), user("new", id="3")], user_id="u")
    assert (again.turn_ids, again.new) == (("1", "2", "3"), 1)
    (warning,) = again.warnings
    assert "messages not stored: 1" in warning
    assert "'1'" in warning
    assert texts(memory) == ["one", "two", "new"]


def test_an_id_twice_in_one_call_is_an_error(memory):
    with pytest.raises(InvalidMessage, match=r"messages\[1\].*messages\[0\]"):
        memory.add([user("one", id="1"), user("two", id="1")], user_id="u")
    assert texts(memory) == []


# idempotency keys --------------------------------------------------------------------------------------


def test_a_key_makes_a_repeat_of_the_call_add_nothing(memory):
    first = memory.add([user("ok"), user("ok")], user_id="u", idempotency_key="k")
    again = memory.add([user("ok"), user("ok")], user_id="u", idempotency_key="k")
    assert (again.turn_ids, again.new, first.new) == (first.turn_ids, 0, 2)
    memory.add(user("ok"), user_id="u", idempotency_key="K")
    memory.add(user("ok"), user_id="v", idempotency_key="k")
    assert texts(memory) == ["ok"] * 3
    assert len(memory.get_all(user_id="v")) == 1


@pytest.mark.parametrize("other", [["two"], ["one", "two"], [{"role": "assistant", "content": "one"}]])
def test_other_words_under_a_known_key_are_refused_aloud(open_memory, other):
    memory = open_memory()
    memory.add("one", user_id="u", idempotency_key="k")
    assert memory.add("one", user_id="u", idempotency_key="k").warnings == ()
    sent = [message if isinstance(message, dict) else user(message) for message in other]
    added = memory.add(sent, user_id="u", idempotency_key="k")
    assert added.new == 0
    (warning,) = added.warnings
    assert warning.startswith("messages not stored: 1;")
    assert texts(memory) == ["one"]


def test_a_known_key_keeps_the_memorys_own_warnings(memory):
    memory._writer._warnings = ("something about all of it",)
    memory.add("one", user_id="u", idempotency_key="k")
    assert memory.add("one", user_id="u", idempotency_key="k").warnings == ("something about all of it",)


def test_a_key_for_known_messages_and_for_none(memory):
    memory.add(user("one", id="1"), user_id="u")
    assert memory.add(user("one", id="1"), user_id="u", idempotency_key="k").new == 0
    assert memory.add([user("two"), user("three")], user_id="u", idempotency_key="k").turn_ids == ("1",)
    assert memory.add([], user_id="u", idempotency_key="none").turn_ids == ()
    assert memory.add(user("four"), user_id="u", idempotency_key="none").turn_ids == ()
    assert texts(memory) == ["one"]


def test_a_key_outlives_the_memory_and_part_of_its_turns(open_memory):
    with open_memory() as memory:
        first = memory.add([user("one"), user("two")], user_id="u", idempotency_key="k")
        memory.delete(user_id="u", turn_id=first.turn_ids[0])
    memory = open_memory()
    again = memory.add([user("one"), user("two")], user_id="u", idempotency_key="k")
    assert (again.turn_ids, again.new) == (first.turn_ids[1:], 0)
    memory.delete(user_id="u", turn_id=first.turn_ids[1])
    assert memory.add([user("one"), user("two")], user_id="u", idempotency_key="k").new == 2


@pytest.mark.parametrize("key", ["", " ", 5, "x" * 513])
def test_what_is_no_key(memory, key):
    with pytest.raises(InvalidScope, match="idempotency_key"):
        memory.add("one", user_id="u", idempotency_key=key)
    assert texts(memory) == []


@pytest.mark.fault("B121")
def test_one_call_sent_twice_at_the_same_time_adds_once(open_memory):
    memories = [open_memory(), open_memory()]
    start = threading.Barrier(8)
    added = []

    def send(n):
        start.wait()
        added.append(memories[n % 2].add([user("ok"), user("fine")], user_id="u", idempotency_key="k"))

    threads = [threading.Thread(target=send, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(one.new for one in added) == [0] * 7 + [2]
    assert len({one.turn_ids for one in added}) == 1
    assert texts(memories[0]) == ["ok", "fine"]


# whole histories ---------------------------------------------------------------------------------------


def test_a_growing_history_is_stored_once(memory):
    said = [user("hi"), bot("hello"), user("ok"), user("ok"), bot("bye"), user("hi")]
    seen = []
    for length in range(1, len(said) + 1):
        added = memory.add(said[:length], user_id="u", resend="prefix")
        assert added.new == 1
        assert added.turn_ids[:-1] == tuple(seen)
        seen = added.turn_ids
    assert texts(memory) == [message["content"] for message in said]
    assert memory.add(said, user_id="u", resend="prefix").turn_ids == seen
    assert memory.add(said[:3], user_id="u", resend="prefix").new == 0
    assert texts(memory) == [message["content"] for message in said]


def test_a_history_whose_beginning_was_cut(memory):
    said = [user(f"message {n}") for n in range(10)]
    memory.add(said[:6], user_id="u", resend="prefix")
    assert memory.add(said[3:8], user_id="u", resend="prefix").new == 2
    assert memory.add(said[4:7], user_id="u", resend="prefix").new == 0
    assert texts(memory) == [message["content"] for message in said[:8]]


def test_of_an_edited_history_only_what_is_new_is_added(memory):
    memory.add([user("hi"), bot("hello"), user("my cat is ill")], user_id="u", resend="prefix")
    edited = [user("hi"), bot("hello"), user("my dog is ill"), bot("oh no")]
    assert memory.add(edited, user_id="u", resend="prefix").new == 2
    assert texts(memory) == ["hi", "hello", "my cat is ill", "my dog is ill", "oh no"]
    assert memory.add([*edited, user("thanks")], user_id="u", resend="prefix").new == 1


def test_instructions_that_differ_each_time_do_not_store_the_dialogue_again(memory):
    dialogue = [user("hi"), bot("hello"), user("my cat is ill"), bot("oh no")]
    for length in range(1, 5):
        system = {"role": "system", "content": f"It is {length} o'clock."}
        added = memory.add([system, *dialogue[:length]], user_id="u", resend="prefix")
        assert (added.new, len(added.turn_ids)) == (2, length + 1)
        assert memory.add([system, *dialogue[:length]], user_id="u", resend="prefix").turn_ids == added.turn_ids
    assert [turn.text for turn in memory.get_all(user_id="u") if turn.role != "system"] == [
        message["content"] for message in dialogue
    ]


def test_two_pictures_without_words_are_two_messages(memory):
    for n in range(2):
        picture = {"type": "image_url", "image_url": {"url": f"https://example.org/{n}.png"}}
        assert memory.add(user([picture]), user_id="u", resend="prefix").new == 1


def test_the_ids_of_a_call_are_in_the_order_of_its_messages(memory):
    sent = [user(f"{n}", id=f"i{n}", session_id=f"s{n % 2}") for n in range(5)]
    memory.add(sent[:2], user_id="u", resend="prefix")
    assert memory.add(sent, user_id="u", resend="prefix").turn_ids == ("i0", "i1", "i2", "i3", "i4")


def test_histories_are_told_apart_by_session_speaker_and_role(memory):
    memory.add([user("ok")], user_id="u", session_id="s", resend="prefix")
    assert memory.add([user("ok")], user_id="u", session_id="t", resend="prefix").new == 1
    assert memory.add([user("ok", name="Ana")], user_id="u", session_id="s", resend="prefix").new == 1
    assert memory.add([bot("ok")], user_id="u", session_id="s", resend="prefix").new == 1
    both = [user("ok", session_id="t"), user("no", session_id="s"), user("more", session_id="t")]
    assert memory.add(both, user_id="u", resend="prefix").new == 2
    assert texts(memory, session_id="t") == ["ok", "more"]


def test_without_resend_a_history_sent_again_is_said_again(memory):
    memory.add([user("hi")], user_id="u")
    memory.add([user("hi"), bot("hello")], user_id="u")
    assert texts(memory) == ["hi", "hi", "hello"]


def test_two_clients_resending_at_once_store_each_message_once(open_memory):
    said = [user(f"message {n}") for n in range(12)]
    memories = [open_memory(embedder=None), open_memory(embedder=None)]

    def send(memory):
        for length in range(1, len(said) + 1):
            memory.add(said[:length], user_id="u", resend="prefix")

    threads = [threading.Thread(target=send, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts(memories[0]) == [message["content"] for message in said]


@pytest.mark.parametrize("resend", ["Prefix", "", True, 1])
def test_what_is_no_way_to_resend(memory, resend):
    with pytest.raises(InvalidInput, match="resend"):
        memory.add("x", user_id="u", resend=resend)


@pytest.mark.fault("B039")
def test_recalled_context_that_is_sent_back_does_not_go_before_its_source(open_memory):
    memory = open_memory(embedder=HashEmbedder(256))
    memory.add("My barge Aurora is moored at Rotterdam.", user_id="u", session_id="facts")
    for _ in range(20):
        block = memory.context("Where is my barge Aurora moored?", user_id="u", max_tokens=500)
        assert block.startswith("<memory>\n[1] session facts")
        memory.add(f"{block}\nWhere is it?", user_id="u", session_id="agent")
    assert len(memory.get_all(user_id="u")) == 21
