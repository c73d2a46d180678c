"""Users' indexes on disk, so that a new process answers at once: disposable copies of what the rows say.

A file begins with a line that names the format, the length of the header and its digest; the header is JSON and says
what the file is of and where its arrays lie, each with its CRC-32. Arrays are mapped, private to the process: what is
written to them stays in its memory. Large ones have room behind them to grow in, which takes no space on disk.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from mnemic.algo.arrays import Rows
from mnemic.errors import StoreError
from mnemic.index.user_index import UserIndex
from mnemic.protocols import Mark

_log = logging.getLogger("mnemic")

FORMAT: Final = "mnemic-index 1"
_SUFFIX: Final = ".index"
_ALIGNED: Final = 64
_ROOMY: Final = 1 << 16
"""Bytes from which an array has room behind it: an eighth."""
_PIECE: Final = 1 << 20
_ABANDONED_S: Final = 600.0
"""A file that nobody finished for so long is of a process that ended."""
_HEADER_MOST: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class _Section:
    """Where an array lies: ``room`` rows of which ``rows`` are written, each of ``shape`` numbers of a type."""

    name: str
    dtype: str
    rows: int
    room: int
    shape: tuple[int, ...]
    offset: int
    crc: int

    @property
    def row_bytes(self) -> int:
        return int(np.dtype(self.dtype).itemsize * np.prod(self.shape, dtype=np.int64))


class Snapshots:
    """The files of one folder, one a user, up to a number of bytes: of more, those go that were used least lately.

    Any number of processes may share a folder. A file that is damaged, or was written by another version, is removed
    when it is read.

    Args:
        folder: Made when the first is written.
        max_bytes: 0 neither reads nor writes any, but still forgets.
    """

    def __init__(self, folder: Path, *, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes

    def read(self, user_id: str, fits: Callable[[Mark, str | None], bool]) -> UserIndex | None:
        """A user's index as it was; None where there is none that fits.

        Args:
            user_id: Whose.
            fits: Asked, before much is read, with what it was when and the fingerprint of the vectors' embedder.
        """
        place = self._place(user_id)
        if not self._max_bytes:
            return None
        try:
            with place.open("rb") as file:
                header = _header(file, user_id)
                mark, fingerprint = Mark(**header["mark"]), header["embedder"]
                if not fits(mark, fingerprint):
                    self.forget(user_id)
                    return None
                index = UserIndex.restored(_arrays(file, [_Section(**section) for section in header["sections"]]))
            os.utime(place)
        except FileNotFoundError:
            return None
        except (OSError, KeyError, TypeError, ValueError, IndexError) as error:
            _log.warning("a snapshot of an index is not used, and removed: %s", error)
            self.forget(user_id)
            return None
        return index

    def write(self, user_id: str, index: UserIndex, mark: Mark, fingerprint: str | None) -> bool:
        """Keep an index; False where another process is about to, or there is no room."""
        if not self._max_bytes:
            return False
        place = self._place(user_id)
        unfinished = self._unfinished(user_id)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _discard_abandoned(unfinished)
            with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                _write(file, user_id, index, mark, fingerprint)
            has_room = self._make_room(_used(unfinished), keep=place)
            if has_room:
                unfinished.replace(place)  # fails where somebody erased words meanwhile, and this file with them
            else:
                unfinished.unlink()
        except FileExistsError:
            return False
        except FileNotFoundError:
            return False
        except OSError as error:
            _log.warning("no snapshot of an index is kept: %s", error)
            with suppress(OSError):
                unfinished.unlink()
            return False
        return has_room

    def forget(self, user_id: str) -> None:
        """Remove what is kept of a user, whoever wrote it, and what is being written.

        Raises:
            StoreError: It cannot be removed.
        """
        for place in (self._unfinished(user_id), self._place(user_id)):
            try:
                place.unlink(missing_ok=True)
            except NotADirectoryError:
                continue
            except OSError as error:
                raise StoreError(
                    f"the index snapshot {str(place)!r} may hold words that are erased, and cannot be removed "
                    f"({error.strerror}); remove it by hand"
                ) from error

    def _place(self, user_id: str) -> Path:
        return self._folder / (_digest(user_id) + _SUFFIX)

    def _unfinished(self, user_id: str) -> Path:
        return self._folder / (_digest(user_id) + ".new")

    def _make_room(self, needed: int, *, keep: Path) -> bool:
        """Remove files until there is room for so many bytes more, in place of those of ``keep``."""
        others = sorted((found for found in self._kept() if found[2] != keep), key=lambda found: found[0])
        held = needed + sum(size for _, size, _ in others)
        for _, size, place in others:
            if held <= self._max_bytes or needed > self._max_bytes:
                break
            place.unlink(missing_ok=True)
            held -= size
        return held <= self._max_bytes

    def _kept(self) -> Iterator[tuple[float, int, Path]]:
        """When each file was last used, its bytes, and where it is."""
        for place in self._folder.glob(f"*{_SUFFIX}"):
            with suppress(FileNotFoundError):
                yield place.stat().st_mtime, _used(place), place


def _digest(user_id: str) -> str:
    return hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()


def _used(place: Path) -> int:
    """Bytes on disk, without the room that nothing is in."""
    found = place.stat()
    return min(found.st_blocks * 512, found.st_size)


def _discard_abandoned(unfinished: Path) -> None:
    with suppress(FileNotFoundError):
        if time.time() - unfinished.stat().st_mtime > _ABANDONED_S:
            unfinished.unlink()


def _stamp() -> dict[str, str]:
    """What has to be the same when a file is read: who wrote it, and how numbers lie in it."""
    return {"library": version("mnemic"), "numpy": np.__version__, "order": sys.byteorder}


def _write(file: BinaryIO, user_id: str, index: UserIndex, mark: Mark, fingerprint: str | None) -> None:
    arrays = index.state()
    sections: list[_Section] = []
    offset = _HEADER_MOST
    for name, array in arrays.items():
        room = len(array) + (len(array) // 8 if array.nbytes >= _ROOMY else 0)
        kind, shape = array.dtype.str, tuple(array.shape[1:])
        sections.append(_Section(name, kind, len(array), room, shape, offset, 0))
        offset += -(-room * sections[-1].row_bytes // _ALIGNED) * _ALIGNED
    written: list[dict[str, Any]] = []
    for section, array in zip(sections, arrays.values(), strict=True):
        file.seek(section.offset)
        crc = 0
        for piece in _pieces(array, section.row_bytes):
            crc = zlib.crc32(piece, crc)
            file.write(piece)
        written.append(asdict(section) | {"crc": crc})
    file.truncate(offset)
    header = {**_stamp(), "user": _digest(user_id), "embedder": fingerprint, "mark": asdict(mark), "sections": written}
    told = json.dumps(header).encode()
    first = f"{FORMAT} {len(told)} {hashlib.sha256(told).hexdigest()}\n".encode()
    if len(first) + len(told) > _HEADER_MOST:
        raise OSError(f"the header takes {len(told)} bytes")
    file.seek(0)
    file.write(first + told)


def _pieces(array: np.ndarray[Any, Any], row_bytes: int) -> Iterator[bytes]:
    rows = max(_PIECE // max(row_bytes, 1), 1)
    for first in range(0, len(array), rows):
        yield np.ascontiguousarray(array[first : first + rows]).tobytes()


def _header(file: BufferedReader, user_id: str) -> dict[str, Any]:
    """What the file is of. Raises ValueError unless it is whole, this version's and the user's."""
    words = file.readline(200).decode("ascii").rsplit(" ", 2)
    if len(words) != 3 or words[0] != FORMAT:
        raise ValueError("it is of another format")
    told = file.read(min(int(words[1]), _HEADER_MOST))
    if hashlib.sha256(told).hexdigest() != words[2].strip():
        raise ValueError("its header is damaged")
    header: dict[str, Any] = json.loads(told)
    if {name: header.get(name) for name in _stamp()} != _stamp():
        raise ValueError("another version wrote it")
    if header["user"] != _digest(user_id):
        raise ValueError("it is another user's")
    return header


def _arrays(file: BufferedReader, sections: list[_Section]) -> dict[str, Rows]:
    """The arrays, mapped. Raises ValueError where one is damaged."""
    # Read, not mapped: pages that only this looks at would count as memory of the process.
    buffer = bytearray(_PIECE)
    for section in sections:
        if _crc(file, section, buffer) != section.crc:
            raise ValueError(f"{section.name} is damaged")
    mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    arrays: dict[str, Rows] = {}
    for section in sections:
        shape = (section.room, *section.shape)
        numbers = int(np.prod(shape, dtype=np.int64))
        data: Any = (
            np.frombuffer(mapped, section.dtype, numbers, section.offset) if numbers else np.empty(0, section.dtype)
        )
        arrays[section.name] = Rows.over(data.reshape(shape), section.rows)
    return arrays


def _crc(file: BufferedReader, section: _Section, buffer: bytearray) -> int:
    file.seek(section.offset)
    left, crc, view = section.rows * section.row_bytes, 0, memoryview(buffer)
    while left:
        got = file.readinto(view[: min(left, len(buffer))])
        if not got:
            raise ValueError(f"it ends within {section.name}")
        crc = zlib.crc32(view[:got], crc)
        left -= got
    return crc
