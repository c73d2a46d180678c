"""Asking a model for items: what is good is kept, and nothing is never a success."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from mnemic.algo.replies import Parsed
from mnemic.errors import ReplyUnusable
from mnemic.protocols import Completion, LanguageModel, Reply

_log = logging.getLogger("mnemic")
T = TypeVar("T")


def ask(
    model: LanguageModel, request: Completion, parse: Callable[[Reply], Parsed[T]], *, whole: bool = False
) -> tuple[T, ...]:
    """The items of a model's reply to one request.

    Args:
        model: Who is asked, once.
        request: What.
        parse: Reads the reply.
        whole: Whether a reply that was cut is refused, so that less can be asked for at once.

    Raises:
        ReplyUnusable: As ``usable``.
        ModelError: No reply came.
    """
    return usable(parse(model.complete(request)), f"{model.name}, asked for {request.purpose}", whole=whole)


def usable(parsed: Parsed[T], what: str, *, whole: bool) -> tuple[T, ...]:
    """The items of what was read of a reply.

    Args:
        parsed: What was read.
        what: Whose reply it is, and to what, for people.
        whole: As in ``ask``.

    Raises:
        ReplyUnusable: There is nothing good in the reply; or it was cut, and only the whole is good enough.
    """
    if parsed.failure is None:
        return parsed.items
    if not parsed.items or (whole and parsed.failure == "truncated"):
        raise ReplyUnusable(f"{what}: the reply could not be used: {parsed.failure}", failure=parsed.failure)
    _log.warning("%s: %s; kept %d, left out %d", what, parsed.failure, len(parsed.items), parsed.dropped)
    return parsed.items
