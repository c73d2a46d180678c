"""Waiting for a model that is busy, and how many ask it at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.errors import InvalidInput, LanguageModelBusy, LanguageModelFailed
from mnemic.models import patience
from mnemic.models.doubles import ScriptedModel
from mnemic.models.patience import LimitedModel, Patience, PatientModel
from mnemic.models.prices import Price, listed
from mnemic.protocols import Completion, Reply

REQUEST = Completion("notes", "Be brief.", "Who?", 50)


def busy(retry_after_s=None):
    return LanguageModelBusy("busy", retry_after_s=retry_after_s)


def patient(script, *, waited, **settings):
    return PatientModel(ScriptedModel(script), patience=Patience(**settings), wait=waited.append)


def test_waits_double_up_to_a_bound():
    waited = []
    assert patient([busy()] * 5 + ["ok"], waited=waited, tries=6, longest_delay_s=5).complete(REQUEST).text == "ok"
    assert waited == [1, 2, 4, 5, 5]


@pytest.mark.fault("B129")
def test_what_the_provider_asks_for_is_waited_for():
    waited = []
    model = patient([busy(7), busy(0.5), "ok"], waited=waited, tries=3)
    assert model.complete(REQUEST).text == "ok"
    assert waited == [7, 2]


def test_nobody_waits_for_an_hour():
    waited = []
    with pytest.raises(LanguageModelBusy):
        patient([busy(3600), "ok"], waited=waited).complete(REQUEST)
    assert waited == []


def test_tries_are_counted():
    waited = []
    with pytest.raises(LanguageModelBusy):
        patient([busy()] * 3 + ["ok"], waited=waited, tries=3).complete(REQUEST)
    assert waited == [1, 2]


def test_what_would_fail_again_is_not_tried_again():
    waited = []
    with pytest.raises(LanguageModelFailed, match="no such model"):
        patient([LanguageModelFailed("no such model"), "ok"], waited=waited).complete(REQUEST)
    assert waited == []


@pytest.mark.fault("B129")
def test_fifty_requests_survive_a_rate_limit():
    script = [busy(2) if n in (7, 8, 9) else str(n) for n in range(53)]
    waited = []
    model = patient(script, waited=waited)
    assert len({model.complete(REQUEST).text for _ in range(50)}) == 50
    assert sorted(waited) == [2, 2, 4]


def test_so_many_are_under_way_and_no_more():
    under_way, most, gate = 0, 0, threading.Barrier(2, timeout=5)
    lock = threading.Lock()

    class Counting:
        name = "a:b"

        def complete(self, request):
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            gate.wait()
            with lock:
                under_way -= 1
            return Reply("x", "stop", 1, 1)

    model = LimitedModel(Counting(), jobs=2)
    with ThreadPoolExecutor(6) as pool:
        assert len([*pool.map(model.complete, [REQUEST] * 6)]) == 6
    assert most == 2


def test_who_waits_lets_others_go_first():
    second = []

    def wait(_):
        # While the first one waits, the only place is free.
        second.append(model.complete(REQUEST).text)

    script = ScriptedModel([busy(), "of the second", "of the first"])
    model = PatientModel(LimitedModel(script, jobs=1), wait=wait)
    assert model.complete(REQUEST).text == "of the first"
    assert second == ["of the second"]


def test_the_clocks_own_wait_is_spread(monkeypatch):
    seconds = []

    class Waited(threading.Event):
        def wait(self, timeout=None):
            seconds.append(timeout)
            return True

    monkeypatch.setattr(patience.threading, "Event", Waited)
    model = PatientModel(ScriptedModel([busy(8)] * 4 + ["ok"]), patience=Patience(tries=5))
    assert model.complete(REQUEST).text == "ok"
    assert all(8 <= one <= 10 for one in seconds)
    assert len(set(seconds)) > 1


@pytest.mark.parametrize("wrong", [{"tries": 0}, {"first_delay_s": -1}, {"longest_asked_s": -1}])
def test_impossible_patience(wrong):
    with pytest.raises(InvalidInput, match="tries must be at least 1"):
        Patience(**wrong)


def test_nobody_at_a_time_is_no_number():
    with pytest.raises(InvalidInput, match="jobs must be at least 1, not 0"):
        LimitedModel(ScriptedModel([]), jobs=0)


def test_prices_by_the_list():
    pytest.importorskip("genai_prices", reason="the extra llm is not installed")
    assert listed("openai:gpt-4.1-mini") == Price(0.4, 1.6)
    assert listed("openai:no-such-model") is None
    assert listed("nobody:m") is None
    assert listed("ollama:llama3") is None
    assert listed("openai:gpt-4.1-mini@http://127.0.0.1:9/v1") is None
