"""Runs one system over one data set: each user's conversations in, then that user's questions."""

from __future__ import annotations

import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.algo import tokens
from mnemic.bench.cost import resident_mb
from mnemic.bench.records import DEPTHS, Built, Dataset, Found, Hit, Level, Outcome, Question, Row, System
from mnemic.bench.systems import Setup, labelled, system
from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.importers import Conversation

_DEEPEST = max(DEPTHS)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What became of one user."""

    user_id: str
    built: Built
    rows: tuple[Row, ...]
    configuration: Mapping[str, Json]
    rss_mb: float


def run(
    dataset: Dataset,
    name: str,
    setup: Setup | None = None,
    *,
    jobs: int | None = None,
    trial: int = 1,
    progress: Callable[[int], None] = lambda _: None,
) -> Outcome:
    """Ask a system every question of a data set, at every level it has.

    Users do not know of each other, so the rows do not depend on ``jobs``.

    Args:
        dataset: What to load and to ask.
        name: Of the system, as in ``systems.NAMES``.
        setup: What the system is made with.
        jobs: How many new processes, each with a system of its own for some of the users; None for this process.
        trial: 1 for the first run.
        progress: Called with the number of questions asked since; may raise to end the run. With ``jobs`` it is called
            when a user is done.

    Raises:
        MnemicError: The system failed.
    """
    setup = setup or Setup()
    users = _by_user(dataset)
    asked = _here(name, setup, users, progress) if jobs is None else _apart(name, setup, users, jobs, progress)
    done = {one.user_id: one for one in asked}
    configuration: Mapping[str, Json] = next(iter(done.values())).configuration if done else {}
    rows = {(row.question_id, row.level): row for one in done.values() for row in one.rows}
    levels = dict.fromkeys(row.level for one in done.values() for row in one.rows)
    return Outcome(
        dataset=dataset.name,
        split=dataset.split,
        system=labelled(name, setup),
        configuration=configuration,
        checksum=dataset.checksum,
        gold=dataset.gold,
        rows=tuple(rows[question.question_id, level] for level in levels for question in dataset.questions),
        built={user: done[user].built for user, _, _ in users},
        rss_mb=max((one.rss_mb for one in done.values()), default=0.0),
        trial=trial,
    )


_User = tuple[str, Sequence["Conversation"], Sequence[Question]]


def _by_user(dataset: Dataset) -> list[_User]:
    questions: dict[str, list[Question]] = {user: [] for user in dataset.conversations}
    for question in dataset.questions:
        questions[question.user_id].append(question)
    return [(user, dataset.conversations[user], asked) for user, asked in questions.items() if asked]


def _here(name: str, setup: Setup, users: Sequence[_User], progress: Callable[[int], None]) -> Iterator[_Asked]:
    with closing(system(name, setup)) as subject:
        for user in users:
            yield _user(subject, user, progress)


def _apart(
    name: str, setup: Setup, users: Sequence[_User], jobs: int, progress: Callable[[int], None]
) -> Iterator[_Asked]:
    """In new processes, for a forked one would inherit the embedder's threads, which do not run in it."""
    # Made once here too: what is missing is said, and a peer installed, before any process starts.
    system(name, setup).close()
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), initializer=_leave_interrupts)
    try:
        # The longest first: the one that ends last decides how long it takes.
        largest = sorted(users, key=lambda user: -sum(len(one.messages) for one in user[1]))
        for future in as_completed([pool.submit(_one_user, name, setup, user) for user in largest]):
            asked = future.result()
            yield asked
            progress(len({row.question_id for row in asked.rows}))
    except BaseException:  # also Ctrl-C, and a consumer who stops: nobody waits for the others any more
        for child in set(multiprocessing.active_children()) - others:
            child.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _leave_interrupts() -> None:
    """Ctrl-C is the parent's, which ends its workers; they clean up then."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)


def _end(_signal: int, _frame: object) -> None:
    sys.exit(1)


def _one_user(name: str, setup: Setup, user: _User) -> _Asked:
    with closing(system(name, setup)) as subject:
        return _user(subject, user, lambda _: None)


def _user(subject: System, user: _User, progress: Callable[[int], None]) -> _Asked:
    user_id, conversations, questions = user
    built = subject.load(user_id, conversations)
    rows: list[Row] = []
    for question in questions:
        rows += (
            row(question, level, subject.search(question, top_k=_DEEPEST, level=level)) for level in subject.levels
        )
        progress(1)
    return _Asked(user_id, built, tuple(rows), subject.configuration, resident_mb())


def row(question: Question, level: Level, found: Found) -> Row:
    """How a system did on a question, from what it found."""
    hits = found.hits[:_DEEPEST]
    turn_ranks: dict[str, int] = {}
    for rank, hit in enumerate(hits, 1):
        for turn_id in hit.turn_ids:
            turn_ranks.setdefault(turn_id, rank)
    sessions = dict.fromkeys(hit.session_id for hit in hits)
    session_ranks = {session: rank for rank, session in enumerate(sessions, 1)}
    return Row(
        question_id=question.question_id,
        user_id=question.user_id,
        half=question.half,
        category=question.category,
        answerable=question.answerable,
        level=level,
        ranks=tuple(map(turn_ranks.get, question.gold)),
        session_ranks=tuple(map(session_ranks.get, question.gold_sessions)),
        tokens=_tokens(hits),
        hits=len(hits),
        relevance=found.relevance,
        nothing_relevant=found.nothing_relevant,
        wall_ms=found.wall_ms,
        cpu_ms=found.cpu_ms,
        embedding_cpu_ms=found.embedding_cpu_ms,
        model_ms=found.model_ms,
        usage=found.usage,
        probabilities=found.probabilities[:_DEEPEST],
    )


def _tokens(hits: Sequence[Hit]) -> dict[int, int]:
    sizes = [tokens.count(hit.text) for hit in hits]
    return {depth: sum(sizes[:depth]) for depth in DEPTHS}
