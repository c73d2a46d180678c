"""The part of the public interface that looks around in what is stored, without a question."""

from __future__ import annotations

from mnemic.algo.scope import check_scope, check_user
from mnemic.errors import InvalidInput
from mnemic.memory import exploring
from mnemic.memory.search import check_count
from mnemic.memory.wiring import Wired
from mnemic.types import Cue, Neighbourhood, Session, Trace


class Explores(Wired):
    """Sessions, traces, cues and what surrounds a cue."""

    def sessions(self, *, user_id: str) -> list[Session]:
        """Every conversation, in the order in which they began."""
        return exploring.sessions(self._store, self._indexes, check_user(user_id))

    def traces(self, *, user_id: str, session_id: str | None = None) -> list[Trace]:
        """What a search can find: runs of turns of one session, in the order of the dialogue.

        Args:
            user_id: Whose memory.
            session_id: Only of this session.
        """
        scope = check_scope(user_id, session_id=session_id)
        if session_id is None:
            return self._store.traces(scope.user_id)
        said = self._store.turns(scope.user_id, session_id=session_id)
        return self._store.traces(scope.user_id, turn_ids=[turn.turn_id for turn in said])

    def cues(self, *, user_id: str, like: str | None = None, limit: int = 50) -> list[Cue]:
        """What sentences and current notes mention, what most of them mention first.

        Args:
            user_id: Whose memory.
            like: Only cues that contain this text; case does not matter.
            limit: Cues at most.
        """
        check_user(user_id)
        check_count(limit, "limit")
        if like is not None and not isinstance(like, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
            raise InvalidInput(f"like is a text, not {type(like).__name__}")
        return exploring.cues(self._indexes, user_id, like=like, limit=limit)

    def neighbours(self, key: str, *, user_id: str, limit: int = 20) -> Neighbourhood:
        """What one step leads to from a cue: sentences, current notes, and the cues beside it.

        Args:
            key: The cue's, as ``cues`` gives it.
            user_id: Whose memory.
            limit: Of each kind at most.

        Raises:
            NotFound: Nothing mentions such a cue.
        """
        check_user(user_id)
        check_count(limit, "limit")
        return exploring.neighbours(self._store, self._indexes, user_id, key, limit=limit)
