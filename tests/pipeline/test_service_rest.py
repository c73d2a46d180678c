"""REST as a client meets it: what comes in is stored, what is stored comes out, what is wrong is said."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mnemic.memory import service_rows
from mnemic.service.examples import examples
from service_kit import served

SAID = [
    {
        "id": "m1",
        "role": "user",
        "name": "Ana",
        "content": "I moved to Lisbon in May.",
        "timestamp": "2024-06-03T18:05Z",
    },
    {"id": "m2", "role": "assistant", "content": "Is the flat quiet?"},
    {"id": "m3", "role": "user", "name": "Ana", "content": "The landlord keeps bees on the roof.", "session_id": "s2"},
]
ANA = {"user_id": "ana"}


@pytest.fixture
def here(tmp_path):
    with served(tmp_path) as one:
        yield one


@pytest.fixture
def client(here):
    return here.client()


@pytest.fixture
def filled(client):
    assert client.post("/v1/memories", json={"messages": SAID, **ANA}).status_code == 201
    return client


def problem(response, status, kind):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found = response.json()
    assert (found["status"], found["type"]) == (status, f"urn:mnemic:{kind}")
    return found["detail"]


# what comes out --------------------------------------------------------------------------------------------


def test_words_come_back_as_they_went_in(here, filled):
    found = filled.get("/v1/memories", params=ANA).json()
    assert [one["text"] for one in found["memories"]] == [one["content"] for one in SAID]
    assert found["next"] is None
    assert filled.get("/v1/memories/m1", params=ANA).json() == found["memories"][0]
    assert here.memory.get("m1", user_id="ana").text == SAID[0]["content"]


def test_a_search_finds_what_the_method_finds(here, filled):
    found = filled.post("/v1/search", json={"query": "Who keeps bees?", "top_k": 2, "explain": True, **ANA}).json()
    alike = here.memory.search("Who keeps bees?", user_id="ana", top_k=2, explain=True)
    assert [hit["trace_id"] for hit in found["results"]] == [hit.trace_id for hit in alike.results]
    assert found["results"][0]["turn_ids"] == ["m3"]
    assert found["results"][0]["paths"]
    assert [hit["score"] for hit in found["results"]] == [hit.score for hit in alike.results]


def test_any_text_goes_in_and_comes_out(client):
    words = "NUL \0, a lone surrogate \ud800, bidi \u202e, emoji 🐝, <script>alert(1)</script>, line\u2028end"
    body = json.dumps({"messages": [{"id": "x", "role": "user", "content": words}], **ANA})
    added = client.post("/v1/memories", content=body, headers={"content-type": "application/json"})
    assert added.status_code == 201
    one, whole = (client.get(path, params=ANA).json() for path in ("/v1/memories/x", "/v1/memories"))
    [line] = [record for record in exported(client) if "content" in record]
    assert [one["text"], whole["memories"][0]["text"], line["content"]] == [words] * 3
    hit = client.post("/v1/search", json={"query": "emoji bidi", **ANA}).json()["results"][0]
    assert hit["quotes"] == [words]


def test_an_id_may_have_slashes(client):
    client.post("/v1/memories", json={"messages": [{"id": "conv/1:2", "role": "user", "content": "Hello"}], **ANA})
    assert client.get("/v1/memories/conv/1:2", params=ANA).json()["text"] == "Hello"
    assert client.get("/v1/memories/conv%2F1:2", params=ANA).json()["text"] == "Hello"


def exported(client, user_id="ana"):
    lines = client.get("/v1/export", params={"user_id": user_id})
    assert lines.headers["content-type"] == "application/x-ndjson"
    # Not splitlines, which takes more for the end of a line than JSON lines do.
    return [json.loads(line) for line in lines.text.removesuffix("\n").split("\n")]


def test_an_export_is_written_back_as_it_was(here, filled):
    [note_id, *_] = filled.post(
        "/v1/notes", json={"notes": {"text": "Ana fears bees.", "sources": ["m3"]}, **ANA}
    ).json()["notes"]
    filled.post(f"/v1/notes/{note_id}/retract", json={"reason": "only wasps", **ANA})
    filled.patch("/v1/memories/m1", json={"metadata": {"mood": "good"}, **ANA})
    file = filled.get("/v1/export", params=ANA).content
    before = exported(filled)
    kinds = {next(iter(record)) if len(record) == 1 else "message" for record in before}
    assert kinds == {"mnemic", "recorded_at", "message", "trace", "note", "operation"}

    other = here.client("other", scopes=["write"])  # no right to read what is there
    done = other.post("/v1/import", params=ANA, content=file).json()
    assert (done["files"], done["users"]) == ({"import": "mnemic"}, ["ana"])
    assert (done["messages"], done["new"], done["skipped"], done["notices"]) == (3, 3, [], [])
    assert done["restored"] == sum(record.keys() <= {"note", "operation"} for record in before)
    assert exported(here.client("other"))[1:] == before[1:]  # but for the name of the export

    again = other.post("/v1/import", params=ANA, content=file).json()
    assert (again["messages"], again["new"], again["restored"]) == (3, 0, 0)
    assert again["notices"] == ["user 'ana' has a memory already: the export's messages are added to it"]


def test_an_import_says_where_it_left_something_out_and_stores_nothing_when_it_is_tried(here, client):
    table = "Text;Who;Day\nI row.;Ana;2024-03-04T10:00Z\n;Ana;2024-03-05T10:00Z\n"
    asked = {"column": ["content=Text", "name=Who", "timestamp=Day"], **ANA}
    tried = client.post("/v1/import", params={**asked, "dry_run": True}, content=table).json()
    assert (tried["dry_run"], tried["messages"], tried["new"]) == (True, 1, 0)
    assert here.memory.users() == []
    done = client.post("/v1/import", params={**asked, "embed": "later"}, content=table).json()
    assert (done["dry_run"], done["messages"], done["new"], done["files"]) == (False, 1, 1, {"import": "csv"})
    [left_out] = done["skipped"]
    assert (left_out["count"], left_out["places"]) == (1, [left_out["first"]])
    [turn] = here.memory.get_all(user_id="ana")
    assert (turn.text, turn.speaker, turn.timestamp.date().isoformat()) == ("I row.", "Ana", "2024-03-04")
    assert "FIELD=NAME" in problem(
        client.post("/v1/import", params={"column": "x", **ANA}, content=b"x"), 422, "InvalidInput"
    )


def test_vectors_of_an_import_may_come_later(tmp_path):
    with served(tmp_path, workers=0) as here:
        said = [{"role": "user", "content": "The landlord keeps bees.", "id": "a"}]
        asked = {**ANA, "embed": "later"}
        with here.client() as client:
            done = client.post("/v1/import", params=asked, content=json.dumps(said)).json()
            assert done["unembedded"] == client.get("/v1/status", params=ANA).json()["enrichment"]["unembedded"] > 0
            found = client.post("/v1/search", json={"query": "bees", **ANA}).json()["results"]
            assert [hit["turn_ids"] for hit in found] == [["a"]]
            assert client.post("/v1/wait", json=ANA).json()["unembedded"] == 0


def test_an_import_says_how_far_it_is(client):
    said = "\n".join(json.dumps({"role": "user", "content": f"Number {n}", "id": f"n{n}"}) for n in range(450))
    with client.stream(
        "POST", "/v1/import", params=ANA, content=said, headers={"accept": "text/event-stream"}
    ) as response:
        text = "".join(response.iter_text())
    found = [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]
    assert [name for name, _ in found] == ["progress"] * (len(found) - 1) + ["report"]
    assert len(found) >= 3
    done = [data["done"] for name, data in found if name == "progress"]
    assert done == sorted(done)
    assert found[-2][1] == {"done": 450, "total": 450}
    assert found[-1][1]["new"] == 450


def test_what_is_no_file_of_conversations_is_a_problem_and_in_a_stream_too(client):
    detail = problem(client.post("/v1/import", params=ANA, content=b"\x89PNG\r\n\x1a\n"), 422, "InvalidFile")
    assert "import" in detail
    problem(client.post("/v1/import", params={**ANA, "format": "pdf"}, content=b"x"), 422, "InvalidInput")
    assert client.get("/v1/memories", params=ANA).json()["memories"] == []


# pages -----------------------------------------------------------------------------------------------------


def pages(client, path, name, **params):
    cursor, found = None, []
    while True:
        page = client.get(path, params={**params, **({"cursor": cursor} if cursor else {})}).json()
        yield page[name]
        found += page[name]
        cursor = page["next"]
        if cursor is None:
            return


def test_no_page_skips_or_repeats_while_others_write_and_erase(client):
    def add(number):
        client.post("/v1/memories", json={"messages": [{"id": f"m{number}", "role": "user", "content": "x"}], **ANA})

    for number in range(7):
        add(number)
    seen = []
    for count, page in enumerate(pages(client, "/v1/memories", "memories", limit=2, **ANA)):
        seen += [one["turn_id"] for one in page]
        if count == 0:
            # The last one of a page goes, and so does one that is to come; others come behind.
            client.delete("/v1/memories/m1", params=ANA)
            client.delete("/v1/memories/m3", params=ANA)
            add(7)
    assert seen == ["m0", "m1", "m2", "m4", "m5", "m6", "m7"]


@pytest.mark.parametrize(("path", "name"), [("/v1/notes", "notes"), ("/v1/operations", "operations")])
def test_notes_and_operations_come_in_pages_too(client, path, name):
    said = [{"role": "user", "name": "Ana", "content": f"I moved to town number {n}."} for n in range(5)]
    client.post("/v1/memories", json={"messages": said, **ANA})
    whole = client.get(path, params=ANA).json()[name]
    assert len(whole) == 5
    found = list(pages(client, path, name, limit=2, **ANA))
    assert [len(page) for page in found] == [2, 2, 1]
    assert [one for page in found for one in page] == whole


def test_a_cursor_of_another_question_is_refused(filled):
    page = filled.get("/v1/memories", params={**ANA, "limit": 1}).json()
    for path, params in (
        ("/v1/memories", {"user_id": "bo"}),
        ("/v1/memories", {**ANA, "session_id": "s2"}),
        ("/v1/notes", ANA),
    ):
        assert "cursor" in problem(filled.get(path, params={**params, "cursor": page["next"]}), 422, "InvalidQuery")
    for broken in ("", "x", "AAAA", page["next"][:-3], "é", page["next"] + "A"):
        problem(filled.get("/v1/memories", params={**ANA, "cursor": broken}), 422, "InvalidQuery")


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_length(filled, limit):
    assert "limit" in problem(filled.get("/v1/memories", params={**ANA, "limit": limit}), 422, "InvalidQuery")


def test_single_messages_are_read_by_their_ids(filled):
    found = filled.get("/v1/memories", params={**ANA, "turn_ids": ["m3", "m1", "never"]}).json()
    assert [one["turn_id"] for one in found["memories"]] == ["m1", "m3"]
    page = filled.get("/v1/memories", params={**ANA, "turn_ids": ["m3", "m1"], "limit": 1}).json()
    following = {**ANA, "turn_ids": ["m3", "m1"], "cursor": page["next"]}
    assert [one["turn_id"] for one in filled.get("/v1/memories", params=following).json()["memories"]] == ["m3"]
    assert "cursor" in problem(filled.get("/v1/memories", params={**ANA, "cursor": page["next"]}), 422, "InvalidQuery")


def test_notes_of_every_status_come_in_pages_with_all_their_versions(here, filled):
    def noted(**more):
        return filled.post("/v1/notes", json={"notes": {"sources": ["m3"], **more}, **ANA}).json()["notes"][0]

    wrong, right = noted(text="Ana fears bees."), noted(text="Ana keeps a roof.")
    told = filled.post(f"/v1/notes/{wrong}/retract", json={"reason": "only wasps", **ANA}).json()
    assert (told["note_id"], told["status"]) == (wrong, "retracted")
    assert filled.post(f"/v1/notes/{right}/confirm", json=ANA).json()["last_confirmed"] is not None
    assert "retracted" in problem(filled.post(f"/v1/notes/{wrong}/confirm", json=ANA), 422, "InvalidInput")
    problem(filled.post("/v1/notes/N99/confirm", json=ANA), 404, "NotFound")
    log = filled.get(f"/v1/notes/{wrong}/history", params=ANA).json()["operations"]
    assert (log[-1]["action"], log[-1]["detail"]["reason"]) == ("RETRACT", "only wasps")

    ids = [one["note_id"] for one in filled.get("/v1/notes", params=ANA).json()["notes"]]
    assert wrong not in ids
    assert right in ids
    asked = {**ANA, "statuses": ["current", "retracted"]}
    whole = filled.get("/v1/notes", params=asked).json()["notes"]
    assert [one["note_id"] for one in whole] == sorted([*ids, wrong], key=lambda one: int(one[1:]))
    assert [one for page in pages(filled, "/v1/notes", "notes", limit=1, **asked) for one in page] == whole
    refused = filled.get("/v1/notes", params={**ANA, "statuses": "gone"})
    assert (refused.status_code, "statuses" in refused.json()["detail"]) == (422, True)


def test_one_looks_around_as_the_methods_do(here, filled):
    memory = here.memory
    got = {name: filled.get(f"/v1/{name}", params=ANA).json()[name] for name in ("sessions", "traces", "cues")}
    assert [one["session_id"] for one in got["sessions"]] == ["default", "s2"]
    assert [one["trace_id"] for one in got["traces"]] == [one.trace_id for one in memory.traces(user_id="ana")]
    assert [one["key"] for one in got["cues"]] == [one.key for one in memory.cues(user_id="ana")]
    of_s2 = filled.get("/v1/traces", params={**ANA, "session_id": "s2"}).json()["traces"]
    assert [one["session_id"] for one in of_s2] == ["s2"]
    [bee] = filled.get("/v1/cues", params={**ANA, "like": "bee", "limit": 1}).json()["cues"]
    near = filled.get(f"/v1/cues/{bee['key']}/neighbours", params=ANA).json()
    assert near["cue"] == bee
    assert [one["text"] for one in near["units"]] == ["The landlord keeps bees on the roof."]
    assert near["neighbours"]
    assert (
        filled.get(f"/v1/cues/{bee['key']}/neighbours", params={**ANA, "limit": 1}).json()["neighbours"]
        == near["neighbours"][:1]
    )
    problem(filled.get("/v1/cues/zebra/neighbours", params=ANA), 404, "NotFound")
    problem(filled.get("/v1/cues", params={**ANA, "limit": 0}), 422, "InvalidQuery")


# what is changed -------------------------------------------------------------------------------------------


def test_metadata_changes_and_words_do_not(filled):
    done = filled.patch("/v1/memories/m1", json={**ANA, "metadata": {"mood": "good"}}).json()
    assert (done["metadata"], done["text"]) == ({"mood": "good"}, SAID[0]["content"])
    detail = problem(filled.patch("/v1/memories/m1", json={**ANA, "metadata": {}, "text": "x"}), 409, "ImmutableWords")
    assert "m1" in detail
    history = filled.get("/v1/memories/m1/history", params=ANA).json()["operations"]
    assert [one["action"] for one in history] == ["UPDATE"]


def test_what_is_erased_is_gone(here, filled):
    assert filled.delete("/v1/memories/m1", params=ANA).json() == {"erased": 1}
    problem(filled.get("/v1/memories/m1", params=ANA), 404, "NotFound")
    problem(filled.delete("/v1/memories/m1", params=ANA), 404, "NotFound")
    assert filled.delete("/v1/sessions/s2", params=ANA).json() == {"erased": 1}
    assert filled.delete("/v1/memories", params=ANA).json() == {"erased": 1}
    assert filled.delete("/v1/memories", params=ANA).json() == {"erased": 0}
    assert here.memory.users() == []


def test_notes_are_given_undone_and_told_of(filled):
    noted = filled.post("/v1/notes", json={"notes": {"text": "Ana fears bees.", "sources": ["m3"]}, **ANA})
    assert noted.status_code == 201
    [note_id] = noted.json()["notes"]
    assert filled.get(f"/v1/memories/{note_id}", params=ANA).json()["text"] == "Ana fears bees."
    [added] = filled.get(f"/v1/notes/{note_id}/history", params=ANA).json()["operations"]
    done = filled.post(f"/v1/operations/{added['operation_id']}/undo", json=ANA).json()["operations"]
    assert [(one["action"], one["target_id"]) for one in done] == [("RETRACT", note_id)]
    problem(filled.post("/v1/notes", json={"notes": {"text": "x", "sources": ["zz"]}, **ANA}), 404, "NotFound")


# requests that come again ----------------------------------------------------------------------------------


def send(client, key, body):
    return client.post("/v1/memories", json=body, headers={"Idempotency-Key": key})


def test_a_request_that_comes_again_gets_the_same_reply_and_adds_nothing(here, client):
    body = {"messages": "I keep bees.", **ANA}
    first, again = send(client, "k", body), send(client, "k", body)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers
    assert len(here.memory.get_all(user_id="ana")) == 1
    assert send(client, "k2", body).json()["turn_ids"] != first.json()["turn_ids"]


def test_the_same_key_with_another_body_is_refused(here, client):
    send(client, "k", {"messages": "I keep bees.", **ANA})
    assert "'k'" in problem(send(client, "k", {"messages": "I keep wasps.", **ANA}), 422, "InvalidInput")
    problem(client.post("/v1/enrich", json=ANA, headers={"Idempotency-Key": "k"}), 422, "InvalidInput")
    assert [turn.text for turn in here.memory.get_all(user_id="ana")] == ["I keep bees."]
    # Of another user it is another key.
    assert send(client, "k", {"messages": "I keep wasps.", "user_id": "bo"}).status_code == 201


def test_a_process_that_ended_before_its_reply_was_kept_adds_nothing_twice(here, client, monkeypatch):
    def die(*_args, **_kwargs):
        raise RuntimeError("here it ends")

    with monkeypatch.context() as patch:
        patch.setattr(type(service_rows(here.memory)), "finish_reply", die)
        assert send(client, "k", {"messages": "I keep bees.", **ANA}).status_code == 500
    [turn] = here.memory.get_all(user_id="ana")
    again = send(client, "k", {"messages": "I keep bees.", **ANA})
    assert (again.status_code, again.json()["turn_ids"]) == (201, [turn.turn_id])
    assert len(here.memory.get_all(user_id="ana")) == 1


def test_a_request_that_came_to_nothing_may_come_again_otherwise(client):
    problem(send(client, "k", {"messages": [{"role": "nobody", "content": "x"}], **ANA}), 422, "InvalidMessage")
    assert send(client, "k", {"messages": "I keep bees.", **ANA}).status_code == 201


def test_erasing_drops_the_replies_that_were_kept(here, client):
    send(client, "k", {"messages": [{"id": "m1", "role": "user", "content": "I keep secret bees."}], **ANA})
    patched = client.patch("/v1/memories/m1", json={**ANA, "metadata": {"a": 1}}, headers={"Idempotency-Key": "p"})
    assert "secret bees" in patched.text
    gone = client.delete("/v1/memories/m1", params=ANA, headers={"Idempotency-Key": "d"})
    again = client.delete("/v1/memories/m1", params=ANA, headers={"Idempotency-Key": "d"})
    assert (gone.json(), again.json(), again.headers["Idempotency-Replayed"]) == ({"erased": 1}, {"erased": 1}, "true")
    path = Path(here.memory._database)
    here.memory.close()
    for name in path.parent.iterdir():
        assert b"secret bees" not in name.read_bytes()


def test_a_key_in_the_body_is_that_of_the_method(here, client):
    for _ in range(2):
        client.post("/v1/memories", json={"messages": "I keep bees.", "idempotency_key": "k", **ANA})
    assert len(here.memory.get_all(user_id="ana")) == 1
    both = {"messages": "I keep bees.", "idempotency_key": "k", **ANA}
    problem(send(client, "other", both), 422, "InvalidInput")


# what is wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"query": "x"}, "user_id"),
        ({"query": "x", "user_id": "ana", "top_n": 3}, "top_n"),
        ({"query": "x", "user_id": "ana", "mode": "deep"}, "mode"),
        ({"query": "x", "user_id": ""}, "user_id"),
        ({"query": "x", "user_id": "ana", "top_k": 0}, "top_k"),
        ({"query": "x", "user_id": "ana", "since": "soon"}, "since"),
        ({"query": "x", "user_id": "ana", "filters": {"a": {"near": 1}}}, "near"),
    ],
)
def test_what_is_wrong_is_named(client, body, named):
    response = client.post("/v1/search", json=body)
    assert response.status_code == 422
    assert named in response.json()["detail"]


def test_what_is_wrong_is_not_repeated_with_its_words(client):
    secret = {"query": {"my secret": "words"}, "user_id": "ana"}
    assert "words" not in client.post("/v1/search", json=secret).text


@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[" * 100_000, b'{"query": ' + b"9" * 5000 + b"}"])
def test_a_body_that_is_no_json_is_the_clients_fault(client, body):
    response = client.post("/v1/search", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422)
    assert response.headers["content-type"] == "application/problem+json"


def test_what_there_is_not_is_said_as_a_problem(client):
    problem(client.get("/v1/nothing"), 404, "404")
    problem(client.put("/v1/memories"), 405, "405")
    problem(client.post("/v1/answer", json={"question": "x", **ANA}), 501, "LanguageModelUnavailable")


def test_what_a_server_fails_at_is_told_without_its_words(here, client, monkeypatch, caplog):
    def fail(*args, **kwargs):
        raise RuntimeError("secret words")

    monkeypatch.setattr("mnemic.service.tenant_memory.TenantMemory.notes", fail)
    with caplog.at_level("INFO", logger="mnemic.service"):
        response = client.get("/v1/notes", params=ANA, headers={"X-Request-ID": "req-1"})
    assert "req-1" in problem(response, 500, "Failed")
    [record] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert record.fields["failure"].startswith("RuntimeError at test_service_rest.py:")
    assert "secret" not in str(record.fields) + record.getMessage() + response.text


# examples --------------------------------------------------------------------------------------------------

NEEDS_A_MODEL = {"POST /v1/answer", "POST /v1/proposals/{note_id}/approve", "POST /v1/proposals/{note_id}/reject"}
NEEDS_A_RUN = {"POST /v1/runs/{run}/undo"}


def shape(value):
    """A reply without its numbers, times and ids that were made."""
    if isinstance(value, dict):
        return {key: shape(one) for key, one in value.items()}
    if isinstance(value, list):
        return [shape(one) for one in value]
    if isinstance(value, str):
        return re.sub(r"\b[0-9a-f]{32}\b", "id", re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+", "time", value))
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else value


def test_the_examples_are_true(here):
    with here.client() as client:
        here.app.state.warming._done.wait(10)
        for name, example in examples().items():
            method, path = name.split(" ")
            params = dict(example.parameters)
            headers = {key: params.pop(key) for key in ("Idempotency-Key",) if key in params}
            for key in [key for key in params if "{" + key + "}" in path]:
                path = path.replace("{" + key + "}", str(params.pop(key)))
            sent = {"content": example.body} if isinstance(example.body, str) else {"json": example.body}
            if example.body is None:
                sent = {}
            if name in NEEDS_A_MODEL | NEEDS_A_RUN:
                continue
            response = client.request(method, path, params=params, headers=headers, **sent)
            assert response.status_code in (200, 201), (name, response.text)
            if isinstance(example.reply, str):
                first, shown = (
                    re.sub("[0-9a-f]{32}", "id", text).splitlines()[0] for text in (response.text, example.reply)
                )
                assert first == shown, name
            else:
                assert shape(response.json()) == shape(example.reply), name
