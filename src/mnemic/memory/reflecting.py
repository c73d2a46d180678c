"""Looking for inconsistencies among current notes, without waiting for a search to fail."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

import numpy as np

from mnemic.algo import claims, relate
from mnemic.algo.inconsistencies import Consequence, Pair, by_age, follow, near
from mnemic.algo.revise import Relation
from mnemic.enrich.reconcile import RELATIONS, line
from mnemic.errors import ModelError, ReplyUnusable
from mnemic.memory.counted import CountedModel
from mnemic.prompts import conflict
from mnemic.protocols import Batch, LanguageModel, NoteState, Store
from mnemic.types import Json, Note, Operation

if TYPE_CHECKING:
    from mnemic.algo.vectors import Floats
    from mnemic.index import Indexes

_log = logging.getLogger("mnemic")
_AT_ONCE: Final = 8
"""Newer notes that one request asks about."""
_Versions = tuple[str, int, str, int]
"""Id and version of a newer note, and of an older one."""


@dataclass(slots=True)
class Reflection:
    """One reading of a user's notes. Planned again after a ``StoreConflict`` it asks nothing twice.

    Attributes:
        store: Where the rows are.
        indexes: Of the same store.
        user_id: Whose notes.
        model: Says how two notes relate; None for ``algo.relate``.
        run: Names it in the log.
        failure: Why the model did not say it of all.
    """

    store: Store
    indexes: Indexes
    user_id: str
    model: LanguageModel | None
    run: str
    failure: ModelError | None = None
    _relations: dict[_Versions, Relation] = field(default_factory=dict[_Versions, Relation])
    _counted: CountedModel = field(default_factory=CountedModel)

    def reflect(self, *, dry_run: bool, now: datetime) -> tuple[Operation, ...]:
        """Plan once what follows from all that could be said, and write it.

        Raises:
            StoreConflict: Another writer came between.
        """
        found = self._plan()
        states = [self._state(one) for one in found]
        trigger = f"{self.model.name if self.model else 'rules'}: reflect"
        if dry_run or not states:
            return tuple(
                Operation("", now, one.action, one.before.note_id, trigger, one.before.text, one.before.text,
                          one.before.version, state.detail)
                for one, state in zip(found, states, strict=True)
            )  # fmt: skip
        batch = Batch(states=tuple(states), confirmations=_confirmed(found), trigger=trigger)
        written = self.store.write(self.user_id, batch, now=now)
        return tuple(self.store.operations(self.user_id, operation_ids=written.operation_ids))

    def _plan(self) -> list[Consequence]:
        """What follows; then what follows from what is left, until nothing more does."""
        notes = by_age(self.store.notes(self.user_id))
        vectors, floor = self._vectors(notes)
        terms = [frozenset(claims.content(note.text)) for note in notes]
        while True:
            found = follow(notes, dict(self._known(notes)))
            gone = {one.before.note_id for one in found}
            left = [place for place, note in enumerate(notes) if note.note_id not in gone]
            people = [notes[place].about for place in left]
            pairs = near(vectors[left], [terms[place] for place in left], people, floor=floor)
            fresh = [(left[new], left[old]) for new, old in pairs]
            fresh = [pair for pair in fresh if _versions(notes, pair) not in self._relations]
            if not fresh or self.failure is not None:
                return found
            self._judge(notes, fresh)

    def _vectors(self, notes: Sequence[Note]) -> tuple[Floats, float]:
        """(n, dim) of the notes, zeros where there is none; and the cosine from which two are about one matter."""
        with self.indexes.graph(self.user_id) as (graph, record):
            slots = {graph.note_ids[slot]: slot for slot in np.flatnonzero(graph.note_current).tolist()}
            rows = np.zeros((len(notes), graph.note_vectors.shape[1]), np.float32)
            for place, note in enumerate(notes):
                if note.note_id in slots:
                    rows[place] = graph.note_vectors[slots[note.note_id]]
        return rows, record.thresholds.relevance if record else 1.0

    def _known(self, notes: Sequence[Note]) -> Iterator[tuple[Pair, Relation]]:
        """How the notes relate, as far as anybody said it."""
        places = {(note.note_id, note.version): place for place, note in enumerate(notes)}
        for (new, its_version, old, others), relation in self._relations.items():
            pair = places.get((new, its_version)), places.get((old, others))
            if pair[0] is not None and pair[1] is not None:
                yield (pair[0], pair[1]), relation

    def _judge(self, notes: Sequence[Note], pairs: Sequence[Pair]) -> None:
        """Have it said of pairs how they relate, person by person."""
        for some in [pairs] if self.model is None else _batches(notes, pairs):
            try:
                said = _by_rules(notes, some) if self.model is None else self._ask(self.model, notes, some)
            except ReplyUnusable as error:
                _log.warning("%s", error)
                self.failure = error
            except ModelError as error:
                self.failure = error
                return
            else:
                self._relations |= {_versions(notes, pair): said.get(pair, "independent") for pair in some}

    def _ask(self, model: LanguageModel, notes: Sequence[Note], pairs: Sequence[Pair]) -> dict[Pair, Relation]:
        """What a model says of pairs about one person.

        Raises:
            ReplyUnusable: There is nothing in the reply.
            ModelError: No reply came.
        """
        newer = list(dict.fromkeys(new for new, _ in pairs))
        older = list(dict.fromkeys(old for _, old in pairs))
        old, new = ([line(notes[place]) for place in places] for places in (older, newer))
        reply = self._counted.of(model).complete(conflict.render(old, new))
        parsed = conflict.parse(reply, old, new)
        said: dict[Pair, Relation] = {
            (newer[one.new], older[one.old]): RELATIONS[one.relation] for one in parsed.items if one.old is not None
        }
        if parsed.failure not in (None, "unfit") and not said:
            what = f"{model.name}, asked how notes of user {self.user_id!r} relate"
            raise ReplyUnusable(f"{what}: the reply could not be used: {parsed.failure}", failure=str(parsed.failure))
        return said

    def _state(self, one: Consequence) -> NoteState:
        spent: dict[str, Json] = {"run": self.run, **self._counted.spent}
        return NoteState(
            note_id=one.before.note_id,
            version=one.before.version,
            action=one.action,
            before=(one.before.status, one.before.valid),
            after=(one.after.status, one.after.valid),
            detail={"relation": one.relation, "other": one.other.note_id, **spent},
        )


def _confirmed(found: Sequence[Consequence]) -> dict[tuple[str, int], tuple[str, ...]]:
    """The notes that stay of some that say the same -> the turns that say it again."""
    again: dict[tuple[str, int], list[str]] = {}
    for one in found:
        if one.action == "MERGE":
            turns = again.setdefault((one.other.note_id, one.other.version), [])
            turns += [span.turn_id for span in one.before.sources]
    return {note: tuple(dict.fromkeys(turns)) for note, turns in again.items()}


def _by_rules(notes: Sequence[Note], pairs: Sequence[Pair]) -> dict[Pair, Relation]:
    return {(new, old): relate.relate(notes[new], [notes[old]]).relation for new, old in pairs}


def _batches(notes: Sequence[Note], pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Pairs about one person, of so many newer notes."""
    for about in dict.fromkeys(notes[new].about for new, _ in pairs):
        newer = list(dict.fromkeys(new for new, _ in pairs if notes[new].about == about))
        for first in range(0, len(newer), _AT_ONCE):
            some = frozenset(newer[first : first + _AT_ONCE])
            yield [pair for pair in pairs if pair[0] in some]


def _versions(notes: Sequence[Note], pair: Pair) -> _Versions:
    new, old = notes[pair[0]], notes[pair[1]]
    return new.note_id, new.version, old.note_id, old.version
