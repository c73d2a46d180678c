"""What every store promises about marks: a copy made at one is told to be of this history, and free of erased words."""

from __future__ import annotations

from dataclasses import replace

from store_kit import NOW, batch, embedder, note, removal, turn

from mnemic.protocols import Batch, Mark, Store
from mnemic.types import Task


def test_nothing_has_a_mark_that_nothing_follows(store: Store) -> None:
    mark = store.mark("ana")
    assert mark == Mark(0, -1, 0, 0, 0)
    assert not store.follows("ana", mark)


def noted() -> Batch:
    said = turn("a")
    return batch(said, notes=(note("Ana drinks tea", said),))


def test_what_is_added_follows(store: Store) -> None:
    store.write("ana", noted(), now=NOW)
    mark = store.mark("ana")
    assert mark.revision == store.revision("ana")
    assert (mark.seq, mark.operation) == (0, 1)
    store.write("ana", batch(turn("b")), now=NOW)
    store.set_metadata("ana", "a", {"mood": "good"}, now=NOW)
    store.write("ana", Batch(tasks=(Task("embed", "a"),)), now=NOW)
    assert store.follows("ana", mark)
    assert store.follows("ana", store.mark("ana"))
    assert not store.follows("bo", mark)


def test_nothing_follows_what_was_before_an_erasure(store: Store) -> None:
    store.write("ana", batch(turn("a")), now=NOW)
    store.write("ana", batch(turn("b")), now=NOW)
    mark = store.mark("ana")
    store.write("ana", removal(store, "ana", "a"), now=NOW)
    assert not store.follows("ana", mark)
    later = store.mark("ana")
    assert store.follows("ana", later)
    store.delete_user("ana")
    assert not store.follows("ana", later)
    store.write("ana", batch(turn("a")), now=NOW)
    assert not store.follows("ana", later)
    assert store.follows("ana", store.mark("ana"))


def test_a_history_that_took_another_course_does_not_follow(store: Store) -> None:
    store.write("ana", noted(), now=NOW)
    mark = store.mark("ana")
    for other in (
        replace(mark, revision=mark.revision + 1),  # of a backup: what came later is not there
        replace(mark, said_at=mark.said_at + 1),
        replace(mark, seq=7),
        replace(mark, done_at=mark.done_at + 1),
        replace(mark, operation=mark.operation + 9),
    ):
        assert not store.follows("ana", other), other


def test_nothing_follows_what_was_before_another_embedder(store: Store) -> None:
    store.write("ana", batch(turn("a")), now=NOW)
    mark = store.mark("ana")
    store.use_embedder(embedder("other"))
    assert not store.follows("ana", mark)
    assert store.follows("ana", store.mark("ana"))
