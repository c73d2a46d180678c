"""The cues of one user as growing columns. A cue is there exactly as long as a unit or note mentions it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.index import state
from mnemic.index.vectors import Vectors

if TYPE_CHECKING:
    from mnemic.algo.graph import Ints
    from mnemic.protocols import Floats


class Cues:
    """Columns by slot, and how many units and notes mention each cue."""

    def __init__(self, dim: int) -> None:
        self.slot: dict[str, int] = {}
        self.keys: list[str] = []
        self.surfaces: list[str] = []
        self.vectors = Vectors(dim)
        self._mentions = Rows(np.int32)
        self._doubtful: set[int] = set()

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return self.vectors.nbytes + 350 * len(self.keys)

    def put(self, keys: Sequence[str], surfaces: Sequence[str], vectors: Floats) -> None:
        """Add cues, or renew their vectors, (keys, dim); zeros for one that has none."""
        new = [place for place, key in enumerate(keys) if key not in self.slot]
        for place in new:
            self._doubtful.add(len(self.keys))
            self.slot[keys[place]] = len(self.keys)
            self.keys.append(keys[place])
            self.surfaces.append(surfaces[place])
        self._mentions.extend(np.zeros(len(new)))
        self.vectors.extend(vectors[new])
        for place in sorted(set(range(len(keys))).difference(new)):
            self.vectors.put(self.slot[keys[place]], vectors[place : place + 1], 1)

    def mention(self, owner: int, mentioned: Mapping[str, int]) -> list[tuple[int, int, int]]:
        """Note the mentions of a text; (owner, cue, count) of each."""
        pairs = [(owner, self.slot[key], count) for key, count in mentioned.items()]
        if pairs:
            np.add.at(self._mentions.view, [slot for _, slot, _ in pairs], 1)
        return pairs

    def release(self, slots: Ints) -> None:
        """Take mentions back; a slot for each."""
        np.subtract.at(self._mentions.view, slots, 1)
        self._doubtful.update(slots.tolist())

    def sweep(self) -> None:
        """Drop the cues that nothing mentions."""
        for slot in self._doubtful:
            if not self._mentions.view[slot]:
                del self.slot[self.keys[slot]]
                self.keys[slot] = self.surfaces[slot] = ""
                self.vectors.put(slot, None, 1)
        self._doubtful.clear()

    def state(self) -> state.State:
        """What ``restored`` takes; nothing is doubtful between two deltas."""
        return {
            **state.of_texts("keys", self.keys),
            **state.of_texts("surfaces", self.surfaces),
            "mentions": self._mentions.view,
            **state.under("vectors", self.vectors.state()),
        }

    @classmethod
    def restored(cls, dim: int, held: state.Held) -> Self:
        """Cues as they were. Raises KeyError or ValueError where they are damaged."""
        cues = cls(dim)
        cues.keys, cues.surfaces = state.texts("keys", held), state.texts("surfaces", held)
        cues._mentions = held["mentions"]
        cues.slot = {
            key: slot
            for slot, (key, count) in enumerate(zip(cues.keys, cues._mentions.view.tolist(), strict=True))
            if count
        }
        cues.vectors = Vectors.restored(dim, state.of("vectors", held))
        return cues
