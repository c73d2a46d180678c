"""How every plot looks: one set of settings, one palette, one way to write the file."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from mnemic.models.optional import from_extra

# matplotlib is an extra, and its types are partial: nothing outside this package sees them.
Figure: TypeAlias = Any
Axes: TypeAlias = Any

DPI: Final = 130
INK: Final = "#222222"
QUIET: Final = "#6b6b6b"
FAINT: Final = "#dedede"
BAND: Final = "#f5f5f5"
STRONG: Final = "#0072B2"
MUTED: Final = "#9aa7b0"
LONGEST_NAME: Final = 30

# Okabe and Ito (2008), distinguishable with every common colour blindness; without yellow, unreadable on white.
PALETTE: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#333333")
_SHAPES: Final = ("o", "s", "^", "D", "v", "P", "X")
_SHEET: Final[dict[str, Any]] = {
    "font.family": ["DejaVu Sans"],  # comes with matplotlib
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.unicode_minus": False,
    "grid.color": FAINT,
    "grid.linewidth": 0.8,
    "text.color": INK,
    "text.parse_math": False,  # a dollar sign in a system's name is a dollar sign
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9.5,
    "lines.linewidth": 1.8,
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.facecolor": "white",
    "legend.frameon": False,
}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, with its interval where there is one."""

    value: float
    low: float | None = None
    high: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, or the value twice where there is none."""
        return (self.value if self.low is None else self.low), (self.value if self.high is None else self.high)


@dataclass(frozen=True, slots=True)
class Mark:
    """What tells one series from the others: its colour, its shape, and whether it is solid or dashed and hollow."""

    colour: str
    shape: str
    solid: bool

    @property
    def fill(self) -> str:
        """Colour of the inside of its points."""
        return self.colour if self.solid else "white"

    @property
    def dash(self) -> Literal["-", "--"]:
        """Style of its line."""
        return "-" if self.solid else "--"


def marks(names: Iterable[str]) -> dict[str, Mark]:
    """A mark for each series, in order: seven colours with a shape each, then the same hollow and dashed."""
    turns = enumerate(dict.fromkeys(names))
    return {
        name: Mark(PALETTE[n % len(PALETTE)], _SHAPES[n % len(_SHAPES)], n // len(PALETTE) % 2 == 0)
        for n, name in turns
    }


@contextmanager
def sheet() -> Generator[None]:
    """Draw with these settings, whatever the user's ``matplotlibrc`` says; theirs come back at the end."""
    matplotlib = _matplotlib("matplotlib")
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SHEET)
        yield


