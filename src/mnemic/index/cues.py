"""The cues of one user as growing columns. A cue is there exactly as long as a unit or note mentions it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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
        self._mentions: list[int] = []
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
            self._mentions.append(0)
        self.vectors.extend(vectors[new])
        for place in sorted(set(range(len(keys))).difference(new)):
            self.vectors.put(self.slot[keys[place]], vectors[place : place + 1], 1)

    def mention(self, owner: int, mentioned: Mapping[str, int]) -> list[tuple[int, int, int]]:
        """Note the mentions of a text; (owner, cue, count) of each."""
        pairs = [(owner, self.slot[key], count) for key, count in mentioned.items()]
        for _, slot, _ in pairs:
            self._mentions[slot] += 1
        return pairs

    def release(self, slots: Ints) -> None:
        """Take mentions back; a slot for each."""
        for slot in slots.tolist():
            self._mentions[slot] -= 1
            self._doubtful.add(slot)

    def sweep(self) -> None:
        """Drop the cues that nothing mentions."""
        for slot in self._doubtful:
            if not self._mentions[slot]:
                del self.slot[self.keys[slot]]
                self.keys[slot] = self.surfaces[slot] = ""
                self.vectors.put(slot, None, 1)
        self._doubtful.clear()
