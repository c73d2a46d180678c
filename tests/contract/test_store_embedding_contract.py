"""What any store promises about leases on missing vectors."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
from store_kit import NOW, batch, turn

from mnemic.protocols import Batch
from mnemic.types import Task

SOON = NOW + timedelta(minutes=5)
LATER = NOW + timedelta(minutes=6)


def waiting(store, *users):
    for user in users:
        store.write(user, batch(turn("a"), turn("b")), now=NOW)
        store.write(user, Batch(tasks=(Task("embed", "a"), Task("embed", "b"))), now=NOW)


def claim(store, token, *, now=NOW, **given):
    return store.claim_embedding(token=token, now=now, until=now + timedelta(minutes=5), **given)


def test_each_user_is_leased_once(store):
    waiting(store, "ana", "bo")
    assert [claim(store, token).user_id for token in ("1", "2")] == ["ana", "bo"]
    assert claim(store, "3") is None
    assert claim(store, "4", user_id="ana", hurry=True) is None


def test_nobody_is_leased_of_whom_nothing_waits(store):
    assert claim(store, "1") is None
    store.write("ana", batch(turn("a")), now=NOW)
    assert claim(store, "2") is None
    assert claim(store, "3", user_id="ana") is None


def test_a_lease_that_ran_out_is_somebody_elses(store):
    waiting(store, "ana")
    first = claim(store, "1")
    assert (first.attempts, claim(store, "2", now=SOON - timedelta(seconds=1))) == (1, None)
    second = claim(store, "3", now=SOON)
    assert (second.user_id, second.attempts) == ("ana", 2)
    assert not store.extend_embedding(first, until=LATER)
    store.release_embedding(first, due=NOW)
    assert claim(store, "4", now=SOON) is None
    assert store.extend_embedding(second, until=SOON + timedelta(minutes=9))
    assert claim(store, "5", now=SOON + timedelta(minutes=8)) is None


def test_a_silent_lease_is_somebody_elses_whenever_it_runs_out(store):
    waiting(store, "ana", "bo")
    first = claim(store, "1", now=LATER)  # and the clock was set back since
    assert store.embedding_leases() == {"1": LATER + timedelta(minutes=5)}
    assert claim(store, "2", user_id="ana", hurry=True, silent={"9"}) is None
    second = claim(store, "3", user_id="ana", silent={"1"})
    assert (second.attempts, store.extend_embedding(first, until=LATER)) == (2, False)
    assert store.embedding_leases() == {"3": SOON}
    store.release_embedding(second, due=NOW)
    assert store.embedding_leases() == {}


def test_what_is_put_off_waits_unless_it_is_in_a_hurry(store):
    waiting(store, "ana", "bo")
    store.release_embedding(claim(store, "1"), due=LATER, reason="it failed")
    assert store.put_off("ana") == store.put_off(None) == ("it failed",)
    assert store.put_off("bo") == ()
    assert claim(store, "2", user_id="ana") is None
    again = claim(store, "3", user_id="ana", hurry=True)
    assert (again.attempts, store.put_off("ana")) == (2, ())


def test_an_attempt_that_does_not_count(store):
    waiting(store, "ana")
    store.release_embedding(claim(store, "1"), due=NOW, counts=False)
    assert store.put_off("ana") == ()
    assert claim(store, "2").attempts == 1


def vectors(store, user, *turn_ids):
    rows = {turn_id: np.ones((len(store.units(user, [turn_id])), 2), np.float32) for turn_id in turn_ids}
    traces = {trace.trace_id: np.ones(2, np.float32) for trace in store.traces(user, turn_ids=list(turn_ids))}
    keys = {key for unit in store.units(user, list(turn_ids)) for key in unit.cues}
    notes = {note.note_id: np.ones(2, np.float32) for note in store.notes(user)}
    store.put_vectors(
        user, "fp", units=rows, traces=traces, cues=dict.fromkeys(keys, np.ones(2, np.float32)), notes=notes
    )


def test_finishing_ends_the_tasks_of_what_lacks_nothing(store):
    waiting(store, "ana", "bo")
    store.write("ana", Batch(tasks=(Task("embed", "T99"),)), now=NOW)  # of something that is gone
    lease = claim(store, "1", user_id="ana")
    vectors(store, "ana", "a", "b")
    assert store.pending("ana") == 1
    assert store.finish_embedding(lease, "fp") is True
    assert (store.pending("ana"), store.pending("bo"), store.pending(None)) == (0, 2, 2)
    assert claim(store, "2").user_id == "bo"


def test_finishing_leaves_what_came_meanwhile(store):
    waiting(store, "ana")
    lease = claim(store, "1")
    vectors(store, "ana", "a")
    assert store.finish_embedding(lease, "fp") is False
    assert store.pending("ana") == 1
    store.release_embedding(lease, due=NOW, counts=False)
    assert claim(store, "2").user_id == "ana"


def test_a_lease_that_is_lost_finishes_nothing(store):
    waiting(store, "ana")
    lost = claim(store, "1")
    held = claim(store, "2", now=SOON)
    vectors(store, "ana", "a", "b")
    store.write("ana", Batch(tasks=(Task("embed", "T99"),)), now=NOW)
    assert store.finish_embedding(lost, "fp") is False
    assert store.pending("ana") == 1
    assert store.extend_embedding(held, until=LATER)


def test_a_lease_goes_with_its_user(store):
    waiting(store, "ana")
    lease = claim(store, "1")
    store.delete_user("ana")
    assert not store.extend_embedding(lease, until=LATER)
    assert store.finish_embedding(lease, "fp") is False
    assert (store.pending(None), claim(store, "2")) == (0, None)
