"""The episodes of a memory, listed: stored ones, and local ones made of the rows as they are now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic import retrieve
from mnemic.algo.episodes import LOCAL, stretches
from mnemic.types import Episode

if TYPE_CHECKING:
    from mnemic.index import Indexes
    from mnemic.protocols import Store


def listed(store: Store, indexes: Indexes, user_id: str, session_id: str | None) -> list[Episode]:
    """All episodes of a user or session, in the order of the dialogue."""
    with indexes.graph(user_id) as (graph, _):
        cut = stretches(graph, session_id)
        turns = {turn.turn_id: turn for turn in store.turns(user_id, session_id=session_id)}
        return retrieve.described(graph, cut, turns)


def local(store: Store, indexes: Indexes, user_id: str, id: str) -> list[Episode]:
    """The local episode of an id, if there is one."""
    said = store.turns(user_id, turn_ids=[id.removeprefix(LOCAL)])
    return [one for turn in said for one in listed(store, indexes, user_id, turn.session_id) if one.episode_id == id]
