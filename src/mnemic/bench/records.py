"""What the parts of the benchmark pass to each other: data sets, questions, what a system found, how it did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from mnemic.importers import Conversation
from mnemic.types import Json

DatasetName = Literal["locomo", "personamem", "longmemeval"]
Split = Literal["dev", "test", "all"]
Half = Literal["dev", "test"]
Level = Literal["trace", "turn"]
"""What a hit is: a trace (turns packed to 128 tokens), or one turn."""

DEPTHS = (1, 5, 10, 20)
"""k of recall@k; every system is asked for the largest."""


PROMPT_TOKENS = "prompt tokens"
"""In ``Built.counts``: of what was sent to a language model, by ``algo.tokens.count``, schemas included."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a data set.

    Attributes:
        question_id: Unique in the data set: ``conv-26/17`` for the 18th of a conversation (texts repeat).
        user_id: Whose memory it is asked of.
        half: The half its user belongs to.
        category: The data set's name of its kind: ``multi-hop``, ``knowledge-update``.
        gold: Ids of the turns that answer it; empty where the data set names none that exists.
        gold_sessions: Ids of the sessions those lie in (LongMemEval: ``answer_session_ids``).
        answer: The gold answer, as text; of PersonaMem the letter, ``(b)``. None where there is none.
        answerable: False where the memory does not hold the answer (LoCoMo's category 5, LongMemEval's ``_abs``).
        asked_at: When it was asked, ISO format; None where the data set does not say.
        options: PersonaMem's four options, ``(a) …``; never used for retrieval (methods.md A30).
        end: PersonaMem: it sees only messages with an index below this one.
    """

    question_id: str
    user_id: str
    half: Half
    text: str
    category: str
    gold: tuple[str, ...] = ()
    gold_sessions: tuple[str, ...] = ()
    answer: str | None = None
    answerable: bool = True
    asked_at: str | None = None
    options: tuple[str, ...] = ()
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Dataset:
    """Conversations, and questions about them.

    Attributes:
        name: Which one, that is: which rules of evaluation hold.
        split: Which part of it this is.
        checksum: SHA-256 of the file, or of the files one after the other, in hex.
        conversations: User id -> that user's conversations, oldest first; users in the file's order.
        questions: In the file's order.
        left_out: Reason -> how many things of the file were left out for it (malformed evidence, dates).
        gold: Which gold annotations these are.
    """

    name: DatasetName
    split: Split
    checksum: str
    conversations: Mapping[str, tuple[Conversation, ...]]
    questions: tuple[Question, ...]
    left_out: Mapping[str, int] = field(default_factory=dict[str, int])
    gold: Literal["original", "corrected"] = "original"


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing a system returned, best first in its list.

    Attributes:
        turn_ids: The turns it shows; one at turn level.
        session_id: The session they are of.
        text: What a reader of the hit would see.
    """

    turn_ids: tuple[str, ...]
    session_id: str
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What one search returned, and what it cost.

    Attributes:
        hits: Best first.
        relevance: How sure the system is that the memory answers the question at all, higher is surer, comparable
            between questions; None where it has no such number.
        nothing_relevant: The system's own verdict at its shipped threshold; None where it has none.
        probabilities: Of each hit, that it is useful; empty where the system says no such thing.
        wall_ms, cpu_ms: Time of the search as a whole; CPU time of the process it ran in.
        embedding_cpu_ms: The part of ``cpu_ms`` spent embedding the question; 0 where it embeds nothing.
        model_ms: The part of ``wall_ms`` in which a language model answered; of kept replies when they first came.
        usage: Purpose -> what a language model was asked for the search.
    """

    hits: tuple[Hit, ...]
    relevance: float | None = None
    nothing_relevant: bool | None = None
    probabilities: tuple[float, ...] = ()
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    embedding_cpu_ms: float = 0.0
    model_ms: float = 0.0
    usage: Mapping[str, Usage] = field(default_factory=dict[str, "Usage"])


@dataclass(frozen=True, slots=True)
class Usage:
    """What was asked of a language model for one purpose.

    Attributes:
        calls: Replies, whether they came now or were kept from an earlier run.
        tokens_in, tokens_out: Of these replies.
        unreadable: How many of them were declined, or were not what was asked for.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Built:
    """What it cost to take in one user's conversations.

    Attributes:
        wall_s, cpu_s: Of the whole.
        embedding_cpu_s: The part of ``cpu_s`` spent in the embedder.
        stages: Stage -> CPU seconds, where the system can tell.
        bytes_on_disk: After it; 0 for a system that keeps nothing on disk.
        counts: What it holds: ``turns``, ``traces``, ``cues``, ``notes``, ``edges``.
        usage: Purpose -> what was asked of a language model for it (``notes``, ``links``, ``segment``).
    """

    wall_s: float
    cpu_s: float
    embedding_cpu_s: float = 0.0
    stages: Mapping[str, float] = field(default_factory=dict[str, float])
    bytes_on_disk: int = 0
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    usage: Mapping[str, Usage] = field(default_factory=dict[str, Usage])

    @property
    def model_calls(self) -> int:
        """Of language models, for all purposes."""
        return sum(one.calls for one in self.usage.values())

    @property
    def tokens_in(self) -> int:
        """Sent to language models, for all purposes."""
        return sum(one.tokens_in for one in self.usage.values())

    @property
    def tokens_out(self) -> int:
        """Written by language models, for all purposes."""
        return sum(one.tokens_out for one in self.usage.values())


