"""Time phrases in any text seen from any moment, and moments and zones as callers write them."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np

from fuzz.given import Given
from mnemic.algo.calendar import distance_days, overlap
from mnemic.algo.moments import parse_time, zone
from mnemic.algo.temporal import find
from mnemic.algo.when import proximity
from mnemic.errors import InvalidInput
from mnemic.types import Interval

_WORDS = """
yesterday today tomorrow tonight last next this the past coming previous week weekend fortnight month quarter year
decade century Friday Sun Monday Tue May March August Sept Dec in on at since until before after from to between and
of by early mid late end beginning start first second 3rd 21st 7 12 2019 1984 99 'a few' couple two three several
days weeks years ago later now for summer winter autumn Christmas Easter Halloween Thanksgiving New Year Eve 's pm
a.m. noon midnight half hour minute morning night evening 31 29 February 2023-05-07 05/07/2023 7.5.2023 3:45 Q3 '90s
every recently day other BC AD 9999 0001 0000 00:00 24:00 T Z +02:00 W23 - – / . , : th nd"""
WORDS = tuple(_WORDS.split())
ZONES = ("UTC", "Asia/Tokyo", "America/New_York", "Europe/Berlin", "Africa/Monrovia", "+14:00", "-23:59", "Z")
SEEDS = tuple(
    text.encode() + bytes(16)
    for text in (
        "yesterday at 3 pm, two weeks ago, and last Friday night",
        "from May 3rd to July 2021; between Feb 29 and March 3, 2024",
        "the Sunday before 25 May 2023, mid-2021, the 90s, Q3 2021, in the summer of 2022",
        "2023-05-07T14:30:00+02:00 05/07/2023 7.5.2023 1:56 pm on 8 May, 2023",
        "since last Christmas until the week after next; every other day",
        "1717434300.123",
    )
)
_INSTANTS = (
    "0001-01-01T00:00",
    "9999-12-31T23:59:59.999999",
    "2024-02-29T12:00",
    "2023-12-31T23:59",
    "1900-01-01T00:00",
)


def check(data: bytes) -> None:
    """See the module."""
    given = Given(data)
    where = zone(given.one(ZONES))
    reference = _reference(given, where)
    text = given.rest_as_text()
    _phrases(text, reference, where)
    _moment(text)
    _zone(text)


def _reference(given: Given, where: tzinfo) -> datetime | None:
    kind = given.number(0, 7)
    if kind == 0:
        return None
    if kind == 1:
        return datetime.fromisoformat(given.one(_INSTANTS)).replace(tzinfo=where)
    minutes = given.number(0, 60 * 24 * 365 * 300)
    return (datetime(1800, 1, 1) + timedelta(minutes=minutes)).replace(tzinfo=where)


def _phrases(text: str, reference: datetime | None, where: tzinfo) -> None:
    mentions = find(text, reference)
    end = 0
    for mention in mentions:
        assert end <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].strip() == text[mention.start : mention.end]
        end = mention.end
        interval = mention.interval
        assert interval.start is not None or interval.end is not None
        if interval.start is not None and interval.end is not None:
            assert interval.start <= interval.end
        for side in (interval.start, interval.end):
            assert side is None or side.utcoffset() is not None
            assert side is None or reference is None or side.tzinfo is where
        if reference is None:
            assert not mention.relative
    _distances([mention.interval for mention in mentions])


def _distances(intervals: list[Interval]) -> None:
    for a, b in itertools.pairwise(intervals):
        assert distance_days(a, b) == distance_days(b, a) >= 0
        assert overlap(a, b) == overlap(b, a)
    if not intervals:
        return
    low = np.array([-np.inf if one.start is None else one.start.timestamp() for one in intervals])
    high = np.array([np.inf if one.end is None else one.end.timestamp() for one in intervals])
    near = proximity(low, high, [(low[0], high[0], 1.0)], scale_days=30.0)
    assert ((near >= 0) & (near <= 1)).all()
    assert near[0] == 1


def _moment(text: str) -> None:
    try:
        moment = parse_time(text, "UTC")
    except InvalidInput as error:
        assert str(error).encode()  # shown on any console, whatever the text is
        return
    assert moment is not None
    assert moment.utcoffset() is not None
    assert parse_time(moment.isoformat(), "UTC") == moment.astimezone(UTC)


def _zone(text: str) -> None:
    try:
        where = zone(text)
    except InvalidInput as error:
        assert len(str(error)) < 1000
        return
    assert datetime(2024, 1, 1, tzinfo=where).astimezone(UTC).year in (2023, 2024)
