"""What is kept: the words, and what is derived from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from mnemic.types.names import Action, Json, Metadata, NoteKind, NoteStatus, PartKind, Quarantine, Role, Tier


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
        recorded_at: When the store took it, and so when what it says was learnt.
        tier: Whose words these are, where they are not of whoever speaks, as where a person pastes a page: ``tool``,
            ``import`` (another program's memory) and the like. None: as the role says.
        quarantine: ``held`` where the words speak to the model that will read them, like an instruction: nothing finds
            them until a person has ``released`` them; ``discarded`` ones are never found. None for all others.
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
    tier: Tier | None = None
    quarantine: Quarantine | None = None


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
        recorded_at: When this version was stored: from then on it was known.
        last_confirmed: When its words, or others that say the same, were last said, or a person confirmed it; None when
            unknown. What an assistant retells confirms nothing.
        given_id: Of a note that somebody else wrote, the id that it was given with, or one made of what it states;
            unique within the user. None for a local note.
        tier: Whom it is from: the least trusted of its sources.
        corroboration: In how many sessions somebody said it, in its sources or again; an assistant's retelling is
            nobody's word.
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
    last_confirmed: datetime | None = None
    tier: Tier = "unknown"
    corroboration: int = 0


@dataclass(frozen=True, slots=True)
class Episode:
    """HiMem's episode: a run of whole turns of one session about one topic. Never edited; erased with any of its turns.

    Attributes:
        episode_id: ``E<number>``; of an episode that local rules made, ``E:`` and its first turn's id.
        turn_ids: In the order of the dialogue, at least one.
        topic: One concept; empty where nothing was found.
        summary: What a model made of it; empty of local rules.
        time: From the first to the last time of its turns; open where unknown.
        made_by: The model's name, or ``rules``.
    """

    episode_id: str
    session_id: str
    turn_ids: tuple[str, ...]
    topic: str
    summary: str
    time: Interval
    made_by: str
    recorded_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the log: what changed, by what trigger, with the text before and after.

    Attributes:
        target_id: Of a note, or of a turn whose metadata changed.
        version: Of the note, after it.
        trigger: ``add``, ``person``, ``delete``, ``rules``, ``undo``, or the name of a model, with what it did.
        detail: Of a note: ``status`` and ``valid``, each a pair of before (null for a new version) and after, so that
            the log can be played again; ``relation``; and ``run``, the same of all operations of one reading, with
            what that cost.
    """

    operation_id: str
    at: datetime
    action: Action
    target_id: str
    trigger: str
    before: str | None
    after: str | None
    version: int | None = None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Quarantined:
    """Something that waits for a person, because it may be poison: nothing finds it until then.

    Attributes:
        id: Of a turn or a note.
        kind: Which of the two.
        text: Its words.
        suspect: The slices ``[start, end)`` of ``text`` that speak to the model that reads it, if that is why.
        tier: Whom it is from.
        by: Who said it, or whom the note is about.
        at: When it was said, or from when on the note would hold.
        reason: In words.
        sources: Of a note, what it rests on.
    """

    id: str
    kind: Literal["turn", "note"]
    text: str
    suspect: tuple[tuple[int, int], ...]
    tier: Tier
    by: str
    at: datetime | None
    reason: str
    sources: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteChange:
    """How a note differs between two moments.

    Attributes:
        before: As it counted at the first one; None where it did not.
        after: As it counted at the second one; None where it did not.
        operations: What was done to it between them, oldest first.
    """

    note_id: str
    before: Note | None
    after: Note | None
    operations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """Work still to be done for a turn, trace, cue or note; it holds ids only, never text."""

    kind: Literal["embed"]
    target_id: str
