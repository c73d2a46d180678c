"""The timeline: sessions, their episodes as coloured bands, traces, and the words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from mnemic.service.inspector import elements, timeline_view
from mnemic.service.inspector.elements import Text, box, button, link, words
from mnemic.service.inspector.words import counted, named

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.timeline_view import Band, EpisodeBlock, Said, SessionItem, Timeline

_JUMP = "document.getElementById({id!r})?.scrollIntoView({{block: 'center'}})"


async def build(frame: Frame) -> None:
    """Build the page."""
    visit = frame.visit
    user_id = visit.user_id or ""
    seen = await frame.ask(lambda memory: timeline_view.read(memory, user_id, visit.given))
    Text("h1", "Timeline")
    if seen.missing:
        Text("p", seen.missing, "note-line", role="status")
    if seen.session is None:
        elements.empty("Nothing was said yet.", "What is added for this user shows here, word for word.")
        return
    with box("div", "split"):
        _sessions(seen)
        with box("section", "panel talk", aria_label=f"Session {seen.session.name}"):
            _session(frame, seen, seen.session)
    for block in seen.blocks:
        for said in block.turns:
            if said.jumped:  # its id is letters and digits
                ui.run_javascript(_JUMP.format(id=said.anchor))


def _sessions(seen: Timeline) -> None:
    with box("aside", "side", aria_label="Sessions"):
        Text("h2", counted(seen.total, "session"))
        with box("ol", "sessions"):
            for one in seen.sessions:
                with box("li"):
                    here: dict[str, str | bool] = {"aria_current": "true"} if one.current else {}
                    with link("", one.href, "session", **here):
                        Text("span", one.name, "session-name", dir="auto")
                        Text("span", one.about, "quiet")
                        _strip(one.bands, linked=False)
        elements.pager(seen.newer, seen.older, backward="Newer", forward="Older")


def _strip(bands: Sequence[Band], *, linked: bool) -> None:
    with box("span" if not linked else "div", "strip"):
        for band in bands:
            element = link("", band.href, aria_label=band.topic, title=band.topic) if linked else box("span")
            element.classes(f"band hue-{band.hue}").style(f"flex-grow: {band.percent:.3f}")


def _session(frame: Frame, seen: Timeline, session: SessionItem) -> None:
    with box("div", "talk-head"):
        with box("div"):
            Text("h2", session.name, "said", dir="auto")
            Text("p", session.about, "quiet")
        if frame.visit.may("erase"):
            _eraser(frame, f"session {session.name}", session_id=session.session_id)
    _strip(seen.strip, linked=True)
    elements.pager(seen.before, None, backward="Earlier messages", forward="")
    for block in seen.blocks:
        _block(frame, block)
    elements.pager(None, seen.after, backward="", forward="Later messages")


def _block(frame: Frame, block: EpisodeBlock) -> None:
    with box("article", f"episode hue-{block.hue}", aria_label=f"Episode {named(block.topic)}"):
        with box("div", "episode-head"):
            Text("h3", block.topic, "said", dir="auto")
            Text("span", block.about, "quiet")
        if block.summary:
            with box("p", "summary"):
                words(block.summary)
        with box("ol", "turns"):
            for said in block.turns:
                _said(frame, said)


def _said(frame: Frame, said: Said) -> None:
    with box("li", f"turn role-{said.role}{' jumped' if said.jumped else ''}", id=said.anchor):
        with box("div", "turn-head"):
            Text("span", said.speaker, "speaker said", dir="auto")
            if said.role != "user" and said.speaker != said.role:
                Text("span", said.role, "chip")
            link(said.at, said.href, "when", title=f"Message {named(said.turn_id)}")
            for trace_id, size in said.traces:
                Text("span", trace_id, "chip trace", title=f"Trace {trace_id} begins here: {size}")
            if frame.visit.may("erase"):
                _eraser(frame, f"message {named(said.turn_id)}", turn_id=said.turn_id)
        with box("p", "words"):
            words(said.text)
        for one in said.attachments:
            Text("p", one, "attachment said", dir="auto")


def _eraser(frame: Frame, what: str, *, turn_id: str | None = None, session_id: str | None = None) -> None:
    """A button that erases, once a person has said so twice."""
    user_id = frame.visit.user_id or ""

    async def again() -> None:
        await frame.again(lambda: build(frame))

    async def erase() -> None:
        dialog.close()
        await frame.do(
            lambda memory: memory.delete(user_id=user_id, turn_id=turn_id, session_id=session_id),
            "Erased, with everything derived from it alone.",
            again,
        )

    async def ask() -> None:
        dialog.open()

    with ui.dialog() as dialog, box("div", "dialog", role="alertdialog", aria_label=f"Erase {what}?"):
        Text("h2", f"Erase {what}?")
        Text("p", "Its words go, and every note, cue and episode that rests on them. Nothing brings them back.")
        with box("div", "deeds"):

            async def leave() -> None:
                dialog.close()

            button("Keep it", leave)
            button("Erase", erase, "danger")
    button("Erase", ask, "ghost small", aria_label=f"Erase {what}")
