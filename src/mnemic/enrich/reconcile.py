"""Conflict-aware reconsolidation: how new notes relate to known ones, and what then changes (methods.md 2.5, 2.8)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Final, Literal

from mnemic.algo import injected, relate, revise
from mnemic.algo.made_ids import statement_id
from mnemic.algo.revise import Change, Proposal, Relation
from mnemic.algo.trust import outranks
from mnemic.prompts import conflict
from mnemic.protocols import Batch, Held, LanguageModel, NoteState
from mnemic.types import Json, Note, Span

Nearest = Callable[[str, Sequence[str]], Sequence[Note]]
"""Of a person and some texts: current notes about that person that are nearest to any of them, five a text at most."""

RELATIONS: Final[Mapping[conflict.Relation, Relation]] = {
    "independent": "independent",
    "extends": "extending",
    "contradicts": "contradictory",
    "equivalent": "equivalent",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """New notes about one person, and how they relate to those that were shown.

    Attributes:
        shown: Known notes.
        proposals: At least one for each new note.
        by: Who judged: a model's name, or ``rules``.
    """

    about: str
    shown: tuple[Note, ...]
    proposals: tuple[Proposal, ...]
    by: str


def judge(
    new: Sequence[Note],
    nearest: Nearest,
    *,
    model: LanguageModel | None,
    rules: bool,
    check: Callable[[Note], Note],
    facts: bool = True,
) -> list[Judged]:
    """Say how new notes relate to known ones about the same people.

    Args:
        new: Without ids.
        nearest: Finds the known ones.
        model: Asked once for each person about whom something is known; None for rules or nobody.
        rules: Whether ``algo.relate`` says it where no model does; else all are independent.
        check: The grounding gate, for a note that a model made of two.
        facts: False leaves facts unchecked, as in the authors' code.

    Raises:
        ReplyUnusable: Never: what a reply leaves out is independent.
        ModelError: No reply came.
    """
    judged: list[Judged] = []
    for about in dict.fromkeys(note.about for note in new):
        its = [note for note in new if note.about == about]
        asked = [note for note in its if note.status != "unsupported" and (facts or note.kind != "fact")]
        apart = [Proposal(about, "independent", note) for note in its if note not in asked]
        shown: tuple[Note, ...] = ()
        if asked and (model is not None or rules):
            shown = tuple(nearest(about, [note.text for note in asked]))
        if not shown:
            proposals, by = [Proposal(about, "independent", note) for note in asked], "rules"
        elif model is None:
            proposals, by = [_rooted(relate.relate(note, shown), shown) for note in asked], "rules"
        else:
            proposals, by = _by_model(asked, shown, model, check), model.name
        judged.append(Judged(about, shown, (*proposals, *apart), by))
    return judged


def changed(
    judged: Judged,
    versions: Sequence[Note],
    *,
    trigger: str,
    facts: bool,
    approve: bool,
    detail: Mapping[str, Json],
) -> Batch:
    """What is written, still without cues and vectors.

    Args:
        judged: How the new notes relate.
        versions: All versions, as they are now, of the notes about that person.
        trigger: For the log.
        facts: As in ``judge``.
        approve: Whether the changes wait for a person: then they are notes that are ``proposed``.
        detail: For the log, of each operation.
    """
    known = {note.note_id for note in versions}
    judged = replace(judged, proposals=tuple(_still(one, judged.shown, known) for one in judged.proposals))
    if approve:
        return _held(judged, versions, trigger, detail)
    suspect = tuple(one for one in judged.proposals if _suspicion(one, judged.shown) is not None)
    if suspect:
        held = _held(replace(judged, proposals=suspect), versions, trigger, detail, "quarantined")
        sound = replace(judged, proposals=tuple(one for one in judged.proposals if one not in suspect))
        rest = changed(sound, versions, trigger=trigger, facts=facts, approve=False, detail=detail)
        shift = len(rest.notes)
        return replace(
            rest,
            notes=(*rest.notes, *held.notes),
            details={**rest.details, **{place + shift: its for place, its in held.details.items()}},
            held={place + shift: its for place, its in held.held.items()},
        )
    numbers = count()
    changes = revise.revise(
        versions, judged.shown, judged.proposals, new_id=lambda: f"new {next(numbers)}", himem=not facts
    )
    last = {note.note_id: note.version for note in sorted(versions, key=lambda note: note.version)}
    notes: list[Note] = []
    details: dict[int, Mapping[str, Json]] = {}
    states: list[NoteState] = []
    for change in changes:
        if change.action in ("ADD", "UPDATE"):
            details[len(notes)] = detail
            notes.append(_written(change, last))
    for change in changes:
        if change.action in ("EXPIRE", "DELETE") and change.before is not None:
            states.append(replace(_state(change, detail), by=_instead(change.before, judged, notes)))
    return Batch(
        notes=tuple(notes),
        states=tuple(states),
        details=details,
        confirmations=_confirmed(judged, versions),
        trigger=trigger,
    )


def _confirmed(judged: Judged, versions: Sequence[Note]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Current notes that equivalent new ones say again -> the turns that do."""
    current = {note.note_id: note for note in versions if note.status == "current"}
    found: dict[tuple[str, int], tuple[str, ...]] = {}
    for proposal in judged.proposals:
        if proposal.relation != "equivalent" or proposal.note is None or proposal.target is None:
            continue
        target = current.get(judged.shown[proposal.target].note_id)
        if target is not None:
            key = target.note_id, target.version
            found[key] = (*found.get(key, ()), *(span.turn_id for span in proposal.note.sources))
    return {key: tuple(dict.fromkeys(turn_ids)) for key, turn_ids in found.items()}


