"""Who holds a lease and is dead."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from mnemic.memory.liveness import SILENCE_S, Watch

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


class World:
    """Leases, and seconds that go by."""

    def __init__(self) -> None:
        self.leases: dict[str, datetime] = {}
        self.seconds = 1000.0
        self.looks = 0
        self.watch = Watch(self.look, time_s=lambda: self.seconds)

    def look(self) -> dict[str, datetime]:
        self.looks += 1
        return dict(self.leases)

    def silent_after(self, seconds: float) -> set[str]:
        self.seconds += seconds
        return set(self.watch.silent())


def test_what_stays_as_it_was_is_nobodys_whatever_time_it_says():
    world = World()
    world.leases = {"past": NOON, "future": NOON + timedelta(days=9)}
    assert world.silent_after(0) == world.silent_after(SILENCE_S - 0.5) == set()
    assert world.silent_after(0.5) == {"past", "future"}


def test_a_sign_of_life_begins_the_silence_anew_though_it_sets_the_time_back():
    world = World()
    world.leases = {"a": NOON, "b": NOON}
    assert world.silent_after(0) == set()
    world.leases["a"] = NOON - timedelta(hours=1)
    assert world.silent_after(SILENCE_S) == {"b"}
    assert world.silent_after(SILENCE_S) == {"a", "b"}


def test_who_did_not_look_for_long_first_looks():
    world = World()
    world.leases = {"a": NOON}
    assert world.silent_after(0) == set()
    world.leases = {"a": NOON + timedelta(seconds=5), "new": NOON}
    assert world.silent_after(SILENCE_S * 9) == set()
    del world.leases["a"]
    assert world.silent_after(SILENCE_S) == {"new"}


def test_many_questions_are_one_look():
    world = World()
    for _ in range(100):
        world.silent_after(0.005)
    assert world.looks == 1
