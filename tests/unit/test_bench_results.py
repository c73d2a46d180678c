from __future__ import annotations

import gzip
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from bench_kit import MADE, outcome, row, run
from mnemic.bench.records import Usage
from mnemic.bench.results import load, row_from_json, save
from mnemic.bench.summary import summarise
from mnemic.errors import InvalidFile

TWO = [run(0.8), outcome([row(), row("conv-1/1", (2, None))], system="rrf")]


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = save(tmp_path / "new" / "folder", TWO, made=MADE)
    found = load(path)
    assert path.name == "results.json"
    assert found.version
    assert list(found.summaries) == [summarise(one, made=MADE) for one in TWO]
    assert list(found.rows) == [one.rows for one in TWO]


def test_saving_again_writes_the_same_bytes(tmp_path: Path) -> None:
    first, second = (save(tmp_path / name, TWO, made=MADE) for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    assert (tmp_path / "a/results.rows.jsonl").read_bytes() == (tmp_path / "b/results.rows.jsonl").read_bytes()


def test_without_rows_the_older_ones_go(tmp_path: Path) -> None:
    save(tmp_path, TWO, name="locomo", made=MADE)
    path = save(tmp_path, TWO[:1], name="locomo", rows=False, made=MADE)
    assert [one.name for one in tmp_path.iterdir()] == ["locomo.json"]
    assert load(path).rows == ((),)


def test_outcomes_without_rows(tmp_path: Path) -> None:
    assert load(save(tmp_path, [outcome([])], made=MADE)).rows == ((),)
    assert [one.name for one in tmp_path.iterdir()] == ["results.json"]


def test_what_a_search_asked_of_a_model_comes_back(tmp_path: Path) -> None:
    asking = replace(row(), model_ms=12.5, usage={"sufficiency": Usage(2, 30, 4, 1)})
    path = save(tmp_path, [outcome([asking, row()])], made=MADE)
    assert load(path).rows == ((asking, row()),)
    first, second = (json.loads(line) for line in (tmp_path / "results.rows.jsonl").read_text().splitlines())
    assert first["usage"] == {"sufficiency": {"calls": 2, "tokens_in": 30, "tokens_out": 4, "unreadable": 1}}
    # Rows of who asks nobody are as they ever were.
    assert not {"usage", "model_ms"} & second.keys()


def test_rows_may_be_gzipped(tmp_path: Path) -> None:
    path = save(tmp_path, TWO, made=MADE)
    beside = tmp_path / "results.rows.jsonl"
    beside.write_bytes(gzip.compress(beside.read_bytes()))
    assert load(path).rows[0] == TWO[0].rows


def test_the_json_may_be_kept_without_its_rows(tmp_path: Path) -> None:
    path = save(tmp_path, TWO, made=MADE)
    (tmp_path / "results.rows.jsonl").unlink()
    found = load(path)
    assert [one["system"] for one in found.summaries] == [one.system for one in TWO]
    assert found.rows == ((), ())


def test_the_output_of_the_command_is_a_result_too(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(summarise(TWO[0], made=MADE)))
    found = load(path)
    assert (found.version, found.rows) == ("", ((),))
    assert found.summaries[0]["system"] == "default"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "no file of results"),
        ("{}", "has no 'summaries'"),
        ('{"mnemic": "1", "summaries": [1]}', "a summary has no 'dataset'"),
        ('{"dataset": "locomo", "split": "all", "system": "a", "gold": "original"}', "no 'checksum'"),
        ('{"mnemic": "1", "summaries": [], "rows": "../../etc/passwd"}', "file beside it"),
        ('{"dataset": "locomo", "trials": 3, "mean": {}}', "means over trials"),
        ("{", "is not JSON"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=said):
        load(path)


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidFile, match="name the file of results in it"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2"),
        ("[]", "line 2"),
        ('{"summary": 7}', "line 2"),
        ('{"summary": 0}', "missing or unknown"),
        (b"\xff\xfe", "line 2: not UTF-8"),
    ],
)
def test_a_damaged_row_is_named(tmp_path: Path, line: str | bytes, said: str) -> None:
    path = save(tmp_path, [outcome([row()])], made=MADE)
    with (tmp_path / "results.rows.jsonl").open("ab") as stream:
        stream.write(line if isinstance(line, bytes) else line.encode())
    with pytest.raises(InvalidFile, match=said):
        load(path)


@pytest.mark.parametrize("odd", [{"level": "word"}, {"half": "third"}, {"ranks": ["x"]}, {"tokens": []}, {"more": 1}])
def test_an_odd_row_is_refused(odd: dict[str, Any]) -> None:
    with pytest.raises((ValueError, AttributeError)):
        row_from_json({**asdict(row()), **odd})


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidFile, match=r"cannot be written .*; give another folder"):
        save(tmp_path / "file", TWO, made=MADE)
