"""What every store promises about erasing: of turns with all that rests on them, and of whole users."""

from __future__ import annotations

from datetime import timedelta

from store_kit import DIM, NOW, batch, embedder, fresh, note, removal, trace_of, turn, unit_of, vector

from mnemic.protocols import Batch, Store
from mnemic.types import Counts, Erased, Task

ALL = ("current", "superseded", "unsupported", "retracted", "archived")
a, b, c = turn("a", "About tea."), turn("b", "About coffee."), turn("c", "About both.", session_id="s2")


def test_a_turn_goes_with_all_that_hangs_off_it(store: Store) -> None:
    store.use_embedder(embedder())
    store.write("u", batch(a, b, cues=("tea",), vectors="fp", tasks=(Task("embed", "a"), Task("embed", "T1"))), now=NOW)
    store.write("u", removal(store, "u", "a", "b"), now=NOW)
    assert store.turns("u") == store.traces("u") == store.units("u", ["a", "b"]) == []
    assert store.known_turns("u", ["a"]) == store.known_cues("u", ["tea"]) == set()
    assert store.counts("u") == Counts(0, 0, 0, 0, 0, 0, 0, revision=2)
    assert store.speakers("u") == []
    assert store.check() == []


def test_the_rest_of_a_trace_is_repacked_in_its_place(store: Store) -> None:
    store.write("u", batch(a, b), now=NOW)
    store.write("u", batch(c), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    assert [(trace.trace_id, trace.ordinal, trace.spans[0].turn_id) for trace in store.traces("u")] == [
        ("T3", 0, "b"),
        ("T2", 1, "c"),
    ]
    assert [said.turn_id for said in store.turns("u")] == ["b", "c"]


def test_only_cues_that_nothing_mentions_go(store: Store) -> None:
    units = (unit_of(a, "only a", "a and b"), unit_of(b, "a and b"), unit_of(a, "a and note", "a and again"))
    traces = (trace_of(a), trace_of(b))
    its_note = note("n", b, cues=("a and note",))
    tasks = tuple(Task("embed", key) for key in ("only a", "a and b"))
    store.write("u", Batch(turns=(a, b), units=units, traces=traces, notes=(its_note,), tasks=tasks), now=NOW)
    again = Batch(
        turns=(c,),
        units=(unit_of(c, "a and again"),),
        remove_turns=("a",),
        remove_traces=("T1",),
        traces=(trace_of(c),),
    )
    store.write("u", again, now=NOW)
    assert sorted(fresh(store, "u").cues) == ["a and again", "a and b", "a and note"]
    assert store.counts("u").pending == 1
    assert store.check() == []


def test_a_note_goes_with_any_of_its_sources(store: Store) -> None:
    on_both = note("on both", a, b, cues=("of both",))
    store.write("u", batch(a, b, notes=(note("on a", a), on_both, note("on b", b), note("on none"))), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    left = store.notes("u")
    assert [(found.note_id, [span.turn_id for span in found.sources]) for found in left] == [("N3", ["b"]), ("N4", [])]
    assert [entry.target_id for entry in store.operations("u")] == ["N3", "N4"]
    assert sorted(fresh(store, "u").cues) == ["tea"]
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert [found.note_id for found in store.notes("u")] == ["N4"]


def test_of_a_revised_note_only_the_versions_that_rest_on_the_turn_go(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("first, on a", a),)), now=NOW)
    store.write("u", Batch(notes=(note("second, on b", b, note_id="N1", version=2),)), now=NOW)
    store.write("u", Batch(notes=(note("third, on a", a, note_id="N1", version=3),)), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    (left,) = store.notes("u", statuses=ALL)
    assert (left.version, left.text, left.status) == (2, "second, on b", "current")
    (entry,) = store.operations("u")
    assert (entry.action, entry.before, entry.after) == ("UPDATE", None, "second, on b")
    store.write("u", Batch(notes=(note("next", b, note_id="N1", version=3),)), now=NOW)
    assert [(found.version, found.status) for found in store.notes("u", statuses=ALL)] == [
        (2, "superseded"),
        (3, "current"),
    ]


def test_a_retracted_note_stays_retracted(store: Store) -> None:
    first = note("first, on a", a, status="retracted")
    store.write("u", batch(a, b, notes=(first,)), now=NOW)
    store.write("u", Batch(notes=(note("second, on b", b, note_id="N1", version=2),)), now=NOW)
    store.write("u", removal(store, "u", "b"), now=NOW)
    assert [found.status for found in store.notes("u", statuses=ALL)] == ["retracted"]


def test_log_entries_about_the_turn_go_and_those_about_its_namesakes_stay(store: Store) -> None:
    namesake = turn("N1")
    store.write("u", batch(namesake, a, notes=(note("n", a),)), now=NOW)
    store.set_metadata("u", "N1", {"secret": 1}, now=NOW)
    store.set_metadata("u", "a", {"kept": 1}, now=NOW)
    store.write("u", removal(store, "u", "N1"), now=NOW)
    assert [(entry.target_id, entry.action) for entry in store.operations("u")] == [("N1", "ADD"), ("a", "UPDATE")]


def test_idempotency_records_keep_the_turns_that_are_left(store: Store) -> None:
    store.write("u", batch(a, b, idempotency_key="both", request_turns=("b", "a", "b")), now=NOW)
    store.write("u", Batch(idempotency_key="one", request_turns=("a",)), now=NOW)
    store.write("u", Batch(idempotency_key="none"), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    assert store.request("u", "both") == ("b", "b")
    assert store.request("u", "one") is None
    assert store.request("u", "none") == ()
    store.write("u", batch(a, idempotency_key="one", request_turns=("a",)), now=NOW)
    assert store.request("u", "one") == ("a",)


def test_an_erased_id_works_as_new_and_numbers_never_come_back(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("n", a), note("m", b))), now=NOW)
    store.write("u", removal(store, "u", "b"), now=NOW)
    written = store.write("u", batch(turn("b", "New words."), notes=(note("n", b),)), now=NOW)
    assert (written.trace_ids, written.note_ids) == (("T3",), ("N3",))
    assert [(said.turn_id, said.text, said.seq) for said in store.turns("u")] == [
        ("a", a.text, 0),
        ("b", "New words.", 2),
    ]
    assert [entry.operation_id for entry in store.operations("u")] == ["O1", "O3"]


