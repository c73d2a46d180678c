"""What an erasure did, and what it cannot do."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True)
class Erased:
    """How much was erased, by kind.

    Attributes:
        units: Sentences.
        traces: Those that held erased words; what is left of one came back under a new id.
        cues: Those that nothing mentions any more.
        notes: Versions of notes.
        operations: Entries of the log.
        vectors: Of any embedder.
        tasks: What was to be done for what is erased.
        requests: Records of idempotency keys.
    """

    turns: int = 0
    units: int = 0
    traces: int = 0
    cues: int = 0
    notes: int = 0
    episodes: int = 0
    operations: int = 0
    vectors: int = 0
    tasks: int = 0
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Erasure:
    """The receipt of an erasure. It is nowhere kept: it names what is gone.

    Attributes:
        what: What was erased.
        name: Its id or name; None of a whole user.
        at: When.
        erased: How much.
        lingers: Where bytes of it may stand for a while yet, and until when; empty when none is left in the database.
        unreached: What this database does not reach, where the words may be too.
    """

    what: Literal["turn", "session", "speaker", "user"]
    name: str | None
    at: datetime
    erased: Erased
    lingers: tuple[str, ...]
    unreached: tuple[str, ...]
