"""What a person sees who looks around in a memory: sessions, cues and what surrounds them."""

from __future__ import annotations

from dataclasses import dataclass

from mnemic.types.kept import Interval, Note, Span, Turn


@dataclass(frozen=True, slots=True)
class Session:
    """A conversation.

    Attributes:
        turns: How many.
        time: From the first to the last turn's time; open where unknown.
    """

    session_id: str
    turns: int
    time: Interval


@dataclass(frozen=True, slots=True)
class Cue:
    """HERO's v_c: a name, key phrase, date or number that sentences and notes share.

    Attributes:
        key: Its one normal form.
        surface: As somebody wrote it.
        units: In how many sentences it stands.
        notes: In how many current notes.
        traces: In how many traces.
    """

    key: str
    surface: str
    units: int
    notes: int
    traces: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A unit with its words and the turn that it stands in."""

    turn: Turn
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A cue beside another one, and how many sentences and current notes mention both."""

    cue: Cue
    shared: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What one step leads to from a cue.

    Attributes:
        units: Sentences that mention it, in the order of the dialogue.
        notes: Current notes that mention it, oldest first.
        neighbours: Cues that stand beside it, those that share most first.
    """

    cue: Cue
    units: tuple[Sentence, ...]
    notes: tuple[Note, ...]
    neighbours: tuple[Neighbour, ...]
