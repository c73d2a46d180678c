"""The seam for exports: what they hold besides what everybody reads, and writing it back under the same ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from mnemic.protocols.rows import Held
from mnemic.types import Episode, Note, Operation, Trace, WorkKind, WorkState


@dataclass(frozen=True, slots=True)
class Numbers:
    """The next numbers that a user's traces (and episodes), notes and operations get."""

    trace: int = 1
    note: int = 1
    operation: int = 1


@dataclass(frozen=True, slots=True)
class Recovered:
    """Some of what an export holds, on turns that are stored: all with the ids, versions and times they had.

    Attributes:
        work: trace_id -> kind -> how far models were with it.
        surfaces: cue key -> a surface form, for every key that the notes mention.
        held: (note_id, version) of the notes that wait for a person -> what they ask for.
        confirmations: (note_id, version) -> turns that say again what it says.
    """

    traces: tuple[Trace, ...] = ()
    work: Mapping[str, Mapping[WorkKind, WorkState]] = field(default_factory=dict[str, Mapping[WorkKind, WorkState]])
    notes: tuple[Note, ...] = ()
    surfaces: Mapping[str, str] = field(default_factory=dict[str, str])
    held: Mapping[tuple[str, int], Held] = field(default_factory=dict[tuple[str, int], Held])
    confirmations: Mapping[tuple[str, int], tuple[str, ...]] = field(
        default_factory=dict[tuple[str, int], tuple[str, ...]]
    )
    operations: tuple[Operation, ...] = ()
    episodes: tuple[Episode, ...] = ()


class Restoring(Protocol):
    """Exports, written back piece by piece, each in one transaction, so that a restore that was cut goes on."""

    def back_up(self, to: Path) -> int:
        """*database*: copy the committed state to a new file while others read and write, and open and check the copy.

        Returns:
            Its bytes.

        Raises:
            StoreError: There is something already, the copy failed, or it is not sound: nothing is left of it.
        """
        ...

    def numbers(self, user_id: str) -> Numbers:
        """Where a user's numbers stand."""
        ...

    def confirmations(self, user_id: str) -> dict[tuple[str, int], tuple[str, ...]]:
        """(note_id, version) -> turns that say again what it says, in their order."""
        ...

    def work_on(self, user_id: str, trace_ids: Sequence[str]) -> dict[str, dict[WorkKind, WorkState]]:
        """trace_id -> kind -> how far models are with it."""
        ...

    def restoring(self, user_id: str) -> str | None:
        """The export that is being restored for a user, if one is."""
        ...

    def begin_restoring(self, user_id: str, export: str) -> None:
        """Remember which export is being restored; again, nothing.

        Raises:
            StoreConflict: The user has words that are not of this export.
        """
        ...

    def put_back(self, user_id: str, piece: Recovered, *, now: datetime) -> None:
        """Write some of an export; what is there already, by its id, is left alone.

        Raises:
            StoreConflict: It names a turn that is not stored. Nothing was written.
        """
        ...

    def finish_restoring(self, user_id: str, numbers: Numbers) -> None:
        """Nothing is being restored for the user any more; the next numbers are at least these."""
        ...
