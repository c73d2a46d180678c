"""``mnemic bench`` as a person or a script meets it."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from dataclasses import replace

import pytest

from mnemic.bench.records import Dataset, Question
from mnemic.bench.systems import NAMES
from mnemic.importers import Conversation
from mnemic.models.doubles import ScriptedModel


def talk(user, *sessions):
    return tuple(
        Conversation(
            user,
            f"session_{number}",
            tuple(
                {"id": f"D{number}:{place}", "role": "user", "name": speaker, "content": words}
                for place, (speaker, words) in enumerate(lines, 1)
            ),
        )
        for number, lines in enumerate(sessions, 1)
    )


DATA = Dataset(
    name="locomo",
    split="dev",
    checksum="ab" * 32,
    conversations={
        "conv-1": talk(
            "conv-1",
            [("Ana", "My kiln cracked all the bowls."), ("Bo", "My cat is called Tadeus.")],
            [("Ana", "We moved to Lisbon in spring.")],
        ),
        "conv-2": talk("conv-2", [("Cy", "I paint boats at the harbour."), ("Di", "The lighthouse needs new glass.")]),
    },
    questions=(
        Question("conv-1/0", "conv-1", "dev", "What did the kiln crack?", "single-hop", gold=("D1:1",)),
        Question("conv-1/1", "conv-1", "dev", "Where did Ana move in spring?", "temporal", gold=("D2:1",)),
        Question("conv-2/0", "conv-2", "dev", "Who paints boats?", "single-hop", gold=("D1:1",)),
        Question("conv-2/1", "conv-2", "dev", "What is the name of the parrot?", "adversarial", answerable=False),
    ),
    left_out={"malformed evidence id": 3},
)


@pytest.fixture
def bench(cli, monkeypatch):
    """Runs ``mnemic bench`` on a small data set."""
    monkeypatch.setattr("mnemic.cli.bench_run.load", lambda *_: DATA)
    return lambda *arguments: cli("bench", *arguments)


def test_json_is_a_line_in_the_documented_shape(bench):
    code, out, _ = bench("locomo", "--system", "bm25", "--json")
    assert code == 0
    [line] = out.splitlines()
    found = json.loads(line)
    assert (found["dataset"], found["split"], found["system"], found["n"]) == ("locomo", "dev", "bm25", 3)
    for level in ("trace", "turn"):
        assert found[level]["fraction"]["5"] == found[level]["hit_any"]["10"] == 1.0
    assert set(found["by_category"]) == {"single-hop", "temporal"}
    assert set(found["latency_ms"]) == {"p50", "p95"}
    assert found["tokens_per_query"] > 0
    assert "auroc" in found["abstention"]


def test_people_get_a_table_a_level_with_a_row_a_system(bench):
    code, out, _ = bench("locomo", "--system", "bm25", "--system", "default-no-dense")
    assert code == 0
    trace, turn, cost, legend = out.split("\n\n")
    for table, title in ((trace, "trace level"), (turn, "turn level"), (cost, "cost")):
        assert table.startswith(f"| {title}")
        assert [line.split("|")[1].strip() for line in table.splitlines()[2:]] == ["bm25", "default-no-dense"]
    assert "1.000 [1.000, 1.000]" in turn
    assert legend.startswith("R@k")


def test_results_are_written_compared_and_reported(bench, tmp_path):
    for name, weight in (("a", "0.4"), ("b", "0")):
        arguments = ("--system", "default-no-dense", "--set", f"graph={weight}", "--output", f"{name}.json")
        report = ("--report", "report") if name == "b" else ()
        code, _, err = bench("locomo", *arguments, *report, "--json")
        assert code == 0, err
        assert f"Results: {name}.json" in err
    summary = json.loads((tmp_path / "b.json").read_text())["summaries"][0]
    assert summary["configuration"]["Fusion"]["graph"] == 0
    assert len((tmp_path / "b.rows.jsonl").read_text().splitlines()) == 8
    assert (tmp_path / "report" / "report.md").is_file()
    code, out, _ = bench("compare", "a.json", "b.json")
    assert code == 0
    assert "0 better, 0 worse" in out
    code, out, _ = bench("compare", "a.json", "b.json", "--systems", "default-no-dense,default-no-dense", "--json")
    assert json.loads(out)["pairs"][0]["systems"] == ["default-no-dense", "default-no-dense"]


def test_results_of_several_runs_make_one_report(bench, tmp_path):
    for name in ("bm25", "default-no-dense"):
        assert bench("locomo", "--system", name, "--output", name, "--json")[0] == 0
    bench("sweep", "locomo", "--over", "tau_alias=.7,.9", "--report", "swept", "--json")
    (tmp_path / "grown.json").write_text(json.dumps({"speed": [{"system": "default", "users": 1, "turns": 10}]}))
    files = ("bm25.json", "default-no-dense.json", "swept/results.json", "grown.json")
    code, out, err = bench("report", "all", *files, "--baseline", "bm25")
    assert (code, out, err) == (0, "all/report.md\n", "")
    page = (tmp_path / "all/report.md").read_text()
    assert "Differences to **bm25**" in page
    assert "## Sweep over tau\\_alias" in page
    assert "## Speed" in page
    again = bench("report", "again", "all/results.json", "--baseline", "bm25")
    assert again[0] == 0
    assert (tmp_path / "again/report.md").read_text() == page


def test_of_a_size_measured_twice_a_report_has_the_last(bench, tmp_path):
    for name, cost in (("cut", None), ("whole", 7.5)):
        measured = {"system": "default", "users": 1, "turns": 10, "add_one_ms": cost}
        other = {"system": "default", "users": 1, "turns": 5, "add_one_ms": 1.0}
        (tmp_path / f"{name}.json").write_text(json.dumps({"speed": [measured, *([other] if cost is None else [])]}))
    assert bench("report", "all", "cut.json", "whole.json")[0] == 0
    kept = json.loads((tmp_path / "all/results.json").read_text())["speed"]
    assert [(one["turns"], one["add_one_ms"]) for one in kept] == [(5, 1.0), (10, 7.5)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "has no 'summaries'"),
        ('{"speed": 3}', "'speed' is damaged"),
        ('{"sweeps": [1]}', "'sweeps' is damaged"),
        ('{"answers": ["x"]}', "'answers' is damaged"),
    ],
)
def test_a_report_of_no_results_is_refused(bench, tmp_path, text, said):
    (tmp_path / "odd.json").write_text(text)
    code, out, err = bench("report", "all", "odd.json")
    assert (code, out) == (1, "")
    assert said in err
    assert not (tmp_path / "all").exists()


def test_trials_are_summed_up(bench):
    code, out, _ = bench("locomo", "--system", "bm25", "--trials", "2", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["trials"] == 2
    assert found["mean"]["turn"]["fraction"]["5"] == 1.0
    assert found["std"]["turn"]["fraction"]["5"] == 0.0


def test_a_sweep_has_a_line_a_value(bench, tmp_path):
    arguments = ("--over", "graph=0,.4", "--system", "default-no-dense", "--keep", "kept", "--json")
    code, out, _ = bench("sweep", "locomo", *arguments)
    assert code == 0
    lines = [json.loads(line) for line in out.splitlines()]
    assert [line["over"] for line in lines] == [{"graph": 0}, {"graph": 0.4}]
    assert [line["configuration"]["Fusion"]["graph"] for line in lines] == [0, 0.4]
    # One ingestion for both: a memory and its record for each of two users.
    assert len(list((tmp_path / "kept").iterdir())) == 4


def test_systems_are_listed(cli):
    code, out, _ = cli("bench", "systems", "--json")
    assert code == 0
    assert [system["name"] for system in json.loads(out)] == list(NAMES)
    assert cli("bench", "systems")[1].count("\n") == len(NAMES)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("locomo", "--system", "rff"), 1, "no system is called 'rff'"),
        (("locomo", "--set", "graph"), 2, "NAME=VALUE"),
        (("locomo", "--set", "grph=1"), 1, "Fusion has no setting 'grph'"),
        (("locomo", "--set", "graph=-1"), 1, "graph must be at least 0"),
        (("locomo", "--system", "bm25", "--set", "graph=1"), 1, "has no settings"),
        (("locomo", "--system", "no-memory"), 2, "no-memory"),
        (("sweep", "locomo", "--over", "graph"), 2, "--over"),
        (("sweep", "locomo", "--over", "tau_alias=.5,x"), 1, "tau_alias"),
        (("compare", "absent.json", "absent.json"), 1, "absent.json"),
        (("compare", "a", "b", "--systems", "rrf"), 2, "two names"),
        (("locomo", "--judge-model", "some:model"), 2, "--answer-model"),
        (("locomo", "--answer-model", "model"), 1, "PROVIDER:MODEL"),
        (("locomo", "--answer-model", "a:b", "--answer-price", "cheap", "--replies", "r"), 1, "no price"),
        (("personamem",), 2, "only answers can be measured"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_measured(bench, arguments, code, said):
    left, out, err = bench(*arguments)
    assert (left, out) == (code, "")
    assert said in " ".join(err.replace("│", " ").split())


def test_answers_are_scored_beside_the_baseline_and_kept(bench, monkeypatch, tmp_path):
    """PersonaMem: letters, and what the model guesses without any memory; a second run asks nobody."""
    options = ("(a) a kiln", "(b) a boat", "(c) a cat", "(d) a dog")
    asked = tuple(
        replace(question, options=options, answer="(a)", end=None) for question in DATA.questions if question.answerable
    )
    data = replace(DATA, name="personamem", questions=asked)
    monkeypatch.setattr("mnemic.cli.bench_run.load", lambda *_: data)
    model = ScriptedModel(["Final answer: (a)"] * 3 + ["Final answer: (b)"] * 3)
    monkeypatch.setattr("mnemic.models.registry.language_model", lambda name: model if name else None)
    arguments = ("personamem", "--system", "bm25", "--answer-model", "some:model", "--replies", "replies.jsonl")
    code, out, err = bench(*arguments, "--output", "results.json", "--json")
    assert code == 0, err
    found = [json.loads(line)["answers"] for line in out.splitlines()]
    assert [(one["system"], one["n"], one["accuracy"]) for one in found] == [("bm25", 3, 1.0), ("no-memory", 3, 0.0)]
    assert len(json.loads((tmp_path / "results.answers.json").read_text())["answers"]) == 2
    assert len(model.requests) == 6
    code, out, _ = bench(*arguments)
    assert code == 0
    assert len(model.requests) == 6
    assert [line.split("|")[1].strip() for line in out.splitlines()[2:4]] == ["bm25", "no-memory"]


def test_one_system_helps_another_to_answer(bench, monkeypatch):
    model = ScriptedModel(['{"answer": "bowls"}'] * 20)
    monkeypatch.setattr("mnemic.models.registry.language_model", lambda name: model if name else None)
    data = replace(DATA, questions=tuple(replace(one, answer="bowls") for one in DATA.questions))
    monkeypatch.setattr("mnemic.cli.bench_run.load", lambda *_: data)
    arguments = ("--system", "no-memory", "--beside", "bm25", "--answer-model", "some:model", "--replies", "r")
    code, out, err = bench("locomo", *arguments, "--json")
    assert code == 0, err
    found = [json.loads(line)["answers"] for line in out.splitlines()]
    assert [one["system"] for one in found] == ["no-memory", "no-memory+bm25"]
    assert found[0]["evidence_tokens"] == 0 < found[1]["evidence_tokens"]


def test_a_file_in_the_published_form_is_measured(cli, tmp_path):
    sample = {
        "sample_id": "talk",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "My kiln cracked all the bowls."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "My cat is called Tadeus."},
            ],
        },
        "qa": [
            {"question": "What is the cat called?", "answer": "Tadeus", "evidence": ["D1:2"], "category": 4},
            {"question": "Why did Bo buy a kiln?", "adversarial_answer": "x", "evidence": ["D1:1"], "category": 5},
        ],
    }
    (tmp_path / "talk.json").write_text(json.dumps([sample]))
    code, out, err = cli("bench", "locomo", "--data", "talk.json", "--system", "rrf", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["n"], found["questions"]["asked"]) == (1, 2)
    assert found["turn"]["fraction"]["1"] == 1.0


def test_a_data_set_is_fetched_to_its_folder(cli, monkeypatch, tmp_path):
    asked = []

    def fetch(name, folder, *, address, progress):
        asked.append((name, folder, address))
        progress(10)
        return (folder / "locomo" / "locomo10.json",)

    monkeypatch.setenv("MNEMIC_DATA", str(tmp_path))
    monkeypatch.setattr("mnemic.bench.datasets.download.download", fetch)
    code, out, _ = cli("bench", "download", "locomo", "--address", "https://host/folder")
    assert (code, out) == (0, f"{tmp_path}/locomo/locomo10.json\n")
    assert asked == [("locomo", tmp_path, "https://host/folder")]


def test_help_loads_nothing_of_the_benchmark():
    script = """
        import sys
        from mnemic.cli import main
        try:
            main(["bench", "locomo", "--help"])
        except SystemExit:
            pass
        heavy = {"numpy", "mnemic.bench", "bm25s", "matplotlib", "multiprocessing", "onnxruntime"}
        sys.stderr.write(repr(sorted(heavy & set(sys.modules))))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert "--split" in done.stdout
    assert done.stderr == "[]"