def canvas(
    width: float, height: float, *, rows: int = 1, columns: int = 1, shared_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """A figure of that many inches and its panels, row by row; the spacing sees to it that nothing is cut off."""
    figure = _matplotlib("matplotlib.figure").Figure((width, height), layout="constrained")
    _matplotlib("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.06)
    panels = figure.subplots(rows, columns, squeeze=False, sharey=shared_y)
    return figure, list(panels.flat)


def save(figure: Figure, path: Path) -> None:
    """Write it as a PNG whose bytes depend on the figure and on matplotlib's version alone.

    Raises:
        OSError: The file cannot be written.
    """
    with sheet():
        figure.savefig(path, format="png", metadata={"Software": None})


def shown(name: str) -> str:
    """A name as a plot can show it: on one line, at most 30 characters, what the font lacks as a question mark."""
    glyphs = _glyphs()
    text = "".join(letter if ord(letter) in glyphs else "?" for letter in " ".join(name.split()))
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


def share(value: float) -> str:
    """A share as the tables write it: ``.873``; ``1.000``."""
    return f"{value:.3f}".removeprefix("0")


def compact(value: float) -> str:
    """A number of any size for an axis: ``0.05``, ``12``, ``1.5k``, ``2M``."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def point(axes: Axes, estimate: Estimate, height: float, colour: str) -> None:
    """A point of a row, with its interval as a line through it."""
    low, high = estimate.ends
    axes.plot([low, high], [height, height], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=2)
    axes.plot([estimate.value], [height], "o", color=colour, markersize=5.5, zorder=3)


def rows(axes: Axes, names: Sequence[str]) -> None:
    """Name the rows of a panel, the first at the top, every other one on a pale band."""
    axes.set_yticks(range(len(names)), [shown(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    for place in range(0, len(names), 2):
        axes.axhspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)


def numbers(axes: Axes, estimates: Sequence[Estimate | None], *, head: str = "") -> None:
    """Write the numbers of the rows at the right of a panel, the best in bold, under a heading."""
    best = max((estimate.value for estimate in estimates if estimate), default=None)
    across = axes.get_yaxis_transform()
    for place, estimate in enumerate(estimates):
        if estimate:
            weight = "bold" if estimate.value == best and len(estimates) > 1 else "normal"
            axes.text(1.02, place, share(estimate.value), transform=across, va="center", fontsize=8, fontweight=weight)
    axes.text(1.02, 1.01, head, transform=axes.transAxes, va="bottom", fontsize=8, color=QUIET)


def share_axis(
    axes: Axes, values: Iterable[float], *, which: Literal["x", "y"] = "x", room: float = 0.03, ticks: int = 6
) -> None:
    """Make an axis of shares that shows all of these with some room, within [0, 1], at least .2 long."""
    given = list(values) or [0.0, 1.0]
    low, high = min(given) - room, max(given) + room
    missing = max(0.2 - (high - low), 0.0)
    axes.set(**{f"{which}lim": (max(low - missing / 2, -room), min(high + missing / 2, 1 + room))})
    axis = axes.xaxis if which == "x" else axes.yaxis
    ticker = _matplotlib("matplotlib.ticker")
    axis.set_major_locator(ticker.MaxNLocator(nbins=ticks, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(ticker.FuncFormatter(_share_tick))


def extent(figure: Figure, text: str, size: float) -> tuple[float, float]:
    """Width and height of a line of text in pixels."""
    written = figure.text(0, 0, text, fontsize=size)
    box = written.get_window_extent(figure.canvas.get_renderer())
    written.remove()
    return box.width, box.height


def key(figure: Figure, entries: Sequence[tuple[str, str]]) -> None:
    """Explain colours above the panels."""
    lines = _matplotlib("matplotlib.lines")
    handles = [
        lines.Line2D([], [], color=colour, marker="o", linestyle="none", markersize=6, label=label)
        for label, colour in entries
    ]
    figure.legend(handles=handles, loc="outside upper right", ncols=len(handles), handletextpad=0.1, columnspacing=1.2)


def plain_log(axes: Axes, which: Literal["x", "y"], values: Sequence[float]) -> None:
    """Make an axis logarithmic, with numbers that people read at its ticks, and room beside the outermost values.

    Args:
        axes: The panel.
        which: Which axis of it.
        values: What it shows, all > 0; at least one.
    """
    ticker = _matplotlib("matplotlib.ticker")
    low, high = min(values), max(values)
    # At least a factor of eight, or there would be no round number to put a tick at.
    room = max((high / low) ** 0.06, 1.25, (8 * low / high) ** 0.5)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low / room, high * room)})
    steps = (1.0,) if high / low > 1e3 else (1.0, 3.0) if high / low > 30 else (1.0, 2.0, 5.0)
    axis.set_major_locator(ticker.LogLocator(subs=steps))
    axis.set_major_formatter(ticker.FuncFormatter(_tick))
    axis.set_minor_locator(ticker.NullLocator())


def _share_tick(value: float, _: int | None) -> str:
    return f"{value:.2f}".removeprefix("0") if 0 < value < 1 else f"{value:.0f}"


def _tick(value: float, _: int | None) -> str:
    return compact(value)


@lru_cache(maxsize=1)
def _glyphs() -> frozenset[int]:
    manager = _matplotlib("matplotlib.font_manager")
    path = manager.findfont("DejaVu Sans", fallback_to_default=True)
    return frozenset(manager.get_font(path).get_charmap())


def _matplotlib(module: str) -> Any:  # noqa: ANN401 - matplotlib is an extra: its types are not there
    return from_extra(module, needed_by="plotting", extra="bench")
