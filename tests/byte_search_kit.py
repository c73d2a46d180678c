"""Looks for words and vectors in files: plain, in base64 with whatever stood around them, inside compressed data."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

_GZIP, _ZLIB = b"\x1f\x8b\x08", (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_PACKED, _MOST = 1 << 16, 1 << 20
"""Bytes of a compressed stream that are unpacked, and that are taken out of it."""
_OF_A_VECTOR = 32
"""Bytes of a vector that are looked for: a page may end in its midst."""


def forms(word: str) -> dict[str, bytes]:
    """Name -> bytes that stand where the word stands: as it is, in UTF-16, and in base64 at any of three alignments.

    Where more than the word is encoded, the characters at both ends depend on its neighbours, and are left out.
    """
    plain = word.encode()
    found = {"plain": plain, "utf-16": word.encode("utf-16-le")}
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + plain).rstrip(b"=")
        inner = whole[(0, 2, 3)[before] : (before + len(plain)) * 8 // 6]
        found[f"base64 at {before}"] = inner
        found[f"base64 at {before}, of addresses"] = inner.translate(bytes.maketrans(b"+/", b"-_"))
    return found


def vectors(rows: Iterable[np.ndarray]) -> dict[str, bytes]:
    """Name -> bytes that stand where one of these vectors stands."""
    return {
        f"{kind} {number}": np.asarray(row).astype(kind).tobytes()[:_OF_A_VECTOR]
        for number, row in enumerate(rows)
        for kind in ("<f2", "<f4")
    }


def unpacked(content: bytes) -> list[bytes]:
    """What all zlib and gzip streams hold that begin anywhere, as far as they can be read."""
    found: list[bytes] = []
    for start in (*_ZLIB, _GZIP):
        at = content.find(start)
        while at >= 0:
            with suppress(zlib.error):  # it may only look like one
                stream = memoryview(content)[at : at + _PACKED]
                found.append(zlib.decompressobj(47).decompress(stream, _MOST))  # 47: either header
            at = content.find(start, at + 1)
    return [one for one in found if one]


def found(paths: Iterable[Path], wanted: Mapping[str, bytes]) -> set[str]:
    """Which of these stand in any file, or in what is compressed in it."""
    left = dict(wanted)
    for path in paths:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue  # gone since it was listed
        for piece in (content, *unpacked(content)):
            left = {name: needle for name, needle in left.items() if needle not in piece}
    return wanted.keys() - left.keys()


def below(*folders: Path) -> list[Path]:
    """All files in folders, however deep."""
    return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
