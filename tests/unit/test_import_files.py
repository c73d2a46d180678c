"""Bytes of a file to import: encodings, line ends, gzip and its traps."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import files
from mnemic.importers.files import Line, SourceFile, parse
from mnemic.importers.records import Skipped


def written(tmp_path: Path, data: bytes, name: str = "chat.jsonl") -> SourceFile:
    (tmp_path / name).write_bytes(data)
    return SourceFile.at(tmp_path / name)


def test_lines_are_counted_from_one_and_blank_ones_passed_over(tmp_path):
    assert list(written(tmp_path, b"one\r\n\n  \ntwo").lines()) == [Line(1, "one"), Line(4, "two")]


def test_only_newlines_end_a_line(tmp_path):
    text = "a\x0b\x0c\x1c\x85\u2028\u2029\rb"
    assert list(written(tmp_path, text.encode()).lines()) == [Line(1, text)]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_byte_order_mark_is_not_a_word(tmp_path, pack):
    file = written(tmp_path, pack(b'\xef\xbb\xbf{"a": 1}'))
    assert file.head(3) == b'{"a'
    assert file.text() == '{"a": 1}'
    assert list(file.lines()) == [Line(1, '{"a": 1}')]
    assert file.json() == {"a": 1}


@pytest.mark.fault("B055")
def test_a_lone_surrogate_in_the_bytes_survives(tmp_path):
    raw = "end \ud800".encode("utf-8", "surrogatepass")
    file = written(tmp_path, raw + b"\nnext")
    assert list(file.lines()) == [Line(1, "end \ud800"), Line(2, "next")]
    assert file.text() == "end \ud800\nnext"


def test_a_line_that_is_not_utf8_is_isolated(tmp_path):
    assert list(written(tmp_path, b"one\ncaf\xe9\nthree").lines()) == [
        Line(1, "one"),
        Skipped("not UTF-8", "line 2"),
        Line(3, "three"),
    ]


def test_a_whole_file_that_is_not_utf8_names_the_line_and_the_way_out(tmp_path):
    with pytest.raises(InvalidFile, match=r"is not UTF-8 text \(line 2, byte 0xe9\); .*iconv"):
        written(tmp_path, b"Ana: hi\nBo: caf\xe9\n").text()


@pytest.mark.fault("B131")
def test_an_oversized_line_is_isolated(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_LINE", 1 << 20)
    data = b"a\n" + b"x" * (3 << 20) + b"\nb\n"
    assert list(written(tmp_path, data).lines()) == [
        Line(1, "a"),
        Skipped("longer than 1 MiB", "line 2"),
        Line(3, "b"),
    ]


def test_a_whole_file_that_is_too_large_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "MAX_WHOLE", 10)
    assert written(tmp_path, b"x" * 10).text() == "x" * 10
    with pytest.raises(InvalidFile, match="jsonl"):
        written(tmp_path, b"x" * 11).text()


def test_a_zip_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FREE_EXPANSION", 1 << 20)
    bomb = written(tmp_path, gzip.compress(b"[1]\n" * (1 << 19)), "bomb.gz")
    with pytest.raises(InvalidFile, match="expands to more than"):
        bomb.text()
    with pytest.raises(InvalidFile, match="expands to more than"):
        list(bomb.lines())


def test_repetitive_text_below_the_free_size_is_no_bomb(tmp_path):
    assert len(written(tmp_path, gzip.compress(b"ok\n" * 1_000_000), "chat.txt.gz").text()) == 3_000_000


@pytest.mark.fault("B116")
def test_of_a_cut_gzip_the_whole_lines_are_read_and_the_rest_is_counted(tmp_path):
    lines = [zlib.crc32(str(i).encode()) for i in range(20_000)]
    data = gzip.compress("\n".join(map(str, lines)).encode())
    read = list(written(tmp_path, data[: len(data) // 2], "cut.gz").lines())
    *whole, last = read
    assert len(whole) > 5_000
    assert [int(line.text) for line in whole] == lines[: len(whole)]
    assert last == Skipped("the gzip file is cut or damaged from here on", f"line {len(whole) + 1}")
    with pytest.raises(InvalidFile, match="cut or damaged"):
        SourceFile.at(tmp_path / "cut.gz").text()


@pytest.mark.parametrize("data", [b"", b"\xef\xbb\xbf", gzip.compress(b"", mtime=0), b"\x1f\x8bgarbage"])
def test_a_file_without_content_is_refused(tmp_path, data):
    with pytest.raises(InvalidFile, match="empty"):
        written(tmp_path, data)


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InvalidFile, match="no such file"):
        SourceFile.at(tmp_path / "none.json")
    with pytest.raises(InvalidFile, match="not an ordinary file"):
        SourceFile.at(tmp_path)


def test_json_errors_name_the_place(tmp_path):
    with pytest.raises(InvalidFile, match="line 2, column 3"):
        written(tmp_path, b"[\n1,}").json()
    with pytest.raises(InvalidFile, match="NaN"):
        written(tmp_path, b"[NaN]").json()
    with pytest.raises(InvalidFile, match="too deep"):
        written(tmp_path, b"[" * 200_000).json()


@pytest.mark.parametrize(
    ("name", "session"), [("trip.json", "trip"), ("trip.jsonl.gz", "trip"), (".gz", ".gz"), ("a.b.txt", "a.b")]
)
def test_sessions_without_a_name_take_the_files(tmp_path, name, session):
    assert written(tmp_path, b"x", name).session == session
    assert SourceFile.at(tmp_path / name, session="mine").session == "mine"


@given(st.text())
def test_parse_returns_what_json_holds(text):
    import json

    assert parse(json.dumps(text)) == text
    assert parse(json.dumps({"a": [text]}, ensure_ascii=False)) == {"a": [text]}
