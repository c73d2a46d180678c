"""Zip files of exports, and unpacked folders of them: their files by name, read where they lie.

Nothing is ever unpacked to a disk, so a name in a zip file, ``../../etc/passwd``, is a name and nothing more.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from mnemic.importers.files import ZIP_MAGIC, SourceFile, Unusable
from mnemic.importers.items import Item, items
from mnemic.importers.records import Skipped

_MOST = 200_000
"""Files in a zip file: every one of them takes memory."""


def is_zip(file: SourceFile) -> bool:
    """Whether it is a zip file."""
    return file.member is None and file.path.is_file() and file.head(4) == ZIP_MAGIC


def members(file: SourceFile) -> dict[str, SourceFile]:
    """The files in a zip file or folder by name, sorted, without hidden ones.

    Raises:
        Unusable: The zip file is damaged, or has too many files.
    """
    if file.path.is_dir():
        paths = {path.relative_to(file.path).as_posix(): path for path in _files(file.path)}
        return {name: replace(file, path=paths[name]) for name in sorted(paths) if not _is_hidden(name)}
    try:
        with zipfile.ZipFile(file.path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        raise Unusable(file.path, "is a cut or damaged zip file", place=str(error)) from error
    if len(infos) > _MOST:
        raise Unusable(file.path, f"holds more than {_MOST:,} files", way_out="give the conversations' file itself")
    names = sorted({info.filename for info in infos if not info.is_dir()})
    return {name: replace(file, member=name) for name in names if not _is_hidden(name)}


def parts(file: SourceFile, stem: str) -> Iterator[tuple[SourceFile, str]]:
    """The JSON files of an export that begin with a word: the file itself where it is no zip file.

    Yields:
        Each with what goes before a place in it: nothing where it is the only one.

    Raises:
        Unusable: A zip file has none.
    """
    if not is_zip(file):
        yield file, ""
        return
    wanted = re.compile(rf"(?:.*/)?{stem}[\w-]*\.json")
    found = {name: member for name, member in members(file).items() if wanted.fullmatch(name)}
    if not found:
        raise Unusable(file.path, f"is a zip file without {stem}.json")
    for name, member in found.items():
        yield member, "" if len(found) == 1 else f"{name}, "


def entries(file: SourceFile, stem: str) -> Iterator[tuple[Item, str] | Skipped]:
    """The items of an export's JSON arrays, as ``parts`` finds them, each with what goes before a place in its file.

    Raises:
        Unusable: There is no such file, or it is no JSON array.
    """
    for part, prefix in parts(file, stem):
        for item in items(part):
            yield replace(item, where=f"{prefix}{item.where}") if isinstance(item, Skipped) else (item, prefix)


def _files(root: Path) -> Iterator[Path]:
    """Ordinary files, links left aside: what lies outside is not read."""
    waiting = [root]
    while waiting:
        for path in sorted(waiting.pop().iterdir()):
            if path.is_symlink():
                continue
            if path.is_dir():
                waiting.append(path)
            elif path.is_file():
                yield path


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.split("/"))
