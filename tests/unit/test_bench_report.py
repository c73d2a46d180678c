"""The report: what stands in its tables, what its pictures are made of, and that it can be read back."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from mnemic.bench import against, columns, markdown, pictures, report, results, tables
from mnemic.bench.plots import sweep
from mnemic.bench.plots.style import Estimate
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Built, Outcome, Row
from mnemic.bench.summary import summarise
from mnemic.errors import InvalidFile, InvalidInput

MADE = Provenance("c0ffee", "2026-11-30T05:00:00+00:00", {"mnemic": "0.1.0", "python": "3.11.7"})
SPEED = [
    {
        "system": system, "users": users, "turns": turns, "add_one_ms": 2.0 * slow,
        "search_cpu_ms": {"p50": 1.5 * slow, "p95": 3.0 * slow}, "search_wall_ms": 2.0 * slow,
        "restart_ms": 20.0 * slow, "rss_mb": 100.0, "bytes": 2_000_000 * slow,
    }
    for system, slow in (("default", 1), ("chroma", 4))
    for users, turns in ((1, 1000), (1, 10_000), (10, 100))
]  # fmt: skip


@pytest.fixture
def unpictured(monkeypatch):
    """Pages without pictures, which take most of the time."""
    for name in ("recall_by_k", "recall_by_category", "quality_by_cost", "abstention", "swept"):
        monkeypatch.setattr(pictures, name, lambda *_: None)
    monkeypatch.setattr(pictures, "growth", lambda *_: {})


def row(n, rank, level="trace", category="single-hop", answerable=True, **given):
    values = {
        "question_id": f"u{n % 2}/{n}", "user_id": f"u{n % 2}", "half": "dev" if n % 2 else "test",
        "category": category, "answerable": answerable, "level": level,
        "ranks": (rank,) if answerable else (), "session_ranks": (rank,) if answerable else (),
        "tokens": {1: 10, 5: 50, 10: 100, 20: 200}, "hits": 20, "relevance": 0.9 if answerable else 0.1,
        "nothing_relevant": not answerable, "wall_ms": 3.0, "cpu_ms": 2.0, "embedding_cpu_ms": 0.5,
    }  # fmt: skip
    return Row(**{**values, **given})


def outcome(system, found, n=40, *, levels=("trace", "turn"), **given):
    """The first ``found`` of n questions are found at rank 3, the others not; and four that have no answer."""
    rows = [
        row(k, 3 if k < found else None, level, "multi-hop" if k % 4 == 0 else "single-hop")
        for level in levels
        for k in range(n)
    ] + [row(k, None, level, "adversarial", False) for level in levels for k in range(n, n + 4)]
    built = {"u0": Built(2.0, 1.5, stages={"write": 0.5}, bytes_on_disk=3_000_000, counts={"turns": 7})}
    values = {
        "dataset": "locomo", "split": "all", "system": system, "configuration": {"k": "`" * 4}, "checksum": "ab" * 32,
        "gold": "original", "rows": tuple(rows), "built": built, "rss_mb": 250.0,
    }  # fmt: skip
    return Outcome(**{**values, **given})


def summary(*args, **given):
    return summarise(outcome(*args, **given), made=MADE)


def answered(system, judged, **given):
    values = {
        "dataset": "locomo", "split": "all", "gold": "original", "checksum": "ab" * 32, "system": system, "trial": 1,
        "models": {"answer": "Big-M1", "judge": "m2"}, "n": 9, "failed": 1, "f1_mem0": 0.5, "judge_lenient": judged,
        "by_category": {"temporal": {"n": 4, "judge_lenient": 1.0}, "multi-hop": {"n": 5, "f1_mem0": 0.1}},
        "evidence_tokens": 1234.5, "configuration": {"top_k": 10},
        "usage": {"answer": {"calls": 9, "tokens_in": 20_000, "tokens_out": 90}, "money": None},
    }  # fmt: skip
    return {**values, **given}


def cells(line):
    """The cells of a line of a Markdown table."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_a_report_can_be_read_back_and_shows_every_picture_it_made(tmp_path):
    outcomes = [outcome("default", 36), outcome("rrf", 20), outcome("full-context", 0)]
    summaries = [summarise(one, made=MADE) for one in outcomes]
    sweeps = {"graph": [("0.2", summaries[0]), ("0.4", summaries[1])]}
    path = report.write(
        tmp_path / "new" / "folder", summaries, rows=[one.rows for one in outcomes], speed=SPEED, sweeps=sweeps,
        answers=[answered("default", 0.75)],
    )  # fmt: skip
    page = path.read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", page)
    assert sorted(shown) == sorted(file.name for file in path.parent.glob("*.png"))
    assert {name.rpartition(".")[0] for name in shown} == {
        "locomo-all-recall", "locomo-all-categories-trace", "locomo-all-categories-turn", "locomo-all-abstention",
        "locomo-all-cost", "speed-turns", "speed-users", "sweep-1",
    }  # fmt: skip
    back = results.load(path.parent / "results.json")
    assert list(back.summaries) == summaries
    assert list(back.rows) == [one.rows for one in outcomes]
    assert json.loads((path.parent / "results.json").read_text())["speed"] == SPEED
    for expected in ("ab" * 32, "c0ffee", "python 3.11.7", "mnemic as it ships", "### Against rrf", "| default "):
        assert expected in page
    # Everything in order is no retrieval: only what it costs is told.
    assert [line for line in page.splitlines() if line.startswith("| full-context")]
    assert "full-context" not in page[: page.index("### Cost of a question")]


