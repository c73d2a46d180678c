"""The items of a JSON array one by one: what the standard library reads of the whole, without having it whole."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import items as module
from mnemic.importers.files import SourceFile
from mnemic.importers.items import Item, Member, items, items_within, members
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
    assert found == [Item(1, 1), Skipped("what stands behind the end of the JSON value", "the end of the file")]


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


# Arrays within an object ----------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["results", "memories", "mem\u00f3ries", 'a"]', "b"]) | st.text()


def written(path, data):
    path.write_bytes(data)
    return SourceFile(path, "s")


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_an_object_is_read_as_the_standard_library_reads_it(path, indent, ascii_only):
    @given(st.dictionaries(KEYS, JSON | st.lists(JSON, max_size=4), max_size=5))
    def check(whole):
        file = written(path, json.dumps(whole, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass"))
        arrays = [key for key in ("results", "memories") if isinstance(whole.get(key), list)]
        in_order = [item for key, value in whole.items() if key in arrays for item in value]
        assert [(item.number, item.value) for item in items_within(file, ("results", "memories"))] == list(
            enumerate(in_order, 1)
        )
        left = {key: [] if key in arrays else value for key, value in whole.items()}
        assert {member.key: member.value for member in members(file, ("results", "memories"))} == left

    check()


def test_a_broken_item_or_member_costs_only_itself(path):
    file = written(path, b'{"a": 1, "list": [1, nope, "\xff", 4], b: 2, "c" 3, "d": 4, "list" : []}')
    assert list(items_within(file, ["list"])) == [
        Item(1, 1),
        Skipped("not JSON", "item 2"),
        Skipped("not UTF-8", "item 3"),
        Item(4, 4),
    ]
    assert list(members(file, ["list"])) == [
        Member("a", 1),
        Member("list", []),
        Skipped("not JSON", "member 3"),
        Skipped("not JSON", "member 4"),
        Member("d", 4),
        Member("list", []),
    ]


def test_what_is_no_member_of_the_outermost_object_is_not_gone_into(path):
    file = written(path, b'{"a": {"list": [1]}, "b": [{"list": [2]}], "list": {"list": [3]}}')
    assert list(items_within(file, ["list"])) == []
    assert list(members(file, ["list"])) == [
        Member("a", {"list": [1]}),
        Member("b", [{"list": [2]}]),
        Member("list", {"list": [3]}),
    ]


@pytest.mark.parametrize(
    ("cut", "found"),
    [
        (b'{"list": [1, {', [Item(1, 1), Skipped("the file ends in the midst of it", "item 2")]),
        (b'{"list": [1', [Skipped("the file ends in the midst of it", "item 1")]),
        (b'{"list": [1], 2', [Item(1, 1), Skipped("the file ends in the midst of it", "behind the last whole member")]),
        (b'{"list": [1]} {', [Item(1, 1), Skipped(module.BEHIND, "the end of the file")]),
        (b'{"list": [1] oops, "b": 2}', [Item(1, 1)]),
    ],
)  # fmt: skip
def test_an_object_that_was_cut(path, cut, found):
    assert list(items_within(written(path, cut), ["list"])) == found


def test_what_stands_behind_an_array_is_told(path):
    assert list(members(written(path, b'{"list": [1] oops, "b": 2}'), ["list"])) == [
        Member("list", []),
        Skipped("not JSON", "member 2"),
        Member("b", 2),
    ]


def test_no_object(path):
    with pytest.raises(InvalidFile, match=r"a\.json: is not a JSON object"):
        list(items_within(written(path, b"[1]"), ["list"]))
