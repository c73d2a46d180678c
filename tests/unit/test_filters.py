from __future__ import annotations

import re
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.algo import filters
from mnemic.algo.filters import compile_filter
from mnemic.errors import InvalidFilter

ANA: dict[str, Any] = {
    "topic": "work",
    "stars": 4,
    "private": True,
    "note": None,
    "tags": ["red", 1],
    "author": {"name": "Ana", "home": {"city": "Lisbon"}},
    "a.b": "dotted",
    "": "blank",
}


@pytest.mark.parametrize(
    ("expression", "met"),
    [
        ({}, True),
        ({"topic": "work"}, True),
        ({"topic": "Work"}, False),
        ({"topic": {"eq": "work"}, "stars": 4}, True),
        ({"topic": "work", "stars": 5}, False),
        ({"stars": {"gte": 4, "lt": 5}}, True),
        ({"stars": {"gt": 4}}, False),
        ({"stars": 4.0}, True),
        ({"stars": {"in": [1, 4]}}, True),
        ({"stars": {"nin": [1, 4]}}, False),
        ({"stars": {"ne": 5}}, True),
        ({"stars": "4"}, False),
        ({"stars": {"lt": "5"}}, False),
        ({"topic": {"gt": "a", "lte": "work"}}, True),
        ({"topic": {"contains": "or"}}, True),
        ({"tags": {"contains": "red"}}, True),
        ({"tags": {"contains": "re"}}, False),
        ({"topic": {"icontains": "OR"}}, True),
        ({"topic": {"contains": "OR"}}, False),
        ({"tags": {"icontains": "RED"}}, True),
        ({"tags": {"icontains": "RE"}}, False),
        ({"stars": {"icontains": "4"}}, False),
        ({"tags": ["red", 1]}, True),
        ({"note": None}, True),
        ({"note": {"exists": True}}, True),
        # true is not 1, anywhere
        ({"private": 1}, False),
        ({"private": {"gte": 1}}, False),
        ({"private": {"in": [1]}}, False),
        ({"tags": {"contains": True}}, False),
        ({"tags": ["red", True]}, False),
        # a missing field meets only ne, nin and exists: False
        ({"missing": None}, False),
        ({"missing": {"ne": 1}}, True),
        ({"missing": {"nin": [1]}}, True),
        ({"missing": {"exists": False}}, True),
        ({"missing": {"exists": True}}, False),
        ({"missing": {"lt": 9}}, False),
        ({"NOT": {"missing": {"lt": 9}}}, True),
        # dots
        ({"author.name": "Ana"}, True),
        ({"author.home.city": {"in": ["Lisbon"]}}, True),
        ({"author.home.street": {"exists": False}}, True),
        ({"topic.name": {"exists": False}}, True),
        ({"a.b": "dotted"}, True),
        ({"": "blank"}, True),
        ({"author": {"eq": {"name": "Ana", "home": {"city": "Lisbon"}}}}, True),
        # logic
        ({"OR": [{"topic": "play"}, {"NOT": {"stars": 5}}]}, True),
        ({"AND": [{"topic": "work"}, {"stars": 5}]}, False),
        ({"topic": "work", "OR": [{"stars": 1}, {"stars": 2}]}, False),
    ],
)
def test_filters(expression: Any, met: bool) -> None:
    assert compile_filter(expression)(ANA) is met


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        (None, "None"),
        ([], "object"),
        ("topic", "topic"),
        ({"topic": {"like": "w"}}, "like"),
        ({"topic": {"$eq": "w"}}, "there are: eq"),
        ({"topic": {}}, "topic"),
        ({"topic": {"in": "work"}}, "list"),
        ({"topic": {"exists": "no"}}, "true or false"),
        ({"AND": []}, "AND"),
        ({"OR": {"topic": 1}}, "OR"),
        ({"OR": ["topic"]}, "object"),
        ({"NOT": [{"topic": 1}]}, "object"),
        ({1: 2}, "name of a field"),
        ({"topic": {1: 2}}, "unknown operator 1"),
    ],
)
def test_a_filter_that_means_nothing_is_refused_by_name(expression: Any, named: str) -> None:
    with pytest.raises(InvalidFilter, match=re.escape(named)):
        compile_filter(expression)


