"""The items of a JSON array one by one: what the standard library reads of the whole, without having it whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import items as module
from mnemic.importers.files import SourceFile
from mnemic.importers.items import Item, items
from mnemic.importers.records import Skipped

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def read(path, data):
    path.write_bytes(data)
    return list(items(SourceFile(path, "s")))


@pytest.fixture(params=[3, 7, 1 << 18], ids="{} bytes at a time".format)
def path(request, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_PIECE", request.param)
    return tmp_path / "a.json"


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_it_reads_what_the_standard_library_reads(path, indent, ascii_only):
    @given(st.lists(JSON, max_size=5))
    def check(values):
        data = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert [item.value for item in read(path, data)] == values

    check()


def test_every_word_survives(path):
    data = b'["\\ud800 \\" ] \\\\", "\\ud83d\\ude00", {"a,b": "[}"}]'
    assert [item.value for item in read(path, data)] == ['\ud800 " ] \\', "\U0001f600", {"a,b": "[}"}]


def test_a_broken_item_costs_only_itself(path):
    found = read(path, b'[1, nope, {"a": NaN}, "\xff", 5]')
    assert found == [
        Item(1, 1),
        Skipped("not JSON", "item 2"),
        Skipped("not JSON", "item 3"),
        Skipped("not UTF-8", "item 4"),
        Item(5, 5),
    ]


@pytest.mark.parametrize("cut", [b"[1, {", b'[1, "a', b"[1, ", b"[1, [2"])
def test_a_file_that_was_cut(path, cut):
    assert read(path, cut) == [Item(1, 1), Skipped("the file ends in the midst of it", "item 2")]


def test_what_stands_behind_the_end(path):
    found = read(path, b"[1] [2]")
    assert found == [Item(1, 1), Skipped("what stands behind the end of the JSON array", "the end of the file")]


def test_no_array(path):
    with pytest.raises(InvalidFile, match=r"a\.json: is not a JSON array"):
        read(path, b'{"a": 1}')


def test_an_item_that_is_too_long(path, monkeypatch):
    monkeypatch.setattr(module, "MAX_ITEM", 1 << 10)
    with pytest.raises(InvalidFile, match="has an item longer than"):
        read(path, b'[1, "' + b"a" * (1 << 20) + b'"]')


def test_deep_nesting_is_one_broken_item(path):
    assert read(path, b"[1, " + b"[" * 100_000 + b"]" * 100_000 + b", 2]")[1:] == [
        Skipped("not JSON", "item 2"),
        Item(3, 2),
    ]
