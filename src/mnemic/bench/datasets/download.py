"""Fetches the data sets, for people with internet: never unasked, checksummed, and going on where it was cut off.

Their licences are their own: LoCoMo and its corrections are CC BY-NC 4.0, LongMemEval is MIT, PersonaMem states none.
"""

from __future__ import annotations

import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from mnemic.bench.datasets.loading import checksum
from mnemic.errors import InvalidInput, MnemicError

Downloadable = Literal["locomo", "locomo-corrections", "personamem", "longmemeval"]

_PIECE = 1 << 16
_PARTIAL = 206
_NOT_SATISFIABLE = 416


@dataclass(frozen=True, slots=True)
class Published:
    """A file of a data set, as mnemic was measured on it.

    Attributes:
        path: Its place below ``MNEMIC_DATA``.
        size: In bytes.
        sha256: In hex.
        address: Where its authors publish it; None where the address has to be given.
    """

    path: str
    size: int
    sha256: str
    address: str | None = None


PUBLISHED: Mapping[Downloadable, tuple[Published, ...]] = {
    "locomo": (
        Published(
            "locomo/locomo10.json",
            2_805_274,
            "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
            "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json",
        ),
    ),
    "locomo-corrections": (
        Published(
            "locomo/audit_errors.json",
            150_552,
            "f298ef46263fada20688a1d672be37d4f488c6da3b19343eea55ae5c1b5fe55e",
            "https://raw.githubusercontent.com/dial481/locomo-audit/main/errors.json",
        ),
    ),
    "personamem": (
        Published(
            "personamem/questions_32k.csv",
            1_304_777,
            "23f306a8d28b7ffcf133fe7dad09ade06fcb862fc7c3f19691362a5cd69409bd",
        ),
        Published(
            "personamem/shared_contexts_32k.jsonl",
            5_629_573,
            "b9f8ae5fe5872ec568e2cf21f71d58ac5c37f5c0aca89bdbfc213ebc7f595f22",
        ),
    ),
    # Its authors publish one array of all 500 questions; these are 21 of them, a line each. Theirs can be measured
    # as a file of one's own.
    "longmemeval": (
        Published(
            "longmemeval/longmemeval_s_dev.jsonl.gz",
            3_210_526,
            "9799583728828dcb90922bdcf05141e86c85b17d75f66360feebe98d791bac7b",
        ),
    ),
}


class DownloadFailed(MnemicError):
    """A file could not be fetched, or is not the one it should be."""


def download(
    name: Downloadable,
    folder: Path,
    *,
    address: str | None = None,
    timeout: float = 30.0,
    progress: Callable[[int], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Fetch the files of a data set; what is there already, and right, is left alone.

    A file is written beside its place as ``NAME.part`` and moved there once it is whole and its checksum right. What
    came before a break is kept, and the next call goes on from there, if the server lets it.

    Args:
        name: Which.
        folder: Where to, ``MNEMIC_DATA``; made where it is missing.
        address: The address of a folder that holds the files by their names, ``https://host/folder``; without it they
            come from where their authors publish them.
        timeout: Seconds without an answer after which the server is given up.
        progress: Told the bytes of each piece that came.

    Returns:
        The files' paths.

    Raises:
        InvalidInput: mnemic knows no address, or the one given is no web address.
        DownloadFailed: See there.
    """
    several = [(file, _address(name, file, address)) for file in PUBLISHED[name]]
    return tuple(_fetched(file, at, folder, timeout, progress) for file, at in several)


def _address(name: Downloadable, file: Published, folder: str | None) -> str:
    if folder is None:
        if file.address is None:
            names = " and ".join(PurePosixPath(one.path).name for one in PUBLISHED[name])
            raise InvalidInput(
                f"mnemic knows no address of {name}: give the address of a folder on the web that holds {names}"
            )
        return file.address
    if not folder.lower().startswith(("https://", "http://")):
        raise InvalidInput(f"{folder!r} is no web address: it would begin with https:// or http://")
    return f"{folder.rstrip('/')}/{PurePosixPath(file.path).name}"


def _fetched(file: Published, address: str, folder: Path, timeout: float, progress: Callable[[int], None]) -> Path:
    target = folder / file.path
    part = target.with_name(f"{target.name}.part")
    try:
        if target.exists():
            if checksum([target]) != file.sha256:
                raise DownloadFailed(f"{target}: is there already, and is another file; move it away first")
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        _complete(part, file.size, address, timeout, progress)
        if (got := checksum([part])) != file.sha256:
            part.unlink()
            raise DownloadFailed(
                f"{address}: gave another file than mnemic was measured on (SHA-256 {got}, not {file.sha256}); it was "
                "thrown away"
            )
        part.replace(target)
    except OSError as error:
        raise DownloadFailed(f"{target}: cannot be written ({error.strerror or error})") from error
    return target


def _complete(part: Path, size: int, address: str, timeout: float, progress: Callable[[int], None]) -> None:
    """Bring a partial file to its full size; it is removed when what comes cannot be the right file."""
    have = part.stat().st_size if part.exists() else 0
    if have == size:
        return
    if have > size:
        part.unlink()
        have = 0
    with _answer(address, have, timeout) as answer:
        if not _goes_on(answer, have):
            have = 0
        promised = answer.headers.get("Content-Length")
        if promised is not None and promised.isdigit() and have + int(promised) != size:
            part.unlink(missing_ok=True)
            raise _wrong_size(address, have + int(promised), size)
        with part.open("ab" if have else "wb") as out:
            for piece in _pieces(answer, address):
                have += len(piece)
                if have > size:
                    break
                out.write(piece)
                progress(len(piece))
            out.flush()
            os.fsync(out.fileno())
    if have > size:
        part.unlink()
        raise _wrong_size(address, have, size)
    if have < size:
        raise DownloadFailed(f"{address}: broke off after {have:,} of {size:,} bytes, which are kept; run it again")


def _wrong_size(address: str, has: int, size: int) -> DownloadFailed:
    return DownloadFailed(
        f"{address}: has another size than the file mnemic was measured on ({has:,} bytes or more, not {size:,})"
    )


def _answer(address: str, start: int, timeout: float) -> http.client.HTTPResponse:
    """Ask for a file from some byte on.

    Raises:
        DownloadFailed: No answer, or a refusal.
    """
    request = urllib.request.Request(address, headers={"User-Agent": "mnemic"})  # noqa: S310 - https or http: checked
    if start:
        request.add_header("Range", f"bytes={start}-")
    try:
        return urllib.request.urlopen(request, timeout=timeout)  # noqa: S310 - made above, of http or https  # nosec B310
    except urllib.error.HTTPError as error:
        with error:
            if start and error.code == _NOT_SATISFIABLE:
                return _answer(address, 0, timeout)
            raise DownloadFailed(f"{address}: the server refuses ({error.code} {error.reason})") from error
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an address that is none
        raise DownloadFailed(f"{address}: cannot be reached ({getattr(error, 'reason', error)})") from error


def _goes_on(answer: http.client.HTTPResponse, start: int) -> bool:
    """Whether an answer begins at the byte that was asked for, not at the first."""
    return answer.status == _PARTIAL and answer.headers.get("Content-Range", "").startswith(f"bytes {start}-")


def _pieces(answer: http.client.HTTPResponse, address: str) -> Iterator[bytes]:
    """What comes, until its end or until the connection breaks: the caller sees that by the count."""
    while True:
        try:
            piece = answer.read(_PIECE)
        except (OSError, http.client.HTTPException):
            return
        if not piece:
            return
        yield piece
