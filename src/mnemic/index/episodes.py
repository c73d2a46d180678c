"""The episodes of one user: the stored ones, and what sessions were cut into since they last changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mnemic.types import Episode

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
