"""Texts that a framework keeps under addresses and replaces as it likes: each is a session, its last turn what holds.

They lie in the user's memory beside what was said, told apart by the agent they are of, and are found by searches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from mnemic.algo.scope import LONGEST_ID, check_user
from mnemic.errors import NotFound
from mnemic.memory import Memory
from mnemic.types import Json, Turn

_FIELD: Final = "document"
_LONGEST: Final = LONGEST_ID - 112
"""Characters of an address that are shown as they are."""


@dataclass(frozen=True, slots=True)
class Document:
    """What an address holds.

    Attributes:
        turn_id: Of the words.
        text: Found by searches; at least its first line is not empty.
        data: What else the framework keeps of it.
        created_at, updated_at: When the address and its text came to be.
    """

    turn_id: str
    address: str
    text: str
    data: Mapping[str, Json]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Documents:
    """All addresses of one user and one kind.

    Attributes:
        kind: The agent that they are of: ``langgraph``.
    """

    memory: Memory
    user_id: str
    kind: str

    def __post_init__(self) -> None:
        """Check the user. Raises InvalidScope."""
        check_user(self.user_id)

    def put(self, address: str, text: str, data: Mapping[str, Json]) -> None:
        """Have an address hold something, which is then all that it holds. Doing it twice does nothing more.

        Raises:
            InvalidInput: The text is empty, or the data is no JSON.
        """
        before = self._turns(address)
        known = None if not before else document(before[-1])
        if known is not None and (known.text, dict(known.data)) == (text, dict(data)):
            self._erase(before[:-1])
            return
        now = datetime.now(UTC)
        created = now if known is None else known.created_at
        held = {"address": address, "created": created.isoformat(), "updated": now.isoformat(), "data": dict(data)}
        message = {"role": "assistant", "content": text, "timestamp": now, "metadata": {_FIELD: held}}
        # The new one first: whoever looks in between, or after a crash, finds the old or the new one, never none.
        self.memory.add(
            message, user_id=self.user_id, session_id=self._session(address), agent_id=self.kind, enrich="never"
        )
        self._erase(before)

    def get(self, address: str) -> Document | None:
        """What an address holds, if anything."""
        turns = self._turns(address)
        return document(turns[-1]) if turns else None

    def delete(self, address: str) -> bool:
        """Erase what an address holds; whether it held anything."""
        turns = self._turns(address)
        self._erase(turns)
        return bool(turns)

    def all(self) -> dict[str, Document]:
        """Every address with what it holds, in the order in which they were written last."""
        found: dict[str, Document] = {}
        for turn in self.memory.get_all(user_id=self.user_id, agent_id=self.kind):
            if (one := document(turn)) is not None:
                found.pop(one.address, None)
                found[one.address] = one
        return found

    def _turns(self, address: str) -> list[Turn]:
        return self.memory.get_all(user_id=self.user_id, agent_id=self.kind, session_id=self._session(address))

    def _session(self, address: str) -> str:
        if len(address) <= _LONGEST:
            return f"{self.kind}:{address}"
        return (
            f"{self.kind}:{address[:_LONGEST]} {hashlib.sha256(address.encode('utf-8', 'surrogatepass')).hexdigest()}"
        )

    def _erase(self, turns: list[Turn]) -> None:
        for turn in turns:
            try:
                self.memory.delete(user_id=self.user_id, turn_id=turn.turn_id)
            except NotFound:
                continue  # somebody else replaced it at the same time


def document(turn: Turn) -> Document | None:
    """The document that a turn holds; None for what is none."""
    held = turn.metadata.get(_FIELD)
    if not isinstance(held, dict):
        return None
    created, updated = (datetime.fromisoformat(str(held[name])) for name in ("created", "updated"))
    data = cast(Mapping[str, Json], held["data"])
    return Document(turn.turn_id, str(held["address"]), turn.text, data, created, updated)
