"""Runs the documentation: its commands and its Python, page by page, and keeps the shown output true.

    python scripts/docs_pages.py                runs README.md and docs/*.md and writes their real output into them

A page is run in an empty folder. Its ``sh`` blocks may hold ``mnemic …``, ``make demo``, ``export NAME=value``,
``mkdir FOLDER`` and ``cat > FILE <<'END'``; everything else must be in ``NOT_RUN``. A command that must fail says so
behind it: ``# exit status 1``. Its ``python`` blocks share one namespace. A ``text`` or ``json`` block right below one
of these is what it prints; in ``text`` a line ``…`` stands for any lines. Tests compare; decimals, milliseconds, made
ids and the time of recording may differ.

A ``sh`` block that has ``curl`` in it, ``$(``, or a command whose output goes to a file, is run by a real shell, with
another port in the place of 8377; the variables that it exports stand in the next one too, and what it leaves running
ends with the page.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from mnemic.cli import main as mnemic

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

NOT_RUN = {
    "make test": "it runs these tests",
    "make quality": "takes minutes, and needs the benchmark's file",
    "python3 -m venv .venv": "installing needs a package index; CI does it with make",
    ". .venv/bin/activate": "the same",
    "pip install .": "the same",
    "pip install '.[spacy]'": "the same",
    "pip install '.[server]'": "the same",
    "pip install '.[adapters]'": "the same",
}
"""Commands that the pages show and nobody runs here, with the reason."""

_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_HEREDOC = re.compile(r"cat > (?P<file>[\w./-]+) <<'END'")
_SHELL = re.compile(r"curl|\$\(|^mnemic .* > ", re.MULTILINE)
_EXIT = re.compile(r"\s+# exit status (?P<status>\d+)$")
_VARIABLE = (
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(?:\+00:00)?"), "#now"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "#id"),
    (re.compile(r"\d+(?:\.\d+)+(?:e-\d+)?"), "#"),
    (re.compile(r"(?<!\S)\d+ ms\b"), "# ms"),
)
_VARIABLE_KEYS = frozenset(("took_ms", "size_bytes", "index_bytes"))
_WIDTH = 110
_PORT = "8377"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page: where its text stands, and its language."""

    page: Path
    language: str
    text: str
    start: int
    line: int

    @property
    def runs(self) -> bool:
        return self.language in ("sh", "python")

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Every fenced block, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, found["language"], found["text"], found.start("text"), text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def shown(page: Path) -> dict[int, Block]:
    """Position of a block that runs -> the block right below it that shows its output."""
    text = page.read_text(encoding="utf-8")
    found = blocks(page)
    return {
        i: below
        for i, (block, below) in enumerate(pairwise(found))
        if block.runs
        and below.language in ("text", "json")
        and not text[block.start + len(block.text) : below.start]
        .replace("```", "")
        .strip()
        .removeprefix(below.language)
    }


class _Both(io.StringIO):
    """One of the two streams of output; everything goes to the terminal, too."""

    def __init__(self, terminal: io.StringIO) -> None:
        super().__init__()
        self._terminal = terminal

    def write(self, text: str, /) -> int:
        self._terminal.write(text)
        return super().write(text)


def run(page: Path) -> Iterator[tuple[Block, str, Block | None]]:
    """Run a page in an empty folder: each block with what it printed, and the block that shows it.

    ``text`` shows what a terminal does; ``json`` shows standard output alone.
    """
    below = shown(page)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    shell = _Shell()
    before = dict(os.environ)
    for name in before:
        if name in ("MNEMIC_DB", "MNEMIC_USER") or name.startswith("MNEMIC_MODEL"):
            del os.environ[name]
    try:
        with tempfile.TemporaryDirectory() as folder:
            for i, block in enumerate(blocks(page)):
                if block.runs:
                    terminal = io.StringIO()
                    with chdir(folder), redirect_stdout(_Both(terminal)) as out, redirect_stderr(_Both(terminal)):
                        _run(block, namespace, shell)
                    shows = below.get(i)
                    yield block, (out if shows and shows.language == "json" else terminal).getvalue(), shows
    finally:
        shell.end()
        os.environ.clear()
        os.environ.update(before)


