"""The language model that systems under test ask while they take conversations in: kept, counted and limited."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mnemic.bench.answers.cache import ReplyCache
from mnemic.bench.answers.model import CachedModel
from mnemic.bench.records import Usage
from mnemic.errors import LanguageModelFailed
from mnemic.models import registry
from mnemic.prompts.data import version
from mnemic.protocols import Completion, LanguageModel, Reply
from mnemic.types import Purpose


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Which model may be asked, and how much; it can be sent to another process.

    Attributes:
        spec: ``provider:model``.
        replies: The file in which its replies are kept, and from which they are taken again.
        tokens: How many tokens one user's memory may take, sent and written together, kept replies included; None for
            no limit.
        trial: 1 for the first run; the replies of another trial are asked for again.
    """

    spec: str
    replies: Path
    tokens: int | None = None
    trial: int = 1


class MemoryModel:
    """A language model that writes memories, one user's after the other.

    Args:
        model: Who is asked where no reply is kept.
        cache: Where replies are kept as they come; closed with this.
        tokens: As in ``ModelUse``.
        trial: As in ``ModelUse``.
        wait: Waits for so many seconds between the tries of a request; None for the clock's own.

    Attributes:
        waited_s: Seconds spent in ``ask`` so far; whoever measures takes differences.
        took_s: Seconds that the replies took, kept ones when they were first asked for.
    """

    def __init__(
        self,
        model: LanguageModel,
        cache: ReplyCache,
        *,
        tokens: int | None = None,
        trial: int = 1,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.name = model.name
        self._cache = cache
        self._tokens = tokens
        self._model = CachedModel(model, cache, "build", trial=trial, wait=wait)
        self._usage: dict[str, Usage] = {}
        self.waited_s = self.took_s = 0.0

    @property
    def usage(self) -> Mapping[str, Usage]:
        """Purpose -> what was asked for it since ``begin``."""
        return dict(self._usage)

    def begin(self) -> None:
        """Begin with another user's memory: what was asked until now is not its cost."""
        self._usage.clear()

    def ask(self, request: Completion, *, again: int = 0) -> Reply:
        """The reply, kept or new.

        Args:
            request: What is asked.
            again: How often the same was asked before by who could not use the reply: another one is wanted.

        Raises:
            LanguageModelFailed: None came, however often it was tried, or the memory took its limit of tokens. A
                memory that lacks what was not written would be a lesser system, so the run ends there.
            InvalidFile: It could not be kept.
        """
        spent = sum(one.tokens_in + one.tokens_out for one in self._usage.values())
        if self._tokens is not None and spent >= self._tokens:
            raise LanguageModelFailed(
                f"one user's memory took {spent:,} tokens of {self.name} and is not whole, and it may take "
                f"{self._tokens:,}; the replies are kept, so with a higher --model-tokens the same command goes on"
            )
        begun = time.perf_counter()
        asked = self._model.ask(request, again=again)
        self.waited_s += time.perf_counter() - begun
        self.took_s += asked.call.took_s
        if asked.reply is None:
            raise LanguageModelFailed(
                f"{self.name} gave no reply about {request.purpose}: {asked.error}; the replies so far are kept, so "
                "when the model can be reached the same command goes on from there"
            )
        before = self._usage.get(request.purpose, Usage())
        self._usage[request.purpose] = replace(
            before,
            calls=before.calls + 1,
            tokens_in=before.tokens_in + asked.reply.tokens_in,
            tokens_out=before.tokens_out + asked.reply.tokens_out,
        )
        return asked.reply

    def unreadable(self, purpose: Purpose) -> None:
        """Count one of the replies as declined, or as not what was asked for."""
        before = self._usage.get(purpose, Usage())
        self._usage[purpose] = replace(before, unreadable=before.unreadable + 1)

    def close(self) -> None:
        """Close the file of replies; safe to call twice."""
        self._cache.close()


def open_model(use: ModelUse) -> MemoryModel:
    """The model that is meant.

    Raises:
        InvalidInput: The spec names none.
        InvalidFile: The file of replies cannot be used.
    """
    model = registry.language_model(use.spec)
    assert model is not None
    return MemoryModel(model, ReplyCache(use.replies), tokens=use.tokens, trial=use.trial)


def fingerprint(request: Completion) -> str:
    """The digest of all that a request sends besides the data: for configurations."""
    return version(request.system, request.schema)
