"""The OpenAPI document: what FastAPI makes of the routes, with the problems and an example of each operation."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from mnemic.service import events
from mnemic.service.examples import examples
from mnemic.service.shapes import Problem

_ABOUT = """Long-term memory for agents that never loses the words.

Every operation under `/v1` is a method of `Memory` in Python, with its names and defaults. It needs an API key
(`Authorization: Bearer mnemic_…`, made by `mnemic keys create`), which opens one tenant's users, and reads (`read`),
adds and changes (`write`), erases (`erase`) or sees all users of the tenant (`admin`). What is another tenant's is what
does not exist. Errors are problems (RFC 9457)."""


def describe(app: FastAPI) -> None:
    """Have an application describe itself."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = document


def _document(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(title=app.title, version=app.version, description=_ABOUT, routes=app.routes)
    schemas = found["components"]["schemas"]
    problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= problem.pop("$defs", {}) | {"Problem": problem}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            _exemplify(operation, f"{method.upper()} {path}")
    return found


def _exemplify(operation: dict[str, Any], name: str) -> None:
    """Add an operation's example: of its request, its parameters and its reply."""
    example = examples().get(name)
    if example is None:
        return
    if example.body is not None:
        for content in operation["requestBody"]["content"].values():
            content["example"] = example.body
    for parameter in operation.get("parameters", ()):
        if parameter["name"] in example.parameters:
            parameter["example"] = example.parameters[parameter["name"]]
    for status in ("200", "201"):
        for media_type, content in operation["responses"].get(status, {}).get("content", {}).items():
            if media_type != events.MEDIA_TYPE:
                content["example"] = example.reply
