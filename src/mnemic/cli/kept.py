"""Notes, operations on them and episodes, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mnemic.cli import output
from mnemic.cli.hits import quoted
from mnemic.types import Episode, EvolutionStep, Interval, Note, NoteChange, Operation, Quarantined


def show_note(note: Note) -> None:
    """Print a note with its validity, sources and status."""
    sources = ", ".join(span.turn_id for span in note.sources)
    output.styled(output.shown(f"{note.note_id}  {note.about}, {note.kind}: {note.text}"))
    said = f"; said in {output.counted(note.corroboration, 'session')}" if note.corroboration > 1 else ""
    tier = "" if note.tier == "user" else f" ({note.tier})"
    about = f"{_validity(note.valid)}; from {sources}{tier}; {note.status}{said}"
    output.styled(output.shown(about), "dim", indent=3)


def show_change(change: NoteChange) -> None:
    """Print how a note differs between two moments: what counted before, and what counts after."""
    done = ", ".join(change.operations)
    output.styled(output.shown(f"{change.note_id}  by {done}" if done else change.note_id))
    for mark, note in (("-", change.before), ("+", change.after)):
        if note is not None:
            output.styled(
                output.shown(f"{mark} {note.about}, {note.kind}: {note.text} ({_validity(note.valid)})"), indent=3
            )


def show_step(step: EvolutionStep) -> None:
    """Print one note of a chain, what it took the place of, and why."""
    show_note(step.note)
    told = f"{step.change}: took the place of {', '.join(step.replaces)}" if step.replaces else step.change
    output.styled(output.shown(told), "dim", indent=3)
    for reason in step.reasons:
        output.styled(output.shown(f'why: "{" ".join(reason.text.split())}"'), indent=3)


def show_quarantined(one: Quarantined) -> None:
    """Print what waits for a person, and why."""
    output.styled(output.shown(f"{one.id}  {one.kind} of {one.by}: {one.text}"))
    output.styled(output.shown(f"from {one.tier}; {one.reason}"), "dim", indent=3)


def show_operations(operations: Iterable[Operation]) -> None:
    """Print a line an operation."""
    for operation in operations:
        output.styled(output.shown(_line(operation)))


def show_episode(episode: Episode) -> None:
    """Print an episode: its topic, its turns, and what a model made of it."""
    output.styled(output.shown(f"{episode.episode_id}  session {episode.session_id}: {episode.topic or 'no topic'}"))
    turns = output.counted(len(episode.turn_ids), "message")
    ends = " to ".join(dict.fromkeys((episode.turn_ids[0], episode.turn_ids[-1])))
    about = f"{stretch(episode.time)}; {turns}: {ends}; by {episode.made_by}"
    output.styled(output.shown(about), "dim", indent=3)
    if episode.summary:
        output.styled(output.shown(episode.summary), indent=3)


def _line(operation: Operation) -> str:
    """``O7  2026-11-30 13:00  EXPIRE N3 by person; "words"; current > superseded``; without id and time if planned."""
    head = f"{operation.operation_id}  {operation.at:%Y-%m-%d %H:%M}  " if operation.operation_id else ""
    # An id of the caller's may hold a line break.
    target, trigger = (" ".join(name.split()) for name in (operation.target_id, operation.trigger))
    head += f"{operation.action} {target} by {trigger}"
    return "; ".join((head, *_change(operation)))


def _change(operation: Operation) -> Iterator[str]:
    texts = dict.fromkeys(text for text in (operation.before, operation.after) if text is not None)
    if texts:
        yield " > ".join(map(quoted, texts))
    status = operation.detail.get("status")
    if isinstance(status, list) and status != [None, "current"]:
        yield " > ".join(dict.fromkeys(str(one) for one in status if one is not None))
    relation, other = operation.detail.get("relation"), operation.detail.get("other")
    if relation is not None and other is not None:
        yield f"{other} is {relation}"


def _validity(valid: Interval) -> str:
    start, end = (f"{at:%Y-%m-%d}" if at else "" for at in (valid.start, valid.end))
    if not start and not end:
        return "at any time"
    return f"{start} to {end}" if start and end else f"since {start}" if start else f"until {end}"


def stretch(time: Interval) -> str:
    """From the first to the last message, both of which are in it."""
    ends = dict.fromkeys(f"{at:%Y-%m-%d %H:%M}" for at in (time.start, time.end) if at)
    return " to ".join(ends) or "at an unknown time"