def quotations(notes: Collection[Note], known: Sequence[Note], detail: Mapping[str, Json]) -> tuple[NoteState, ...]:
    """Archive the local quotations whose words new supported notes rest on: those say it in better words.

    Args:
        notes: New ones.
        known: Current notes.
        detail: For the log.
    """
    sources = [span for note in notes if note.status == "current" for span in note.sources]
    return tuple(
        NoteState(note.note_id, note.version, "MERGE", (note.status, note.valid), ("archived", note.valid), detail)
        for note in known
        if quotes(note, sources)
    )


def taken_back(note: Note, versions: Sequence[Note]) -> bool:
    """Whether somebody retracted a statement of the same words, and it was not made again."""

    def is_same(one: Note) -> bool:
        return revise.same_words(one.text, note.text) and set(note.sources) <= set(one.sources)

    gone = (one for one in versions if one.status == "retracted")
    return any(map(is_same, gone)) and not any(is_same(one) for one in versions if one.status != "retracted")


def quotes(note: Note, sources: Sequence[Span]) -> bool:
    """Whether a note is a local quotation of words that lie in some spans: then it is no other statement."""
    return note.given_id is None and any(_overlap(span, mine) for mine in note.sources for span in sources)


def _by_model(
    asked: Sequence[Note], shown: Sequence[Note], model: LanguageModel, check: Callable[[Note], Note]
) -> list[Proposal]:
    old, new = [line(note) for note in shown], [line(note) for note in asked]
    pairs = conflict.parse(model.complete(conflict.render(old, new)), old, new).items
    return [_proposal(asked[pair.new], pair, shown, check) for pair in pairs]


def _proposal(note: Note, pair: conflict.Pair, shown: Sequence[Note], check: Callable[[Note], Note]) -> Proposal:
    """A model's pair as a proposal. What differs in a number or date is no duplicate, whatever the model says."""
    target = None if pair.old is None else shown[pair.old]
    if target is None:
        return Proposal(note.about, "independent", note)
    relation = RELATIONS[pair.relation]
    if relation == "equivalent" and relate.values(note) != relate.values(target):
        relation = "independent"
    if relation == "extending":
        fuller = None if pair.text is None else _fuller(note, target, pair.text)
        if fuller is None or not relate.says_both(fuller, note, target) or check(fuller).status != "current":
            relation = "independent"
        else:
            note = fuller
    place = None if relation == "independent" else pair.old
    return Proposal(note.about, relation, note, place, None if place is None else target.text)


def _rooted(proposal: Proposal, shown: Sequence[Note]) -> Proposal:
    """A fuller text rests on what the shorter one rests on, too: it goes with any of these words."""
    if proposal.relation != "extending" or proposal.note is None or proposal.target is None:
        return proposal
    return replace(proposal, note=_fuller(proposal.note, shown[proposal.target], proposal.note.text))


