"""What pages are built of. Text goes in here and nowhere else, as text: it is never markup, a style or a script."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from mnemic.service.inspector.differ import Piece
from mnemic.service.inspector.words import shown

Act = Callable[[], Awaitable[None]]


class Text(TextElement):
    """An element with text."""

    def __init__(self, tag: str, text: str, classes: str = "", **properties: str | bool) -> None:
        super().__init__(tag=tag, text=shown(text))
        self.classes(classes)
        put(self, **properties)


def put(element: ui.element, **properties: str | bool) -> ui.element:
    """Set attributes. A name is ours; a value is a text, and shown as one. ``data_x`` becomes ``data-x``."""
    for name, value in properties.items():
        element.props[name.rstrip("_").replace("_", "-")] = shown(value) if isinstance(value, str) else value
    return element


def box(tag: str = "div", classes: str = "", **properties: str | bool) -> ui.element:
    """An element that holds others."""
    element = ui.element(tag).classes(classes)
    return put(element, **properties)


def link(text: str, href: str, classes: str = "", **properties: str | bool) -> Text:
    """A link to one of our pages: ``words.address`` made its address."""
    return Text("a", text, classes, href=href, **properties)


def words(text: str, classes: str = "") -> Text:
    """What somebody said, in its own direction of writing, apart from what stands around it."""
    return Text("span", text, f"said {classes}", dir="auto")


def button(text: str, act: Act, classes: str = "", **properties: str | bool) -> Text:
    """A button that does something here."""
    element = Text("button", text, f"button {classes}", type="button", **properties)
    element.on("click", act, [])
    return element


def change(pieces: Iterable[Piece]) -> None:
    """A text with what is gone from it, and what is new in it."""
    tags = {"same": "span", "gone": "del", "new": "ins"}
    with box("span", "said change", dir="auto"):
        for piece in pieces:
            Text(tags[piece.kind], piece.text)


def field(
    label: str, name: str, value: str, *, kind: str = "text", classes: str = "", **properties: str | bool
) -> None:
    """A field of a form with its label."""
    with box("label", f"field {classes}"):
        Text("span", label)
        # ``defaultValue``: what a person types meanwhile is not written over.
        put(ui.element("input"), type=kind, name=name, defaultValue=value, autocomplete="off", **properties)


def choice(label: str, name: str, value: str, options: Sequence[tuple[str, str]], classes: str = "") -> None:
    """A field in which one of some is chosen: each a value and its words."""
    with box("label", f"field {classes}"):
        Text("span", label)
        with put(ui.element("select"), name=name):
            for one, text in options:
                option = Text("option", text, value=one)
                if one == value:
                    put(option, selected=True)


def hidden(**given: str | None) -> None:
    """What a form sends besides its fields."""
    for name, value in given.items():
        if value:
            put(ui.element("input"), type="hidden", name=name, value=value)


def empty(title: str, about: str = "") -> None:
    """Nothing is here, and why."""
    with box("div", "state empty", role="status"):
        Text("p", title, "state-title")
        if about:
            Text("p", about)


def failed(title: str, about: str) -> None:
    """Something did not work, and what it was."""
    with box("div", "state failed", role="alert"):
        Text("p", title, "state-title")
        Text("p", about)


def waiting() -> None:
    """Something is being read."""
    with box("div", "waiting", role="status", aria_label="Loading"):
        for _ in range(4):
            box("div", "bone")


def pager(back: str | None, on: str | None, *, backward: str, forward: str) -> None:
    """Links to the pages before and behind."""
    if back or on:
        with box("nav", "pager", aria_label="More"):
            if back:
                link(backward, back, "button", rel="prev")
            if on:
                link(forward, on, "button", rel="next")


def meter(percent: float, name: str, classes: str = "") -> None:
    """A bar that is full so far; the number is ours."""
    with box("div", f"meter {classes}", role="img", aria_label=f"{name}: {percent:.0f} %"):
        box("div", "meter-fill").style(f"width: {min(max(percent, 0.0), 100.0):.1f}%")


def options_of(values: Iterable[Any], every: str | None = None) -> list[tuple[str, str]]:
    """Choices whose words are their values; before them one that stands for all, if wanted."""
    first = [] if every is None else [("", every)]
    return [*first, *((str(value), str(value).replace("_", " ")) for value in values)]
