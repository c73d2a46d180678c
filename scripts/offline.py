"""Runs a command where there is no network but the loopback. Run: make test-offline, or

    python scripts/offline.py COMMAND …

It moves into a network namespace of its own (Linux; as root, or where users may have namespaces), starts a PostgreSQL
there for the tests that want one, and proves that nothing else can be reached before the command begins. As another
user than root PostgreSQL's own programs may be missing: those tests are then skipped, which pytest says.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
_INSIDE = "--inside"
_ELSEWHERE = ("192.0.2.1", 80)
"""An address that is nobody's (RFC 5737): reaching for it takes a route out."""


def main(arguments: Sequence[str]) -> int:
    """Run the command, and say with which status it ended."""
    if not arguments:
        print(__doc__)
        return 2
    if arguments[0] != _INSIDE:
        # As root of a namespace of users where we are none: only there a network may be made.
        flags = ["--net"] if os.getuid() == 0 else ["--net", "--map-root-user"]
        return subprocess.run(
            ["unshare", *flags, sys.executable, __file__, _INSIDE, *arguments], check=False
        ).returncode
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    _prove()
    with contextlib.ExitStack() as stack:
        environment = dict(os.environ)
        if (address := _postgres(stack)) is not None:
            environment["MNEMIC_TEST_POSTGRES"] = address
        return subprocess.run(list(arguments[1:]), check=False, env=environment).returncode


def _prove() -> None:
    """Raises SystemExit where something else than this machine can be reached."""
    names = sorted(name for _, name in socket.if_nameindex())
    with socket.socket() as reaching:
        reaching.settimeout(5)
        found = reaching.connect_ex(_ELSEWHERE)
    if names != ["lo"] or found == 0:
        raise SystemExit(f"there is a network here: {', '.join(names)}")
    print("no network but the loopback", flush=True)


def _postgres(stack: contextlib.ExitStack) -> str | None:
    """The address of a server in here, gone at the end; None where its programs are missing."""
    sys.path.insert(0, str(ROOT / "tests"))
    from postgres_cluster import own_cluster

    try:
        return stack.enter_context(own_cluster()).address
    except pytest.skip.Exception as missing:
        print(f"tests that need PostgreSQL are skipped: {missing}", flush=True)
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
