"""What holds for time phrases in any text, seen from any reference."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.calendar import contains, distance_days, overlap
from mnemic.algo.temporal import find
from mnemic.types import Interval

MOMENTS = st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)).map(
    lambda d: d.replace(tzinfo=UTC)
)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
VOCABULARY = """
yesterday today tomorrow tonight last next this the past week weekend month year Friday Sun May March in on at since
until before after from to between and of early mid late end first second 3rd 7 12 2019 1984 99 a few couple two three
days weeks years ago later now for summer winter Christmas New ' s Eve pm am : - / . , noon half century 90 morning
night 31 February 29 2023-05-07 05/07/2023 every recently day other
"""
WORDS = st.sampled_from(VOCABULARY.split())
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(WORDS, max_size=14).map(" ".join), st.lists(WORDS, max_size=8).map("".join)
)
# Relative phrases of days and weeks: their interval lies at a fixed distance from the week of the reference.
STEADY = st.sampled_from(
    [
        "yesterday", "tomorrow", "tonight", "last week", "next week", "last Friday", "next Tuesday", "two days ago",
        "last weekend", "two weeks ago", "in 3 days", "this morning", "the week before last", "the other day",
        "Friday night", "tomorrow at 3pm", "a couple of weeks ago", "two weekends ago",
    ]
)  # fmt: skip
ABSOLUTE = st.sampled_from(
    [
        "in 2019", "May 2023", "7 May, 2023", "the summer of 2022", "2023-05-07", "mid-2021", "the 90s", "Q3 2021",
        "the Sunday before 25 May 2023", "from May to July 2021", "1:56 pm on 8 May, 2023", "Christmas 2020",
        "between Feb 29 and March 3, 2024", "May 3-5, 2021",
    ]
)  # fmt: skip
EDGES = st.one_of(st.none(), MOMENTS)


@st.composite
def intervals(draw: st.DrawFn) -> Interval:
    start, end = draw(EDGES), draw(EDGES)
    return Interval(end, start) if start is not None and end is not None and start > end else Interval(start, end)


@settings(max_examples=200)
@given(text=TEXTS, reference=st.one_of(st.none(), MOMENTS), zone=ZONES)
def test_mentions_are_ordered_slices_with_ordered_intervals(
    text: str, reference: datetime | None, zone: timezone
) -> None:
    reference = reference if reference is None else reference.astimezone(zone)
    end = 0
    for mention in find(text, reference):
        assert end <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == text[mention.start : mention.end].strip()
        end = mention.end
        first, last = mention.interval.start, mention.interval.end
        assert first is not None or last is not None
        if first is not None and last is not None:
            assert first <= last
        for side in (first, last):
            assert side is None or side.utcoffset() == (timedelta(0) if reference is None else zone.utcoffset(None))


@settings(max_examples=200)
@given(text=TEXTS, one=MOMENTS, other=MOMENTS)
def test_what_is_called_absolute_does_not_depend_on_the_reference(text: str, one: datetime, other: datetime) -> None:
    seen = {(m.start, m.end): m for m in find(text, other)}
    for mention in find(text, one):
        if not mention.relative and (mention.start, mention.end) in seen:
            assert seen[mention.start, mention.end].interval == mention.interval


@settings(max_examples=60)
@given(phrase=ABSOLUTE, reference=MOMENTS)
def test_absolute_phrases_are_found_the_same_from_everywhere(phrase: str, reference: datetime) -> None:
    assert find(phrase, reference) == find(phrase, None)
    assert [m.relative for m in find(phrase, None)] == [False]


@settings(max_examples=100)
@given(phrase=STEADY, reference=MOMENTS, weeks=st.integers(-500, 500))
def test_whole_weeks_shift_with_the_reference(phrase: str, reference: datetime, weeks: int) -> None:
    shift = timedelta(weeks=weeks)
    (here,) = find(phrase, reference)
    (there,) = find(phrase, reference + shift)
    assert here.interval.start is not None
    assert here.interval.end is not None
    assert there.interval == Interval(here.interval.start + shift, here.interval.end + shift)


@settings(max_examples=60)
@given(year=st.integers(1, 9999), text=TEXTS, zone=ZONES)
def test_no_reference_makes_it_raise(year: int, text: str, zone: timezone) -> None:
    find(text, datetime(year, 1, 1, tzinfo=zone))
    find(text, datetime(year, 12, 31, 23, 59, 59, tzinfo=zone))


@given(a=intervals(), b=intervals(), at=MOMENTS)
def test_overlap_is_the_intersection(a: Interval, b: Interval, at: datetime) -> None:
    shared = overlap(a, b)
    assert shared == overlap(b, a)
    assert (contains(a, at) and contains(b, at)) == (shared is not None and contains(shared, at))
    assert distance_days(a, b) == distance_days(b, a) >= 0
    if shared is not None:
        assert distance_days(a, b) == 0
