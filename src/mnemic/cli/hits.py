"""What a search found, as JSON and for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.cli import output
from mnemic.types import Evidence, Json, SearchResult, Step

NOTHING = "Nothing relevant: nothing in this memory seems to answer that."


def as_json(found: SearchResult) -> dict[str, Json]:
    """The documented shape of ``search --json``."""
    return {
        "results": [hit(one) for one in found.results],
        "relevance": found.relevance,
        "nothing_relevant": found.nothing_relevant,
        "calibrated": found.calibrated,
        "took_ms": round(found.took_ms, 2),
    }


def layers(found: SearchResult) -> dict[str, Json]:
    """What it has besides in the modes that look into notes and episodes."""
    return {
        "notes": [
            {
                "note_id": one.note.note_id,
                "about": one.note.about,
                "kind": one.note.kind,
                "text": one.note.text,
                "sources": [[span.turn_id, span.start, span.end] for span in one.note.sources],
                "score": one.score,
            }
            for one in found.notes
        ],
        "sufficiency": [{"layer": one.layer, "sufficient": one.sufficient, "by": one.by} for one in found.sufficiency],
        "operations": [*found.operations],
    }


def hit(hit: Evidence) -> dict[str, Json]:
    """One hit, in the same shape."""
    episode: dict[str, Json] = {} if hit.episode_id is None else {"episode_id": hit.episode_id}
    return {
        **episode,
        "trace_id": hit.trace_id,
        "turn_ids": [*hit.turn_ids],
        "spans": [[span.turn_id, span.start, span.end] for span in hit.spans],
        "session_id": hit.session_id,
        "speakers": [*hit.speakers],
        "timestamp": hit.timestamp.isoformat() if hit.timestamp else None,
        "text": hit.text,
        "score": hit.score,
        "signals": dict(hit.signals),
        "path": [
            [{"kind": step.kind, "id": step.id, "text": step.text, "weight": step.weight} for step in path]
            for path in hit.paths
        ],
    }


def show(found: SearchResult) -> None:
    """Print the notes, if any were looked for, and the hits, best first."""
    for one in found.notes:
        output.styled(output.shown(f"{one.note.note_id}  {one.note.about}, {one.note.kind}: {one.note.text}"))
    for one in found.sufficiency:
        output.styled(f"{one.layer}: {'' if one.sufficient else 'not '}sufficient, by {output.shown(one.by)}", "dim")
    if found.operations:
        output.styled(output.counted(len(found.operations), "change"), "dim")
    if found.notes or found.sufficiency:
        output.result()
    for number, hit in enumerate(found.results, 1):
        where = hit.episode_id or hit.trace_id
        output.styled(output.shown(f"{number}. {where}  session {hit.session_id}"), "bold")
        output.styled(output.shown(hit.text), indent=3)
        output.styled(output.shown(f"score {hit.score:.2f} ({signals(hit.signals)})"), "dim", indent=3)
        for path in hit.paths:
            output.styled(output.shown(way(path)), "dim", indent=3)
        output.result()


def nobody(user_id: str) -> str:
    """What is said of a user who is not in the database."""
    return f"User {output.shown(repr(user_id))} has nothing in memory."


def signals(parts: Mapping[str, float]) -> str:
    """Which signals speak for a hit, the strongest first: ``unit 0.61, lexical 0.20``."""
    return ", ".join(f"{name} {value:.2f}" for name, value in sorted(parts.items(), key=lambda p: -p[1]) if value)


def way(path: Sequence[Step]) -> str:
    """One way from the question to a hit, in a line: ``"kiln" > "I fired the bowls." > "marguerite"``."""
    texts = [step.text or step.id for step in path]
    return " > ".join(quoted(text) for i, text in enumerate(texts) if i == 0 or text != texts[i - 1])


def quoted(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line, in quotation marks."""
    line = " ".join(text.split())
    return f'"{line if len(line) <= most else line[: most - 1] + "…"}"'
