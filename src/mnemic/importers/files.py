"""Bytes of a file to import: plain or gzip, UTF-8, read in lines or whole, with limits against hostile input."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import lzma
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn, cast

from mnemic.errors import InvalidFile
from mnemic.importers.records import Skipped
from mnemic.types import Json

MAX_LINE = 64 << 20
"""Bytes of one line; a longer one is skipped."""
MAX_WHOLE = 1 << 30
"""Bytes of a file that can only be read whole."""
MAX_RATIO = 200
"""A gzip file may grow to this many times its size (ordinary text: 3 to 20; a zip bomb: 1,000)."""
FREE_EXPANSION = 64 << 20
"""Bytes to which any gzip file may grow, whatever the ratio."""

DateOrder = Literal["dmy", "mdy"]

ZIP_MAGIC = b"PK\x03\x04"
"""What a zip file begins with."""
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file, without its line ending, counted from 1."""

    number: int
    text: str


class Unusable(InvalidFile):
    """A file that cannot be used as a whole.

    Attributes:
        reason: What is the matter with the file, ``is not JSON``: the same words for the same cause.
        place: Where in the file, if that helps: ``line 3``.
    """

    def __init__(self, path: Path, reason: str, *, place: str = "", way_out: str = "") -> None:
        super().__init__(f"{utf8(str(path))}: {reason}{f' ({place})' * bool(place)}{f'; {way_out}' * bool(way_out)}")
        self.reason = reason
        self.place = place


class Damaged(Unusable):
    """The packed stream ends early or does not decompress from here on."""


