"""The route that answers, whole or piece by piece."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from mnemic.errors import MnemicError
from mnemic.memory import AnswerStream
from mnemic.service import events, wire
from mnemic.service.admitted import Opened
from mnemic.service.described import MODELS, replies
from mnemic.service.replies import reply
from mnemic.service.shapes import model_of
from mnemic.service.tenant_memory import TenantMemory
from mnemic.types import Answer

router = APIRouter(prefix="/v1")


@router.post(
    "/answer",
    response_model=model_of(Answer),
    responses=replies(*MODELS, content=events.DESCRIBED),
    tags=["search"],
)
def answer(request: Request, body: wire.Ask, memory: Opened) -> Response:
    """Answer a question from the original words, by a language model, and say on which it rests.

    With `Accept: text/event-stream` it comes while the model writes: events `piece` (`text`, to be joined), then one
    `answer` as without, or a `problem`.
    """
    if not events.wanted(request):
        return reply(memory.answer(**body.arguments()))
    # The search is done here, where what is wrong still has a status of its own.
    return events.stream(_pieces(memory.answer_stream(**body.arguments()), memory))


async def _pieces(answering: AnswerStream, memory: TenantMemory) -> AsyncGenerator[bytes]:
    with answering:  # closed where the reader leaves, too
        try:
            with memory.unveiling():
                async for piece in answering:
                    yield events.event("piece", {"text": piece})
                yield events.event("answer", answering.answer)
        except MnemicError as error:
            yield events.failure(error)