def test_equal_arguments_give_equal_bytes(tmp_path, unpictured, monkeypatch):
    monkeypatch.setattr(pictures, "recall_by_k", lambda _: sweep.figure("x", ["1"], {"y": [Estimate(0.5)]}))
    for name in ("one", "two"):
        report.write(tmp_path / name, [summary("default", 30, levels=("turn",))], speed=SPEED[:1])
    one, two = ({file.name: file.read_bytes() for file in (tmp_path / name).iterdir()} for name in ("one", "two"))
    assert one == two
    assert "results.rows.jsonl" not in one


def test_the_table_of_a_level_holds_the_numbers_of_the_summary(tmp_path, unpictured):
    summaries = [summary("default", 36), summary("bm25", 10)]
    page = report.write(tmp_path, summaries).read_text(encoding="utf-8").splitlines()
    start = page.index("**Trace level**")
    heads, ours, theirs = (cells(page[start + n]) for n in (2, 4, 5))
    low, high = summaries[0]["trace"]["interval"]["fraction"]["10"]
    assert dict(zip(heads, ours, strict=True)) == {
        "system": "default", "n": "40", "R@1": ".000", "R@5": ours[3], "any@5": "**.900**", "all@10": "**.900**",
        "R@10": f"**.900** [{low:.3f}, {high:.3f}]".replace("0.", "."), "any@10": ours[7], "R@20": "**.900**",
        "MRR": "**.300**", "nDCG@10": "**.450**", "tokens@10": "100",
    }  # fmt: skip
    assert dict(zip(heads, theirs, strict=True))["R@20"] == ".250"


def test_the_readme_table_is_the_overview():
    table = report.readme_table([summary("default", 36), summary("bm25", 10, levels=("turn",))]).splitlines()
    assert cells(table[0]) == [
        "system", "trace R@5", "trace R@10", "any@5", "any@10", "turn R@10", "multi-hop turn R@10", "CPU ms", "tokens",
    ]  # fmt: skip
    assert [re.sub(r" \[.*\]", "", cell) for cell in cells(table[2])] == [
        "default", ".900", ".900", ".900", ".900", "**.900**", "**.900**", "2", "100",
    ]  # fmt: skip
    assert cells(table[3])[1:5] == ["–"] * 4
    assert cells(table[3])[6] == ".300 [.000, .600]"


def test_the_table_for_a_terminal_is_plain_rows():
    heads, only = report.table([summary("a|b\n", 10)])
    assert heads[:2] == ["system", "trace R@5"]
    assert only == ["a|b\n", ".250", ".250", ".250", ".250", ".250", ".300", "1.000", "2", "100"]


