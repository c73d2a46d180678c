"""Notes and proposals about them to changes: HiMem's conflict-aware reconsolidation (methods.md 2.5 and 2.8), pure.

A proposal says how a new note relates to an old one; who says so, a language model or ``algo.relate``, is all the same.
Nothing is ever gone: an updated note keeps its versions, a contradicted one is ``superseded``, a deleted one
``retracted``, and every change holds what was before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from mnemic.algo import slots
from mnemic.algo.lexical import fold, terms
from mnemic.types import Interval, Note

Relation = Literal["independent", "extending", "contradictory", "equivalent"]

_BLANKS: Final = re.compile(r"\s+")
_ENDS: Final = " .!;,"


@dataclass(frozen=True, slots=True)
class Proposal:
    """How a new note relates to what is known.

    Attributes:
        about: Whose notes it concerns; those of others are never touched.
        relation: To the target; ``independent`` needs none.
        note: The new note, with no id yet; for ``extending`` the fuller text. None only asks to delete the target.
        target: The old note's place among those that were shown, from 0.
        target_text: Its text as shown, for where the place is missing or wrong.
    """

    about: str
    relation: Relation
    note: Note | None
    target: int | None = None
    target_text: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one note.

    Attributes:
        action: ``ADD`` a note, ``UPDATE`` it by a next version, ``EXPIRE`` it since another took its place, or
            ``DELETE`` it from what holds.
        before: The version that was current; None for ``ADD``.
        after: The version that is there now: the next one for ``UPDATE``, the same one with another status for
            ``EXPIRE`` and ``DELETE``.
    """

    action: Literal["ADD", "UPDATE", "EXPIRE", "DELETE"]
    before: Note | None
    after: Note


_State = dict[tuple[str, int], Note]


def revise(
    notes: Iterable[Note],
    shown: Sequence[Note],
    proposals: Iterable[Proposal],
    *,
    new_id: Callable[[], str],
    himem: bool = False,
) -> list[Change]:
    """Make changes of proposals: first what expires or is deleted, then what is updated, then what is added.

    An independent note is added, an extending one becomes the target's next version, a contradictory one is added and
    its target expires (or, where the new one began to hold before the old, is added as superseded by it), an equivalent
    one changes nothing. Without its target an extending note is added, and a deletion changes nothing. What is there
    already, word for word and from the same source or as a current note, is not added again, so that the same proposals
    change nothing a second time. An extension of a text that is not the target's any more, as where two notes extend
    one, is added beside it, so that neither's words are lost. A note that is ``unsupported`` is kept beside the others
    and changes none of them.

    Args:
        notes: All versions of the notes that matter: those shown, and any of the same people with a proposed text.
        shown: The notes that the proposals' targets number, as they were when the proposals were made.
        proposals: All made of what was shown; those of one kind are followed in their order.
        new_id: Makes the id of a new note.
        himem: Whether facts skip the conflict check and are always added, as in the authors' code; otherwise every
            kind is checked.
    """
    state = _keyed(notes)
    asked = [one for proposal in proposals if (one := _understood(proposal, shown, himem)) is not None]
    changes: list[Change] = []
    for make in (_removed, _updated, partial(_added, new_id=new_id)):
        for one in asked:
            change = make(state, one)
            if change is not None:
                _do(state, change)
                changes.append(change)
    return changes


def apply(notes: Iterable[Note], changes: Iterable[Change]) -> tuple[Note, ...]:
    """All versions after some changes; new ones come last. A change that was made already is not made again.

    Raises:
        ValueError: A note is not as it was before a change.
    """
    state = _keyed(notes)
    for change in changes:
        if not _done(state, change):
            _do(state, change)
    return tuple(state.values())


def undo(notes: Iterable[Note], changes: Sequence[Change]) -> tuple[Note, ...]:
    """All versions as they were before some changes, exactly.

    Raises:
        ValueError: A note has changed since; what came later must be undone first.
    """
    state = _keyed(notes)
    for change in reversed(changes):
        key = _key(change.after)
        if state.get(key) != change.after:
            raise ValueError(f"note {key[0]!r} has changed since; undo what came later first")
        if change.before is None or _key(change.before) != key:
            del state[key]
        if change.before is not None:
            state[_key(change.before)] = change.before
    return tuple(state.values())


def same_words(a: str, b: str) -> bool:
    """Whether two texts differ at most in case, blanks, accents and marks at their ends; never in a number."""
    return plain(a) == plain(b)


def same_occasion(a: Note, b: Note) -> bool:
    """Whether two notes can tell of one thing: facts of different times are different events, in the same words too."""
    unknown = a.valid.start is None or b.valid.start is None
    return "fact" not in (a.kind, b.kind) or unknown or a.valid == b.valid


