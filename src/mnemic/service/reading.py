"""Routes that search and read."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from mnemic.service import wire
from mnemic.service.admitted import Opened
from mnemic.service.replies import reply

router = APIRouter(prefix="/v1")


@router.post("/search")
def search(body: wire.Search, memory: Opened) -> Response:
    """Find the original words that answer a question."""
    return reply(memory.search(**body.arguments()))
