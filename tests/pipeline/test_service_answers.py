"""Answers over REST, whole and piece by piece; what models are not allowed is told to whom it may be told."""

from __future__ import annotations

import json
import re

from mnemic import Budgets, Limit
from mnemic.errors import LanguageModelFailed
from mnemic.models.doubles import ScriptedModel
from mnemic.service.shapes import model_of
from mnemic.service.tenant_memory import SERVER_BUDGET
from mnemic.types import Answer
from service_kit import served

ANA = {"user_id": "ana"}
ASKED = {"question": "Who keeps bees on the roof?", **ANA}
REPLY = json.dumps({"answer": "The landlord keeps bees.", "sources": [1]})


def told(client):
    client.post("/v1/memories", json={"messages": "My landlord in Lisbon keeps bees on the roof.", **ANA})


def events(client):
    with client.stream("POST", "/v1/answer", json=ASKED, headers={"Accept": "text/event-stream"}) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        text = "".join(response.iter_text())
    return [(name, json.loads(data)) for name, data in re.findall(r"event: (\w+)\ndata: (.*)\n\n", text)]


def test_an_answer_comes_whole_or_piece_by_piece(tmp_path):
    with served(tmp_path, embedder=None, model={"answer": ScriptedModel([REPLY, REPLY])}, workers=0) as here:
        client = here.client("acme", scopes=["read", "write"])
        told(client)
        whole = client.post("/v1/answer", json=ASKED).json()
        assert (whole["text"], len(whole["sources"])) == ("The landlord keeps bees.", 1)
        model_of(Answer).model_validate(whole)
        found = events(client)
        assert "".join(one["text"] for name, one in found if name == "piece") == "The landlord keeps bees."
        assert found[-1] == ("answer", whole)


def test_what_fails_has_a_status_or_is_the_end_of_the_stream(tmp_path):
    replies = [LanguageModelFailed("the model refused the request"), LanguageModelFailed("it refused it again")]
    with served(tmp_path, embedder=None, model={"answer": ScriptedModel(replies)}, workers=0) as here:
        client = here.client()
        told(client)
        refused = client.post("/v1/answer", json=ASKED)
        assert (refused.status_code, refused.json()["detail"]) == (502, "the model refused the request")
        [(name, problem)] = events(client)
        assert (name, problem["status"], problem["type"]) == ("problem", 502, "urn:mnemic:LanguageModelFailed")


def test_what_all_tenants_spent_together_is_told_to_none_of_them(tmp_path):
    """Neither as an error nor as the reason why work waits."""
    budgets = Budgets(total=Limit(calls=0))
    with served(tmp_path, embedder=None, model=ScriptedModel([]), budgets=budgets, workers=0) as here:
        mine, whole = here.client("acme"), here.client("default")
        told(mine)
        told(whole)
        refused = mine.post("/v1/answer", json=ASKED)
        assert refused.status_code == 402
        assert "calls" not in refused.json()["detail"]
        body = {"timeout": 5, **ANA}
        assert set(mine.post("/v1/wait", json=body).json()["waiting_for"]) == {SERVER_BUDGET}
        assert all("0 are spent" in one for one in whole.post("/v1/wait", json=body).json()["waiting_for"])
