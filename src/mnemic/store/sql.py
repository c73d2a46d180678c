"""The store of rows: one call, one transaction. What each method promises stands in ``protocols.Store``."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, insert, select

from mnemic.protocols import (
    EVERY_OPERATION,
    Batch,
    Delta,
    EmbedderRecord,
    Held,
    LogFilter,
    Mark,
    Removed,
    Unembedded,
    Written,
)
from mnemic.store import check, embedders, episodes, load, log, marks, notes, read, remove, users, vectors, write
from mnemic.store.database import alone
from mnemic.store.service_rows import ServiceTables
from mnemic.store.shared_tables import settings
from mnemic.store.sql_quarantine import SqlQuarantine
from mnemic.store.sql_work import SqlWork
from mnemic.store.tables import users as users_table
from mnemic.store.tally import Tally
from mnemic.types import (
    Counts,
    Episode,
    Erased,
    Metadata,
    Note,
    NoteStatus,
    Operation,
    Trace,
    Turn,
    Unit,
)

if TYPE_CHECKING:
    from mnemic.protocols import Floats


class SqlStore(SqlQuarantine, SqlWork, ServiceTables):
    """Rows in one database; made by ``open_store``."""

    def close(self) -> None:
        """Wait for the calls under way, then release the database."""
        self._database.close()

    # writing -------------------------------------------------------------------------------------------

    def write(self, user_id: str, batch: Batch, *, now: datetime) -> Written:
        """Commit a batch; where it erases, no byte of the erased words is left afterwards."""
        erases = bool(batch.remove_turns or batch.remove_traces)

        def commit(connection: Connection) -> Written:
            written = write.write(connection, user_id, batch, now=now)
            if erases:
                self._database.mark_erased(connection, user_id)
            return written

        written = self._database.change(commit, user_id=user_id)
        lingers = self._database.scrub() if erases else ()
        if written.removed is None or not lingers:
            return written
        return replace(written, removed=replace(written.removed, lingers=lingers))

    def set_metadata(self, user_id: str, turn_id: str, metadata: Metadata, *, now: datetime) -> None:
        """Replace a turn's metadata."""
        self._database.change(
            lambda connection: write.set_metadata(connection, user_id, turn_id, metadata, now=now), user_id=user_id
        )

    def delete_user(self, user_id: str) -> Removed:
        """Erase a user; only a digest of the id stays, with the numbers that must not come twice."""

        def erase(connection: Connection) -> Removed | None:
            if not users.exists(connection, user_id):
                return None
            tally = Tally(connection, user_id)
            remove.remove_user(connection, user_id)
            self._database.mark_erased(connection, user_id)
            return Removed(tally.gone())

        removed = self._database.change(erase, user_id=user_id)
        return Removed(Erased()) if removed is None else replace(removed, lingers=self._database.scrub())

    def unreached(self) -> tuple[str, ...]:
        """What an erasure does not reach."""
        return self._database.unreached()

    def put_vectors(
        self,
        user_id: str,
        fingerprint: str,
        *,
        units: Mapping[str, Floats],
        traces: Mapping[str, Floats],
        cues: Mapping[str, Floats],
        notes: Mapping[str, Floats],
    ) -> None:
        """Store late vectors."""

        def put(connection: Connection) -> None:
            if not users.exists(connection, user_id):
                return
            counters = users.begin(connection, user_id)
            given = vectors.numbered(connection, user_id, units, traces, cues, notes)
            vectors.save(connection, user_id, fingerprint, given, old=given)
            vectors.finish(connection, user_id, (*units, *traces, *cues, *notes))
            active = embedders.active(connection)
            if active is not None and active.fingerprint == fingerprint:
                vectors.touch(connection, user_id, counters.revision, given)
                users.save(connection, user_id, counters)

        self._database.change(put, user_id=user_id)

    # reading -------------------------------------------------------------------------------------------

    def revision(self, user_id: str) -> int:
        """Grows with every committed change, erasure of the user included."""
        counters = self._database.look(lambda connection: users.counters(connection, user_id))
        return counters.revision if counters else 0

    def mark(self, user_id: str) -> Mark:
        """Where the user's history stands."""
        return self._database.look(lambda connection: marks.mark(connection, user_id))

    def follows(self, user_id: str, mark: Mark) -> bool:
        """Whether what is stored came from what was stored at a mark, without an erasure."""
        return self._database.look(lambda connection: marks.follows(connection, user_id, mark))

    def load(self, user_id: str, *, since: int) -> Delta:
        """What changed since a revision."""
        return self._database.look(lambda connection: load.load(connection, user_id, since))

    def turns(
        self,
        user_id: str,
        *,
        turn_ids: Sequence[str] | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        speaker: str | None = None,
        after_seq: int = -1,
        limit: int | None = None,
    ) -> list[Turn]:
        """Turns by ``seq``."""
        return self._database.look(
            lambda connection: read.find_turns(
                connection,
                user_id,
                turn_ids=turn_ids,
                session_id=session_id,
                agent_id=agent_id,
                speaker=speaker,
                after_seq=after_seq,
                limit=limit,
            )
        )

    def tail(self, user_id: str, session_id: str) -> Turn | None:
        """The last turn of a session."""
        return self._database.look(lambda connection: read.tail(connection, user_id, session_id))

    def known_turns(self, user_id: str, turn_ids: Sequence[str]) -> set[str]:
        """Which of these exist."""
        return self._database.look(lambda connection: set(read.numbers_of_turns(connection, user_id, turn_ids)))

    def known_cues(self, user_id: str, keys: Collection[str]) -> set[str]:
        """Which of these have a vector of the active embedder."""
        return self._database.look(lambda connection: read.cues_with_vectors(connection, user_id, keys))

    def speakers(self, user_id: str) -> list[str]:
        """The speakers' names."""
        return self._database.look(lambda connection: read.speakers(connection, user_id))

    def request(self, user_id: str, idempotency_key: str) -> tuple[str, ...] | None:
        """The turn ids of an earlier call."""
        return self._database.look(lambda connection: read.request(connection, user_id, idempotency_key))

    def traces(
        self, user_id: str, *, trace_ids: Sequence[str] | None = None, turn_ids: Sequence[str] | None = None
    ) -> list[Trace]:
        """Traces by ordinal."""
        return self._database.look(
            lambda connection: read.find_traces(connection, user_id, trace_ids=trace_ids, turn_ids=turn_ids)
        )

    def units(self, user_id: str, turn_ids: Sequence[str]) -> list[Unit]:
        """Units by turn and position."""
        return self._database.look(lambda connection: read.find_units(connection, user_id, turn_ids))

    def notes(
        self,
        user_id: str,
        *,
        note_ids: Sequence[str] | None = None,
        given_ids: Sequence[str] | None = None,
        about: str | None = None,
        statuses: Collection[NoteStatus] = ("current",),
        after: str | None = None,
        limit: int | None = None,
        known_at: datetime | None = None,
    ) -> list[Note]:
        """Notes by number and version."""
        return self._database.look(
            lambda connection: notes.find_notes(
                connection,
                user_id,
                note_ids=note_ids,
                given_ids=given_ids,
                about=about,
                statuses=statuses,
                after=after,
                limit=limit,
                known_at=known_at,
            )
        )

    def held(self, user_id: str) -> dict[tuple[str, int], Held]:
        """What waits for a person."""
        return self._database.look(lambda connection: notes.held(connection, user_id))

    def episodes(
        self, user_id: str, *, episode_ids: Sequence[str] | None = None, session_id: str | None = None
    ) -> list[Episode]:
        """Episodes in the order of the dialogue."""
        return self._database.look(
            lambda connection: episodes.find(connection, user_id, episode_ids=episode_ids, session_id=session_id)
        )

    def operations(
        self,
        user_id: str,
        *,
        target_id: str | None = None,
        operation_ids: Sequence[str] | None = None,
        only: LogFilter = EVERY_OPERATION,
        after: str | None = None,
        limit: int | None = None,
    ) -> list[Operation]:
        """The log, oldest first unless ``only`` says otherwise."""
        return self._database.look(
            lambda connection: log.find_operations(
                connection,
                user_id,
                target_id=target_id,
                operation_ids=operation_ids,
                only=only,
                after=after,
                limit=limit,
            )
        )

    def counts(self, user_id: str) -> Counts:
        """Sizes."""

        def count(connection: Connection) -> Counts:
            counters = users.counters(connection, user_id)
            return Counts(**read.sizes(connection, user_id), revision=counters.revision if counters else 0)

        return self._database.look(count)

    # database ------------------------------------------------------------------------------------------

    def users(self) -> list[str]:
        """Every user id, sorted by bytes."""
        return self._database.look(
            lambda connection: list(
                connection.execute(select(users_table.c.user_id).order_by(users_table.c.user_id)).scalars()
            )
        )

    def size_bytes(self) -> int:
        """Bytes on disk."""
        return self._database.size_bytes()

    def check(self) -> list[str]:
        """Problems in words."""
        problems = self._database.problems()
        return self._database.look(lambda connection: problems + check.inconsistencies(connection))

    def setting(self, name: str) -> str | None:
        """A setting of the database."""
        query = select(settings.c.value).where(settings.c.name == name)
        return self._database.look(lambda connection: connection.execute(query).scalar_one_or_none())

    def set_setting(self, name: str, value: str) -> None:
        """Store a setting."""

        def put(connection: Connection) -> None:
            alone(connection, settings)
            connection.execute(delete(settings).where(settings.c.name == name))
            connection.execute(insert(settings), {"name": name, "value": value})

        self._database.change(put)

    def embedder(self) -> EmbedderRecord | None:
        """The active embedder."""
        return self._database.look(embedders.record)

    def use_embedder(self, record: EmbedderRecord) -> None:
        """Switch to an embedder."""

        def use(connection: Connection) -> bool:
            erases = embedders.use(connection, record)
            if erases:
                self._database.mark_erased(connection, None)
            return erases

        if self._database.change(use, everyone=True):
            self._database.scrub()

    def unembedded(self, fingerprint: str, *, user_id: str | None, limit: int) -> Iterator[Unembedded]:
        """What lacks vectors, piece by piece; no transaction is open between them."""
        return embedders.unembedded(self._database.look, fingerprint, user_id=user_id, limit=limit)