class _Unpacked(io.RawIOBase):
    """A packed stream, decompressed, which refuses to grow beyond all proportion to its size.

    Args:
        path: The file it lies in.
        packed: Gives the decompressed bytes.
        size: Of what is packed, in bytes.
        kind: ``gzip`` or ``zip``.
    """

    def __init__(self, path: Path, packed: io.BufferedIOBase, size: int, kind: str) -> None:
        self._packed = packed
        self._path = path
        self._kind = kind
        self._limit = max(FREE_EXPANSION, MAX_RATIO * size)
        self._count = 0

    def readable(self) -> Literal[True]:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride] - Buffer has no len
        try:
            data = self._packed.read1(len(buffer))
        except (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error, lzma.LZMAError, OSError) as error:
            raise Damaged(self._path, f"is a cut or damaged {self._kind} file", place=str(error)) from error
        self._count += len(data)
        if self._count > self._limit:
            raise Unusable(
                self._path,
                f"expands to more than {MAX_RATIO} times its size, which no conversation does",
                place=f"{self._limit >> 20} MiB",
                way_out="if it is sound, unpack it yourself and import the result",
            )
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._packed.close()
        super().close()


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import.

    Attributes:
        path: Where it is.
        session: Names the sessions that the file does not name; the file's own name by default, so that
            importing a file again under the same name finds its earlier messages.
        member: Of a zip file, the name of the file in it that is meant.
        columns: Of a table: field of a message -> name of the column that holds it.
        date_order: How dates are written where the file itself leaves it open: ``dmy`` or ``mdy``.
    """

    path: Path
    session: str
    member: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    date_order: DateOrder | None = None

    @classmethod
    def at(
        cls,
        path: str | Path,
        *,
        session: str | None = None,
        columns: Mapping[str, str] | None = None,
        date_order: DateOrder | None = None,
    ) -> SourceFile:
        """Look at a file, or at the folder of an unpacked export.

        Raises:
            Unusable: It is missing, empty, not an ordinary file, or may not be read.
        """
        path = Path(path)
        if not path.exists():
            raise Unusable(path, "there is no such file")
        if path.is_dir() and (path / "users.json").is_file():  # an unpacked export of Slack
            return cls(path, session or utf8(path.name))
        if not path.is_file():
            raise Unusable(path, "is not an ordinary file", way_out="give the conversations' file itself")
        file = cls(path, session or stem(utf8(path.name)), None, columns or {}, date_order)
        if not file.head(1):
            raise Unusable(path, "is empty, or damaged from its beginning")
        return file

    def head(self, size: int) -> bytes:
        """The first bytes, at most ``size``, decompressed and without a byte order mark, as far as they can be read."""
        head = b""
        with contextlib.suppress(Damaged), self.open() as stream:
            while len(head) < size and (piece := stream.read1(size - len(head))):
                head += piece
        return head

    def lines(self, *, blank: bool = False, longest: int | None = None) -> Iterator[Line | Skipped]:
        r"""Read line by line; what cannot be read, or is longer than ``longest`` bytes (``MAX_LINE``), is isolated.

        Blank lines are passed over unless they are asked for; a last line may lack its end. Lines end at ``\n`` or
        ``\r\n`` only.
        """
        longest = longest or MAX_LINE
        with self.open() as stream:
            number = 0
            while True:
                number += 1
                try:
                    raw = stream.readline(longest + 1)
                except Damaged:
                    kind = "gzip" if self.member is None else "zip"
                    yield Skipped(f"the {kind} file is cut or damaged from here on", f"line {number}")
                    return
                if not raw:
                    return
                if len(raw) > longest:
                    _pass_over(stream)
                    yield Skipped(f"longer than {longest >> 20} MiB", f"line {number}")
                elif blank or raw.strip():
                    yield _decoded(raw, number)

    def text(self) -> str:
        """Read the whole file.

        Raises:
            Unusable: It is larger than ``MAX_WHOLE``, damaged, or not UTF-8.
        """
        with self.open() as stream:
            data = stream.read(MAX_WHOLE + 1)
        if len(data) > MAX_WHOLE:
            raise Unusable(
                self.path,
                f"is larger than {MAX_WHOLE >> 30} GiB",
                way_out="give one message or conversation a line (jsonl)",
            )
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            raise Unusable(
                self.path,
                "is not UTF-8 text",
                place=f"line {line}, byte 0x{data[error.start]:02x}",
                way_out="convert it first, for example: iconv -f WINDOWS-1252 -t UTF-8",
            ) from error

    def json(self) -> Json:
        """Read the whole file as one JSON value.

        Raises:
            Unusable: As for ``text``, or it is not JSON.
        """
        text = self.text()
        try:
            return parse(text)
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}: {error.msg}"
            raise Unusable(self.path, "is not JSON", place=place) from error
        except ValueError as error:
            raise Unusable(self.path, "is not JSON", place=str(error)) from error

    def open(self) -> io.BufferedIOBase:
        """The file's bytes, decompressed and without a byte order mark; to be closed.

        Raises:
            Unusable: It cannot be read.
        """
        if self.member is not None:
            return _unmarked(io.BufferedReader(_zipped(self.path, self.member), 1 << 16))
        try:
            plain = self.path.open("rb")
        except OSError as error:
            raise Unusable(self.path, f"cannot be read ({error.strerror})") from error
        if plain.peek(2)[:2] != _GZIP_MAGIC:
            return _unmarked(plain)
        plain.close()
        size = self.path.stat().st_size
        return _unmarked(io.BufferedReader(_Unpacked(self.path, gzip.GzipFile(self.path, "rb"), size, "gzip"), 1 << 16))


def _zipped(path: Path, member: str) -> _Unpacked:
    """A member of a zip file, read where it lies: nothing is unpacked to a folder."""
    try:
        with zipfile.ZipFile(path) as archive:
            packed = archive.open(member)  # holds the file open by itself, and closes it
            size = archive.getinfo(member).compress_size
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, KeyError, OSError, ValueError) as error:
        # RuntimeError: it is encrypted; NotImplementedError: packed by an unknown method.
        place = f"{member}: {error}"
        raise Unusable(path, "is a zip file that cannot be read", place=place) from error
    return _Unpacked(path, cast("io.BufferedIOBase", packed), size, "zip")


def parse(text: str) -> Json:
    """Parse one JSON value, strictly.

    Raises:
        ValueError: It is not JSON (NaN and Infinity are not), or nested too deep to be a conversation.
    """
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _decoded(raw: bytes, number: int) -> Line | Skipped:
    try:
        return Line(number, raw.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "surrogatepass"))
    except UnicodeDecodeError:
        return Skipped("not UTF-8", f"line {number}")


def _unmarked(stream: io.BufferedReader[Any]) -> io.BufferedIOBase:
    try:
        if stream.peek(3)[:3] == _BOM:
            stream.read(3)
    except BaseException:  # damaged from its beginning: nobody else holds what is to be closed
        stream.close()
        raise
    return stream


def _pass_over(stream: io.BufferedIOBase) -> None:
    while (piece := stream.readline(1 << 16)) and not piece.endswith(b"\n"):
        pass


def stem(name: str) -> str:
    """A file's name without its ending: ``walk`` of ``walk.txt.gz``."""
    return Path(name.removesuffix(".gz")).stem or name


def utf8(name: str) -> str:
    """A file's name as UTF-8, whatever the locale, so that sessions named after it are always the same."""
    return os.fsencode(name).decode("utf-8", "surrogateescape")