class System(Protocol):
    """Something that remembers, under test. Only one thread uses it."""

    @property
    def name(self) -> str:
        """As in the reports: ``default``, ``rrf``, ``mem0-hybrid``."""
        ...

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels it can be asked at."""
        ...

    @property
    def configuration(self) -> Mapping[str, Json]:
        """Every setting that its numbers depend on, versions included."""
        ...

    def load(self, user_id: str, conversations: Sequence[Conversation]) -> Built:
        """Take in one user's conversations; nothing of that user was there before."""
        ...

    def search(self, question: Question, *, top_k: int, level: Level) -> Found:
        """Search the memory of the question's user."""
        ...

    def close(self) -> None:
        """Give back what it holds; safe to call twice."""
        ...


@dataclass(frozen=True, slots=True)
class Row:
    """How one system did on one question at one level: numbers and ids, no text of the data set.

    Attributes:
        ranks: For each gold turn (in the question's order) the 1-based rank of the first hit that shows it, None
            where none of the first 20 does.
        session_ranks: The same for each gold session, over distinct sessions in the order of their best hit.
        tokens: k of ``DEPTHS`` -> tokens of the text of the first k hits (``algo.tokens.count``).
        hits: How many hits came back.
        model_ms, usage, probabilities: As in ``Found``.
    """

    question_id: str
    user_id: str
    half: Half
    category: str
    answerable: bool
    level: Level
    ranks: tuple[int | None, ...]
    session_ranks: tuple[int | None, ...]
    tokens: Mapping[int, int]
    hits: int
    relevance: float | None
    nothing_relevant: bool | None
    wall_ms: float
    cpu_ms: float
    embedding_cpu_ms: float
    model_ms: float = 0.0
    usage: Mapping[str, Usage] = field(default_factory=dict[str, Usage])
    probabilities: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """One system on one data set.

    Attributes:
        rows: Every question at every level asked, answerable or not.
        built: User id -> what taking in that user's conversations cost.
        rss_mb: Resident memory of the process that held the system, at the end, in MB (1e6 bytes).
        trial: 1 for the first run.
    """

    dataset: DatasetName
    split: Split
    system: str
    configuration: Mapping[str, Json]
    checksum: str
    gold: Literal["original", "corrected"]
    rows: tuple[Row, ...]
    built: Mapping[str, Built]
    rss_mb: float
    trial: int = 1
