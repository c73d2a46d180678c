"""Any language model, read while its reply comes."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.protocols import Completion, LanguageModel, Reply, StreamingModel


def streamed(model: LanguageModel, request: Completion, receive: Callable[[str], object]) -> Reply:
    """Complete one request as ``protocols.StreamingModel`` does; in one piece where the model knows no other way."""
    if isinstance(model, StreamingModel):
        return model.stream(request, receive)
    reply = model.complete(request)
    if reply.text:
        receive(reply.text)
    return reply
