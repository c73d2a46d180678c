"""From what a search found to an answer with its sources, whole or piece by piece."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from queue import SimpleQueue
from typing import Self

from mnemic.algo import render, select, tokens
from mnemic.algo.field_pieces import FieldPieces
from mnemic.errors import LanguageModelFailed
from mnemic.prompts import answer as prompt
from mnemic.prompts.data import hanging
from mnemic.protocols import Completion, Reply, StreamingModel
from mnemic.types import Answer, Evidence, SearchResult


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, made ready for a model.

    Attributes:
        evidence: What the model is shown, best first.
        request: None where there is nothing to show: then memory does not contain the answer, and nobody is asked.
        warnings: Of the search, and of what had to be left out.
    """

    evidence: tuple[Evidence, ...]
    request: Completion | None
    warnings: tuple[str, ...]


def asked(question: str, found: SearchResult, *, asked_on: datetime, max_tokens: int) -> Asked:
    """Make a question ready.

    Args:
        question: In plain words.
        found: What a search for it found.
        asked_on: When it is asked.
        max_tokens: Budget of the evidence by ``algo.tokens.count``; whole hits only, best first.
    """
    sizes = [tokens.count(f"{number}. {hanging(hit.text)}") for number, hit in enumerate(found.results, 1)]
    evidence = tuple(found.results[place] for place in select.within_budget(sizes, max_tokens))
    warnings = found.warnings
    if found.results and not evidence:
        warnings += (f"what was found does not fit into {max_tokens} tokens; give more with max_tokens",)
    if not evidence:
        return Asked((), None, warnings)
    if found.nothing_relevant:
        warnings += ("nothing that was found seems to be about this; the answer rests on what is nearest",)
    texts = [hit.text for hit in evidence]
    return Asked(evidence, prompt.render(question, texts, asked_on=render.moment(asked_on)), warnings)


class AnswerStream:
    """An answer that is read while it comes.

    Iterating, with ``for`` or ``async for``, gives the pieces of its text; ``answer`` is all of it with the sources,
    and waits for the end. The pieces joined are ``answer.text``, except where a reply turns out to be none at its end
    (it was declined, or went on in another shape): so ``answer`` counts. The model is asked when the first piece or
    the answer is; where that fails, both raise what it raised. For one thread at a time. ``close``, or the end of a
    ``with``, ends the request.

    Args:
        asked: The question.
        model: Who answers.
    """

    def __init__(self, asked: Asked, model: StreamingModel) -> None:
        self._asked = asked
        self._model = model
        self._queue: SimpleQueue[str | Answer | BaseException] | None = None
        self._done: Answer | BaseException | None = None
        self._closed = threading.Event()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All that the model is shown, best first."""
        return self._asked.evidence

    @property
    def answer(self) -> Answer:
        """The whole answer.

        Raises:
            BudgetExceeded: A budget does not allow the call.
            LanguageModelFailed: The model failed, or the stream was closed before its end.
        """
        if self._queue is None and self._done is None and not self._closed.is_set():
            # Nobody reads the pieces.
            self._done = self._answered(lambda request, _: self._model.complete(request), lambda _: None)
        for _ in self:
            pass
        if isinstance(self._done, Answer):
            return self._done
        raise self._done or LanguageModelFailed(f"the answer of {self._model.name} was closed before its end")

    def close(self) -> None:
        """End the request, if it is under way; twice is allowed."""
        self._closed.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._done is not None or self._closed.is_set():
            raise StopIteration
        if self._queue is None:
            self._queue = SimpleQueue()
            within = contextvars.copy_context()  # the model's span belongs to that of whoever reads
            ask = partial(within.run, self._ask, self._queue)
            threading.Thread(target=ask, name="mnemic-answer", daemon=True).start()
        came = self._queue.get()
        if isinstance(came, str):
            return came
        self._done = came
        if isinstance(came, Answer):
            raise StopIteration
        raise came

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        piece = await asyncio.to_thread(next, self, None)
        if piece is None:
            raise StopAsyncIteration
        return piece

    def _ask(self, queue: SimpleQueue[str | Answer | BaseException]) -> None:
        def put(piece: str) -> None:
            if self._closed.is_set():
                raise _Closed
            queue.put(piece)

        try:
            queue.put(self._answered(self._model.stream, put))
        except BaseException as error:  # noqa: BLE001 - it is raised in the thread that reads
            queue.put(error)

    def _answered(
        self, ask: Callable[[Completion, Callable[[str], None]], Reply], receive: Callable[[str], None]
    ) -> Answer:
        request, evidence = self._asked.request, self._asked.evidence
        if request is None:
            return Answer(None, (), (), self._model.name, warnings=self._asked.warnings)
        reader, said = FieldPieces("answer"), ""

        def read(piece: str) -> None:
            nonlocal said
            if words := reader.feed(piece):
                said += words
                receive(words)

        reply = ask(request, read)
        parsed = prompt.parse(reply, evidence=len(evidence))
        if parsed.text is not None and parsed.text != said and parsed.text.startswith(said):
            receive(parsed.text[len(said) :])
        return Answer(
            text=parsed.text,
            sources=tuple(evidence[place] for place in sorted(parsed.sources)),
            evidence=evidence,
            model=self._model.name,
            failure=parsed.failure,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            warnings=self._asked.warnings,
        )


class _Closed(Exception):
    """The reader closed the stream."""
