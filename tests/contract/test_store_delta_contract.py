"""What every store promises about deltas and vectors: an index that follows them equals one built afresh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import DIM, NOW, batch, embedder, episode, fresh, note, removal, turn, unit_of, vector

from mnemic.errors import InvalidInput
from mnemic.protocols import Batch, NoteState, Store, Unembedded, Vectors
from mnemic.types import STATUSES, Interval, Task

KEYS = ("k0", "k1", "k2", "k3")


class _Life:
    """Random writes to one user, as a strategy draws them."""

    def __init__(self, store: Store, user: str, draw: Any) -> None:
        self.store, self.user, self.draw = store, user, draw
        self.count = 0

    def step(self) -> None:
        kinds = (
            self.add,
            self.add,
            self.add,
            self.remove,
            self.describe,
            self.embed,
            self.revise,
            self.count_otherwise,
            self.mention,
            self.cut,
            self.cut_again,
            self.switch,
            self.delete,
        )
        self.draw(st.sampled_from(kinds))()

    def _some(self, values: Any) -> list[Any]:
        return self.draw(st.lists(st.sampled_from(sorted(values)), unique=True, max_size=3)) if values else []

    def _cues(self) -> list[str]:
        return self._some(KEYS)

    def add(self) -> None:
        said = [turn(f"t{self.count + i}", session_id=self.draw(st.sampled_from("xy"))) for i in range(2)]
        self.count += 2
        known = [found.turn_id for found in self.store.turns(self.user)]
        sources = [turn(turn_id) for turn_id in self._some({*known, said[0].turn_id})]
        made = batch(*said, cues=self._cues(), vectors=self.draw(st.sampled_from((None, "fp", "other"))))
        self.store.write(self.user, replace(made, notes=(note("n", *sources, cues=self._cues()),)), now=NOW)

    def remove(self) -> None:
        ids = self._some(self.store.known_turns(self.user, [f"t{i}" for i in range(self.count)]))
        self.store.write(self.user, removal(self.store, self.user, *ids), now=NOW)

    def describe(self) -> None:
        for found in self.store.turns(self.user, limit=1):
            self.store.set_metadata(self.user, found.turn_id, {"n": self.count}, now=NOW)

    def revise(self) -> None:
        for found in self.store.notes(self.user, limit=1):
            said = note("revised", cues=self._cues(), note_id=found.note_id, version=found.version + 1)
            self.store.write(self.user, Batch(notes=(said,)), now=NOW)

    def count_otherwise(self) -> None:
        for found in self.store.notes(self.user, limit=1):
            before, after = (found.status, found.valid), (self.draw(st.sampled_from(STATUSES)), Interval(NOW, None))
            state = NoteState(found.note_id, found.version, "RETRACT", before, after)
            self.store.write(self.user, Batch(states=(state,)), now=NOW)

    def mention(self) -> None:
        for found in self.store.turns(self.user, limit=2):
            cues = dict.fromkeys(self._cues(), 1)
            self.store.write(self.user, Batch(mentions={(found.turn_id, 0): cues}), now=NOW)

    def cut(self) -> None:
        """The turns that are in no episode become one, or a part of them."""
        held = {turn_id for found in self.store.episodes(self.user) for turn_id in found.turn_ids}
        free = [found for found in self.store.turns(self.user) if found.turn_id not in held]
        if free:
            made = episode(*free[: self.draw(st.integers(1, 3))])
            self.store.write(self.user, Batch(episodes=(made,)), now=NOW)

    def cut_again(self) -> None:
        for found in self.store.episodes(self.user)[:1]:
            again = episode(*(turn(turn_id) for turn_id in found.turn_ids), topic="again")
            self.store.write(self.user, Batch(episodes=(again,), remove_episodes=(found.episode_id,)), now=NOW)

    def embed(self) -> None:
        for piece in self.store.unembedded("fp", user_id=self.user, limit=5):
            put(self.store, piece, "fp", self.count)

    def switch(self) -> None:
        self.store.use_embedder(embedder(self.draw(st.sampled_from(("fp", "other")))))

    def delete(self) -> None:
        self.store.delete_user(self.user)


def put(store: Store, piece: Unembedded, fingerprint: str, number: float) -> None:
    """Give everything in a piece the same vector."""
    given_vector = vector(number, 0, 0, 1)
    units: dict[str, int] = {}
    for unit in store.units(piece.user_id, piece.turn_ids):
        units[unit.turn_id] = units.get(unit.turn_id, 0) + 1
    store.put_vectors(
        piece.user_id,
        fingerprint,
        units={turn_id: np.repeat(given_vector[None], count, axis=0) for turn_id, count in units.items()},
        traces=dict.fromkeys(piece.trace_ids, given_vector),
        cues=dict.fromkeys(piece.cue_keys, given_vector),
        notes=dict.fromkeys(piece.note_ids, given_vector),
    )


def test_following_deltas_equals_loading_everything(store: Store, request: pytest.FixtureRequest) -> None:
    # The statements are the same on both; an erasure takes PostgreSQL ten times as long.
    examples = {"sqlite": 40, "postgres": 10}[request.node.callspec.params["store"]]

    @given(data=st.data(), steps=st.integers(1, 8))
    @settings(max_examples=examples, deadline=None)
    def follows(data: st.DataObject, steps: int) -> None:
        _follow(store, data, steps)

    follows()


def _follow(store: Store, data: st.DataObject, steps: int) -> None:
    life = _Life(store, f"u{len(store.users())}", data.draw)
    store.write(life.user, Batch(), now=NOW)
    always, sometimes = fresh(store, life.user), fresh(store, life.user)
    for step in range(steps):
        life.step()
        assert store.revision(life.user) >= always.revision
        always.apply(store.load(life.user, since=always.revision))
        if step % 3 == 2:
            sometimes.apply(store.load(life.user, since=sometimes.revision))
        now = fresh(store, life.user)
        assert always.state() == now.state()
        assert always.revision == now.revision == store.revision(life.user)
    assert sometimes.apply(store.load(life.user, since=sometimes.revision)).state() == always.state()
    assert store.check() == []


def test_a_delta_holds_only_what_changed(store: Store) -> None:
    store.use_embedder(embedder())
    first = store.write("u", batch(turn("a"), cues=("k",), vectors="fp", notes=(note("n"),)), now=NOW).revision
    second = store.write("u", batch(turn("b"), cues=("k", "l"), vectors="fp"), now=NOW).revision
    delta = store.load("u", since=first)
    assert [row.turn.turn_id for row in delta.turns] == ["b"]
    assert [trace.trace_id for trace, _ in delta.traces] == ["T2"]
    assert delta.notes == ()
    # Its vector came again with the second batch.
    assert [key for key, _, _ in delta.cues] == ["k", "l"]
    empty = store.load("u", since=second)
    assert empty == replace(delta, turns=(), traces=(), cues=())
    store.write("u", removal(store, "u", "a"), now=NOW)
    delta = store.load("u", since=second)
    assert (delta.removed_turns, delta.removed_traces, delta.removed_notes) == ((0,), ("T1",), ())
    assert store.load("u", since=0).removed_turns == ()


def test_vectors_come_back_as_float16_rounds_them(store: Store) -> None:
    store.use_embedder(embedder(dim=384))
    said = turn("a")
    made = np.random.default_rng(7).standard_normal((6, 384)).astype(np.float32)
    given_batch = Batch(
        turns=(said, turn("blank", " ")),
        units=(unit_of(said, "k"), unit_of(said, "k")),
        notes=(note("n"),),
        traces=batch(said).traces,
        vectors=Vectors(
            "fp",
            units={"a": made[:2], "blank": made[:0]},
            traces={0: made[3]},
            cues={"k": made[4], "mentioned nowhere": made[4]},
            notes={0: made[5]},
        ),
    )
    store.write("u", given_batch, now=NOW)
    delta = store.load("u", since=0)
    rounded = made.astype(np.float16).astype(np.float32)
    (row, blank), ((_, of_trace),), ((_, of_note),), ((_, _, of_cue),) = (
        delta.turns,
        delta.traces,
        delta.notes,
        delta.cues,
    )
    for found, expected in (
        (row.unit_vectors, rounded[:2]),
        (of_trace, rounded[3]),
        (of_cue, rounded[4]),
        (of_note, rounded[5]),
    ):
        assert found is not None
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, expected)
    assert blank.unit_vectors is None


@pytest.mark.parametrize(
    "vectors",
    [
        Vectors("fp", units={"a": np.ones((2, DIM), np.float32)}),
        Vectors("fp", units={"a": np.ones((0, DIM), np.float32)}),
        Vectors("fp", cues={"k": np.ones(DIM + 1, np.float32)}),
        Vectors("fp", cues={"k": np.ones(DIM, np.float32)}, traces={0: np.ones(DIM + 1, np.float32)}),
    ],
)
def test_vectors_of_the_wrong_shape_are_refused(store: Store, vectors: Vectors) -> None:
    store.use_embedder(embedder())
    with pytest.raises(InvalidInput, match=r"units|length"):
        store.write("u", replace(batch(turn("a"), cues=("k",)), vectors=vectors), now=NOW)
    assert store.users() == []


def test_the_embedder_is_remembered_and_switching_erases_the_others_vectors(store: Store) -> None:
    assert store.embedder() is None
    store.write("u", batch(turn("a"), vectors="fp"), now=NOW)
    store.write("v", batch(turn("a")), now=NOW)
    assert store.load("u", since=0).turns[0].unit_vectors is None
    store.use_embedder(embedder("fp"))
    assert store.embedder() == embedder("fp")
    assert store.known_cues("u", ["tea", "x"]) == {"tea"}
    mirrors = {user: fresh(store, user) for user in ("u", "v")}
    assert mirrors["u"].turns[0].unit_vectors is not None
    for piece in store.unembedded("other", user_id=None, limit=100):
        put(store, piece, "other", 3)
    assert mirrors["u"].revision == store.revision("u")
    assert fresh(store, "u").state() == mirrors["u"].state()
    store.use_embedder(embedder("other"))
    assert store.embedder() == embedder("other")
    for user, mirror in mirrors.items():
        assert store.revision(user) > mirror.revision
        assert mirror.apply(store.load(user, since=mirror.revision)).state() == fresh(store, user).state()
        assert mirror.turns[0].unit_vectors.tolist() == [[3, 0, 0, 1]]
    assert list(store.unembedded("other", user_id=None, limit=1)) == []
    assert [piece.user_id for piece in store.unembedded("fp", user_id=None, limit=100)] == ["u", "v"]
    before = store.revision("u")
    store.use_embedder(replace(embedder("other"), name="renamed"))
    record = store.embedder()
    assert record is not None
    assert record.name == "renamed"
    assert store.revision("u") == before


def test_late_vectors_finish_tasks_and_come_again(store: Store) -> None:
    store.use_embedder(embedder())
    a, b = turn("a"), turn("b")
    store.write("u", batch(a, b, notes=(note("n", a),), tasks=(Task("embed", "a"), Task("embed", "b"))), now=NOW)
    mirror = fresh(store, "u")
    given_vectors = {"traces": {"T1": vector(1, 2, 3, 4)}, "cues": {"tea": vector(2)}, "notes": {"N1": vector(3)}}
    with pytest.raises(InvalidInput):
        store.put_vectors("u", "fp", units={}, **given_vectors)
    given_vectors = {"traces": {"T1": vector(1, 2, 3, 4)}, "cues": {"tea": vector()}, "notes": {"N1": vector()}}
    store.put_vectors("u", "fp", units={"a": vector()[None]}, **given_vectors)
    assert store.counts("u").pending == 1
    assert store.revision("u") == mirror.revision + 1
    delta = store.load("u", since=mirror.revision)
    assert [row.turn.turn_id for row in delta.turns] == ["a"]
    assert mirror.apply(delta).state() == fresh(store, "u").state()
    assert mirror.traces["T1"][1].tolist() == [1, 2, 3, 4]


def test_late_vectors_belong_to_the_last_version_of_a_note(store: Store) -> None:
    store.use_embedder(embedder())
    store.write("u", Batch(notes=(note("first"),)), now=NOW)
    store.write("u", Batch(notes=(note("second", note_id="N1", version=2),)), now=NOW)
    store.put_vectors("u", "fp", units={}, traces={}, cues={}, notes={"N1": vector()})
    assert [(said.text, found is not None) for said, found in store.load("u", since=0).notes] == [
        ("first", False),
        ("second", True),
    ]
    assert list(store.unembedded("fp", user_id="u", limit=9)) == []


def test_unembedded_comes_in_pieces_and_ends(store: Store) -> None:
    said = [turn(f"t{i}") for i in range(5)]
    store.write("u", batch(*said, turn("blank", ""), cues=("k", "l"), notes=(note("n"), note("m"))), now=NOW)
    store.write("w", batch(turn("a"), cues=()), now=NOW)
    pieces = list(store.unembedded("fp", user_id=None, limit=4))
    assert [(piece.user_id, piece.turn_ids, piece.trace_ids, piece.cue_keys, piece.note_ids) for piece in pieces] == [
        ("u", ("t0", "t1", "t2", "t3"), (), (), ()),
        ("u", ("t4", "blank"), ("T1",), ("k",), ()),
        ("u", (), (), ("l",), ("N1", "N2")),
        ("w", ("a",), ("T1",), (), ()),
    ]
    for piece in store.unembedded("fp", user_id="u", limit=4):
        put(store, piece, "fp", 1)
        break
    assert next(piece.turn_ids for piece in store.unembedded("fp", user_id="u", limit=4)) == ("t4", "blank")
    for piece in store.unembedded("fp", user_id="u", limit=1):
        put(store, piece, "fp", 1)
    assert list(store.unembedded("fp", user_id="u", limit=1)) == []
    assert list(store.unembedded("fp", user_id="stranger", limit=1)) == []
