"""The episodes of one user: the stored ones, and what sessions were cut into since they last changed."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Self

from mnemic.index import state
from mnemic.types import Episode, Interval, Json

if TYPE_CHECKING:
    from mnemic.algo.episodes import Stretch


class Episodes:
    """Episodes that follow the rows.

    Attributes:
        stored: By id.
        cuts: Session -> its episodes, stored and local; filled by ``algo.episodes`` when they are asked for.
    """

    def __init__(self) -> None:
        self.stored: dict[str, Episode] = {}
        self.cuts: dict[str, tuple[Stretch, ...]] = {}

    def put(self, episodes: Iterable[Episode]) -> None:
        """Add stored episodes."""
        for episode in episodes:
            self.stored[episode.episode_id] = episode
            self.changed(episode.session_id)

    def remove(self, episode_ids: Iterable[str]) -> None:
        """Forget stored episodes; unknown ones are gone already."""
        for episode_id in episode_ids:
            episode = self.stored.pop(episode_id, None)
            if episode is not None:
                self.changed(episode.session_id)

    def changed(self, session_id: str | None) -> None:
        """A session's turns or their vectors are others than before."""
        if session_id is not None:
            self.cuts.pop(session_id, None)

    def state(self) -> state.State:
        """What ``restored`` takes."""
        return state.of_json("stored", [_told(episode) for episode in self.stored.values()])

    @classmethod
    def restored(cls, held: state.Held) -> Self:
        """The stored ones as they were. Raises KeyError, TypeError or ValueError where they are damaged."""
        episodes = cls()
        for *words, turn_ids, start, end, recorded in state.from_json("stored", held):
            episode_id, session_id, topic, summary, made_by = words
            time = Interval(_time(start), _time(end))
            found = Episode(episode_id, session_id, tuple(turn_ids), topic, summary, time, made_by, _time(recorded))
            episodes.stored[episode_id] = found
        return episodes


def _told(episode: Episode) -> list[Json]:
    words = (episode.episode_id, episode.session_id, episode.topic, episode.summary, episode.made_by)
    times = (episode.time.start, episode.time.end, episode.recorded_at)
    return [*words, list(episode.turn_ids), *(None if time is None else time.isoformat() for time in times)]


def _time(told: str | None) -> datetime | None:
    return None if told is None else datetime.fromisoformat(told)
