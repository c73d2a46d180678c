"""A folder of conversations: every file in it, and in the folders below, that holds some."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mnemic.importers import slack
from mnemic.importers.detect import Format
from mnemic.importers.files import DateOrder, Unusable, stem, utf8
from mnemic.importers.records import Record, Skipped
from mnemic.importers.source import Source, read


@dataclass(frozen=True, slots=True)
class Folder:
    """The conversations of a folder; iterating reads its files, one after the other, each time anew.

    Attributes:
        sources: The files that hold conversations: name from the folder on (``2024/walk.txt``) -> file, by name.
        skipped: What else is there.
    """

    sources: dict[str, Source]
    skipped: tuple[Skipped, ...]

    @property
    def formats(self) -> dict[str, Format]:
        """File name -> what it is read as."""
        return {name: source.format for name, source in self.sources.items()}

    @property
    def names_users(self) -> bool:
        """Whether every conversation says whose it is."""
        return all(source.names_users for source in self.sources.values())

    def __iter__(self) -> Iterator[Record]:
        """Read the conversations, in order; a file that turns out to be damaged costs only itself."""
        yield from self.skipped
        for name, source in self.sources.items():
            try:
                for record in source:
                    yield replace(record, where=f"{name}, {record.where}") if isinstance(record, Skipped) else record
            except (Unusable, OSError) as error:
                yield _left_out(name, error)


def read_folder(
    path: str | Path,
    format: Format | None = None,
    *,
    columns: Mapping[str, str] | None = None,
    date_order: DateOrder | None = None,
) -> Folder:
    """Look through a folder for conversations.

    Hidden files and folders are passed over, and so are links: what one leads to within the folder is read in its
    own place, and nothing outside is read. A session that a file does not name takes the file's name from the
    folder on, without its ending (``2024/walk``); only where two names differ in nothing but that, both keep it.

    Args:
        path: The folder.
        format: Of all files; told for each by its content when None.
        columns: As for ``read``.
        date_order: As for ``read``.

    Raises:
        InvalidFile: It is no folder.
    """
    root = Path(path)
    if not root.is_dir():
        raise Unusable(root, "is no folder")
    files: dict[str, Path] = {}
    skipped: list[Skipped] = []
    for place in _places(root):
        if isinstance(place, Skipped):
            skipped.append(place)
        else:
            files[_name(root, place)] = place
    sources: dict[str, Source] = {}
    for name, session in _sessions(files).items():
        try:
            sources[name] = read(files[name], format, session=session, columns=columns, date_order=date_order)
        except (Unusable, OSError) as error:
            skipped.append(_left_out(name, error))
    return Folder(sources, tuple(skipped))


def open_source(
    path: str | Path,
    format: Format | None = None,
    *,
    session: str | None = None,
    columns: Mapping[str, str] | None = None,
    date_order: DateOrder | None = None,
) -> Source | Folder:
    """Open whatever conversations lie in: a file, or a folder.

    Args:
        path: The file or folder.
        format: As for ``read``, and so are the following; for a folder, of all its files.
        session: See there; of a single file.
        columns: See there.
        date_order: See there.

    Raises:
        InvalidFile: It cannot be read, or its format cannot be told.
    """
    if not Path(path).is_dir() or format == "slack" or (format is None and _is_export(Path(path))):
        return read(path, format, session=session, columns=columns, date_order=date_order)
    return read_folder(path, format, columns=columns, date_order=date_order)


def _is_export(root: Path) -> bool:
    """Whether a folder is the unpacked export of one program, which is read as a whole."""
    return slack.is_export([name for name in ("users.json", *slack.LISTS) if (root / name).is_file()])


def _places(root: Path) -> Iterator[Path | Skipped]:
    """The ordinary files, in order, and what else there is. No recursion: a folder may be as deep as a path is long."""
    waiting = [root]
    while waiting:
        place = waiting.pop()
        try:
            if place != root and place.is_symlink():
                if (reason := _astray(root, place)) is not None:
                    yield Skipped(reason, _name(root, place))
            elif place.is_dir():
                inside = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
                waiting += sorted(inside, key=lambda entry: os.fsencode(entry.name), reverse=True)
            elif place.is_file():
                yield place
            else:
                yield Skipped("neither a file nor a folder", _name(root, place))
        except OSError as error:
            yield Skipped(f"what cannot be read ({error.strerror})", _name(root, place))


def _astray(root: Path, link: Path) -> str | None:
    """Why what a link leads to is not read in its own place; None when it is."""
    # Not Path.resolve, which some versions of Python let raise RuntimeError for links in a circle.
    top, target = Path(os.path.realpath(root)), Path(os.path.realpath(link))
    if not target.is_relative_to(top):
        return "a link that leads out of the folder"
    if not target.exists() or any(part.startswith(".") for part in target.relative_to(top).parts):
        return "a link to what is hidden or missing"
    return None


def _sessions(names: Iterable[str]) -> dict[str, str]:
    """File name -> the name of its sessions, unique, and as far as possible the same whatever else lies there."""
    short = {name: f"{name[: name.rfind('/') + 1]}{stem(name.rpartition('/')[2])}" for name in names}
    uses = Counter(short.values())
    uses.update(name for name, session in short.items() if name != session)
    return {name: session if uses[session] == 1 else name for name, session in short.items()}


def _name(root: Path, place: Path) -> str:
    return utf8(place.relative_to(root).as_posix())


def _left_out(name: str, error: Unusable | OSError) -> Skipped:
    if isinstance(error, Unusable):
        return Skipped(f"a file that {error.reason}", f"{name}, {error.place}".removesuffix(", "))
    return Skipped(f"a file that cannot be read ({error.strerror})", name)
