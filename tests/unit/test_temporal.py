"""Phrases and the intervals that they mean, computed by hand from a calendar of 2023.

The reference is Thursday 25 May 2023, 14:30 UTC: its week began on Monday 22 May, the weekend before it was 20-21 May.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from time import process_time
from zoneinfo import ZoneInfo

import pytest

from mnemic.algo.calendar import contains, distance_days, overlap, shift, third, unit
from mnemic.algo.temporal import find
from mnemic.types import Interval
from yardstick import at_most

NOW = datetime(2023, 5, 25, 14, 30, tzinfo=UTC)


def at(text: str) -> datetime | None:
    """``2023-05-25``, ``2023-05-25 14:30``, ``now`` or ``-`` for an open side."""
    if text == "-":
        return None
    return NOW if text == "now" else datetime.fromisoformat(text).replace(tzinfo=UTC)


# text | the phrase in it | start | end; a trailing * marks phrases that do not depend on the reference.
TABLE = """
I went there yesterday. | yesterday | 2023-05-24 | 2023-05-25
today | today | 2023-05-25 | 2023-05-26
See you tomorrow! | tomorrow | 2023-05-26 | 2023-05-27
the day before yesterday | the day before yesterday | 2023-05-23 | 2023-05-24
the day after tomorrow | the day after tomorrow | 2023-05-27 | 2023-05-28
this morning | this morning | 2023-05-25 05:00 | 2023-05-25 12:00
this afternoon | this afternoon | 2023-05-25 12:00 | 2023-05-25 18:00
this evening | this evening | 2023-05-25 18:00 | 2023-05-26
tonight | tonight | 2023-05-25 18:00 | 2023-05-26 05:00
last night | last night | 2023-05-24 18:00 | 2023-05-25 05:00
yesterday evening | yesterday evening | 2023-05-24 18:00 | 2023-05-25
tomorrow morning | tomorrow morning | 2023-05-26 05:00 | 2023-05-26 12:00
last week | last week | 2023-05-15 | 2023-05-22
this week | this week | 2023-05-22 | 2023-05-29
next week | next week | 2023-05-29 | 2023-06-05
last month | last month | 2023-04-01 | 2023-05-01
next month | next month | 2023-06-01 | 2023-07-01
this month | this month | 2023-05-01 | 2023-06-01
last year | last year | 2022-01-01 | 2023-01-01
next year | next year | 2024-01-01 | 2025-01-01
last quarter | last quarter | 2023-01-01 | 2023-04-01
last weekend | last weekend | 2023-05-20 | 2023-05-22
this past weekend | this past weekend | 2023-05-20 | 2023-05-22
next weekend | next weekend | 2023-06-03 | 2023-06-05
We will hike this weekend. | this weekend | 2023-05-27 | 2023-05-29
I went hiking this weekend. | this weekend | 2023-05-20 | 2023-05-22
Over the weekend we painted the fence. | the weekend | 2023-05-20 | 2023-05-22
Any plans for the weekend? | the weekend | 2023-05-27 | 2023-05-29
two weekends ago | two weekends ago | 2023-05-13 | 2023-05-15
the weekend before last | the weekend before last | 2023-05-13 | 2023-05-15
the week before last | the week before last | 2023-05-08 | 2023-05-15
the year before last | the year before last | 2021-01-01 | 2022-01-01
last Friday | last Friday | 2023-05-19 | 2023-05-20
last Thursday | last Thursday | 2023-05-18 | 2023-05-19
last Fri I moved | last Fri | 2023-05-19 | 2023-05-20
next Tuesday | next Tuesday | 2023-05-30 | 2023-05-31
next Friday | next Friday | 2023-05-26 | 2023-05-27
this Friday | this Friday | 2023-05-26 | 2023-05-27
I met him this Tuesday. | this Tuesday | 2023-05-23 | 2023-05-24
this coming Monday | this coming Monday | 2023-05-29 | 2023-05-30
I was there on Friday. | Friday | 2023-05-19 | 2023-05-20
I will be there on Friday. | Friday | 2023-05-26 | 2023-05-27
Tuesday last week | Tuesday last week | 2023-05-16 | 2023-05-17
on Monday of next week | Monday of next week | 2023-05-29 | 2023-05-30
two Fridays ago | two Fridays ago | 2023-05-12 | 2023-05-13
We danced on Saturday night. | Saturday night | 2023-05-20 18:00 | 2023-05-21 05:00
two days ago | Two days ago | 2023-05-23 | 2023-05-24
two weeks ago | two weeks ago | 2023-05-08 | 2023-05-15
a month ago | a month ago | 2023-04-01 | 2023-05-01
10 years ago | 10 years ago | 2013-01-01 | 2014-01-01
a couple of weeks ago | a couple of weeks ago | 2023-05-01 | 2023-05-15
a few years ago | a few years ago | 2018-01-01 | 2022-01-01
a few days ago | a few days ago | 2023-05-20 | 2023-05-24
several months ago | several months ago | 2022-10-01 | 2023-03-01
5-6 years ago | 5-6 years ago | 2017-01-01 | 2019-01-01
two or three weeks ago | two or three weeks ago | 2023-05-01 | 2023-05-15
a day or two ago | a day or two ago | 2023-05-23 | 2023-05-25
a year and a half ago | a year and a half ago | 2021-09-01 | 2022-02-01
half a year ago | half a year ago | 2022-11-01 | 2022-12-01
twenty-five years ago | twenty-five years ago | 1998-01-01 | 1999-01-01
two decades ago | two decades ago | 2001-01-01 | 2006-01-01
three hours ago | three hours ago | 2023-05-25 11:00 | 2023-05-25 12:00
two summers ago | two summers ago | 2021-06-01 | 2021-09-01
in two weeks | in two weeks | 2023-06-05 | 2023-06-12
The exam is in 3 days. | in 3 days | 2023-05-28 | 2023-05-29
in a few months | in a few months | 2023-07-01 | 2023-11-01
in a week's time | in a week's time | 2023-05-29 | 2023-06-05
three days from now | three days from now | 2023-05-28 | 2023-05-29
within two weeks | within two weeks | now | 2023-06-08 14:30
the past few weeks | the past few weeks | 2023-04-20 14:30 | now
the last three years | the last three years | 2020-05-25 14:30 | now
over the last month | the last month | 2023-04-25 14:30 | now
in the next two weeks | the next two weeks | now | 2023-06-08 14:30
for three years | for three years | 2020-05-25 14:30 | now
I have known them for 4 years. | for 4 years | 2019-05-25 14:30 | now
Seven years now, and I love it. | Seven years now | 2016-05-25 14:30 | now
the other day | the other day | 2023-05-18 | 2023-05-25
recently | recently | 2023-04-25 | now
lately | lately | 2023-04-25 | now
just now | just now | 2023-05-25 14:20 | 2023-05-25 14:31
a while back | a while back | 2021-05-25 14:30 | 2023-05-11 14:30
later this month | later this month | now | 2023-06-01
earlier today | earlier today | 2023-05-25 | now
the rest of the year | rest of the year | now | 2024-01-01
in May | May | 2023-05-01 | 2023-06-01
I moved here in August. | August | 2022-08-01 | 2022-09-01
I will move there in August. | August | 2023-08-01 | 2023-09-01
last May | last May | 2022-05-01 | 2022-06-01
last April | last April | 2023-04-01 | 2023-05-01
next May | next May | 2024-05-01 | 2024-06-01
in July of last year | July of last year | 2022-07-01 | 2022-08-01
early June | early June | 2023-06-01 | 2023-06-11
at the end of July | the end of July | 2023-07-21 | 2023-08-01
late last year | late last year | 2022-09-01 | 2023-01-01
the end of the month | the end of the month | 2023-05-21 | 2023-06-01
May 7th | May 7th | 2023-05-07 | 2023-05-08
the 7th of May | the 7th of May | 2023-05-07 | 2023-05-08
I was born on October 5th. | October 5th | 2022-10-05 | 2022-10-06
We travel on October 5th, so I will pack. | October 5th | 2023-10-05 | 2023-10-06
It happened on the 15th. | the 15th | 2023-05-15 | 2023-05-16
May 3-5 | May 3-5 | 2023-05-03 | 2023-05-06
between May 3 and May 9 | between May 3 and May 9 | 2023-05-03 | 2023-05-10
from Monday to Wednesday | from Monday to Wednesday | 2023-05-22 | 2023-05-25
last summer | last summer | 2022-06-01 | 2022-09-01
this summer | this summer | 2023-06-01 | 2023-09-01
last winter | last winter | 2022-12-01 | 2023-03-01
We swam a lot in the summer. | the summer | 2022-06-01 | 2022-09-01
Christmas | Christmas | 2022-12-25 | 2022-12-26
last Christmas | last Christmas | 2022-12-25 | 2022-12-26
next Christmas | next Christmas | 2023-12-25 | 2023-12-26
New Year's Eve | New Year's Eve | 2022-12-31 | 2023-01-01
On Thanksgiving we cooked. | Thanksgiving | 2022-11-24 | 2022-11-25
last Halloween | last Halloween | 2022-10-31 | 2022-11-01
at 3 pm | 3 pm | 2023-05-25 15:00 | 2023-05-25 16:00
at 14:45 | 14:45 | 2023-05-25 14:45 | 2023-05-25 14:46
half past six | half past six | 2023-05-25 18:30 | 2023-05-25 18:31
quarter to nine | quarter to nine | 2023-05-25 08:45 | 2023-05-25 08:46
noon | noon | 2023-05-25 12:00 | 2023-05-25 13:00
at midnight | midnight | 2023-05-26 | 2023-05-26 01:00
8 o'clock tonight | 8 o'clock tonight | 2023-05-25 20:00 | 2023-05-25 21:00
tomorrow at 3pm | tomorrow at 3pm | 2023-05-26 15:00 | 2023-05-26 16:00
yesterday at 9:15 a.m. | yesterday at 9:15 a.m. | 2023-05-24 09:15 | 2023-05-24 09:16
3-5 pm | 3-5 pm | 2023-05-25 15:00 | 2023-05-25 17:00
8-8:30 pm | 8-8:30 pm | 2023-05-25 20:00 | 2023-05-25 20:30
from 11 to 1 pm | from 11 to 1 pm | 2023-05-25 11:00 | 2023-05-25 13:00
since 2016 | since 2016 | 2016-01-01 | now
I've been here since last May. | since last May | 2022-05-01 | now
until next week | until next week | - | 2023-06-05
after Christmas | after Christmas | 2022-12-26 | -
the week before | the week before | 2023-05-15 | 2023-05-22
2023-05-07 | 2023-05-07 | 2023-05-07 | 2023-05-08 *
2023-05-07T14:30Z | 2023-05-07T14:30Z | 2023-05-07 14:30 | 2023-05-07 14:31 *
2023-05-07 14:30:10+02:00 | 2023-05-07 14:30:10+02:00 | 2023-05-07 12:30:10 | 2023-05-07 12:30:11 *
paid in 2023-05 | 2023-05 | 2023-05-01 | 2023-06-01 *
05/07/2023 | 05/07/2023 | 2023-05-07 | 2023-05-08 *
25/07/2023 | 25/07/2023 | 2023-07-25 | 2023-07-26 *
7.5.2023 | 7.5.2023 | 2023-05-07 | 2023-05-08 *
5/7/23 | 5/7/23 | 2023-05-07 | 2023-05-08 *
我们在2023年5月7日见面 | 2023年5月7日 | 2023-05-07 | 2023-05-08 *
٢٠٢٣-٠٥-٠٧ | ٢٠٢٣-٠٥-٠٧ | 2023-05-07 | 2023-05-08 *
7 May, 2023 | 7 May, 2023 | 2023-05-07 | 2023-05-08 *
May 7, 2023 | May 7, 2023 | 2023-05-07 | 2023-05-08 *
the 7th of May 2023 | the 7th of May 2023 | 2023-05-07 | 2023-05-08 *
Oct. 13th, 2023 | Oct. 13th, 2023 | 2023-10-13 | 2023-10-14 *
Sunday, May 7th, 2023 | Sunday, May 7th, 2023 | 2023-05-07 | 2023-05-08 *
1:56 pm on 8 May, 2023 | 1:56 pm on 8 May, 2023 | 2023-05-08 13:56 | 2023-05-08 13:57 *
May 5, 2023 in the evening | May 5, 2023 in the evening | 2023-05-05 18:00 | 2023-05-06 *
the night of 5 May 2023 | the night of 5 May 2023 | 2023-05-05 18:00 | 2023-05-06 05:00 *
in May 2023 | May 2023 | 2023-05-01 | 2023-06-01 *
early August, 2023 | early August, 2023 | 2023-08-01 | 2023-08-11 *
May '09 | May '09 | 2009-05-01 | 2009-06-01 *
in 2019 | 2019 | 2019-01-01 | 2020-01-01 *
2019 | 2019 | 2019-01-01 | 2020-01-01 *
mid-2021 | mid-2021 | 2021-05-01 | 2021-09-01 *
in the 90s | the 90s | 1990-01-01 | 2000-01-01 *
the 1920s | the 1920s | 1920-01-01 | 1930-01-01 *
the late '80s | late '80s | 1987-01-01 | 1990-01-01 *
the nineties | the nineties | 1990-01-01 | 2000-01-01 *
the 19th century | the 19th century | 1800-01-01 | 1900-01-01 *
the summer of 2022 | the summer of 2022 | 2022-06-01 | 2022-09-01 *
winter 2022 | winter 2022 | 2022-12-01 | 2023-03-01 *
Christmas 2020 | Christmas 2020 | 2020-12-25 | 2020-12-26 *
Easter 2023 | Easter 2023 | 2023-04-09 | 2023-04-10 *
Thanksgiving 2023 | Thanksgiving 2023 | 2023-11-23 | 2023-11-24 *
Memorial Day 2023 | Memorial Day 2023 | 2023-05-29 | 2023-05-30 *
Q3 2021 | Q3 2021 | 2021-07-01 | 2021-10-01 *
the second half of 2021 | the second half of 2021 | 2021-07-01 | 2022-01-01 *
last week of September 2023 | last week of September 2023 | 2023-09-24 | 2023-10-01 *
the first weekend of August 2023 | the first weekend of August 2023 | 2023-08-05 | 2023-08-07 *
the second Sunday in May 2023 | the second Sunday in May 2023 | 2023-05-14 | 2023-05-15 *
the Sunday before 25 May 2023 | the Sunday before 25 May 2023 | 2023-05-21 | 2023-05-22 *
the week before 9 June 2023 | the week before 9 June 2023 | 2023-06-02 | 2023-06-09 *
the week of 23 August 2023 | the week of 23 August 2023 | 2023-08-21 | 2023-08-28 *
two weekends before 17 July 2023 | two weekends before 17 July 2023 | 2023-07-08 | 2023-07-10 *
the weekend after 3 June, 2022 | the weekend after 3 June, 2022 | 2022-06-04 | 2022-06-06 *
three days after Christmas 2020 | three days after Christmas 2020 | 2020-12-28 | 2020-12-29 *
from 2019 to 2021 | from 2019 to 2021 | 2019-01-01 | 2022-01-01 *
2019-2021 | 2019-2021 | 2019-01-01 | 2022-01-01 *
May 3-5, 2021 | May 3-5, 2021 | 2021-05-03 | 2021-05-06 *
3 to 5 May 2021 | 3 to 5 May 2021 | 2021-05-03 | 2021-05-06 *
from May to July 2021 | from May to July 2021 | 2021-05-01 | 2021-08-01 *
between May 3 and June 9, 2021 | between May 3 and June 9, 2021 | 2021-05-03 | 2021-06-10 *
December 30, 2020 - January 2, 2021 | December 30, 2020 - January 2, 2021 | 2020-12-30 | 2021-01-03 *
before 2020 | before 2020 | - | 2020-01-01 *
"""
ROWS = [tuple(cell.strip() for cell in line.split("|")) for line in TABLE.strip().splitlines()]


def test_the_table_is_as_large_as_it_claims() -> None:
    assert len(ROWS) >= 180


@pytest.mark.parametrize(("text", "phrase", "start", "end"), ROWS, ids=[row[0] for row in ROWS])
def test_phrase(text: str, phrase: str, start: str, end: str) -> None:
    absolute = end.endswith("*")
    (mention,) = find(text, NOW)
    assert text[mention.start : mention.end].lower() == phrase.lower()
    assert mention.interval == Interval(at(start), at(end.removesuffix("*").strip()))
    assert mention.relative is not absolute
    if absolute:
        assert find(text, None) == [mention]


@pytest.mark.parametrize(
    "text",
    [
        "when I was 5", "once a year", "twice a day", "every Friday", "on Fridays", "each summer",
        "I run every morning", "I may go", "you may 5 times", "march on", "we march for peace", "the sun is shining",
        "we sat down", "April said no", "June's garden is lovely", "August has a nice voice", "the fall was hard",
        "don't fall down", "spring forward", "the second option", "a second chance", "my first day",
        "third time lucky", "2000 steps", "I walked in 2000 steps", 'I read "1984"', "reading 1984 now",
        "between 2000 and 2500 calories", "a total of 2000", "$2019", "version 2019.5", "24/7", "9/10",
        "a 16:9 screen", "we won 3:16", "room 2019", "555-2023-05-07", "on the 3rd floor", "in his early 30s",
        "she is in her mid-20s", "last minute", "last name", "the last time", "next door", "this time",
        "the end of the day", "the end of the world", "one day", "some day", "for 30 minutes",
        "I lived there for two years", "I lost 5 kg in three months", "in a minute", "the Midnight Sun",
        "Winter Park", "2023-13-45", "0000-00-00", "99999999999999999999", "in 99999", "10000 years ago",
        "Friday nights are fun", "during the winter months", "Merry Christmas!", "a Christmas tree", "\ud800", "\x00",
        "", " ", "🎉🎉", "昨天我去了",
    ],
)  # fmt: skip
def test_no_time(text: str) -> None:
    assert find(text, NOW) == []


@pytest.mark.parametrize(
    "text", ["yesterday", "last week", "in May", "May 7th", "for three years", "at 3 pm", "Christmas"]
)
def test_relative_phrases_need_a_reference(text: str) -> None:
    assert find(text, None) == []


def test_since_is_open_without_a_reference() -> None:
    (mention,) = find("since 2016", None)
    assert mention.interval == Interval(datetime(2016, 1, 1, tzinfo=UTC), None)
    assert not mention.relative


@pytest.mark.fault("B058")
def test_yesterday_of_an_old_message() -> None:
    (mention,) = find("Yesterday I planted the pear tree.", datetime(2021, 3, 10, 9, tzinfo=UTC))
    assert mention.interval == Interval(datetime(2021, 3, 9, tzinfo=UTC), datetime(2021, 3, 10, tzinfo=UTC))


@pytest.mark.fault("B059")
def test_no_date_is_invented() -> None:
    assert find("I planted the pear tree.", datetime(2021, 3, 10, 9, tzinfo=UTC)) == []


@pytest.mark.fault("B064")
def test_last_month_is_a_range() -> None:
    (mention,) = find("What happened last month?", datetime(2022, 6, 15, 12, tzinfo=UTC))
    assert mention.interval == Interval(datetime(2022, 5, 1, tzinfo=UTC), datetime(2022, 6, 1, tzinfo=UTC))


@pytest.mark.fault("B060")
@pytest.mark.parametrize(
    ("zone", "day"), [("UTC", 1), ("Asia/Tokyo", 1), ("Pacific/Honolulu", 31)], ids=lambda value: str(value)
)
def test_days_are_those_of_the_zone_of_the_reference(zone: str, day: int) -> None:
    home = ZoneInfo(zone)
    reference = datetime(2024, 1, 2, 1, 30, tzinfo=UTC).astimezone(home)
    (mention,) = find("yesterday", reference)
    start = mention.interval.start
    assert start is not None
    assert (start.tzinfo, start.day, start.hour) == (home, day, 0)


def test_a_naive_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="zone"):
        find("yesterday", datetime(2023, 5, 25))


def test_day_first() -> None:
    (mention,) = find("05/07/2023", NOW, day_first=True)
    assert mention.interval == Interval(at("2023-07-05"), at("2023-07-06"))
    (mention,) = find("05/25/2023", NOW, day_first=True)
    assert mention.interval == Interval(at("2023-05-25"), at("2023-05-26"))


def test_counting_from_the_only_phrase_before() -> None:
    text = "We met on 3 May 2020 and three days later we left; it was fun."
    first, later = find(text, NOW)
    assert text[later.start : later.end] == "three days later"
    assert later.interval == Interval(at("2020-05-06"), at("2020-05-07"))
    assert not later.relative
    assert first.interval == Interval(at("2020-05-03"), at("2020-05-04"))
    assert find("and three days later we left", NOW) == []
    assert len(find("We met on 3 May 2020 or 5 June 2020, and three days later we left.", NOW)) == 2


def test_a_day_that_does_not_exist_leaves_its_month() -> None:
    (mention,) = find("31 February 2020", NOW)
    assert mention.interval == Interval(at("2020-02-01"), at("2020-03-01"))


def test_several_phrases_in_order() -> None:
    text = "Last week I was ill, but yesterday was fine and in June 2024 I will be in Rome."
    found = find(text, NOW)
    assert [text[m.start : m.end] for m in found] == ["Last week", "yesterday", "June 2024"]
    assert [m.relative for m in found] == [True, True, False]


@pytest.mark.parametrize(
    ("reference", "text", "start"),
    [
        ("2023-10-05", "last summer", "2023-06-01"),
        ("2023-08-11", "last summer", "2022-06-01"),
        ("2024-01-10", "this winter", "2023-12-01"),
        ("2023-07-09", "last weekend", "2023-07-01"),  # a Sunday: the weekend that runs is this one
        ("2023-07-10", "last weekend", "2023-07-08"),
        ("2024-03-10", "February 29", "2024-02-29"),
        ("2023-03-10", "I was born on February 29", "2020-02-29"),
        ("2024-02-29", "last year", "2023-01-01"),
        ("2023-03-31", "a month ago", "2023-02-01"),
        ("2023-01-02", "last week", "2022-12-26"),
        ("2023-01-15", "last month", "2022-12-01"),
    ],
)
def test_other_references(reference: str, text: str, start: str) -> None:
    (mention,) = find(text, at(reference))
    assert mention.interval.start == at(start)


@pytest.mark.parametrize("year", [1, 2, 9998, 9999])
@pytest.mark.parametrize("text", [row[0] for row in ROWS])
def test_the_ends_of_time_never_raise(year: int, text: str) -> None:
    for reference in (
        datetime(year, 1, 1, tzinfo=UTC),
        datetime(year, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-12))),
    ):
        for mention in find(text, reference):
            start, end = mention.interval.start, mention.interval.end
            assert start is None or end is None or start <= end


@pytest.mark.parametrize(
    "unit_text",
    ["the ", "1 ", "in ", "a few ", "last ", "5 May ", "the end of ", "the day before ", "2023-05-", "from May to ",
     "3 pm on ", "12:30 ", " ", "\x00", "x", "1", "'", "Friday and ", "the first week of ", "one or two "],
)  # fmt: skip
def test_time_is_linear_in_hostile_text(unit_text: str) -> None:
    def cost(length: int) -> float:
        began = process_time()
        find(unit_text * (length // len(unit_text)), NOW)
        return process_time() - began

    cost(1_000)
    small, large = cost(2_000), cost(10_000)
    assert large < 15 * small + 0.05


def test_long_prose_is_read_fast() -> None:
    text = "I went to the market on Friday and bought 3 apples, as I may do each week. " * 3_300
    with at_most(5):  # a quarter of a megabyte
        assert len(find(text, NOW)) == 3_300


def test_overlap() -> None:
    week, day = unit(NOW, "week"), unit(NOW, "day")
    assert overlap(week, day) == day
    assert overlap(day, unit(NOW, "day", 1)) is None
    assert overlap(Interval(None, NOW), day) == Interval(day.start, NOW)
    assert overlap(Interval(None, None), day) == day


def test_contains() -> None:
    day = unit(NOW, "day")
    assert contains(day, NOW)
    assert day.start is not None
    assert day.end is not None
    assert contains(day, day.start)
    assert not contains(day, day.end)
    assert contains(Interval(None, None), NOW)


def test_distance() -> None:
    day = unit(NOW, "day")
    assert distance_days(day, unit(NOW, "day", 1)) == 0
    assert distance_days(day, unit(NOW, "day", 3)) == 2
    assert distance_days(unit(NOW, "day", 3), day) == 2
    assert distance_days(day, Interval(None, day.start)) == 0
    assert distance_days(day, unit(NOW, "week")) == 0


def test_shift_clamps_the_day_of_the_month() -> None:
    last = datetime(2024, 1, 31, tzinfo=UTC)
    assert shift(last, 1, "month") == datetime(2024, 2, 29, tzinfo=UTC)
    assert shift(last, 13, "month") == datetime(2025, 2, 28, tzinfo=UTC)
    assert shift(datetime(2024, 2, 29, tzinfo=UTC), 1, "year") == datetime(2025, 2, 28, tzinfo=UTC)


def test_hours_pass_as_on_a_stopwatch() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    before = datetime(2024, 3, 31, 1, 30, tzinfo=berlin)  # the clock goes from 2 to 3
    assert shift(before, 1, "hour").hour == 3
    assert shift(before, 1, "day") == datetime(2024, 4, 1, 1, 30, tzinfo=berlin)


def test_thirds() -> None:
    month = unit(NOW, "month")
    cuts = [third(month, which, "month") for which in ("early", "mid", "late")]
    assert [c.start for c in cuts] == [at("2023-05-01"), at("2023-05-11"), at("2023-05-21")]
    assert cuts[-1].end == month.end
