"""Writes the reference from the code: ``docs/reference/python.md``, ``rest.md`` and ``mcp.md``.

    python scripts/reference.py            writes them; a test compares

What a method takes and may raise stands in its docstring and signature, what a request looks like in the OpenAPI
document, what a tool takes in the MCP server: here all of it is put on pages, and nothing is added. The commands are in
``docs/cli.md``, which a test compares with what they take.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import mnemic
from mnemic import Memory
from mnemic.service.app import create
from mnemic.service.docstrings import entries
from mnemic.service.mcp import RESOURCES, TEMPLATES
from mnemic.service.mcp_tools import TOOLS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
_SECTION = re.compile(r"^(?:Args|Attributes|Returns|Raises|Yields):$", re.MULTILINE)
_TAKEN = "Made from the code by `scripts/reference.py`; change the code, not this page."
_METHODS = ("get", "post", "patch", "put", "delete")


def pages() -> dict[str, str]:
    """File -> its text."""
    return {"python.md": python(), "rest.md": rest(), "mcp.md": mcp()}


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


# Python ------------------------------------------------------------------------------------------------------


def python() -> str:
    """Every public name: ``Memory``'s methods one by one, then what they take and return."""
    parts = ["# Reference: Python", _TAKEN, "`AsyncMemory` has the methods of `Memory`, to await."]
    parts += ["## Memory", prose(Memory)]
    for name, method in sorted(inspect.getmembers(Memory, callable)):
        if not name.startswith("_"):
            parts += [f"### {name}", *described(method, name)]
    for name in sorted(mnemic.__all__):
        found = getattr(mnemic, name)
        if inspect.isclass(found) and found is not Memory and name != "AsyncMemory":
            parts += [f"## {name}", prose(found), *fields(found)]
    return joined(parts)


def described(method: Callable[..., object], name: str) -> Iterator[str]:
    signature = inspect.signature(method)
    taken = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    lines = ""
    for before, one in zip((None, *taken), taken, strict=False):
        if one.kind is one.KEYWORD_ONLY and (before is None or before.kind is not one.KEYWORD_ONLY):
            lines += "    *,\n"
        lines += f"    {written(one)},\n"
    returned = (
        "" if signature.return_annotation is inspect.Signature.empty else f" -> {plain(signature.return_annotation)}"
    )
    yield f"```python\n{name}(\n{lines}){returned}\n```" if lines else f"```python\n{name}(){returned}\n```"
    yield prose(method)
    if told := entries(method, "Args"):
        yield "\n".join(f"* `{argument}`: {text}" for argument, text in told.items())
    for section in ("Returns", "Yields", "Raises"):
        if text := told_under(method, section):
            yield f"*{section}:* {text}"


def fields(found: type) -> Iterator[str]:
    if not dataclasses.is_dataclass(found):
        return
    told = entries(found, "Attributes")
    rows = [
        f"| `{one.name}` | `{cell(plain(one.type))}` | {default(one)} | {cell(told.get(one.name, ''))} |"
        for one in dataclasses.fields(found)
        if not one.name.startswith("_")
    ]
    yield "| field | type | default | |\n| --- | --- | --- | --- |\n" + "\n".join(rows)


def default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"`{cell(repr(field.default))}`"
    return "" if field.default_factory is dataclasses.MISSING else f"`{cell(repr(field.default_factory()))}`"


def written(one: inspect.Parameter) -> str:
    """A parameter as it stands in a signature, without the name of a default that is a function."""
    kind = "" if one.annotation is inspect.Parameter.empty else f": {plain(one.annotation)}"
    if one.default is inspect.Parameter.empty:
        return f"{one.name}{kind}"
    return f"{one.name}{kind} = {'…' if callable(one.default) else repr(one.default)}"


