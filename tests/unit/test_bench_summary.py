from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mnemic
from bench_kit import MADE, outcome, row, run
from mnemic.bench import provenance
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import Built, Usage
from mnemic.bench.summary import rounded, stable, summarise
from mnemic.bench.trials import over_trials
from mnemic.errors import InvalidInput


def summed(rows: list[Any], **given: Any) -> dict[str, Any]:
    return summarise(outcome(rows, **given), made=MADE)


FOUR = [
    row("conv-1/0", (1, 7)),
    row("conv-1/1", (None,), half="test", category="temporal"),
    row("conv-1/2", ()),
    row("conv-1/3", (), answerable=False, category="adversarial"),
]


def test_the_shape_that_the_command_prints() -> None:
    found = summarise(run(0.8), made=MADE)
    assert list(found) == [
        *("dataset", "split", "system", "trial", "gold", "n", "questions", "trace", "turn", "by_category"),
        *("abstention", "tokens_per_query", "tokens_at", "levels", "latency_ms", "cpu_ms", "rss_mb", "build"),
        *("bootstrap", "configuration", "checksum", "commit", "date", "versions", "by_half"),
    ]
    block: Any = found["trace"]
    assert list(block) == [
        *("n", "fraction", "hit_any", "hit_all", "mrr", "ndcg", "interval"),
        *("fraction_official", "n_official", "tokens"),
    ]
    assert list(block["fraction"]) == ["1", "5", "10", "20"]
    assert list(block["ndcg"]) == ["10"]
    low, high = block["interval"]["fraction"]["5"]
    assert low < block["fraction"]["5"] < high
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_means_by_hand() -> None:
    found = summed(FOUR)
    trace = found["trace"]
    assert (found["n"], trace["n"]) == (2, 2)
    assert found["questions"] == {"asked": 4, "unanswerable": 1, "without_gold": 1}
    assert trace["fraction"] == {"1": 0.25, "5": 0.25, "10": 0.5, "20": 0.5}
    assert trace["hit_any"] == {"1": 0.5, "5": 0.5, "10": 0.5, "20": 0.5}
    assert trace["hit_all"] == {"1": 0, "5": 0, "10": 0.5, "20": 0.5}
    assert trace["mrr"] == 0.5
    assert trace["fraction_official"]["5"] == rounded(1.5 / 3)
    assert trace["n_official"] == 3


def test_categories_and_halves_apart() -> None:
    found = summed(FOUR)
    assert list(found["by_category"]) == ["single-hop", "temporal"]
    assert found["by_category"]["single-hop"]["n"] == 1
    assert found["by_category"]["single-hop"]["trace"]["fraction"]["10"] == 1
    assert found["by_half"]["dev"]["n"] == found["by_half"]["test"]["n"] == 1
    assert found["by_half"]["test"]["by_category"].keys() == {"temporal"}
    assert found["by_half"]["dev"]["abstention"]["n_unanswerable"] == 1
    assert found["by_half"]["test"]["abstention"] is None
    assert "by_half" not in summed([replace(one, half="dev") for one in FOUR], split="dev")


def test_costs_are_of_every_question_at_the_first_level() -> None:
    rows = [
        row("conv-1/0", wall_ms=1, cpu_ms=4, embedding_cpu_ms=3, tokens={1: 1, 5: 10, 10: 20, 20: 40}),
        row("conv-1/1", (), answerable=False, wall_ms=3, cpu_ms=6, embedding_cpu_ms=2),
        row("conv-1/0", level="turn", wall_ms=100, cpu_ms=100, embedding_cpu_ms=0),
    ]
    found = summed(rows)
    assert found["levels"] == ["trace", "turn"]
    assert found["latency_ms"] == {"p50": 2, "p95": 2.9}
    assert found["cpu_ms"] == {"p50": 5, "p95": 5.9, "p50_without_embedding": 2.5, "p95_without_embedding": 3.85}
    assert found["tokens_at"] == {"5": 255, "10": 510}
    assert found["tokens_per_query"] == 510
    assert found["trace"]["tokens"] == {"5": 10, "10": 20}


def test_builds_are_summed_over_users() -> None:
    built = {
        "a": Built(2.0, 1.0, 0.5, {"cues": 0.25}, 100, {"turns": 3}, {"notes": Usage(1, 10, 5)}),
        "b": Built(
            1.0,
            1.0,
            0.5,
            {"cues": 0.25, "embedding": 0.5},
            50,
            {"turns": 4, "notes": 2},
            {"notes": Usage(2, 20, 1, unreadable=1), "links": Usage(1, 9, 9)},
        ),
    }
    assert summed([row()], built=built)["build"] == {
        "users": 2,
        "wall_s": 3,
        "cpu_s": 2,
        "embedding_cpu_s": 1,
        "stages": {"cues": 0.5, "embedding": 0.5},
        "bytes_on_disk": 150,
        "counts": {"turns": 7, "notes": 2},
        "model_calls": 4,
        "tokens_in": 39,
        "tokens_out": 15,
        "usage": {
            "notes": {"calls": 3, "tokens_in": 30, "tokens_out": 6, "unreadable": 1},
            "links": {"calls": 1, "tokens_in": 9, "tokens_out": 9, "unreadable": 0},
        },
    }


