"""Status: how much there is, what language models are doing with it, what that took, and what serves the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.service.inspector import elements, status_view
from mnemic.service.inspector.elements import Text, box, button

if TYPE_CHECKING:
    from mnemic.service.inspector.frame import Frame
    from mnemic.service.inspector.status_view import State, Tile


async def build(frame: Frame) -> None:
    """Build the page."""
    user_id = frame.visit.user_id or ""
    seen = await frame.ask(lambda memory: status_view.read(memory, user_id))
    Text("h1", "Status")
    for warning in seen.warnings:
        Text("p", warning, "note-line said", dir="auto", role="status")
    _tiles(seen.tiles)
    with box("section", "panel", aria_labelledby="work"):
        Text("h2", "Reading by language models", id="work")
        if seen.quiet:
            Text(
                "p", "No language model is set: local rules do what they can, and nothing leaves this machine.", "quiet"
            )
        else:
            _work(frame, seen)
    if seen.meters:
        with box("section", "panel", aria_labelledby="budgets"):
            Text("h2", "Budgets", id="budgets")
            for one in seen.meters:
                with box("div", "budget"):
                    Text("span", one.name)
                    Text("span", one.value, "number")
                    if one.percent is not None:
                        elements.meter(one.percent, one.name, "full" if one.percent >= 90 else "")
    if seen.spent:
        _spent(seen)
    with box("section", "panel", aria_labelledby="storage"):
        Text("h2", "Storage", id="storage")
        _tiles(seen.storage, "facts-grid")


def _tiles(tiles: Sequence[Tile], classes: str = "tiles") -> None:
    with box("dl", classes):
        for tile in tiles:
            with box("div", "tile"):
                Text("dt", tile.name)
                Text("dd", tile.value, "said", dir="auto")
                if tile.about:
                    Text("dd", tile.about, "quiet")


def _work(frame: Frame, seen: State) -> None:
    user_id = frame.visit.user_id or ""
    _tiles(seen.queue)
    for reason in seen.waits:
        Text("p", f"Waits: {reason}", "note-line said", dir="auto")
    for failure in seen.failures:
        with box("div", "failure", role="alert"):
            Text("p", failure.what, "state-title")
            Text("p", failure.reason, "said", dir="auto")
    if seen.can_retry and frame.visit.may("write"):

        async def retry() -> None:
            await frame.do(
                lambda memory: memory.retry(user_id=user_id),
                "It is done again.",
                lambda: frame.again(lambda: build(frame)),
            )

        with box("div", "deeds"):
            button("Try again", retry, "primary")


def _spent(seen: State) -> None:
    with box("section", "panel", aria_labelledby="spent"):
        Text("h2", "Spent so far", id="spent")
        with box("div", "scroll", tabindex="0", role="group", aria_label="Spent so far"), box("table"):
            with box("thead"), box("tr"):
                for name in ("purpose", "model", "calls", "tokens in", "tokens out", "cost"):
                    Text("th", name, scope="col")
            with box("tbody"):
                for row in seen.spent:
                    with box("tr"):
                        Text("th", row.purpose, scope="row")
                        Text("td", row.model)
                        for number in (row.calls, row.tokens_in, row.tokens_out, row.cost):
                            Text("td", number, "number")
