"""Errors as RFC 9457 problems: one table says which error is which status."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from mnemic import errors
from mnemic.service.replies import as_json

MEDIA_TYPE: Final = "application/problem+json"

# The first class that an error is one of counts.
STATUSES: Final[tuple[tuple[type[errors.MnemicError], int], ...]] = (
    (errors.UndoConflict, 409),
    (errors.InvalidInput, 422),
    (errors.NotFound, 404),
    (errors.ImmutableWords, 409),
    (errors.KeyRefused, 401),
    (errors.NotAllowed, 403),
    (errors.TooManyRequests, 429),
    (errors.StoreConflict, 409),
    (errors.StoreFull, 507),
    (errors.StoreError, 503),
    (errors.LanguageModelUnavailable, 501),
    (errors.MissingExtra, 501),
    (errors.LanguageModelBusy, 503),
    (errors.LanguageModelFailed, 502),
    (errors.ReplyUnusable, 502),
    (errors.BudgetExceeded, 402),
    (errors.RerankingFailed, 502),
    (errors.ModelError, 503),
)

TITLES: Final[Mapping[int, str]] = {
    400: "This is no request that the server can read",
    401: "An API key is needed",
    402: "A budget does not allow this",
    403: "This API key may not do that",
    404: "There is no such thing",
    405: "Not with this method",
    409: "This does not fit what is stored",
    413: "Too long",
    415: "Not in this form",
    422: "This cannot be used; nothing was stored",
    429: "Too many requests",
    500: "The server failed",
    501: "The server is not set up for this",
    502: "A language model failed",
    503: "Not now",
    507: "The disk is full",
}
_RETRY_S: Final = 1.0
_log = logging.getLogger("mnemic.service")


def status_of(error: errors.MnemicError) -> int:
    """The status of an error."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 503)


def problem(
    status: int, detail: str, *, kind: str = "", headers: Mapping[str, str] | None = None, **more: object
) -> Response:
    """A problem.

    Args:
        status: Of HTTP.
        detail: What happened to whom, and the way out.
        kind: Of the error, for programs: ``NotFound``; the status where there is none.
        headers: Besides.
        more: Further members.
    """
    title = TITLES.get(status, "Refused")
    body = {"type": f"urn:mnemic:{kind or status}", "title": title, "status": status, "detail": detail, **more}
    return Response(as_json(body), status, headers, media_type=MEDIA_TYPE)


def of_error(error: errors.MnemicError) -> Response:
    """The problem that one of our errors is."""
    status, headers = status_of(error), dict[str, str]()
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="mnemic"'
    wait = getattr(error, "retry_after_s", None)
    if wait is None and isinstance(error, errors.StoreLocked | errors.StoreUnavailable | errors.LanguageModelBusy):
        wait = _RETRY_S
    if wait is not None:
        headers["Retry-After"] = str(max(1, math.ceil(wait)))
    kind = next(one.__name__ for one in type(error).__mro__ if one.__module__ == errors.__name__)
    return problem(status, detail(error), kind=kind, headers=headers)


def detail(error: errors.MnemicError) -> str:
    """What an error says, but for what would tell one tenant of all others, or a stranger of the machine."""
    if isinstance(error, errors.BudgetExceeded) and error.budget == "total":
        return "the server's budget for language models does not allow the call, which was not made"
    if isinstance(error, errors.StoreError) and not isinstance(error, errors.StoreConflict):
        _log.error("database: %s", error)
        return "the database cannot do this now; whoever runs the server finds the reason in its log"
    return str(error)


def handle(app: FastAPI) -> None:
    """Have an application reply with problems."""

    async def ours(_: Request, error: Exception) -> Response:
        assert isinstance(error, errors.MnemicError)
        return of_error(error)

    async def invalid(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        # Without the input, which is other people's words.
        wrong = [{"where": [*map(str, one["loc"])], "why": str(one["msg"])} for one in error.errors()]
        first = f"{'.'.join(wrong[0]['where'])}: {wrong[0]['why']}" if wrong else "the request"
        return problem(422, first, kind="InvalidInput", errors=wrong)

    async def refused(_: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return problem(error.status_code, str(error.detail), headers=error.headers)

    app.add_exception_handler(errors.MnemicError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, refused)
