"""How values lie in the database: exact text, JSON, instants, and float16 vectors.

What is written here is the on-disk promise of ``docs/decisions/0001-on-disk-format.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import numpy as np
from sqlalchemy import Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator

from mnemic.errors import StoreCorrupt
from mnemic.types import Interval, Json

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_EPOCH = datetime(1970, 1, 1)  # naive: the arithmetic must not overflow in the year 9999
_MICROSECOND = timedelta(microseconds=1)
_STORED = np.dtype("<f2")
_PIECE = 1 << 12
"""Vectors that are decoded at once: of many, no copy of all beside."""


class ExactText(TypeDecorator[str]):
    """Any ``str`` as UTF-8 bytes, surrogates passed: NUL and lone surrogates survive, and bytes compare exactly."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> bytes | None:
        """Encode."""
        return None if value is None else value.encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        """Decode; bytes that no ``str`` has are damage."""
        if value is None:
            return None
        try:
            return value.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise StoreCorrupt(f"a stored text is damaged: {error.reason}; restore a backup copy") from error


class ExactJson(TypeDecorator[Json]):
    """JSON as UTF-8 bytes, surrogates passed and nothing escaped, so that it reads back equal. None is NULL."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> bytes | None:
        """Encode."""
        return None if value is None else json_text(value).encode("utf-8", "surrogatepass")

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> Json:
        """Decode."""
        if value is None:
            return None
        try:
            return cast("Json", json.loads(value.decode("utf-8", "surrogatepass")))
        except ValueError as error:
            raise StoreCorrupt(f"a stored JSON value is damaged: {error}; restore a backup copy") from error


def json_text(value: object) -> str:
    """Compact JSON. Not escaped to ASCII: that would merge two adjacent lone surrogates into one character."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def micros(moment: datetime) -> int:
    """Microseconds since 1970-01-01 UTC of an aware datetime."""
    return stamp(moment)[0]


def stamp(moment: datetime) -> tuple[int, int]:
    """An aware datetime as microseconds since 1970-01-01 UTC and its zone's offset in seconds.

    Raises:
        ValueError: The datetime is naive.
    """
    offset = moment.utcoffset()
    if offset is None:
        raise ValueError(f"{moment.isoformat()} has no time zone")
    return (moment.replace(tzinfo=None) - _EPOCH - offset) // _MICROSECOND, round(offset.total_seconds())


def maybe_stamp(moment: datetime | None) -> tuple[int | None, int | None]:
    """``stamp``, or two NULLs."""
    return (None, None) if moment is None else stamp(moment)


def moment(at: int, offset: int = 0) -> datetime:
    """The inverse of ``stamp``: the same instant in a fixed zone of that offset."""
    return (_EPOCH + timedelta(microseconds=at, seconds=offset)).replace(tzinfo=_zone(offset))


def maybe_moment(at: int | None, offset: int | None) -> datetime | None:
    """The inverse of ``maybe_stamp``."""
    return None if at is None else moment(at, offset or 0)


def interval(start: int | None, start_offset: int | None, end: int | None, end_offset: int | None) -> Interval:
    """The inverse of ``interval_columns``."""
    return Interval(maybe_moment(start, start_offset), maybe_moment(end, end_offset))


def interval_columns(when: Interval) -> dict[str, int | None]:
    """The four columns of an interval."""
    (from_at, from_offset), (until_at, until_offset) = maybe_stamp(when.start), maybe_stamp(when.end)
    return {"from_at": from_at, "from_offset": from_offset, "until_at": until_at, "until_offset": until_offset}


@lru_cache(maxsize=256)
def _zone(offset: int) -> timezone:
    return UTC if offset == 0 else timezone(timedelta(seconds=offset))


def pack(vector: Floats) -> bytes:
    """(dim,) floats as little-endian float16."""
    return np.asarray(vector).astype(_STORED).tobytes()


def unpack(blobs: Sequence[bytes], dim: int) -> Floats:
    """The inverse of ``pack`` for n vectors: (n, dim) float32.

    Raises:
        StoreCorrupt: One has another length.
    """
    if any(len(blob) != _STORED.itemsize * dim for blob in blobs):
        raise StoreCorrupt(f"a stored vector is damaged: its length is not {dim}; run: mnemic reembed")
    vectors = np.empty((len(blobs), dim), np.float32)
    for first in range(0, len(blobs), _PIECE):
        piece = blobs[first : first + _PIECE]
        vectors[first : first + _PIECE] = np.frombuffer(b"".join(piece), dtype=_STORED).reshape(len(piece), dim)
    return vectors