def test_a_second_run_gives_equal_numbers_apart_from_what_varies() -> None:
    first = run(0.8)
    second = replace(
        first,
        rows=tuple(replace(one, wall_ms=99, cpu_ms=98, embedding_cpu_ms=97) for one in first.rows),
        built={"conv-1": Built(9, 9, 9, {"cues": 9}, 9, {"turns": 7})},
        rss_mb=1,
    )
    later = Provenance(None, "2031-01-01T00:00:00+00:00", {})
    one, other = summarise(first, made=MADE), summarise(second, made=later)
    assert one != other
    assert json.dumps(stable(one)) == json.dumps(stable(other))
    kept: Any = stable(one)
    assert {"trace", "turn", "by_category", "by_half", "abstention", "configuration", "checksum"} <= kept.keys()
    assert kept["build"] == {"users": 1, "counts": {"turns": 7}, "model_calls": 0, "tokens_in": 0, "tokens_out": 0}


def test_what_does_matter_is_kept() -> None:
    rows = list(run(0.8).rows)
    place = next(i for i, one in enumerate(rows) if one.ranks and one.ranks[0] is not None)
    rows[place] = replace(rows[place], ranks=(None, *rows[place].ranks[1:]))
    assert stable(summed(rows)) != stable(summarise(run(0.8), made=MADE))


def test_conversations_as_the_unit_of_the_bootstrap() -> None:
    plain: Any = summarise(run(0.8), made=MADE)
    clustered: Any = summarise(run(0.8), made=MADE, by_conversation=True)
    assert (plain["bootstrap"]["unit"], clustered["bootstrap"]["unit"]) == ("question", "conversation")
    assert plain["trace"]["fraction"] == clustered["trace"]["fraction"]
    assert plain["trace"]["interval"] != clustered["trace"]["interval"]


def test_longmemeval_has_sessions_and_its_own_ndcg() -> None:
    rows = [
        row("i1/0", (3,), level="turn", session_ranks=(1, 7)),
        row("i2/0", (), level="turn", session_ranks=(6,)),
        row("i3_abs/0", (1,), level="turn", session_ranks=(1,), answerable=False),
    ]
    found = summed(rows, dataset="longmemeval", split="dev")
    assert found["session"]["turn"]["n"] == 2
    assert found["session"]["turn"]["recall_any"] == {"5": 0.5, "10": 1}
    assert found["session"]["turn"]["recall_all"] == {"5": 0, "10": 1}
    assert found["turn"]["n"] == found["n"] == 1
    assert found["turn"]["ndcg_any"] == {"5": 0.6309, "10": 0.6309}
    assert "fraction_official" not in found["turn"]
    assert found["by_category"]["single-hop"]["session"]["turn"]["n"] == 2


def test_a_data_set_without_gold_has_costs_only() -> None:
    found = summed([row("p/0", ()), row("p/1", ())], dataset="personamem")
    assert not {"trace", "turn", "session"} & found.keys()
    assert (found["n"], found["by_category"], found["abstention"]) == (0, {}, None)
    assert found["tokens_per_query"] == 1000


def test_no_rows_at_all() -> None:
    found = summed([])
    assert (found["n"], found["tokens_per_query"], found["latency_ms"]) == (0, None, {})


def test_halves_do_not_turn_on_a_last_bit() -> None:
    assert rounded(0.03125) == rounded(0.03125 + 1e-16) == rounded(0.03125 - 1e-16)


def test_trials_by_hand() -> None:
    three = [summed([row(ranks=(rank,), wall_ms=rank)], trial=rank) for rank in (1, 2, 4)]
    found: Any = over_trials(three)
    assert (found["system"], found["trials"]) == ("default", 3)
    assert found["mean"]["trace"]["mrr"] == rounded((1 + 0.5 + 0.25) / 3)
    assert found["std"]["trace"]["mrr"] == rounded(0.3818813)
    assert found["mean"]["latency_ms"]["p50"] == rounded(7 / 3)
    assert found["std"]["trace"]["fraction"]["20"] == 0
    assert "interval" not in found["mean"]["trace"]


def test_what_one_trial_lacks_is_null() -> None:
    found: Any = over_trials([summed(FOUR), summed(FOUR[:2])])
    assert found["mean"]["abstention"] == dict.fromkeys(found["std"]["abstention"])


@pytest.mark.parametrize(
    ("other", "said"), [({"system": "rrf"}, "system, not default, rrf"), ({"checksum": "0"}, "one checksum")]
)
def test_trials_are_of_one_system_on_one_file(other: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        over_trials([summed([row()]), summed([row()], **other)])
    with pytest.raises(InvalidInput, match="two trials or more, not 1"):
        over_trials([summed([row()])])


def test_provenance_names_the_commit_of_the_checkout() -> None:
    made = Provenance.now()
    folder = Path(mnemic.__file__).parent
    head = subprocess.run(["git", "-C", str(folder), "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    assert (made.commit or "").removesuffix("+changes") == head.stdout.strip()
    assert made.versions["mnemic"] == mnemic.__version__
    assert {"python", "platform", "numpy"} <= made.versions.keys()
    assert made.date.endswith("+00:00")


def test_an_installed_copy_is_of_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(provenance.mnemic, "__file__", str(tmp_path / "__init__.py"))
    assert Provenance.now().commit is None


def test_without_git_there_is_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert Provenance.now().commit is None
