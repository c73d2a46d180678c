"""What a server refuses, counts and logs: rates, lengths, strangers; and nothing that anybody said."""

from __future__ import annotations

import io
import json
import logging

import pytest
from starlette.testclient import TestClient

from mnemic.service import app as application
from mnemic.service import running
from mnemic.service.buckets import Buckets
from mnemic.service.door import is_loopback
from mnemic.service.settings import Settings
from mnemic.service.watching import JsonLines
from service_kit import served

ANA = {"user_id": "ana"}


@pytest.fixture
def build(tmp_path):
    stacks = []

    def make(**settings):
        stack = served(tmp_path, Settings(**settings), embedder=None)
        stacks.append(stack)
        return stack.__enter__()

    yield make
    for stack in stacks:
        stack.__exit__(None, None, None)


# rates -----------------------------------------------------------------------------------------------------


def test_a_bucket_holds_so_many_and_fills_at_its_rate():
    now = [100.0]
    buckets = Buckets(2.0, 3, clock=lambda: now[0])
    assert [buckets.take("a") for _ in range(3)] == [0.0, 0.0, 0.0]
    assert buckets.take("a") == pytest.approx(0.5)
    assert buckets.take("b") == 0.0
    now[0] += 0.5
    assert (buckets.wait("a"), buckets.take("a")) == (0.0, 0.0)
    assert buckets.take("a") == pytest.approx(0.5)
    now[0] += 60
    assert [buckets.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, pytest.approx(0.5)]


def test_a_key_may_ask_so_often_and_is_told_when_again(build):
    here = build(rate=0.5, burst=3)
    client, other = here.client(), here.client()
    assert [client.get("/v1/notice").status_code for _ in range(4)] == [200, 200, 200, 429]
    refused = client.get("/v1/notice")
    assert refused.json()["type"] == "urn:mnemic:TooManyRequests"
    assert 1 <= int(refused.headers["Retry-After"]) <= 2
    assert other.get("/v1/notice").status_code == 200


def test_guesses_are_few_and_shut_out_no_key_that_proved_good(build):
    here = build(refusals=0.01)
    good = here.client()
    assert good.get("/v1/notice").status_code == 200
    stranger = here.client(key="mnemic_" + "0" * 16 + "_" + "A" * 43)
    found = [stranger.get("/v1/notice").status_code for _ in range(12)]
    assert found == [401] * 10 + [429] * 2
    assert good.get("/v1/notice").status_code == 200
    assert here.client().get("/v1/notice").status_code == 429  # a good key that has not proved it yet


# lengths ---------------------------------------------------------------------------------------------------


def test_a_body_has_a_length_whether_it_says_so_or_not(build):
    here = build(body_bytes=2000, import_bytes=20_000)
    client = here.client()
    long = json.dumps({"messages": "x" * 3000, **ANA}).encode()
    kind = {"content-type": "application/json"}
    for content in (long, (long[at : at + 100] for at in range(0, len(long), 100))):
        refused = client.post("/v1/memories", content=content, headers=kind)
        assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
        assert "2,000" in refused.json()["detail"]
    assert here.memory.users() == []
    said = json.dumps([{"role": "user", "content": "x" * 3000}]).encode()
    assert client.post("/v1/import", params=ANA, content=said).status_code == 200
    assert client.post("/v1/import", params=ANA, content=b" " * 20_001).status_code == 413


# without keys ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "host", "origin", "status"),
    [
        ("127.0.0.1", "127.0.0.1:8377", None, 200),
        ("::1", "localhost", None, 200),
        ("127.0.0.1", "localhost:8377", "http://localhost:8377", 200),
        ("10.0.0.7", "127.0.0.1:8377", None, 403),
        ("127.0.0.1", "evil.example", None, 403),  # a name that was made to lead here
        ("127.0.0.1", "localhost:8377", "https://evil.example", 403),
        ("127.0.0.1", "localhost:8377", "null", 403),
    ],
)
def test_a_server_that_asks_for_no_key_answers_this_machine_alone(build, address, host, origin, status):
    here = build(auth=False)
    client = TestClient(here.app, base_url=f"http://{host}", client=(address, 50000))
    headers = {} if origin is None else {"Origin": origin}
    assert client.get("/v1/memories", params=ANA, headers=headers).status_code == status


