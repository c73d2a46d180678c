"""The log of operations played again: how every version of a note stood at any moment, pure.

What a version states never changes, so its standing (status and validity) is all that a log has to say of it: each
entry holds both, before and after. Entries of schemas before 0008 do not say how a version stood when it was made: then
it stood as the next entry about it found it, or as it does now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from mnemic.types import STATUSES, Interval, Json, Note, NoteStatus, Operation

Version = tuple[str, int]
"""note_id and version."""

_STATUSES: Final[dict[str, NoteStatus]] = {status: status for status in STATUSES}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a version of a note stands: what it states, whether that counts, and when it holds."""

    text: str | None
    status: NoteStatus
    valid: Interval


def replay(
    operations: Iterable[Operation], *, until: datetime | None = None, now: Iterable[Note] = ()
) -> dict[Version, Standing]:
    """How every version stood once the entries up to a moment were written.

    Args:
        operations: The log, or all of it that is about some notes, oldest first.
        until: Entries made later are left out; None for none. They are looked at only for what old entries do not say.
        now: Versions as they stand now, for what no entry says.
    """
    log = [one for one in operations if one.version is not None]
    first = _first(log, now)
    found: dict[Version, Standing] = {}
    for one in log:
        if until is not None and one.at > until:
            continue
        version = (one.target_id, one.version or 0)
        pair = stood(one)
        if pair is not None:
            before = found.get(version)
            found[version] = Standing(one.after if before is None else before.text, *pair[1])
        elif version in first:
            found[version] = Standing(one.after, *first[version])
        if makes(one) and version in found and found[version].status == "current":
            _supersede(found, version)
    return found


def makes(operation: Operation) -> bool:
    """Whether an entry is that of a new version."""
    pair = stood(operation)
    return operation.version is not None and operation.action in ("ADD", "UPDATE") and (pair is None or pair[0] is None)


def stood(
    operation: Operation,
) -> tuple[tuple[NoteStatus, Interval] | None, tuple[NoteStatus, Interval]] | None:
    """Status and validity before (None for a new version) and after an entry; None where it does not say."""
    status, valid = operation.detail.get("status"), operation.detail.get("valid")
    if not isinstance(status, list) or not isinstance(valid, list) or len(status) != 2 or len(valid) != 2:
        return None
    before, after = (_read(*pair) for pair in zip(status, valid, strict=True))
    return None if after is None else (before, after)


def made(note: Note, detail: Mapping[str, Json]) -> dict[str, Json]:
    """What the log says of a new version, besides its own detail."""
    return {"status": [None, note.status], "valid": [None, written(note.valid)], **detail}


def turned(before: tuple[NoteStatus, Interval], after: tuple[NoteStatus, Interval]) -> dict[str, Json]:
    """What the log says of a version that counts otherwise."""
    return {"status": [before[0], after[0]], "valid": [written(before[1]), written(after[1])]}


def ends(valid: Json) -> Interval:
    """An interval as the log writes it: a list of two times in ISO format."""
    start, end = valid if isinstance(valid, list) and len(valid) == 2 else (None, None)
    return Interval(*(None if one is None else datetime.fromisoformat(str(one)) for one in (start, end)))


def _read(status: Json, valid: Json) -> tuple[NoteStatus, Interval] | None:
    """None of what the store did not write: an export may hold anything."""
    known = _STATUSES.get(status) if isinstance(status, str) else None
    try:
        return None if known is None else (known, ends(valid))
    except ValueError:
        return None


def written(valid: Interval) -> list[Json]:
    """The other way round."""
    return [None if end is None else end.isoformat() for end in (valid.start, valid.end)]


def as_stood(notes: Iterable[Note], standings: Mapping[Version, Standing]) -> list[Note]:
    """Notes as they stood, without the versions that there were not."""
    found: list[Note] = []
    for note in notes:
        standing = standings.get((note.note_id, note.version))
        if standing is not None:
            found.append(replace(note, status=standing.status, valid=standing.valid))
    return found


def _first(log: Iterable[Operation], now: Iterable[Note]) -> dict[Version, tuple[NoteStatus, Interval]]:
    """How versions stood when they were made, where the entry of that does not say so."""
    first: dict[Version, tuple[NoteStatus, Interval]] = {}
    for one in log:
        pair = stood(one)
        if pair is not None and pair[0] is not None:
            first.setdefault((one.target_id, one.version or 0), pair[0])
    latest: dict[str, int] = {}
    for note in now:
        latest[note.note_id] = max(note.version, latest.get(note.note_id, 0))
    for note in now:
        # What a next version took the place of was current until then.
        passed = note.status == "superseded" and note.version < latest[note.note_id]
        first.setdefault((note.note_id, note.version), ("current" if passed else note.status, note.valid))
    return first


def _supersede(found: dict[Version, Standing], version: Version) -> None:
    """A new version that counts takes the place of those before it."""
    note_id, number = version
    for its in range(1, number):
        standing = found.get((note_id, its))
        if standing is not None and standing.status == "current":
            found[note_id, its] = replace(standing, status="superseded")
