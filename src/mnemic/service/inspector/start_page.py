"""The start: whose memory to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from mnemic.service.inspector import elements
from mnemic.service.inspector.elements import Text, box, link
from mnemic.service.inspector.words import address, counted, named

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame

_SHOWN = 200


async def build(frame: Frame) -> None:
    """Build the page."""
    visit = frame.visit
    wanted = visit.given.get("find", "").strip()
    users = await frame.ask(lambda memory: memory.users()) if visit.may("admin") else None
    if users is not None and len(users) == 1 and "choose" not in visit.given and visit.user_id is None:
        ui.navigate.to(address("timeline", {"user": users[0]}))
        return
    Text("h1", "Whose memory?")
    if users is None:
        with box("form", "panel form", method="get", action="timeline"):
            elements.field("User id", "user", "", required=True, autofocus=True)
            Text("button", "Open", "button primary", type="submit")
        Text("p", "Your key does not list users: that needs the scope admin.", "quiet")
        return
    if not users:
        elements.empty("Nobody is in memory yet.", "Add something: over REST, by an importer, or by mnemic import.")
        return
    if len(users) > 8 or wanted:
        with box("form", "form filters", method="get", role="search"):
            elements.hidden(choose="1")
            elements.field("Find", "find", wanted, kind="search")
            Text("button", "Find", "button", type="submit")
    found = [user for user in users if wanted.casefold() in user.casefold()]
    if not found:
        elements.empty(f"No user is called {named(wanted)}.")
    with box("ul", "people"):
        for user in found[:_SHOWN]:
            with box("li"):
                link(named(user), address("timeline", {"user": user}), "person", dir="auto")
    if len(found) > _SHOWN:
        Text("p", f"{counted(len(found) - _SHOWN, 'user')} more; find them by name.", "quiet")
