"""Notes that somebody else made of the dialogues, given to a memory as its profile; results say so.

LoCoMo has its own, ``observation``: facts that a language model wrote, with the turn they came from. Any other notes
come from a file with one JSON object a line: ``{"user_id", "about", "text", "sources": [turn ids]}``; ``about`` may be
missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from mnemic.bench.datasets.evidence import turn_ids
from mnemic.bench.datasets.loading import checksum, locate
from mnemic.bench.datasets.parsed import listed
from mnemic.bench.records import Dataset
from mnemic.errors import InvalidInput
from mnemic.importers import Skipped, locomo
from mnemic.importers.files import SourceFile, Unusable, parse
from mnemic.types import Json

NOT_A_NOTE = "not a note (an object with user_id, text and sources)"
OTHER_USER = "a note about a user who is not measured"
NO_SOURCE = "a note that names no turn of its conversation"
LOST_SOURCE = "a source of a note that names no turn of its conversation"


@dataclass(frozen=True, slots=True)
class GivenNote:
    """One statement, with the turns it came from.

    Attributes:
        user_id: Whose memory it goes to.
        about: Whom it is about, a speaker's name; None where the file does not say.
        text: The statement.
        turn_ids: At least one; all are turns of that user.
    """

    user_id: str
    about: str | None
    text: str
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenNotes:
    """The notes of a file, as far as they are about the users of a data set.

    Attributes:
        label: What they are, for the reports: ``observation``, or the file's name.
        checksum: SHA-256 of the file, in hex.
        notes: In the order of the file.
        left_out: Reason -> how many notes, or sources of notes, were left out for it.
    """

    label: str
    checksum: str
    notes: tuple[GivenNote, ...]
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])

    def of(self, user_id: str) -> tuple[GivenNote, ...]:
        """Those of one user, in order."""
        return tuple(note for note in self.notes if note.user_id == user_id)

    @property
    def provenance(self) -> dict[str, Json]:
        """What results say of them."""
        return {"label": self.label, "checksum": self.checksum, "given": len(self.notes)}


def load_notes(
    notes: Literal["observation"] | Path, dataset: Dataset, *, data: Path, file: Path | None = None
) -> GivenNotes:
    """Read notes about the users of a data set.

    Args:
        notes: ``observation`` for LoCoMo's own, or a file with a note a line; plain or gzip.
        dataset: What was loaded.
        data: The folder of the data sets (``MNEMIC_DATA``).
        file: The file that the data set was loaded from, where it was another one.

    Raises:
        InvalidInput: Observations of another data set than LoCoMo.
        InvalidFile: The file cannot be read, or holds no note about these users.
    """
    if isinstance(notes, Path):
        path = notes
        given = _of_lines(path)
    elif dataset.name != "locomo":
        raise InvalidInput(f"{dataset.name} has no observations, only LoCoMo has: give a file of notes")
    else:
        path = locate("locomo", data) if file is None else file
        given = _observations(path, dataset)
    turns = _turns(dataset)
    left_out: Counter[str] = Counter()
    found = tuple(note for one in given if (note := _checked(one, turns, left_out)))
    if not found:
        reasons = "; ".join(f"{reason}: {count}" for reason, count in left_out.items())
        raise Unusable(path, "holds no note about the users of the data set", place=reasons)
    label = path.name if isinstance(notes, Path) else notes
    return GivenNotes(label, checksum([path]), found, dict(left_out))


@dataclass(frozen=True, slots=True)
class _Written:
    """A note as it is written."""

    user_id: str
    about: str | None
    text: str
    sources: tuple[Json, ...]


def _checked(note: _Written | None, turns: Mapping[str, frozenset[str]], left_out: Counter[str]) -> GivenNote | None:
    """The note with the turns that are there; None, counted, where it cannot be used."""
    if note is None:
        left_out[NOT_A_NOTE] += 1
        return None
    if note.user_id not in turns:
        left_out[OTHER_USER] += 1
        return None
    sources, lost = turn_ids(note.sources, turns[note.user_id])
    if not sources:
        left_out[NO_SOURCE] += 1
        return None
    if lost:
        left_out[LOST_SOURCE] += lost
    return GivenNote(note.user_id, note.about, note.text, sources)


def _observations(path: Path, dataset: Dataset) -> Iterator[_Written | None]:
    """The observations about the users of a data set: ``{session: {speaker: [[text, turn id or ids]]}}``."""
    for sample in locomo.samples(SourceFile.at(path)):
        if not isinstance(sample, dict) or str(sample.get("sample_id")) not in dataset.conversations:
            continue
        user, observed = str(sample["sample_id"]), sample.get("observation")
        for of_session in observed.values() if isinstance(observed, dict) else ():
            for speaker, facts in of_session.items() if isinstance(of_session, dict) else ():
                yield from (_observation(user, speaker, fact) for fact in listed(facts))


def _observation(user: str, speaker: str, fact: Json) -> _Written | None:
    if not isinstance(fact, list) or len(fact) != 2 or not isinstance(text := fact[0], str) or not text.strip():
        return None
    sources = fact[1] if isinstance(fact[1], list) else [fact[1]]
    return _Written(user, speaker, text, tuple(sources))


def _of_lines(path: Path) -> Iterator[_Written | None]:
    for line in SourceFile.at(path).lines():
        try:
            value = None if isinstance(line, Skipped) else parse(line.text)
        except ValueError:
            value = None
        yield _note(value) if isinstance(value, dict) else None


def _note(value: Mapping[str, Json]) -> _Written | None:
    user, about, text, sources = (value.get(key) for key in ("user_id", "about", "text", "sources"))
    if not isinstance(user, str) or not isinstance(text, str) or not text.strip() or not isinstance(sources, list):
        return None
    # A turn's id may be its number, as in PersonaMem.
    written = tuple(str(one) if isinstance(one, int) else one for one in sources)
    return _Written(user, about if isinstance(about, str) and about else None, text, written)


def _turns(dataset: Dataset) -> dict[str, frozenset[str]]:
    """User id -> the ids of all turns."""
    return {
        user: frozenset(str(message["id"]) for conversation in conversations for message in conversation.messages)
        for user, conversations in dataset.conversations.items()
    }
