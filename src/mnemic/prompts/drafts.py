"""Notes as a model proposes them, before anything has checked them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from mnemic.algo.replies import choice, numbers, statement
from mnemic.prompts.data import NUMBERS, TEXT, one_of
from mnemic.types import Json, NoteKind

KINDS: Final[dict[str, NoteKind]] = {
    **{"fact": "fact", "event": "fact", "state": "state", "preference": "preference", "trait": "trait"},
    **{"user_preference": "preference", "user_profile": "trait", "profile": "trait", "relation": "trait"},
}
"""What models call the kinds -> ours; HiMem's names among them."""
SOURCES: Final[dict[str, Json]] = NUMBERS
"""The schema of the numbers of the lines that a note rests on."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A note that a model proposes.

    Attributes:
        text: One statement, in one line.
        kind: Of the note.
        sources: Numbers of the lines it is said to rest on, all of which were offered; empty where it names none.
        about: Whom it is about, as the model says; empty where it does not.
        since: From when on it holds; None where the model names no day.
        cues: What a later question could mention; empty where none were asked for.
    """

    text: str
    kind: NoteKind
    sources: tuple[int, ...]
    about: str = ""
    since: date | None = None
    cues: tuple[str, ...] = ()


def reader(offered: Collection[int], *, kind: NoteKind) -> Callable[[Json], Draft | None]:
    """Makes drafts from the values of a reply.

    Args:
        offered: The numbers of the lines that were shown; others are left out.
        kind: Of a note whose kind is missing or unknown.
    """

    def draft(value: Json) -> Draft | None:
        if isinstance(value, str):
            text = statement(value)
            return None if text is None else Draft(text, kind, ())
        if not isinstance(value, dict):
            return None
        text = next((found for name in _TEXT if (found := statement(value.get(name))) is not None), None)
        if text is None:
            return None
        said = choice(value.get("kind", value.get("category")), tuple(KINDS))
        return Draft(
            text,
            KINDS[said] if said else kind,
            numbers(value.get("from"), offered),
            statement(value.get("about")) or "",
            day(value.get("date")),
            phrases(value.get("cues")),
        )

    return draft


_TEXT = ("text", "content", "fact", "note", "statement")
"""What models call the statement; the first is what they are asked for."""


def kinds(*allowed: NoteKind) -> dict[str, Json]:
    """The schema of a kind."""
    return one_of(*allowed)


def phrases(value: Json) -> tuple[str, ...]:
    """The words or phrases in a value, a list or one; each once, in order."""
    given = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(one for one in map(statement, given) if one is not None))


def day(value: Json) -> date | None:
    """A day written ``2024-05-17``, perhaps with a time behind it; None of anything else."""
    if not isinstance(value, str):
        return None
    try:
        return date.fromisoformat(value.strip()[:10])
    except ValueError:
        return None


def lines_of(drafts: Sequence[Draft]) -> list[str]:
    """Drafts for reading, a line each."""
    return [f"[{one.kind}] {one.text}" for one in drafts]


TEXT_OR_EMPTY: Final = TEXT
"""The schema of a text that may be empty: the models that enforce a schema know no optional property."""
