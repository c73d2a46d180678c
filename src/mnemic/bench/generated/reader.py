"""The language model that mnemic's own memories ask in a benchmark, and what they make of it (HERO's, HiMem's).

A memory gets it as any other model, through ``Memory.open``; every reply is kept and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Final

from mnemic.algo import render
from mnemic.bench.answers.cache import key
from mnemic.bench.records import PROMPT_TOKENS, Hit
from mnemic.config import Enriching
from mnemic.errors import LanguageModelFailed
from mnemic.models.metered import size
from mnemic.types import Json, Mode, Purpose

if TYPE_CHECKING:
    from mnemic import Memory
    from mnemic.bench.generated.model import MemoryModel
    from mnemic.bench.records import Usage
    from mnemic.protocols import Completion, Reply
    from mnemic.types import Note, SearchResult


_WARNINGS: Final[Mapping[str, Purpose]] = {"cues of the question": "cues", "taken for insufficient": "sufficiency"}
"""Words of what a search says of a reply that it could not use -> what that was to be; of all others notes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a language model makes of a memory's words, and how it is searched then.

    Attributes:
        enriching: As ``Memory.open`` takes it.
        mode: As ``Memory.search`` takes it.
        evolve: Whether a search may change notes.
        most: Notes and episodes that a search asks for at most; None for as many as are wanted.
    """

    enriching: Enriching | str
    mode: Mode = "graph"
    evolve: bool = False
    most: int | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked for one thing.

    Attributes:
        took_s: Seconds that the replies took; of kept ones when they first came.
        waited_s: Seconds spent waiting for them in this run.
        usage: Purpose -> calls and tokens.
    """

    took_s: float = 0.0
    waited_s: float = 0.0
    usage: Mapping[str, Usage] = field(default_factory=dict[str, "Usage"])


class Reader:
    """A ``LanguageModel`` for the memories of one system.

    What it was asked before with the same words is asked anew: who asks again could not use the reply. Once a model
    gave no reply at all nothing more is asked: half a system is no result.

    Args:
        reading: What it is asked for.
        model: Who is asked, its replies kept.
    """

    def __init__(self, reading: Reading, model: MemoryModel) -> None:
        self.reading = reading
        self.name = model.name
        self._model = model
        self._asked = Counter[str]()
        self._rendered = 0
        self._failure = ""
        self._begun = (0.0, 0.0)

    @property
    def identity(self) -> dict[str, Json]:
        """What the memory that it writes depends on, besides the words and the code."""
        given = self.reading.enriching
        settings: Json = given if isinstance(given, str) else asdict(given)
        return {"model": self.name, "enrichment": settings}

    @property
    def configuration(self) -> dict[str, Json]:
        """What the numbers depend on, besides the settings of the search."""
        reading = self.reading
        more: dict[str, Json] = {"mode": reading.mode, "evolve": reading.evolve}
        return {**self.identity, **more, "most": reading.most}

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Purpose -> what was asked for it since ``begin``."""
        return self._model.usage

    def begin(self) -> None:
        """Begin to count anew."""
        self._model.begin()
        self._asked.clear()
        self._rendered = 0
        self._begun = (self._model.took_s, self._model.waited_s)

    def spent(self) -> Spent:
        """What was asked since ``begin``. Raises LanguageModelFailed where no reply came."""
        self.check()
        took_s, waited_s = self._begun
        return Spent(self._model.took_s - took_s, self._model.waited_s - waited_s, self.usage)

    def complete(self, request: Completion) -> Reply:
        """The reply, kept or new: see ``protocols.LanguageModel``.

        Raises:
            LanguageModelFailed: None came, for this request or one before it.
        """
        self.check()
        name = key(self.name, request)
        try:
            reply = self._model.ask(request, again=self._asked[name])
        except LanguageModelFailed as failure:
            self._failure = str(failure)
            raise
        if self._asked[name]:
            self._model.unreadable(request.purpose)
        self._asked[name] += 1
        self._rendered += size(request)
        return reply

    def check(self) -> None:
        """Raises LanguageModelFailed where no reply came to an earlier request."""
        if self._failure:
            raise LanguageModelFailed(self._failure)

    def warned(self, warnings: Sequence[str]) -> None:
        """Count what a search says of replies that could not be used."""
        for warning in warnings:
            meant: list[Purpose] = [purpose for words, purpose in _WARNINGS.items() if words in warning]
            self._model.unreadable(meant[0] if meant else "notes")

    def read(self, memory: Memory, user_id: str) -> dict[str, int]:
        """Have a memory read all that was added; what became of it, in numbers.

        Raises:
            LanguageModelFailed: No reply came, or the memory took its limit of tokens.
        """
        standing = memory.wait(user_id=user_id)
        self.check()
        if standing.pending or standing.running:
            left = standing.pending + standing.running
            raise LanguageModelFailed(f"user {user_id!r}: {left} pieces of work are left undone: {standing}")
        return {"work done": standing.done, "work failed": standing.failed, PROMPT_TOKENS: self._rendered}

    def close(self) -> None:
        """Close the file of replies; safe to call twice."""
        self._model.close()


def hits(found: SearchResult) -> tuple[Hit, ...]:
    """What HiMem's reader sees, best first: notes as the model wrote them, with their date, and whole episodes.

    A note stands for the turns that it rests on.
    """
    sessions = {turn_id: hit.session_id for hit in found.results for turn_id in hit.turn_ids}
    shown = [(one.score, _of_note(one.note, sessions)) for one in found.notes]
    episodes = [hit for hit in found.results if hit.episode_id is not None]
    shown += [(hit.score, Hit(hit.turn_ids, hit.session_id, hit.text)) for hit in episodes]
    return tuple(hit for _, hit in sorted(shown, key=lambda one: -one[0]))


def _of_note(note: Note, sessions: Mapping[str, str]) -> Hit:
    turn_ids = tuple(dict.fromkeys(span.turn_id for span in note.sources))
    text = f"{render.one_line(note.about)} ({render.moment(note.valid.start)}): {render.one_line(note.text)}"
    return Hit(turn_ids, next((sessions[one] for one in turn_ids if one in sessions), ""), text)
