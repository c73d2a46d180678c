"""The notes of one user as growing columns, a slot for each version, with what hangs off it: cues, words, sources."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.algo.bm25 import BM25
from mnemic.algo.lexical import terms
from mnemic.index import state
from mnemic.types import Note

if TYPE_CHECKING:
    from mnemic.algo.graph import Ints
    from mnemic.index.cues import Cues
    from mnemic.index.turns import Turns
    from mnemic.protocols import Floats

_WITHDRAWN = ("unsupported", "retracted", "proposed", "archived", "quarantined")
"""Notes that lead nowhere: nobody says that they are so, or nobody says it yet, or they were put away."""

_ROWS: Final = ("alive", "current", "given", "vectors", "cues", "document", "sources", "rests", "_cues_of", "_version")


class Notes:
    """Columns by slot, as ``Graph`` names them, and how they change."""

    def __init__(self, dim: int) -> None:
        self.ids: list[str] = []
        self.text: list[str] = []
        self.about: list[str] = []
        self.alive = Rows(np.bool_)
        self.current = Rows(np.bool_)
        self.given = Rows(np.bool_)
        self.vectors = Rows(np.float16, dim)
        self.cues = Rows(np.int32, 3)  # note, cue, count
        self.words = BM25()
        self.document = Rows(np.int64)
        self.sources = Rows(np.int64, 2)  # note, unit
        self.rests = Rows(np.int64, 2)  # note, turn
        self._version = Rows(np.int64)
        self._cues_of = Rows(np.int64, 2)  # rows of cues
        self._slots: dict[str, dict[int, int]] = {}  # note_id -> version -> slot

    @property
    def nbytes(self) -> int:
        """Bytes held, roughly."""
        return sum(getattr(self, name).nbytes for name in _ROWS) + self.words.nbytes + 600 * len(self.ids)

    def slots(self, versions: Collection[tuple[str, int]]) -> list[int]:
        """Where some versions of notes (note_id, version) are, ascending; without those that are not known."""
        return sorted({self._slots.get(note_id, {}).get(version, -1) for note_id, version in versions} - {-1})

    def put(self, rows: Sequence[tuple[Note, Floats]], cues: Cues, turns: Turns) -> None:
        """Add versions; one that comes again may rest on less than before, and starts afresh."""
        pairs: list[tuple[int, int, int]] = []
        sources: list[tuple[int, int]] = []
        rests: list[tuple[int, int]] = []
        start, done = len(self.ids), len(self.cues)
        for slot, (note, _) in enumerate(rows, start):
            versions = self._slots.setdefault(note.note_id, {})
            if note.version in versions:
                self._remove(versions[note.version], cues)
            versions[note.version] = slot
            first = done + len(pairs)
            pairs += cues.mention(slot, note.cues)
            self._cues_of.extend([(first, done + len(pairs))])
            sources += [(slot, unit) for span in note.sources for unit in turns.units_in(span)]
            named = dict.fromkeys(span.turn_id for span in note.sources)
            rests += [(slot, turns.slot[turn_id]) for turn_id in named if turn_id in turns.slot]
        self.ids += [note.note_id for note, _ in rows]
        self.text += [note.text for note, _ in rows]
        self.about += [note.about for note, _ in rows]
        self._version.extend([note.version for note, _ in rows])
        self.alive.extend([note.status not in _WITHDRAWN for note, _ in rows])
        self.current.extend([note.status == "current" for note, _ in rows])
        self.given.extend([note.given_id is not None for note, _ in rows])
        for _, vector in rows:
            self.vectors.extend(vector[None])
        self.cues.extend(pairs)
        self.sources.extend(sources)
        self.rests.extend(rests)
        current = [note for note, _ in rows if note.status == "current"]
        documents = iter(self.words.add_all([tuple(terms(note.text)) for note in current]).tolist())
        self.document.extend([next(documents) if note.status == "current" else -1 for note, _ in rows])

    def remove(self, note_id: str, cues: Cues) -> bool:
        """Remove all versions of a note; False where there are none."""
        versions = self._slots.pop(note_id, {})
        for slot in versions.values():
            self._remove(slot, cues)
        return bool(versions)

    def _remove(self, slot: int, cues: Cues) -> None:
        self.alive.view[slot] = False
        self.vectors.view[slot] = 0
        self.text[slot] = self.about[slot] = ""
        if (document := int(self.document.view[slot])) >= 0:
            self.words.remove(document)
            self.document.view[slot] = -1
        first, stop = self._cues_of.view[slot]
        cues.release(self.cues.view[first:stop, 1])

    def living_cues(self, first: int) -> Ints:
        """(k, 3) note, cue, count: the rows of ``cues`` from the ``first`` on, of notes that lead somewhere."""
        pairs = self.cues.view[first:]
        return pairs[self.alive.view[pairs[:, 0]]]

    def state(self) -> state.State:
        """What ``restored`` takes."""
        known = np.array([slot for versions in self._slots.values() for slot in versions.values()], np.int64)
        return {
            **state.of_rows(self, _ROWS),
            "known": known,
            **state.of_texts("ids", self.ids),
            **state.of_texts("text", self.text),
            **state.of_labels("about", self.about),
            **state.of_texts("terms", self.words.terms),
            **state.under("words", self.words.state()),
        }

    @classmethod
    def restored(cls, dim: int, held: state.Held) -> Self:
        """Notes as they were. Raises KeyError or ValueError where they are damaged."""
        notes = cls(dim)
        state.put_rows(notes, _ROWS, held)
        notes.ids, notes.text = state.texts("ids", held), state.texts("text", held)
        notes.about = state.labels("about", held)
        known: list[int] = held["known"].view.tolist()
        versions: list[int] = notes._version.view[known].tolist()
        for slot, version in zip(known, versions, strict=True):
            notes._slots.setdefault(notes.ids[slot], {})[version] = slot
        notes.words.restore(state.texts("terms", held), state.of("words", held))
        return notes
