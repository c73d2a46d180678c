"""Routes that tend what was derived: undoing, proposals, reflection, work for language models."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Path
from starlette.requests import Request
from starlette.responses import Response

from mnemic.service import wire
from mnemic.service.admitted import Admitted, Opened
from mnemic.service.described import MODELS, replies
from mnemic.service.once import Change
from mnemic.service.reading import UserId
from mnemic.service.replies import reply
from mnemic.service.shapes import list_of, model_of, one_of
from mnemic.types import Enrichment, Note, Operation, Quarantined

router = APIRouter(prefix="/v1")

_LONGEST_WAIT_S: Final = 600.0
_OPERATIONS = list_of("operations", Operation)
_PIECES = one_of("pieces", int, "Of work that is to be done.")
HeldId = Annotated[str, Path(description="Of a message or note in quarantine.")]
NoteId = Annotated[str, Path(description="Of the note: `N3`.")]


@router.post("/operations/{operation_id}/undo", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def undo(
    operation_id: Annotated[str, Path(description="Of the log: `O7`.")],
    body: wire.Whose,
    change: Change,
) -> Response:
    """Take back one operation of the log, by operations of its own, which can be undone in turn."""
    return change(body, lambda memory: {"operations": memory.undo(operation_id, user_id=body.user_id)})


@router.post("/runs/{run}/undo", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def undo_run(
    run: Annotated[str, Path(description="`run` in the `detail` of operations: of one reading, reflection, …")],
    body: wire.Whose,
    change: Change,
) -> Response:
    """Take back all operations of one run, the last one first, or none of them; what does it is a run, too."""
    return change(body, lambda memory: {"operations": memory.undo(user_id=body.user_id, run=run)})


@router.post("/restore", name="restore_all", response_model=_OPERATIONS, responses=replies(409), tags=["notes"])
def restore_all(body: wire.Restore, change: Change) -> Response:
    """Let all notes stand as they stood at a moment, by operations that are one run; what was erased stays erased."""
    return change(body, lambda memory: {"operations": memory.restore(user_id=body.user_id, as_of=body.as_of)})


@router.get("/quarantine", response_model=list_of("quarantined", Quarantined), responses=replies(), tags=["notes"])
def quarantine(memory: Opened, user_id: UserId) -> Response:
    """What waits for a person because it may be poison: messages in the order of the dialogue, then notes."""
    return reply({"quarantined": memory.quarantine(user_id=user_id)})


@router.post("/quarantine/{id:path}/release", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def release(id: HeldId, body: wire.Whose, change: Change) -> Response:
    """Let something out of quarantine: a message is found like any, a note counts, with what it was to change."""
    return change(body, lambda memory: {"operations": memory.release(id, user_id=body.user_id)})


@router.post("/quarantine/{id:path}/discard", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def discard(id: HeldId, body: wire.Whose, change: Change) -> Response:
    """Throw something in quarantine away: a message is never found, a note is retracted; both stay readable."""
    return change(body, lambda memory: {"operations": memory.discard(id, user_id=body.user_id)})


@router.post("/proposals/{note_id}/approve", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def approve(note_id: NoteId, body: wire.Whose, change: Change) -> Response:
    """Let a proposed note count, with what it was to change."""
    return change(body, lambda memory: {"operations": memory.approve(note_id, user_id=body.user_id)})


@router.post("/proposals/{note_id}/reject", response_model=_OPERATIONS, responses=replies(404, 409), tags=["notes"])
def reject(note_id: NoteId, body: wire.Whose, change: Change) -> Response:
    """Retract a proposed note; it stays readable."""
    return change(body, lambda memory: {"operations": memory.reject(note_id, user_id=body.user_id)})


@router.post("/notes/{note_id}/confirm", response_model=model_of(Note), responses=replies(404, 409), tags=["notes"])
def confirm(note_id: NoteId, body: wire.Whose, change: Change) -> Response:
    """Say that a note is true: it counts, and was last confirmed now."""
    return change(body, lambda memory: memory.confirm(note_id, user_id=body.user_id))


@router.post("/notes/{note_id}/retract", response_model=model_of(Note), responses=replies(404, 409), tags=["notes"])
def retract(note_id: NoteId, body: wire.Retract, change: Change) -> Response:
    """Say that a note is wrong: it counts no more, and stays readable."""
    return change(body, lambda memory: memory.retract(note_id, **body.arguments()))


@router.post("/reflect", response_model=_OPERATIONS, responses=replies(409, *MODELS), tags=["notes"])
def reflect(body: wire.Reflect, change: Change) -> Response:
    """Look for inconsistencies among current notes, and resolve them; with `dry_run`, only show what would change."""
    return change(body, lambda memory: {"operations": memory.reflect(**body.arguments())})


@router.post("/forget", response_model=list_of("notes", Note), responses=replies(409), tags=["notes"])
def forget(body: wire.Forget, change: Change) -> Response:
    """Archive the weakest notes where there are too many. Words are never forgotten, only what was noted of them."""
    return change(body, lambda memory: {"notes": memory.forget(**body.arguments())})


@router.post("/notes/{note_id}/restore", response_model=model_of(Note), responses=replies(404, 409), tags=["notes"])
def restore(note_id: NoteId, body: wire.Whose, change: Change) -> Response:
    """Make an archived note current again."""
    return change(body, lambda memory: memory.restore(note_id, user_id=body.user_id))


@router.post("/enrich", response_model=_PIECES, responses=replies(409), tags=["work"])
def enrich(body: wire.Whose, change: Change) -> Response:
    """Have language models read what they were never to read; 0 without a model."""
    return change(body, lambda memory: {"pieces": memory.enrich(user_id=body.user_id)})


@router.post("/retry", response_model=_PIECES, responses=replies(), tags=["work"])
def retry(body: wire.Retry, memory: Opened) -> Response:
    """Have failed and put-off work done again; without a user that of the whole tenant, with the scope `admin`."""
    return reply({"pieces": memory.retry(user_id=body.user_id)})


@router.post("/wait", response_model=model_of(Enrichment), responses=replies(), tags=["work"])
def wait(body: wire.Wait, memory: Opened) -> Response:
    """Have all work on what was added done, and say how far it is; ten minutes at most, for it occupies the server."""
    timeout = _LONGEST_WAIT_S if body.timeout is None else min(body.timeout, _LONGEST_WAIT_S)
    return reply(memory.wait(user_id=body.user_id, timeout=timeout))


@router.get("/check", response_model=list_of("problems", str), responses=replies(), tags=["server"])
def check(request: Request, access: Admitted) -> Response:
    """Problems with the database's integrity, in words; for whoever runs the server."""
    access.require_operator()
    return reply({"problems": request.app.state.memory.check()})
