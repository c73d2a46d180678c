"""Whether a call may be made, from what is spent and what it may take."""

from __future__ import annotations

from typing import Final

from mnemic.config import BudgetName, Budgets, Limit
from mnemic.errors import BudgetExceeded
from mnemic.protocols import Amount

TOTAL: Final = "all calls together"
"""How a message names the budget that all users share."""
_SCOPE: Final[dict[BudgetName, str]] = {"call": "a call", "user_day": "a user and day", "total": TOTAL}
_OTHERWISE: Final[dict[BudgetName, str]] = {
    "call": "ask for less at once",
    "user_day": "go on tomorrow (days are UTC)",
    "total": "stop here",
}


def check(budgets: Budgets, needed: Amount, *, user_day: Amount, total: Amount) -> None:
    """Whether every budget allows a call that may take ``needed``, after what is spent.

    Args:
        budgets: Of a call, of its user's day, and in total.
        needed: What the call may take at most, by estimate.
        user_day: What its user spent on its day before.
        total: What was spent in all.

    Raises:
        BudgetExceeded: One does not: the narrowest.
    """
    spent: dict[BudgetName, Amount] = {"call": Amount(), "user_day": user_day, "total": total}
    limits: dict[BudgetName, Limit] = {"call": budgets.call, "user_day": budgets.user_day, "total": budgets.total}
    for name, before in spent.items():
        limit = limits[name]
        if limit.calls is not None and name != "call":
            _within(name, "calls", before.calls, needed.calls, limit.calls)
        if limit.tokens is not None:
            _within(name, "tokens", before.tokens, needed.tokens, limit.tokens)
        if limit.cost is not None:
            _within(name, "cost", before.cost, needed.cost, limit.cost)


def difference(actual: Amount, reserved: Amount) -> Amount:
    """What has to be added to a reserved amount to make it the actual one."""
    return Amount(
        actual.calls - reserved.calls,
        actual.tokens_in - reserved.tokens_in,
        actual.tokens_out - reserved.tokens_out,
        actual.cost - reserved.cost,
        actual.unpriced - reserved.unpriced,
    )


def _within(name: BudgetName, unit: str, spent: float, needed: float, limit: float) -> None:
    if spent + needed <= limit:
        return
    shown = [f"{number:,.6g}" if unit == "cost" else f"{number:,}" for number in (limit, spent, needed)]
    raise BudgetExceeded(
        f"the budget of {_SCOPE[name]} is {unit} {shown[0]}: {shown[1]} are spent, and this call may take {shown[2]}; "
        f"it was not made. Raise the budget (MNEMIC_BUDGET_{name.upper()}={unit}=…, or Budgets({name}=…)), or "
        f"{_OTHERWISE[name]}",
        budget=name,
        unit=unit,
        spent=spent,
        needed=needed,
        limit=limit,
    )
