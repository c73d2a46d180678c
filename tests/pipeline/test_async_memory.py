"""AsyncMemory: the same methods, and an event loop that never waits for them."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time

import pytest

from mnemic.errors import InvalidScope, StoreClosed
from mnemic.memory import AsyncMemory, Memory
from mnemic.models.doubles import HashEmbedder


def public(owner):
    return {name: member for name, member in inspect.getmembers(owner) if not name.startswith("_")}


def test_it_has_exactly_the_same_methods():
    assert public(AsyncMemory).keys() == public(Memory).keys()


@pytest.mark.parametrize("name", sorted(public(Memory)))
def test_with_the_same_parameters_and_defaults(name):
    one, other = getattr(Memory, name), getattr(AsyncMemory, name)
    assert inspect.signature(other).parameters == inspect.signature(one).parameters
    assert other.__doc__


class Slow(HashEmbedder):
    """Takes its time without giving the processor away, as a model does."""

    def embed(self, texts, *, kind="passage"):
        until = time.perf_counter() + 0.3
        while time.perf_counter() < until:
            time.sleep(0.001)
        return super().embed(texts, kind=kind)


@pytest.mark.fault("B026")
def test_nothing_blocks_the_event_loop(tmp_path, caplog):
    async def use():
        asyncio.get_running_loop().slow_callback_duration = 0.2
        async with await AsyncMemory.open(tmp_path / "m.db", embedder=Slow()) as memory:
            given = [{"role": "user", "content": f"I live in city number {n}. " * 20, "id": str(n)} for n in range(50)]
            added = await memory.add(given, user_id="u")
            assert added.new == 50
            await memory.search("city", user_id="u", explain=True)
            await memory.context("city", user_id="u")
            await memory.export(user_id="u")
            await memory.status(user_id="u")
            await memory.delete(user_id="u", turn_id="7")
            await memory.delete_all(user_id="u")

    with caplog.at_level(logging.WARNING, "asyncio"):
        asyncio.run(use(), debug=True)
    assert [record for record in caplog.records if "took" in record.getMessage()] == []


@pytest.mark.fault("B115")
@pytest.mark.fault("B122")
def test_concurrent_use(tmp_path):
    async def use():
        async with await AsyncMemory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
            for repeat in range(3):
                gate = asyncio.Semaphore(16)

                async def one(n, gate=gate, repeat=repeat):
                    async with gate:
                        added = await memory.add(f"The barge number {n} of {repeat} left.", user_id="u")
                        found = await memory.search(f"barge number {n}", user_id="u")
                        return added.turn_ids[0], len(found.results)

                answers = await asyncio.gather(*(one(n) for n in range(33)))
                assert all(count for _, count in answers)
                stored = await memory.get_all(user_id="u")
                assert {turn_id for turn_id, _ in answers} <= {turn.turn_id for turn in stored}
                assert len(stored) == 33 * (repeat + 1)
            assert await memory.check() == []

    asyncio.run(use())


def test_every_method_answers_as_memory_does(tmp_path):
    async def use():
        async with await AsyncMemory.open(tmp_path / "m.db", embedder=HashEmbedder()) as memory:
            plain = memory.memory
            await memory.add({"role": "user", "content": "I love green tea.", "id": "a"}, user_id="u")
            assert await memory.get("a", user_id="u") == plain.get("a", user_id="u")
            assert await memory.get_all(user_id="u") == plain.get_all(user_id="u")
            assert await memory.notes(user_id="u") == plain.notes(user_id="u")
            assert (await memory.update("a", user_id="u", metadata={"n": 1})).metadata == {"n": 1}
            assert await memory.history("a", user_id="u") == plain.history("a", user_id="u")
            assert await memory.context("tea", user_id="u") == plain.context("tea", user_id="u")
            assert (await memory.search("tea", user_id="u")).results == plain.search("tea", user_id="u").results
            assert await memory.export(user_id="u") == list(plain.export(user_id="u"))
            assert await memory.status(user_id="u") == plain.status(user_id="u")
            assert await memory.users() == ["u"]
            assert await memory.check() == []
            assert await memory.reembed(HashEmbedder(32)) > 0
            with pytest.raises(InvalidScope):
                await memory.search("tea", user_id="")
            with pytest.raises(InvalidScope):
                await memory.export(user_id="")
            assert await memory.delete(user_id="u", turn_id="a") == 1
            assert await memory.delete_all(user_id="u") == 0
            await memory.close()
        with pytest.raises(StoreClosed):
            await memory.users()

    asyncio.run(use())
