"""A user's sparse matrices, which follow the rows: what mentions which cue, and how often a trace holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mnemic.algo.sparse import Sparse
from mnemic.index import state
from mnemic.index.incidence import Incidence

if TYPE_CHECKING:
    from mnemic.algo.arrays import Rows
    from mnemic.algo.graph import Doubles, Ints, Mask
    from mnemic.index.notes import Notes
    from mnemic.index.turns import Turns

_NAMES: Final = ("by_unit", "by_note", "by_trace")


class Matrices:
    """Made of all rows at first, then of what came since."""

    def __init__(self) -> None:
        self.by_unit, self.by_note, self.by_trace = Incidence(), Incidence(), Incidence()
        self._pairs_done = self._note_pairs_done = 0

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(getattr(self, name).nbytes for name in _NAMES)

    def brought(self, turns: Turns, pairs: Rows, notes: Notes, *, cues: int, traces: int) -> tuple[Sparse, Sparse]:
        """``Graph.mentions`` and ``Graph.frequency``, after adding what came since the last time.

        Args:
            turns: Of the user.
            pairs: (k, 3) units, cues and counts, of all that ever came.
            notes: Of the user.
            cues: How many there are.
            traces: How many there are.
        """
        new = pairs.view[self._pairs_done :]
        new = new[turns.alive.view[turns.unit_turn.view[new[:, 0]]]]
        about = notes.living_cues(self._note_pairs_done)
        self._pairs_done, self._note_pairs_done = len(pairs), len(notes.cues)
        self.by_unit.append(*_columns(new), height=len(turns.unit_turn), width=cues)
        self.by_note.append(*_columns(about), height=len(notes.ids), width=cues)
        owner = turns.unit_trace.view[new[:, 0]]
        held = owner >= 0
        ones = np.ones(int(held.sum()))
        self.by_trace.append(owner[held], new[held, 1].astype(np.int64), ones, height=traces, width=cues)
        return Sparse((self.by_unit.block(), self.by_note.block())), Sparse((self.by_trace.block(),))

    def mentions(self, notes: Notes, counting: Mask, *, cues: int) -> Sparse:
        """``Graph.mentions`` where other notes count, (notes,)."""
        by_note, pairs = Incidence(), notes.cues.view
        by_note.append(*_columns(pairs[counting[pairs[:, 0]]]), height=len(counting), width=cues)
        return Sparse((self.by_unit.block(), by_note.block()))

    def state(self) -> state.State:
        """What ``restored`` takes; they must be those of everything."""
        parts = [state.under(name, getattr(self, name).state()) for name in _NAMES]
        return {key: value for part in parts for key, value in part.items()}

    @classmethod
    def restored(cls, held: state.Held, *, pairs: int, note_pairs: int) -> Self:
        """Matrices as they were, of so many pairs. Raises KeyError where a part is lacking."""
        matrices = cls()
        matrices.by_unit, matrices.by_note, matrices.by_trace = (
            Incidence.restored(state.of(name, held)) for name in _NAMES
        )
        matrices._pairs_done, matrices._note_pairs_done = pairs, note_pairs
        return matrices


def _columns(pairs: Ints) -> tuple[Ints, Ints, Doubles]:
    """(k, 3) owners, cues and counts."""
    owners, cues, counts = pairs.T.astype(np.int64)
    return owners, cues, counts.astype(np.float64)