def plain(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def prose(documented: object) -> str:
    """A docstring down to its first section, a paragraph a line."""
    text = _SECTION.split(inspect.getdoc(documented) or "")[0].strip()
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")).replace("``", "`")


def told_under(documented: object, section: str) -> str:
    text = inspect.getdoc(documented) or ""
    start = re.search(rf"^{section}:$", text, re.MULTILINE)
    if start is None:
        return ""
    return " ".join(_SECTION.split(text[start.end() :])[0].split()).replace("``", "`")


# REST --------------------------------------------------------------------------------------------------------


def rest() -> str:
    """Every operation of the OpenAPI document: what it takes, and what it answers."""
    with tempfile.TemporaryDirectory() as folder, Memory.open(Path(folder) / "m.db", embedder=None) as memory:
        document = create(memory).openapi()
    parts = ["# Reference: REST", _TAKEN, "The document itself is at `/openapi.json` of every server."]
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                parts += [f"## {method.upper()} {path}", *operation(methods[method], document)]
    return joined(parts)


def operation(found: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[str]:
    yield found.get("description", found.get("summary", ""))
    rows = [
        (one["name"], one["in"], one["schema"], one.get("required", False), one.get("description", ""))
        for one in found.get("parameters", ())
    ]
    for media in found.get("requestBody", {}).get("content", {}).values():
        body = resolved(media.get("schema", {}), document)
        needed = body.get("required", ())
        rows += [
            (name, "body", schema, name in needed, schema.get("description", ""))
            for name, schema in body.get("properties", {}).items()
        ]
    if rows:
        head = "| name | in | type | default | |\n| --- | --- | --- | --- | --- |\n"
        yield head + "\n".join(
            f"| `{name}` | {place} | {kind(schema)} | {'required' if needed else shown(schema)} | {cell(text)} |"
            for name, place, schema, needed, text in rows
        )
    yield "Answers: " + ", ".join(f"{status}{answered(reply)}" for status, reply in sorted(found["responses"].items()))


def answered(reply: Mapping[str, Any]) -> str:
    for media, content in reply.get("content", {}).items():
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        return f" (`{name or media}`)"
    return ""


def resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def kind(schema: Mapping[str, Any]) -> str:
    """A schema in a few words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if several := schema.get("anyOf") or schema.get("oneOf"):
        return " or ".join(dict.fromkeys(kind(one) for one in several))
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))


def shown(schema: Mapping[str, Any]) -> str:
    return f"`{cell(json.dumps(schema['default'], ensure_ascii=False))}`" if "default" in schema else ""


# MCP ---------------------------------------------------------------------------------------------------------


def mcp() -> str:
    """Every tool and resource of the MCP server."""
    parts = ["# Reference: MCP", _TAKEN, "The tools and resources of `mnemic mcp` and of `/mcp`."]
    for name, tool in TOOLS.items():
        does = (
            "destroys what it is told to"
            if tool.destroys
            else "repeated, it changes nothing more"
            if tool.repeats
            else ""
        )
        needs = f"Needs the scope `{tool.right}`" + (f"; {does}." if does else ".")
        parts += [f"## {name}", prose_of(tool.description), needs, *tool_arguments(tool.takes.schema_sent())]
    rows = [f"| `{one.uri}` | {cell(one.description or '')} |" for one in RESOURCES]
    rows += [f"| `{one.uri_template}` | {cell(one.description or '')} |" for one in TEMPLATES]
    return joined([*parts, "## Resources", "| address | |\n| --- | --- |\n" + "\n".join(rows)])


def tool_arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    needed = schema.get("required", ())
    rows: list[str] = []
    for name, one in schema.get("properties", {}).items():
        given = "required" if name in needed else shown(one)
        rows.append(f"| `{name}` | {kind(one)} | {given} | {cell(one.get('description', ''))} |")
    if rows:
        yield "| argument | type | default | |\n| --- | --- | --- | --- |\n" + "\n".join(rows)


def prose_of(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").split("\n\n"))


# both --------------------------------------------------------------------------------------------------------


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    main()
