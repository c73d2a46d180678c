"""What ``bench graph`` and ``bench follow`` write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from mnemic.cli import hits as shown_hits
from mnemic.cli import output
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.bench.follow import Beside, Followed, Link, Shown, Way
    from mnemic.types import Turn

_MOST: Final = 8  # links of a kind that are shown
_LABELS: Final = {"bytes": "MB on disk", "bytes_without_vectors": "MB without vectors"}
_PUBLISHED: Final = (
    "HERO: as its authors published it (arXiv 2608.22310, tables 8 and 9), made with a language model and not measured "
    "here. Its MB leave out the vectors; what it calls insights are notes here."
)


def graph(found: Mapping[str, Json]) -> Iterator[str]:
    """Sizes in the mean and at most, users one by one, and building, as lines.

    Args:
        found: As ``bench.graph.summarise`` makes it.
    """
    from mnemic.bench.columns import inner, number
    from mnemic.bench.compare_text import table

    users, mean = inner(found, "users"), inner(found, "mean")
    published = inner(found, "published")
    names = [name for name in mean if name not in ("wall_s", "cpu_s")]
    columns = [("mean",), ("max",)] + ([("published", "mean"), ("published", "max")] if published else [])
    heads = ["of a user", "mean", "max"] + (["HERO mean", "HERO max"] if published else [])
    rows = [[_LABELS.get(name, name), *(_cell(name, number(found, *c, name)) for c in columns)] for name in names]
    yield from table(heads, rows)
    yield ""
    yield from table(
        ("user", *(_LABELS.get(name, name) for name in names)),
        [[output.shown(user), *(_cell(name, number(row, name)) for name in names)] for user, row in users.items()],
    )
    yield ""
    yield from table(("building a user's, mean", "mnemic", *(["HERO"] if published else [])), _building(found))
    if published:
        yield ""
        yield _PUBLISHED


def _building(found: Mapping[str, Json]) -> list[list[str]]:
    from mnemic.bench.columns import inner, number, small, whole
    from mnemic.bench.tables import MISSING

    build, theirs = inner(found, "build"), inner(found, "published", "build")
    rows = [["wall s", small(number(build, "wall_s") or 0.0)], ["CPU s", small(number(build, "cpu_s") or 0.0)]]
    rows += [[f"{stage}, CPU s", small(number(build, "stages", stage) or 0.0)] for stage in inner(build, "stages")]
    rows += [[f"model tokens {way}", whole(number(build, "tokens", way) or 0.0)] for way in inner(build, "tokens")]
    if theirs:
        rows = [[*row, f"{number(theirs, 'wall_s'):,g}" if row[0] == "wall s" else MISSING] for row in rows]
        for purpose in inner(theirs, "tokens"):
            tokens = number(build, "tokens", "in") or number(build, "tokens", "out")
            ours = MISSING if tokens else "0"  # no model: none for any purpose
            rows.append([f"model tokens, {purpose}", ours, whole(number(theirs, "tokens", purpose) or 0.0)])
    return rows


def _cell(name: str, value: float | None) -> str:
    from mnemic.bench.columns import megabytes, whole
    from mnemic.bench.tables import MISSING

    if value is None:
        return MISSING
    return megabytes(value) if name in _LABELS else whole(value)


def followed(found: Followed) -> None:
    """Write a question and its ways for people."""
    from mnemic.bench.follow import WAYS
    from mnemic.bench.systems import describe

    question = found.question
    _say(f"{question.question_id}  {question.category}", "bold")
    _say(question.text)
    if question.answer is not None:
        _say(f"answer: {question.answer}", "green", 3)
    for turn in found.evidence:
        _say(f"evidence {_turn(turn)}", "green", 3)
    _say(f"it names: {', '.join(map(shown_hits.quoted, found.entities)) or 'nothing that could be a cue'}", indent=3)
    for name, way in found.ways.items():
        output.result()
        _say(f"{name}: {WAYS[name]}", "bold")
        _links("from its words to cues", way.anchors)
        _links("to sentences and notes", way.contexts)
        _links("from them to more cues", way.reached)
        _traces(way)
    for name, hits in found.others.items():
        output.result()
        _say(f"{name}: {describe(name)}", "bold")
        _shown(hits)
    if found.beside:
        output.result()
        _say("Word for word, and what was noted of it", "bold")
        for beside in found.beside:
            _beside(beside)


def followed_as_json(found: Followed) -> dict[str, Json]:
    """The same as one object, with every link and the hits as ``search --explain --json`` has them."""
    question = found.question
    return {
        "question": {
            "id": question.question_id,
            "text": question.text,
            "category": question.category,
            "answer": question.answer,
            "gold": [*question.gold],
        },
        "entities": [*found.entities],
        "ways": {
            name: {
                "anchors": [_link(link) for link in way.anchors],
                "contexts": [_link(link) for link in way.contexts],
                "reached": [_link(link) for link in way.reached],
                "results": [
                    {**shown_hits.hit(hit), "gold": gold} for hit, gold in zip(way.hits, way.gold, strict=True)
                ],
            }
            for name, way in found.ways.items()
        },
        "others": {
            name: [
                {
                    "turn_ids": [*one.hit.turn_ids],
                    "session_id": one.hit.session_id,
                    "text": one.hit.text,
                    "gold": one.gold,
                }
                for one in hits
            ]
            for name, hits in found.others.items()
        },
        "beside": [
            {
                "turn_id": beside.turn.turn_id,
                "gold": beside.gold,
                "speaker": beside.turn.speaker,
                "text": beside.turn.text,
                "notes": [*beside.notes],
            }
            for beside in found.beside
        ],
    }


def _links(title: str, links: Sequence[Link]) -> None:
    _say(f"{title}:" if links else f"{title}: none", indent=3)
    for link in links[:_MOST]:
        words = f"{shown_hits.quoted(link.before)} > {shown_hits.quoted(link.step.text or link.step.id)}"
        _say(f"{link.step.weight:.2f}  {link.step.kind}  {words}", indent=5)
    if len(links) > _MOST:
        _say(f"and {len(links) - _MOST} weaker", "dim", 5)


def _traces(way: Way) -> None:
    _say("to traces:" if way.hits else "to traces: none", indent=3)
    for number, (hit, gold) in enumerate(zip(way.hits, way.gold, strict=True), 1):
        mark = "  holds evidence" if gold else ""
        _say(f"{number}. {hit.trace_id}  score {hit.score:.2f} ({shown_hits.signals(hit.signals)}){mark}",
             "green" if gold else "", 5)  # fmt: skip
        _say(hit.text, "dim", 8)
        for path in hit.paths[:1]:
            _say(shown_hits.way(path), indent=8)


def _shown(hits: Sequence[Shown]) -> None:
    _say("as its reader sees it:" if hits else "it finds nothing", indent=3)
    for number, one in enumerate(hits, 1):
        turns = ", ".join(one.hit.turn_ids)
        mark = "  holds evidence" if one.gold else ""
        _say(f"{number}. of {turns}{mark}", "green" if one.gold else "", 5)
        _say(one.hit.text, "dim", 8)


def _beside(beside: Beside) -> None:
    _say(_turn(beside.turn) + ("  (evidence)" if beside.gold else ""), "green" if beside.gold else "", 3)
    for note in beside.notes:
        _say(f"noted: {note}", indent=6)
    if not beside.notes:
        _say("nothing noted", "dim", 6)


def _turn(turn: Turn) -> str:
    return f"{turn.turn_id}  {turn.speaker}: {' '.join(turn.text.split())}"


def _say(text: str, style: str = "", indent: int = 0) -> None:
    output.styled(output.shown(text), style, indent)


def _link(link: Link) -> dict[str, Json]:
    step = link.step
    return {"from": link.before, "kind": step.kind, "id": step.id, "text": step.text, "weight": step.weight}
