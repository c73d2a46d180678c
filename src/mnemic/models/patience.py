"""A language model that is not asked too much at once, and is asked again when it may answer later."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass

from mnemic.errors import InvalidInput, LanguageModelBusy
from mnemic.models.streaming import streamed
from mnemic.protocols import Completion, LanguageModel, Reply


@dataclass(frozen=True, slots=True)
class Patience:
    """How often, and after what waiting, a request is made.

    Attributes:
        tries: How often at most, at least 1.
        first_delay_s: Wait after the first failure, doubled after each further one.
        longest_delay_s: Bound on the doubling; what the provider asks for is waited for however long it is, up to
            ``longest_asked_s``: then nothing is tried again.
        longest_asked_s: In seconds.
    """

    tries: int = 5
    first_delay_s: float = 1.0
    longest_delay_s: float = 60.0
    longest_asked_s: float = 600.0

    def __post_init__(self) -> None:
        """Check the ranges. Raises InvalidInput."""
        if self.tries < 1 or min(self.first_delay_s, self.longest_delay_s, self.longest_asked_s) < 0:
            raise InvalidInput(f"tries must be at least 1 and delays at least 0 seconds, not {self}")

    def delay_s(self, failures: int, asked_s: float | None) -> float | None:
        """The wait after so many failures in a row, where the provider asked for ``asked_s``; None to give up."""
        if failures >= self.tries or (asked_s is not None and asked_s > self.longest_asked_s):
            return None
        backoff = min(self.longest_delay_s, self.first_delay_s * 2 ** (failures - 1))
        return max(backoff, asked_s or 0.0)


def attempt(
    complete: Callable[[Completion], Reply],
    request: Completion,
    patience: Patience,
    *,
    wait: Callable[[float], object],
    stopped: Callable[[], bool] = lambda: False,
) -> Reply:
    """Make a request until a reply comes.

    Args:
        complete: Makes it once.
        request: The request.
        patience: How often, and how long to wait between.
        wait: Waits for so many seconds.
        stopped: Whether nobody waits for the reply any more; asked before each further try.

    Raises:
        LanguageModelBusy: It stayed so.
        Exception: Whatever else ``complete`` raises, at once.
    """
    failures = 0
    while True:
        try:
            return complete(request)
        except LanguageModelBusy as error:
            failures += 1
            delay = patience.delay_s(failures, error.retry_after_s)
            if delay is None or stopped():
                raise
            wait(delay)
            if stopped():
                raise


class LimitedModel:
    """A ``LanguageModel`` of which so many requests are under way at a time; any number of threads may ask it.

    Args:
        model: Who is asked.
        jobs: How many requests are under way at a time, at least 1.

    Raises:
        InvalidInput: ``jobs`` is less than 1.
    """

    def __init__(self, model: LanguageModel, *, jobs: int) -> None:
        if jobs < 1:
            raise InvalidInput(f"jobs must be at least 1, not {jobs}")
        self.name = model.name
        self._model = model
        self._turn = threading.BoundedSemaphore(jobs)

    def complete(self, request: Completion) -> Reply:
        """Complete one request: see ``protocols.LanguageModel``."""
        with self._turn:
            return self._model.complete(request)

    def stream(self, request: Completion, receive: Callable[[str], object]) -> Reply:
        """Complete one request: see ``protocols.StreamingModel``."""
        with self._turn:
            return streamed(self._model, request, receive)


class PatientModel:
    """A ``LanguageModel`` that is asked again while it is busy.

    Waits are spread by up to a quarter, so that those who failed together do not come together.

    Args:
        model: Who is asked.
        patience: How often, and after what waiting.
        wait: Waits for so many seconds; None for the clock's own.
    """

    def __init__(
        self,
        model: LanguageModel,
        *,
        patience: Patience | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.name = model.name
        self._model = model
        self._patience = patience or Patience()
        self._wait = wait or _spread

    def complete(self, request: Completion) -> Reply:
        """Complete one request: see ``protocols.LanguageModel``."""
        return attempt(self._model.complete, request, self._patience, wait=self._wait)

    def stream(self, request: Completion, receive: Callable[[str], object]) -> Reply:
        """Complete one request: see ``protocols.StreamingModel``; it is not made again once a piece of a reply came."""
        begun = False

        def pass_on(piece: str) -> None:
            nonlocal begun
            begun = True
            receive(piece)

        def complete(request: Completion) -> Reply:
            return streamed(self._model, request, pass_on)

        return attempt(complete, request, self._patience, wait=self._wait, stopped=lambda: begun)


def _spread(seconds: float) -> None:
    threading.Event().wait(seconds * random.uniform(1.0, 1.25))
