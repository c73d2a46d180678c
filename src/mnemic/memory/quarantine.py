"""What is held in quarantine, for a person to look at: let out, or thrown away."""

from __future__ import annotations

from datetime import datetime

from mnemic.algo.injected import instructions
from mnemic.algo.trust import tier_of
from mnemic.errors import NotFound
from mnemic.ingest import INSTRUCTS
from mnemic.memory.deciding import Write, decide
from mnemic.protocols import Store
from mnemic.types import Note, Operation, Quarantined, Turn


def listed(store: Store, user_id: str) -> list[Quarantined]:
    """Turns in the order of the dialogue, then notes, oldest first."""
    notes = store.notes(user_id, statuses=("quarantined",))
    return [*map(_turn, store.in_quarantine(user_id)), *map(_note, notes)]


def settle(
    store: Store, user_id: str, id: str, *, released: bool, write: Write, now: datetime
) -> tuple[Operation, ...]:
    """Let something out of quarantine, or throw it away; the operations.

    Raises:
        NotFound: It is not there.
        StoreConflict: Something came between; plan again.
    """
    turns = store.turns(user_id, turn_ids=[id])
    if turns and turns[0].quarantine == "held":
        done = store.set_quarantine(user_id, id, "released" if released else "discarded", now=now)
        return tuple(store.operations(user_id, operation_ids=[done]))
    if not store.notes(user_id, note_ids=[id], statuses=("quarantined",)):
        raise NotFound(f"user {user_id!r} has nothing {id!r} in quarantine")
    return decide(store, user_id, id, approved=released, write=write, now=now, waits="quarantined")


def _turn(turn: Turn) -> Quarantined:
    tier = tier_of(turn)
    suspect = tuple(instructions(turn.text, tier))
    return Quarantined(turn.turn_id, "turn", turn.text, suspect, tier, turn.speaker, turn.timestamp, INSTRUCTS)


def _note(note: Note) -> Quarantined:
    reason = note.metadata.get("quarantined")
    return Quarantined(
        note.note_id,
        "note",
        note.text,
        tuple(instructions(note.text, "tool")),
        note.tier,
        note.about,
        note.valid.start,
        reason if isinstance(reason, str) else INSTRUCTS,
        note.sources,
    )
