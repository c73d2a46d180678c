"""Planning an erasure: which traces go, and what is left of them."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.algo import pack
from mnemic.errors import StoreConflict
from mnemic.protocols import Batch, Store


def plan(store: Store, user_id: str, turn_ids: Sequence[str]) -> tuple[Batch, dict[str, str]]:
    """What to remove with some turns, and the repacked traces to put in its place, not yet embedded.

    Args:
        store: Where the rows are.
        user_id: Whose.
        turn_ids: Existing turns.

    Returns:
        The batch, without vectors, and the texts by turn_id that its traces quote.

    Raises:
        StoreConflict: Another erasure came between two of its readings.
    """
    erased = set(turn_ids)
    traces = store.traces(user_id, turn_ids=turn_ids)
    kept = sorted({span.turn_id for trace in traces for span in trace.spans} - erased)
    turns = {turn.turn_id: turn for turn in store.turns(user_id, turn_ids=kept)}
    if len(turns) < len(kept):
        raise StoreConflict(f"turns of user {user_id!r} were erased since their traces were read; plan again")
    repacked = [pack.repack(trace, erased, turns) for trace in traces]
    batch = Batch(
        traces=tuple(trace for trace in repacked if trace is not None),
        remove_turns=tuple(turn_ids),
        remove_traces=tuple(trace.trace_id for trace in traces),
        trigger="delete",
    )
    return batch, {turn_id: turn.text for turn_id, turn in turns.items()}