class _Shell:
    """Runs blocks by bash, ``mnemic`` being this one, and ends what they left running."""

    def __init__(self) -> None:
        self._groups: list[int] = []
        self._port = ""

    def run(self, block: Block) -> None:
        """Run one; its output goes where this process's does."""
        if not self._port:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                self._port = str(free.getsockname()[1])
        text = "\n".join(line for line in block.text.splitlines() if line not in NOT_RUN)
        text = text.replace(f":{_PORT}/", f":{self._port}/")
        text = text.replace("mnemic serve", f"mnemic serve --port {self._port}")
        # The page's folder is another one than this process began in.
        package = Path(importlib.util.find_spec("mnemic").origin).resolve().parents[1]
        own = f'{shlex.quote(sys.executable)} -m mnemic "$@"'
        script = f"mnemic() {{ {own}; }}\n{text}\nexport -p > .exported\n"
        if Path(".exported").exists():
            script = ". ./.exported\n" + script
        out, err = Path(".out"), Path(".err")
        with out.open("wb") as to_out, err.open("wb") as to_err:
            done = subprocess.Popen(
                ["bash", "-euc", script],
                stdout=to_out,
                stderr=to_err,
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": str(package)},
            )
            self._groups.append(done.pid)
            code = done.wait(300)
        # What runs in the background may still write there.
        sys.stdout.write(out.read_text(encoding="utf-8").replace(self._port, _PORT))
        sys.stderr.write(err.read_text(encoding="utf-8").replace(self._port, _PORT))
        if code:
            log = Path("server.log")
            told = log.read_text(encoding="utf-8") if log.exists() else ""
            raise AssertionError(f"{block}: the shell left with {code}: {err.read_text(encoding='utf-8')}{told}")

    def end(self) -> None:
        for group in self._groups:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, signal.SIGTERM)


def _run(block: Block, namespace: dict[str, Any], shell: _Shell) -> None:
    if block.language == "sh" and _SHELL.search(block.text):
        shell.run(block)
        return
    if block.language == "python":
        exec(compile("\n" * block.line + block.text, str(block.page), "exec"), namespace)
        return
    lines = iter(block.text.replace("\\\n", " ").splitlines())
    for line in lines:
        if heredoc := _HEREDOC.fullmatch(line):
            body = "".join(f"{text}\n" for text in iter(lambda: next(lines), "END"))
            Path(heredoc["file"]).write_text(body, encoding="utf-8")
        elif line.strip() and not line.startswith("#"):
            wanted = _EXIT.search(line)
            status = _command(shlex.split(line, comments=True), block)
            if status != (int(wanted["status"]) if wanted else 0):
                raise AssertionError(f"{block}: {line!r} left with {status}")


def _command(words: list[str], block: Block) -> int:
    if words == ["make", "demo"]:
        words = ["mnemic", "demo"]
    if words[0] == "export" and len(words) == 2:
        name, _, value = words[1].partition("=")
        os.environ[name] = value
        return 0
    if words[0] == "mkdir" and len(words) == 2:
        Path(words[1]).mkdir()
        return 0
    if words[0] != "mnemic":
        if shlex.join(words) not in {shlex.join(shlex.split(known)) for known in NOT_RUN}:
            raise AssertionError(f"{block}: nobody knows how to run {shlex.join(words)!r}")
        return 0
    try:
        mnemic(words[1:])
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return 0


def alike(wanted: str, printed: str, language: str) -> bool:
    """Whether a shown output is what was printed, but for what may differ."""
    if language == "json":
        return _plain(json.loads(wanted)) == _plain(json.loads(printed))
    pieces = re.split(r"^…\n", _text(wanted), flags=re.MULTILINE)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, pieces)), _text(printed)) is not None


def _text(text: str) -> str:
    for pattern, instead in _VARIABLE:
        text = pattern.sub(instead, text)
    # The order of a score's parts follows their values.
    parts = re.compile(r"(?<=score # \()\w+ #(?:, \w+ #)*")
    return parts.sub(lambda found: ", ".join(sorted(found[0].split(", "))), text.strip() + "\n")


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        return {key: 0 if key in _VARIABLE_KEYS else _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return 0.0
    return _text(value) if isinstance(value, str) else value


def laid_out(value: Any, indent: int = 0) -> str:  # noqa: ANN401 - any JSON
    """JSON for people: what fits on a line stands on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(line) + indent <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    if isinstance(value, dict):
        items = [f"{json.dumps(key)}: {laid_out(item, indent + 2)}" for key, item in value.items()]
        opening, closing = "{}"
    else:
        items = [laid_out(item, indent + 2) for item in value]
        opening, closing = "[]"
    inner = ",\n".join(" " * (indent + 2) + item for item in items)
    return f"{opening}\n{inner}\n{' ' * indent}{closing}"


def refresh(page: Path) -> None:
    """Write a page's real output into it, where it is not alike already."""
    changes: list[tuple[Block, str]] = []
    for _, printed, below in run(page):
        if below is None or (below.text.strip() and alike(below.text, printed, below.language)):
            continue
        text = laid_out(json.loads(printed)) if below.language == "json" else printed.strip()
        changes.append((replace(below), text + "\n"))
    text = page.read_text(encoding="utf-8")
    for block, new in reversed(changes):
        text = text[: block.start] + new + text[block.start + len(block.text) :]
        print(f"{block}: refreshed")
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in PAGES:
        refresh(each)