def test_a_batch_may_replace_a_turn(store: Store) -> None:
    store.write("u", batch(a), now=NOW)
    other = turn("a", "Other words.")
    store.write(
        "u", Batch(turns=(other,), traces=(trace_of(other),), remove_turns=("a",), remove_traces=("T1",)), now=NOW
    )
    assert [(said.text, said.seq) for said in store.turns("u")] == [("Other words.", 1)]
    assert [trace.trace_id for trace in store.traces("u")] == ["T2"]


def test_deleting_a_user_leaves_nothing_and_nobody_else_is_touched(store: Store) -> None:
    store.use_embedder(embedder())
    full = batch(
        a, c, vectors="fp", notes=(note("n", a, cues=("tea",)),), tasks=(Task("embed", "a"),), idempotency_key="k"
    )
    for user in ("ana", "Ana", "ana2"):
        store.write(user, full, now=NOW)
    assert store.delete_user("ana").erased.turns == 2
    assert store.delete_user("ana").erased == store.delete_user("stranger").erased == Erased()
    assert store.users() == ["Ana", "ana2"]
    assert (
        store.turns("ana") == store.notes("ana", statuses=ALL) == store.traces("ana") == store.operations("ana") == []
    )
    assert store.request("ana", "k") is None
    assert store.counts("ana") == Counts(0, 0, 0, 0, 0, 0, 0, revision=2)
    assert store.counts("Ana") == store.counts("ana2") == Counts(2, 2, 1, 2, 1, 1, 1, revision=1)
    assert store.check() == []


def test_an_open_index_notices_that_its_user_was_deleted_and_came_back(store: Store) -> None:
    store.write("u", batch(a, b, notes=(note("n", a),), cues=("old",)), now=NOW)
    mirror, late = fresh(store, "u"), fresh(store, "u")
    store.delete_user("u")
    gone = store.revision("u")
    assert gone > mirror.revision
    assert mirror.apply(store.load("u", since=mirror.revision)).state() == fresh(store, "u").state()
    assert mirror.turns == mirror.traces == mirror.notes == mirror.cues == {}
    assert store.load("u", since=gone).removed_turns == ()
    written = store.write("u", batch(turn("a", "Back again."), cues=("new",)), now=NOW + timedelta(days=1))
    assert written.revision == store.revision("u") > gone
    assert written.trace_ids == ("T2",)
    for index in (mirror, late):
        assert index.apply(store.load("u", since=index.revision)).state() == fresh(store, "u").state()
    assert store.users() == ["u"]
    store.delete_user("u")
    assert late.apply(store.load("u", since=late.revision)).turns == {}


def test_vectors_of_what_is_gone_are_skipped(store: Store) -> None:
    store.use_embedder(embedder())
    store.write("u", batch(a, b, notes=(note("n", a),)), now=NOW)
    store.write("u", removal(store, "u", "a"), now=NOW)
    store.put_vectors(
        "u",
        "fp",
        units={"a": vector()[None], "b": vector(0, 1, 0, 0)[None]},
        traces={"T1": vector(), "T2": vector(), "x": vector()},
        cues={"none": vector(), "tea": vector()},
        notes={"N1": vector(), "x": vector()},
    )
    store.put_vectors("stranger", "fp", units={}, traces={}, cues={"tea": vector()}, notes={})
    (row,) = store.load("u", since=0).turns
    assert row.unit_vectors is not None
    assert row.unit_vectors.shape == (1, DIM)
    assert store.users() == ["u"]
    assert store.check() == []
