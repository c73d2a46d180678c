"""What clients get: whole, within a size, from every layer, and an error where something failed."""

from __future__ import annotations

import asyncio
import re
import sqlite3

import pytest

from mnemic import Memory
from mnemic.algo import tokens
from mnemic.errors import NotFound
from mnemic.models.doubles import HashEmbedder
from mnemic.types import STATUSES


def said(words, **more):
    return {"role": "user", "name": "Ana", "content": words, **more}


def ask(memory, *calls, user_id="u"):
    """What an MCP client gets for each (tool, arguments): whether it is an error, and the text."""
    pytest.importorskip("mcp", reason="the extra server is not installed")
    from mcp import Client

    from mnemic.service import mcp as service

    async def work():
        async with Client(service.for_one(memory, user_id)) as client:
            results = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [(bool(result.is_error), result.content[0].text) for result in results]

    return asyncio.run(work())


@pytest.mark.fault("B185")
@pytest.mark.fault("B197")
def test_tools_without_arguments_answer_within_a_size_and_say_how_much_there_is(memory):
    turns = [said(f"Hm {n}.", id=f"t{n}") for n in range(600)]
    memory.add(turns, user_id="u")
    notes = [{"text": f"Ana keeps {'very ' * 30}odd thing number {n}", "sources": [f"t{n}"]} for n in range(600)]
    memory.add_notes(notes, user_id="u")
    names = ("list_notes", "memory_status", "search_memories", "get_context", "get_memory", "delete_memory")
    found = dict(zip(names, ask(memory, *((name, {}) for name in names)), strict=True))
    assert {name for name, (failed, _) in found.items() if not failed} == {"list_notes", "memory_status"}
    assert all(f"{name} takes " in found[name][1] for name in ("search_memories", "get_context", "get_memory"))
    [(_, most), (_, odd)] = ask(
        memory, ("list_notes", {"limit": 500}), ("search_memories", {"query": "odd", "top_k": 50})
    )
    for text in (most, odd, *(text for _, text in found.values())):
        assert tokens.count(text) < 8500
    assert "50 lines of 600 are shown" in found["list_notes"][1]
    assert "of 600 are shown" in most
    assert most.count("odd thing") > 100


@pytest.mark.fault("B186")
def test_a_context_is_cut_at_the_borders_of_hits_best_first(memory):
    long = "The ferry to Iona sails at noon with plenty of salt and wind. " * 64
    for number in range(12):
        memory.add(said(f"Ferry {number}. {long}", id=f"f{number}"), user_id="u", session_id=f"s{number}")
    block = memory.context("When does the ferry to Iona sail?", user_id="u", max_tokens=2000)
    assert 1000 < tokens.count(block) <= 2000
    assert block.endswith("</memory>")
    hits = memory.search("When does the ferry to Iona sail?", user_id="u", top_k=100).results
    assert block.index(hits[0].text) < 200
    inside = block.removeprefix("<memory>\n").removesuffix("</memory>")
    entries = [
        entry.partition("\n")[2].rstrip("\n") for entry in re.split(r"(?m)^(?=\[\d+\] session)", inside) if entry
    ]
    assert len(entries) > 3
    assert set(entries) <= {hit.text for hit in hits}


@pytest.mark.fault("B140")
@pytest.mark.fault("B106")
def test_what_a_model_is_told_to_remember_is_found_from_everywhere(memory):
    remembered = ("add_memory", {"messages": "I adore elderflower tea.", "session_id": "no such room"})
    [(failed, told)] = ask(memory, remembered)
    assert not failed
    assert told.startswith("Stored: 1")
    looks = [
        ("search_memories", {"query": "elderflower"}),
        ("get_context", {"query": "elderflower"}),
        ("list_notes", {}),
    ]
    for failed, text in ask(memory, *looks, ("search_memories", {"query": "tea", "session_id": "no such room"})):
        assert not failed
        assert "elderflower" in text
    for mode in ("graph", "notes", "episodes", "hybrid", "best_effort"):
        assert memory.search("elderflower tea", user_id="u", mode=mode).results, mode
    assert "elderflower" in memory.context("elderflower", user_id="u")
    with pytest.raises(NotFound, match="no such room!"):
        memory.delete(user_id="u", session_id="no such room!")