def test_deep_and_large_expressions_are_refused_with_a_short_message() -> None:
    nots: Any = {}
    lists: Any = []
    for _ in range(10 * sys.getrecursionlimit()):
        nots, lists = {"NOT": nots}, [lists]
    for expression in (nots, lists, {"OR": [nots]}, {"AND": {"x": lists}}, {"x" * 10**6: {"like": 1}}):
        with pytest.raises(InvalidFilter) as error:
            compile_filter(expression)
        assert len(str(error.value)) < 500


def test_as_deep_as_allowed() -> None:
    expression: Any = {"topic": "work"}
    for _ in range(32):
        expression = {"NOT": expression}
    assert compile_filter(expression)(ANA)
    with pytest.raises(InvalidFilter, match="nested"):
        compile_filter({"NOT": expression})


@pytest.mark.parametrize(
    "name", ["__class__", "topic.__class__", "__import__('os').system('x')", "a\0b", "\ud800", "."]
)
def test_names_are_only_looked_up(name: str) -> None:
    assert compile_filter({name: {"exists": False}})(ANA)
    assert compile_filter({name: "x"})({name: "x"})


def test_nothing_is_ever_evaluated() -> None:
    assert not {"eval", "exec", "compile", "getattr", "__import__"} & set(filters.__dict__)
    assert compile_filter({"x": "1+1"})({"x": "1+1"})
    assert not compile_filter({"x": "1+1"})({"x": 2})


# an independent reading ----------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c", "a.b"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2), st.sampled_from([0.5, 1.0]), st.sampled_from(["", "a", "ab"])
)
values = st.one_of(scalars, st.lists(scalars, max_size=2))
metadata = st.dictionaries(names, st.one_of(values, st.dictionaries(st.just("b"), values)), max_size=3)
operators = st.one_of(
    st.tuples(st.sampled_from(["eq", "ne", "gt", "gte", "lt", "lte", "contains"]), values),
    st.tuples(st.sampled_from(["in", "nin"]), st.lists(scalars, max_size=3)),
    st.tuples(st.just("exists"), st.booleans()),
)
leaves = st.dictionaries(names, st.one_of(values, st.lists(operators, min_size=1, max_size=2).map(dict)), max_size=2)
expressions = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"AND": parts}),
        st.lists(inner, min_size=1, max_size=2).map(lambda parts: {"OR": parts}),
        inner.map(lambda part: {"NOT": part}),
    ),
    max_leaves=4,
)


def typed(value: Any) -> Any:
    """Equal exactly when two JSON values are: booleans apart from numbers."""
    if isinstance(value, list):
        return ("list", *map(typed, value))
    if isinstance(value, dict):
        return ("dict", *sorted((key, typed(one)) for key, one in value.items()))
    return ("bool" if isinstance(value, bool) else "number" if isinstance(value, int | float) else type(value), value)


def meets(expression: Any, given: Any) -> bool:
    for name, wanted in expression.items():
        if name in ("AND", "OR"):
            met = [meets(part, given) for part in wanted]
            result = all(met) if name == "AND" else any(met)
        elif name == "NOT":
            result = not meets(wanted, given)
        else:
            tests = wanted if isinstance(wanted, dict) else {"eq": wanted}
            result = all(holds(which, look_up(given, name), operand) for which, operand in tests.items())
        if not result:
            return False
    return True


MISSING = object()


def look_up(given: Any, name: str) -> Any:
    if name in given:
        return given[name]
    first, _, rest = name.partition(".")
    inner = given.get(first, MISSING)
    return look_up(inner, rest) if rest and isinstance(inner, dict) else MISSING


def holds(which: str, value: Any, operand: Any) -> bool:
    if which == "exists":
        return (value is not MISSING) == operand
    if which == "ne":
        return not holds("eq", value, operand)
    if which == "nin":
        return not holds("in", value, operand)
    if value is MISSING:
        return False
    if which == "eq":
        return typed(value) == typed(operand)
    if which == "in":
        return typed(value) in [typed(one) for one in operand]
    if which == "contains":
        if isinstance(value, str):
            return isinstance(operand, str) and operand in value
        return isinstance(value, list) and typed(operand) in [typed(one) for one in value]
    kind, other = typed(value)[0], typed(operand)[0]
    if kind != other or kind not in ("number", str):
        return False
    return {"gt": value > operand, "gte": value >= operand, "lt": value < operand, "lte": value <= operand}[which]


@given(expressions, metadata)
def test_equals_an_independent_evaluator(expression: Any, given: Any) -> None:
    assert compile_filter(expression)(given) is meets(expression, given)
