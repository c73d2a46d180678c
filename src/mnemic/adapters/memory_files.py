"""Files under ``/memories`` in a memory: what Anthropic's memory tool views, creates, edits, deletes and renames.

They are virtual: no command reaches a file of the machine, and no path leaves ``/memories``. What commands answer is
what Anthropic's own tool for a folder answers.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Final, cast

from mnemic.adapters.documents import Document, Documents
from mnemic.errors import InvalidInput, MnemicError
from mnemic.memory import Memory

ROOT: Final = "/memories"
_NUMBER_WIDTH: Final = 6
_KIND: Final = "memory-files"


class MemoryFiles:
    """One user's files.

    Args:
        memory: Where they lie.
        user_id: Whose they are; no command names a user.
    """

    def __init__(self, memory: Memory, *, user_id: str) -> None:
        self._documents = Documents(memory, user_id, _KIND)

    def execute(self, command: Mapping[str, object]) -> str:
        """Do what a model's command says, and answer in words for the model, whatever goes wrong.

        Args:
            command: The input of a tool call: ``{"command": "view", "path": "/memories"}``.
        """
        try:
            return self.do(command)
        except MnemicError as error:
            return f"Error: {error}"

    def do(self, command: Mapping[str, object]) -> str:
        """The same. Raises InvalidInput for what cannot be done."""
        match command.get("command"):
            case "view":
                return self.view(_text(command, "path"), _range(command.get("view_range")))
            case "create":
                return self.create(_text(command, "path"), _text(command, "file_text"))
            case "str_replace":
                new = _text(command, "new_str") if command.get("new_str") is not None else ""
                return self.str_replace(_text(command, "path"), _text(command, "old_str"), new)
            case "insert":
                line = command.get("insert_line")
                if not isinstance(line, int):
                    raise InvalidInput("insert needs insert_line, a number of lines")
                return self.insert(_text(command, "path"), line, _text(command, "insert_text"))
            case "delete":
                return self.delete(_text(command, "path"))
            case "rename":
                return self.rename(_text(command, "old_path"), _text(command, "new_path"))
            case other:
                raise InvalidInput(f"unknown command: {other}")

    def view(self, path: str, view_range: tuple[int, int] | None = None) -> str:
        """A file with numbered lines, or what lies in a directory, two levels deep. Raises InvalidInput."""
        place = _place(path)
        files = self._documents.all()
        if place not in files:
            if place != ROOT and not _within(place, files):
                raise InvalidInput(f"The path {path} does not exist. Please provide a valid path.")
            return _listing(path, place, files)
        lines = _content(files[place]).split("\n")
        first = 1
        if view_range is not None:
            first, last = max(1, view_range[0]), view_range[1]
            lines = lines[first - 1 : len(lines) if last == -1 else last]
        return f"Here's the content of {path} with line numbers:\n{_numbered(lines, first)}"

    def create(self, path: str, file_text: str) -> str:
        """A new file. Raises InvalidInput where there is one, or a directory."""
        place = _place(path)
        files = self._documents.all()
        if place == ROOT or place in files or _within(place, files):
            raise InvalidInput(f"File {path} already exists")
        _check_parents(path, place, files)
        self._write(place, file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, path: str, old_str: str, new_str: str) -> str:
        """Replace what stands exactly once in a file. Raises InvalidInput."""
        place, content = self._file(path)
        count = content.count(old_str) if old_str else 0
        if count == 0:
            raise InvalidInput(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
        if count > 1:
            lines = ", ".join(map(str, _lines_with(content, old_str)))
            raise InvalidInput(
                f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        changed = content[: content.find(old_str)].count("\n")
        content = content.replace(old_str, new_str)
        self._write(place, content)
        first = max(0, changed - 2)
        shown = _numbered(content.split("\n")[first : changed + 3], first + 1)
        return f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{shown}"

    def insert(self, path: str, insert_line: int, insert_text: str) -> str:
        """Put lines behind a line of a file, 0 for its beginning. Raises InvalidInput."""
        place, content = self._file(path)
        lines = content.split("\n")
        if lines[-1] == "":
            lines.pop()
        if not 0 <= insert_line <= len(lines):
            raise InvalidInput(
                f"Invalid `insert_line` parameter: {insert_line}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(insert_line, insert_text.rstrip("\n"))
        content = "\n".join(lines)
        self._write(place, content if content.endswith("\n") else f"{content}\n")
        return f"The file {path} has been edited."

    def delete(self, path: str) -> str:
        """Erase a file, or all files of a directory. Raises InvalidInput."""
        place = _place(path)
        if place == ROOT:
            raise InvalidInput(f"Cannot delete the {ROOT} directory itself")
        files = self._documents.all()
        gone = [place] if place in files else _within(place, files)
        if not gone:
            raise InvalidInput(f"The path {path} does not exist")
        for one in gone:
            self._documents.delete(one)
        return f"Successfully deleted {path}"

    def rename(self, old_path: str, new_path: str) -> str:
        """Rename or move a file or directory. Raises InvalidInput."""
        old, new = _place(old_path), _place(new_path)
        if old == ROOT:
            raise InvalidInput(f"Cannot rename the {ROOT} directory itself")
        files = self._documents.all()
        if new == ROOT or new in files or _within(new, files):
            raise InvalidInput(f"The destination {new_path} already exists")
        moved = [old] if old in files else _within(old, files)
        if not moved:
            raise InvalidInput(f"The path {old_path} does not exist")
        if new.startswith(f"{old}/"):
            raise InvalidInput(f"The destination {new_path} lies in {old_path} itself")
        _check_parents(new_path, new, files)
        for one in moved:
            self._write(new + one.removeprefix(old), _content(files[one]))
            self._documents.delete(one)
        return f"Successfully renamed {old_path} to {new_path}"

    def _file(self, path: str) -> tuple[str, str]:
        """Where a file lies, and its content. Raises InvalidInput where there is none."""
        place = _place(path)
        found = self._documents.get(place)
        if found is None:
            if place == ROOT or _within(place, self._documents.all()):
                raise InvalidInput(f"The path {path} is not a file.")
            raise InvalidInput(f"The path {path} does not exist. Please provide a valid path.")
        return place, _content(found)

    def _write(self, place: str, content: str) -> None:
        # The path stands above the content, so that a search finds a file by its name, and an empty one is kept too.
        self._documents.put(place, f"{place}\n{content}", {})


def _place(path: str) -> str:
    """A path without ``.`` and ``..`` in it. Raises InvalidInput for one that is not within /memories."""
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {path}")
    place = posixpath.normpath(path)
    if place != ROOT and not place.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path {path} would escape {ROOT} directory")
    if "\x00" in place:
        raise InvalidInput("A path has no NUL in it")
    return place


def _check_parents(path: str, place: str, files: Mapping[str, Document]) -> None:
    parent = posixpath.dirname(place)
    while parent != ROOT:
        if parent in files:
            raise InvalidInput(f"Cannot make {path}: {parent} is a file")
        parent = posixpath.dirname(parent)


def _within(place: str, files: Mapping[str, Document]) -> list[str]:
    return [one for one in files if one.startswith(f"{place}/")]


def _content(found: Document) -> str:
    return found.text.partition("\n")[2]


def _lines_with(content: str, text: str) -> list[int]:
    """The lines on which each occurrence begins, overlapping ones too."""
    return [content[:i].count("\n") + 1 for i in range(len(content)) if content.startswith(text, i)]


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{_NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _listing(path: str, place: str, files: Mapping[str, Document]) -> str:
    """A directory, and what lies in it, two levels deep; a directory's size is that of its files."""
    sizes: dict[str, int] = {}
    for one in _within(place, files):
        parts = one.removeprefix(f"{place}/").split("/")
        size = len(_content(files[one]).encode("utf-8", "surrogatepass"))
        for depth in range(1, min(2, len(parts)) + 1):
            if not any(part.startswith(".") for part in parts[:depth]):
                name = "/".join(parts[:depth]) + ("/" if depth < len(parts) else "")
                sizes[name] = sizes.get(name, 0) + size
    whole = sum(size for name, size in sizes.items() if name.count("/") == name.endswith("/"))
    rows = [f"{_size(whole)}\t{path}"]
    rows += [f"{_size(sizes[name])}\t{path}/{name}" for name in sorted(sizes, key=lambda name: name.split("/"))]
    header = f"Here're the files and directories up to 2 levels deep in {path}, excluding hidden items:"
    return "\n".join([header, *rows])


def _size(size: int) -> str:
    unit = min(max(size.bit_length() - 1, 0) // 10, 3)
    number = size / 1024**unit
    return f"{int(number)}{'BKMG'[unit]}" if number == int(number) else f"{number:.1f}{'BKMG'[unit]}"


def _text(command: Mapping[str, object], name: str) -> str:
    value = command.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{command.get('command')} needs {name}, a text")
    return value


def _range(value: object) -> tuple[int, int] | None:
    if value is None:
        return None
    numbers = cast(Sequence[object], value) if isinstance(value, list | tuple) else ()
    if len(numbers) != 2 or not all(isinstance(one, int) for one in numbers):
        raise InvalidInput("view_range is a pair of line numbers: the first and the last, -1 for the end")
    first, last = cast(Sequence[int], numbers)
    return first, last
