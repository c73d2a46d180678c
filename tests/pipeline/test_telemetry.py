"""Spans are made where a program has OpenTelemetry, and say what was done without saying anything of what was said."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from mnemic import AsyncMemory, Memory
from mnemic.errors import EmbeddingFailed, InvalidQuery, MnemicError
from mnemic.models.doubles import HashEmbedder
from mnemic.models.language import PydanticAIModel
from mnemic.telemetry import span, spanned
from postgres_kit import emptied
from reading_kit import ReadingModel

# Nothing that a caller or a model gives may stand in any span.
USER, SESSION, AGENT, TURN, SPEAKER, KEY = "zq-user", "zq-session", "zq-agent", "zq-turn", "Zqana", "zq-idempotency"
SAID = "I keep zqbees on the roof of the zqhouse."
SECRETS = ("zq", "bees", "roof")


@pytest.fixture(scope="module")
def exporter() -> Iterator[InMemorySpanExporter]:
    """The process has one provider, for good; it may have come with an example of the documentation."""
    made = InMemorySpanExporter()
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    provider = trace.get_tracer_provider()
    assert isinstance(provider, TracerProvider)
    provider.add_span_processor(SimpleSpanProcessor(made))
    yield made
    made.shutdown()  # it keeps nothing any more


@pytest.fixture
def spans(exporter):
    exporter.clear()
    return exporter.get_finished_spans


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request, tmp_path):
    return str(tmp_path / "zq.db") if request.param == "sqlite" else emptied(tmp_path)


def names(spans):
    return {one.name for one in spans()}


def told(spans, name):
    """The attributes of the one span of a name."""
    [found] = [one for one in spans() if one.name == name]
    return dict(found.attributes)


def lived(memory: Memory, user_id: str = USER) -> None:
    """Whatever a memory is for, with marked words in every argument."""
    message = {"role": "user", "speaker": SPEAKER, "content": SAID, "id": TURN, "metadata": {"zqkey": "zqvalue"}}
    scope = {"user_id": user_id}
    added = memory.add(message, **scope, session_id=SESSION, agent_id=AGENT, idempotency_key=KEY, enrich="now")
    memory.add_notes({"text": "Zqana keeps zqbees.", "sources": list(added.turn_ids), "id": "zq-note"}, **scope)
    memory.wait(**scope)
    query = "Who keeps zqbees on the roof?"
    for mode in ("graph", "notes", "episodes", "hybrid", "best_effort"):
        memory.search(query, **scope, mode=mode, filters={"zqkey": "zqvalue"}, rerank="model")
    memory.context(query, **scope)
    assert memory.answer(query, **scope).model == "scripted:reader"
    "".join(memory.answer_stream(query, **scope))
    memory.reflect(**scope)
    memory.evolution("zqbees", **scope)
    memory.forget(**scope, max_notes=1)
    list(memory.export(**scope))
    for wrong in (
        lambda: memory.search(query, **scope, config="zqconfig"),
        lambda: memory.get("zq-nowhere", **scope),
        lambda: memory.add({"role": "zqrole", "content": SAID}, **scope),
        lambda: memory.search(query, **scope, filters={"zqkey": {"zqoperator": 1}}),
        lambda: memory.delete(turn_id="zq-nowhere", **scope),
    ):
        with pytest.raises(MnemicError, match="zq"):
            wrong()
    memory.delete(turn_id=TURN, **scope)
    memory.delete_all(**scope)


def test_no_span_holds_anything_that_was_said_asked_or_named(spans, database):
    with Memory.open(database, embedder=HashEmbedder(), model=ReadingModel(), enrichment="himem", workers=0) as memory:
        lived(memory)
    written = [json.loads(one.to_json()) for one in spans()]
    assert len(written) > 50
    for one in written:
        # The resource tells of the process (the SDK's own), not of what it does.
        text = json.dumps({key: value for key, value in one.items() if key != "resource"}).lower()
        assert not [secret for secret in SECRETS if secret in text], text
        assert not one["events"]
        assert one["status"].get("description") is None
    assert {
        "mnemic.add", "mnemic.add_notes", "mnemic.search", "mnemic.context", "mnemic.answer", "mnemic.reflect",
        "mnemic.erase", "mnemic.search.understand", "mnemic.search.rank", "mnemic.search.read",
        "mnemic.search.rerank", "mnemic.index.update", "mnemic.embed", "mnemic.complete", "mnemic.enrich",
        "mnemic.store.read", "mnemic.store.write",
    } <= names(spans)  # fmt: skip
    systems = {one["attributes"].get("db.system.name") for one in written if one["name"].startswith("mnemic.store.")}
    assert systems == {"postgresql" if database.startswith("postgresql:") else "sqlite"}


def test_spans_count(spans, tmp_path):
    model = ReadingModel()
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder(), model=model, workers=0) as memory:
        memory.add([SAID, "I also like tea."], user_id=USER)
        memory.add([SAID], user_id=USER, enrich="never")
        assert [dict(one.attributes)["mnemic.turns"] for one in spans() if one.name == "mnemic.add"] == [2, 1]
        found = memory.search("bees", user_id=USER)
        assert told(spans, "mnemic.search") == {
            "mnemic.hits": len(found.results),
            "mnemic.nothing_relevant": found.nothing_relevant,
            "mnemic.warnings": 0,
        }
        assert told(spans, "mnemic.search.rank")["mnemic.turns"] == 3
        memory.answer("bees", user_id=USER)
        asked = told(spans, "mnemic.complete")
        assert asked["gen_ai.request.model"] == "scripted:reader"
        assert asked["mnemic.purpose"] == "answer"
        assert asked["gen_ai.usage.input_tokens"] > 0


def test_what_is_done_within_a_call_lies_under_its_span(spans, tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder(), model=ReadingModel(), workers=0) as memory:
        memory.add(SAID, user_id=USER)
        with span("mine"):
            "".join(memory.answer_stream("bees", user_id=USER))
    by_id = {one.context.span_id: one for one in spans()}

    def above(name):
        [one] = [found for found in spans() if found.name == name]
        return [] if one.parent is None else [by_id[one.parent.span_id].name]

    assert above("mnemic.add") == []
    assert above("mnemic.search.rank") == ["mnemic.search"]
    assert above("mnemic.search") == ["mine"]
    assert above("mnemic.complete") == ["mine"]  # in a thread of its own, while the answer is read


def test_a_call_from_async_code_lies_under_the_span_there(spans, tmp_path):
    async def call():
        async with await AsyncMemory.open(tmp_path / "m.db", embedder=None) as memory:
            with span("mine"):
                await memory.search("bees", user_id=USER)

    asyncio.run(call())
    [mine] = [one for one in spans() if one.name == "mine"]
    [search] = [one for one in spans() if one.name == "mnemic.search"]
    assert search.parent.span_id == mine.context.span_id


def test_of_an_error_its_class_is_told_and_nothing_else(spans, tmp_path):
    with Memory.open(tmp_path / "m.db", embedder=None) as memory, pytest.raises(InvalidQuery, match="zqconfig"):
        memory.search("bees", user_id=USER, config="zqconfig")
    [found] = [one for one in spans() if one.name == "mnemic.search"]
    assert dict(found.attributes) == {"error.type": "InvalidQuery"}
    assert found.status.status_code is trace.StatusCode.ERROR
    assert found.events == ()


def test_an_embedder_that_fails_is_seen(spans, tmp_path):
    class Broken(HashEmbedder):
        def embed(self, texts, *, kind="passage"):
            raise EmbeddingFailed(f"no: {texts}")

    with Memory.open(tmp_path / "m.db", embedder=Broken()) as memory:
        memory.add(SAID, user_id=USER)
    errors = [dict(one.attributes)["error.type"] for one in spans() if one.name == "mnemic.embed"]
    assert set(errors) == {"EmbeddingFailed"}


def test_spanned_keeps_what_a_function_is(spans):
    @spanned("twice", lambda result: {"mnemic.result": result})
    def twice(number: int) -> int:
        """Doubles."""
        return 2 * number

    assert (twice(4), twice.__name__, twice.__doc__) == (8, "twice", "Doubles.")
    assert told(spans, "twice") == {"mnemic.result": 8}


def test_pydantic_ai_makes_no_spans_of_its_own_for_us(spans, tmp_path):
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    Agent.instrument_all()
    try:
        model = PydanticAIModel(TestModel(custom_output_text='{"answer": "zqbees", "sources": [1]}'))
        with Memory.open(tmp_path / "m.db", embedder=None, model=model, workers=0) as memory:
            memory.add(SAID, user_id=USER, enrich="never")
            assert memory.answer("Who keeps zqbees?", user_id=USER).text == "zqbees"
            "".join(memory.answer_stream("Who keeps zqbees?", user_id=USER))
    finally:
        Agent.instrument_all(False)
    assert {one.instrumentation_scope.name for one in spans()} == {"mnemic"}


def test_the_page_lists_every_span():
    """And no other: names stand in the code as they are, and each is the first argument."""
    root = Path(__file__).parents[2]
    made = {
        name
        for path in (root / "src" / "mnemic").rglob("*.py")
        for name in re.findall(r"span(?:ned)?\(\s*\"(mnemic\.[\w.]+)\"", path.read_text(encoding="utf-8"))
    }
    table = [
        line for line in (root / "docs" / "telemetry.md").read_text(encoding="utf-8").splitlines() if "| `" in line
    ]
    listed = {name for line in table for name in re.findall(r"`(mnemic\.[\w.]+)`", line.split("|")[1])}
    assert listed == made


LOADED = """
import sys
from mnemic import Memory
with Memory.open("m.db", embedder=None) as memory:
    memory.add("I keep bees.", user_id="ana")
    assert memory.search("bees", user_id="ana").results
    memory.context("bees", user_id="ana")
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""


def test_without_a_program_that_wants_spans_nothing_of_it_is_loaded(tmp_path):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OTEL_")}
    done = subprocess.run(
        [sys.executable, "-c", LOADED], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert done.stdout.strip() == "[]"
