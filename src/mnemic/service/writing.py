"""Routes that add, change and erase."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from mnemic.errors import InvalidInput
from mnemic.service import wire
from mnemic.service.described import replies
from mnemic.service.once import Change
from mnemic.service.shapes import model_of, one_of
from mnemic.types import Added, Erasure, Turn

router = APIRouter(prefix="/v1")

TurnId = Annotated[str, Path(description="Of the message.")]
UserId = Annotated[str, Query(description="Whose memory.")]
_ERASED = one_of("erased", int, "How many messages.")


@router.post("/memories", status_code=201, response_model=model_of(Added), responses=replies(409), tags=["memories"])
def add(body: wire.Add, change: Change) -> Response:
    """Store messages, word for word, and make them findable, in one transaction.

    A message is a text, or an object in the OpenAI chat shape; it may also have `id`, `speaker`, `timestamp`,
    `session_id`, `agent_id` and `metadata`. The header `Idempotency-Key` is also the argument `idempotency_key`.
    """
    if change.key is not None:
        if body.idempotency_key not in (None, change.key):
            raise InvalidInput("idempotency_key is another one than the header Idempotency-Key; give one of them")
        body.idempotency_key = change.key
    return change(body, lambda memory: memory.add(**body.arguments()), status=201)


@router.post("/notes", status_code=201, response_model=model_of(Added), responses=replies(404, 409), tags=["notes"])
def add_notes(body: wire.AddNotes, change: Change) -> Response:
    """Store statements that somebody else, a person or a model, made of stored messages.

    A note has `text`, `sources` (ids of messages, or triples of id, start and end) and, where wanted, `id`, `about`,
    `kind`, `valid` and `metadata`.
    """
    return change(body, lambda memory: memory.add_notes(**body.arguments()), status=201)


@router.patch("/memories/{turn_id:path}", response_model=model_of(Turn), responses=replies(404, 409), tags=["memories"])
def update(turn_id: TurnId, body: wire.Update, change: Change) -> Response:
    """Replace a message's metadata, the only thing about it that can change.

    A `text` is refused: a correction is a new message or note.
    """
    return change(body, lambda memory: memory.update(turn_id, **body.arguments()))


@router.post("/erase", response_model=model_of(Erasure), responses=replies(404, 409), tags=["memories"])
def erase(body: wire.Erase, change: Change) -> Response:
    """Erase a message, a session, all that a speaker said, or a user, with all that was made of it; a receipt.

    It counts what went, and names what this database does not reach: backups, exports, other processes.
    """
    return change.erase(body.user_id, body.arguments(), lambda memory: memory.erase(**body.arguments()))


@router.delete("/memories", response_model=_ERASED, responses=replies(409), tags=["memories"])
def delete_all(user_id: UserId, change: Change) -> Response:
    """Erase everything of a user, and everything derived from it; 0 for an unknown user."""
    return change.erase(user_id, user_id, lambda memory: {"erased": memory.delete_all(user_id=user_id)})


@router.delete("/memories/{turn_id:path}", response_model=_ERASED, responses=replies(404, 409), tags=["memories"])
def delete(turn_id: TurnId, user_id: UserId, change: Change) -> Response:
    """Erase one message, and everything derived from it."""
    return change.erase(user_id, user_id, lambda memory: {"erased": memory.delete(user_id=user_id, turn_id=turn_id)})


@router.delete("/sessions/{session_id:path}", response_model=_ERASED, responses=replies(404, 409), tags=["memories"])
def delete_session(
    session_id: Annotated[str, Path(description="The conversation.")], user_id: UserId, change: Change
) -> Response:
    """Erase one session, and everything derived from it."""
    return change.erase(
        user_id, user_id, lambda memory: {"erased": memory.delete(user_id=user_id, session_id=session_id)}
    )
