"""The notice: what is kept about a person, in words for that person."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mnemic.types import Counts, Notice, Way

_WAYS: Final = (
    Way(
        "see",
        "memory.export(user_id=…), memory.get_all(user_id=…), memory.notes(user_id=…)",
        "mnemic export --user …",
        "GET /v1/export?user_id=…, GET /v1/memories?user_id=…, GET /v1/notes?user_id=…",
    ),
    Way(
        "correct",
        "memory.add(…, user_id=…), memory.retract(note_id, user_id=…), memory.undo(operation_id, user_id=…), "
        "memory.update(turn_id, user_id=…, metadata=…)",
        "mnemic add … --user …, mnemic retract NOTE --user …, mnemic undo OPERATION --user …",
        "POST /v1/memories, POST /v1/notes/{note_id}/retract, POST /v1/operations/{operation_id}/undo, "
        "PATCH /v1/memories/{turn_id}",
    ),
    Way(
        "erase",
        "memory.delete(turn_id=…, user_id=…), memory.delete_all(user_id=…)",
        "mnemic delete --user …",
        "DELETE /v1/memories/{turn_id}?user_id=…, DELETE /v1/memories?user_id=…",
    ),
)
_KEPT: Final = (
    "This service has a memory. It keeps what you say to it word for word, with when you said it, and the answers. "
    "From that it makes short notes about the people who are spoken of, each with the words that it rests on, and an "
    "index to find them by. It looks there when you ask something, so that you need not say it twice."
)
_RIGHTS: Final = (
    "You may see all that is kept about you. You may correct it: what you said stays as you said it, and a correction "
    "or a note taken back counts instead. You may have a message, a conversation or everything erased; what was made "
    "of the erased words goes with them, and nothing of it stays in the database. Copies that were made of the "
    "database before (backups) are not reached by that."
)


def notice(counts: Counts | None, models: Iterable[str], *, contact: str | None) -> Notice:
    """Put the notice together.

    Args:
        counts: Of the user it is for; None for nobody in particular.
        models: Names of the language models that read what is said.
        contact: Whom to ask.
    """
    readers = tuple(dict.fromkeys(models))
    keeps = counts is None or bool(counts.turns or counts.notes)
    paragraphs = [_KEPT]
    if counts is not None:
        paragraphs.append(_sizes(counts) if keeps else "Nothing is kept about you at the moment.")
    if readers:
        paragraphs.append(
            f"These language models read what is kept, to make the notes or to answer: {', '.join(readers)}."
        )
    else:
        paragraphs.append("No language model reads it; it stays where this service runs.")
    paragraphs += [_RIGHTS, f"Ask: {contact}" if contact else "Ask whoever runs this service."]
    return Notice("\n\n".join(paragraphs), keeps, counts, readers, _WAYS)


def _sizes(counts: Counts) -> str:
    sizes = (
        _counted(counts.turns, "message"),
        _counted(counts.sessions, "conversation"),
        _counted(counts.notes, "note"),
        _counted(counts.episodes, "summary"),
    )
    return f"About you it keeps now: {sizes[0]} in {sizes[1]}, {sizes[2]}, {sizes[3]}."


def _counted(number: int, noun: str) -> str:
    many = f"{noun.removesuffix('y')}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"
