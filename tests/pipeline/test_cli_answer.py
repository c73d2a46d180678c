"""``mnemic answer``, over HTTP to a server that follows a script."""

from __future__ import annotations

import json

import pytest

from model_server_kit import completion, error, events, serving

ASKED = ("answer", "Who is Tadeus?", "--user", "ana", "--embedder", "none")
REPLY = '{"answer": "Bo\'s cat \\u001b[2J🐈", "sources": [1]}'


@pytest.fixture
def served(filled, monkeypatch):
    """Runs one command while a server answers so; gives exit code, stdout, stderr and what the server was asked."""
    pytest.importorskip("openai", reason="the extra llm is not installed")
    for name in ("MNEMIC_MODEL", "MNEMIC_MODEL_ANSWER", "MNEMIC_PRICE", "MNEMIC_BUDGET_TOTAL"):
        monkeypatch.delenv(name, raising=False)

    def run(reply, *arguments, named="--model"):
        def answer(body):
            if not isinstance(reply, str):
                return reply
            return events(*reply) if body.get("stream") else completion(reply)

        with serving(answer) as server:
            model = f"openai-compatible:m@{server.url}"
            if named != "--model":
                monkeypatch.setenv(named, model)
            code, out, err = filled(*arguments, *(("--model", model) if named == "--model" else ()))
        return code, out, err, server.bodies

    return run


def test_for_people(served):
    code, out, err, [body] = served(REPLY, *ASKED, "--reference-time", "2024-05-01")
    assert (code, err) == (0, "")
    answer, _, source, words = out.splitlines()
    assert answer == "Bo's cat \\x1b[2J🐈"
    assert source == "T2  session s2"
    assert words.endswith("Noted: Tadeus the cat.")
    assert body["stream"]
    assert "2024-05-01 00:00 UTC" in body["messages"][1]["content"]


def test_json_has_exactly_the_documented_shape(served):
    code, out, err, [body] = served(REPLY, *ASKED, "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert list(found) == ["text", "sources", "evidence", "model", "failure", "tokens_in", "tokens_out", "warnings"]
    assert found["text"] == "Bo's cat \x1b[2J🐈"
    assert found["sources"] == found["evidence"][:1]
    assert found["sources"][0]["turn_ids"] == ["m3"]
    assert (found["failure"], found["tokens_in"], found["tokens_out"], found["warnings"]) == (None, 12, 3, [])
    assert not body.get("stream")


@pytest.mark.parametrize("named", ["MNEMIC_MODEL", "MNEMIC_MODEL_ANSWER"])
def test_the_environment_names_the_model_and_the_budget(served, monkeypatch, named):
    assert served(REPLY, *ASKED, named=named)[1].startswith("Bo's cat")
    monkeypatch.setenv("MNEMIC_BUDGET_TOTAL", "calls=1")
    code, out, err, asked = served(REPLY, *ASKED, named=named)
    assert (code, out, asked) == (1, "", [])
    assert "MNEMIC_BUDGET_TOTAL" in err


@pytest.mark.parametrize(
    ("reply", "code", "out", "err"),
    [
        ('{"answer": "", "sources": []}', 0, "", "Memory does not contain the answer."),
        ("A cat.", 0, "A cat.\n", "The model named no sources."),
        ("I'm sorry, but I can't help with that.", 1, "", "the model declined"),
        ('{"cat": 1}', 1, "", "another shape"),
        (error(401, "wrong key"), 1, "", "wrong key"),
    ],
)
def test_what_is_no_answer_is_said(served, reply, code, out, err):
    found = served(reply, *ASKED)
    assert found[:2] == (code, out)
    assert err in found[2]
    assert "Traceback" not in found[2]


def test_nothing_found_and_nobody_there(served):
    code, out, err, asked = served(REPLY, *ASKED, "--since", "2030-01-01")
    assert (code, out, err, asked) == (0, "", "Memory does not contain the answer.\n", [])
    code, out, err, asked = served(REPLY, "answer", "Who?", "--user", "bo", "--embedder", "none")
    assert (code, out, err, asked) == (0, "", "User 'bo' has nothing in memory.\n", [])


def test_what_was_printed_of_a_reply_that_is_none_is_taken_back(served):
    code, out, err, _ = served(events('{"answer": "Bo', finish="content_filter"), *ASKED)
    assert (code, out) == (1, "Bo\n")
    assert "the model declined" in err
