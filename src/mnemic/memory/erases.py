"""What is erased, with a receipt."""

from __future__ import annotations

from typing import Literal

from mnemic.algo import word_cache
from mnemic.algo.scope import check_id, check_scope, check_user
from mnemic.errors import InvalidInput
from mnemic.memory import told
from mnemic.memory.replan import replanned
from mnemic.memory.wiring import Wired
from mnemic.telemetry import spanned
from mnemic.types import Erasure

_ELSEWHERE = (
    "exports and answers that were given out before",
    "what providers of models were sent, where any are used",
    "the indexes in the memory of other processes, until each next reads or writes for this user",
)


class Erases(Wired):
    """What is erased."""

    @spanned("mnemic.erase", told.of_erased)
    def erase(
        self,
        *,
        user_id: str,
        turn_id: str | None = None,
        session_id: str | None = None,
        speaker: str | None = None,
        everything: bool = False,
    ) -> Erasure:
        """Erase a turn, a session, all that a speaker said, or a user, and give a receipt.

        With the words go, in one transaction, all that was made of them: sentences, traces (what is left of one comes
        back under a new id), notes that rest on any of them with their log, episodes, vectors, cues that nothing
        mentions any more, and work; what is under way cannot bring anything back. Then the database is rewritten.

        Args:
            user_id: Whose memory.
            turn_id: One message.
            session_id: One conversation.
            speaker: Whoever is called exactly so; what others said about them stays.
            everything: All of the user.

        Returns:
            How much of each kind went, where bytes of it linger for a while yet, and what is out of reach.

        Raises:
            InvalidInput: Not exactly one of the four was given.
            NotFound: There is no such turn, session or speaker. (A user whom nobody knows has nothing to erase.)
        """
        check_scope(user_id, session_id=session_id)
        named = {"turn": turn_id, "session": session_id, "speaker": speaker, "user": user_id if everything else None}
        chosen = [what for what, name in named.items() if name is not None]
        if len(chosen) != 1:
            raise InvalidInput("erase takes exactly one of turn_id, session_id, speaker and everything=True")
        if turn_id is not None:
            return self._erase(user_id, "turn", check_id(turn_id, "turn_id"))
        if session_id is not None:
            return self._erase(user_id, "session", session_id)
        if speaker is not None:
            return self._erase(user_id, "speaker", check_id(speaker, "speaker"))
        return self._erase(user_id, "user", None)

    def delete(self, *, user_id: str, turn_id: str | None = None, session_id: str | None = None) -> int:
        """``erase`` of one turn or one session; the number of turns erased.

        Raises:
            InvalidInput: Not exactly one of the two was given.
            NotFound: There is no such turn or session.
        """
        if (turn_id is None) == (session_id is None):
            check_user(user_id)
            raise InvalidInput("delete takes either turn_id or session_id; delete_all erases a user")
        return self.erase(user_id=user_id, turn_id=turn_id, session_id=session_id).erased.turns

    def delete_all(self, *, user_id: str) -> int:
        """``erase`` of everything of a user; the number of turns erased, 0 for an unknown user."""
        return self.erase(user_id=user_id, everything=True).erased.turns

    def _erase(self, user_id: str, what: Literal["turn", "session", "speaker", "user"], name: str | None) -> Erasure:
        if what == "user" or name is None:
            removed = self._store.delete_user(user_id)
        else:
            removed = replanned(lambda: self._writer.erase(user_id, what, name))
        # An index that is brought up to date later would hold the words until then.
        self._indexes.forget(user_id)
        word_cache.forget()
        return Erasure(what, name, self._clock(), removed.erased, removed.lingers, self._unreached(what))

    def _unreached(self, what: str) -> tuple[str, ...]:
        others = ("what others said about the speaker, and notes made of that",) if what == "speaker" else ()
        return (*others, *self._store.unreached(), *_ELSEWHERE)
