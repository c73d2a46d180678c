"""The filter language over a turn's metadata. Data only: nothing in it is ever evaluated.

    {"topic": "work"}                                  equality
    {"stars": {"gte": 3, "lt": 5}, "lang": {"in": ["en", "de"]}}    several conditions are all met
    {"OR": [{"topic": "work"}, {"NOT": {"private": True}}]}         AND, OR take a list, NOT one filter

Operators: eq ne gt gte lt lte in nin contains icontains exists. A missing field meets only ``ne``, ``nin`` and
``exists: False``. A dot reaches into nested objects (``author.name``) where no field has the dotted name itself.
"""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Callable

from mnemic.errors import InvalidFilter
from mnemic.types import Json, Metadata

Predicate = Callable[[Metadata], bool]
Test = Callable[[Json, Json], bool]
_MAX_DEPTH = 32


def compile_filter(expression: Json) -> Predicate:
    """Check an expression once and return a function from metadata to whether they meet it.

    Raises:
        InvalidFilter: Names the part that is wrong and what is allowed there.
    """
    return _all(expression, 0)


def _all(expression: Json, depth: int) -> Predicate:
    if not isinstance(expression, dict):
        raise InvalidFilter(f"a filter is an object of conditions, not {_shown(expression)}")
    if depth > _MAX_DEPTH:
        raise InvalidFilter(f"a filter may be nested at most {_MAX_DEPTH} deep")
    parts = [_condition(name, wanted, depth) for name, wanted in expression.items()]
    return lambda metadata: all(part(metadata) for part in parts)


def _condition(name: str, wanted: Json, depth: int) -> Predicate:
    if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without types
        raise InvalidFilter(f"the name of a field is a string, not {_shown(name)}")
    if name in ("AND", "OR"):
        if not isinstance(wanted, list) or not wanted:
            raise InvalidFilter(f"{name} takes a list of filters, not {_shown(wanted)}")
        parts = [_all(part, depth + 1) for part in wanted]
        combine = all if name == "AND" else any
        return lambda metadata: combine(part(metadata) for part in parts)
    if name == "NOT":
        inner = _all(wanted, depth + 1)
        return lambda metadata: not inner(metadata)
    if isinstance(wanted, dict) and not wanted:
        raise InvalidFilter(f"the condition on {_shown(name)} is an empty object; it takes a value or operators")
    operators = wanted if isinstance(wanted, dict) else {"eq": wanted}
    tests = [_operation(name, operator_name, operand) for operator_name, operand in operators.items()]
    return lambda metadata: all(test(_values(metadata, name)) for test in tests)


def _operation(name: str, operator_name: str, operand: Json) -> Callable[[list[Json]], bool]:
    """A test of a field's value, given as a list that is empty when the field is missing."""
    if operator_name == "exists":
        if not isinstance(operand, bool):
            raise InvalidFilter(f"'exists' for {_shown(name)} takes true or false, not {_shown(operand)}")
        return lambda found: bool(found) == operand
    negated = operator_name in ("ne", "nin")
    test = _TESTS.get({"ne": "eq", "nin": "in"}.get(operator_name, operator_name))
    if test is None:
        allowed = ", ".join([*_TESTS, "ne", "nin", "exists"])
        raise InvalidFilter(f"unknown operator {_shown(operator_name)} for {_shown(name)}; there are: {allowed}")
    if operator_name in ("in", "nin"):
        if not isinstance(operand, list):
            raise InvalidFilter(f"{operator_name!r} for {_shown(name)} takes a list, not {_shown(operand)}")
        is_listed = _listed(operand)
        return lambda found: any(map(is_listed, found)) != negated
    return lambda found: any(test(value, operand) for value in found) != negated


def _values(metadata: Metadata, name: str) -> list[Json]:
    if name in metadata:
        return [metadata[name]]
    value: Json = dict(metadata)
    for key in name.split("."):
        if not isinstance(value, dict) or key not in value:
            return []
        value = value[key]
    return [value]


def _shown(value: Json) -> str:
    """For an error message, however large or deep the value is."""
    return reprlib.repr(value)


def _equal(value: Json, operand: Json) -> bool:
    """JSON equality: true is not 1, at any depth."""
    if isinstance(value, dict) and isinstance(operand, dict):
        return value.keys() == operand.keys() and all(_equal(value[key], operand[key]) for key in value)
    if isinstance(value, list) and isinstance(operand, list):
        return len(value) == len(operand) and all(map(_equal, value, operand))
    return isinstance(value, bool) == isinstance(operand, bool) and value == operand


def _listed(values: list[Json]) -> Callable[[Json], bool]:
    """Whether a value is equal to one of a list, in constant time where it is no container."""
    scalars = {(isinstance(one, bool), one) for one in values if not isinstance(one, list | dict)}
    containers: list[Json] = [one for one in values if isinstance(one, list | dict)]

    def test(value: Json) -> bool:
        if isinstance(value, list | dict):
            return _among(value, containers)
        return (isinstance(value, bool), value) in scalars

    return test


def _ordered(compare: Callable[[float | str, float | str], bool]) -> Test:
    """Numbers compare with numbers and texts with texts; anything else, true and false too, meets no order."""

    def test(value: Json, operand: Json) -> bool:
        if isinstance(value, str) and isinstance(operand, str):
            return compare(value, operand)
        if isinstance(value, bool) or isinstance(operand, bool):
            return False
        return isinstance(value, int | float) and isinstance(operand, int | float) and compare(value, operand)

    return test


def _among(value: Json, operand: Json) -> bool:
    return isinstance(operand, list) and any(_equal(value, one) for one in operand)


def _contains(value: Json, operand: Json) -> bool:
    if isinstance(value, str) and isinstance(operand, str):
        return operand in value
    return _among(operand, value)


def _contains_in_any_case(value: Json, operand: Json) -> bool:
    return _contains(_folded(value), _folded(operand))


def _folded(value: Json) -> Json:
    if isinstance(value, list):
        return [one.casefold() if isinstance(one, str) else one for one in value]
    return value.casefold() if isinstance(value, str) else value


_TESTS: dict[str, Test] = {
    "eq": _equal,
    "gt": _ordered(operator.gt),
    "gte": _ordered(operator.ge),
    "lt": _ordered(operator.lt),
    "lte": _ordered(operator.le),
    "in": _among,
    "contains": _contains,
    "icontains": _contains_in_any_case,
}
