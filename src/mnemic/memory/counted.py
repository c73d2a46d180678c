"""What one run of several calls took."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.protocols import Completion, LanguageModel, Reply
from mnemic.types import Json


@dataclass(slots=True)
class CountedModel:
    """Counts the calls of the models that it stands before.

    Attributes:
        name: Of the model asked last; ``rules`` where none was.
        calls, tokens_in, tokens_out: Of the replies that came.
    """

    name: str = "rules"
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    @property
    def spent(self) -> dict[str, Json]:
        """The counts, for the log of operations."""
        return {"calls": self.calls, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out}

    def of(self, model: LanguageModel) -> LanguageModel:
        """A model whose calls are counted here."""
        return _Counting(model.name, model, self)

    def count(self, name: str, reply: Reply) -> None:
        """Count a reply of a model."""
        self.name = name
        self.calls += 1
        self.tokens_in += reply.tokens_in
        self.tokens_out += reply.tokens_out


@dataclass(frozen=True, slots=True)
class _Counting:
    name: str
    model: LanguageModel
    counts: CountedModel = field(repr=False)

    def complete(self, request: Completion) -> Reply:
        """Complete one request: see ``protocols.LanguageModel``."""
        reply = self.model.complete(request)
        self.counts.count(self.name, reply)
        return reply
