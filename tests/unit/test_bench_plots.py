"""The plots of a report: what they show, that no name lies on another, that they are the same every time."""

from __future__ import annotations

import itertools
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.text import Text

from mnemic.bench.abstention import auroc
from mnemic.bench.plots import categories, quality, recall, roc, scale, style, sweep
from mnemic.bench.plots.labels import Box, Spot, placed, spread
from mnemic.bench.plots.style import Estimate

NAMES = [f"system-{n:02d}" for n in range(12)]


def estimate(value, half=0.02):
    return Estimate(value, max(value - half, 0.0), min(value + half, 1.0))


def written(figure):
    """The texts of a figure that are seen, with the pixels they cover."""
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    found, hidden_ticks = [], beyond(figure)
    for text in figure.findobj(Text):
        hidden = text.axes is not None and not text.axes.get_visible()
        if text.get_text().strip() and text.get_visible() and not hidden and id(text) not in hidden_ticks:
            box = Text.get_window_extent(text, renderer)  # without the line of an annotation
            found.append((text.get_text(), Box(box.x0, box.y0, box.x1, box.y1)))
    return found


def beyond(figure):
    """The labels of ticks outside an axis' limits, which matplotlib keeps and does not draw."""
    ticks = [
        (tick, sorted(axis.get_view_interval()))
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks()
    ]
    return {id(tick.label1) for tick, (low, high) in ticks if not low <= tick.get_loc() <= high}


def named(figure, names=NAMES):
    return [(text, box) for text, box in written(figure) if text in names]


def assert_apart(boxes):
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert first.overlap(second) < 1.0, (one, other)


def assert_inside(figure, boxes):
    width, height = figure.canvas.get_width_height()
    for text, box in boxes:
        assert box.overlap(Box(-1, -1, width + 1, height + 1)) == pytest.approx(box.area), text


def quality_of_twelve():
    # Seven nearly on one spot, as ablations are.
    return quality.figure(
        [
            quality.Point(name, 2.0 + 0.1 * n if n < 7 else 10.0 * n, estimate(0.84 - 0.002 * n), 1000.0 + 10 * n)
            for n, name in enumerate(NAMES)
        ],
        measure="recall@10",
    )


def scale_of_twelve():
    curves = {name: [(1e3, 1 + n / 50), (1e4, 3 + n / 50), (1e5, 9 + n / 50)] for n, name in enumerate(NAMES)}
    return scale.figure({"search, ms": curves, "memory, MB": curves}, grows="turns")


def recall_of(names):
    found = {name: {k: estimate(0.5 + 0.01 * n + 0.015 * k) for k in (1, 5, 10, 20)} for n, name in enumerate(names)}
    return recall.figure({"trace level": found, "turn level": dict(list(found.items())[1:]) or found})


def categories_of(names, panels=4):
    found = {name: estimate(0.5 + n / 50, 0.1) for n, name in enumerate(names)}
    return categories.figure({f"category {n} (99)": found for n in range(panels)}, measure="recall@10")


@pytest.mark.parametrize("draw", [quality_of_twelve, scale_of_twelve], ids=["quality", "scale"])
def test_names_of_twelve_systems_lie_apart_and_inside(draw):
    figure = draw()
    names = named(figure)
    panels = 2 if draw is scale_of_twelve else 1
    assert sorted(text for text, _ in names) == sorted(NAMES * panels)
    assert_apart(names)
    assert_inside(figure, names)


@pytest.mark.parametrize("count", [1, 12])
def test_recall_names_every_system_once_and_tells_k_10(count):
    figure = recall_of(NAMES[:count])
    texts = written(figure)
    assert sorted(text for text, _ in texts if text in NAMES) == NAMES[:count]
    assert {f"k = {k}" for k in (1, 5, 10, 20)} <= {text for text, _ in texts}
    assert style.share(0.5 + 0.15) in {text for text, _ in texts}
    assert_apart(texts)
    assert_inside(figure, texts)