def _still(proposal: Proposal, shown: Sequence[Note], known: Collection[str]) -> Proposal:
    """What says the same as a note that was erased since says it alone now."""
    if proposal.relation != "equivalent" or proposal.target is None or shown[proposal.target].note_id in known:
        return proposal
    return replace(proposal, relation="independent", target=None, target_text=None)


def _fuller(note: Note, target: Note, text: str) -> Note:
    return replace(note, text=text, sources=tuple(dict.fromkeys((*target.sources, *note.sources))))


def line(note: Note) -> str:
    """A note as a model that compares it with others reads it: with the day from which on it holds."""
    start = note.valid.start
    return note.text if start is None else f"{note.text} (since {start.date().isoformat()})"


def _written(change: Change, last: Mapping[str, int]) -> Note:
    """A note as the store takes it: a new one has no id yet, a next version comes after all there are."""
    note = change.after
    if change.action == "ADD":
        note = replace(note, note_id="", version=1)
    else:
        note = replace(note, version=last[note.note_id] + 1)
    return replace(note, given_id=statement_id(note))


def _instead(old: Note, judged: Judged, made: Sequence[Note]) -> int | None:
    """The place of the new note that an old one gives way to."""
    against = [
        proposal.note
        for proposal in judged.proposals
        if proposal.relation == "contradictory"
        and proposal.target is not None
        and judged.shown[proposal.target].note_id == old.note_id
    ]
    places = (place for place, one in enumerate(made) for note in against if note and _states(one, note))
    return next(places, None)


def _states(one: Note, note: Note) -> bool:
    return (one.text, one.sources) == (note.text, note.sources)


def _state(change: Change, detail: Mapping[str, Json]) -> NoteState:
    before, after = change.before, change.after
    assert before is not None  # EXPIRE and DELETE concern what is there
    return NoteState(
        note_id=before.note_id,
        version=before.version,
        action=change.action,
        before=(before.status, before.valid),
        after=(after.status, after.valid),
        detail=detail,
    )


def _suspicion(proposal: Proposal, shown: Sequence[Note]) -> str | None:
    """Why a new note is not to be believed before a person has seen it; None where it may be.

    What an assistant retells, or a tool says, does not change what somebody trusted more has said.
    """
    note = proposal.note
    if note is None or note.status == "unsupported":
        return None
    if injected.instructions(note.text, "tool"):
        return "it speaks to the model that reads it, like an instruction"
    target = None if proposal.target is None else shown[proposal.target]
    changes = proposal.relation in ("contradictory", "extending")
    if changes and target is not None and outranks(target.tier, note.tier):
        return f"from {note.tier}; it would change {target.note_id}, which is from {target.tier}"
    return None


def _held(
    judged: Judged,
    versions: Sequence[Note],
    trigger: str,
    detail: Mapping[str, Json],
    status: Literal["proposed", "quarantined"] = "proposed",
) -> Batch:
    """The new notes as proposals; what is there in any state, from the same words, is not proposed again."""
    known = {_proposed_id(note) for note in versions}
    borne_out = {_proposed_id(note) for note in versions if note.status != "unsupported"}
    notes: list[Note] = []
    held: dict[int, Held] = {}
    for proposal in judged.proposals:
        note = proposal.note
        if note is None or proposal.relation == "equivalent":
            continue
        waiting = note if note.status == "unsupported" else replace(note, status=status)
        if status == "quarantined":
            waiting = replace(waiting, metadata={**note.metadata, "quarantined": _suspicion(proposal, judged.shown)})
        # What was not borne out once may be now.
        if _proposed_id(note) in (known if note.status == "unsupported" else borne_out):
            continue
        known.add(_proposed_id(note))
        borne_out |= {_proposed_id(note)} if waiting.status == status else set()
        waiting = replace(waiting, given_id=statement_id(waiting))
        if waiting.status == status:
            target = None if proposal.target is None else judged.shown[proposal.target].note_id
            held[len(notes)] = Held(proposal.relation, target)
        notes.append(waiting)
    return Batch(notes=tuple(notes), held=held, details=dict.fromkeys(range(len(notes)), detail), trigger=trigger)


def _proposed_id(note: Note) -> str:
    return statement_id(replace(note, status="proposed"))


def _overlap(one: Span, other: Span) -> bool:
    return one.turn_id == other.turn_id and one.start < other.end and other.start < one.end
