"""A key opens one tenant, for what its scopes say: what is another's is what does not exist."""

from __future__ import annotations

import json

import pytest

from mnemic.service import leak_probes, leaks
from mnemic.service.mcp import RESOURCES, TEMPLATES
from mnemic.service.mcp_tools import TOOLS
from mnemic.service.tenant_memory import TenantMemory
from service_kit import ALL, served

ANA = {"user_id": "ana"}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    with served(tmp_path_factory.mktemp("tenants"), embedder=None) as one:
        for tenant in ("acme", "other", "default"):
            body = {"messages": [{"id": f"{tenant}-1", "role": "user", "content": f"I work for {tenant}."}], **ANA}
            assert one.client(tenant).post("/v1/memories", json=body).status_code == 201
        yield one


def test_each_tenant_has_its_own_ana(here):
    for tenant in ("acme", "other", "default"):
        found = here.client(tenant).get("/v1/memories", params=ANA).json()["memories"]
        assert [one["turn_id"] for one in found] == [f"{tenant}-1"]
    assert here.memory.users() == ["ana", "tenant/acme/ana", "tenant/other/ana"]


@pytest.mark.fault("B103")
def test_what_is_anothers_is_what_does_not_exist(here):
    client = here.client("acme")
    for method, path, body in (
        ("GET", "/v1/memories/{}", None),
        ("DELETE", "/v1/memories/{}", None),
        ("PATCH", "/v1/memories/{}", {"metadata": {}, **ANA}),
        ("DELETE", "/v1/sessions/{}", None),
    ):
        params = ANA if body is None else {}
        there = client.request(method, path.format("other-1"), params=params, json=body)
        nowhere = client.request(method, path.format("never-1"), params=params, json=body)
        assert there.status_code == nowhere.status_code == 404
        assert there.text.replace("other-1", "never-1") == nowhere.text


def test_errors_name_users_as_the_caller_does(here):
    text = here.client("acme").get("/v1/memories/never", params=ANA).json()["detail"]
    assert text == "user 'ana' has no turn, trace, note or episode 'never'"


@pytest.mark.parametrize("tenant", ["default", "acme"])
def test_a_stored_id_of_another_tenant_leads_nowhere(here, tenant):
    for user in ("tenant/other/ana", "tenant/never/ana"):
        found = here.client(tenant).get("/v1/memories", params={"user_id": user})
        if tenant == "default":
            assert (found.status_code, found.json()["detail"]) == (
                422,
                "user_id must not begin with 'tenant/': ids of other tenants do",
            )
        else:
            assert found.json() == {"memories": [], "next": None}


def test_only_the_tenants_own_users_are_listed(here):
    assert here.client("acme").get("/v1/users").json() == {"users": ["ana"]}
    assert here.client("default").get("/v1/users").json() == {"users": ["ana"]}


def test_sizes_of_the_database_are_for_who_runs_the_server(here):
    for params in ({}, ANA):
        mine = here.client("acme").get("/v1/status", params=params).json()
        whole = here.client("default").get("/v1/status", params=params).json()
        assert (mine["users"], mine["size_bytes"], mine["index_bytes"]) == (1, 0, 0)
        assert (whole["users"], whole["size_bytes"] > 0) == (3, True)
    limited = here.client("default", scopes=("read",)).get("/v1/status", params=ANA).json()
    assert (limited["users"], limited["size_bytes"]) == (1, 0)
    for path in ("/metrics", "/v1/check"):
        assert here.client("acme").get(path).status_code == 403
        assert here.client("default").get(path).status_code == 200


SCOPES = {
    ("GET", "/v1/memories?user_id=ana"): "read",
    ("POST", "/v1/search"): "read",
    ("GET", "/v1/export?user_id=ana"): "read",
    ("GET", "/v1/notice?user_id=ana"): "read",
    ("GET", "/v1/sessions?user_id=ana"): "read",
    ("GET", "/v1/traces?user_id=ana"): "read",
    ("GET", "/v1/cues?user_id=ana"): "read",
    ("GET", "/v1/cues/never/neighbours?user_id=ana"): "read",
    ("POST", "/v1/memories"): "write",
    ("POST", "/v1/forget"): "write",
    ("POST", "/v1/notes/N99/confirm"): "write",
    ("POST", "/v1/notes/N99/retract"): "write",
    ("POST", "/v1/import?user_id=ana"): "write",
    ("POST", "/v1/wait"): "write",
    ("DELETE", "/v1/memories?user_id=nobody"): "erase",
    ("DELETE", "/v1/memories/never?user_id=ana"): "erase",
    ("GET", "/v1/users"): "admin",
    ("GET", "/v1/status"): "admin",
}
BODIES = {
    "/v1/search": {"query": "work", **ANA},
    "/v1/memories": {"messages": [], **ANA},
    "/v1/forget": {"max_notes": 100, **ANA},
    "/v1/wait": ANA,
    "/v1/notes/N99/confirm": ANA,
    "/v1/notes/N99/retract": ANA,
}


@pytest.mark.parametrize(("request_", "scope"), SCOPES.items(), ids=str)
def test_a_key_without_the_scope_is_refused_and_one_with_it_alone_is_not(here, request_, scope):
    method, path = request_
    sent = {"json": BODIES[path]} if path in BODIES else {"content": b"[]"} if "import" in path else {}
    without = here.client("acme", scopes=[one for one in ALL if one != scope]).request(method, path, **sent)
    assert (without.status_code, without.json()["type"]) == (403, "urn:mnemic:NotAllowed")
    assert f"'{scope}'" in without.json()["detail"]
    assert here.client("acme", scopes=[scope]).request(method, path, **sent).status_code not in (401, 403)


