"""Times of the day: ``3 pm``, ``14:30``, ``half past six``, ``noon``, ``from 3 to 5 pm``."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from mnemic.algo.calendar import Grain, floor, shift
from mnemic.algo.temporal.words import FOLLOWERS, TO, Phrase, Source, cardinal, habitual, integer, sequence, skip, words
from mnemic.types import Interval

# Words before a bare hour that say a time is meant, and words before a bare 14:30.
TO_HOURS: Final = words("at around by about @ from until till since before after to and")
_AND_TO: Final = TO | {"and"}
_HABITS: Final = words("every everyday daily each nightly")
_NAMED: Final[dict[str, int]] = {"noon": 12, "midday": 12, "midnight": 24}


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day that was read: the index after it, the hour (24 is the midnight that ends the day), the minute.

    ``twelve`` says that the half of the day is unknown; ``explicit`` that the words can only be a time of day.
    """

    stop: int
    hour: int
    minute: int = 0
    grain: Grain = "hour"
    twelve: bool = False
    explicit: bool = True


def clock(s: Source, i: int) -> Clock | None:
    """Read a time of day."""
    word = s.word(i)
    if word in _NAMED:
        return Clock(i + 1, _NAMED[word])
    if word in ("half", "quarter") and s.word(i + 1) in ("past", "to"):
        return _quarters(s, i)
    number = cardinal(s, i)
    if number is None or number[1] > 24 or (number[1] == 0 and s.word(number[0]) != ":"):
        return None
    at, hour = number
    minute, grain = 0, "hour"
    if s.word(at) in (":", ".") and s.glued(at) and s.glued(at + 1) and s.ends[at + 1] - s.starts[at + 1] == 2:
        read = integer(s, at + 1, range(2, 3))
        if read is not None and read < 60:
            minute, grain, at = read, "minute", at + 2
    half = _meridiem(s, at)
    if half is not None and 1 <= hour <= 12:
        return Clock(half[0], hour % 12 + half[1], minute, grain)
    if sequence(s, at, ("o", "'", "clock")) or s.word(at) == "oclock":
        return Clock(at + (3 if s.word(at) == "o" else 1), hour, 0, "hour", twelve=hour <= 12)
    colon = grain == "minute" and s.word(i + 1) == ":"
    if grain == "minute" and not colon:
        return None
    return Clock(at, hour, minute, grain, twelve=hour <= 12 and not s.word(i).startswith("0"), explicit=colon)


def _quarters(s: Source, i: int) -> Clock | None:
    number = cardinal(s, i + 2)
    if number is None or not 1 <= number[1] <= 12 or (s.word(i) == "half" and s.word(i + 1) == "to"):
        return None
    minute = 30 if s.word(i) == "half" else 15
    if s.word(i + 1) == "to":
        return Clock(number[0], number[1] - 1 or 12, 45, "minute", twelve=True)
    half = _meridiem(s, number[0])
    if half is not None:
        return Clock(half[0], number[1] % 12 + half[1], minute, "minute")
    return Clock(number[0], number[1], minute, "minute", twelve=True)


def _meridiem(s: Source, i: int) -> tuple[int, int] | None:
    if s.word(i) in ("am", "pm"):
        return i + 1, 12 * (s.word(i) == "pm")
    for letter in "ap":
        if sequence(s, i, (letter, ".", "m")):
            return skip(s, i + 3, (".",)) if s.glued(i + 3) else i + 3, 12 * (letter == "p")
    return None


def on_the_day(day: Interval, time: Clock, part: str | None = None) -> Interval:
    """The minute or hour that a clock time names on a day.

    Without am or pm, the part of the day decides; without that, 1 to 6 is the afternoon and 7 to 11 the morning.
    """
    if day.start is None:
        raise ValueError("an open interval has no hours")
    hour = time.hour
    if time.twelve:
        later = part in ("afternoon", "evening", "night") if part else hour % 12 < 7
        hour = hour % 12 + 12 * later
    midnight = floor(day.start, "day")
    start = shift(midnight, hour // 24, "day").replace(hour=hour % 24, minute=time.minute)
    length = timedelta(hours=1) if time.grain == "hour" else timedelta(minutes=1)
    return Interval(start, start + length)


def clock_alone(s: Source, i: int, nested: int) -> Phrase | None:
    """``at 3 pm``, ``at 14:30``, ``half past six``, ``noon``: on the reference's day."""
    time = clock(s, i)
    if time is None or not time.explicit:
        return None
    licensed = nested or s.word(i - 1) in TO_HOURS
    following = s.word(time.stop)
    if following in _HABITS or habitual(s, i, time.stop) or (_bare(s, time) and not licensed):
        return None
    if s.word(i) in _NAMED and following.isalpha() and following not in FOLLOWERS and not licensed:
        return None
    return Phrase(time.stop, on_the_day(Interval(s.now(), s.now()), time), time.grain)


def _bare(s: Source, time: Clock) -> bool:
    """Whether it ends in digits, as a score or a ratio could."""
    return s.word(time.stop - 1).isdecimal()


def clock_range(s: Source, i: int, nested: int) -> Phrase | None:
    """``3-5 pm``, ``from 3 to 5 pm``, ``between 9 am and noon``: on the reference's day."""
    at = skip(s, i, ("from", "between"))
    first = clock(s, at)
    if first is None or s.word(first.stop) not in (TO if at == i else _AND_TO):
        return None
    last = clock(s, first.stop + 1)
    if last is None or not last.explicit or (at == i and _bare(s, first) and _bare(s, last)):
        return None
    if s.word(last.stop) in _HABITS or habitual(s, i, last.stop):
        return None
    today = Interval(s.now(), s.now())
    end = on_the_day(today, last).start
    # "3 to 5 pm" begins in the half of the day in which it ends, if it then begins before.
    for part in ("evening", "morning"):
        start = on_the_day(today, first, part).start
        if start is not None and end is not None and start < end:
            return Phrase(last.stop, Interval(start, end), "hour")
    return None
