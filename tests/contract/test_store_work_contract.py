"""What every store promises about the work of language models (``protocols.WorkQueue``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from store_kit import FACTORIES, HOSTILE, NOW, batch, claim, claimed, note, removal, trace_of, turn

from mnemic.errors import StoreClosed, StoreConflict
from mnemic.protocols import Batch, Lease, Store
from mnemic.types import Enrichment, FailedWork, Turn, WorkKind

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def give(store: Store, user_id: str, *turns: Turn, kinds: tuple[WorkKind, ...] = ("notes",), late_s: float = 0) -> None:
    """Turns, a trace each, with work on them."""
    traces = tuple(trace_of(said) for said in turns)
    due = NOW + late_s * SECOND
    store.write(user_id, replace(batch(*turns), traces=traces, work=kinds, due=due), now=NOW)


def session(name: str, *turn_ids: str) -> list[Turn]:
    return [turn(turn_id, session_id=name) for turn_id in turn_ids]


def finish(store: Store, lease: Lease, **more: Any) -> None:
    store.write(lease.user_id, replace(Batch(lease=lease, trigger="model"), **more), now=NOW)


# making work -------------------------------------------------------------------------------------------


def test_work_is_written_with_its_traces(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b"), kinds=("notes", "cues", "notes"))
    store.write("u", batch(turn("c")), now=NOW)
    store.write("u", batch(turn("d"), work=("notes",)), now=NOW)
    assert store.enrichment("u") == Enrichment(pending=4)
    assert store.enrichment("u", kinds=("cues", "episodes")) == Enrichment(pending=2)
    assert claimed(store, "cues").trace_ids == claimed(store, "notes").trace_ids == ("T1", "T2")
    assert claim(store, "episodes") is None


def test_work_of_a_write_that_fails_is_not_there(store: Store) -> None:
    give(store, "u", turn("a"))
    with pytest.raises(StoreConflict):
        give(store, "u", turn("b"), turn("a"))
    assert store.enrichment("u") == Enrichment(pending=1)


def test_repacked_traces_get_work_too(store: Store) -> None:
    a, b = turn("a"), turn("b")
    store.write("u", batch(a, work=("notes",), due=NOW), now=NOW)
    packed = batch(b, remove_traces=("T1",), work=("notes",), due=NOW)
    store.write("u", replace(packed, traces=(trace_of(a, b, ordinal=0),)), now=NOW)
    assert store.enrichment("u") == Enrichment(pending=1)
    assert claimed(store).trace_ids == ("T2",)


def test_a_repacked_trace_has_the_work_that_the_one_in_its_place_had(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b"), kinds=("notes", "cues"))
    finish(store, claimed(store, "cues", limit=1))
    store.write("u", batch(turn("c", session_id="s1")), now=NOW)
    packed = replace(batch(turn("d", session_id="s1")), remove_traces=("T1", "T2", "T3"), traces=())
    traces = tuple(trace_of(*session("s1", name), ordinal=place) for place, name in enumerate("abc"))
    store.write("u", replace(packed, traces=traces, work=("notes", "episodes"), due=NOW), now=NOW)
    assert store.enrichment("u") == Enrichment(pending=3, done=1)
    assert claimed(store, "notes").trace_ids == ("T4", "T5")
    assert claimed(store, "cues").trace_ids == ("T5",)
    assert store.withheld("u", "s1", "notes") == {"c"}
    assert store.withheld("u", "s1", "episodes") == {"a", "b", "c"}
    assert store.withheld("u", "s2", "notes") == store.withheld("v", "s1", "notes") == set()


def test_enqueue_makes_only_what_never_was(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b", "c"))
    store.write("u", batch(turn("d")), now=NOW)
    finish(store, claimed(store, limit=1))
    store.release(claimed(store, limit=1), due=None, reason="nonsense")
    before = store.revision("u")
    assert store.enqueue("u", ("notes", "cues", "cues"), due=NOW + SECOND) == 1 + 4
    assert store.enrichment("u") == Enrichment(6, 0, 1, 1, (FailedWork("notes", 1, "nonsense"),))
    assert store.enqueue("u", ("notes", "cues"), due=NOW) == 0
    assert store.enqueue("stranger", ("notes",), due=NOW) == 0
    assert store.enqueue("u", (), due=NOW) == 0
    assert claim(store, "cues") is None
    assert claimed(store, "cues", now=NOW + SECOND).trace_ids == ("T1", "T2", "T3", "T4")
    assert store.revision("u") == before
    assert store.users() == ["u"]


# claiming ----------------------------------------------------------------------------------------------


def test_a_lease_says_all_about_its_work(store: Store) -> None:
    give(store, "u\0\ud800", *session("s\ud800", "a", "b"), kinds=("episodes",))
    assert claimed(store, "notes", "episodes", token="x" * 32) == Lease(
        token="x" * 32,
        user_id="u\0\ud800",
        session_id="s\ud800",
        kind="episodes",
        trace_ids=("T1", "T2"),
        attempts=1,
    )


def test_what_is_due_longest_comes_first_with_all_that_waits_of_its_session(store: Store) -> None:
    give(store, "u", *session("x", "a"), late_s=3)
    give(store, "u", *session("y", "b"), late_s=1)
    give(store, "u", *session("x", "c"), late_s=2)
    give(store, "u", *session("y", "d"), late_s=99)
    taken: list[tuple[str, tuple[str, ...]]] = []
    for number in range(2):
        lease = claimed(store, token=str(number), now=NOW + 5 * SECOND)
        taken.append((lease.session_id, lease.trace_ids))
        finish(store, lease)
    assert taken == [("y", ("T2", "T4")), ("x", ("T1", "T3"))]
    assert claim(store, token="last", now=NOW + 100 * SECOND) is None


def test_traces_come_in_the_order_of_the_dialogue_and_no_more_than_asked_for(store: Store) -> None:
    said = session("s", "a", "b", "c")
    give(store, "u", *said)
    again = Batch(traces=(trace_of(said[0], ordinal=0),), remove_traces=("T1",), work=("notes",), due=NOW)
    store.write("u", again, now=NOW)
    lease = claimed(store, limit=2)
    assert lease.trace_ids == ("T4", "T2")
    finish(store, lease)
    assert claimed(store, token="next").trace_ids == ("T3",)


def test_nothing_is_claimed_before_it_is_due_but_in_a_hurry(store: Store) -> None:
    give(store, "u", turn("a"), late_s=60)
    assert claim(store, now=NOW + 59 * SECOND) is None
    assert claimed(store, now=NOW + 60 * SECOND, token="due").trace_ids == ("T1",)
    give(store, "v", turn("a"), late_s=60)
    assert claim(store) is None
    assert claimed(store, hurry=True, token="hurry").user_id == "v"


def test_one_lease_of_a_kind_a_user(store: Store) -> None:
    for user_id in ("u", "v"):
        give(store, user_id, *session("x", "a"), *session("y", "b"), kinds=("notes", "cues"))
    leases = [claim(store, "notes", "cues", token=str(number)) for number in range(5)]
    assert {(lease.user_id, lease.kind) for lease in leases if lease} == {
        (user_id, kind) for user_id in ("u", "v") for kind in ("notes", "cues")
    }
    assert leases[4] is None
    assert claim(store, "notes", token="hurry", hurry=True) is None
    assert leases[0] is not None
    finish(store, leases[0])
    freed = claimed(store, "notes", "cues", token="freed")
    assert (freed.user_id, freed.kind, freed.session_id) == (leases[0].user_id, leases[0].kind, "y")


def test_of_one_user_only(store: Store) -> None:
    for user_id in ("ana", "Ana", "ana%"):
        give(store, user_id, turn("a"))
    assert claim(store, user_id="an_") is None
    assert claim(store, user_id="") is None
    assert claimed(store, user_id="ana%").user_id == "ana%"
    assert claim(store, user_id="ana%", token="again") is None
    assert claimed(store, user_id="ana", token="of ana").user_id == "ana"


def test_a_lease_that_ran_out_is_claimed_again(store: Store) -> None:
    give(store, "u", *session("x", "a", "b"), *session("y", "c"))
    first = claimed(store, lasts_s=60)
    assert claim(store, token="too early", now=NOW + 59 * SECOND) is None
    give(store, "u", *session("x", "d"))
    # What waited before the lease ran out is due longer.
    other = claimed(store, token="other", now=NOW + 60 * SECOND)
    assert (other.session_id, other.trace_ids) == ("y", ("T3",))
    store.release(other, due=NOW + 90 * SECOND, reason="busy")
    second = claimed(store, token="second", now=NOW + 61 * SECOND)
    assert (second.trace_ids, second.attempts) == (("T1", "T2", "T4"), 2)
    assert store.leased(first) == ()
    assert store.leased(second) == second.trace_ids


def test_a_silent_lease_is_claimed_again_whenever_it_runs_out(store: Store) -> None:
    give(store, "u", *session("x", "a", "b"))
    give(store, "v", turn("c"))
    ahead = NOW + 60 * MINUTE  # a clock that was set back since
    first, other = (claimed(store, token=token, now=ahead, lasts_s=60) for token in ("first", "other"))
    assert store.leases() == dict.fromkeys(("first", "other"), ahead + MINUTE)
    assert claim(store, token="none", silent={"nobody's"}) is None
    second = claimed(store, token="second", silent={"first"})
    assert (second.user_id, second.trace_ids, second.attempts) == (first.user_id, first.trace_ids, 2)
    assert (store.leased(first), store.leased(other)) == ((), other.trace_ids)
    finish(store, second)
    assert store.leases() == {"other": ahead + MINUTE}


def test_who_finds_nothing_changes_nothing(store: Store) -> None:
    assert claim(store) is None
    give(store, "u", turn("a"))
    before = store.load("u", since=0)
    lease = claimed(store)
    assert claim(store, token="none") is None
    assert store.load("u", since=0) == before
    assert store.leased(replace(lease, token="none")) == ()


@pytest.fixture(params=FACTORIES)
def both(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Store]]:
    """Two on one place, as two processes have it."""
    stores = (FACTORIES[request.param](tmp_path), FACTORIES[request.param](tmp_path))
    yield stores
    for store in stores:
        store.close()


def test_two_never_hold_the_same_work(both: tuple[Store, Store]) -> None:
    users = [f"u{number}" for number in range(4)]
    for user_id in users:
        for name in "xyz":
            give(both[0], user_id, *session(name, f"{name}1", f"{name}2"))
    tokens = count()

    def work(worker: int) -> list[tuple[str, str]]:
        store, done = both[worker % 2], []
        while lease := claim(store, token=f"{worker} {next(tokens)}"):
            made = tuple(note(f"of {trace_id}") for trace_id in lease.trace_ids)
            finish(store, lease, notes=made)
            done += [(lease.user_id, trace_id) for trace_id in lease.trace_ids]
        return done

    with ThreadPoolExecutor(4) as pool:
        done = [one for its in pool.map(work, range(4)) for one in its]
    # A worker may have stopped while another held the rest of a user.
    done += work(5)
    everything = sorted((user_id, f"T{number}") for user_id in users for number in range(1, 7))
    assert sorted(done) == everything
    for user_id in users:
        assert sorted(found.text for found in both[1].notes(user_id)) == [f"of T{number}" for number in range(1, 7)]
    assert both[0].enrichment(None) == both[1].enrichment(None) == Enrichment(done=len(everything))


# finishing ---------------------------------------------------------------------------------------------


def test_the_write_of_what_came_of_it_finishes_it(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b"), kinds=("notes", "cues"))
    lease = claimed(store)
    assert store.enrichment("u") == Enrichment(pending=2, running=2)
    finish(store, lease, notes=(note("n", turn("a")),))
    assert [found.text for found in store.notes("u")] == ["n"]
    assert store.enrichment("u") == Enrichment(pending=2, done=2)
    assert store.leased(lease) == ()


def test_done_stays_done(store: Store) -> None:
    give(store, "u", turn("a"))
    lease = claimed(store)
    finish(store, lease)
    assert claim(store, token="again", now=NOW + 99 * MINUTE, hurry=True) is None
    store.release(lease, due=NOW, reason="too late")
    assert store.retry("u", now=NOW) == store.retry(None, now=NOW) == 0
    assert store.enqueue("u", ("notes",), due=NOW) == 0
    assert store.enrichment("u") == Enrichment(done=1)
    with pytest.raises(StoreConflict):
        finish(store, lease)


def _run_out(store: Store, lease: Lease) -> Lease:
    assert store.leased(lease) == lease.trace_ids
    return lease


def _claimed_by_another(store: Store, lease: Lease) -> Lease:
    claimed(store, token="another", lasts_s=120)
    return lease


def _with_an_erased_trace(store: Store, lease: Lease) -> Lease:
    store.write("u", removal(store, "u", "b"), now=NOW)
    return lease


def _released(store: Store, lease: Lease) -> Lease:
    store.release(lease, due=NOW, reason="busy", trace_ids=("T2",))
    return lease


def _of_an_erased_user(store: Store, lease: Lease) -> Lease:
    store.delete_user("u")
    return lease


def _of_another_token(store: Store, lease: Lease) -> Lease:
    return replace(lease, token="guess")


def _of_less_than_it_holds(store: Store, lease: Lease) -> Lease:
    return replace(lease, trace_ids=("T1",))


LOST: dict[str, tuple[float, Callable[[Store, Lease], Lease]]] = {
    "ran out": (0, _run_out),
    "claimed by another": (0, _claimed_by_another),
    "a trace erased": (60, _with_an_erased_trace),
    "partly released": (60, _released),
    "user erased": (60, _of_an_erased_user),
    "never given": (60, _of_another_token),
    "not all of it": (60, _of_less_than_it_holds),
}


@pytest.mark.parametrize("reason", LOST)
def test_a_lease_that_does_not_hold_its_work_any_more_stores_nothing(store: Store, reason: str) -> None:
    give(store, "u", *session("s1", "a", "b"))
    lasts_s, lose = LOST[reason]
    lease = lose(store, claimed(store, lasts_s=lasts_s))
    before = (store.load("u", since=0), store.operations("u"), store.enrichment("u"), store.users())
    made = Batch(turns=(turn("new"),), notes=(note("n"),), lease=lease, idempotency_key="key")
    with pytest.raises(StoreConflict, match="leased"):
        store.write("u", made, now=NOW)
    assert (store.load("u", since=0), store.operations("u"), store.enrichment("u"), store.users()) == before
    assert store.request("u", "key") is None


def test_a_lease_finishes_the_work_of_its_user_only(store: Store) -> None:
    give(store, "u", turn("a"))
    lease = claimed(store)
    with pytest.raises(StoreConflict):
        store.write("v", Batch(lease=lease), now=NOW)
    assert store.users() == ["u"]
    assert store.leased(lease) == ("T1",)


def test_what_is_left_of_a_lease_may_be_finished(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b", "c"))
    lease = claimed(store)
    store.release(lease, due=None, reason="refused", trace_ids=("T2",))
    assert store.leased(lease) == ("T1", "T3")
    finish(store, replace(lease, trace_ids=store.leased(lease)))
    assert store.enrichment("u") == Enrichment(done=2, failed=1, failures=(FailedWork("notes", 1, "refused"),))


# giving back -------------------------------------------------------------------------------------------


def test_work_given_back_waits_until_it_is_due(store: Store) -> None:
    give(store, "u", turn("a"))
    lease = claimed(store)
    store.release(lease, due=NOW + 5 * SECOND, reason="busy\ud800")
    assert store.enrichment("u") == Enrichment(pending=1, waiting_for=("busy\ud800",))
    assert claim(store, token="early", now=NOW + 4 * SECOND) is None
    again = claimed(store, token="again", now=NOW + 5 * SECOND)
    assert again.attempts == 2
    store.release(again, due=NOW, reason="no fault of its own", counts=False)
    assert claimed(store, token="third").attempts == 2
    assert store.enrichment("u") == Enrichment(running=1)


def test_work_given_back_for_good_has_failed(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b", "c"), kinds=("notes",))
    lease = claimed(store)
    store.release(lease, due=None, reason="nonsense", trace_ids=("T1", "T3", "T9", "none"))
    store.release(lease, due=NOW, reason="busy")
    assert store.enrichment("u") == Enrichment(
        pending=1, failed=2, failures=(FailedWork("notes", 2, "nonsense"),), waiting_for=("busy",)
    )
    assert claimed(store, token="next", hurry=True).trace_ids == ("T2",)


def test_what_a_lease_holds_no_more_is_left_alone(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b"))
    old = claimed(store, lasts_s=0)
    new = claimed(store, token="new")
    store.release(old, due=None, reason="too late")
    assert store.leased(new) == ("T1", "T2")
    assert store.enrichment("u") == Enrichment(running=2)


def test_attempts_are_those_of_what_was_begun_most_often(store: Store) -> None:
    give(store, "u", turn("a"))
    for number in range(3):
        store.release(claimed(store, token=str(number)), due=NOW, reason="busy")
    give(store, "u", turn("b"))
    lease = claimed(store, token="both")
    assert (lease.trace_ids, lease.attempts) == (("T1", "T2"), 4)
    store.release(lease, due=None, reason="nonsense", trace_ids=("T1",))
    store.release(lease, due=NOW, reason="busy")
    assert claimed(store, token="the other").attempts == 2


def test_retry_lets_failed_and_put_off_work_be_done_at_once(store: Store) -> None:
    for user_id in ("u", "v"):
        give(store, user_id, *session("s1", "a", "b", "c"))
        lease = claimed(store, user_id=user_id, token=user_id)
        store.release(lease, due=None, reason="nonsense", trace_ids=("T1",))
        store.release(lease, due=NOW + MINUTE, reason="busy", trace_ids=("T2",))
    give(store, "u", turn("late"), late_s=60)
    assert store.retry("stranger", now=NOW) == 0
    assert store.retry("u", now=NOW) == 2
    assert store.enrichment("u") == Enrichment(pending=3, running=1)
    assert store.enrichment("v").failed == 1
    # The work that is held was not given back, and that of the new trace was not put off.
    store.release(replace(lease, user_id="u", token="u"), due=NOW + MINUTE, reason="busy")
    again = claimed(store, user_id="u", token="again")
    assert (again.trace_ids, again.attempts) == (("T1", "T2", "T4"), 1)
    store.release(again, due=NOW, reason="busy", counts=False)
    assert store.retry(None, now=NOW) == 4 + 2


def test_a_hurry_takes_what_is_not_due_but_not_what_was_put_off(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b"), late_s=60)
    store.release(claimed(store, hurry=True, limit=1), due=NOW + MINUTE, reason="busy")
    assert claimed(store, hurry=True, token="next").trace_ids == ("T2",)
    assert store.claim(("notes",), token="none", now=NOW, until=NOW + MINUTE, hurry=True) is None


def test_a_lease_that_is_extended_runs_longer(store: Store) -> None:
    give(store, "u", turn("a"))
    lease = claimed(store)
    store.extend(lease, until=NOW + 3 * MINUTE)
    later = {"now": NOW + 2 * MINUTE, "until": NOW + 9 * MINUTE}
    assert store.claim(("notes",), token="other", **later) is None
    store.extend(replace(lease, token="somebody else's"), until=NOW)
    assert store.claim(("notes",), token="other", **later) is None


def test_a_lease_that_ran_out_is_not_extended_beside_another(store: Store) -> None:
    give(store, "u", *session("x", "a"), *session("y", "b"))
    late = claimed(store, lasts_s=60)
    store.extend(late, until=NOW + 2 * MINUTE)
    assert claim(store, token="too early", now=NOW + 119 * SECOND) is None
    other = claimed(store, token="other", now=NOW + 2 * MINUTE, lasts_s=60)
    assert other.session_id == "y"
    store.extend(late, until=NOW + 99 * MINUTE)
    with pytest.raises(StoreConflict):
        store.write("u", Batch(lease=late), now=NOW + 2 * MINUTE)
    store.write("u", Batch(lease=other), now=NOW + 2 * MINUTE)
    # Nobody is in its way any more.
    store.extend(late, until=NOW + 99 * MINUTE)
    store.write("u", Batch(lease=late), now=NOW + 3 * MINUTE)
    assert store.enrichment("u") == Enrichment(done=2)


# how far it is -----------------------------------------------------------------------------------------


def test_enrichment_of_a_user_and_of_the_database(store: Store) -> None:
    assert store.enrichment(None) == store.enrichment("u") == Enrichment()
    give(store, "u", *session("s1", "a", "b"), kinds=("notes", "cues"))
    give(store, "v", turn("a"), kinds=("episodes", "notes"))
    finish(store, claimed(store, "cues", token="1"))
    store.release(claimed(store, "notes", user_id="u", token="2"), due=NOW, reason="budget")
    store.release(claimed(store, "notes", user_id="v", token="3"), due=None, reason="z")
    store.release(claimed(store, "episodes", user_id="v", token="4"), due=None, reason="a")
    of_v = (FailedWork("episodes", 1, "a"), FailedWork("notes", 1, "z"))
    assert store.enrichment("u") == Enrichment(pending=2, done=2, waiting_for=("budget",))
    assert store.enrichment("v") == Enrichment(failed=2, failures=of_v)
    assert store.enrichment(None) == Enrichment(2, 0, 2, 2, of_v, ("budget",))


def test_users_are_told_apart(store: Store) -> None:
    for user_id in HOSTILE:
        give(store, user_id, turn(user_id, session_id=user_id))
    for number, user_id in enumerate(HOSTILE):
        lease = claimed(store, user_id=user_id, token=str(number))
        assert (lease.user_id, lease.session_id) == (user_id, user_id)
        finish(store, lease)
        assert [other for other in HOSTILE if store.enrichment(other).done] == list(HOSTILE[: number + 1])


# erasing -----------------------------------------------------------------------------------------------


def test_work_goes_with_its_trace(store: Store) -> None:
    give(store, "u", *session("s1", "a", "b", "c"), kinds=("notes", "cues"))
    finish(store, claimed(store, "cues"))
    lease = claimed(store, token="notes")
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert store.leased(lease) == ("T1", "T3")
    assert store.enrichment("u") == Enrichment(running=2, done=2)
    finish(store, replace(lease, trace_ids=("T1", "T3")))
    store.write("u", removal(store, "u", "a", "c"), now=NOW)
    assert store.enrichment(None) == Enrichment()


def test_work_goes_with_its_user_and_does_not_bring_him_back(store: Store) -> None:
    for user_id in ("ana", "Ana"):
        give(store, user_id, *session("s1", "a", "b"))
    lease = claimed(store, user_id="ana")
    store.delete_user("ana")
    assert store.enrichment(None) == store.enrichment("Ana") == Enrichment(pending=2)
    assert store.leased(lease) == ()
    store.release(lease, due=NOW, reason="busy")
    with pytest.raises(StoreConflict):
        finish(store, lease)
    assert store.retry("ana", now=NOW) == store.enqueue("ana", ("notes",), due=NOW) == 0
    assert claim(store, user_id="ana", token="again", hurry=True) is None
    assert store.users() == ["Ana"]


def test_after_close_the_queue_says_so(store: Store) -> None:
    give(store, "u", turn("a"))
    lease = claimed(store)
    store.close()
    calls: list[Callable[[], object]] = [
        lambda: claim(store),
        lambda: store.enqueue("u", ("notes",), due=NOW),
        lambda: store.leased(lease),
        lambda: store.release(lease, due=NOW, reason="busy"),
        lambda: store.retry(None, now=NOW),
        lambda: store.enrichment(None),
    ]
    for call in calls:
        with pytest.raises(StoreClosed):
            call()
