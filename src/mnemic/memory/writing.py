"""Writing: plans made from what the store holds, each committed in one transaction."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, Literal

from mnemic import backfill, erase, ingest
from mnemic.algo import prefix
from mnemic.errors import ModelError, NotFound, StoreError
from mnemic.memory.agreement import calibrate, serving
from mnemic.memory.noting import Given, contradicted, resolved
from mnemic.memory.replacing import may as may_replace
from mnemic.memory.replacing import replace_old
from mnemic.memory.replan import replanned
from mnemic.protocols import Batch, CueExtractor, Embedder, Held, Removed, Store, Written
from mnemic.types import STATUSES, Added, Erased, Note, Task, Turn, WorkKind

_log = logging.getLogger("mnemic")

_CAUGHT_UP = 1000
"""Tasks up to which an ``add`` embeds what was left behind."""
_NARROWS: Final = {"session": "session_id", "speaker": "speaker"}


class Writer:
    """Plans and commits; whoever calls it plans again after a ``StoreConflict``.

    Args:
        store: Where the rows are.
        embedder: None leaves all vectors for later.
        extractor: Finds the cues.
        clock: Says when now is.
        warnings: Of the memory, repeated in every result.
        work: What language models do with new traces.
    """

    def __init__(
        self,
        store: Store,
        embedder: Embedder | None,
        extractor: CueExtractor,
        clock: Callable[[], datetime],
        warnings: Sequence[str],
        work: tuple[WorkKind, ...] = (),
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._extractor = extractor
        self._clock = clock
        self._warnings = tuple(warnings)
        self._work = work

    def add(
        self,
        user_id: str,
        turns: list[Turn],
        *,
        idempotency_key: str | None,
        resend: str | None,
        now: datetime,
        due: datetime | None,
        embeds: bool = True,
    ) -> Added:
        """Plan and write new turns once.

        Args:
            user_id: Whose.
            turns: As normalised.
            idempotency_key: See ``Memory.add``.
            resend: See there.
            now: When.
            due: When work on them is due; None for no work.
            embeds: Whether their vectors are made at once, with what others left of theirs.

        Raises:
            StoreConflict: Another writer came between.
        """
        if idempotency_key is not None and (done := self._store.request(user_id, idempotency_key)) is not None:
            return Added(turn_ids=done, new=0, warnings=self._warnings + self._lost(user_id, done, turns))
        tails: dict[str, str | None] = {}
        if resend:
            turns, tails = self._resent(user_id, turns)
        ids = tuple(turn.turn_id for turn in turns)
        known = self._store.known_turns(user_id, ids)
        warnings = self._warnings + self._contradicted(user_id, [turn for turn in turns if turn.turn_id in known])
        new = [turn for turn in turns if turn.turn_id not in known]
        if not new and idempotency_key is None:
            if embeds:
                self._catch_up(user_id)
            return Added(turn_ids=ids, new=0, warnings=warnings)
        batch, later = self._plan(user_id, new, embeds=embeds)
        batch = replace(batch, tails=tails, idempotency_key=idempotency_key, request_turns=ids)
        if due is not None:
            batch = replace(batch, work=self._work, due=due)
        written = self._store.write(user_id, batch, now=now)
        self._settle(user_id, batch, written)
        self._supersede(user_id, batch, written)
        if batch.vectors is not None:
            # Only now: an embedder that is down is asked once an add, not for everything that it owes.
            self._catch_up(user_id)
            self._calibrate(user_id)
        return Added(turn_ids=ids, new=len(new), notes=written.note_ids, warnings=warnings + later)

    def _plan(self, user_id: str, turns: list[Turn], *, embeds: bool) -> tuple[Batch, tuple[str, ...]]:
        """Everything derived from new turns, with vectors if they are wanted and possible; warnings if not possible."""
        names = self._store.speakers(user_id)
        batch = ingest.derive(turns, names=names, extractor=self._extractor)
        if not embeds:
            return ingest.postpone(batch), ()
        known = self._store.known_cues(user_id, batch.surfaces)
        batch, failures = self._embedded(batch, {turn.turn_id: turn.text for turn in turns}, names, known)
        return batch, tuple(
            f"turns stored, and found by their words alone for now: {len(turns)}: {failure}" for failure in failures
        )

    def _embedded(
        self, batch: Batch, texts: Mapping[str, str], names: Sequence[str], known_cues: Collection[str]
    ) -> tuple[Batch, tuple[str, ...]]:
        """The batch with its vectors; or, with the reason if there is one, with tasks to make them later."""
        embedder, failures = serving(self._embedder, self._store.embedder())
        try:
            if embedder is not None:
                return ingest.embed(batch, texts, embedder, names=names, known_cues=known_cues), ()
        except ModelError as error:
            failures = (str(error),)
        sizes = (len(batch.turns), len(batch.traces), len(batch.notes))
        for failure in failures:
            _log.warning("%d turns, %d traces and %d notes have no vectors yet: %s", *sizes, failure)
        return ingest.postpone(batch), failures

    def _settle(self, user_id: str, batch: Batch, written: Written) -> None:
        """Leave tasks where the embedder was switched between plan and write: its vectors do not serve any more.

        What was written stays written: no failure here may look like that of the write.
        """
        try:
            if batch.vectors is None or serving(self._embedder, self._store.embedder())[0] is not None:
                return
            # The vectors of local notes come with those of their turns.
            noted = zip(written.note_ids, batch.notes, strict=True)
            given = (note_id for note_id, note in noted if note.given_id is not None)
            owners = (*(turn.turn_id for turn in batch.turns), *written.trace_ids, *given)
            tasks = tuple(Task("embed", owner) for owner in owners)
            self._store.write(user_id, Batch(tasks=tasks), now=self._clock())
        except StoreError as error:
            _log.warning("some of what was stored for user %r has no vectors: %s", user_id, error)

    def _supersede(self, user_id: str, batch: Batch, written: Written) -> None:
        """Let new notes that say that something has changed take the place of what they changed.

        What was written stays written: no failure here may look like that of the write, and ``reflect`` does it then.
        """
        new = [note_id for note_id, note in zip(written.note_ids, batch.notes, strict=True) if may_replace(note)]
        if not new:
            return
        try:
            replanned(lambda: replace_old(self._store, user_id, new, now=self._clock()))
        except StoreError as error:
            _log.warning("what notes %s of user %r replace still counts: %s", ", ".join(new), user_id, error)

    def _contradicted(self, user_id: str, known: list[Turn]) -> tuple[str, ...]:
        """A warning where messages with known ids say something else than what is stored under them (fault B090)."""
        stored = {turn.turn_id: turn for turn in self._store.turns(user_id, turn_ids=[turn.turn_id for turn in known])}
        other = [turn.turn_id for turn in known if _said(stored.get(turn.turn_id, turn)) != _said(turn)]
        if not other:
            return ()
        return (f"messages not stored: {len(other)}; other words have the id already ({other[0]!r} first)",)

    def _lost(self, user_id: str, recorded: Sequence[str], sent: list[Turn]) -> tuple[str, ...]:
        """A warning where a call repeats an idempotency key with words that the first call did not store."""
        stored = self._store.turns(user_id, turn_ids=recorded)
        other = Counter(map(_said, sent)) - Counter(map(_said, stored))
        if not other:
            return ()
        return (
            f"messages not stored: {other.total()}; their idempotency key is that of a call with other words "
            "(or whose messages were erased since)",
        )

    def _resent(self, user_id: str, turns: list[Turn]) -> tuple[list[Turn], dict[str, str | None]]:
        """The turns of a client that sends its history again, known ones as stored; and each session's last turn."""
        resent = list(turns)
        tails: dict[str, str | None] = {}
        for session in dict.fromkeys(turn.session_id for turn in turns):
            sent = [i for i, turn in enumerate(turns) if turn.session_id == session]
            stored = self._store.turns(user_id, session_id=session)
            tails[session] = stored[-1].turn_id if stored else None
            places = prefix.recognise(list(map(_said, stored)), [_said(turns[i]) for i in sent], standing=_standing)
            for i, place in zip(sent, places, strict=True):
                resent[i] = turns[i] if place is None else stored[place]
        return resent, tails

    def _catch_up(self, user_id: str) -> None:
        """Embed what an embedder that failed left behind; failing again changes nothing.

        A backlog as of an import is left to those who make vectors on leases: an ``add`` must not take hours.
        """
        try:
            if self._embedder is None or not 0 < self._store.pending(user_id) <= _CAUGHT_UP:
                return
            embedder, _ = serving(self._embedder, self._store.embedder())
            if embedder is not None:
                self._fill(user_id, embedder)
        except StoreError as error:
            _log.warning("vectors are still missing for user %r: %s", user_id, error)

    def _calibrate(self, user_id: str) -> None:
        """Measure thresholds that nobody measured yet; failing leaves them to the next add."""
        try:
            if self._embedder is not None:
                calibrate(self._store, self._embedder, [user_id])
        except (ModelError, StoreError) as error:
            _log.warning("the thresholds are still those to begin with: %s", error)

    def _fill(self, user_id: str, embedder: Embedder) -> None:
        try:
            backfill.fill(self._store, embedder, user_id=user_id)
        except ModelError as error:
            _log.warning("vectors are still missing for user %r: %s", user_id, error)
            missing = next(self._store.unembedded(embedder.fingerprint, user_id=user_id, limit=1), None)
            if missing is not None and not self._store.pending(user_id):
                # The tasks are those of turns, which have theirs: something must say that others have none.
                owner = (*missing.turn_ids, *missing.trace_ids, *missing.cue_keys, *missing.note_ids)[0]
                self._store.write(user_id, Batch(tasks=(Task("embed", owner),)), now=self._clock())

    def add_notes(self, user_id: str, given: Sequence[Given], *, now: datetime) -> Added:
        """Plan and write given notes once.

        Raises:
            NotFound: There is no turn of an id that a note names.
            InvalidInput: A source reaches beyond its turn.
            StoreConflict: Another writer came between.
        """
        named = dict.fromkeys(turn_id for one in given for turn_id in one.turn_ids)
        turns = {turn.turn_id: turn for turn in self._store.turns(user_id, turn_ids=list(named))}
        notes = resolved(given, turns)
        found = self._store.notes(user_id, given_ids=[str(note.given_id) for note in notes], statuses=STATUSES)
        stored = {note.given_id: note for note in found}
        warnings = self._warnings + contradicted(notes, stored)
        first = {note.given_id: note for note in reversed(notes)}
        new = [note for note in notes if note.given_id not in stored and note is first[note.given_id]]
        ids = {given_id: note.note_id for given_id, note in stored.items()}
        if not new:
            self._catch_up(user_id)
            return Added((), 0, tuple(ids[note.given_id] for note in notes), warnings)
        batch, later = self._plan_notes(user_id, [ingest.guarded(note) for note in new])
        suspect = (place for place, note in enumerate(batch.notes) if note.status == "quarantined")
        batch = replace(batch, held=dict.fromkeys(suspect, Held("independent", None)))
        written = self._store.write(user_id, batch, now=now)
        self._settle(user_id, batch, written)
        if batch.vectors is not None:
            self._catch_up(user_id)
        ids |= {note.given_id: note_id for note, note_id in zip(new, written.note_ids, strict=True)}
        return Added((), len(new), tuple(ids[note.given_id] for note in notes), warnings + later)

    def _plan_notes(self, user_id: str, notes: list[Note]) -> tuple[Batch, tuple[str, ...]]:
        """Everything derived from new given notes, with vectors if possible, and warnings if not."""
        names = self._store.speakers(user_id)
        batch = ingest.derive_given(notes, names=names, extractor=self._extractor)
        known = self._store.known_cues(user_id, batch.surfaces)
        batch, failures = self._embedded(batch, {}, names, known)
        return batch, tuple(f"notes stored, without vectors for now: {len(notes)}: {failure}" for failure in failures)

    @property
    def embedder(self) -> Embedder | None:
        """Whose vectors it makes."""
        return self._embedder

    def derived(self, user_id: str, batch: Batch, *, now: datetime) -> Written:
        """Write what was made of stored turns, with the vectors of its notes and cues if possible.

        Raises:
            StoreConflict: Something is not as the batch's plan saw it.
        """
        names = self._store.speakers(user_id)
        known = self._store.known_cues(user_id, batch.surfaces)
        if batch.notes or batch.surfaces:
            batch, failures = self._embedded(batch, {}, names, known)
            if failures:
                # Those of new notes the store leaves itself, for it gives them their ids.
                later = [note.note_id for note in batch.notes if note.note_id]
                batch = replace(batch, tasks=(*batch.tasks, *(Task("embed", note_id) for note_id in later)))
        written = self._store.write(user_id, batch, now=now)
        self._settle(user_id, batch, written)
        return written

    def erase(self, user_id: str, what: Literal["turn", "session", "speaker"], name: str) -> Removed:
        """Plan and write an erasure once.

        Raises:
            NotFound: There is no such turn, session or speaker.
            StoreConflict: Another writer came between.
        """
        chosen: dict[str, Any] = {"turn_ids": [name]} if what == "turn" else {_NARROWS[what]: name}
        ids = [turn.turn_id for turn in self._store.turns(user_id, **chosen)]
        if not ids:
            raise NotFound(f"user {user_id!r} has no {what} {name!r}")
        batch, texts = erase.plan(self._store, user_id, ids)
        batch, _ = self._embedded(batch, texts, names=(), known_cues=())
        # What rested on the erased words too is gone: what is left of their traces is read again, but for its cues.
        batch = replace(batch, work=("notes", "episodes"), due=self._clock())
        written = self._store.write(user_id, batch, now=self._clock())
        self._settle(user_id, batch, written)
        return written.removed or Removed(Erased())


def _said(turn: Turn) -> tuple[object, ...]:
    """What makes two sendings of a message the same one; two pictures without words are two messages."""
    return turn.role, turn.speaker, turn.text, *(part.ref for part in turn.parts if part.ref is not None)


def _standing(said: tuple[object, ...]) -> bool:
    """Whether a message gives instructions, which may differ each time a dialogue is sent."""
    return said[0] == "system"
