"""Routes for those who watch a server: whether it lives, whether it is ready, and what it counted."""

from __future__ import annotations

from typing import Final, Literal

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from mnemic import __version__
from mnemic.errors import StoreError
from mnemic.memory import service_rows
from mnemic.service.admitted import Admitted
from mnemic.service.described import replies
from mnemic.service.metrics import MEDIA_TYPE
from mnemic.service.problems import problem
from mnemic.service.replies import reply
from mnemic.service.warming import Warming

router = APIRouter()
_TEXT: Final = {"text/plain": {"schema": {"type": "string"}}}


class Health(BaseModel):
    """Whether a server lives."""

    status: Literal["ok"]
    version: str


class Ready(BaseModel):
    """Whether a server is ready."""

    status: Literal["ready"]


@router.get("/health", response_model=Health, tags=["server"])
def health() -> Response:
    """Whether the process lives; needs no key."""
    return reply({"status": "ok", "version": __version__})


@router.get("/ready", response_model=Ready, responses=replies(only=(503,)), tags=["server"])
def ready(request: Request) -> Response:
    """Whether requests are served: the database can be read, and the embedder is loaded; needs no key."""
    warming: Warming = request.app.state.warming
    if not warming.is_done:
        return problem(503, "the embedder is being loaded", kind="NotReady", headers={"Retry-After": "1"})
    try:
        service_rows(request.app.state.memory).key("")
    except StoreError:
        return problem(503, "the database cannot be read", kind="NotReady", headers={"Retry-After": "5"})
    return reply({"status": "ready"})


@router.get("/metrics", response_class=Response, responses=replies(content=_TEXT), tags=["server"])
def metrics(request: Request, access: Admitted) -> Response:
    """What was counted, for Prometheus; for whoever runs the server."""
    access.require_operator()
    return Response(request.app.state.metrics.text(request.app.state.memory), media_type=MEDIA_TYPE)
