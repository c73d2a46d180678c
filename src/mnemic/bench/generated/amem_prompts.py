"""The two prompts of A-MEM-style notes: what a note says of its turn, and how it stands to its neighbours.

The required contents are those of A-MEM (methods.md section 3; Xu et al. 2025, section 3.1 to 3.3); the wording is
mnemic's own. What people said, and what a model wrote of it before, is data (``prompts.data``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.algo.replies import fields, number, numbers
from mnemic.prompts.data import DATA, NUMBER, NUMBERS, TEXT, a_list, an_object, delimited, listed
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

_DESCRIBE: Final = f"""\
You keep notes on a conversation. In <turn> is one thing that was said, after who said it and when.
{DATA}

Describe it, so that it can be found again later:
- keywords: at least three words or names that it is about, the most important first; not the speaker, not the time.
- context: one sentence that says what it is about: its topic, its main points, what it is for.
- tags: at least three broad categories that it belongs to.

Reply with one JSON object and nothing else:
{{"keywords": ["…"], "context": "…", "tags": ["…"]}}"""

_LINK: Final = f"""\
You keep notes on a conversation, each with its context, keywords and tags. <note> is a new one. <notes> are those kept
before that are most like it; each begins with its number.
{DATA}

Decide how the new note changes what is kept:
- links: the numbers of the kept notes that it belongs with, because they are about the same thing or explain each
  other; [] for none.
- tags: the tags of the new note, as they should be now that its neighbours are known.
- rewritten: each kept note that the new one lets you understand better, by its number, with its context (one sentence)
  and its tags as they should be now; [] for none. Leave the others out.

Reply with one JSON object and nothing else:
{{"links": [0], "tags": ["…"], "rewritten": [{{"number": 0, "context": "…", "tags": ["…"]}}]}}"""

_TEXTS: Final = a_list(TEXT)
_DESCRIPTION: Final[dict[str, Json]] = an_object(keywords=_TEXTS, context=TEXT, tags=_TEXTS)
_REWRITTEN: Final[dict[str, Json]] = an_object(number=NUMBER, context=TEXT, tags=_TEXTS)
_EVOLUTION: Final[dict[str, Json]] = an_object(links=NUMBERS, tags=_TEXTS, rewritten=a_list(_REWRITTEN))

DESCRIPTION_TOKENS: Final = 512
EVOLUTION_TOKENS: Final = 1024
"""Limits of the replies: five neighbours, all of them rewritten, take about half."""


@dataclass(frozen=True, slots=True)
class Description:
    """What a model says of a turn; any part of it may be empty."""

    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """For reading and for the index: a line for each part that is there."""
        parts = (("context", self.context), ("keywords", ", ".join(self.keywords)), ("tags", ", ".join(self.tags)))
        return tuple(f"{name}: {text}" for name, text in parts if text)


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a new note changes.

    Attributes:
        links: Numbers of the neighbours that it is linked to, each once.
        tags: Its own; None to leave them.
        rewritten: Number of a neighbour -> its context and tags; an empty one of them is to be left as it is.
    """

    links: tuple[int, ...]
    tags: tuple[str, ...] | None
    rewritten: Mapping[int, tuple[str, tuple[str, ...]]]


def describing(turn: str) -> Completion:
    """The request for a turn's description.

    Args:
        turn: Speaker, date and words.
    """
    return Completion("notes", _DESCRIBE, delimited("turn", turn), DESCRIPTION_TOKENS, _DESCRIPTION)


def description(reply: Reply) -> Description | None:
    """The last object of a reply that describes anything; None where none does."""
    for value in _objects(reply):
        read = Description(_texts(value.get("keywords")), _text(value.get("context")), _texts(value.get("tags")))
        if read != Description():
            return read
    return None


def linking(note: str, neighbours: Sequence[str]) -> Completion:
    """The request for what a new note changes.

    Args:
        note: The new one.
        neighbours: At least one kept note.
    """
    numbered = [f"{place}. {text}" for place, text in enumerate(neighbours)]
    user = f"{delimited('note', note)}\n\n{listed('notes', 'note', numbered)}"
    return Completion("links", _LINK, user, EVOLUTION_TOKENS, _EVOLUTION)


def evolution(reply: Reply, neighbours: int) -> Evolution | None:
    """What the last object of a reply that says any of it says; None where none does.

    Numbers of no neighbour are passed over.
    """
    said = (
        one for one in _objects(reply) if isinstance(one.get("links"), list) or isinstance(one.get("rewritten"), list)
    )
    found = next(said, None)
    if found is None:
        return None
    places = range(neighbours)
    rewritten: dict[int, tuple[str, tuple[str, ...]]] = {}
    for one in _listed(found.get("rewritten")):
        if isinstance(one, dict) and (place := number(one.get("number"))) is not None and place in places:
            rewritten[place] = _text(one.get("context")), _texts(one.get("tags"))
    return Evolution(
        numbers(found.get("links"), places),
        _texts(found.get("tags")) or None,
        rewritten,
    )


def _objects(reply: Reply) -> Iterator[dict[str, Json]]:
    """The JSON objects of a reply, the last first; none of one that the provider declined."""
    return iter(()) if reply.finish == "refusal" else fields(reply.text)


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _texts(value: Json) -> tuple[str, ...]:
    """Texts, each once; a single text is taken apart at its commas."""
    parts: list[Json] = [*value.split(",")] if isinstance(value, str) else _listed(value)
    return tuple(dict.fromkeys(text for part in parts if (text := _text(part))))


def _text(value: Json) -> str:
    """A text on one line; nothing for what is no text."""
    return " ".join(value.split()) if isinstance(value, str) else ""
