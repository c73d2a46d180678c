"""REST is ``Memory``: every method has a route, with the same names and defaults."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from mnemic import Memory
from mnemic.service.tenant_memory import TenantMemory
from service_kit import served

ROUTES = {
    "add": "POST /v1/memories",
    "add_notes": "POST /v1/notes",
    "answer": "POST /v1/answer",
    "answer_stream": "POST /v1/answer",
    "approve": "POST /v1/proposals/{note_id}/approve",
    "check": "GET /v1/check",
    "confirm": "POST /v1/notes/{note_id}/confirm",
    "context": "POST /v1/context",
    "cues": "GET /v1/cues",
    "delete": "DELETE /v1/memories/{turn_id}",
    "delete_all": "DELETE /v1/memories",
    "diff": "GET /v1/diff",
    "discard": "POST /v1/quarantine/{id}/discard",
    "erase": "POST /v1/erase",
    "enrich": "POST /v1/enrich",
    "episodes": "GET /v1/episodes",
    "evolution": "GET /v1/evolution",
    "export": "GET /v1/export",
    "forget": "POST /v1/forget",
    "get": "GET /v1/memories/{id}",
    "get_all": "GET /v1/memories",
    "history": "GET /v1/memories/{id}/history",
    "neighbours": "GET /v1/cues/{key}/neighbours",
    "notes": "GET /v1/notes",
    "notice": "GET /v1/notice",
    "proposals": "GET /v1/proposals",
    "quarantine": "GET /v1/quarantine",
    "release": "POST /v1/quarantine/{id}/release",
    "reflect": "POST /v1/reflect",
    "reject": "POST /v1/proposals/{note_id}/reject",
    "retract": "POST /v1/notes/{note_id}/retract",
    "restore": "POST /v1/notes/{note_id}/restore",
    "retry": "POST /v1/retry",
    "search": "POST /v1/search",
    "sessions": "GET /v1/sessions",
    "status": "GET /v1/status",
    "traces": "GET /v1/traces",
    "undo": "POST /v1/operations/{operation_id}/undo",
    "update": "PATCH /v1/memories/{turn_id}",
    "users": "GET /v1/users",
    "wait": "POST /v1/wait",
}
NOT_SERVED = {
    "open": "a server serves one database",
    "close": "the process ends",
    "warm": "the server does it when it starts",
    "recover": "POST /v1/import of an export does it",
    "backup": "it writes a file on the server's machine, of all tenants: mnemic backup",
    "reembed": "it changes the database for everybody: mnemic reembed",
}
# What a route has otherwise than the method, and why.
OTHERWISE = {
    ("get_all", "after"): "cursor",  # a page goes on by a cursor
    ("notes", "after"): "cursor",
    ("history", "after"): "cursor",
    ("delete", "session_id"): None,  # DELETE /v1/sessions/{session_id}
    ("wait", "progress"): None,  # a function
    ("undo", "run"): None,  # POST /v1/runs/{run}/undo
    ("restore", "as_of"): None,  # POST /v1/restore
}
OF_PAGES = {"cursor"}
HEADERS = {"Idempotency-Key"}


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    with served(tmp_path_factory.mktemp("parity"), embedder=None) as here:
        return here.app.openapi()


def given(document, route):
    """name -> default of what a route takes; ``...`` where it has to be given."""
    method, path = route.split(" ")
    operation = document["paths"][path][method.lower()]
    found = {
        one["name"]: ... if one["required"] else one["schema"].get("default")
        for one in operation.get("parameters", ())
        if one["in"] != "header"
    }
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        model = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
        required = model.get("required", [])
        found |= {name: ... if name in required else one.get("default") for name, one in model["properties"].items()}
    return found


def test_every_method_is_served_or_has_a_reason_not_to_be():
    public = {name for name in dir(Memory) if not name.startswith("_")}
    assert public == {*ROUTES, *NOT_SERVED}


@pytest.mark.parametrize("verb", ROUTES)
def test_a_route_takes_what_its_method_takes_with_the_same_defaults(document, verb):
    arguments = {
        OTHERWISE.get((verb, name), name): ... if one.default is inspect.Parameter.empty else one.default
        for name, one in inspect.signature(getattr(Memory, verb)).parameters.items()
        if name != "self"
    }
    arguments.pop(None, None)
    route = given(document, ROUTES[verb])
    path_only = {name for name in route if "{" + name + "}" in ROUTES[verb]}
    assert set(route) - OF_PAGES == set(arguments) - OF_PAGES
    for name, default in arguments.items():
        if name not in path_only:
            assert route[name] == (list(default) if isinstance(default, tuple) else default), name


@pytest.mark.parametrize("verb", [*(verb for verb in ROUTES if verb != "check"), "recover"])
def test_a_tenants_memory_has_the_same_methods(verb):
    assert taken(TenantMemory, verb) == taken(Memory, verb)


def taken(kind, verb):
    """A method's signature, all functions in it taken for the same: two of them are never equal."""
    signature = inspect.signature(getattr(kind, verb))
    alike = [
        one.replace(default=callable) if inspect.isfunction(one.default) else one
        for one in signature.parameters.values()
    ]
    return signature.replace(parameters=alike)


def test_every_argument_of_a_body_is_described(document):
    for name in ("Add", "AddNotes", "Ask", "Context", "Erase", "Forget", "Reflect", "Retract", "Search", "Wait"):
        for argument, schema in document["components"]["schemas"][name]["properties"].items():
            assert schema.get("description") or argument in ("user_id", "max_tokens"), (name, argument)


def test_every_parameter_is_described(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for one in operation.get("parameters", ()):
                assert one.get("description"), (method, path, one["name"])


def test_every_operation_has_an_example(document):
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            ok = operation["responses"].get("200") or operation["responses"]["201"]
            assert any("example" in content for content in ok["content"].values()), (method, path)
            if "requestBody" in operation:
                assert all("example" in content for content in operation["requestBody"]["content"].values())


def test_the_page_has_every_route_and_no_other(document):
    page = (Path(__file__).parents[2] / "docs" / "rest.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([A-Z]+ /\S+)` \|", page, flags=re.MULTILINE)
    served = {f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods}
    assert sorted(listed) == sorted(served)
