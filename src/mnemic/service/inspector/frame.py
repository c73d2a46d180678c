"""What stands around every page: who looks at whose memory, the ways to the other pages, light and dark."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

from nicegui import run, ui
from nicegui.element import Element

from mnemic.errors import InvalidInput, KeyRefused, MnemicError, NotAllowed, TooManyRequests
from mnemic.service.inspector import elements
from mnemic.service.inspector.elements import Text, box, button, link
from mnemic.service.inspector.words import address, named

if TYPE_CHECKING:
    from mnemic.service.inspector.desk import Visit
    from mnemic.service.tenant_memory import TenantMemory

R = TypeVar("R")
PAGES: Final = (
    ("timeline", "Timeline"),
    ("ask", "Ask"),
    ("notes", "Notes"),
    ("graph", "Graph"),
    ("operations", "Operations"),
    ("status", "Status"),
)
THEME: Final = "mnemic_theme"
_THEMES: Final[dict[str, bool | None]] = {"auto": None, "light": False, "dark": True}
_NEXT: Final = {"auto": "light", "light": "dark", "dark": "auto"}
_log = logging.getLogger("mnemic")


class Frame:
    """A page of a visit: its head, and a body that is read once the page stands, and again after each deed.

    Args:
        visit: Whose.
        page: One of ``PAGES``, or empty.
        theme: ``auto``, ``light`` or ``dark``.
    """

    def __init__(self, visit: Visit, page: str, theme: str) -> None:
        self.visit = visit
        self.page = page
        self._theme = theme if theme in _THEMES else "auto"
        self._dark = ui.dark_mode(_THEMES[self._theme])
        ui.add_head_html('<link rel="stylesheet" href="inspector.css">')
        link("Skip to content", "#main", "skip")
        self._head()
        self.body: Element = box("main", "page", id="main", tabindex="-1")

    def _head(self) -> None:
        visit = self.visit
        with box("header", "top"):
            with box("div", "bar"):
                link("mnemic", "./", "brand", aria_label="mnemic inspector, start")
                if visit.user_id is not None:
                    with link("", address("./", {"choose": "1"}), "who", title="Look at somebody else's memory"):
                        Text("span", named(visit.user_id, most=40), "said", dir="auto")
                box("div", "space")
                self._switch = button(_told(self._theme), self._turn, "ghost", aria_label=f"Colours: {self._theme}")
                if visit.asks:
                    with box("form", "leave", method="post", action="logout"):
                        Text("button", "Log out", "button ghost", type="submit", title=_key(visit))
            if visit.user_id is not None:
                with box("nav", "ways", aria_label="Pages"):
                    for page, name in PAGES:
                        here: dict[str, str | bool] = {"aria_current": "page"} if page == self.page else {}
                        link(name, address(page, {"user": visit.user_id}), "way", **here)

    async def _turn(self) -> None:
        """The next of auto, light and dark; the browser remembers it."""
        self._theme = _NEXT[self._theme]
        self._dark.value = _THEMES[self._theme]
        self._switch.text = _told(self._theme)
        elements.put(self._switch, aria_label=f"Colours: {self._theme}")
        ui.run_javascript(f"document.cookie = '{THEME}={self._theme}; path=/; max-age=31536000; SameSite=Strict'")

    async def ask(self, work: Callable[[TenantMemory], R]) -> R:
        """What a memory says, read in a thread: nothing here waits for a database on the loop of events.

        Raises:
            MnemicError: As the memory does, and where the key is not good any more.
        """
        found = await run.io_bound(lambda: [work(self.visit.memory())])
        if found is None:  # the server ends
            raise KeyRefused("the server ends; come back later")
        return found[0]

    def show(self, build: Callable[[], Awaitable[None]]) -> None:
        """Read and build the body once the browser is there; until then, say that it is being read."""
        with self.body:
            elements.waiting()
        ui.timer(0, lambda: self.again(build), once=True)

    async def again(self, build: Callable[[], Awaitable[None]]) -> None:
        """Build the body anew."""
        await fill(self.body, build)

    async def do(self, work: Callable[[TenantMemory], object], done: str, build: Callable[[], Awaitable[None]]) -> None:
        """Do something, say what came of it, and show what is so now."""
        try:
            await self.ask(work)
        except MnemicError as error:
            ui.notify(elements.shown(_sentence(str(error))), type="negative", timeout=9000, close_button="Close")
            return
        ui.notify(done, type="positive")
        await build()


async def fill(place: Element, build: Callable[[], Awaitable[None]]) -> None:
    """Build what is in a place; where that fails, say why.

    A process edge: what nobody foresaw is logged without anybody's words, and the page says that it failed.
    """
    holder = Element("div").classes("fill")
    holder.move(place)
    with holder:
        try:
            await build()
        except KeyRefused as error:
            elements.failed("You are not logged in any more.", _sentence(str(error)))
            link("Log in", "login", "button primary")
        except TooManyRequests as error:
            elements.failed("Too many requests.", f"Try again in {max(1, round(error.retry_after_s))} s.")
        except NotAllowed as error:
            elements.failed("Your key does not allow this.", _sentence(str(error)))
        except InvalidInput as error:
            elements.failed("This cannot be asked.", _sentence(str(error)))
        except MnemicError as error:
            elements.failed("That did not work.", _sentence(str(error)))
        except Exception as error:  # noqa: BLE001 - the edge of the process: a page says that it failed, and nothing else
            _log.error("a page of the inspector failed: %s", type(error).__name__)
            elements.failed("Something went wrong.", "The server's log names it. Reload the page to try again.")
    for old in [child for child in place.default_slot.children if child is not holder]:
        old.delete()


def _told(theme: str) -> str:
    return {"auto": "◐ Auto", "light": "○ Light", "dark": "● Dark"}[theme]


def _key(visit: Visit) -> str:
    scopes = ", ".join(sorted(visit.access.scopes))
    return f"Key {named(visit.access.name)} of the tenant {visit.access.tenant.name}: {scopes}"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")
