"""How new notes stand to old ones: HiMem's conflict-aware reconsolidation (methods.md 2.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from mnemic.algo.replies import Parsed, choice, items, number, statement
from mnemic.prompts.data import DATA, LANGUAGE, NUMBER, a_list, an_object, numbered, one_of, version
from mnemic.prompts.drafts import TEXT_OR_EMPTY
from mnemic.protocols import Completion, Reply
from mnemic.types import Json

Relation = Literal["independent", "extends", "contradicts", "equivalent"]
"""Of a new note to an old one. ``independent``: add it. ``extends``: the old one gets the fuller text. ``contradicts``:
the old one is superseded, the new one added. ``equivalent``: the old one says it already."""

_RELATIONS: Final[dict[str, Relation]] = {
    **{"independent": "independent", "add": "independent", "new": "independent", "unrelated": "independent"},
    **{"extends": "extends", "extendable": "extends", "update": "extends", "extend": "extends"},
    **{"contradicts": "contradicts", "contradictory": "contradicts", "delete": "contradicts"},
    **{"equivalent": "equivalent", "none": "equivalent", "duplicate": "equivalent", "same": "equivalent"},
}

_SYSTEM: Final = f"""\
You compare each note in <new_notes> with those in <old_notes>; all are about the same person.
{DATA}

"relation" of each new note:
- "independent": no old note is about the same matter.
- "extends": it adds to an old note and both hold together; "text" is the fuller note that says all of both.
- "contradicts": an old note and it cannot both hold now: another value, number, date, place, or the opposite.
- "equivalent": an old note says the same, in other words too.
"old" is the number of that old note, 0 where there is none. What differs in a number, date, version or name is never
equivalent. Different events on different days are independent. Name every new note; another pair for the same new note
where it stands so to several old ones. {LANGUAGE}

Reply with one JSON object and nothing else:
{{"pairs": [{{"new": 1, "relation": "extends", "old": 3, "text": "…"}}]}}, "text" being "" unless it extends."""
SCHEMA: Final[dict[str, Json]] = an_object(
    pairs=a_list(
        an_object(
            new=NUMBER,
            relation=one_of("independent", "extends", "contradicts", "equivalent"),
            old=NUMBER,
            text=TEXT_OR_EMPTY,
        )
    )
)
VERSION: Final = version(_SYSTEM, SCHEMA)


@dataclass(frozen=True, slots=True)
class Pair:
    """How a new note stands to an old one.

    Attributes:
        new: Place of the new note, from 0.
        relation: Never other than ``independent`` without an old note.
        old: Place of the old note, from 0; None for ``independent``.
        text: The fuller text where it extends; None otherwise, and where the model gave none that is new.
    """

    new: int
    relation: Relation
    old: int | None = None
    text: str | None = None


def render(old: Sequence[str], new: Sequence[str], *, max_tokens: int = 1024) -> Completion:
    """The request: the old notes near the new ones, and the new ones, each rendered in one line."""
    user = f"{numbered('old_notes', old)}\n\n{numbered('new_notes', new)}"
    return Completion("conflict", _SYSTEM, user, max_tokens, SCHEMA)


def parse(reply: Reply, old: Sequence[str], new: Sequence[str]) -> Parsed[Pair]:
    """The pairs of a reply, for every new note at least one: what it leaves out is independent, so nothing is lost.

    A pair that names an old note which was not offered is left out. One that extends without saying how is kept without
    a text: it is for the caller to add the new note then. ``failure`` and ``dropped`` say what was wrong.
    """

    def pair(value: Json) -> Pair | None:
        if not isinstance(value, dict):
            return None
        place, target = number(value.get("new")), number(value.get("old"))
        said = choice(value.get("relation"), tuple(_RELATIONS))
        if place is None or not 1 <= place <= len(new) or said is None:
            return None
        relation = _RELATIONS[said]
        if relation == "independent":
            return Pair(place - 1, relation)
        if target is None or not 1 <= target <= len(old):
            return None
        text = statement(value.get("text")) if relation == "extends" else None
        return Pair(place - 1, relation, target - 1, None if text == old[target - 1] else text)

    found = items(reply, ("pairs", "operations"), pair)
    related = {one.new for one in found.items if one.relation != "independent"}
    pairs = [one for one in dict.fromkeys(found.items) if one.relation != "independent" or one.new not in related]
    named = {one.new for one in pairs}
    missing = [Pair(place, "independent") for place in range(len(new)) if place not in named]
    failure = found.failure or ("unfit" if missing else None)
    return Parsed((*pairs, *missing), failure, found.dropped)
