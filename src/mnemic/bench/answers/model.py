"""A language model whose calls are cached, tried again when they fail, and told about."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Literal

from mnemic.bench.answers.cache import ReplyCache, key
from mnemic.errors import LanguageModelFailed
from mnemic.models.patience import Patience, attempt
from mnemic.models.prices import Price
from mnemic.protocols import Completion, LanguageModel, Reply

CallPurpose = Literal["answer", "judge", "build"]
"""``build``: asked by a system under test, to make its memory."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call, in numbers.

    Attributes:
        finish: Of the reply; ``failed`` where none came, however often it was tried.
        tokens_in, tokens_out: Of the reply, cached or not; 0 of a failed call.
        cached: Whether the reply was already there, or on its way for another question with the same prompt.
        retries: How often it was tried again.
        took_s: Seconds that the reply took to come, now or when it was first asked for, without the tries before it; 0
            where nobody measured.
    """

    purpose: CallPurpose
    finish: Literal["stop", "length", "refusal", "failed"]
    tokens_in: int
    tokens_out: int
    cached: bool
    retries: int
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking: a reply, or why there is none."""

    call: Call
    reply: Reply | None
    error: str = ""


@dataclass(frozen=True, slots=True)
class Models:
    """Who answers and who judges.

    Attributes:
        answer: Answers, asked from several threads.
        judge: Judges LoCoMo's and LongMemEval's answers; None for the scores alone that need no judge.
        cache: Where their replies are kept as they come, and taken from.
        prices: Purpose -> price of its model, where known.
        wait: Waits for so many seconds between the tries of a request; None for the clock's own.
    """

    answer: LanguageModel
    judge: LanguageModel | None
    cache: ReplyCache
    prices: Mapping[CallPurpose, Price] = field(default_factory=dict["CallPurpose", "Price"])
    wait: Callable[[float], object] | None = None


class CachedModel:
    """One model for one purpose; several threads may ask it.

    Args:
        model: Who is asked where the cache has no reply.
        cache: Where replies are kept as soon as they come.
        purpose: Of its calls.
        tries: How often a request is made while the model is busy, at least 1 (``models.patience``).
        trial: Part of the cache's key: another trial asks again.
        wait: Waits for so many seconds; None to wait until ``stop``, if that is sooner.
    """

    def __init__(
        self,
        model: LanguageModel,
        cache: ReplyCache,
        purpose: CallPurpose,
        *,
        tries: int = 5,
        trial: int = 1,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.name = model.name
        self.purpose: CallPurpose = purpose
        self._model = model
        self._cache = cache
        self._patience = Patience(tries)
        self._trial = trial
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Asked]] = {}
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait

    def stop(self) -> None:
        """Try nothing again from now on: nobody waits for it."""
        self._stopped.set()

    def ask(self, request: Completion, *, again: int = 0) -> Asked:
        """Ask, unless the reply is there or on its way to another thread; a failure is a value here, and not cached.

        Args:
            request: What.
            again: How often the same was asked before in this run by who could not use the reply.

        Raises:
            InvalidFile: A reply could not be kept: going on would pay for replies that are lost.
        """
        name = key(self.name, request, trial=self._trial, again=again)
        with self._lock:
            if kept := self._cache.get(name):
                return self._asked(kept, cached=True, retries=0, took_s=self._cache.took_s(name))
            awaited = self._under_way.get(name)
            mine: Future[Asked] = Future()
            if awaited is None:
                self._under_way[name] = mine
        if awaited is not None:
            asked = awaited.result()
            return replace(asked, call=replace(asked.call, cached=asked.reply is not None, retries=0))
        try:
            mine.set_result(self._tried(name, request))
        except BaseException as error:  # whatever it was, nobody may wait for it for ever
            mine.set_exception(error)
            raise
        finally:
            with self._lock:
                del self._under_way[name]
        return mine.result()

    def _tried(self, name: str, request: Completion) -> Asked:
        calls, begun = 0, 0.0

        def once(request: Completion) -> Reply:
            nonlocal calls, begun
            calls, begun = calls + 1, time.perf_counter()
            return self._model.complete(request)

        error = ""
        if not self._stopped.is_set():
            try:
                reply = attempt(once, request, self._patience, wait=self._wait, stopped=self._stopped.is_set)
            except LanguageModelFailed as failure:
                error = str(failure)
            else:
                took_s = time.perf_counter() - begun
                kept = self._cache.keep(name, self.name, request, reply, took_s=took_s)
                return self._asked(kept, cached=False, retries=calls - 1, took_s=took_s)
        failed = Call(self.purpose, "failed", 0, 0, cached=False, retries=max(0, calls - 1))
        return Asked(failed, None, error)

    def _asked(self, reply: Reply, *, cached: bool, retries: int, took_s: float) -> Asked:
        counts = (reply.finish, reply.tokens_in, reply.tokens_out)
        return Asked(Call(self.purpose, *counts, cached=cached, retries=retries, took_s=took_s), reply)