@pytest.mark.fault("B139")
def test_a_write_that_failed_is_an_error_object_and_never_nothing(memory):
    memory.add(said("I sing."), user_id="u")
    with sqlite3.connect(memory._store._database.path) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON turns BEGIN SELECT RAISE(FAIL, 'disk I/O error'); END")
    [(failed, told)] = ask(memory, ("add_memory", {"messages": "I dance."}))
    assert failed
    assert told
    assert [turn.text for turn in memory.get_all(user_id="u")] == ["I sing."]


@pytest.mark.fault("B154")
@pytest.mark.fault("B153")
def test_as_many_results_as_asked_for(memory):
    memory.add([said(f"Heron number {n} stands in the reeds.", id=str(n)) for n in range(300)], user_id="u")
    for limit in (41, 200, 300):
        found = memory.search("heron in the reeds", user_id="u", granularity="turn", top_k=limit)
        assert len({hit.turn_ids for hit in found.results}) == limit


@pytest.mark.fault("B158")
def test_several_statuses_are_a_union_whatever_their_order(memory):
    memory.add([said("I love oak."), said("I love elm.")], user_id="u")
    memory.retract(memory.notes(user_id="u")[0].note_id, user_id="u")
    both = [memory.notes(user_id="u", statuses=order) for order in (STATUSES, STATUSES[::-1], ("retracted", "current"))]
    assert [[note.text for note in found] for found in both] == [["I love oak.", "I love elm."]] * 3


@pytest.mark.fault("B172")
def test_what_is_mentioned_in_every_message_is_one_cue_of_one_size(memory):
    def size(user_id, count):
        memory.add([said(f"Aurora carries load {n}.", id=str(n)) for n in range(count)], user_id=user_id)
        with sqlite3.connect(memory._store._database.path) as raw:
            row = "SELECT sum(length(cast(cue AS text)) + length(cast(coalesce(surface, '') AS text))) FROM cues"
            return raw.execute(f"{row} WHERE user_id = ? AND cue LIKE '%aurora%'", (user_id,)).fetchone()[0]

    assert size("few", 20) == size("many", 800)
    [cue] = [one for one in memory.cues(user_id="many", like="aurora", limit=9) if one.key == "aurora"]
    assert cue.units >= 800
    assert len(memory.neighbours("aurora", user_id="many", limit=20).units) <= 20
    found = memory.search("What does Aurora carry?", user_id="many", top_k=10)
    assert len(found.results) == 10


@pytest.mark.fault("B105")
def test_upkeep_of_one_user_leaves_the_others_as_they_were(memory):
    for user_id in ("a", "b"):
        for month, words in ((1, "I like Rome."), (4, "I do not like Rome.")):
            memory.add(said(words, timestamp=f"2024-0{month}-02"), user_id=user_id, session_id=str(month))
    before = list(memory.export(user_id="b"))
    assert memory.reflect(user_id="a")
    memory.forget(user_id="a", max_notes=1)
    memory.wait(user_id="a")
    memory.delete(user_id="a", session_id="1")
    assert list(memory.export(user_id="b")) == before


class Plain(sqlite3.Connection):
    """A connection of a Python that was built without loadable extensions."""

    @property
    def enable_load_extension(self):
        raise AttributeError("enable_load_extension")

    load_extension = enable_load_extension


@pytest.mark.fault("B188")
def test_no_extension_of_sqlite_is_needed(tmp_path, monkeypatch):
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: connect(*given, **{"factory": Plain, **named}))
    with Memory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
        memory.add(said("I adore elderflower tea."), user_id="u")
        assert memory.search("elderflower", user_id="u").results
        assert memory.check() == []