def test_hostile_names_stay_one_cell_and_mean_nothing(tmp_path, unpictured):
    name = "a|b\n# `x` <img src=x> [t](u) *s* _e_ $m$ &amp; \\ \u202e"
    page = report.write(tmp_path, [summary(name, 30)], speed=[{**SPEED[0], "system": name}]).read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| a")]
    escaped = r"a\|b \# \`x\` \<img src=x\> \[t\](u) \*s\* \_e\_ \$m\$ \&amp; \\ " + "\ufffd"
    assert rows
    assert {cells(line)[0] for line in rows} == {escaped}
    outside = re.sub(r"(?s)^(`{3,})json$.*?^\1$", "", page, flags=re.MULTILINE)
    assert not re.search(r"^# `x`|(?<!\\)<img", outside, re.MULTILINE)
    # In JSON nothing is lost.
    assert results.load(tmp_path / "results.json").summaries[0]["system"] == name


def test_a_setting_cannot_close_its_block(tmp_path, unpictured):
    page = report.write(tmp_path, [summary("default", 3)]).read_text("utf-8")
    fence = "`" * 5
    assert f"\n{fence}json\n" in page
    assert '"k": "````"' in page


def test_rows_give_differences_with_marks_beyond_noise():
    strong, weak, same = outcome("default", 36).rows, outcome("rrf", 10).rows, outcome("dense", 10).rows
    found = against.differences({"default": [strong], "rrf": [weak], "dense": [same]}, "rrf", "locomo")
    table = found["trace level"]
    assert table.heads == ("system", "R@5", "R@10", "any@10", "single-hop R@10", "multi-hop R@10")
    ours, other = table.rows
    assert ours[0] == "default"
    assert re.fullmatch(r"\+\.650 \[\+\.\d{3}, \+\.\d{3}\] ▲", ours[2])
    assert ours[4] == "+.667 ▲"
    assert other[2] == "+.000 [+.000, +.000]"
    swapped = against.differences({"default": [strong], "rrf": [weak]}, "default", "locomo")["turn level"].rows[0]
    assert swapped[1].startswith("-.650 [-")
    assert swapped[1].endswith(" ▼")


def test_systems_asked_different_questions_are_not_compared(tmp_path, unpictured):
    outcomes = [outcome("default", 3, 20), outcome("rrf", 3, 40)]
    with pytest.raises(InvalidInput, match="same questions"):
        report.write(tmp_path, [summarise(one, made=MADE) for one in outcomes], rows=[one.rows for one in outcomes])


def test_trials_stand_apart_and_are_averaged(tmp_path, unpictured):
    summaries = [summary("default", found, trial=trial) for trial, found in ((1, 10), (2, 20))]
    page = report.write(tmp_path, summaries).read_text("utf-8")
    assert "| default, trial 1 " in page
    line = next(line for line in page[page.index("### Over trials") :].splitlines() if line.startswith("| default"))
    # Of .25 and .5: the mean .375, the deviation .25 / sqrt(2).
    assert cells(line)[:3] == ["default", "2", ".375 ± .177"]


def test_parts_of_data_sets_have_sections_and_pictures_of_their_own(tmp_path, unpictured, monkeypatch):
    monkeypatch.setattr(pictures, "recall_by_k", lambda _: sweep.figure("x", ["1"], {"y": [Estimate(0.5)]}))
    summaries = [
        summary("default", 10),
        summary("default", 10, dataset="longmemeval", split="dev", n=21),
        summary("default", 10, gold="corrected"),
        summary("default", 10, checksum="cd" * 32),
    ]
    page = report.write(tmp_path, summaries).read_text("utf-8")
    titles = re.findall(r"^## (.*)$", page, re.MULTILINE)
    assert titles[:4] == ["LoCoMo, all", r"LongMemEval\_S, dev", "LoCoMo, all, corrected gold", "LoCoMo, all"]
    assert {file.name for file in tmp_path.glob("*.png")} == {
        "locomo-all-recall.png", "locomo-all-2-recall.png", "locomo-all-corrected-gold-recall.png",
        "longmemeval-dev-recall.png",
    }  # fmt: skip
    assert "one of them moves a number by .048" in page
    assert "**Sessions**, in the order of their best trace" in page


