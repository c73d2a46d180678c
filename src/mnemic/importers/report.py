"""What an import did, and what it left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from mnemic.importers.records import Derived, Notice, Skipped
from mnemic.types import Json

PLACES = 5
"""Places that are told of each reason."""


@dataclass(slots=True)
class Report:
    """What an import did.

    Attributes:
        users: Whose memories it went to, in order of appearance.
        sessions: How many sessions of those had messages.
        messages: How many messages the memory took or knew already.
        new: How many it did not have before.
        notes: How many notes of an export were not read, since they are made again from the messages.
        restored: How many versions of notes, episodes and entries of the log were written back with an export.
        given: How many notes of an export, that somebody else wrote, the memory took or knew already.
        skipped: reason -> how many, and where the first one was.
        places: reason -> where the first few were.
        notices: How the file was read, where it could have been read otherwise.
        warnings: What the memory said, each once.
    """

    users: list[str] = field(default_factory=list[str])
    sessions: int = 0
    messages: int = 0
    new: int = 0
    notes: int = 0
    given: int = 0
    restored: int = 0
    skipped: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    warnings: list[str] = field(default_factory=list[str])
    places: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    notices: list[str] = field(default_factory=list[str])

    def skip(self, what: Skipped | Derived | Notice) -> None:
        """Count something that is not read, or keep what is to be told."""
        if isinstance(what, Derived):
            self.notes += 1
            return
        if isinstance(what, Notice):
            self.notices += [what.text] * (what.text not in self.notices)
            return
        count, first = self.skipped.get(what.reason, (0, what.where))
        self.skipped[what.reason] = (count + 1, first)
        places = self.places.setdefault(what.reason, [])
        if len(places) < PLACES:
            places.append(what.where)

    def told(self, files: Mapping[str, str], *, unembedded: int, dry_run: bool) -> dict[str, Json]:
        """The report for programs, the same on every surface.

        Args:
            files: File name -> what it was read as.
            unembedded: How much waits for its vectors afterwards.
            dry_run: Whether nothing was stored.
        """
        skipped: list[Json] = [
            {"reason": reason, "count": count, "first": first, "places": list(self.places[reason])}
            for reason, (count, first) in self.skipped.items()
        ]
        fields = asdict(self)
        del fields["places"]
        return {"files": dict(files), **fields, "skipped": skipped, "unembedded": unembedded, "dry_run": dry_run}
