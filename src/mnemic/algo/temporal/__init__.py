"""Time phrases in a text, each resolved against a reference time into an interval.

How ambiguous phrases are read:

* A phrase means the whole calendar unit that it names: yesterday is a day, last week a week from Monday, two months
  ago a month. Vague counts are ranges: "a few" is 2 to 5, "a couple" 2 to 3, "several" 3 to 7.
* "last May" is the latest May that is wholly over, "next May" the earliest that has not begun; the same for weekdays,
  seasons and holidays. "last week" is the calendar's, "the last week" the seven days up to the reference.
* A date without year, or a weekday alone, is past or future as the verbs of its sentence say; failing that, a weekday
  is the latest one and a date the nearest.
* Months that are also names or verbs (March, April, May, June, August) need a preposition or a day or year beside
  them; a bare year needs a preposition, or to be all there is. Recurring times (every Friday) name no time.
* A time of day without am or pm lies between 7 in the morning and 6 in the evening.
"""

from mnemic.algo.temporal.grammar import TimeMention, find

__all__ = ["TimeMention", "find"]
