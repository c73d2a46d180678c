"""Routes that add, change and erase."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import Response

from mnemic.service import wire
from mnemic.service.admitted import Opened
from mnemic.service.replies import reply

router = APIRouter(prefix="/v1")


@router.post("/memories", status_code=201)
def add(body: wire.Add, memory: Opened) -> Response:
    """Store messages, word for word."""
    return reply(memory.add(**body.arguments()), 201)
