"""Writing an export back into an empty memory, as it was: words, ids, times, notes with their versions, and the log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar, cast

from mnemic import export, ingest
from mnemic.algo import messages as shapes
from mnemic.errors import InvalidInput, InvalidScope, StoreConflict
from mnemic.memory import recovered
from mnemic.protocols import Numbers, Recovered
from mnemic.types import Episode, Json, Note, Operation, Recovery, Trace, Turn

if TYPE_CHECKING:
    from mnemic.protocols import CueExtractor, Store

T = TypeVar("T")

_PIECE = 200
"""Records that one transaction writes: what a kill loses."""
_NO_TURN = "something that rests on a message which is not in the export"


@dataclass(slots=True)
class Recoverer:
    """Writes one export back.

    Args:
        store: Where to.
        extractor: Finds the cues again.
        user_id: Whose memory.
        skipped: Told why a record cannot be used, and its number, from 1.
        progress: Told how many records are written, piece by piece.
    """

    store: Store
    extractor: CueExtractor
    user_id: str
    skipped: Callable[[str, int], None]
    progress: Callable[[int], None]
    now: datetime
    _found: Recovery = field(default_factory=Recovery)
    _turns: list[Turn] = field(default_factory=list[Turn])
    _rest: list[tuple[int, recovered.Kept]] = field(default_factory=list[tuple[int, recovered.Kept]])
    _recorded_at: datetime = field(default_factory=lambda: datetime(1970, 1, 1, tzinfo=UTC))

    def run(self, records: Iterable[Mapping[str, Json]]) -> Recovery:
        """Write all of them.

        Raises:
            InvalidInput: They do not begin as an export does.
            InvalidScope: The user has a memory already.
        """
        left = iter(records)
        numbers = self._begin(next(left, dict[str, Json]()))
        for number, record in enumerate(left, 2):
            self._take(number, record)
        self._write_turns()
        self._write_rest()
        self.store.finish_restoring(self.user_id, numbers)
        return self._found

    def _begin(self, record: Mapping[str, Json]) -> Numbers:
        head = record.get("mnemic")
        if not isinstance(head, dict) or not isinstance(head.get("export"), str):
            raise InvalidInput('this is no export of mnemic: its first record is {"mnemic": {…}}')
        version = head.get("version")
        if not isinstance(version, int) or version > export.VERSION:
            raise InvalidInput(f"the export was written by a newer mnemic (its version is {version}); update this one")
        try:
            self.store.begin_restoring(self.user_id, str(head["export"]))
        except StoreConflict as error:
            raise InvalidScope(
                f"{error}, and an export is written back into an empty one: choose another user, or erase this one"
            ) from error
        return recovered.numbers(head.get("next"))

    def _take(self, number: int, record: Mapping[str, Json]) -> None:
        try:
            kind = next(iter(record)) if len(record) == 1 else ""
            if kind == "recorded_at":
                self._write_turns()
                self._recorded_at = recovered.moment(record["recorded_at"], "recorded_at")
            elif kind in recovered.KINDS:
                self._write_turns()
                self._rest.append((number, recovered.KINDS[kind](record[kind])))
                if len(self._rest) >= _PIECE:
                    self._write_rest()
            else:
                self._write_rest()
                self._turns.append(self._turn(record))
                if len(self._turns) >= _PIECE:
                    self._write_turns()
        except InvalidInput as error:
            self.skipped(str(error).removeprefix("messages[0]: "), number)

    def _turn(self, record: Mapping[str, Json]) -> Turn:
        if record.get("id") is None:
            raise InvalidInput("a message without an id")
        state = record.get("quarantine")
        [turn] = shapes.normalise(
            {key: value for key, value in record.items() if key != "quarantine"},
            session_id="default",
            agent_id=None,
            timestamp=None,
            timezone="UTC",
            metadata=None,
            now=self._recorded_at,
            make_id=lambda: "",
        )
        return turn if state is None else replace(turn, quarantine=recovered.quarantine(state))

    def _write_turns(self) -> None:
        if not self._turns:
            return
        by_id = {turn.turn_id: turn for turn in self._turns}
        known = self.store.known_turns(self.user_id, list(by_id))
        new = [turn for turn in by_id.values() if turn.turn_id not in known]
        if new:
            names = self.store.speakers(self.user_id)
            batch = ingest.derive(new, names=names, extractor=self.extractor)
            # Its traces and notes come with the export.
            batch = ingest.postpone(replace(batch, traces=(), notes=()))
            self.store.write(self.user_id, batch, now=self._recorded_at)
        found = self._found
        self._found = replace(found, turns=found.turns + len(by_id), new=found.new + len(new))
        self.progress(len(self._turns))
        self._turns = []

    def _write_rest(self) -> None:
        """Write what is gathered, but for what names turns that are not there."""
        if not self._rest:
            return
        named = {turn_id for _, one in self._rest for turn_id in one.turn_ids}
        there = self.store.known_turns(self.user_id, sorted(named))
        usable: list[recovered.Kept] = []
        for number, one in self._rest:
            if there.issuperset(one.turn_ids):
                usable.append(one)
            else:
                self.skipped(_NO_TURN, number)
        notes = tuple(_of(Note, usable))
        # The cues of notes that quote, too, are found in their words.
        cued = ingest.derive_given(notes, names=self.store.speakers(self.user_id), extractor=self.extractor)
        piece = Recovered(
            traces=tuple(_of(Trace, usable)),
            work={one.value.trace_id: one.work for one in usable if isinstance(one.value, Trace)},
            notes=cued.notes,
            surfaces=cued.surfaces,
            held={key: held for one in usable for key, held in one.held.items()},
            confirmations={key: turn_ids for one in usable for key, turn_ids in one.confirmations.items()},
            operations=tuple(_of(Operation, usable)),
            episodes=tuple(_of(Episode, usable)),
        )
        self.store.put_back(self.user_id, piece, now=self.now)
        found = self._found
        self._found = replace(
            found,
            notes=found.notes + len(piece.notes),
            operations=found.operations + len(piece.operations),
            episodes=found.episodes + len(piece.episodes),
        )
        self.progress(len(self._rest))
        self._rest = []


def _of(kind: type[T], kept: Sequence[recovered.Kept]) -> Iterator[T]:
    return (cast("T", one.value) for one in kept if isinstance(one.value, kind))
