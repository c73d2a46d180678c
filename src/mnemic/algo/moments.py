"""Moments as callers write them: datetimes, dates, seconds or milliseconds since the epoch, ISO text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from mnemic.errors import InvalidInput

# 1e11 seconds lie in the year 5138, 1e11 milliseconds in 1973.
_FIRST_MILLISECONDS: Final = 1e11
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
# Shorter digits are dates (20230507) or years, not epochs.
_EPOCH_TEXT: Final = re.compile(r"-?\d{9,15}(?:\.\d{1,9})?", re.ASCII)
_OFFSET: Final = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?", re.ASCII | re.IGNORECASE)
_CLIP: Final = 60


def parse_time(value: object, timezone: str) -> datetime | None:
    """Read a moment.

    Args:
        value: An aware datetime is kept as it is; a naive one, a date (its midnight) and ISO text without an offset
            lie in ``timezone``. A number, or text of at least nine digits, counts seconds since 1970-01-01 UTC, or
            milliseconds from 1e11 on, and is expressed in ``timezone``. None is None.
        timezone: See ``zone``.

    Returns:
        An aware datetime that exists in UTC too.

    Raises:
        InvalidInput: It is none of these, or lies outside the years 1 to 9999. The message begins with the value.
    """
    if value is None:
        return None
    try:
        moment = _read(value, zone(timezone))
        if moment is not None:
            moment.astimezone(UTC)
            return moment
    except (ValueError, OverflowError) as error:
        if isinstance(error, InvalidInput):
            raise
    raise InvalidInput(
        f"{clip(value)} is not a time between the years 1 and 9999; give a datetime, ISO text such as "
        "2023-05-07T14:30:00Z, or seconds or milliseconds since 1970"
    )


def zone(name: str) -> tzinfo:
    """A zone by its IANA name (``Europe/Berlin``) or its offset (``+02:00``, ``-0530``, ``UTC+2``, ``Z``).

    Raises:
        InvalidInput: There is no such zone.
    """
    if name.upper() in ("UTC", "GMT", "Z"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset is not None and int(offset[2]) < 24:
        minutes = int(offset[2]) * 60 + int(offset[3] or 0)
        return timezone(timedelta(minutes=-minutes if offset[1] == "-" else minutes))
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown, malformed, or the name of a folder of zones
        raise InvalidInput(
            f"timezone {clip(name)} is unknown; give an IANA name such as Europe/Berlin or an offset such as +02:00"
        ) from error


def clip(value: object) -> str:
    """A value for an error message, in ASCII and never long: what it is, or for anything but a scalar its type."""
    if isinstance(value, (str, bytes)):
        return ascii(value) if len(value) <= _CLIP else ascii(value[:_CLIP]) + "…"
    if isinstance(value, (bool, float, date)) or (isinstance(value, int) and value.bit_length() < 4 * _CLIP):
        return ascii(value)
    return f"a value of type {type(value).__name__}"


def _read(value: object, home: tzinfo) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.utcoffset() is not None else value.replace(tzinfo=home)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=home)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _since_epoch(value).astimezone(home)
    if isinstance(value, str):
        text = value.strip()
        if _EPOCH_TEXT.fullmatch(text):
            return _since_epoch(float(text)).astimezone(home)
        read = datetime.fromisoformat(text)
        return read if read.utcoffset() is not None else read.replace(tzinfo=home)
    return None


def _since_epoch(count: float) -> datetime:
    """Raises ValueError or OverflowError for what is no date."""
    if not math.isfinite(count):
        raise ValueError("not a number")
    return _EPOCH + (timedelta(milliseconds=count) if abs(count) >= _FIRST_MILLISECONDS else timedelta(seconds=count))


def filled(times: Sequence[datetime | None]) -> list[datetime]:
    """Moments in the order in which things were stored; an unknown one is the latest before it, or the year 1."""
    found: list[datetime] = []
    latest = datetime.min.replace(tzinfo=UTC)
    for time in times:
        latest = latest if time is None else max(latest, time)
        found.append(latest if time is None else time)
    return found