def test_a_system_without_recall_has_its_cost_alone(tmp_path):
    rows = tuple(replace(one, ranks=(), session_ranks=()) for one in outcome("default", 3).rows if one.answerable)
    made = summarise(outcome("default", 3, dataset="personamem", rows=rows), made=MADE)
    page = report.write(tmp_path, [made], rows=[rows]).read_text("utf-8")
    assert "### Cost of a question" in page
    assert "### Recall" not in page
    assert list(tmp_path.glob("*.png")) == []


def test_answers_have_a_section_for_each_data_set(tmp_path, unpictured):
    found = [answered("default", 0.75), answered("rrf", 0.5), answered("rrf", None, dataset="personamem", accuracy=0.6)]
    page = report.write(tmp_path, [], answers=found).read_text("utf-8")
    assert re.findall("^## (Answers.*)$", page, re.MULTILINE) == [
        "Answers: LoCoMo, all",
        "Answers: PersonaMem-32k, all",
    ]
    lines = page.splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("| system"))
    assert dict(zip(cells(lines[start]), cells(lines[start + 2]), strict=True)) == {
        "system": "default", "n": "9", "failed": "1", "judge, lenient": "**.750**", "F1 (mem0)": ".500",
        "evidence tokens": "1,234", "answer calls": "9", "answer tokens in": "20,000", "answer tokens out": "90",
    }  # fmt: skip
    assert "Models: answer by Big-M1 and judge by m2." in lines
    start = lines.index("**By category: judge, lenient**")
    # Nobody has it of multi-hop questions.
    assert cells(lines[start + 2]) == ["system", "temporal"]
    assert cells(lines[start + 5]) == ["rrf", "1.000"]


def test_speed_is_told_as_multiples_of_the_first_system():
    kept = tables.present(SPEED, columns.SPEED)
    found = tables.multiples(SPEED, kept)
    assert found is not None
    assert found.heads[:3] == ("system", "users", "turns")
    assert found.rows[0] == ("chroma", "1", "1,000", "4×", "4×", "4×", "4×", "4×", "1×", "4×")
    assert tables.multiples(SPEED[:3], kept) is None


def test_growth_has_a_picture_for_turns_and_one_for_users():
    figures = pictures.growth(SPEED)
    assert list(figures) == ["turns", "users"]
    line = figures["turns"].axes[0].lines[0]
    assert list(line.get_xdata()) == [1000, 10_000]
    # Bytes as MB.
    assert list(figures["users"].axes[4].lines[1].get_ydata()) == [8.0]


def test_relevance_of_questions_without_usable_evidence_counts_neither_way():
    rows = [row(0, 1), row(1, None, ranks=(), relevance=0.0), row(2, None, answerable=False, nothing_relevant=False)]
    figure = pictures.abstention({"default": rows})
    assert figure is not None
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["1.000  default"]
    verdict = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert [(list(line.get_xdata()), list(line.get_ydata())) for line in verdict] == [([1.0], [1.0])]
    assert pictures.abstention({"default": rows[:2]}) is None


def test_nothing_to_report_and_nowhere_to_write_are_said(tmp_path, unpictured):
    with pytest.raises(InvalidInput, match="no results to report"):
        report.write(tmp_path, [])
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidFile, match="another folder"):
        report.write(tmp_path / "file", [summary("default", 3)])


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.8734, ".873"), (1.0, "1.000"), (0.9996, "1.000"), (-0.0121, "-.012"), (-0.0001, ".000"), (0.0, ".000")],
)
def test_shares(value, text):
    assert columns.share(value) == text


def test_every_column_is_explained_once(tmp_path, unpictured):
    page = report.write(tmp_path, [summary("default", 30)], speed=SPEED).read_text("utf-8")
    guide = page[page.index("## What the columns mean") :]
    for head in ("R@1, R@5, R@10, R@20", "AUROC", "CPU ms p50", "MB on disk", "restart ms"):
        assert f"- **{head}**: " in guide
    lines = [line for line in guide.splitlines() if line.startswith("- ")]
    assert all(line.partition("**: ")[2] for line in lines)


def test_plain_escapes_what_markdown_would_read():
    assert markdown.plain("a_b*c") == r"a\_b\*c"
    assert markdown.plain(" a \n b\x00 ") == "a b"
