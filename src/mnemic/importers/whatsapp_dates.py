"""Dates at the beginning of WhatsApp's lines, in the ways of many countries."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemic.importers.files import DateOrder
from mnemic.importers.loose import BAD_TIME

_MARKS = "\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff"
_BEFORE_NOON = r"a\.?\s?m\.?|오전|上午|午前"
_AFTER_NOON = r"p\.?\s?m\.?|오후|下午|午後"
_HALF = rf"(?:{_BEFORE_NOON}|{_AFTER_NOON})"
_DATE = r"(?P<a>\d{1,4})(?P<mark>[./-])\s?(?P<b>\d{1,2})(?P=mark)\s?(?P<c>\d{1,4})\.?"
_TIME = rf"(?P<early>{_HALF}\s?)?(?P<hour>\d{{1,2}})[:.](?P<minute>\d\d)(?:[:.](?P<second>\d\d))?(?P<late>\s?{_HALF})?"
_WHEN = rf"{_DATE},?\s(?:(?:à|at|kl\.?|um|às)\s)?{_TIME}"
_IOS = re.compile(rf"[{_MARKS}]*\[{_WHEN}\]\s?(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_ANDROID = re.compile(rf"[{_MARKS}]*{_WHEN}\s[-–—]\s(?P<rest>.*)", re.IGNORECASE | re.DOTALL)
_AFTERNOON = re.compile(_AFTER_NOON, re.IGNORECASE)

Form = Literal["dmy", "mdy", "ymd"]
_WRITTEN: dict[Form, str] = {"dmy": "day/month/year", "mdy": "month/day/year", "ymd": "year/month/day"}


@dataclass(frozen=True, slots=True)
class Moment:
    """The beginning of a message: its date as three numbers in their order, its time, and what follows.

    Attributes:
        half: 0 before noon, 12 after; None where all 24 hours are counted.
    """

    date: tuple[int, int, int]
    mark: str
    hour: int
    minute: int
    second: int
    half: int | None
    rest: str
    is_ios: bool


@dataclass(frozen=True, slots=True)
class Order:
    """In what order a file's dates are written.

    Attributes:
        told: Why so, for people.
    """

    form: Form
    told: str


def moment_of(line: str) -> Moment | None:
    """The beginning of a message; None where the line starts none."""
    found = _IOS.match(line)
    is_ios = found is not None
    found = found or _ANDROID.match(line)
    if found is None:
        return None
    half = found["early"] or found["late"]
    return Moment(
        date=(int(found["a"]), int(found["b"]), int(found["c"])),
        mark=found["mark"],
        hour=int(found["hour"]),
        minute=int(found["minute"]),
        second=int(found["second"] or 0),
        half=None if half is None else 12 if _AFTERNOON.search(half) else 0,
        rest=found["rest"],
        is_ios=is_ios,
    )


def read_order(moments: Iterable[tuple[int, Moment]], given: DateOrder | None) -> Order | None:
    """Decide the order of a file's dates over all of them; None where there are none.

    Args:
        moments: Line number and beginning of each message, in order; read once, and not kept.
        given: What somebody says, where the file does not tell.
    """
    evidence = _Evidence()
    for number, moment in moments:
        evidence.take(number, moment)
    return evidence.order(given)


def decided(moment: Moment, order: Order) -> datetime | str:
    """The time of a message; or why it has none."""
    year, month, day = _arranged(moment.date, order.form)
    hour = moment.hour if moment.half is None else moment.hour % 12 + moment.half
    try:
        return datetime(year, month, day, hour, moment.minute, moment.second)
    except ValueError:
        return BAD_TIME


def _arranged(date: tuple[int, int, int], form: Form) -> tuple[int, int, int]:
    """Year, month and day."""
    places = {"dmy": (2, 1, 0), "mdy": (2, 0, 1), "ymd": (0, 1, 2)}[form]
    year, month, day = (date[place] for place in places)
    return year + 2000 if year < 100 else year, month, day


class _Evidence:
    """What speaks for each order, gathered line by line."""

    def __init__(self) -> None:
        self._count = 0
        self._has_points = False
        self._year_first = 0
        self._above: dict[Form, int] = {}
        self._last: dict[Form, tuple[int, int, int]] = {}
        self._backward: dict[Form, int] = {"dmy": 0, "mdy": 0}

    def take(self, number: int, moment: Moment) -> None:
        self._count += 1
        first, second, _ = moment.date
        self._has_points |= moment.mark == "."
        if first > 31:
            self._year_first += 1
            return
        if first > 12:
            self._above.setdefault("dmy", number)
        if second > 12:
            self._above.setdefault("mdy", number)
        for form in self._backward:
            date = _arranged(moment.date, form)
            self._backward[form] += date < self._last.get(form, date)
            self._last[form] = date

    def order(self, given: DateOrder | None) -> Order | None:
        if not self._count:
            return None
        if self._year_first:
            return _order("ymd", "a year stands first")
        if len(self._above) == 1:
            [(form, number)] = self._above.items()
            return _order(form, f"line {number} has a day above 12")
        if given is not None:
            return _order(given, "as asked")
        if self._has_points:
            return _order("dmy", "they are written with points")
        by_order = sorted(self._backward, key=lambda form: self._backward[form])
        if self._backward[by_order[0]] < self._backward[by_order[1]]:
            return _order(by_order[0], "so the messages are in order")
        return _order("dmy", "nothing in the file tells; if that is wrong, import it with --date-order mdy")


def _order(form: Form, why: str) -> Order:
    return Order(form, f"dates are read as {_WRITTEN[form]}: {why}")
