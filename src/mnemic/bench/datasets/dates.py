"""Times in whatever form a file of somebody's own has them, for the readers' ``dates``."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from mnemic.models.optional import from_extra

# Strict: a day, month and year must be there, for what is missing would be taken from today. For the same reason
# nothing relative is read ("yesterday", "Tuesday"), so that a file means the same whenever it is read.
_SETTINGS = {
    "STRICT_PARSING": True,
    "PARSERS": ["timestamp", "absolute-time"],
    "RELATIVE_BASE": datetime(2000, 1, 1),
    "TIMEZONE": "UTC",
    "RETURN_AS_TIMEZONE_AWARE": True,
}


@lru_cache(maxsize=1 << 16)
def iso(written: str) -> str | None:
    """A time in English, in any order and form that ``dateparser`` reads, in ISO format.

    Without a zone it is taken as UTC, without a time of day as midnight; of two orders that ``5/8/2023`` may have
    the American one is taken. A number of ten to sixteen digits counts seconds (and less) since 1970.

    Returns:
        None when it is no time, or lacks its day, month or year.

    Raises:
        MissingExtra: ``dateparser`` is not installed.
    """
    dateparser = from_extra("dateparser", needed_by="reading dates of any form", extra="bench")
    try:
        found: datetime | None = dateparser.parse(written, languages=["en"], settings=_SETTINGS)
    except (ValueError, OverflowError):  # of years and numbers that no calendar has
        return None
    return found.astimezone(UTC).isoformat() if found else None
