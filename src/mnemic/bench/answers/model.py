"""A language model whose calls are cached, tried again when they fail, and told about."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Literal

from mnemic.bench.answers.cache import ReplyCache, key
from mnemic.errors import InvalidInput, LanguageModelFailed
from mnemic.protocols import Completion, LanguageModel, Reply

FIRST_DELAY_S = 1.0
LONGEST_DELAY_S = 60.0

CallPurpose = Literal["answer", "judge", "build"]
"""``build``: asked by a system under test, to make its memory."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, per million tokens, in whatever currency was given."""

    tokens_in: float
    tokens_out: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """From ``in,out``: ``0.15,0.60``.

        Raises:
            InvalidInput: It is not two numbers of at least 0.
        """
        try:
            price = cls(*map(float, text.split(",")))
        except (ValueError, TypeError):
            price = cls(-1, -1)
        if not (0 <= price.tokens_in < float("inf") and 0 <= price.tokens_out < float("inf")):
            raise InvalidInput(
                f"{text!r} is no price; give those of a million tokens in and out, for example 0.15,0.60"
            )
        return price

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True)
class Call:
    """One call, in numbers.

    Attributes:
        finish: Of the reply; ``failed`` where none came, however often it was tried.
        tokens_in, tokens_out: Of the reply, cached or not; 0 of a failed call.
        cached: Whether the reply was already there, or on its way for another question with the same prompt.
        retries: How often it was tried again.
    """

    purpose: CallPurpose
    finish: Literal["stop", "length", "refusal", "failed"]
    tokens_in: int
    tokens_out: int
    cached: bool
    retries: int


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
        tries: How often a request is made, at least 1. Between two tries it waits 1 s, 2 s, 4 s and so on, 60 at most.
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
        self._tries = tries
        self._trial = trial
        self._lock = threading.Lock()
        self._under_way: dict[str, Future[Asked]] = {}
        self._stopped = threading.Event()
        self._wait = wait or self._stopped.wait

    def stop(self) -> None:
        """Try nothing again from now on: nobody waits for it."""
        self._stopped.set()

    def ask(self, request: Completion) -> Asked:
        """Ask, unless the reply is there or on its way to another thread; a failure is a value here, and not cached.

        Raises:
            InvalidFile: A reply could not be kept: going on would pay for replies that are lost.
        """
        name = key(self.name, request, trial=self._trial)
        with self._lock:
            if kept := self._cache.get(name):
                return self._asked(kept, cached=True, retries=0)
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
        error, retries = "", 0
        for retries in range(self._tries):
            if retries:
                self._wait(min(LONGEST_DELAY_S, FIRST_DELAY_S * 2 ** (retries - 1)))
            if self._stopped.is_set():
                break
            try:
                reply = self._model.complete(request)
            except LanguageModelFailed as failure:
                error = str(failure)
            else:
                return self._asked(self._cache.keep(name, self.name, request, reply), cached=False, retries=retries)
        return Asked(Call(self.purpose, "failed", 0, 0, cached=False, retries=retries), None, error)

    def _asked(self, reply: Reply, *, cached: bool, retries: int) -> Asked:
        call = Call(self.purpose, reply.finish, reply.tokens_in, reply.tokens_out, cached=cached, retries=retries)
        return Asked(call, reply)
