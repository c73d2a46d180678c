"""Shared by the tests of the inspector in a browser, and by the script that takes its pictures: a server, and pages.

The server is a process of its own: NiceGUI has one application a process, and refuses to be itself under pytest.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Browser, Page

# Debian's; the shell is the same engine without a window, and starts in a third of the time.
CHROMIUM = next(
    (path for path in ("/usr/bin/chromium-headless-shell", "/usr/bin/chromium") if Path(path).exists()), None
)
ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(__file__).resolve().parent / "inspector_program.py"
# No name but this machine's own is known: what asks another host fails, and is seen to ask.
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
START_S = 240
TIMEOUT_MS = 60_000
"""Long, for a machine that others keep busy; nothing waits this long where all is well."""


@dataclass
class Server:
    """A running server.

    Attributes:
        address: Of the inspector.
        keys: By name: ``all``, ``reader``, ``writer``, ``other`` (of another tenant).
        folder: Where it runs.
    """

    address: str
    keys: dict[str, str]
    folder: Path
    process: subprocess.Popen[bytes]
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(folder: Path, *, demo: bool = False, open_to_all: bool = False) -> Iterator[Server]:
    """A server on a memory of its own in a folder; with the demo's dialogue, or with what tests need."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT / "src"), str(ROOT / "tests")))}
    environment.pop("PYTEST_CURRENT_TEST", None)
    arguments = [
        sys.executable,
        str(PROGRAM),
        str(port),
        "demo" if demo else "tests",
        "open" if open_to_all else "keys",
    ]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(arguments, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        _wait(process, f"http://127.0.0.1:{port}/inspector/login", folder)
        keys = json.loads((folder / "keys.json").read_text(encoding="utf-8"))
        yield Server(f"http://127.0.0.1:{port}/inspector", keys, folder, process)
    finally:
        process.terminate()
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], address: str, folder: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"the server did not start:\n{(folder / 'server.log').read_text(encoding='utf-8')[-3000:]}")


def open_page(
    browser: Browser,
    server: Server,
    *,
    key: str | None = "all",
    width: int = 1280,
    height: int = 900,
    dark: bool = False,
) -> Page:
    """A page in a fresh browser, logged in by the form; all that it asks for is in ``server.asked``."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", reduced_motion="reduce"
    )
    context.on("request", lambda request: server.asked.append(request.url))
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.on("websocket", lambda socket: server.asked.append(socket.url))
    if key is not None:
        page.goto(f"{server.address}/login")
        page.fill("#key", server.keys[key])
        page.click("button[type=submit]")
        page.wait_for_url(lambda url: not url.endswith("/login"))
        # Who knows one person only is led on to them: a navigation of the page's own, which must not meet the next.
        page.wait_for_load_state("networkidle")
        page.goto("about:blank")
    return page
