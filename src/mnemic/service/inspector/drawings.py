"""Drawings by ECharts, which comes with NiceGUI.

Stored text goes in as the value of a label alone, never as a key (keys that begin with a colon are run as scripts) and
never as a format or a tip (which may be markup). Colours are those of the page: the drawing is SVG, and classes say
what is what by the order of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from nicegui import ui

from mnemic.service.inspector.elements import box, put
from mnemic.service.inspector.words import shown

if TYPE_CHECKING:
    from nicegui.events import EChartPointClickEventArguments

    from mnemic.service.inspector.ask_view import Dot, Drawing
    from mnemic.service.inspector.graph_view import Star

_COLOURS: Final = {
    "query": "#c2851f",
    "cue": "#3f7fb5",
    "unit": "#4c9a6a",
    "note": "#9563b5",
    "trace": "#c25a4a",
}
_ROW: Final = 58
"""Pixels from one node of a column to the next."""


def path(drawing: Drawing) -> None:
    """The ways from a question's words to traces, in columns from left to right."""
    height = max(260, drawing.rows * _ROW + 40)
    places = {dot.name: str(place) for place, dot in enumerate(drawing.dots)}
    heaviest = max((edge.weight for edge in drawing.edges), default=1.0) or 1.0
    data = [_dot(dot, places[dot.name]) for dot in drawing.dots]
    links: list[dict[str, Any]] = [
        {
            "source": places[edge.source],
            "target": places[edge.target],
            "lineStyle": {"width": 1 + 3 * edge.weight / heaviest, "opacity": 0.55},
        }
        for edge in drawing.edges
    ]
    with box(
        "div", "scroll", tabindex="0", role="group", aria_label="The activated path; the list below says it in words"
    ):
        chart = ui.echart(
            _options(data, links), renderer="svg", on_point_click=_follow([dot.href for dot in drawing.dots])
        )
        chart.classes("path").style(f"height: {height}px")
        put(chart, role="img", aria_label="The activated path, drawn")


def star(stars: tuple[Star, ...]) -> None:
    """A cue with its neighbours around it."""
    data: list[dict[str, Any]] = [
        {
            "name": one.name,
            "value": [one.x, one.y],
            "symbolSize": 30 if place == 0 else 10 + 14 * one.size,
            "itemStyle": {"color": _COLOURS["query"] if place == 0 else _COLOURS["cue"]},
            "label": _label(one.label, "bottom"),
        }
        for place, one in enumerate(stars)
    ]
    links: list[dict[str, Any]] = [
        {"source": "0", "target": one.name, "lineStyle": {"width": 1 + 3 * one.size, "opacity": 0.45}}
        for one in stars[1:]
    ]
    chart = ui.echart(_options(data, links), renderer="svg", on_point_click=_follow([one.href for one in stars]))
    chart.classes("star")
    put(chart, role="img", aria_label="The cue and its neighbours, drawn; the list beside says it in words")


def _dot(dot: Dot, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "value": [2 * dot.x - 1, 2 * dot.y - 1],
        "symbolSize": 16 if dot.kind in ("query", "trace") else 12,
        "symbol": "roundRect" if dot.kind in ("unit", "note") else "circle",
        "itemStyle": {"color": _COLOURS[dot.kind]},
        "label": _label(dot.label, "bottom"),
    }


def _label(text: str, position: str) -> dict[str, Any]:
    # A formatter's braces would be filled in, and a rich text's styles: broken by a space that has no width.
    return {"show": True, "position": position, "formatter": shown(text).replace("{", "{\u200b"), "fontSize": 12}


def _options(data: list[dict[str, Any]], links: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "animation": False,
        "tooltip": {"show": False},
        "grid": {"left": 110, "right": 70, "top": 40, "bottom": 44},
        "xAxis": {"show": False, "min": -1, "max": 1},
        "yAxis": {"show": False, "min": -1, "max": 1, "inverse": True},
        "series": [
            {
                "type": "graph",
                "coordinateSystem": "cartesian2d",
                "cursor": "pointer",
                "edgeSymbol": ["none", "arrow"],
                "edgeSymbolSize": 7,
                "lineStyle": {"color": "#8a94a6", "curveness": 0.08},
                "label": {"color": "inherit", "fontFamily": "Roboto, sans-serif"},
                "emphasis": {"focus": "adjacency"},
                "data": data,
                "links": links,
            }
        ],
    }


def _follow(addresses: Sequence[str | None]) -> Callable[[EChartPointClickEventArguments], None]:
    """A click on a node leads to the page that says more."""

    def go(event: EChartPointClickEventArguments) -> None:
        place = event.data_index
        href = addresses[place] if event.data_type == "node" and 0 <= place < len(addresses) else None
        if href is not None:
            ui.navigate.to(href)

    return go