@pytest.mark.parametrize("panels", [1, 7])
def test_categories_stand_in_panels_of_which_none_is_empty(panels):
    figure = categories_of(NAMES[:6], panels)
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert len(shown) == panels
    rows = -(-panels // 5)
    assert sorted(text for text, _ in named(figure)) == sorted(NAMES[:6] * rows)
    assert_apart(written(figure))


def test_the_best_of_a_category_is_strong_and_the_interval_is_drawn():
    figure = categories.figure({"one": {"a": Estimate(0.4, 0.3, 0.6), "b": Estimate(0.7)}}, measure="recall@10")
    lines = {tuple(line.get_xdata()): line.get_color() for line in figure.axes[0].lines}
    assert lines[0.3, 0.6] == style.MUTED
    assert lines[0.7,] == style.STRONG


def test_recall_puts_each_number_at_its_place():
    figure = recall.figure({"trace level": {"a": {5: Estimate(0.25), 10: Estimate(0.5, 0.4, 0.6)}}})
    drawn = [list(line.get_xdata()) for line in figure.axes[0].lines]
    assert [line for line in ([0.25], [0.5], [0.4, 0.6]) if line not in drawn] == []


def test_quality_draws_tokens_as_area_and_shows_systems_that_need_no_time():
    points = [
        quality.Point("much", 2.0, Estimate(0.8), 2000.0),
        quality.Point("half", 20.0, Estimate(0.7), 1000.0),
        quality.Point("none", 0.0, Estimate(0.1), None),
    ]
    figure = quality.figure(points, measure="recall@10")
    found = {tuple(c.get_offsets()[0]): c.get_sizes()[0] for c in figure.axes[0].collections if len(c.get_offsets())}
    assert found[2.0, 0.8] == 2 * found[20.0, 0.7]
    assert (0.01, 0.1) in found


def test_one_system_without_interval_or_tokens_is_drawn():
    quality.figure([quality.Point("only", 1.0, Estimate(0.5))], measure="recall@10")
    scale.figure({"search, ms": {"only": [(1000.0, 2.0)]}}, grows="turns")
    recall.figure({"turn level": {"only": {10: Estimate(1.0)}}})
    sweep.figure("tau", ["1"], {"recall": [Estimate(0.0)]})


def test_a_logarithmic_axis_has_two_round_numbers_at_least():
    for values in ([2.11, 2.13], [1.0], [0.8, 1.6], [3.0, 40.0], [0.01, 1e5]):
        with style.sheet():
            figure, (axes,) = style.canvas(4, 3)
            style.plain_log(axes, "y", values)
        figure.draw_without_rendering()
        low, high = axes.get_ylim()
        assert sum(low <= tick <= high for tick in axes.get_yticks()) >= 2, values
        assert low < min(values) <= max(values) < high


@given(
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
    st.lists(st.integers(0, 8), min_size=1, max_size=30),
)
def test_the_area_under_the_curve_is_the_auroc(answerable, unanswerable):
    across, up = roc.curve(roc.Relevances(answerable, unanswerable))
    assert (across[0], up[0], across[-1], up[-1]) == (0, 0, 1, 1)
    area = np.sum(np.diff(across) * (up[1:] + up[:-1]) / 2)
    assert area == pytest.approx(auroc(np.array(answerable, float), np.array(unanswerable, float)))


def test_roc_lists_systems_by_area_and_marks_their_own_threshold():
    good, bad = roc.Relevances([3, 4], [1, 2]), roc.Relevances([1, 3], [2, 4], (0.5, 0.25))
    figure = roc.figure({"bad": bad, "good": good})
    entries = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert entries == ["1.000  good", ".250  bad"]
    assert [0.5] in [list(line.get_xdata()) for line in figure.axes[0].lines]


def test_a_sweep_tells_the_best_value():
    lines = {"recall@5": [Estimate(0.3), None, Estimate(0.4)], "recall@10": [Estimate(0.6), Estimate(0.5), None]}
    figure = sweep.figure("tau", [".6", ".7", ".8"], lines)
    texts = [text for text, _ in written(figure)]
    assert "recall@5\nbest .400 at .8" in texts
    assert "recall@10\nbest .600 at .6" in texts
    assert_apart([one for one in written(figure) if "best" in one[0]])


def test_the_same_figure_gives_the_same_bytes_whatever_the_users_settings(tmp_path):
    import matplotlib

    style.save(categories_of(NAMES[:2], 1), tmp_path / "one.png")
    with matplotlib.rc_context({"font.size": 30.0, "lines.linewidth": 9.0, "savefig.dpi": 40, "text.usetex": True}):
        style.save(categories_of(NAMES[:2], 1), tmp_path / "two.png")
        assert matplotlib.rcParams["font.size"] == 30.0
    one = (tmp_path / "one.png").read_bytes()
    assert one == (tmp_path / "two.png").read_bytes()
    assert one.startswith(b"\x89PNG")
    assert b"tEXt" not in one


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a\nb\t c", "a b c"), ("$x^2$", "$x^2$"), ("記憶-1", "??-1"), ("\x00a", "?a"), ("x" * 40, "x" * 29 + "…")],
)
def test_any_name_can_be_shown(name, expected, tmp_path):
    assert style.shown(name) == expected
    style.save(scale.figure({"$t$": {name: [(1, 1), (2, 2)]}}, grows="turns"), tmp_path / "any.png")


