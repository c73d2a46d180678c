"""What memory is made of: frozen values, no behaviour beyond what their fields imply.

Names follow HERO (arXiv 2608.22310): a *trace* v_t is a packed run of dialogue and the only evidence, a
*unit* v_u one sentence, a *cue* v_c a normalised entity or key phrase, a *note* v_p a statement about someone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, get_args

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Metadata = Mapping[str, Json]

Role = Literal["user", "assistant", "system", "tool"]
PartKind = Literal["text", "image", "audio", "file", "tool_call", "tool_result"]
NoteKind = Literal["fact", "state", "preference", "trait"]
NoteStatus = Literal["current", "superseded", "unsupported", "retracted", "archived"]
STATUSES: Final[tuple[NoteStatus, ...]] = get_args(NoteStatus)
Action = Literal["ADD", "UPDATE", "DELETE", "MERGE", "RETRACT", "EXPIRE"]
Granularity = Literal["trace", "turn"]
Purpose = Literal["cues", "notes", "links", "segment", "conflict", "sufficiency", "answer", "judge"]


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory, and optionally which agent's and which session's part of it."""

    user_id: str
    agent_id: str | None = None
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch of time ``[start, end)``; both aware; ``None`` is open. A day is an interval, not a point."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of a message: the slice ``[start, end)`` of its turn's text, and what it refers to, if anything.

    For an image, audio or file the slice is its caption or alt text (perhaps empty) and ``ref`` its address.
    For a tool call ``ref`` is the tool's name.
    """

    kind: PartKind
    start: int
    end: int
    ref: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, exactly as given, for ever.

    Attributes:
        turn_id: The caller's message id, or one made for it; unique within the user.
        session_id: The conversation it belongs to.
        role: Who speaks, in the chat format's terms.
        speaker: The speaker's name; the role where no name was given.
        text: The words. A string content is this text, byte for byte; the texts and captions of a
            list of parts are joined by a newline.
        timestamp: When it was said, aware, in the zone it was given in; None when unknown.
        parts: Slices of ``text`` where the content was a list of parts or tool calls; empty for a string.
        given: The message as it came, where it was more than role, name, content, id and timestamp.
        agent_id: The agent it was said to, if the caller tells agents apart.
        metadata: The caller's own data; the only thing about a turn that can change.
        seq: Its place in the user's whole history; assigned by the store, -1 before.
        recorded_at: When the store took it.
    """

    turn_id: str
    session_id: str
    role: Role
    speaker: str
    text: str
    timestamp: datetime | None = None
    parts: tuple[Part, ...] = ()
    given: Mapping[str, Json] | None = None
    agent_id: str | None = None
    metadata: Metadata = field(default_factory=dict[str, Json])
    seq: int = -1
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """The slice ``[start, end)``, in code points, of the text of one turn."""

    turn_id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Trace:
    """HERO's v_t: contiguous spans of one session, packed to a token budget. Its text is rendered on read.

    Attributes:
        trace_id: ``T<number>``; empty until stored. Never reused: a repacked trace gets a new one.
        ordinal: Place in the chain over the user's whole history; -1 until stored (then: appended).
        session_id: The one session all spans belong to.
        spans: In the order of the dialogue, at least one.
        tokens: Size by ``algo.tokens.count``.
    """

    trace_id: str
    ordinal: int
    session_id: str
    spans: tuple[Span, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class CueMention:
    """A cue as one text mentions it: canonical key, the words as written, and where they stand."""

    key: str
    surface: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unit:
    """HERO's v_u: one sentence, a span of one turn, with the cues that it mentions (key -> mention count)."""

    turn_id: str
    start: int
    end: int
    cues: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """Words that name a time, ``[start, end)`` in a turn, resolved against the turn's own timestamp."""

    turn_id: str
    start: int
    end: int
    interval: Interval


@dataclass(frozen=True, slots=True)
class Note:
    """One short standalone statement about someone, with its source: HERO's v_p and HiMem's note.

    Attributes:
        note_id: ``N<number>``; empty until stored. All versions of a note share it.
        version: From 1; old versions stay readable.
        about: Whom it is about: a speaker's name.
        text: The statement. A local note is a verbatim quotation of its source; a given one has words of its own.
        valid: When it holds; open at the end unless the words say otherwise.
        sources: The spans it rests on. Without any one of their turns it is no more.
        recorded_at: When this version was stored.
        given_id: Of a note that somebody else wrote, the id that it was given with, or one made of what it states;
            unique within the user. None for a local note.
    """

    note_id: str
    version: int
    kind: NoteKind
    about: str
    text: str
    valid: Interval
    sources: tuple[Span, ...]
    status: NoteStatus = "current"
    cues: Mapping[str, int] = field(default_factory=dict[str, int])
    recorded_at: datetime | None = None
    metadata: Metadata = field(default_factory=dict[str, Json])
    given_id: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the log: what changed, by what trigger, with the text before and after."""

    operation_id: str
    at: datetime
    action: Action
    target_id: str
    trigger: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True)
class Task:
    """Work still to be done for a turn, trace, cue or note; it holds ids only, never text."""

    kind: Literal["embed"]
    target_id: str


@dataclass(frozen=True, slots=True)
class Step:
    """One stop of the path that led to a hit: what was reached, its words, and with what weight."""

    kind: Literal["query", "cue", "unit", "note", "trace"]
    id: str
    text: str
    weight: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """One hit: original words, where they stand, and why they were found.

    Attributes:
        trace_id: The trace it is, or (at turn granularity) the trace that holds the turn.
        spans: What ``text`` was rendered from; each is byte-identical to its turn.
        quotes: The words of each span, aligned with ``spans``.
        text: The spans rendered for reading: speaker, date, words.
        timestamp: Of the first span's turn.
        score: Fused score; comparable within one search.
        signals: What each signal contributed to ``score``; they sum to it.
        paths: With ``explain``: the ways from the question's words to this hit, strongest first.
    """

    trace_id: str
    turn_ids: tuple[str, ...]
    spans: tuple[Span, ...]
    quotes: tuple[str, ...]
    session_id: str
    speakers: tuple[str, ...]
    timestamp: datetime | None
    text: str
    score: float
    signals: Mapping[str, float]
    paths: tuple[tuple[Step, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one search, best first.

    Attributes:
        relevance: In [0, 1]: how sure it is that the memory answers the question at all, by its topic and by who said
            what was found; comparable between searches.
        nothing_relevant: True when nothing is about the topic, or what is was said by somebody else than the one whom
            the question names.
        took_ms: Wall time of the search, in milliseconds, without loading the model and the index before it.
        warnings: What the search had to do without (no vectors, a failing reranker), if anything.
        reranker: Who put the hits in their last order; None where nobody did (methods.md R6).
    """

    results: tuple[Evidence, ...]
    relevance: float
    nothing_relevant: bool
    took_ms: float
    warnings: tuple[str, ...] = ()
    reranker: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """What one ``add`` or ``add_notes`` did.

    Attributes:
        turn_ids: The ids of all turns of the call, in order, new and known alike; none of ``add_notes``.
        new: How many of what was given, turns or notes, were not there before.
        notes: The ids of the notes that local rules took from the new turns; of ``add_notes`` those of all notes of
            the call, in order, new and known alike.
        warnings: What has to be done later (an embedder that failed), if anything.
    """

    turn_ids: tuple[str, ...]
    new: int
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Sizes of one user's memory. ``pending`` counts tasks."""

    turns: int
    sessions: int
    traces: int
    units: int
    cues: int
    notes: int
    pending: int
    revision: int


@dataclass(frozen=True, slots=True)
class Status:
    """Sizes of a memory: of its database and, where a user was named, of that user's part.

    Attributes:
        embedder: Whose vectors the database holds; None while it holds none.
        cue_extractor: Who finds cues from now on.
        size_bytes: On disk.
        users: How many.
        index_bytes: In memory, of this process.
        counts: Of the user.
        warnings: What this memory has to do without.
    """

    embedder: str | None
    cue_extractor: str
    size_bytes: int
    users: int
    index_bytes: int
    counts: Counts | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosine thresholds, calibrated for one embedder (methods.md A10).

    Attributes:
        tau_init: HERO's anchor threshold between a query entity and a cue.
        tau_alias: HERO's threshold between near-synonymous cues.
        tau_iter: HERO's threshold between the query and a unit or note.
        relevance: Below this best cosine, in a memory of 1,000 sentences and with no rare word matched either,
            nothing is relevant; see ``algo.abstain``.
    """

    tau_init: float
    tau_alias: float
    tau_iter: float
    relevance: float
