"""The filter language: an expression compiles or is refused by name; what compiles decides about any metadata."""

from __future__ import annotations

from typing import Any

from fuzz.given import Given
from mnemic.algo.filters import compile_filter
from mnemic.errors import InvalidFilter

OPERATORS = ("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "icontains", "exists")
FIELDS = ("a", "b", "a.b", "b.a.b", "", ".")
WORDS = (*OPERATORS, "AND", "OR", "NOT")
VALUES = ("a", "A", "1", "", "ß", "ss", "İ")
SEEDS = (bytes(range(256)), bytes(reversed(range(256))), b"\xff" * 64)


def check(data: bytes) -> None:
    """See the module."""
    given = Given(data)
    expression = _expression(given, 3)
    metadata = given.object(FIELDS, VALUES, depth=3)
    try:
        meets = compile_filter(expression)
    except InvalidFilter as error:
        assert str(error)
        _refused_in_company(expression)
        return
    met = meets(metadata)
    assert met is meets(metadata)
    assert compile_filter({"NOT": expression})(metadata) is not met
    assert compile_filter({"AND": [expression, {}]})(metadata) is met
    assert compile_filter({"OR": [expression, {"NOT": {}}]})(metadata) is met
    # All conditions of an object are met together.
    assert met is all(compile_filter({name: wanted})(metadata) for name, wanted in expression.items())
    _operators_agree(given.text(FIELDS), given.value(FIELDS, VALUES, 2), metadata)


def _expression(given: Given, depth: int) -> Any:
    """Mostly a filter, sometimes something else."""
    if not given.number(0, 15):
        return given.value(WORDS, VALUES, 2)
    return dict(_condition(given, depth) for _ in range(given.number(0, 3)))


def _condition(given: Given, depth: int) -> tuple[str, Any]:
    kind = given.number(0, 7) if depth else given.number(3, 7)
    if kind < 2:
        return given.one(("AND", "OR")), [_expression(given, depth - 1) for _ in range(given.number(0, 3))]
    if kind == 2:
        return "NOT", _expression(given, depth - 1)
    if kind == 3:
        return given.text(FIELDS), given.value(FIELDS, VALUES, 2)
    name = given.text(FIELDS)
    return name, {given.text(OPERATORS): _operand(given) for _ in range(given.number(0, 3))}


def _operand(given: Given) -> Any:
    if given.number(0, 2):
        return given.value(FIELDS, VALUES, 2)
    return [given.value(FIELDS, VALUES, 1) for _ in range(given.number(0, 4))]


def _refused_in_company(expression: object) -> None:
    """What is wrong stays wrong inside of what is right."""
    for around in ({"NOT": expression}, {"AND": [{}, expression]}, {"OR": [{}, expression]}):
        try:
            compile_filter(around)  # pyright: ignore[reportArgumentType] - whatever it is
        except InvalidFilter:
            continue
        raise AssertionError(f"accepted inside of another: {expression!r}")


def _operators_agree(name: str, value: Any, metadata: dict[str, Any]) -> None:
    def met(operator: str, operand: object) -> bool:
        return compile_filter({name: {operator: operand}})(metadata)  # pyright: ignore[reportArgumentType]

    if name in ("AND", "OR", "NOT"):
        return
    there = met("exists", True)
    assert met("exists", False) is not there
    assert met("eq", value) is met("in", [value]) is not met("ne", value)
    assert met("in", [value, 5]) is (met("eq", value) or met("eq", 5)) is not met("nin", [value, 5])
    assert there or not met("eq", value)
    assert not (met("lt", value) and met("gte", value))
    if met("gte", value) and not isinstance(value, list | dict):
        assert met("gt", value) or met("eq", value)
    if name in metadata:
        assert met("eq", metadata[name])
    if met("contains", value) and isinstance(value, str):
        assert met("icontains", value)
