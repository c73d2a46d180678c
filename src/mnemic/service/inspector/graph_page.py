"""Graph: a cue, what mentions it, and the cues beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.service.inspector import drawings, elements, graph_view
from mnemic.service.inspector.elements import Text, box, link, words

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.graph_view import Around


async def build(frame: Frame) -> None:
    """Build the page."""
    visit = frame.visit
    user_id = visit.user_id or ""
    seen = await frame.ask(lambda memory: graph_view.read(memory, user_id, visit.given))
    Text("h1", "Graph")
    like = visit.given.get("like", "")
    with box("form", "form filters", method="get", role="search"):
        elements.hidden(user=visit.user_id)
        elements.field("Find a cue", "like", like, kind="search")
        Text("button", "Find", "button", type="submit")
    if seen.missing:
        Text("p", seen.missing, "note-line", role="status")
    if not seen.listed and seen.around is None:
        if like:
            elements.empty("No cue is like that.", "Cues are names, key phrases, dates and numbers that somebody said.")
        else:
            elements.empty("There are no cues yet.", "They come with the first message.")
        return
    with box("div", "split"):
        with box("aside", "side", aria_label="Cues"):
            Text("h2", "Cues")
            with box("div", "tags"):
                for cue in seen.listed:
                    with link("", cue.href, "tag"):
                        Text("span", cue.label, "said", dir="auto")
                        Text("span", cue.about, "quiet")
        if seen.around is not None:
            _around(seen.around)


def _around(seen: Around) -> None:
    with box("section", "panel", aria_labelledby="cue"):
        with box("div", "talk-head"), box("div"):
            Text("h2", seen.title, "said", id="cue", dir="auto")
            Text("p", seen.about, "quiet")
        if len(seen.stars) > 1:
            drawings.star(seen.stars)
        with box("div", "tags", aria_label="Beside it"):
            for one in seen.near:
                with link("", one.href, "tag"):
                    Text("span", one.label, "said", dir="auto")
                    Text("span", one.about, "quiet")
        if seen.notes:
            Text("h3", "Notes")
            with box("ul", "plain"):
                for one in seen.notes:
                    with box("li", "line"), link("", one.href):
                        words(one.label)
                        Text("span", one.about, "quiet")
        Text("h3", "Sentences")
        with box("ul", "plain"):
            for mention in seen.mentions:
                with box("li", "line mention"):
                    with box("p", "turn-head"):
                        Text("span", mention.speaker, "speaker said", dir="auto")
                        link(mention.at, mention.href, "when", title="Show it in the timeline")
                    with box("p"):
                        words(mention.text)
