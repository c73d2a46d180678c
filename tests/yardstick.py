"""How slow this machine is now: a fixed amount of work, timed beside what a test measures.

A number of seconds bounds nothing on a machine that nobody knows. So a bound is in seconds of the reference machine,
and is stretched by how much longer the work takes here, at the same time.
"""

from __future__ import annotations

import ast
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager

import numpy as np

WORDS = " ".join(f"word{n * 7919 % 613} and a comma, then {n}." for n in range(200))
CODE = "\n".join(f"def f{n}(a, *, b=[{n}, 'x']):\n    return {{a: b[{n}:], **g(a or not b)}}" for n in range(8))
ROWS = np.random.default_rng(0).standard_normal((2000, 384), dtype=np.float32)
SENTENCE = "Who did John go to yoga with on the last Friday of May?"

WORK_MS = 3.3
"""CPU time of ``work`` on the reference machine: one where a query of tests/pipeline/test_locomo.py took 8 ms, 4 of
them without its embedding, as measured when nothing else ran (two cores of an AMD EPYC). Query and work were timed in
turns, 10 rounds of 20 questions on the same cores under load: 1.22 (1.13 to 1.46) times the work is one query without
its embedding, the median of rounds; 4 ms / 1.22 = 3.3 ms."""
EMBEDDING_MS = 4.9
"""The same for embedding ``SENTENCE``: a whole query was 0.98 (0.95 to 1.06) times work and embedding; 8 ms / 0.98."""


def python() -> None:
    """What interpreted code is made of: strings, dictionaries, sorting, many small functions, rows of a database."""
    counted = Counter(word.strip(",.").lower() for word in WORDS.split())
    ranked = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    assert {name: rank for rank, (name, _) in enumerate(ranked)}["comma"] < 5
    assert ast.unparse(ast.parse(CODE)) == ast.unparse(ast.parse(CODE))
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE counts (word TEXT PRIMARY KEY, n INTEGER)")
        connection.executemany("INSERT INTO counts VALUES (?, ?)", ranked)
        assert all(connection.execute("SELECT n FROM counts WHERE word = ?", one[:1]).fetchone() for one in ranked)


def arrays() -> None:
    """What search is made of: similarities of all rows, and the best of them."""
    found = np.einsum("ij,j->i", ROWS, ROWS[7])  # without BLAS, whose idle threads count as work
    assert np.argsort(-found)[0] == 7


def work() -> None:
    """The fixed amount."""
    python()
    arrays()


def cpu_s(done: Callable[[], object]) -> float:
    """CPU time of all threads of this process that something takes, in seconds."""
    started = time.process_time()
    done()
    return time.process_time() - started


def slowness() -> float:
    """How much longer the work takes now than on the reference machine."""
    return min(cpu_s(work) for _ in range(3)) * 1000 / WORK_MS


@contextmanager
def at_most(seconds: float) -> Generator[None]:
    """A block that takes at most so much CPU time of the reference machine."""
    before, started = slowness(), time.process_time()
    yield
    took = time.process_time() - started
    here = max(before, slowness())
    assert took <= seconds * here, f"{took:.2f} s, on a machine {here:.1f} times as slow as the reference machine"
