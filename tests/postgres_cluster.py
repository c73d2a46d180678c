"""A PostgreSQL of a test's own, that may be stopped, killed and looked into: the shared server never is."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)


class Cluster:
    """Its files in a folder, its port, and its program."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.data = folder / "data"
        self._log = folder / "log"
        self._programs = programs
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "mnemic", "-E", "UTF8", "--locale=C", "--no-sync")

    @property
    def address(self) -> str:
        return f"postgresql://mnemic:s3cret-password@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        # Not safe from a power cut, but from anything that a test does to it.
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "start", "-w", "-s", "-D", self.data, "-l", self._log, "-o", options)

    def stop(self, how: str = "fast") -> None:
        """``fast`` ends the connections; ``immediate`` is a crash."""
        self._run("pg_ctl", "stop", "-w", "-s", "-D", self.data, "-m", how)

    def _run(self, program: str, *arguments: object) -> None:
        # PostgreSQL refuses to run as root.
        user = "postgres" if os.getuid() == 0 else None
        command = [str(self._programs / program), *map(str, arguments)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=120, user=user, cwd="/")


@contextmanager
def own_cluster() -> Iterator[Cluster]:
    """A running one, gone at the end. Skips the test where its programs are not installed."""
    missing = None
    if not _PLACES:
        missing = "no PostgreSQL programs below /usr/lib/postgresql: install the server"
    elif os.getuid() == 0 and "postgres" not in {one.pw_name for one in pwd.getpwall()}:
        missing = "PostgreSQL does not run as root, and there is no user postgres to run it as"
    if missing is not None:
        if os.environ.get("MNEMIC_REQUIRE_POSTGRES"):
            pytest.fail(missing)
        pytest.skip(missing)
    folder = Path(tempfile.mkdtemp(prefix="mnemic-postgres-"))
    try:
        if os.getuid() == 0:
            shutil.chown(folder, "postgres")
        cluster = Cluster(folder, _PLACES[0])
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop("immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