def test_a_search_that_writes_needs_the_scope_to_write(here):
    body = {"query": "work", "mode": "best_effort", "evolve": True, **ANA}
    assert here.client("acme", scopes=["read"]).post("/v1/search", json=body).status_code == 403
    assert here.client("acme", scopes=["read", "write"]).post("/v1/search", json=body).status_code == 200


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer ", "Basic abc", "Bearer mnemic_0_x", "bearer é"])
def test_no_key_and_no_good_key_are_refused(here, header):
    client = here.client(key="")
    headers = {} if header is None else {"Authorization": header.encode()}
    refused = client.get("/v1/memories", params=ANA, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert json.loads(refused.text)["type"] == "urn:mnemic:KeyRefused"


# the leak test that ships ----------------------------------------------------------------------------------


ONE = leaks.PAIRS[:1]
"""All that is tried is tried for one pair of tenants as for another."""
METHODS = [name for name in vars(TenantMemory) if not name.startswith("_") and name != "unveiling"]


class Watched:
    """One run of the whole leak test, and what each surface tried: paths, and methods of a tenant's memory."""

    def __init__(self):
        self.paths = {}
        self.methods = {}
        self.routes = set()
        with pytest.MonkeyPatch.context() as patch:
            for name in METHODS:
                patch.setattr(TenantMemory, name, self._noted(name, getattr(TenantMemory, name)))
            self.tried = leaks.run(self._surfaces, rounds=1)

    def _noted(self, name, method):
        def call(memory, *args, **kwargs):
            self.methods[self._trying].add(name)
            return method(memory, *args, **kwargs)

        return call

    def _surfaces(self, memory, client):
        for path, operations in client.app.openapi()["paths"].items():
            self.routes |= {f"{method.upper()} {path}" for method in operations}
        return {name: self._watched(name, surface) for name, surface in leaks.standard(memory, client).items()}

    def _watched(self, name, surface):
        paths = self.paths[name] = set()
        self.methods[name] = set()

        def read(key, own, other, chance):
            self._trying = name
            for path, came in surface(key, own, other, chance):
                paths.add(path)
                yield path, came

        return read


@pytest.fixture(scope="module")
def watched():
    return Watched()


@pytest.mark.fault("B103")
@pytest.mark.fault("B095")
def test_nothing_crosses(watched):
    tried = watched.tried
    assert (tried.leaks, tried.blind) == ((), ())
    assert set(tried.reads) == {"python", "rest", "mcp"}
    assert min(tried.reads.values()) > 500


def test_python_is_tried_by_every_method(watched):
    assert watched.methods["python"] == set(METHODS)


def test_rest_and_mcp_are_tried_by_every_route_tool_and_resource(watched):
    rest, mcp = watched.paths["rest"], watched.paths["mcp"]
    assert {path.rpartition(" ")[0] for path in rest} == watched.routes - {"POST /v1/import"}
    assert {*TOOLS, *(str(one.uri) for one in RESOURCES)} <= mcp
    for one in TEMPLATES:
        assert any(path.startswith(one.uri_template.partition("{")[0]) for path in mcp)


def test_a_memory_that_forgets_whose_words_it_reads_is_found_out(monkeypatch, cli):
    """A double of the one place where tenants are told apart, with its check left out."""
    stored = leaks.Tenant.stored

    def leaky(self, user_id):
        return str(user_id) if str(user_id).startswith("tenant/") else stored(self, user_id)

    monkeypatch.setattr(leaks.Tenant, "stored", leaky)
    for name, fewer in {"rounds": 1, "pairs": ONE}.items():
        monkeypatch.setitem(leaks.run.__kwdefaults__, name, fewer)
    monkeypatch.setattr(leak_probes, "QUERIES", leak_probes.QUERIES[:4])
    code, out, _ = cli("doctor", "--leak-test", "--json")
    findings = json.loads(out)["findings"]
    assert code == 1
    assert {one["what"] for one in findings if one["verdict"] == "wrong"} == {
        "leak test, python",
        "leak test, rest",
        "leak test, mcp",
    }
    paths = " ".join(one["found"] for one in findings)
    for path in (
        "search", "export", "sessions", "neighbours", "get_all of ids", "GET /v1/memories", "POST /v1/search",
        "GET /v1/sessions", "GET /v1/traces", "GET /v1/cues", "search_memories", "get_context", "memory://profile",
        "list_notes", "changed what is kept",
    ):  # fmt: skip
        assert path in paths


def test_one_route_alone_that_leaks_is_found_out(monkeypatch):
    def users(self):
        return self.whole.users() + [turn.text for turn in self.whole.get_all(user_id="tenant/leak-there/ana")]

    monkeypatch.setattr(TenantMemory, "users", users)
    tried = leaks.run(lambda memory, client: {"rest": leaks.Rest(client)}, rounds=1, pairs=ONE)
    assert {leak.path for leak in tried.leaks} == {"GET /v1/users (200)"}


def test_a_surface_that_finds_nothing_at_all_is_told():
    def nothing(key, own, other, chance):
        yield "search", "[]"

    tried = leaks.run(lambda memory, client: {"deaf": nothing}, rounds=1)
    assert (tried.blind, tried.leaks, tried.reads) == (("deaf",), (), {"deaf": 4})
