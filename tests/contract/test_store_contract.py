"""What every store promises about writing and reading."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import HOSTILE, NOW, batch, note, read_back, removal, trace_of, turn, unit_of

from mnemic.algo.replay import made
from mnemic.errors import InvalidInput, NotFound, StoreClosed, StoreConflict
from mnemic.protocols import Batch, LogFilter, Store
from mnemic.types import STATUSES, Counts, Interval, Note, Operation, Part, Span, Task, TimePhrase, Trace, Turn, Unit

LATER = NOW + timedelta(days=1)
any_text = st.text(st.characters(exclude_categories=()), max_size=20)
any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=5,
)
any_moment = st.datetimes(timezones=st.timezones() | st.sampled_from((UTC, timezone(timedelta(hours=-12)))))


# turns -------------------------------------------------------------------------------------------------


@given(
    turn_id=any_text,
    session_id=any_text,
    agent_id=st.none() | any_text,
    speaker=any_text,
    text=any_text,
    timestamp=st.none() | any_moment,
    ref=st.none() | any_text,
    given_=st.none() | st.dictionaries(any_text, any_json, max_size=3),
    metadata=st.dictionaries(any_text, any_json, max_size=3),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_turn_comes_back_as_given(store: Store, given_: Any, ref: str | None, **fields: Any) -> None:
    said = Turn(role="tool", parts=(Part("image", 0, 1, ref), Part("text", 1, 2)), given=given_, **fields)
    user = f"u{len(store.users())}"
    store.write(user, Batch(turns=(said,)), now=NOW)
    (found,) = store.turns(user)
    assert found == read_back(said, 0)
    if said.timestamp is not None:
        assert found.timestamp is not None
        assert found.timestamp.utcoffset() == said.timestamp.utcoffset()


@pytest.mark.parametrize("moment", [datetime.max, datetime.min, datetime(1969, 12, 31, 23, 59, 59, 999_999)])
@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_the_ends_of_time(store: Store, moment: datetime, hours: int) -> None:
    at = moment.replace(tzinfo=timezone(timedelta(hours=hours)))
    store.write("u", Batch(turns=(turn("a", timestamp=at),)), now=NOW)
    (found,) = store.turns("u")
    assert found.timestamp is not None
    assert found.timestamp.isoformat() == at.isoformat()


def test_turns_are_numbered_in_order_over_batches_and_sessions(store: Store) -> None:
    said = [turn(f"t{i}", session_id=f"s{i % 2}", agent_id=f"a{i % 3}") for i in range(7)]
    store.write("u", Batch(turns=tuple(said[:4])), now=NOW)
    store.write("u", Batch(turns=tuple(said[4:])), now=LATER)
    assert [(found.turn_id, found.seq) for found in store.turns("u")] == [(f"t{i}", i) for i in range(7)]
    assert [found.recorded_at for found in store.turns("u")] == [NOW] * 4 + [LATER] * 3
    assert [found.turn_id for found in store.turns("u", session_id="s1", agent_id="a0")] == ["t3"]
    assert [found.turn_id for found in store.turns("u", after_seq=2, limit=2)] == ["t3", "t4"]
    ids = ["t6", "t0", "t0", "none", "t5", "t2"]
    assert [found.turn_id for found in store.turns("u", turn_ids=ids)] == ["t0", "t2", "t5", "t6"]
    assert [found.turn_id for found in store.turns("u", turn_ids=ids, session_id="s0", limit=2)] == ["t0", "t2"]
    assert store.turns("u", turn_ids=[]) == []
    assert store.known_turns("u", ids) == {"t0", "t2", "t5", "t6"}


def test_the_tail_stays_in_its_session(store: Store) -> None:
    said = [turn(f"t{i}", session_id=f"s{i % 2}") for i in range(6)]
    store.write("u", Batch(turns=tuple(said)), now=NOW)
    assert store.tail("u", "s0") == read_back(said[4], 4)
    assert store.tail("u", "none") is None


def test_speakers_are_sorted_by_bytes(store: Store) -> None:
    said = [turn(f"t{i}", speaker=name) for i, name in enumerate(("b", "\uffff", "a", "😀", "B", "b"))]
    store.write("u", Batch(turns=tuple(said)), now=NOW)
    assert store.speakers("u") == ["B", "a", "b", "\uffff", "😀"]


def test_metadata_is_replaced_and_logged(store: Store) -> None:
    store.write("u", batch(turn("a", metadata={"x": [1]}), turn("b")), now=NOW)
    store.set_metadata("u", "a", {"y": "é\ud800"}, now=LATER)
    first, second = store.turns("u")
    assert first.metadata == {"y": "é\ud800"}
    assert second.metadata == {}
    assert store.operations("u") == [
        Operation("O1", LATER, "UPDATE", "a", "person", '{"x":[1]}', '{"y":"é\ud800"}'),
    ]
    store.set_metadata("u", "a", {}, now=LATER)
    assert store.turns("u")[0].metadata == {}
    with pytest.raises(NotFound, match="none"):
        store.set_metadata("u", "none", {}, now=NOW)
    with pytest.raises(NotFound):
        store.set_metadata("stranger", "a", {}, now=NOW)
    assert store.users() == ["u"]


# what hangs off turns ----------------------------------------------------------------------------------


def test_units_phrases_and_traces_come_back_as_given(store: Store) -> None:
    a, b = turn("a", "One. Two."), turn("b", "Three.")
    units = (Unit("a", 0, 4, {"k1": 2, "\ud800": 1}), Unit("a", 5, 9, {}), Unit("b", 0, 6, {"k1": 1}))
    open_end = Interval(datetime(2024, 5, 1, tzinfo=timezone(timedelta(hours=2))), None)
    phrases = (TimePhrase("a", 0, 3, open_end), TimePhrase("a", 5, 8, Interval(None, NOW)))
    spans = (Span("a", 5, 9), Span("b", 0, 6))
    given_batch = Batch(
        turns=(a, b),
        units=units,
        phrases=phrases,
        traces=(Trace("", -1, "s1", (Span("a", 0, 4),), 3), Trace("", -1, "s1", spans, 4)),
    )
    written = store.write("u", given_batch, now=NOW)
    assert written.trace_ids == ("T1", "T2")
    assert store.units("u", ["b", "a", "none", "a"]) == list(units)
    assert store.units("u", ["b"]) == [units[2]]
    whole = [Trace("T1", 0, "s1", (Span("a", 0, 4),), 3), Trace("T2", 1, "s1", spans, 4)]
    assert store.traces("u") == whole
    assert store.traces("u", turn_ids=["a"]) == whole
    assert store.traces("u", turn_ids=["b", "none"]) == whole[1:]
    assert store.traces("u", trace_ids=["T2", "T1", "T9", "N1", "T01", "x", ""]) == whole
    assert store.traces("u", trace_ids=["T1"], turn_ids=["b"]) == []
    assert store.traces("u", trace_ids=[]) == store.traces("u", turn_ids=[]) == []
    rows = store.load("u", since=0).turns
    assert [row.phrases for row in rows] == [phrases, ()]
    assert [row.units for row in rows] == [units[:2], units[2:]]


def test_traces_are_in_the_order_of_their_ordinals(store: Store) -> None:
    said = [turn(f"t{i}") for i in range(4)]
    store.write("u", Batch(turns=tuple(said), traces=tuple(map(trace_of, said[:3]))), now=NOW)
    repacked = Batch(remove_traces=("T2",), traces=(trace_of(said[1], ordinal=1), trace_of(said[3])))
    assert store.write("u", repacked, now=NOW).trace_ids == ("T4", "T5")
    assert [(trace.trace_id, trace.ordinal) for trace in store.traces("u")] == [
        ("T1", 0),
        ("T4", 1),
        ("T3", 2),
        ("T5", 3),
    ]


def test_a_cue_is_shared_and_keeps_its_first_surface(store: Store) -> None:
    store.write("u", batch(turn("a"), cues=("k",)), now=NOW)
    second = Batch(
        turns=(turn("b"),), units=(unit_of(turn("b"), "k", "plain"),), surfaces={"k": "other", "unused": "U"}
    )
    store.write("u", second, now=NOW)
    assert [(key, surface) for key, surface, _ in store.load("u", since=0).cues] == [("k", "K"), ("plain", "plain")]
    assert store.counts("u").cues == 2


# notes -------------------------------------------------------------------------------------------------


def test_a_next_version_supersedes_and_both_stay_readable(store: Store) -> None:
    a = turn("a")
    first = note("likes tea", a, cues=("tea",), valid=Interval(NOW, None), metadata={"m": 1}, kind="preference")
    store.write("u", batch(a, notes=(first, note("other", about="Bo"))), now=NOW)
    revised = note("likes coffee", a, note_id="N1", version=2)
    assert store.write("u", Batch(notes=(revised,), trigger="person"), now=LATER).note_ids == ("N1",)
    old, new = store.notes("u", note_ids=["N1"], statuses=("superseded", "current"))
    assert (old.text, old.version, old.status, old.recorded_at) == ("likes tea", 1, "superseded", NOW)
    assert (old.valid, old.cues, old.metadata, old.sources) == (
        Interval(NOW, None),
        {"tea": 2},
        {"m": 1},
        first.sources,
    )
    assert (new.text, new.version, new.status, new.recorded_at) == ("likes coffee", 2, "current", LATER)
    assert store.operations("u") == [
        Operation("O1", NOW, "ADD", "N1", "add", None, "likes tea", 1, made(first, {})),
        Operation("O2", NOW, "ADD", "N2", "add", None, "other", 1, made(note("other"), {})),
        Operation("O3", LATER, "UPDATE", "N1", "person", "likes tea", "likes coffee", 2, made(revised, {})),
    ]
    assert [entry.operation_id for entry in store.operations("u", target_id="N1")] == ["O1", "O3"]
    assert store.counts("u").notes == 2


def test_given_notes_are_found_by_their_ids(store: Store) -> None:
    a = turn("a")
    given_notes = tuple(note(f"n{i}", a, given_id=text) for i, text in enumerate(HOSTILE))
    store.write("u", batch(a, notes=(note("local", a), *given_notes)), now=NOW)
    store.write("v", batch(a, notes=(note("of another", a, given_id=HOSTILE[0]),)), now=NOW)
    assert [found.given_id for found in store.notes("u")] == [None, *HOSTILE]
    assert [found.given_id for found, _ in store.load("u", since=0).notes] == [None, *HOSTILE]
    for i, text in enumerate(HOSTILE):
        assert [found.text for found in store.notes("u", given_ids=[text])] == [f"n{i}"]
    assert len(store.notes("u", given_ids=[*HOSTILE, "none"])) == len(HOSTILE)
    assert [found.text for found in store.notes("u", given_ids=HOSTILE, note_ids=["N1", "N3"])] == ["n1"]
    assert store.notes("u", given_ids=[]) == store.notes("stranger", given_ids=HOSTILE) == []
    again = note("revised", a, note_id="N2", version=2, given_id=HOSTILE[0])
    store.write("u", Batch(notes=(again,)), now=NOW)
    assert [found.version for found in store.notes("u", given_ids=HOSTILE[:1], statuses=STATUSES)] == [1, 2]


def test_notes_are_filtered_and_paged_by_number(store: Store) -> None:
    given_notes = tuple(note(f"n{i}", about="Bo" if i % 2 else "Ana") for i in range(12))
    retracted = note("gone", status="retracted")
    store.write("u", Batch(notes=(*given_notes, retracted)), now=NOW)
    assert [found.note_id for found in store.notes("u")] == [f"N{i}" for i in range(1, 13)]
    assert [found.text for found in store.notes("u", about="Bo", limit=2)] == ["n1", "n3"]
    assert [found.note_id for found in store.notes("u", after="N9", limit=2)] == ["N10", "N11"]
    assert [found.text for found in store.notes("u", statuses=("retracted", "archived"))] == ["gone"]
    ids = ["N12", "N2", "T2", "n2", "N99"]
    assert [found.note_id for found in store.notes("u", note_ids=ids)] == ["N2", "N12"]
    assert [found.note_id for found in store.notes("u", note_ids=ids, limit=1)] == ["N2"]
    assert store.notes("u", statuses=()) == store.notes("u", note_ids=[]) == []
    with pytest.raises(InvalidInput, match="nonsense"):
        store.notes("u", after="nonsense")


def test_pages_of_versions_neither_skip_nor_repeat_while_others_write(store: Store) -> None:
    store.write("u", Batch(notes=tuple(note(f"n{i}") for i in range(4))), now=NOW)
    revised = tuple(note(f"again {i}", note_id="N2", version=i) for i in (2, 3))
    store.write("u", Batch(notes=revised), now=NOW)
    there = [(found.note_id, found.version) for found in store.notes("u", statuses=STATUSES)]
    assert len(there) == 6
    seen: list[tuple[str, int]] = []
    after = None
    while page := store.notes("u", statuses=STATUSES, after=after, limit=1):
        seen += [(found.note_id, found.version) for found in page]
        after = f"{page[-1].note_id}.{page[-1].version}"
        if len(seen) < 4:
            store.write("u", Batch(notes=(note("new"),)), now=NOW)
    assert seen[:6] == there
    assert seen == [(found.note_id, found.version) for found in store.notes("u", statuses=STATUSES)]
    assert [found.version for found in store.notes("u", statuses=STATUSES, after="N2.1", limit=2)] == [2, 3]
    assert store.notes("u", statuses=STATUSES, after="N2", limit=1)[0].note_id == "N3"
    for wrong in ("N2.", "N2.x", "N2.1.1", ".1", "O2"):
        with pytest.raises(InvalidInput):
            store.notes("u", after=wrong)


def test_pages_of_what_was_known_are_those_of_the_whole(store: Store) -> None:
    later = NOW + timedelta(days=1)
    store.write("u", Batch(notes=tuple(note(f"n{i}") for i in range(5))), now=NOW)
    store.write("u", Batch(notes=(note("again", note_id="N2", version=2), note("new"))), now=later)
    for known_at, count in ((NOW, 5), (later, 7), (NOW - timedelta(days=1), 0)):
        whole = store.notes("u", statuses=STATUSES, known_at=known_at)
        assert len(whole) == count
        paged: list[Note] = []
        after = None
        while page := store.notes("u", statuses=STATUSES, known_at=known_at, limit=2, after=after):
            paged += page
            after = f"{page[-1].note_id}.{page[-1].version}"
        assert paged == whole
    assert [found.text for found in store.notes("u", known_at=NOW, limit=2)] == ["n0", "n1"]


def test_the_log_comes_in_pages_both_ways_and_filtered(store: Store) -> None:
    for day, trigger in enumerate(("add", "undo O1", "undoing", "add", "undo run x", "add")):
        store.write("u", Batch(notes=(note(f"n{day}"),), trigger=trigger), now=NOW + timedelta(days=day))
    store.write("v", Batch(notes=(note("of another"),)), now=NOW)

    def listed(newest_first: bool) -> list[str]:
        seen: list[str] = []
        only = LogFilter(newest_first=newest_first)
        while page := store.operations("u", only=only, after=seen[-1] if seen else None, limit=2):
            seen += [one.operation_id for one in page]
            if newest_first and len(seen) < 5:
                store.write("u", Batch(notes=(note("meanwhile"),)), now=NOW)
        return seen

    assert listed(newest_first=True) == ["O6", "O5", "O4", "O3", "O2", "O1"]
    assert listed(newest_first=False) == ["O1", "O2", "O3", "O4", "O5", "O6", "O7", "O8"]

    def found(**only: Any) -> list[str]:
        return [one.operation_id for one in store.operations("u", only=LogFilter(**only))]

    assert found(trigger="undo") == ["O2", "O5"]
    assert found(trigger="undo O1") == ["O2"]
    assert found(trigger="undoing") == ["O3"]
    assert found(trigger="un") == found(action="DELETE") == []
    assert found(since=NOW + timedelta(days=4)) == ["O5", "O6"]
    assert found(since=NOW + timedelta(days=1), until=NOW + timedelta(days=3)) == ["O2", "O3"]
    assert store.operations("stranger", only=LogFilter(newest_first=True)) == []
    assert [one.target_id for one in store.operations("u", target_id="N2", limit=5)] == ["N2"]
    both = store.operations("u", operation_ids=["O1", "O3"], only=LogFilter(newest_first=True))
    assert [one.operation_id for one in both] == ["O3", "O1"]
    for wrong in ("N2", "O", "nonsense"):
        with pytest.raises(InvalidInput, match="is not the id of an operation"):
            store.operations("u", after=wrong)


# conflicts ---------------------------------------------------------------------------------------------

PLANNED_ON_SOMETHING_GONE: dict[str, Callable[[], Batch]] = {
    "turn exists": lambda: batch(turn("new"), turn("a")),
    "turn twice in one batch": lambda: batch(turn("new"), turn("new")),
    "key is known": lambda: batch(turn("new"), idempotency_key="key"),
    "session has grown": lambda: batch(turn("new"), tails={"s1": "a"}),
    "session has begun": lambda: batch(turn("new"), tails={"s1": None}),
    "session is gone": lambda: batch(turn("new"), tails={"s2": "x"}),
    "turn to remove is gone": lambda: Batch(remove_turns=("a", "x"), remove_traces=("T1",)),
    "trace to remove is gone": lambda: Batch(remove_traces=("T9",)),
    "no trace": lambda: Batch(remove_traces=("a",)),
    "trace with erased words stays": lambda: Batch(remove_turns=("a",)),
    "span of a turn that is gone": lambda: Batch(traces=(trace_of(turn("x")),)),
    "source that is gone": lambda: Batch(notes=(note("n", turn("x")),)),
    "unit of a turn that is gone": lambda: Batch(units=(unit_of(turn("x")),)),
    "request for a turn that is gone": lambda: Batch(idempotency_key="new", request_turns=("x",)),
    "note is gone": lambda: Batch(notes=(note("n", note_id="N7", version=2),)),
    "note was revised meanwhile": lambda: Batch(notes=(note("n", note_id="N1", version=1),)),
    "note was given meanwhile": lambda: Batch(notes=(note("m", given_id="given"),)),
    "note is given twice": lambda: Batch(notes=(note("m", given_id="new"), note("n", given_id="new"))),
}


@pytest.mark.parametrize("reason", PLANNED_ON_SOMETHING_GONE)
def test_a_conflict_stores_nothing(store: Store, reason: str) -> None:
    a, b = turn("a"), turn("b")
    store.write(
        "u", batch(a, b, notes=(note("n", given_id="given"),), idempotency_key="key", request_turns=("a", "b")), now=NOW
    )
    before = (store.load("u", since=0).revision, store.counts("u"), store.turns("u"), store.operations("u"))
    with pytest.raises(StoreConflict, match=r"plan|known"):
        store.write("u", PLANNED_ON_SOMETHING_GONE[reason](), now=NOW)
    assert (store.load("u", since=0).revision, store.counts("u"), store.turns("u"), store.operations("u")) == before
    with pytest.raises(StoreConflict):
        store.write("newcomer", Batch(remove_turns=("a",)), now=NOW)
    assert store.users() == ["u"]


def test_tails_that_hold_are_no_conflict(store: Store) -> None:
    store.write("u", batch(turn("a"), tails={"s1": None, "s2": None}), now=NOW)
    store.write("u", batch(turn("b"), tails={"s1": "a"}), now=NOW)
    assert [found.turn_id for found in store.turns("u")] == ["a", "b"]


def test_idempotency_keys_are_remembered(store: Store) -> None:
    store.write("u", batch(turn("a"), idempotency_key="k\0", request_turns=("a",)), now=NOW)
    store.write("u", batch(turn("b"), idempotency_key="k\0\0", request_turns=("b", "a", "b")), now=NOW)
    store.write("u", Batch(idempotency_key=""), now=NOW)
    assert store.request("u", "k\0") == ("a",)
    assert store.request("u", "k\0\0") == ("b", "a", "b")
    assert store.request("u", "") == ()
    assert store.request("u", "K\0") is None
    assert store.request("v", "k\0") is None


# scopes ------------------------------------------------------------------------------------------------


def test_hostile_strings_are_told_apart_everywhere(store: Store) -> None:
    for place, text in enumerate(HOSTILE):
        said = turn(text, text, session_id=text, agent_id=text, speaker=text, metadata={text: text})
        its_note = note(text, said, cues=(text,), about=text)
        written = batch(said, cues=(text,), notes=(its_note,), idempotency_key=text, request_turns=(text,))
        store.write("shared", written, now=NOW)
        store.write(text, batch(turn(str(place), text)), now=NOW)
    assert [found.text for found in store.turns("shared")] == list(HOSTILE)
    for place, text in enumerate(HOSTILE):
        expected = [text]
        assert [found.turn_id for found in store.turns("shared", turn_ids=[text])] == expected
        assert [found.turn_id for found in store.turns("shared", session_id=text)] == expected
        assert [found.turn_id for found in store.turns("shared", agent_id=text)] == expected
        assert [found.text for found in store.notes("shared", about=text)] == expected
        assert [list(unit.cues) for unit in store.units("shared", [text])] == [expected]
        assert store.request("shared", text) == (text,)
        assert [found.turn_id for found in store.turns(text)] == [str(place)]
    assert set(store.users()) == {"shared", *HOSTILE}


def test_users_see_only_their_own(store: Store) -> None:
    near = ("ana", "Ana", "ana2", "an", "ana%", "a_a", "%", "*", "")
    for user in near:
        mine = batch(turn("same id", f"of {user}"), notes=(note(f"note of {user}"),), tasks=(Task("embed", "same id"),))
        store.write(user, mine, now=NOW)
    store.write("ana", removal(store, "ana", "same id"), now=NOW)
    for user in near[1:]:
        assert [found.text for found in store.turns(user)] == [f"of {user}"]
        assert [found.text for found in store.notes(user)] == [f"note of {user}"]
        assert store.counts(user) == Counts(1, 1, 1, 1, 1, 1, 1, 1)
    assert store.turns("ana") == []


def test_a_stranger_reads_as_empty(store: Store) -> None:
    store.write("u", batch(turn("a"), notes=(note("n"),)), now=NOW)
    assert (
        store.turns("v") == store.notes("v") == store.traces("v") == store.operations("v") == store.speakers("v") == []
    )
    assert store.units("v", ["a"]) == []
    assert store.tail("v", "s1") is None
    assert store.request("v", "k") is None
    assert store.known_turns("v", ["a"]) == store.known_cues("v", ["tea"]) == set()
    assert store.counts("v") == Counts(0, 0, 0, 0, 0, 0, 0, 0)
    assert store.revision("v") == 0
    assert store.load("v", since=0).turns == ()
    assert store.users() == ["u"]


# the database ------------------------------------------------------------------------------------------


def test_counts_and_revision(store: Store) -> None:
    said = [turn(f"t{i}", session_id=f"s{i % 2}") for i in range(4)]
    tasks = (Task("embed", "t0"), Task("embed", "t1"), Task("embed", "t0"))
    written = store.write("u", batch(*said, cues=("a", "b"), notes=(note("n"),), tasks=tasks), now=NOW)
    assert written.revision == store.revision("u") == 1
    assert store.counts("u") == Counts(4, 2, 1, 4, 2, 1, 2, 1)
    assert store.write("u", Batch(), now=NOW).revision == store.revision("u") == 2
    store.set_metadata("u", "t0", {"a": 1}, now=NOW)
    assert store.revision("u") == 3


def test_settings_users_size_and_check(store: Store) -> None:
    assert store.setting("cue_extractor") is None
    for value in ("rules", "spacy\0\ud800"):
        store.set_setting("cue_extractor", value)
        assert store.setting("cue_extractor") == value
    assert store.setting("Cue_extractor") is None
    for user in ("b", "\uffff", "a", "😀", "B"):
        store.write(user, Batch(), now=NOW)
    assert store.users() == ["B", "a", "b", "\uffff", "😀"]
    assert store.size_bytes() > 0
    assert store.check() == []


def test_after_close_everything_says_so(store: Store) -> None:
    pieces = store.unembedded("fp", user_id=None, limit=3)
    store.close()
    store.close()
    calls: list[Callable[[], object]] = [
        lambda: store.write("u", Batch(), now=NOW),
        lambda: store.turns("u"),
        lambda: store.revision("u"),
        lambda: store.delete_user("u"),
        lambda: next(pieces),
        store.users,
        store.size_bytes,
        store.check,
        store.embedder,
    ]
    for call in calls:
        with pytest.raises(StoreClosed, match="open it again"):
            call()
