"""What every store promises about notes that count otherwise from now on, that wait for a person, and late cues."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from store_kit import HOSTILE, NOW, batch, embedder, fresh, note, removal, turn, unit_of, vector

from mnemic.algo.replay import made
from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, Held, NoteState, Store, Vectors
from mnemic.types import STATUSES, Action, Interval, Json, NoteStatus, Operation, Unit

LATER = NOW + timedelta(days=30)
ALWAYS = Interval(None, None)
a, b = turn("a", "I live in Oslo."), turn("b", "I live in Bergen now.")


def state(
    note_id: str = "N1",
    version: int = 1,
    action: Action = "EXPIRE",
    before: tuple[NoteStatus, Interval] = ("current", ALWAYS),
    after: tuple[NoteStatus, Interval] = ("superseded", ALWAYS),
    **detail: Json,
) -> NoteState:
    return NoteState(note_id, version, action, before, after, detail)


def statuses(store: Store, user_id: str = "u") -> list[tuple[str, int, str]]:
    return [(found.note_id, found.version, found.status) for found in store.notes(user_id, statuses=STATUSES)]


# states ------------------------------------------------------------------------------------------------


def test_a_note_expires_and_another_takes_its_place(store: Store) -> None:
    first = note("Ana lives in Oslo.", a, cues=("oslo",), metadata={"m": 1}, given_id="given")
    store.write("u", batch(a, b, notes=(first,)), now=NOW)
    (old,) = store.notes("u")
    ended = Interval(None, LATER)
    expired = state(after=("superseded", ended), relation="contradictory", run="r1")
    bergen = note("Ana lives in Bergen.", b)
    given = Batch(states=(expired,), notes=(bergen,), trigger="model", details={0: {"x": "é"}})
    written = store.write("u", given, now=LATER)
    assert (written.note_ids, written.operation_ids) == (("N2",), ("O2", "O3"))
    kept, new = store.notes("u", statuses=STATUSES)
    assert kept == replace(old, status="superseded", valid=ended)
    assert (new.text, new.status) == ("Ana lives in Bergen.", "current")
    detail: dict[str, Json] = {
        "status": ["current", "superseded"],
        "valid": [[None, None], [None, LATER.isoformat()]],
        "relation": "contradictory",
        "run": "r1",
    }
    assert store.operations("u") == [
        Operation("O1", NOW, "ADD", "N1", "add", None, first.text, 1, made(first, {})),
        Operation("O2", LATER, "EXPIRE", "N1", "model", first.text, first.text, 1, detail),
        Operation("O3", LATER, "ADD", "N2", "model", None, new.text, 1, made(bergen, {"x": "é"})),
    ]


@pytest.mark.parametrize("status", STATUSES)
def test_every_status_comes_back_and_no_word_is_lost(store: Store, status: NoteStatus) -> None:
    store.write("u", batch(a, notes=(note("n", a, cues=("oslo",)),)), now=NOW)
    (old,) = store.notes("u")
    oslo = datetime(2024, 5, 1, 9, tzinfo=timezone(timedelta(hours=2)))
    forth = state(action="RETRACT", after=(status, Interval(oslo, LATER)))
    store.write("u", Batch(states=(forth,)), now=NOW)
    (changed,) = store.notes("u", statuses=(status,))
    assert changed == replace(old, status=status, valid=Interval(oslo, LATER))
    assert changed.valid.start is not None
    assert changed.valid.start.isoformat() == oslo.isoformat()
    # What was before is what the log says, whatever zone its time is in.
    back = state(before=(status, Interval(oslo.astimezone(UTC), LATER)), after=("current", ALWAYS))
    store.write("u", Batch(states=(back,), trigger="undo"), now=NOW)
    assert store.notes("u") == [old]
    assert [entry.detail.get("status") for entry in store.operations("u")] == [
        [None, "current"],
        ["current", status],
        [status, "current"],
    ]


def test_one_batch_may_change_a_note_twice(store: Store) -> None:
    store.write("u", batch(a, notes=(note("n", a),)), now=NOW)
    back = state(before=("superseded", ALWAYS), after=("archived", ALWAYS))
    store.write("u", Batch(states=(state(), back)), now=NOW)
    assert statuses(store) == [("N1", 1, "archived")]
    assert len(store.operations("u")) == 3


def test_a_change_comes_again_with_its_vector(store: Store) -> None:
    store.use_embedder(embedder())
    store.write("u", batch(a, vectors="fp", notes=(note("n", a), note("m", a))), now=NOW)
    mirror = fresh(store, "u")
    store.write("u", Batch(states=(state(),)), now=NOW)
    delta = store.load("u", since=mirror.revision)
    assert [(found.note_id, found.status) for found, _ in delta.notes] == [("N1", "superseded")]
    assert (delta.turns, delta.traces, delta.removed_notes) == ((), (), ())
    assert mirror.apply(delta).state() == fresh(store, "u").state()
    assert mirror.notes["N1", 1][1].tolist() == [0.5] * 4


NOT_AS_SEEN = {
    "another status": state(before=("archived", ALWAYS)),
    "another start": state(before=("current", Interval(NOW, None))),
    "another end": state(before=("current", Interval(None, NOW))),
    "an older version": state(version=1, note_id="N2"),
    "a version that is not yet": state(version=2),
    "gone": state(note_id="N9"),
    "no note": state(note_id="a"),
}


@pytest.mark.parametrize("reason", NOT_AS_SEEN)
def test_a_note_that_is_not_as_the_plan_saw_it_is_a_conflict(store: Store, reason: str) -> None:
    store.write("u", batch(a, notes=(note("n", a), note("m", a))), now=NOW)
    store.write("u", Batch(notes=(note("m2", a, note_id="N2", version=2),)), now=NOW)
    before = (store.load("u", since=0), store.operations("u"))
    good = state(note_id="N2", version=2)
    made = Batch(states=(good, NOT_AS_SEEN[reason]), notes=(note("new", a),), turns=(turn("new"),))
    with pytest.raises(StoreConflict, match="plan"):
        store.write("u", made, now=NOW)
    assert (store.load("u", since=0), store.operations("u")) == before


def test_of_two_that_change_a_note_the_second_has_to_plan_again(store: Store) -> None:
    store.write("u", batch(a, notes=(note("n", a),)), now=NOW)
    store.write("u", Batch(states=(state(),)), now=NOW)
    with pytest.raises(StoreConflict):
        store.write("u", Batch(states=(state(after=("retracted", ALWAYS)),)), now=NOW)
    assert statuses(store) == [("N1", 1, "superseded")]


# notes that wait for a person --------------------------------------------------------------------------


def held_version(text: str, **more: object) -> Batch:
    """A next version of N1 that waits."""
    made = note(text, b, note_id="N1", version=2, status="proposed")
    return replace(Batch(notes=(made,), held={0: Held("extending", "N1")}), **more)


def test_a_note_that_waits_takes_no_place(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("n", a),)), now=NOW)
    held = {0: Held("contradictory", "N1"), 2: Held("independent", None)}
    waiting = tuple(note(text, b, status="proposed") for text in ("x", "free", "y"))
    store.write("u", Batch(notes=waiting, held=held), now=NOW)
    store.write("u", held_version("n, too"), now=NOW)
    assert store.held("u") == {
        ("N2", 1): Held("contradictory", "N1"),
        ("N4", 1): Held("independent", None),
        ("N1", 2): Held("extending", "N1"),
    }
    assert [(found.text, found.version) for found in store.notes("u")] == [("n", 1)]
    assert [found.text for found in store.notes("u", statuses=("proposed",))] == ["n, too", "x", "free", "y"]
    assert store.held("stranger") == {}


def test_a_person_lets_it_take_its_place(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("n", a),)), now=NOW)
    store.write("u", held_version("n, too"), now=NOW)
    seen = store.revision("u")
    confirmed = (state(), state(version=2, action="UPDATE", before=("proposed", ALWAYS), after=("current", ALWAYS)))
    store.write("u", Batch(states=confirmed, settled=(("N1", 2),), trigger="person"), now=NOW)
    assert store.held("u") == {}
    assert statuses(store) == [("N1", 1, "superseded"), ("N1", 2, "current")]
    assert [found.version for found, _ in store.load("u", since=seen).notes] == [1, 2]
    assert store.check() == []


def test_what_was_decided_may_wait_again(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("n", a),)), now=NOW)
    store.write("u", held_version("n, too"), now=NOW)
    refused = state(version=2, action="RETRACT", before=("proposed", ALWAYS), after=("retracted", ALWAYS))
    store.write("u", Batch(states=(refused,), settled=(("N1", 2),)), now=NOW)
    again = state(version=2, action="UPDATE", before=("retracted", ALWAYS), after=("proposed", ALWAYS))
    waiting = Batch(states=(again,), waiting={("N1", 2): Held("extending", "N1")})
    store.write("u", waiting, now=NOW)
    assert store.held("u") == {("N1", 2): Held("extending", "N1")}
    with pytest.raises(StoreConflict):
        store.write("u", replace(waiting, states=()), now=NOW)
    assert store.check() == []


@pytest.mark.parametrize("settled", [("N1", 1), ("N1", 3), ("N9", 1), ("a", 1)])
def test_what_waits_for_nobody_cannot_be_settled(store: Store, settled: tuple[str, int]) -> None:
    store.write("u", batch(a, b, notes=(note("n", a),)), now=NOW)
    store.write("u", held_version("n, too"), now=NOW)
    before = (store.held("u"), store.load("u", since=0), store.operations("u"))
    with pytest.raises(StoreConflict, match="waits for nobody"):
        store.write("u", Batch(states=(state(),), settled=(("N1", 2), settled)), now=NOW)
    assert (store.held("u"), store.load("u", since=0), store.operations("u")) == before


def test_an_erased_note_waits_no_more(store: Store) -> None:
    for user_id in ("u", "v"):
        store.write(user_id, batch(a, b, notes=(note("n", a),)), now=NOW)
        store.write(user_id, held_version("n, too"), now=NOW)
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert store.held("u") == {}
    assert statuses(store) == [("N1", 1, "current")]
    assert store.held("v") != {}
    store.delete_user("v")
    assert store.held("v") == {}


# the log -----------------------------------------------------------------------------------------------


def test_operations_are_found_by_id(store: Store) -> None:
    store.write("u", batch(a, notes=(note("n", a), note("m", a))), now=NOW)
    written = store.write("u", Batch(states=(state(note_id="N2"),)), now=NOW)
    everything = store.operations("u")
    assert store.operations("u", operation_ids=written.operation_ids) == everything[2:]
    ids = ["O3", "O1", "O1", "O9", "N1", "", "o2"]
    assert store.operations("u", operation_ids=ids) == [everything[0], everything[2]]
    assert store.operations("u", operation_ids=ids, target_id="N1") == [everything[0]]
    assert store.operations("u", operation_ids=[]) == store.operations("v", operation_ids=ids) == []


def test_detail_holds_any_json(store: Store) -> None:
    detail: dict[str, Json] = {text: [text, None, 1.5, {"x": text}] for text in HOSTILE}
    store.write("u", batch(a, notes=(note("n", a),), details={0: detail}), now=NOW)
    store.write("u", Batch(states=(state(**detail),)), now=NOW)
    added, changed = store.operations("u")
    assert added.detail == made(note("n", a), detail)
    assert {key: changed.detail[key] for key in detail} == detail


def test_log_entries_go_with_their_version_and_the_others_keep_their_words(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("first", a),)), now=NOW)
    second = note("second", b, note_id="N1", version=2)
    store.write("u", Batch(notes=(second,), details={0: {"relation": "extending"}}), now=NOW)
    store.write("u", Batch(states=(state(version=2),)), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    assert [(entry.operation_id, entry.action, entry.before, entry.after) for entry in store.operations("u")] == [
        ("O2", "UPDATE", None, "second"),
        ("O3", "EXPIRE", "second", "second"),
    ]
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert store.operations("u") == []


def test_erasing_lets_count_again_only_what_the_erased_version_took_the_place_of(store: Store) -> None:
    c = turn("c")
    store.write("u", batch(a, b, c, notes=(note("first", a),)), now=NOW)
    store.write("u", Batch(notes=(note("second", b, note_id="N1", version=2),)), now=NOW)
    waiting = note("third", c, note_id="N1", version=3, status="proposed")
    store.write("u", Batch(notes=(waiting,), held={0: Held("extending", "N1")}), now=NOW)
    store.write("v", batch(a, b, c, notes=(note("first", a),)), now=NOW)
    store.write("v", Batch(notes=(note("second", b, note_id="N1", version=2),)), now=NOW)
    store.write("v", Batch(states=(state(version=2),), notes=(note("against it", c),)), now=NOW)
    for user_id in ("u", "v"):
        store.write(user_id, removal(store, user_id, "b"), now=NOW)
    assert statuses(store, "u") == [("N1", 1, "current"), ("N1", 3, "proposed")]
    # Another note stands against it still.
    assert statuses(store, "v") == [("N1", 1, "superseded"), ("N2", 1, "current")]


def test_users_have_their_own_states(store: Store) -> None:
    for user_id in ("ana", "Ana"):
        store.write(user_id, batch(a, notes=(note("n", a),)), now=NOW)
    store.write("ana", Batch(states=(state(why="secret"),)), now=NOW)
    assert statuses(store, "Ana") == [("N1", 1, "current")]
    assert len(store.operations("Ana")) == 1
    with pytest.raises(StoreConflict):
        store.write("ANA", Batch(states=(state(),)), now=NOW)
    store.delete_user("ana")
    assert store.operations("ana") == []
    assert store.users() == ["Ana"]


# late cues ---------------------------------------------------------------------------------------------


def test_cues_are_added_to_stored_units(store: Store) -> None:
    store.use_embedder(embedder())
    said = turn("a", "I live. In Oslo.")
    units = (Unit("a", 0, 7, {"live": 1}), Unit("a", 8, 16, {"oslo": 1}))
    store.write("u", Batch(turns=(said, b), units=(*units, unit_of(b, "bergen"))), now=NOW)
    mirror = fresh(store, "u")
    mentions = {("a", 8): {"city": 2, "oslo": 9, "live": 1}, ("a", 0): {}}
    late = Batch(mentions=mentions, surfaces={"city": "City"}, vectors=Vectors("fp", cues={"city": vector()}))
    store.write("u", late, now=NOW)
    # What a unit mentions already keeps its count.
    assert store.units("u", ["a"]) == [units[0], Unit("a", 8, 16, {"oslo": 1, "city": 2, "live": 1})]
    delta = store.load("u", since=mirror.revision)
    assert [row.turn.turn_id for row in delta.turns] == ["a"]
    assert [(key, surface, found is not None) for key, surface, found in delta.cues] == [("city", "City", True)]
    assert mirror.apply(delta).state() == fresh(store, "u").state()
    assert store.known_cues("u", ["city", "oslo"]) == {"city"}
    assert store.check() == []


def test_nothing_is_mentioned_twice(store: Store) -> None:
    store.write("u", batch(a, cues=("oslo",)), now=NOW)
    late = Batch(mentions={("a", 0): {"oslo": 1, "city": 1}})
    store.write("u", late, now=NOW)
    seen, before = store.revision("u"), store.units("u", ["a"])
    store.write("u", late, now=NOW)
    assert store.units("u", ["a"]) == before == [unit_of(a, "oslo", "city")]
    delta = store.load("u", since=seen)
    assert (delta.turns, delta.cues) == ((), ())


@pytest.mark.parametrize("place", [("a", 1), ("a", -1), ("x", 0), ("A", 0)])
def test_a_sentence_that_is_not_there_is_a_conflict(store: Store, place: tuple[str, int]) -> None:
    store.write("u", batch(a), now=NOW)
    before = store.load("u", since=0)
    with pytest.raises(StoreConflict):
        store.write("u", Batch(mentions={("a", 0): {"new": 1}, place: {"new": 1}}), now=NOW)
    assert store.load("u", since=0) == before


@pytest.mark.parametrize("key", HOSTILE)
def test_late_cues_survive_and_go_with_their_turn(store: Store, key: str) -> None:
    for user_id in ("u", "v"):
        store.write(user_id, batch(a, b, cues=()), now=NOW)
    mentions = {(said.turn_id, 0): dict.fromkeys(HOSTILE, 1) for said in (a, b)}
    store.write("u", Batch(mentions=mentions, surfaces={key: "S" + key}), now=NOW)
    assert list(store.units("u", ["a"])[0].cues) == list(HOSTILE)
    assert fresh(store, "u").cues[key][0] == "S" + key
    assert store.units("v", ["a", "b"]) == [unit_of(a), unit_of(b)]
    store.write("u", removal(store, "u", "a"), now=NOW)
    assert fresh(store, "u").cues.keys() == set(HOSTILE)
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert store.counts("u").cues == 0
