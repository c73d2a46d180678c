"""Commands that tend notes: history, undo, proposals, approve, reject, confirm, retract, reflect, forget, restore."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, cast

import typer

from mnemic.cli import hits, kept, options, output
from mnemic.cli.reading import knows
from mnemic.types import Action, Note, Operation

NoteId = Annotated[str, typer.Argument(metavar="NOTE", help="Its id: N3.")]
HeldId = Annotated[str, typer.Argument(metavar="ID", help="Of a message or note, as quarantine shows it.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Change nothing, show what would change.")]


def confirm(
    note_id: NoteId, db: options.Database = None, user: options.User = None, json: options.AsJson = False
) -> None:
    """Say that a note is true; one that its sources do not bear out counts from now on."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        note = memory.confirm(note_id, user_id=user_id)
    _show(note, json=json)


def retract(
    note_id: NoteId,
    db: options.Database = None,
    user: options.User = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why, for the log.")] = None,
    json: options.AsJson = False,
) -> None:
    """Say that a note is wrong; it counts no more, and stays readable."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        note = memory.retract(note_id, user_id=user_id, reason=reason)
    _show(note, json=json)


def history(
    id: Annotated[str | None, typer.Argument(metavar="ID", help="Of a note or a message: N3. [of all]")] = None,
    action: Annotated[str | None, typer.Option("--action", metavar="ACTION", help="Only ADD, UPDATE, …")] = None,
    trigger: Annotated[
        str | None, typer.Option("--trigger", metavar="TRIGGER", help="Only what this brought about: person, undo.")
    ] = None,
    since: Annotated[str | None, typer.Option("--since", metavar="TIME", help="Only from then on: 2024-03-01.")] = None,
    until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only before then.")] = None,
    newest_first: Annotated[bool, typer.Option("--newest-first", help="In the other order.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", help="At most this many.")] = None,
    after: Annotated[str | None, typer.Option("--after", metavar="OPERATION", help="Only what follows it: O7.")] = None,
    db: options.Database = None,
    user: options.User = None,
    json: options.AsJson = False,
) -> None:
    """Show what happened to a note, or to a message's metadata; to all of them without an id.

    Oldest first, a line an operation: its id, when in UTC, what, by whom, the words before and after.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.history(
            id,
            user_id=user_id,
            action=cast("Action | None", action),
            trigger=trigger,
            since=since,
            until=until,
            newest_first=newest_first,
            limit=limit,
            after=after,
        )
        stranger = None if found or knows(memory, user_id) else user_id
    _tell(found, stranger, json=json)
    if stranger is None and not found:
        nothing = (
            "Nothing happened to any note or message."
            if id is None
            else (f"Nothing happened to {output.shown(repr(id))}, or there is no such note or message.")
        )
        output.note(nothing)