def plain(text: str) -> str:
    """A text without what ``same_words`` passes over."""
    return _BLANKS.sub(" ", fold(text)).strip(_ENDS)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A proposal that changes something: the relation of a new note, if any, to one of the shown notes, if any."""

    relation: Relation
    note: Note | None
    target: Note | None


def _understood(proposal: Proposal, shown: Sequence[Note], himem: bool) -> _Asked | None:
    note, relation = proposal.note, proposal.relation
    if relation == "equivalent" or (note is not None and note.about != proposal.about):
        return None
    if note is not None and (note.status == "unsupported" or (himem and note.kind == "fact")):
        relation = "independent"
    target = None if relation == "independent" else _target(shown, proposal)
    if note is None or target is None:
        return _Asked(relation, note, target)
    if same_words(target.text, note.text):
        return None if relation == "extending" else _Asked("independent", note, None)
    if relation == "contradictory" and _begins_earlier(note, target):
        return _Asked("independent", superseded(note, target), None)
    return _Asked(relation, note, target)


def _target(shown: Sequence[Note], proposal: Proposal) -> Note | None:
    """The shown note of the same person that is meant: by its place, else by its text."""
    text, place = proposal.target_text, proposal.target
    meant = [shown[place]] if place is not None and 0 <= place < len(shown) else []
    meant += [note for note in shown if text is not None and same_words(note.text, text)]
    return next((note for note in meant if note.about == proposal.about), None)


def _current(state: _State, target: Note | None) -> Note | None:
    """The version of a note that holds now."""
    versions = (note for note in state.values() if target is not None and note.note_id == target.note_id)
    return next((note for note in versions if note.status == "current"), None)


def _as_shown(state: _State, target: Note | None) -> Note | None:
    """The version of a note that holds now, if its text is the one that was shown."""
    now = _current(state, target)
    return now if now is not None and target is not None and same_words(now.text, target.text) else None


def _removed(state: _State, asked: _Asked) -> Change | None:
    old = _current(state, asked.target)
    if old is None or asked.relation != "contradictory":
        return None
    if asked.note is None:
        return Change("DELETE", old, replace(old, status="retracted"))
    return Change("EXPIRE", old, superseded(old, asked.note))


def _updated(state: _State, asked: _Asked) -> Change | None:
    old, note = _as_shown(state, asked.target), asked.note
    if asked.relation != "extending" or old is None or note is None or _from_same_source(state, note):
        return None
    return Change("UPDATE", old, _extended(old, note))


def _added(state: _State, asked: _Asked, *, new_id: Callable[[], str]) -> Change | None:
    note = asked.note
    extends = asked.relation == "extending" and _as_shown(state, asked.target) is not None
    if note is None or extends or _from_same_source(state, note) or _said_now(state, note):
        return None
    return Change("ADD", None, replace(note, note_id=new_id(), version=1))


def _from_same_source(state: _State, new: Note) -> bool:
    """Whether a note is there in any version; what was not supported once may be now."""
    sources = set(new.sources)
    return any(
        sources <= set(note.sources) and (note.status != "unsupported" or new.status == "unsupported")
        for note in _with_the_words(state, new)
    )


def _said_now(state: _State, new: Note) -> bool:
    """Whether a current note says the same, or grew out of it and still has its words."""
    if new.status == "unsupported":
        return False
    return any(
        (current := _current(state, note)) is not None
        and same_occasion(note, new)
        and set(terms(new.text)) <= set(terms(current.text))
        for note in _with_the_words(state, new)
    )


def _with_the_words(state: _State, new: Note) -> Iterator[Note]:
    return (note for note in state.values() if note.about == new.about and same_words(note.text, new.text))


def _extended(old: Note, new: Note) -> Note:
    start = old.valid.start or new.valid.start
    sources = tuple(dict.fromkeys((*old.sources, *new.sources)))
    return replace(
        new,
        note_id=old.note_id,
        version=old.version + 1,
        valid=Interval(start, new.valid.end),
        sources=sources,
    )


def _begins_earlier(one: Note, other: Note) -> bool:
    return one.valid.start is not None and other.valid.start is not None and one.valid.start < other.valid.start


def superseded(old: Note, new: Note) -> Note:
    """An old note in whose place a new one comes: ``superseded``, valid at most until the new one begins to be.

    One that the new one corrects never held, and is ``retracted``.
    """
    if slots.conflict(new.text, old.text) == "corrected":
        return replace(old, status="retracted")
    start, last, end = old.valid.start, old.valid.end, new.valid.start
    if end is not None and (start is None or start < end) and (last is None or end < last):
        last = end
    return replace(old, status="superseded", valid=Interval(start, last))


def _keyed(notes: Iterable[Note]) -> _State:
    return {_key(note): note for note in notes}


def _key(note: Note) -> tuple[str, int]:
    return note.note_id, note.version


def _done(state: _State, change: Change) -> bool:
    there = state.get(_key(change.after))
    if there is None or change.action in ("EXPIRE", "DELETE"):
        return there == change.after
    # Later changes may have given the version another status and another end.
    return replace(there, status=change.after.status, valid=change.after.valid) == change.after


def _do(state: _State, change: Change) -> None:
    key, before = _key(change.after), change.before
    if state.get(key if before is None else _key(before)) != before:
        raise ValueError(f"note {key[0]!r} is not as it was before the change; plan it again")
    if before is not None and change.action == "UPDATE":
        state[_key(before)] = replace(before, status="superseded")
    state[key] = change.after
