"""Conversations as the documents that the reference systems search: traces, or turns.

A trace holds the same turns as mnemic's own (``algo.pack``, 128 tokens), so that at one level all systems choose from
the same things. What is ranked is the speaker's name and words; what a reader sees has the date too, as mnemic's hits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mnemic.algo import messages as shapes
from mnemic.algo import pack, render
from mnemic.bench.records import Hit, Level
from mnemic.errors import InvalidFile
from mnemic.importers import Conversation
from mnemic.types import Turn

TEXT = "Speaker: words, captions included; one line a turn"
"""What the texts are, for a system's ``configuration``."""
Piece = Sequence[tuple[Turn, int, int]]
"""Parts of turns of one session, ``(turn, start, end)``: at least one."""
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Documents:
    """One user's documents of one level, oldest first.

    Attributes:
        hits: Each as a system returns it.
        texts: Each as it is ranked, aligned with ``hits``.
        indices: For each the index of its last message in the user's history, ascending; empty where the messages
            have ids that are no such index.
    """

    hits: tuple[Hit, ...]
    texts: tuple[str, ...]
    indices: tuple[int, ...]

    def visible(self, end: int | None) -> int:
        """How many of the documents, from the oldest, hold only messages with an index below ``end``.

        Raises:
            InvalidFile: There is an end, and the messages have no index.
        """
        if end is None:
            return len(self.hits)
        if len(self.indices) != len(self.hits):
            raise InvalidFile("questions about a part of a history need messages whose id is their index in it")
        return bisect_left(self.indices, end)


def message_index(turn_id: str) -> int | None:
    """The place in the whole history that a message's id says it has (PersonaMem); None where it says no such thing."""
    return int(turn_id) if turn_id.isascii() and turn_id.isdigit() else None


def turns_of(conversation: Conversation) -> list[Turn]:
    """The turns of one conversation, as ``Memory.add`` makes them."""
    return shapes.normalise(
        list(conversation.messages),
        session_id=conversation.session_id,
        agent_id=conversation.agent_id,
        timestamp=None,
        timezone="UTC",
        metadata=None,
        now=_ANY_TIME,
        make_id=lambda: "",
    )


def documents(conversations: Sequence[Conversation], level: Level) -> Documents:
    """Cut one user's conversations into documents; no document goes beyond its conversation."""
    return of_pieces([piece for conversation in conversations for piece in _pieces(turns_of(conversation), level)])


def of_pieces(cut: Sequence[Piece]) -> Documents:
    """The documents of pieces that are already cut, oldest first."""
    hits = tuple(
        Hit(
            tuple(dict.fromkeys(turn.turn_id for turn, _, _ in piece)),
            piece[0][0].session_id,
            "\n".join(render.line(*part) for part in piece),
        )
        for piece in cut
    )
    texts = tuple("\n".join(f"{turn.speaker}: {turn.text[start:end]}" for turn, start, end in piece) for piece in cut)
    indices = (message_index(hit.turn_ids[-1]) for hit in hits)
    return Documents(hits, texts, tuple(index for index in indices if index is not None))


def _pieces(turns: Sequence[Turn], level: Level) -> list[list[tuple[Turn, int, int]]]:
    """The parts of turns that each document of one conversation is made of."""
    if level == "turn":
        return [[(turn, 0, len(turn.text))] for turn in turns]
    by_id = {turn.turn_id: turn for turn in turns}
    return [[(by_id[span.turn_id], span.start, span.end) for span in trace.spans] for trace in pack.pack(turns)]