def undo(
    operation_id: Annotated[
        str | None, typer.Argument(metavar="OPERATION", help="Its id, as history shows it: O7.")
    ] = None,
    db: options.Database = None,
    user: options.User = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Instead, all operations of one run, or none of them.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Take back one operation, or all of one run, by others that can be undone in turn."""
    if (operation_id is None) == (run is None):
        raise typer.BadParameter("name one operation, or a run by --run")
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        done = memory.undo(operation_id, user_id=user_id, run=run)
    _tell(done, json=json)


def diff(
    a: Annotated[str, typer.Argument(metavar="TIME", help="The first moment: 2024-03-01.")],
    b: Annotated[str | None, typer.Argument(metavar="TIME", help="The second one. [now]")] = None,
    db: options.Database = None,
    user: options.User = None,
    json: options.AsJson = False,
) -> None:
    """Show how the notes that count differ between two moments, by what was recorded when."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.diff(a, b, user_id=user_id)
        stranger = None if found or knows(memory, user_id) else user_id
    if stranger is not None:
        output.note(hits.nobody(stranger))
    if json:
        output.result(output.as_json({"changes": [asdict(one) for one in found]}))
        return
    for one in found:
        kept.show_change(one)
    if stranger is None:
        output.note(f"{output.counted(len(found), 'note')} changed")


def quarantine(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """List what waits for a person because it may be poison: messages, then notes."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.quarantine(user_id=user_id)
        stranger = None if found or knows(memory, user_id) else user_id
    if stranger is not None:
        output.note(hits.nobody(stranger))
    if json:
        output.result(output.as_json({"quarantined": [asdict(one) for one in found]}))
        return
    for one in found:
        kept.show_quarantined(one)
    if stranger is None:
        output.note(f"{len(found):,} in quarantine")


def release(
    id: HeldId,
    db: options.Database = None,
    user: options.User = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Let something out of quarantine: it is found, or counts, like any other."""
    user_id = options.user(user)
    with options.memory(options.existing(db), embedder) as memory:
        done = memory.release(id, user_id=user_id)
    _tell(done, json=json)


def discard(id: HeldId, db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """Throw something in quarantine away: it is never found, and stays readable."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        done = memory.discard(id, user_id=user_id)
    _tell(done, json=json)


def proposals(db: options.Database = None, user: options.User = None, json: options.AsJson = False) -> None:
    """List notes that wait for a person, oldest first."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        found = memory.proposals(user_id=user_id)
        stranger = None if found or knows(memory, user_id) else user_id
    _list(found, "waits" if len(found) == 1 else "wait", stranger, json=json)


def approve(
    note_id: NoteId,
    db: options.Database = None,
    user: options.User = None,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Let a proposed note count, with what it was to change."""
    user_id = options.user(user)
    with options.memory(options.existing(db), embedder) as memory:
        done = memory.approve(note_id, user_id=user_id)
    _tell(done, json=json)


def reject(
    note_id: NoteId, db: options.Database = None, user: options.User = None, json: options.AsJson = False
) -> None:
    """Retract a proposed note; it stays readable."""
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        done = memory.reject(note_id, user_id=user_id)
    _tell(done, json=json)


def reflect(
    db: options.Database = None,
    user: options.User = None,
    dry_run: DryRun = False,
    embedder: options.EmbedderName = "local",
    json: options.AsJson = False,
) -> None:
    """Look for notes that contradict or repeat each other, and resolve that.

    By the language model of MNEMIC_MODEL, or by rules without one. Nothing is deleted; undo takes each change back.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), embedder, options.thinking_for("conflict")) as memory:
        done = memory.reflect(user_id=user_id, dry_run=dry_run)
        stranger = None if done or knows(memory, user_id) else user_id
    _tell(done, stranger, json=json)
    if stranger is None:
        output.note(f"{output.counted(len(done), 'change')}{_planned(dry_run)}")


def forget(
    max_notes: Annotated[int, typer.Option("--max-notes", metavar="N", help="How many current notes are left.")],
    db: options.Database = None,
    user: options.User = None,
    half_life_days: Annotated[
        float, typer.Option("--half-life-days", metavar="DAYS", help="Age at which a note has half of its strength.")
    ] = 90.0,
    dry_run: DryRun = False,
    json: options.AsJson = False,
) -> None:
    """Archive the weakest notes where there are too many.

    Words are never forgotten, only what was noted of them; restore brings each note back.
    """
    user_id = options.user(user)
    with options.memory(options.existing(db), "none") as memory:
        gone = memory.forget(user_id=user_id, max_notes=max_notes, half_life_days=half_life_days, dry_run=dry_run)
        stranger = None if gone or knows(memory, user_id) else user_id
    _list(gone, f"archived{_planned(dry_run)}", stranger, json=json)


def restore(
    note_id: Annotated[str | None, typer.Argument(metavar="NOTE", help="Of an archived note: N3.")] = None,
    db: options.Database = None,
    user: options.User = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", metavar="TIME", help="Instead, let all notes stand as they stood then.")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Make an archived note current again, or let all notes stand as they stood at a moment."""
    user_id = options.user(user)
    if as_of is None and note_id is not None:
        with options.memory(options.existing(db), "none") as memory:
            note = memory.restore(note_id, user_id=user_id)
        _show(note, json=json)
        return
    if as_of is None or note_id is not None:
        raise typer.BadParameter("restore takes either the id of an archived note or --as-of TIME")
    with options.memory(options.existing(db), "none") as memory:
        done = memory.restore(user_id=user_id, as_of=as_of)
        stranger = None if done or knows(memory, user_id) else user_id
    _tell(done, stranger, json=json)


def _show(note: Note, *, json: bool) -> None:
    if json:
        output.result(output.as_json({"note": asdict(note)}))
    else:
        kept.show_note(note)


def _tell(operations: Sequence[Operation], stranger: str | None = None, *, json: bool) -> None:
    """Print operations; ``stranger`` is a user who is not in the database."""
    if stranger is not None:
        output.note(hits.nobody(stranger))
    if json:
        output.result(output.as_json({"operations": [asdict(one) for one in operations]}))
    else:
        kept.show_operations(operations)


def _list(notes: Sequence[Note], state: str, stranger: str | None, *, json: bool) -> None:
    """Print notes, and what became of so many; ``stranger`` is a user who is not in the database."""
    if stranger is not None:
        output.note(hits.nobody(stranger))
    if json:
        output.result(output.as_json({"notes": [asdict(note) for note in notes]}))
        return
    for note in notes:
        kept.show_note(note)
    if stranger is None:
        output.note(f"{output.counted(len(notes), 'note')} {state}")


def _planned(dry_run: bool) -> str:
    return ", if it were not a dry run" if dry_run else ""
