"""Loads a real server: searches at a steady rate over many users, then ever faster until it is too slow.

    python scripts/load_test.py                          40 a second for 60 s over 100 users, then the ramp
    python scripts/load_test.py --seconds 10 --no-ramp   a short trial

``mnemic serve`` runs in a process of its own, with the embedded embedder, on a database of its own that is filled
through ``POST /v1/memories``; this process asks. Both share two cores. Requests leave at fixed moments, whether or not
earlier ones were answered, and each is timed from its moment: a server that falls behind cannot hide it. The result is
written to ``results/serve/load.json``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from mnemic.bench.provenance import Provenance
from mnemic.bench.speed.dialogue import questions, turns

ROOT = Path(__file__).resolve().parent.parent
CORES = 2
P99_MS = 300.0
TOO_SLOW_MS = 1000.0
STEP = 10
_BATCH = 100


@dataclass(frozen=True)
class Measured:
    """What came of one rate.

    Attributes:
        rate: Requests a second that were sent.
        p50_ms, p95_ms, p99_ms, max_ms: From the moment a request was to leave to the end of its reply.
        late_ms: p99 of how late this process sent one: its own lateness counts against the server.
        server_cpu: Cores that the server used.
    """

    rate: float
    seconds: float
    requests: int
    errors: dict[str, int]
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    late_ms: float
    server_cpu: float
    server_rss_mb: float


class Client:
    """Keeps connections to one server open, and sends requests over them."""

    def __init__(self, host: str, port: int, key: str) -> None:
        self._address = host, port
        self._head = f"Host: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, path: str, body: object) -> tuple[int, bytes]:
        """One request; its status and body."""
        sent = json.dumps(body).encode()
        reader, writer = self._idle.pop() if self._idle else await asyncio.open_connection(*self._address)
        try:
            writer.write(f"POST {path} HTTP/1.1\r\n{self._head}Content-Length: {len(sent)}\r\n\r\n".encode() + sent)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = int(re.search(r"(?i)content-length: (\d+)", head)[1])
            came = await reader.readexactly(length)
        except BaseException:
            writer.close()
            raise
        self._idle.append((reader, writer))
        return int(head.split(" ", 2)[1]), came

    def close(self) -> None:
        for _, writer in self._idle:
            writer.close()


class Server:
    """``mnemic serve`` on a free port."""

    def __init__(self, database: Path) -> None:
        made = subprocess.run(
            [sys.executable, "-m", "mnemic", "keys", "create", "load", "--db", str(database)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        self.key = made.stdout.strip()
        self._log = (database.parent / "server.log").open("w+")
        command = [sys.executable, "-m", "mnemic", "serve", "--db", str(database), "--port", "0", "--rate", "100000"]
        self.process = subprocess.Popen(command, stderr=self._log)
        self.port = self._listening(database.parent / "server.log")

    def _listening(self, log: Path) -> int:
        for _ in range(1200):
            if found := re.search(r"at http://127\.0\.0\.1:(\d+);", log.read_text()):
                return int(found[1])
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise SystemExit(f"the server did not start: {log.read_text()}")

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def rss_mb(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(30)
        self._log.close()


async def fill(client: Client, users: Sequence[str], each: int) -> None:
    """Give every user a history of their own."""
    for user in users:
        said = [
            {"id": turn.turn_id, "role": turn.role, "name": turn.speaker, "content": turn.text,
             "session_id": turn.session_id, "timestamp": turn.timestamp.isoformat()}
            for turn in turns(user, 0, each)
        ]  # fmt: skip
        for at in range(0, each, _BATCH):
            status, came = await client.post("/v1/memories", {"user_id": user, "messages": said[at : at + _BATCH]})
            if status != 201:
                raise SystemExit(f"{user} was not filled: {status} {came[:300]!r}")


async def measure(client: Client, server: Server, asked: Sequence[dict[str, object]], rate: float) -> Measured:
    """Ask at a rate, all of the questions once."""
    took: list[float] = []
    late: list[float] = []
    errors: Counter[str] = Counter()

    async def ask(body: dict[str, object], moment: float) -> None:
        late.append(time.perf_counter() - moment)
        try:
            async with asyncio.timeout(30):
                status, came = await client.post("/v1/search", body)
            if status != 200:
                errors[str(status)] += 1
            elif not json.loads(came)["results"]:
                errors["nothing found"] += 1
        except (OSError, EOFError, TimeoutError) as error:
            errors[type(error).__name__] += 1
        took.append(time.perf_counter() - moment)

    cpu, start = server.cpu_s(), time.perf_counter() + 0.1
    async with asyncio.TaskGroup() as group:
        for number, body in enumerate(asked):
            moment = start + number / rate
            if (wait := moment - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            group.create_task(ask(body, moment))
    seconds = time.perf_counter() - start
    return Measured(
        rate=rate, seconds=round(seconds, 2), requests=len(took), errors=dict(errors),
        p50_ms=_ms(took, 0.5), p95_ms=_ms(took, 0.95), p99_ms=_ms(took, 0.99), max_ms=_ms(took, 1.0),
        late_ms=_ms(late, 0.99), server_cpu=round((server.cpu_s() - cpu) / seconds, 2),
        server_rss_mb=round(server.rss_mb(), 1),
    )  # fmt: skip


def _ms(seconds: Sequence[float], share: float) -> float:
    """A quantile: the least value that so large a share is at or below."""
    ordered = sorted(seconds)
    return round(1000 * ordered[max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1)], 1)


def bodies(users: Sequence[str], each: int, count: int) -> list[dict[str, object]]:
    """So many searches, user after user, each with a question of its own."""
    per_user = -(-count // len(users))
    asked = {user: questions(user, per_user, held=each) for user in users}
    return [
        {"query": asked[users[number % len(users)]][number // len(users)], "user_id": users[number % len(users)]}
        for number in range(count)
    ]


async def run(options: argparse.Namespace, server: Server) -> dict[str, object]:
    """Fill, warm, measure, and go ever faster."""
    users = [f"user-{number}" for number in range(options.users)]
    client = Client("127.0.0.1", server.port, server.key)
    print(f"filling {len(users)} users with {options.turns} messages each", flush=True)
    await fill(client, users, options.turns)
    print("warming: one search of each user", flush=True)
    for body in bodies(users, options.turns, len(users)):
        await client.post("/v1/search", body)
    count = round(options.rate * options.seconds)
    steady = await measure(client, server, bodies(users, options.turns, count), options.rate)
    print(f"steady: {asdict(steady)}", flush=True)
    ramp: list[Measured] = []
    rate = options.rate
    while not options.no_ramp:
        rate += STEP
        step = await measure(client, server, bodies(users, options.turns, round(rate * options.step)), rate)
        print(f"ramp: {asdict(step)}", flush=True)
        ramp.append(step)
        if step.p99_ms > TOO_SLOW_MS or step.errors:
            break
    client.close()
    reached = [one.rate for one in (steady, *ramp) if one.p99_ms <= TOO_SLOW_MS and not one.errors]
    return {
        "steady": asdict(steady),
        "ramp": [asdict(one) for one in ramp],
        "highest_rate_p99_under_1_s": max(reached, default=None) if ramp else None,
        "meets": not steady.errors and steady.p99_ms < P99_MS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=100)
    parser.add_argument("--turns", type=int, default=200, help="messages of each user")
    parser.add_argument("--rate", type=float, default=40.0, help="searches a second")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--step", type=float, default=15.0, help="seconds of each rate of the ramp")
    parser.add_argument("--no-ramp", action="store_true")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "serve" / "load.json")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[:CORES]
    os.sched_setaffinity(0, cores)  # the server inherits it
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder) / "memory.db")
        try:
            result = asyncio.run(run(options, server))
        finally:
            server.end()
    given = {name: value for name, value in vars(options).items() if name != "output"}
    made = asdict(Provenance.now())
    machine = {"cores": len(cores), "load_before": os.getloadavg()[2], "processor": _processor()}
    options.output.parent.mkdir(parents=True, exist_ok=True)
    whole = {"embedder": "local", "given": given, "machine": machine, **result, **made}
    options.output.write_text(json.dumps(whole, indent=1) + "\n")
    print(f"{'meets' if result['meets'] else 'DOES NOT MEET'} no error and p99 < {P99_MS:g} ms; see {options.output}")
    raise SystemExit(0 if result["meets"] else 1)


def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
