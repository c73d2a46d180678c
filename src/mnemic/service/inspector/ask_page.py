"""Ask: a question, what memory finds for it, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.service.inspector import ask_view, drawings, elements
from mnemic.service.inspector.elements import Text, box, link, words

if TYPE_CHECKING:
    from mnemic.service.inspector.ask_view import Asked, Hit
    from mnemic.service.inspector.frame import Frame

_KINDS = (("query", "question"), ("cue", "cues"), ("unit", "sentences"), ("note", "notes"), ("trace", "traces"))


async def build(frame: Frame) -> None:
    """Build the page."""
    user_id = frame.visit.user_id or ""
    Text("h1", "Ask")
    _form(frame)
    asked = ask_view.question(frame.visit.given)
    if asked is None:
        elements.empty(
            "Ask in plain words.", "You see the original words that answer, how each was found, and by which way."
        )
        return
    found = await frame.ask(lambda memory: ask_view.ask(memory, user_id, asked))
    _answer(found)


def _form(frame: Frame) -> None:
    given = frame.visit.given
    with box("form", "panel form ask", method="get", role="search"):
        elements.hidden(user=frame.visit.user_id)
        elements.field("Question", "q", given.get("q", ""), kind="search", classes="wide", required=True)
        Text("button", "Search", "button primary", type="submit")
        with box("details", "options", **({"open": True} if set(given) - {"q", "mode"} else {})):
            Text("summary", "Options")
            with box("div", "filters"):
                elements.choice("Look in", "mode", given.get("mode", "graph"), elements.options_of(ask_view.MODES))
                elements.choice(
                    "Ranking", "config", given.get("config", "default"), elements.options_of(ask_view.CONFIGS)
                )
                elements.field("Results", "top_k", given.get("top_k", "10"), kind="number", min="1", max="100")
                elements.field(
                    "Least score",
                    "threshold",
                    given.get("threshold", ""),
                    kind="number",
                    step="any",
                    placeholder="none",
                )


def _answer(found: Asked) -> None:
    for warning in found.warnings:
        Text("p", warning, "note-line said", dir="auto", role="status")
    with box("section", "panel verdict", role="status"):
        if found.nothing:
            Text("p", "Nothing relevant is in memory.", "state-title")
            Text("p", "The nearest words are below, if there are any; none of them seems to answer this.", "quiet")
        else:
            Text("p", found.summary, "state-title")
        with box("div", "relevance"):
            Text("span", f"Relevance {found.relevance:.2f}")
            elements.meter(100 * found.relevance, "Relevance")
        for one in found.judged:
            Text("p", one, "quiet")
    if not found.hits and not found.notes:
        elements.empty("No result.", "Nothing passes what was asked. A lower least score or more general words may.")
        return
    if found.drawing.dots:
        with box("section", "panel", aria_labelledby="way"):
            Text("h2", "The activated path", id="way")
            with box("ul", "legend"):
                for kind, name in _KINDS:
                    Text("li", name, f"kind-{kind}")
            drawings.path(found.drawing)
    if found.notes:
        _notes(found)
    with box("section", "", aria_labelledby="evidence"):
        Text("h2", "Evidence", id="evidence")
        with box("ol", "hits"):
            for hit in found.hits:
                _hit(hit)


def _notes(found: Asked) -> None:
    with box("section", "panel", aria_labelledby="found-notes"):
        Text("h2", "Notes", id="found-notes")
        with box("ul", "plain"):
            for note in found.notes:
                with box("li", "line"):
                    Text("span", note.score, "score")
                    with link("", note.href):
                        words(f"{note.about}: {note.text}")


def _hit(hit: Hit) -> None:
    with box("li", "panel hit"):
        with box("div", "hit-head"):
            Text("span", str(hit.rank), "rank")
            Text("h3", hit.title, "said", dir="auto")
            Text("span", hit.score, "score", title="Score")
        with box("div", "hit-body"):
            with box("div", "quotes"):
                for line in hit.lines:
                    with box("p", "quote"):
                        link(line.speaker or "somebody", line.href, "speaker said", dir="auto")
                        words(line.text)
            with box("dl", "bars", aria_label="What each signal contributed"):
                for bar in hit.bars:
                    Text("dt", bar.name)
                    with box("dd"):
                        elements.meter(bar.percent, bar.name)
                        Text("span", bar.value, "number")
        if hit.ways:
            with box("details", "ways"):
                Text("summary", "How it was reached")
                with box("ul", "plain"):
                    for way in hit.ways:
                        with box("li", "way-line"):
                            for stop in way:
                                if stop.href:
                                    link(stop.label, stop.href, f"stop kind-{stop.kind} said", dir="auto")
                                else:
                                    Text("span", stop.label, f"stop kind-{stop.kind} said", dir="auto")
