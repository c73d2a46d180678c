from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from bench_kit import MADE, outcome, row, run
from mnemic.bench.compare import Comparison, compare
from mnemic.bench.compare_text import as_text, table
from mnemic.bench.differences import Change
from mnemic.bench.records import Outcome
from mnemic.bench.results import Results
from mnemic.bench.statistics import holm
from mnemic.bench.summary import Summary, summarise
from mnemic.errors import InvalidInput

_SUMMARIES: dict[int, tuple[Outcome, Summary]] = {}


def summed(one: Outcome) -> Summary:
    """Each outcome is summed up once; it is kept, so that its id stays its own."""
    if id(one) not in _SUMMARIES:
        _SUMMARIES[id(one)] = one, summarise(one, made=MADE)
    return _SUMMARIES[id(one)][1]


def results(*outcomes: Outcome, rows: bool = True) -> Results:
    summaries = tuple(map(summed, outcomes))
    return Results("0.1.0", summaries, tuple(one.rows if rows else () for one in outcomes))


def changes(comparison: Comparison, **wanted: Any) -> list[Change]:
    (pair,) = comparison.pairs
    return [one for one in pair.changes if all(getattr(one, name) == value for name, value in wanted.items())]


POOR, GOOD = run(0.5, noise=4), run(0.8, noise=5)


def test_a_clear_gain_is_better_and_the_way_back_is_worse() -> None:
    there, back = compare(results(POOR), results(GOOD)), compare(results(GOOD), results(POOR))
    (up,) = changes(there, level="trace", category="all", metric="fraction@10")
    (down,) = changes(back, level="trace", category="all", metric="fraction@10")
    assert (up.verdict, down.verdict) == ("better", "worse")
    assert up.low is not None
    assert up.low > 0.1
    assert up.difference == -down.difference == pytest.approx(0.2, abs=0.1)
    assert there.pairs[0].test == "paired"
    assert up.n == 120


def test_the_values_are_those_of_the_summaries() -> None:
    a, b = results(POOR), results(GOOD)
    summary: Any = b.summaries[0]
    for one in changes(compare(a, b), level="turn"):
        block = summary if one.category == "all" else summary["by_category"][one.category]
        metric, _, depth = one.metric.partition("@")
        value = block["turn"][metric][depth] if depth else block["turn"][metric]
        assert one.b == pytest.approx(value, abs=1e-4)
        assert one.n == block["turn"]["n"]


def test_the_same_twice_is_noise() -> None:
    same = compare(results(GOOD), results(GOOD))
    assert {(one.difference, one.p, one.p_holm, one.verdict) for one in changes(same)} == {(0, 1, 1, "noise")}


def test_p_values_are_adjusted_over_everything_at_once() -> None:
    found = compare(results(POOR), results(GOOD))
    every = changes(found)
    assert found.tests == len(every) == 2 * 3 * 6 + 1
    assert [one.p_holm for one in every] == holm([one.p or 0.0 for one in every])


def test_luck_is_rarely_called_a_change() -> None:
    called = [
        one.verdict
        for seed in range(3)
        for one in changes(compare(results(run(0.7, n=60, noise=10 + seed)), results(run(0.7, n=60, noise=20 + seed))))
    ]
    assert set(called) == {"noise"}


def test_summaries_alone_see_the_same_but_less() -> None:
    paired = compare(results(POOR), results(GOOD))
    alone = compare(results(POOR), results(GOOD, rows=False))
    assert alone.pairs[0].test == "intervals"
    assert len(changes(alone)) == len(changes(paired))
    for one, other in zip(changes(paired, level="trace"), changes(alone, level="trace"), strict=True):
        assert (one.category, one.metric, one.n) == (other.category, other.metric, other.n)
        assert one.difference == pytest.approx(other.difference, abs=2e-4)
    at = {"level": "trace", "category": "all", "metric": "fraction@10"}
    (one,), (overall,) = changes(paired, **at), changes(alone, **at)
    assert (one.high or 0) - (one.low or 0) < (overall.high or 0) - (overall.low or 0)
    assert overall.verdict == "better"
    (area,) = changes(alone, level="abstention")
    assert area.n == 150


def test_summaries_of_few_questions_are_not_tested() -> None:
    few = [row(f"c/{i}") for i in range(8)], [row(f"c/{i}", (None,)) for i in range(8)]
    alone = compare(*(results(outcome(rows), rows=False) for rows in few))
    assert {(one.verdict, one.p) for one in changes(alone)} == {("untested", None)}
    assert alone.tests == 0
    assert "?" in as_text(alone)
    paired = changes(compare(*(results(outcome(rows)) for rows in few)), category="all", metric="mrr")
    assert [(one.p, one.difference) for one in paired] == [(2 / 2**8, -1)]


def test_intervals_without_width_are_not_certain() -> None:
    a, b = (results(outcome([row(f"c/{i}", (rank if i else 1,)) for i in range(25)]), rows=False) for rank in (1, 2))
    (one,) = changes(compare(a, b), level="trace", category="all", metric="hit_any@5")
    assert (one.difference, one.p, one.verdict) == (0, 1, "noise")
    (other,) = changes(compare(a, b), level="trace", category="all", metric="mrr")
    assert other.p is not None
    assert 0 < other.p < 0.001


