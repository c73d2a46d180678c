"""What every store promises about episodes: stored whole, never edited, and gone with any of their turns."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from store_kit import HOSTILE, NOW, batch, claim, claimed, episode, fresh, removal, turn

from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, Store
from mnemic.types import Enrichment, Episode, Interval, Turn

HOUR = timedelta(hours=1)
a, b, c, d = (turn(turn_id) for turn_id in "abcd")


def tell(store: Store, *turns: Turn, user_id: str = "u") -> None:
    for said in turns:
        store.write(user_id, batch(said), now=NOW)


def cut(store: Store, *made: Episode, user_id: str = "u", **more: object) -> tuple[str, ...]:
    return store.write(user_id, replace(Batch(episodes=made), **more), now=NOW).episode_ids


# writing and reading -----------------------------------------------------------------------------------


def test_an_episode_comes_back_as_given(store: Store) -> None:
    said = [turn(f"t{i}", timestamp=NOW + i * HOUR) for i in range(3)]
    made = episode(*said, topic="Tea", summary="Ana likes tea.", made_by="openai:gpt")
    written = store.write("u", replace(batch(*said), episodes=(made,)), now=NOW + HOUR)
    (found,) = store.episodes("u")
    assert found == replace(
        made, episode_id=written.episode_ids[0], time=Interval(NOW, NOW + 2 * HOUR), recorded_at=NOW + HOUR
    )
    assert fresh(store, "u").episodes == {found.episode_id: found}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_words_survive_and_are_told_apart(store: Store, text: str) -> None:
    for other in HOSTILE:
        tell(store, turn(other, session_id=other))
        cut(store, episode(turn(other, session_id=other), topic=other, summary=other, made_by=other))
    (found,) = store.episodes("u", session_id=text)
    assert (found.session_id, found.turn_ids, found.topic, found.summary, found.made_by) == (
        text,
        (text,),
        text,
        text,
        text,
    )
    assert store.episodes("u", episode_ids=[found.episode_id]) == [found]
    assert store.episodes("u", episode_ids=[text]) == []
    store.write("u", removal(store, "u", text), now=NOW)
    assert [left.topic for left in store.episodes("u")] == [other for other in HOSTILE if other != text]


def test_episodes_come_in_the_order_of_the_dialogue(store: Store) -> None:
    e = turn("e", session_id="s2")
    tell(store, a, b, e, c, d)
    last, first = cut(store, episode(d, topic="last"), episode(a, b, topic="first"))
    (other,) = cut(store, episode(e, topic="other"))
    (middle,) = cut(store, episode(c, topic="middle"))
    assert len({first, other, middle, last}) == 4
    assert [found.topic for found in store.episodes("u")] == ["first", "other", "middle", "last"]
    assert [found.topic for found in store.load("u", since=0).episodes] == ["first", "other", "middle", "last"]
    assert [found.topic for found in store.episodes("u", session_id="s1")] == ["first", "middle", "last"]
    ids = [last, "E99", other, last, "E:a", "T1", "e1", ""]
    assert [found.topic for found in store.episodes("u", episode_ids=ids)] == ["other", "last"]
    assert [found.topic for found in store.episodes("u", episode_ids=ids, session_id="s2")] == ["other"]
    assert store.episodes("u", episode_ids=[]) == store.episodes("u", session_id="none") == []


def test_the_turns_keep_the_order_that_they_were_given_in(store: Store) -> None:
    tell(store, a, b, c)
    cut(store, episode(c, a, b))
    assert store.episodes("u")[0].turn_ids == ("c", "a", "b")


def test_its_time_is_from_the_first_to_the_last_of_its_turns(store: Store) -> None:
    oslo = timezone(2 * HOUR)
    late = turn("late", timestamp=(NOW + HOUR).astimezone(oslo))
    early = turn("early", timestamp=NOW)
    tell(store, late, turn("unknown"), early, turn("alone"))
    cut(store, episode(late, turn("unknown"), early), episode(turn("alone")))
    timed, unknown = store.episodes("u")
    assert timed.time == Interval(NOW, NOW + HOUR)
    assert timed.time.end is not None
    assert timed.time.end.utcoffset() == 2 * HOUR
    assert unknown.time == Interval(None, None)


# conflicts ---------------------------------------------------------------------------------------------

PLANNED_ON_SOMETHING_ELSE = {
    "a turn is in another episode": Batch(episodes=(episode(b, c),)),
    "a turn in two of the batch": Batch(episodes=(episode(c), episode(d, c))),
    "a turn twice in one": Batch(episodes=(episode(c, c),)),
    "a turn is gone": Batch(episodes=(episode(turn("x")),)),
    "an episode to be removed is gone": Batch(remove_episodes=("E99",)),
    "an episode of rules to be removed": Batch(remove_episodes=("E:a",)),
    "a trace as an episode to be removed": Batch(remove_episodes=("T1",)),
    "one of those to be removed is gone": Batch(episodes=(episode(c),), remove_episodes=("E5", "E99")),
}


@pytest.mark.parametrize("reason", PLANNED_ON_SOMETHING_ELSE)
def test_a_conflict_stores_nothing(store: Store, reason: str) -> None:
    tell(store, a, b, c, d)
    assert cut(store, episode(a, b)) == ("E5",)
    before = (store.load("u", since=0), store.counts("u"))
    made = replace(PLANNED_ON_SOMETHING_ELSE[reason], turns=(turn("new"),))
    with pytest.raises(StoreConflict, match="plan"):
        store.write("u", made, now=NOW)
    assert (store.load("u", since=0), store.counts("u")) == before


def test_others_take_the_place_of_removed_ones(store: Store) -> None:
    tell(store, a, b, c, d)
    first, second = cut(store, episode(a, b, topic="x"), episode(c, d, topic="y"))
    left, right = cut(store, episode(a, topic="p"), episode(b, c, d, topic="q"), remove_episodes=(first, second, first))
    assert {left, right}.isdisjoint({first, second})
    assert [(found.topic, found.turn_ids) for found in store.episodes("u")] == [("p", ("a",)), ("q", ("b", "c", "d"))]
    with pytest.raises(StoreConflict):
        cut(store, remove_episodes=(first,))


def test_an_index_follows_episodes_by_revision(store: Store) -> None:
    tell(store, a, b, c)
    (first,) = cut(store, episode(a, b, topic="x"))
    seen = store.revision("u")
    (second,) = cut(store, episode(c, topic="y"))
    delta = store.load("u", since=seen)
    assert ([found.episode_id for found in delta.episodes], delta.removed_episodes) == ([second], ())
    assert (delta.turns, delta.traces) == ((), ())
    seen = store.revision("u")
    (third,) = cut(store, episode(a, topic="z"), remove_episodes=(first,))
    delta = store.load("u", since=seen)
    assert ([found.episode_id for found in delta.episodes], delta.removed_episodes) == ([third], (first,))
    seen = store.revision("u")
    store.write("u", removal(store, "u", "c"), now=NOW)
    delta = store.load("u", since=seen)
    assert (delta.episodes, delta.removed_episodes) == ((), (second,))
    empty = store.load("u", since=store.revision("u"))
    assert (empty.episodes, empty.removed_episodes) == ((), ())
    assert store.load("u", since=0).removed_episodes == ()


def test_a_strange_revision_gets_all_anew_after_the_removal_of_all(store: Store) -> None:
    tell(store, a, b)
    (gone,) = cut(store, episode(a))
    old = fresh(store, "u")
    store.delete_user("u")
    tell(store, a, b)
    (made,) = cut(store, episode(a, b, topic="anew"))
    for since in (old.revision, store.revision("u") + 5):
        delta = store.load("u", since=since)
        assert {gone, made} <= set(delta.removed_episodes)
        assert [found.topic for found in delta.episodes] == ["anew"]
    assert old.apply(store.load("u", since=old.revision)).state() == fresh(store, "u").state()
    assert list(old.episodes) == [made]


# erasing -----------------------------------------------------------------------------------------------


def test_an_episode_goes_with_any_of_its_turns_and_the_rest_is_to_be_cut_again(store: Store) -> None:
    said = (a, b, c, d)
    for one in said:
        store.write("u", batch(one, work=("episodes", "notes"), due=NOW), now=NOW)
    for kind in ("episodes", "notes"):
        lease = claimed(store, kind, token=kind)
        made = (episode(a, b, c, topic="x"), episode(d, topic="y")) if kind == "episodes" else ()
        cut(store, *made, lease=lease)
    assert store.enrichment("u") == Enrichment(done=8)
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert [found.topic for found in store.episodes("u")] == ["y"]
    # Neither the traces of the other episode, nor the work of other kinds.
    assert store.enrichment("u") == Enrichment(pending=2, done=4)
    assert claim(store, "notes", token="none") is None
    again = claimed(store, "episodes", token="again")
    assert (again.trace_ids, again.attempts) == (("T1", "T3"), 1)
    cut(store, episode(a, c, topic="z"), lease=again)
    assert [found.topic for found in store.episodes("u")] == ["z", "y"]


def test_repacking_leaves_episodes_alone(store: Store) -> None:
    store.write("u", batch(a, b), now=NOW)
    (made,) = cut(store, episode(a, b))
    (trace,) = store.traces("u")
    store.write("u", Batch(remove_traces=(trace.trace_id,), traces=(replace(trace, trace_id=""),)), now=NOW)
    assert [found.episode_id for found in store.episodes("u")] == [made]


def test_erasing_a_turn_that_no_episode_holds_leaves_them_alone(store: Store) -> None:
    tell(store, a, b)
    (made,) = cut(store, episode(a))
    before = store.revision("u")
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert store.load("u", since=before).removed_episodes == ()
    assert [found.episode_id for found in store.episodes("u")] == [made]


def test_users_have_their_own(store: Store) -> None:
    for user_id in ("ana", "Ana", "ana%"):
        tell(store, a, b, user_id=user_id)
        assert cut(store, episode(a, topic=user_id), user_id=user_id) == ("E3",)
    cut(store, user_id="ana", remove_episodes=("E3",))
    assert store.episodes("ana") == store.episodes("stranger") == []
    assert store.delete_user("Ana").erased.turns == 2
    assert store.episodes("Ana") == []
    assert [found.topic for found in store.episodes("ana%", episode_ids=["E3"])] == ["ana%"]
    tell(store, a, user_id="Ana")
    (anew,) = cut(store, episode(a), user_id="Ana")
    assert anew != "E3"
    assert store.check() == []