def test_fourteen_series_have_a_mark_of_their_own():
    assert len(set(style.marks(map(str, range(14))).values())) == 14


@pytest.mark.parametrize(
    ("value", "text"), [(0.05, "0.05"), (12, "12"), (1500, "1.5k"), (100_000, "100k"), (2e6, "2M"), (0.3, "0.3")]
)
def test_numbers_at_axes(value, text):
    assert style.compact(value) == text


spots = st.lists(
    st.builds(Spot, st.floats(0, 800), st.floats(0, 500), st.floats(1, 12), st.floats(10, 90), st.just(14.0)),
    max_size=10,
)


@settings(max_examples=30)
@given(spots)
def test_names_are_placed_near_their_point_and_lie_apart_where_there_is_room(given_spots):
    bounds = Box(-400, -400, 1200, 900)
    places = placed(given_spots, bounds)
    assert len(places) == len(given_spots)
    for spot, box in zip(given_spots, places, strict=True):
        assert (box.right - box.left, box.top - box.bottom) == pytest.approx((spot.width, spot.height))
    assert places == placed(given_spots, bounds)
    assert_apart(list(enumerate(places)))
    for box in places:
        assert all(box.overlap(spot.box) < 1.0 for spot in given_spots)


def test_a_name_covers_nothing_that_it_was_told_of():
    spot = Spot(100, 100, 5, 40, 12)
    free = placed([spot], Box(0, 0, 200, 200))[0]
    moved = placed([spot], Box(0, 0, 200, 200), around=[free])[0]
    assert free.left > spot.x
    assert moved.overlap(free) == 0


@given(st.lists(st.floats(0, 1), max_size=12))
def test_spread_keeps_order_gap_and_bounds(heights):
    found = spread(heights, 0.05, 0.0, 1.0)
    assert len(found) == len(heights)
    ordered = sorted(found)
    assert all(b - a > 0.05 - 1e-9 for a, b in itertools.pairwise(ordered))
    assert all(-1e-9 <= height <= 1 + 1e-9 for height in found)
    for (a, x), (b, y) in itertools.combinations(zip(heights, found, strict=True), 2):
        assert x <= y if a < b else x >= y if a > b else True


def test_spread_moves_no_more_than_it_must():
    assert spread([0.2, 0.8], 0.1, 0, 1) == [0.2, 0.8]
    assert spread([0.5, 0.5], 0.1, 0, 1) == pytest.approx([0.45, 0.55])
    assert spread([0.0, 0.0, 0.9], 0.1, 0, 1) == pytest.approx([0.0, 0.1, 0.9])
    assert spread([0.3] * 5, 0.5, 0, 1) == pytest.approx([0, 0.25, 0.5, 0.75, 1])


def test_plots_load_matplotlib_only_to_draw_and_never_pyplot():
    script = (
        "import sys\n"
        "from mnemic.bench import report\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from mnemic.bench.plots import recall, style\n"
        "recall.figure({'trace level': {'a': {10: style.Estimate(.5)}}})\n"
        "assert 'matplotlib.figure' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