def test_trials_are_averaged_question_by_question() -> None:
    trials = results(GOOD, replace(run(0.8, noise=6), trial=2))
    found = compare(results(POOR), trials)
    assert found.pairs[0].trials == (1, 2)
    (one,) = changes(found, level="trace", category="all", metric="mrr")
    each: Any = trials.summaries
    assert one.b == pytest.approx(fmean(summary["trace"]["mrr"] for summary in each), abs=1e-4)
    assert "Means of 1 and 2 trials." in as_text(found)


def test_sessions_of_longmemeval() -> None:
    def asked(rank: int) -> Results:
        rows = [row(f"i{i}/0", (1,), session_ranks=(rank,)) for i in range(30)]
        return results(outcome(rows, dataset="longmemeval", split="dev"))

    found = changes(compare(asked(7), asked(2)), level="session/trace", category="all")
    assert [(one.metric, one.difference > 0, one.verdict) for one in found] == [
        ("recall_any@5", True, "better"),
        ("recall_all@10", False, "noise"),
        ("ndcg_any@10", True, "better"),
    ]


def test_which_systems_are_compared() -> None:
    rival = replace(POOR, system="rrf")
    both = results(GOOD, rival)
    assert [pair.systems for pair in compare(both, both).pairs] == [("default", "default"), ("rrf", "rrf")]
    assert [pair.systems for pair in compare(results(rival), results(GOOD)).pairs] == [("rrf", "default")]
    assert [pair.systems for pair in compare(both, both, systems=("rrf", "default")).pairs] == [("rrf", "default")]


@pytest.mark.parametrize(
    "other", [{"dataset": "longmemeval"}, {"split": "test"}, {"gold": "corrected"}], ids=lambda other: next(iter(other))
)
def test_nothing_in_common(other: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="the first file has locomo all original: default; the second"):
        compare(results(GOOD), results(replace(GOOD, **other)))


def test_an_unknown_system() -> None:
    with pytest.raises(InvalidInput, match="nothing to compare"):
        compare(results(GOOD), results(GOOD), systems=("default", "hero"))
    with pytest.raises(InvalidInput, match="nothing;"):
        compare(Results("", (), ()), results(GOOD))


def test_other_data_is_not_compared() -> None:
    with pytest.raises(InvalidInput, match="different files"):
        compare(results(GOOD), results(replace(GOOD, checksum="b2")))


def test_other_questions_are_not_compared() -> None:
    with pytest.raises(InvalidInput, match=r"conv-3/119 only by the first"):
        compare(
            results(GOOD), results(replace(GOOD, rows=tuple(r for r in GOOD.rows if r.question_id != "conv-3/119")))
        )


def test_a_level_that_only_one_was_asked_at_is_left_out() -> None:
    at_turns = replace(GOOD, rows=tuple(one for one in GOOD.rows if one.level == "turn"))
    found = compare(results(POOR), results(at_turns))
    assert {one.level for one in changes(found)} == {"turn", "abstention"}
    at_traces = replace(GOOD, rows=tuple(one for one in GOOD.rows if one.level == "trace"))
    nothing = compare(results(at_traces), results(at_turns))
    assert changes(nothing) == []
    assert "Nothing that both were measured by" in as_text(nothing)


def test_costs_stand_beside_each_other() -> None:
    costs = {one.name: (one.a, one.b) for one in compare(results(POOR), results(GOOD)).pairs[0].costs}
    assert costs["latency_ms p50"] == (3, 3)
    assert costs["cpu_ms p50_without_embedding"] == (1, 1)
    assert costs["tokens_per_query"] == (1000, 1000)


def test_the_text_is_read_at_a_glance() -> None:
    found = compare(results(POOR), results(GOOD))
    text = as_text(found, a="old.json", b="new.json")
    lines = text.splitlines()
    better = len(changes(found, verdict="better"))
    assert lines[0] == "# old.json → new.json"
    assert lines[2] == "## locomo, all: default"
    assert lines[4].startswith(f"{better} better, 0 worse, {found.tests - better} within noise.")
    overall = next(line for line in lines if line.startswith("| all "))
    assert overall.count("▲") == len(changes(found, level="trace", category="all", verdict="better")) > 0
    assert "▼" not in overall
    assert sum(line.startswith("| better ▲") for line in lines) == better
    assert f"{found.tests} differences were tested" in text
    assert "Holm" in text


def test_corrected_gold_and_a_rival_are_in_the_title() -> None:
    one, other = (replace(run, gold="corrected") for run in (replace(POOR, system="rrf"), GOOD))
    assert "## locomo, all, corrected gold: rrf → default" in as_text(compare(results(one), results(other)))


def test_a_table_is_padded() -> None:
    assert list(table(["a", "long"], [["1|2", "x"]])) == ["| a    | long |", "|------|------|", "| 1\\|2 | x    |"]
