"""What every store promises about spending (``protocols.Ledger``)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta

import pytest
from store_kit import HOSTILE, NOW, batch, turn

from mnemic.config import Budgets, Limit
from mnemic.errors import BudgetExceeded
from mnemic.protocols import Amount, Usage

DAY = date(2024, 5, 17)
ONE = Amount(1, 10, 2, 0.000_000_5, 1)
FREE = Budgets()


def known(store, *user_ids):
    for user_id in user_ids:
        store.write(user_id, batch(turn("t")), now=NOW)


def test_amounts_add_up_by_day_and_purpose(store):
    known(store, "ana", "bo")
    for user_id, purpose, day in [
        ("ana", "notes", DAY),
        ("ana", "notes", DAY),
        ("ana", "cues", DAY),
        ("bo", "notes", DAY + timedelta(1)),
    ]:
        store.spend(user_id, purpose, ONE, day=day, within=FREE)
    assert store.usage("ana") == [Usage(DAY, "cues", ONE), Usage(DAY, "notes", Amount(2, 20, 4, 0.000_001, 2))]
    assert store.usage("bo") == [Usage(DAY + timedelta(1), "notes", ONE)]
    assert store.usage(None) == [*store.usage("ana"), *store.usage("bo")]
    assert store.usage(None, since=DAY + timedelta(1)) == store.usage("bo")
    assert store.usage("nobody") == []


@pytest.mark.parametrize("user_id", HOSTILE)
def test_users_are_told_apart(store, user_id):
    known(store, user_id)
    store.spend(user_id, "notes", ONE, day=DAY, within=FREE)
    assert store.usage(user_id) == [Usage(DAY, "notes", ONE)]
    assert [other for other in HOSTILE if store.usage(other)] == [user_id]


def test_what_a_budget_refuses_is_not_added(store):
    known(store, "ana")
    within = Budgets(total=Limit(tokens=20))
    store.spend("ana", "notes", ONE, day=DAY, within=within)
    before = (store.usage("ana"), store.usage(None))
    with pytest.raises(BudgetExceeded):
        store.spend("ana", "notes", ONE, day=DAY, within=within)
    assert (store.usage("ana"), store.usage(None)) == before


def test_a_correction_may_be_negative_and_past_every_budget(store):
    known(store, "ana")
    store.spend("ana", "notes", ONE, day=DAY, within=FREE)
    store.spend("ana", "notes", Amount(0, -10, 50, 0.0, -1), day=DAY, within=FREE)
    assert store.usage("ana") == [Usage(DAY, "notes", Amount(1, 0, 52, 0.000_000_5, 0))]


def test_an_erased_user_is_forgotten_and_the_money_is_not(store):
    known(store, "ana")
    store.spend("ana", "notes", ONE, day=DAY, within=FREE)
    store.delete_user("ana")
    store.spend("ana", "notes", ONE, day=DAY, within=FREE)
    assert (store.usage("ana"), store.users()) == ([], [])
    assert store.usage(None) == [Usage(DAY, "notes", Amount(2, 20, 4, 0.000_001, 2))]


def test_spending_is_no_change_of_a_memory(store):
    known(store, "ana")
    before = store.revision("ana")
    store.spend("ana", "notes", ONE, day=DAY, within=FREE)
    assert store.revision("ana") == before


def test_threads_together_keep_to_a_budget(store):
    known(store, "ana")
    within = Budgets(user_day=Limit(calls=5))

    def spend(_):
        try:
            store.spend("ana", "notes", ONE, day=DAY, within=within)
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(spend, range(12))) == 5
    assert store.usage("ana")[0].amount.calls == 5
