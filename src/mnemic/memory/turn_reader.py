"""Reading the turns that a search shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.types import Span, Turn

if TYPE_CHECKING:
    from mnemic.protocols import Store


class TurnReader:
    """Reads turns of one user, each once; ``turns`` are those that were there."""

    def __init__(self, store: Store, user_id: str) -> None:
        self._store = store
        self._user_id = user_id
        self.turns: dict[str, Turn] = {}

    def read(self, turn_ids: Sequence[str]) -> None:
        """Read what was not read yet."""
        missing = [turn_id for turn_id in dict.fromkeys(turn_ids) if turn_id not in self.turns]
        if missing:
            self.turns.update((turn.turn_id, turn) for turn in self._store.turns(self._user_id, turn_ids=missing))

    def words(self, span: Span) -> str:
        """The words of a span; none where its turn is gone."""
        self.read([span.turn_id])
        turn = self.turns.get(span.turn_id)
        return turn.text[span.start : span.end] if turn else ""
