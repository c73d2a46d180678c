"""Work on traces: claimed, done by language models, and written with its completion in one transaction."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from mnemic import enrich
from mnemic.config import Enriching
from mnemic.errors import (
    BudgetExceeded,
    LanguageModelBusy,
    LanguageModelFailed,
    ModelError,
    ReplyUnusable,
    StoreConflict,
    StoreError,
)
from mnemic.memory.liveness import Watch
from mnemic.memory.making import Build, Maker
from mnemic.memory.neighbours import Neighbours
from mnemic.memory.replan import replanned
from mnemic.models.foreign import told
from mnemic.protocols import Lease, Written
from mnemic.telemetry import Attributes, span
from mnemic.types import Note, Purpose, WorkKind

if TYPE_CHECKING:
    from mnemic.index import Indexes
    from mnemic.memory.writing import Writer
    from mnemic.models.purposes import LanguageModels
    from mnemic.protocols import CueExtractor, Store

_log = logging.getLogger("mnemic")

Outcome = Literal["idle", "done", "put_off"]
PAUSED: Final = "paused: "
"""How the reason of work begins that a budget put off."""
_LOOK_AGAIN: Final = timedelta(minutes=1)
_FIRST_WAIT_S, _LONGEST_WAIT_S = 10.0, 900.0
_WHOLE_SESSION: Final = 1 << 16


class Enricher:
    """Does one piece of work after another; any number of them share a database.

    Args:
        store: Where the rows and the work are.
        models: Who is asked for what.
        settings: What shall be made.
        indexes: Of the same store.
        extractor: Finds the cues of notes.
        writer: Gives the current writer, which has the embedder.
        clock: Says when now is.
        make_id: Names leases.
    """

    def __init__(
        self,
        store: Store,
        models: LanguageModels,
        settings: Enriching,
        *,
        indexes: Indexes,
        extractor: CueExtractor,
        writer: Callable[[], Writer],
        clock: Callable[[], datetime],
        make_id: Callable[[], str],
    ) -> None:
        self._store = store
        self.settings = settings
        self._writer = writer
        self._clock = clock
        self._make_id = make_id
        self.maker = Maker(store, models, settings, extractor, lambda: Neighbours(store, indexes, writer().embedder))
        self.kinds = _kinds(settings, models.names)
        self._watch = Watch(store.leases)
        self.under_way: dict[str, Lease] = {}

    def due(self, *, hurry: bool) -> datetime:
        """When work on what is said now is due."""
        return self._clock() + timedelta(seconds=0.0 if hurry else self.settings.settle_s)

    def step(self, *, user_id: str | None = None, hurry: bool = False) -> Outcome:
        """Do what is due longest, if anything is: ``put_off`` where it was given back undone.

        Args:
            user_id: Only of this user.
            hurry: Do not wait for more of a session.
        """
        lease = self._claim(user_id, hurry=hurry)
        if lease is None:
            return "idle"
        if lease.attempts > self.settings.tries:
            self._release(lease, None, f"begun {lease.attempts - 1} times, and never ended: its process stopped")
            return "put_off"
        self.under_way[lease.token] = lease
        told: Attributes = {
            "mnemic.kind": lease.kind,
            "mnemic.traces": len(lease.trace_ids),
            "mnemic.attempts": lease.attempts,
        }
        try:
            with span("mnemic.enrich", told) as tell:
                outcome = self._do(lease)
                tell({"mnemic.outcome": outcome})
                return outcome
        except (KeyboardInterrupt, SystemExit):
            with suppress(StoreError):  # then it falls silent
                self._give_back(lease)
            raise
        finally:
            del self.under_way[lease.token]

    def extend(self) -> None:
        """Let the leases under way run on."""
        until = self._clock() + timedelta(seconds=self.settings.lease_s)
        for lease in list(self.under_way.values()):
            self._store.extend(lease, until=until)

    def watch(self) -> None:
        """Look for signs of life of those who have leases."""
        self._watch.silent()

    def give_back(self) -> None:
        """Let others have the work under way: it is not waited for any more."""
        for lease in list(self.under_way.values()):
            self._give_back(lease)

    def _give_back(self, lease: Lease) -> None:
        self._store.release(lease, due=self._clock(), reason="", counts=False)

    def _claim(self, user_id: str | None, *, hurry: bool) -> Lease | None:
        now = self._clock()
        until = now + timedelta(seconds=self.settings.lease_s)
        by_size: list[tuple[list[WorkKind], int]] = [
            ([kind for kind in self.kinds if kind != "episodes"], self.settings.batch),
            ([kind for kind in self.kinds if kind == "episodes"], _WHOLE_SESSION),
        ]
        for kinds, limit in by_size:
            if not kinds:
                continue
            token = self._make_id().replace("-", "")[:32]
            lease = self._store.claim(
                kinds,
                token=token,
                now=now,
                until=until,
                user_id=user_id,
                hurry=hurry,
                limit=limit,
                silent=self._watch.silent(),
            )
            if lease is not None:
                return lease
        return None

    def _do(self, lease: Lease) -> Outcome:
        try:
            passage = enrich.read(self._store, lease.user_id, lease.session_id, lease.trace_ids)
            if passage is None:
                return "done"  # erased, and the work with it
            build = self.maker.built(lease, passage)
            return replanned(partial(self._write, lease, build))
        except (BudgetExceeded, ReplyUnusable) as error:
            return self._again(lease, error)
        except LanguageModelBusy as error:
            wait = max(error.retry_after_s or 0.0, min(_FIRST_WAIT_S * 2.0 ** (lease.attempts - 1), _LONGEST_WAIT_S))
            self._put_off(lease, wait, str(error))
        except LanguageModelFailed as error:
            return self._again(lease, error)
        except ModelError as error:
            self._release(lease, None, str(error))
        except StoreConflict as error:
            self._put_off(lease, 0.0, f"what was read is lost: {error}")
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - models are anybody's code: one that breaks must not stop other work
            _log.exception("work on traces of user %r broke", lease.user_id)
            self._release(lease, None, told(error))
        return "put_off"

    def _again(self, lease: Lease, error: BudgetExceeded | ReplyUnusable | LanguageModelFailed) -> Outcome:
        """Ask again: for half as much where that may be more to the point."""
        if len(lease.trace_ids) > 1 and lease.kind != "episodes" and self._is_too_much(lease, error):
            half = len(lease.trace_ids) // 2
            rest = lease.trace_ids[half:]
            self._store.release(lease, due=self._clock(), reason="", counts=False, trace_ids=rest)
            return self._do(replace(lease, trace_ids=lease.trace_ids[:half]))
        if isinstance(error, BudgetExceeded):
            self._release(lease, self._clock() + _LOOK_AGAIN, f"{PAUSED}{error}", counts=False)
        elif isinstance(error, LanguageModelFailed):
            self._release(lease, None, str(error))
        else:
            self._put_off(lease, 0.0, str(error))
        return "put_off"

    def _is_too_much(self, lease: Lease, error: BudgetExceeded | ReplyUnusable | LanguageModelFailed) -> bool:
        if isinstance(error, BudgetExceeded):
            return error.budget == "call"
        if isinstance(error, LanguageModelFailed):
            return error.too_long
        # At last: what no model will read must not take what stands beside it with it.
        return error.failure == "truncated" or lease.attempts >= self.settings.tries

    def _put_off(self, lease: Lease, wait_s: float, reason: str) -> None:
        if lease.attempts >= self.settings.tries:
            self._release(lease, None, reason)
        else:
            self._release(lease, self._clock() + timedelta(seconds=wait_s), reason)

    def _release(self, lease: Lease, due: datetime | None, reason: str, *, counts: bool = True) -> None:
        level = logging.ERROR if due is None else logging.WARNING
        fate = "failed" if due is None else "is put off"
        _log.log(
            level,
            "work on %d traces of user %r (%s) %s: %s",
            len(lease.trace_ids),
            lease.user_id,
            lease.kind,
            fate,
            reason,
        )
        self._store.release(lease, due=due, reason=reason, counts=counts)

    # writing it ----------------------------------------------------------------------------------------

    def learn(self, user_id: str, notes: Sequence[Note], by: str) -> tuple[str, ...]:
        """Bring new notes among the known ones at once, as far as their sources bear them out.

        Args:
            user_id: Whose they are.
            notes: Without ids and cues.
            by: Who found them, for the log.

        Returns:
            The ids of the operations.

        Raises:
            ModelError: No reply came about conflicts; nothing was written.
        """
        if not self._store.speakers(user_id):
            return ()  # erased since: nothing may make the user anew
        build = self.maker.learnt(user_id, notes, run=self._make_id(), trigger=f"{by}: evolution")
        written = replanned(partial(self._commit, user_id, build, None))
        return written.operation_ids if written is not None else ()

    def _write(self, lease: Lease, build: Build) -> Outcome:
        """Write what was made, if the work is still this one's. Raises StoreConflict: plan again."""
        held = self._store.leased(lease)
        mine = tuple(trace_id for trace_id in lease.trace_ids if trace_id in held)
        if not mine:
            return "done"  # by another, or erased
        lease = replace(lease, trace_ids=mine)
        if self._commit(lease.user_id, build, lease) is None:
            self._give_back(lease)
            return "put_off"
        return "done"

    def _commit(self, user_id: str, build: Build, lease: Lease | None) -> Written | None:
        batch = build()
        if batch is None:
            return None
        return self._writer().derived(user_id, replace(batch, lease=lease), now=self._clock())


def _kinds(settings: Enriching, names: Collection[Purpose]) -> tuple[WorkKind, ...]:
    """What there is a model for, of what is wanted; a call that reads notes by traces reads their cues, too."""
    kinds: list[WorkKind] = []
    if settings.cues == "model" and settings.notes != "trace" and "cues" in names:
        kinds.append("cues")
    if (settings.notes == "trace" and "cues" in names) or (settings.notes == "session" and "notes" in names):
        kinds.append("notes")
    if settings.episodes == "model" and "segment" in names:
        kinds.append("episodes")
    return tuple(kinds)
