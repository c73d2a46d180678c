"""What language models took, and whether more is allowed."""

from __future__ import annotations

from datetime import date

from sqlalchemy import Connection, Table, func, insert, select, update

from mnemic.algo.budgets import check
from mnemic.config import Budgets
from mnemic.protocols import Amount, Usage
from mnemic.store import users
from mnemic.store.database import alone
from mnemic.store.shared_tables import AMOUNTS, spending
from mnemic.store.shared_tables import usage as by_user
from mnemic.types import Purpose

_UNIT = 10**9
"""Of the stored cost, in one of the currency's: a token costs less than a millionth."""


def spend(
    connection: Connection, user_id: str, purpose: Purpose, amount: Amount, *, day: date, within: Budgets
) -> None:
    """Add an amount: see ``protocols.Ledger``."""
    alone(connection, spending)
    if within != Budgets():
        user_day = _sum(connection, by_user, {"user_id": user_id, "day": day})
        check(within, amount, user_day=user_day, total=_sum(connection, spending, {}))
    key = {"day": day, "purpose": purpose}
    _add(connection, spending, key, amount)
    if users.exists(connection, user_id):
        _add(connection, by_user, {"user_id": user_id, **key}, amount)


def usage(connection: Connection, user_id: str | None, *, since: date | None) -> list[Usage]:
    """What was spent: see ``protocols.Ledger``."""
    table = spending if user_id is None else by_user
    query = select(table.c.day, table.c.purpose, *(table.c[name] for name in AMOUNTS))
    if user_id is not None:
        query = query.where(table.c.user_id == user_id)
    if since is not None:
        query = query.where(table.c.day >= since)
    rows = connection.execute(query.order_by(table.c.day, table.c.purpose)).all()
    return [Usage(row.day, row.purpose, _amount(*(getattr(row, name) for name in AMOUNTS))) for row in rows]


def _sum(connection: Connection, table: Table, key: dict[str, str | date]) -> Amount:
    sums = (func.coalesce(func.sum(table.c[name]), 0) for name in AMOUNTS)
    query = select(*sums).where(*(table.c[name] == value for name, value in key.items()))
    return _amount(*connection.execute(query).one())


def _add(connection: Connection, table: Table, key: dict[str, str | date], amount: Amount) -> None:
    added = _numbers(amount)
    mine = [table.c[name] == value for name, value in key.items()]
    grown = {name: table.c[name] + number for name, number in added.items()}
    if connection.execute(update(table).where(*mine).values(grown)).rowcount == 0:
        connection.execute(insert(table), {**key, **added})


def _numbers(amount: Amount) -> dict[str, int]:
    cost = round(amount.cost * _UNIT)
    return dict(zip(AMOUNTS, (amount.calls, amount.tokens_in, amount.tokens_out, cost, amount.unpriced), strict=True))


def _amount(*numbers: int) -> Amount:
    """From the columns; PostgreSQL sums to a decimal."""
    calls, tokens_in, tokens_out, cost, unpriced = map(int, numbers)
    return Amount(calls, tokens_in, tokens_out, cost / _UNIT, unpriced)
