"""Episodes: stored as they are made, never edited, and erased with any of their turns."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, delete, select

from mnemic.algo.lexical import terms
from mnemic.errors import StoreConflict
from mnemic.store.adding import Adding
from mnemic.store.bulk import insert_rows
from mnemic.store.encodings import maybe_moment, moment
from mnemic.store.ids import numbers_of, pieces, public_id
from mnemic.store.read import rows_with
from mnemic.store.tables import episode_turns, episodes, removals, trace_spans, turns
from mnemic.store.work import again
from mnemic.types import Episode, Interval

if TYPE_CHECKING:
    from mnemic.store.read import AnyRow


def find(
    connection: Connection, user_id: str, *, episode_ids: Sequence[str] | None, session_id: str | None
) -> list[Episode]:
    """Episodes that meet all criteria, in the order of the dialogue."""
    query = select(episodes).where(episodes.c.user_id == user_id)
    if session_id is not None:
        query = query.where(episodes.c.session_id == session_id)
    if episode_ids is None:
        return whole(connection, user_id, connection.execute(query))
    return whole(connection, user_id, rows_with(connection, query, episodes.c.episode, numbers_of("E", episode_ids)))


def whole(connection: Connection, user_id: str, rows: Iterable[AnyRow]) -> list[Episode]:
    """Episodes with their turns, in the order of the dialogue, from their rows."""
    rows = list(rows)
    query = (
        select(episode_turns.c.episode, turns.c.seq, turns.c.turn_id, turns.c.timestamp, turns.c.utc_offset)
        .join(turns, (turns.c.user_id == episode_turns.c.user_id) & (turns.c.seq == episode_turns.c.seq))
        .where(episode_turns.c.user_id == user_id)
        .order_by(episode_turns.c.episode, episode_turns.c.no)
    )
    said: dict[int, list[AnyRow]] = defaultdict(list)
    for row in rows_with(connection, query, episode_turns.c.episode, (row.episode for row in rows)):
        said[row.episode].append(row)
    return [
        Episode(
            episode_id=public_id("E", row.episode),
            session_id=row.session_id,
            turn_ids=tuple(turn.turn_id for turn in said[row.episode]),
            topic=row.topic,
            summary=row.summary,
            time=_time(said[row.episode]),
            made_by=row.made_by,
            recorded_at=moment(row.recorded_at),
        )
        for row in sorted(rows, key=lambda row: said[row.episode][0].seq)
    ]


def add(adding: Adding, new: Sequence[Episode]) -> list[int]:
    """Add episodes; their numbers.

    Raises:
        StoreConflict: One of their turns is gone, or in another episode.
    """
    first = adding.counters.take("next_trace", len(new))
    rows: list[dict[str, Any]] = []
    its_turns: list[dict[str, int]] = []
    for number, episode in enumerate(new, first):
        rows.append(
            {
                "episode": number,
                "session_id": episode.session_id,
                "topic": episode.topic,
                "summary": episode.summary,
                "made_by": episode.made_by,
                "recorded_at": adding.now,
                "revision": adding.counters.revision,
            }
        )
        seqs = [adding.seq(turn_id) for turn_id in episode.turn_ids]
        its_turns += [{"episode": number, "no": no, "seq": seq} for no, seq in enumerate(seqs)]
    held = select(episode_turns.c.seq).where(episode_turns.c.user_id == adding.user_id)
    given = [row["seq"] for row in its_turns]
    if len(set(given)) < len(given) or rows_with(adding.connection, held, episode_turns.c.seq, given):
        raise StoreConflict(f"turns of user {adding.user_id!r} are in other episodes by now; plan the write again")
    adding.put(episodes, rows)
    adding.put(episode_turns, its_turns)
    return list(range(first, first + len(new)))


def remove(connection: Connection, user_id: str, revision: int, episode_ids: Iterable[str]) -> None:
    """Remove episodes that others take the place of. Raises StoreConflict when one is gone."""
    named = set(episode_ids)
    numbers = numbers_of("E", sorted(named))
    query = select(episodes.c.episode).where(episodes.c.user_id == user_id)
    if len(rows_with(connection, query, episodes.c.episode, numbers)) < len(named):
        raise StoreConflict(f"an episode of user {user_id!r} is gone; plan the write again")
    _remove(connection, user_id, revision, numbers)


def remove_with(connection: Connection, user_id: str, revision: int, seqs: Collection[int]) -> None:
    """Remove the episodes that hold some turns; their sessions are to be cut again, if they were by a model."""
    query = select(episode_turns.c.episode).where(episode_turns.c.user_id == user_id).distinct()
    numbers = sorted({row.episode for row in rows_with(connection, query, episode_turns.c.seq, seqs)})
    if not numbers:
        return
    spans = (
        select(trace_spans.c.trace)
        .join(
            episode_turns,
            (episode_turns.c.user_id == trace_spans.c.user_id) & (episode_turns.c.seq == trace_spans.c.seq),
        )
        .where(trace_spans.c.user_id == user_id)
        .distinct()
    )
    numbers = sorted({*numbers, *_named_after(connection, user_id, numbers, set(seqs))})
    held = rows_with(connection, spans, episode_turns.c.episode, numbers)
    again(connection, user_id, (row.trace for row in held), "episodes")
    _remove(connection, user_id, revision, numbers)


def _named_after(connection: Connection, user_id: str, numbers: Sequence[int], erased: Collection[int]) -> set[int]:
    """The other episodes that have a topic with words of erased turns in it, chosen when it was known from these."""
    mine = select(episodes.c.episode, episodes.c.topic).where(episodes.c.user_id == user_id)
    topics = {row.topic for row in rows_with(connection, mine, episodes.c.episode, numbers)}
    said = select(turns.c.text).where(turns.c.user_id == user_id)
    words = {term for row in rows_with(connection, said, turns.c.seq, erased) for term in terms(row.text)}
    found: set[int] = set()
    for topic in topics:
        theirs = words.intersection(terms(topic))
        others = connection.execute(mine.where(episodes.c.topic == topic)).all() if theirs else ()
        for episode in {row.episode for row in others} - set(numbers):
            own = said.join(
                episode_turns, (episode_turns.c.user_id == turns.c.user_id) & (episode_turns.c.seq == turns.c.seq)
            ).where(episode_turns.c.episode == episode)
            if not theirs <= {term for row in connection.execute(own) for term in terms(row.text)}:
                found.add(episode)
    return found


def _remove(connection: Connection, user_id: str, revision: int, numbers: Sequence[int]) -> None:
    for piece in pieces(numbers):
        mine = (episodes.c.user_id == user_id, episodes.c.episode.in_(piece))
        connection.execute(delete(episodes).where(*mine))
    rows = [{"user_id": user_id, "revision": revision, "kind": "episode", "number": number} for number in numbers]
    if rows:
        insert_rows(connection, removals, rows)


def _time(said: Sequence[AnyRow]) -> Interval:
    known = sorted((row.timestamp, row.utc_offset) for row in said if row.timestamp is not None)
    return Interval(maybe_moment(*known[0]), maybe_moment(*known[-1])) if known else Interval(None, None)