@pytest.mark.parametrize(
    ("host", "is_it"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("localhost", True), ("::1", True), ("[::1]", True),
     ("0.0.0.0", False), ("::", False), ("10.0.0.1", False), ("example.org", False), ("", False)],
)  # fmt: skip
def test_only_this_machines_own_addresses_are_its_own(host, is_it):
    assert is_loopback(host) is is_it


@pytest.mark.fault("B103")
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org"])
def test_serving_to_others_without_keys_is_refused(cli, host):
    code, _, err = cli("serve", "--no-auth", "--host", host)
    assert code == 1
    assert "--no-auth is for this machine alone" in err


# what is told ----------------------------------------------------------------------------------------------


@pytest.mark.fault("B111")
def test_what_is_logged_and_counted_has_no_words_users_or_ids(build):
    here = build()
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    log = logging.getLogger("mnemic.service")
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        client = here.client()
        said = {"messages": [{"id": "sesame-id", "role": "user", "content": "sesame words"}], "user_id": "sesame-user"}
        client.post("/v1/memories", json=said, headers={"Idempotency-Key": "sesame-key"})
        client.get("/v1/memories/sesame-id", params={"user_id": "sesame-user"})
        client.get("/v1/memories/sesame-never", params={"user_id": "sesame-user"})
        client.get("/sesame-path")
        client.post("/v1/search", json={"query": "sesame?", "user_id": "sesame-user", "mode": "sesame"})
        counted = client.get("/metrics").text
    finally:
        log.removeHandler(handler)
        log.setLevel(logging.NOTSET)
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/v1/memories", 201),
        ("/v1/memories/{id:path}", 200),
        ("/v1/memories/{id:path}", 404),
        ("(none)", 404),
        ("/v1/search", 422),
        ("/metrics", 200),
    ]
    assert all({"at", "request_id", "ms"} <= set(line) for line in lines)
    assert "sesame" not in stream.getvalue() + counted
    assert 'mnemic_requests_total{method="POST",route="/v1/memories",status="201"} 1.0' in counted
    assert "mnemic_users 1.0" in counted


def test_a_reply_names_its_request_and_the_notice(build):
    client = build().client()
    first = client.get("/v1/notice", headers={"X-Request-ID": "mine.1"})
    assert first.headers["X-Request-ID"] == "mine.1"
    assert first.headers["Link"] == '</v1/notice>; rel="privacy-policy"'
    made = client.get("/v1/notice", headers={"X-Request-ID": "no such\tid" + "x" * 80}).headers["X-Request-ID"]
    assert len(made) == 32
    assert "Link" not in client.get("/health").headers


def test_it_lives_and_is_ready_without_a_key(build, monkeypatch):
    here = build()
    client = here.client(key="")
    assert client.get("/health").json()["status"] == "ok"
    assert client.get("/ready").status_code == 503  # nobody has started it
    with client:
        here.app.state.warming._done.wait(20)
        assert client.get("/ready").json() == {"status": "ready"}
        here.memory.close()
        assert client.get("/ready").status_code == 503
    assert client.get("/health").status_code == 200


def test_what_a_broken_database_says_is_for_the_log_alone(build, caplog):
    here = build()
    client = here.client()
    client.get("/v1/notice")
    here.memory.close()
    refused = client.get("/v1/memories", params=ANA)
    assert refused.status_code == 503
    assert str(here.memory._database) not in refused.text
    assert str(here.memory._database) in caplog.text


def test_fastapi_tells_nobody_whatever_the_environment_says(build, monkeypatch):
    monkeypatch.setenv("FASTAPI_OTEL_AUTO_CONFIGURE", "true")
    told = build().app._telemetry
    assert {name: told[name] for name in application._SILENT} == dict.fromkeys(application._SILENT, False)


def test_no_page_of_the_server_fetches_anything(build):
    client = build().client()
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_a_connection_may_rest_longer_than_proxies_let_it(build, monkeypatch):
    configured = []
    monkeypatch.setattr(running._Server, "run", lambda server: configured.append(server.config))
    running.run(build().app, host="127.0.0.1", port=0, started=lambda _: None)
    assert configured[0].timeout_keep_alive > 60
