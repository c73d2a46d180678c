"""Self-evolution: notes made of the episodes that answered what the notes could not (methods.md 2.8)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, time
from typing import TYPE_CHECKING

from mnemic.algo import names, render
from mnemic.algo.borrowed import borrowed
from mnemic.algo.recalled import blanked
from mnemic.algo.trust import least, tier_of
from mnemic.errors import MnemicError
from mnemic.models.foreign import told
from mnemic.prompts import evolve
from mnemic.prompts.drafts import Draft
from mnemic.types import Interval, Json, Note, Span, Turn

if TYPE_CHECKING:
    from mnemic.memory.layers import Layer
    from mnemic.protocols import LanguageModel

_log = logging.getLogger("mnemic")

Reconcile = Callable[[str, Sequence[Note], str], tuple[str, ...]]
"""Takes a user id, new notes, without ids and cues, and who found them; brings them together with those that there are,
and returns the ids of the operations (methods.md 2.5). Raises a MnemicError where it cannot."""


def evolved(
    user_id: str, query: str, episodes: Layer, model: LanguageModel | None, reconcile: Reconcile
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Learn from the evidence, with one call of the model, and whatever calls ``reconcile`` makes.

    Nothing that fails here makes the search fail.

    Args:
        user_id: Whose memory.
        query: The question that the notes did not answer.
        episodes: What answered it.
        model: Of the purpose ``notes``.
        reconcile: What brings the new notes together with the known ones.

    Returns:
        The ids of the operations, and warnings.
    """
    if model is None:
        return (), ("nothing was learnt: no language model has the purpose notes; see Memory.open(model=…)",)
    said = {turn.turn_id: turn for item in episodes.items for turn in item.turns}.values()
    turns = [replace(turn, text=blanked(turn.text)) for turn in said]
    owner = _owner(query, turns)
    if owner is None:
        return (), ("nothing was learnt: the evidence holds no words of a person",)
    try:
        lines = [render.line(turn, 0, len(turn.text)) for turn in turns]
        reply = model.complete(evolve.render(owner, query, lines))
    except Exception as error:  # noqa: BLE001 - anybody's code; the search is done already
        _log.warning("nothing was learnt for user %r: %s", user_id, told(error))
        return (), (f"nothing was learnt: {model.name} failed: {told(error)}",)
    read = evolve.parse(reply, evidence=len(turns))
    episode_ids: list[Json] = [hit.episode_id for item in episodes.items for hit in item.hits]
    cause: dict[str, Json] = {"question": query, "episodes": episode_ids}
    rooted = [draft for draft in read.items if any(turns[n - 1].speaker == owner for n in draft.sources)]
    warnings = _shortcomings(model.name, read.failure, len(read.items) - len(rooted), owner)
    if not rooted:
        return (), warnings
    try:
        return reconcile(user_id, [_note(draft, turns, owner, cause) for draft in rooted], model.name), warnings
    except MnemicError as error:
        _log.warning("nothing was learnt for user %r: %s", user_id, error)
        return (), (*warnings, f"nothing was learnt: {error}")


def _owner(query: str, turns: Sequence[Turn]) -> str | None:
    """Whom the notes are about: the one whom the question names, else who says most; None where no person speaks."""
    said = Counter(turn.speaker for turn in turns if turn.role == "user")
    people = list(said)
    named = names.named(query, people)
    if len(named) == 1:
        return people[min(named)]
    return said.most_common(1)[0][0] if said else None


def _note(draft: Draft, turns: Sequence[Turn], owner: str, cause: dict[str, Json]) -> Note:
    cited = [turns[number - 1] for number in draft.sources]
    others = borrowed(
        draft.text,
        [number - 1 for number in draft.sources],
        [turn.text for turn in turns],
        speakers=[turn.speaker for turn in turns],
    )
    sources = dict.fromkeys([*draft.sources, *(place + 1 for place in others)])
    return Note(
        note_id="",
        version=1,
        kind=draft.kind,
        about=owner,
        text=draft.text,
        valid=Interval(_since(draft, cited), None),
        sources=tuple(Span(turns[number - 1].turn_id, 0, len(turns[number - 1].text)) for number in sources),
        metadata=cause,
        tier=least(tier_of(turns[number - 1]) for number in sources),
    )


def _since(draft: Draft, sources: Sequence[Turn]) -> datetime | None:
    """The day that the model named, in the zone of the words; else when they were said. Undated words have no day."""
    said = min((turn.timestamp for turn in sources if turn.timestamp is not None), default=None)
    if said is None or draft.since is None:
        return said
    return datetime.combine(draft.since, time(), said.tzinfo)


def _shortcomings(model: str, failure: str | None, unrooted: int, owner: str) -> tuple[str, ...]:
    found: list[str] = []
    if failure is not None:
        found.append(f"learnt less than there was: the reply of {model} was {failure.replace('_', ' ')}")
    if unrooted:
        found.append(f"statements not learnt: {unrooted}; they rest on no words of {owner}")
    return tuple(found)
