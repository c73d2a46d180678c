"""What calls may take, what they took, and what happens when a budget is used up."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from mnemic.algo import tokens
from mnemic.algo.budgets import check, difference
from mnemic.cli import options
from mnemic.config import Budgets, Limit
from mnemic.errors import BudgetExceeded, InvalidInput, LanguageModelBusy, LanguageModelFailed, MissingExtra
from mnemic.models.doubles import ScriptedModel
from mnemic.models.metered import MeteredModel, size
from mnemic.models.prices import Price
from mnemic.models.purposes import LanguageModels, budgets
from mnemic.protocols import Amount, Batch, Completion, Reply, Usage
from mnemic.store import open_store
from mnemic.types import Purpose, Turn

NOW = datetime(2024, 5, 17, 23, 30, tzinfo=UTC)
REQUEST = Completion("notes", "Be brief.", "Who is Rob?", 20)
ESTIMATE = size(REQUEST) + REQUEST.max_tokens


@pytest.fixture
def store(tmp_path, new_database):
    path = tmp_path / "memory.db"
    path.write_bytes(new_database.read_bytes())
    with closing(open_store(path)) as opened:
        yield opened


def metered(store, script, *, limit=None, price=None, user_id="ana", now=NOW):
    model = ScriptedModel(script)
    return MeteredModel(model, store, user_id, budgets=limit or Budgets(), price=price, clock=lambda: now), model


def spent(store, user_id=None):
    return [(use.day.isoformat(), use.purpose, use.amount) for use in store.usage(user_id)]


def test_the_estimate_is_of_all_that_is_sent():
    plain = tokens.count("Be brief.") + tokens.count("Who is Rob?")
    assert size(REQUEST) == plain
    assert size(replace(REQUEST, schema={"type": "object"})) > plain


def test_what_a_call_took_replaces_what_it_could_take(store):
    model, _ = metered(store, [Reply("x", "stop", 100, 7), Reply("y", "length", 50, 20)], price=Price(1.0, 10.0))
    model.complete(REQUEST)
    model.complete(replace(REQUEST, purpose="cues"))
    assert spent(store) == [
        ("2024-05-17", "cues", Amount(1, 50, 20, 0.00025)),
        ("2024-05-17", "notes", Amount(1, 100, 7, 0.00017)),
    ]


@pytest.mark.parametrize(
    ("limit", "named"),
    [
        (Budgets(call=Limit(tokens=ESTIMATE - 1)), ("call", "tokens", 0, ESTIMATE, ESTIMATE - 1)),
        (Budgets(total=Limit(tokens=ESTIMATE - 1)), ("total", "tokens", 0, ESTIMATE, ESTIMATE - 1)),
        (Budgets(user_day=Limit(calls=0)), ("user_day", "calls", 0, 1, 0)),
    ],
    ids=str,
)
def test_a_call_that_a_budget_does_not_allow_is_not_made(store, limit, named):
    model, asked = metered(store, ["x"], limit=limit)
    with pytest.raises(BudgetExceeded) as caught:
        model.complete(REQUEST)
    error = caught.value
    assert (error.budget, error.unit, error.spent, error.needed, error.limit) == named
    assert f"MNEMIC_BUDGET_{named[0].upper()}={named[1]}=" in str(error)
    assert (asked.requests, spent(store)) == ([], [])


@pytest.mark.fault("B184")
def test_of_n_tokens_call_n_plus_one_is_not_made_and_a_raised_budget_resumes(store):
    script = [Reply("x", "stop", 80, 10)] * 9
    limit = Budgets(total=Limit(tokens=3 * 90 + ESTIMATE - 1))
    model, asked = metered(store, script, limit=limit)
    for _ in range(3):
        model.complete(REQUEST)
    with pytest.raises(BudgetExceeded, match="270 are spent"):
        model.complete(REQUEST)
    assert len(asked.requests) == 3
    more, asked = metered(store, script, limit=Budgets(total=Limit(tokens=3 * 90 + ESTIMATE)))
    assert more.complete(REQUEST).text == "x"


def test_a_stream_is_counted_and_kept_to_its_budget(store):
    model, asked = metered(store, [Reply("x y", "stop", 100, 7)] * 2, limit=Budgets(total=Limit(calls=2)))
    pieces = []
    assert model.stream(REQUEST, pieces.append).text == "x y"
    assert (pieces, spent(store)) == (["x y"], [("2024-05-17", "notes", Amount(1, 100, 7, 0.0, 1))])

    def full(_):
        raise KeyError("full")

    with pytest.raises(KeyError):
        model.stream(REQUEST, full)
    # What the reader ended counts with all that it may have taken.
    [(_, _, amount)] = spent(store)
    assert (amount.calls, amount.tokens) == (2, 107 + ESTIMATE)
    with pytest.raises(BudgetExceeded):
        model.stream(REQUEST, pieces.append)
    assert len(asked.requests) == 2


def test_a_budget_in_money(store):
    price = Price(1_000_000, 1_000_000)  # one a token
    limit = Budgets(total=Limit(cost=ESTIMATE + 5))
    model, _ = metered(store, [Reply("x", "stop", 4, 2)] * 2, limit=limit, price=price)
    model.complete(REQUEST)
    with pytest.raises(BudgetExceeded, match="cost"):
        model.complete(REQUEST)


def test_a_budget_in_money_needs_a_price(store):
    with pytest.raises(InvalidInput, match="MNEMIC_PRICE"):
        metered(store, [], limit=Budgets(user_day=Limit(cost=1)))


def test_a_user_has_a_day_and_another_user_another(store):
    limit = Budgets(user_day=Limit(calls=1))
    for user_id in ("ana", "bo"):
        make_user(store, user_id)
    for user_id, now in (("ana", NOW), ("bo", NOW), ("ana", NOW + timedelta(hours=1))):
        model, _ = metered(store, ["x", "y"], limit=limit, user_id=user_id, now=now)
        model.complete(REQUEST)
        with pytest.raises(BudgetExceeded, match="go on tomorrow"):
            model.complete(REQUEST)
    assert [day for day, *_ in spent(store, "ana")] == ["2024-05-17", "2024-05-18"]


@pytest.mark.parametrize(
    ("error", "taken"),
    [
        (LanguageModelFailed("no"), Amount(1, unpriced=1)),
        (LanguageModelBusy("429"), Amount(1, unpriced=1)),
        (LanguageModelBusy("late", billed=True), Amount(1, size(REQUEST), REQUEST.max_tokens, unpriced=1)),
        (MissingExtra("it", "llm"), Amount()),
    ],
    ids=str,
)
def test_what_failed_calls_take(store, error, taken):
    model, _ = metered(store, [error])
    with pytest.raises(type(error)):
        model.complete(REQUEST)
    assert spent(store) == [("2024-05-17", "notes", taken)]


def test_what_was_under_way_when_the_process_died_counts(store):
    model, asked = metered(store, [])
    asked.complete = die
    with pytest.raises(KeyboardInterrupt):
        model.complete(REQUEST)
    assert spent(store)[0][2].tokens == ESTIMATE


def die(_):
    raise KeyboardInterrupt


def make_user(store, user_id):
    store.write(user_id, Batch(turns=(Turn("t", "s", "user", "Ana", "x"),)), now=NOW)


def test_two_stores_share_a_budget(store, tmp_path):
    limit = Budgets(total=Limit(calls=1))
    metered(store, ["x"], limit=limit)[0].complete(REQUEST)
    with closing(open_store(tmp_path / "memory.db")) as other, pytest.raises(BudgetExceeded):
        metered(other, ["x"], limit=limit)[0].complete(REQUEST)


def test_the_narrowest_budget_is_named():
    limit = Budgets(user_day=Limit(tokens=5), total=Limit(tokens=5))
    with pytest.raises(BudgetExceeded, match="a user and day"):
        check(limit, Amount(1, 6), user_day=Amount(), total=Amount())
    check(limit, Amount(1, 3, 2), user_day=Amount(), total=Amount())


def test_a_difference_added_to_the_reserved_is_the_actual():
    actual, reserved = Amount(1, 5, 2, 0.5, 0), Amount(1, 9, 9, 0.25, 1)
    assert difference(actual, reserved) == Amount(0, -4, -7, 0.25, -1)


# Purposes ---------------------------------------------------------------------------------------------


def test_a_model_for_each_purpose_and_one_for_the_rest(store):
    small, large = ScriptedModel(["s"] * 5, name="a:small"), ScriptedModel(["l"] * 5, name="a:large")
    models = LanguageModels({"": small, "answer": large}, store, clock=lambda: NOW)
    assert models.names == dict.fromkeys(get_args(Purpose), "a:small") | {"answer": "a:large"}
    assert models.of("answer", "ana").complete(REQUEST).text == "l"
    assert models.of("cues", "ana").complete(REQUEST).text == "s"


def test_purposes_without_a_model(store):
    assert LanguageModels(None, store, clock=lambda: NOW).of("notes", "ana") is None
    only = LanguageModels({"notes": ScriptedModel([])}, store, clock=lambda: NOW)
    assert only.of("cues", "ana") is None
    with pytest.raises(InvalidInput, match="no purpose 'poems'"):
        LanguageModels({"poems": ScriptedModel([])}, store, clock=lambda: NOW)


def test_retries_are_metered(store):
    script = [LanguageModelBusy("429")] * 2 + [Reply("x", "stop", 3, 1)]
    models = LanguageModels(ScriptedModel(script), store, clock=lambda: NOW, wait=lambda _: None)
    models.of("notes", "ana").complete(REQUEST)
    assert store.usage(None) == [Usage(NOW.date(), "notes", Amount(3, 3, 1, 0.0, 3))]


def test_the_environment_says_all_of_it(store, monkeypatch):
    pytest.importorskip("genai_prices", reason="the extra llm is not installed")
    monkeypatch.setenv("MNEMIC_MODEL", "openai:gpt-4.1-mini")
    monkeypatch.setenv("MNEMIC_MODEL_NOTES", "ollama:llama3")
    monkeypatch.setenv("MNEMIC_PRICE_NOTES", "1,2")
    monkeypatch.setenv("MNEMIC_BUDGET_USER_DAY", "tokens=1000, cost=0.5")
    given = options.readers()
    models = LanguageModels(given["model"], store, clock=lambda: NOW, budgets=given["budgets"], prices=given["prices"])
    assert (models.names["notes"], models.names["cues"]) == ("ollama:llama3", "openai:gpt-4.1-mini")
    assert given["budgets"] == Budgets(user_day=Limit(tokens=1000, cost=0.5))
    monkeypatch.delenv("MNEMIC_PRICE_NOTES")
    given = options.readers()
    with pytest.raises(InvalidInput, match="what ollama:llama3 costs"):
        LanguageModels(given["model"], store, clock=lambda: NOW, budgets=given["budgets"], prices=given["prices"])


@pytest.mark.parametrize("text", ["5000", "tokens", "tokens=x", "tokens=-1", "euros=5", "", "tokens=1.5"])
def test_text_that_is_no_budget(text):
    with pytest.raises(InvalidInput, match="is no budget"):
        budgets({"total": text})
