"""Operations: the log of what changed notes and metadata, and taking it back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from mnemic.service.inspector import elements, operations_view
from mnemic.service.inspector.elements import Text, box, button, link

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.operations_view import Entry


async def build(frame: Frame) -> None:
    """Build the page."""
    user_id = frame.visit.user_id or ""
    Text("h1", "Operations")
    given = {**frame.visit.given, "user": user_id}
    seen = await frame.ask(lambda memory: operations_view.read(memory, user_id, given))
    if not seen.entries and not seen.narrowed:
        elements.empty(
            "Nothing has changed yet.", "Every change of a note, and of a message's metadata, is written here."
        )
        return
    _filters(frame)
    if not seen.entries:
        elements.empty("No operation is like that.", "Widen the filters.")
    entries(frame, seen.entries, lambda: frame.again(lambda: build(frame)))
    elements.pager(seen.newest, seen.older, backward="Newest", forward="Older")


def _filters(frame: Frame) -> None:
    given = frame.visit.given
    with box("form", "form filters", method="get", aria_label="Filter"):
        elements.hidden(user=frame.visit.user_id)
        actions = elements.options_of(operations_view.ACTIONS, "every kind")
        elements.choice("Kind", "action", given.get("action", ""), [(value, text.lower()) for value, text in actions])
        elements.field("By", "trigger", given.get("trigger", ""), placeholder="person, undo")
        elements.field("Note or message", "note", given.get("note", ""), placeholder="N3")
        elements.field("From", "since", given.get("since", ""), kind="date")
        elements.field("To", "until", given.get("until", ""), kind="date")
        Text("button", "Show", "button", type="submit")


def entries(frame: Frame, listed: Sequence[Entry], again: Callable[[], Awaitable[None]]) -> None:
    """A list of operations, each with a button that takes it back, where the key allows it."""
    with box("ol", "log"):
        for one in listed:
            with box("li", "panel entry", aria_label=f"Operation {one.operation_id}"):
                with box("div", "card-head"):
                    Text("span", one.action, f"chip action-{one.kind.lower()}")
                    link(one.target, one.href, "id said", dir="auto")
                    Text("span", f"by {one.trigger}", "said", dir="auto")
                    Text("span", one.at, "quiet")
                    Text("span", one.operation_id, "quiet id")
                    if frame.visit.may("write"):
                        box("div", "space")
                        with box("div", "together"):
                            _undo(frame, one, again)
                            if one.run is not None:
                                _undo_run(frame, one, one.run, again)
                if one.change:
                    with box("p", "entry-text"):
                        elements.change(one.change)
                if one.facts:
                    with box("dl", "facts"):
                        for name, value in one.facts:
                            with box("div"):
                                Text("dt", name)
                                Text("dd", value, "said", dir="auto")


def _undo(frame: Frame, one: Entry, again: Callable[[], Awaitable[None]]) -> None:
    user_id = frame.visit.user_id or ""

    async def act() -> None:
        await frame.do(
            lambda memory: memory.undo(one.operation_id, user_id=user_id),
            f"{one.operation_id} is taken back, by an operation that can be taken back in turn.",
            again,
        )

    button("Undo", act, "small", aria_label=f"Undo operation {one.operation_id}")


def _undo_run(frame: Frame, one: Entry, run: str, again: Callable[[], Awaitable[None]]) -> None:
    user_id = frame.visit.user_id or ""

    async def act() -> None:
        await frame.do(
            lambda memory: memory.undo(user_id=user_id, run=run),
            "All of the run is taken back, by operations that can be taken back in turn.",
            again,
        )

    button("Undo run", act, "small", aria_label=f"Undo all of the run of operation {one.operation_id}")
