"""Embedding what has no vectors yet: after an embedder failed, or for another embedder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.algo import render
from mnemic.errors import EmbeddingFailed
from mnemic.types import STATUSES

if TYPE_CHECKING:
    from mnemic.protocols import Embedder, Floats, Store, Unembedded

    Owner = tuple[str, str]
    """("units", turn_id), ("traces", trace_id), ("cues", key) or ("notes", note_id)."""

_PIECE = 256
"""Ids embedded between two commits: what a cut run loses at most."""

_PLAIN_WORD = "hello"
"""An embedder that fails on this one is dead, and the text it failed on is not to blame."""


def fill(
    store: Store,
    embedder: Embedder,
    *,
    user_id: str | None,
    done: Callable[[int], None] = lambda _: None,
    go_on: Callable[[], bool] = lambda: True,
    limit: int = _PIECE,
) -> int:
    """Embed everything that lacks a vector of this embedder, piece by piece, each committed at once.

    Args:
        store: Where the rows are.
        embedder: Whose vectors to make; they need not be the active ones.
        user_id: One user, or None for all.
        done: Called with the number of ids of each piece once it is stored.
        go_on: Asked after each piece; the rest is left for later where it says no.
        limit: Ids in a piece.

    Returns:
        How many ids were embedded.

    Raises:
        EmbeddingFailed: The embedder is dead; or it cannot embed a text, of which the first is named, and
            everything else is stored.
        EmbedderUnavailable: Its files or its extra are missing.
    """
    total = 0
    failures: list[EmbeddingFailed] = []
    # Turns come last: with their vectors their tasks are done, so that a run cut before leaves a trace of itself.
    for has_turns in (False, True):
        for piece in store.unembedded(embedder.fingerprint, user_id=user_id, limit=limit):
            count = _fill_piece(store, embedder, piece if has_turns else replace(piece, turn_ids=()), failures)
            if count:
                total += count
                done(count)
            if not go_on():
                return total
    if failures:
        raise failures[0]
    return total


def _fill_piece(store: Store, embedder: Embedder, piece: Unembedded, failures: list[EmbeddingFailed]) -> int:
    """Embed and store one piece; returns the number of ids, without those whose failure is noted."""
    import numpy as np

    texts = _texts(store, piece)
    flat = [text for parts in texts.values() for text in parts]
    errors: list[EmbeddingFailed] = []
    rows = iter(_embed(flat, embedder, errors) if flat else [])
    vectors = {owner: [next(rows) for _ in parts] for owner, parts in texts.items()}
    found = {owner: [row for row in given if row is not None] for owner, given in vectors.items()}
    whole = {owner: given for owner, given in found.items() if len(given) == len(texts[owner])}
    failures += (
        EmbeddingFailed(f"{kind} of {key!r}, of user {piece.user_id!r}, have no vectors: {errors[0]}")
        for kind, key in vectors
        if (kind, key) not in whole
    )
    # A turn without units (all blank) has an empty matrix, which still says that nothing is missing.
    empty = np.zeros((0, embedder.dim), np.float32)
    store.put_vectors(
        piece.user_id,
        embedder.fingerprint,
        units={key: np.stack(given) if given else empty for (kind, key), given in whole.items() if kind == "units"},
        **{
            wanted: {key: given[0] for (kind, key), given in whole.items() if kind == wanted}
            for wanted in ("traces", "cues", "notes")
        },
    )
    return len(whole)


def _texts(store: Store, piece: Unembedded) -> dict[Owner, list[str]]:
    """The texts to embed for each owner; without owners that were erased since the piece was made."""
    user_id = piece.user_id
    traces = store.traces(user_id, trace_ids=piece.trace_ids) if piece.trace_ids else []
    wanted = {*piece.turn_ids, *(span.turn_id for trace in traces for span in trace.spans)}
    said = {turn.turn_id: turn.text for turn in store.turns(user_id, turn_ids=sorted(wanted))}
    texts: dict[Owner, list[str]] = {("units", turn_id): [] for turn_id in piece.turn_ids if turn_id in said}
    for unit in store.units(user_id, piece.turn_ids):
        if unit.turn_id in said:
            texts["units", unit.turn_id].append(said[unit.turn_id][unit.start : unit.end])
    for trace in traces:
        if all(span.turn_id in said for span in trace.spans):
            texts["traces", trace.trace_id] = [render.embedded(trace, said)]
    # Of any status: one that does not count now may do so again. The last version is that which gets the vector.
    notes = store.notes(user_id, note_ids=piece.note_ids, statuses=STATUSES) if piece.note_ids else []
    names = store.speakers(user_id) if notes else []
    of_notes = {("notes", note.note_id): [render.embedded_note(note, names)] for note in notes}
    return texts | {("cues", key): [key] for key in piece.cue_keys} | of_notes


def _embed(texts: list[str], embedder: Embedder, errors: list[EmbeddingFailed]) -> list[Floats | None]:
    """Embed all at once; where that fails, by halves, so that one bad text costs only itself.

    Raises:
        EmbeddingFailed: The embedder is dead: asking on would only take time.
    """
    try:
        return list(embedder.embed(texts))
    except EmbeddingFailed as error:
        embedder.embed([_PLAIN_WORD])
        if len(texts) == 1:
            errors.append(error)
            return [None]
        middle = len(texts) // 2
        return _embed(texts[:middle], embedder, errors) + _embed(texts[middle:], embedder, errors)
