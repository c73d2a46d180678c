"""Notes: by person and kind, with their sources, versions and reasons; and what a person says about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nicegui.element import Element

from mnemic.service.inspector import elements, notes_view, operations_page
from mnemic.service.inspector.elements import Text, box, button, link, words
from mnemic.service.inspector.frame import fill
from mnemic.service.inspector.words import counted, named

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.notes_view import Card, Deed, Detail, Notes, Suspect
    from mnemic.service.tenant_memory import TenantMemory

_DONE: dict[Deed, tuple[str, str]] = {
    "approve": ("Approve", "Approved: it counts now."),
    "reject": ("Reject", "Rejected; it stays readable."),
    "confirm": ("Confirm", "Confirmed as of today."),
    "retract": ("Retract", "Retracted; it stays readable, and its history takes that back."),
    "restore": ("Restore", "It counts again."),
    "release": ("Release", "Released: it is found like any other."),
    "discard": ("Discard", "Discarded: it is never found, and stays readable."),
}


async def build(frame: Frame) -> None:
    """Build the page."""
    user_id = frame.visit.user_id or ""
    seen = await frame.ask(lambda memory: notes_view.read(memory, user_id, frame.visit.given))
    Text("h1", "Notes")
    if not seen.total and not seen.quarantine and not seen.past:
        elements.empty(
            "There are no notes yet.", "They come from what people say of themselves, and from language models."
        )
        return
    if seen.missing:
        Text("p", seen.missing, "note-line", role="status")
    if seen.proposals:
        with box("section", "panel proposals", aria_labelledby="waiting"):
            Text("h2", f"{counted(len(seen.proposals), 'note')} to decide on", id="waiting")
            for card in seen.proposals:
                _card(frame, card)
    if seen.quarantine:
        with box("section", "panel proposals", aria_labelledby="quarantine"):
            Text("h2", f"{len(seen.quarantine):,} in quarantine", id="quarantine")
            for suspect in seen.quarantine:
                _suspect(frame, suspect)
    _filters(frame, seen)
    if not seen.groups:
        elements.empty("No note is like that.", "Choose another status, kind or person.")
    for group in seen.groups:
        with box("section", "group"):
            Text("h2", group.about, "said", dir="auto")
            for card in group.cards:
                _card(frame, card)
    elements.pager(seen.previous, seen.next, backward="Back", forward="More")


def _filters(frame: Frame, seen: Notes) -> None:
    given = frame.visit.given
    chosen = given.get("status") or ("any" if given.get("as_of") else "current")
    statuses = [(name, f"{name} ({count:,})") for name, count in seen.statuses]
    people = [("", "everybody"), *((name, f"{named(name, most=40)} ({count:,})") for name, count in seen.people)]
    with box("form", "form filters", method="get", aria_label="Filter"):
        elements.hidden(user=frame.visit.user_id)
        elements.choice("Status", "status", chosen, [*statuses, ("any", f"any ({seen.total:,})")])
        elements.choice("Kind", "kind", given.get("kind", ""), elements.options_of(notes_view.KINDS, "every kind"))
        elements.choice("About", "about", given.get("about", ""), people)
        elements.field("True on", "as_of", given.get("as_of", ""), kind="date")
        elements.field("Believed on", "known_at", given.get("known_at", ""), kind="date")
        Text("button", "Show", "button", type="submit")


def _suspect(frame: Frame, suspect: Suspect) -> None:
    with box("article", "panel card status-quarantined", aria_label=f"In quarantine: {suspect.id}"):
        with box("p", "note-text"):
            elements.change(suspect.pieces)
        Text("p", " · ".join(suspect.facts), "quiet said", dir="auto")
        if frame.visit.may("write"):
            with box("div", "deeds"):
                for deed in ("release", "discard"):
                    _deed(frame, suspect.id, deed)


def _card(frame: Frame, card: Card) -> None:
    with box("article", f"panel card status-{card.status}", aria_label=f"Note {card.note_id}"):
        with box("div", "card-head"):
            Text("span", card.kind, f"chip note-{card.kind}")
            if card.status != "current":
                Text("span", card.status, f"chip status-{card.status}")
            Text("span", card.note_id, "quiet id")
        with box("p", "note-text"):
            words(card.text)
        Text("p", " · ".join(card.facts), "quiet said", dir="auto")
        place: Element
        with box("div", "deeds"):
            more = button("Sources and history", _opening(frame, card, lambda: (more, place)), "ghost")
            elements.put(more, aria_expanded="false")
            if frame.visit.may("write"):
                for deed in card.deeds:
                    _deed(frame, card.note_id, deed)
        place = box("div", "more")
    if card.open:
        _open_later(frame, card, more, place)


def _open_later(frame: Frame, card: Card, more: Text, place: Element) -> None:
    from nicegui import ui

    ui.timer(0, _opening(frame, card, lambda: (more, place)), once=True)


def _opening(frame: Frame, card: Card, parts: Callable[[], tuple[Text, Element]]) -> elements.Act:
    """Shows what a note rests on, and hides it again."""

    async def turn() -> None:
        more, place = parts()
        if place.default_slot.children:
            place.clear()
            elements.put(more, aria_expanded="false")
            return
        elements.put(more, aria_expanded="true")
        with place:
            elements.waiting()
        await fill(place, lambda: _detail(frame, card.note_id))

    return turn


def _deed(frame: Frame, note_id: str, deed: Deed) -> None:
    user_id = frame.visit.user_id or ""
    name, done = _DONE[deed]

    def work(memory: TenantMemory) -> object:
        does: dict[Deed, Callable[[], object]] = {
            "approve": lambda: memory.approve(note_id, user_id=user_id),
            "reject": lambda: memory.reject(note_id, user_id=user_id),
            "confirm": lambda: memory.confirm(note_id, user_id=user_id),
            "retract": lambda: memory.retract(note_id, user_id=user_id, reason="in the inspector"),
            "restore": lambda: memory.restore(note_id, user_id=user_id),
            "release": lambda: memory.release(note_id, user_id=user_id),
            "discard": lambda: memory.discard(note_id, user_id=user_id),
        }
        return does[deed]()

    async def act() -> None:
        await frame.do(work, done, lambda: frame.again(lambda: build(frame)))

    grave = deed in ("retract", "reject", "discard")
    button(
        name,
        act,
        "danger-text" if grave else "",
        aria_label=f"{name} {'' if deed in ('release', 'discard') else 'note '}{note_id}",
    )


async def _detail(frame: Frame, note_id: str) -> None:
    user_id = frame.visit.user_id or ""
    seen = await frame.ask(lambda memory: notes_view.detail(memory, user_id, note_id))
    _sources(seen)
    if len(seen.versions) > 1:
        Text("h3", "Versions")
        with box("ol", "plain"):
            for version in seen.versions:
                with box("li", "version"):
                    with box("div", "card-head"):
                        Text("span", f"version {version.number}", "chip")
                        Text("span", version.status, f"chip status-{version.status}")
                        Text("span", " · ".join(version.facts), "quiet")
                    with box("p"):
                        elements.change(version.change)
    if seen.cues:
        Text("h3", "Cues")
        with box("div", "tags"):
            for name, href in seen.cues:
                link(name, href, "tag said", dir="auto")
    Text("h3", "History")
    operations_page.entries(frame, seen.history, lambda: frame.again(lambda: build(frame)))


def _sources(seen: Detail) -> None:
    Text("h3", "Sources")
    if not seen.sources:
        Text("p", "The words it rests on are gone.", "quiet")
    for source in seen.sources:
        with box("blockquote", "source"):
            with box("p", "turn-head"):
                Text("span", source.speaker, "speaker said", dir="auto")
                link(source.at, source.href, "when", title="Show it in the timeline")
            with box("p"), box("span", "said", dir="auto"):
                Text("span", source.before)
                Text("mark", source.words)
                Text("span", source.after)
