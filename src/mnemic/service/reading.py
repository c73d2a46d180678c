"""Routes that search and read."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Annotated, Final, TypeVar

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mnemic.errors import InvalidQuery
from mnemic.service import wire
from mnemic.service.admitted import Opened
from mnemic.service.cursors import cursor as cursor_of
from mnemic.service.cursors import place
from mnemic.service.described import MODELS, replies
from mnemic.service.replies import as_json, reply
from mnemic.service.shapes import list_of, model_of, one_of, page_of
from mnemic.service.tenant_memory import TenantMemory
from mnemic.types import (
    Action,
    Cue,
    Episode,
    Evolution,
    Json,
    Neighbourhood,
    Note,
    NoteChange,
    NoteStatus,
    Notice,
    Operation,
    SearchResult,
    Session,
    Status,
    Trace,
    Turn,
)

router = APIRouter(prefix="/v1")
T = TypeVar("T")

_HISTORY = page_of("operations", Operation)
_VERSION_BITS: Final = 20
"""More versions than anybody makes of a note."""
LONGEST_PAGE: Final = 1000
PAGE: Final = 100

UserId = Annotated[str, Query(description="Whose memory; an unknown user has none.")]
OfSession = Annotated[str | None, Query(description="Only of this session.")]
OfAgent = Annotated[str | None, Query(description="Only what was said to this agent.")]
Limit = Annotated[int | None, Query(description=f"The page's length: {PAGE} without it, {LONGEST_PAGE:,} at most.")]
Cursor = Annotated[str | None, Query(description="`next` of the page before, with the same arguments.")]
AsOf = Annotated[str | None, Query(description="What was true at this time: the notes that held then.")]
OfAction = Annotated[Action | None, Query(description="Only operations of this kind.")]
OfTrigger = Annotated[str | None, Query(description="Only what this brought about: `person`; `undo` for all undoings.")]
Since = Annotated[str | None, Query(description="Only what was recorded at this time or later.")]
Until = Annotated[str | None, Query(description="Only what was recorded before this time.")]
NewestFirst = Annotated[bool, Query(description="In the other order.")]
_Only = tuple[Action | None, str | None, str | None, str | None, bool]
KnownAt = Annotated[str | None, Query(description="What was believed at this time: as it was recorded by then.")]
AnyId = Annotated[str, Path(description="Of a message, or of a trace (`T7`), note (`N7`) or episode (`E7`).")]


@router.post("/search", response_model=model_of(SearchResult), responses=replies(*MODELS), tags=["search"])
def search(body: wire.Search, memory: Opened) -> Response:
    """Find the original words that answer a question.

    With `evolve` it needs the scope `write` too.
    """
    return reply(memory.search(**body.arguments()))


@router.post(
    "/context", response_model=one_of("context", str, "The block; empty when nothing is relevant or nothing fits."),
    responses=replies(), tags=["search"],
)  # fmt: skip
def context(body: wire.Context, memory: Opened) -> Response:
    """Evidence for a prompt: a delimited block of dated, cited lines, best first, within a budget."""
    return reply({"context": memory.context(**body.arguments())})


@router.get("/memories", response_model=page_of("memories", Turn), responses=replies(), tags=["memories"])
def get_all(
    memory: Opened,
    user_id: UserId,
    session_id: OfSession = None,
    agent_id: OfAgent = None,
    turn_ids: Annotated[list[str] | None, Query(description="Of these those that there are.")] = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """Messages in order, a page at a time; none is skipped or comes twice, whoever writes meanwhile."""
    question = ("memories", memory.tenant.stored(user_id), session_id, agent_id, turn_ids)
    size, begin = _size(limit), place(question, cursor)
    found = memory.get_all(
        user_id=user_id, session_id=session_id, agent_id=agent_id, limit=size + 1, after=begin, turn_ids=turn_ids
    )
    return _page("memories", found, size, question, lambda turn: turn.seq)


@router.get("/memories/{id:path}/history", response_model=_HISTORY, responses=replies(), tags=["memories"])
@router.get(
    "/notes/{id:path}/history", name="note_history", response_model=_HISTORY, responses=replies(), tags=["notes"]
)
def history(
    id: AnyId,
    memory: Opened,
    user_id: UserId,
    action: OfAction = None,
    trigger: OfTrigger = None,
    since: Since = None,
    until: Until = None,
    newest_first: NewestFirst = False,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """What happened to a note or a message's metadata, oldest first, a page at a time; empty where nothing did."""
    return _log(memory, id, user_id, (action, trigger, since, until, newest_first), limit, cursor)


@router.get(
    "/memories/{id:path}",
    response_model=model_of(Turn) | model_of(Trace) | model_of(Note) | model_of(Episode),
    responses=replies(404),
    tags=["memories"],
)
def get(id: AnyId, memory: Opened, user_id: UserId, as_of: AsOf = None, known_at: KnownAt = None) -> Response:
    """A message by its id, or a trace (`T7`), note (`N7`) or episode (`E7`, `E:m1`)."""
    return reply(memory.get(id, user_id=user_id, as_of=as_of, known_at=known_at))


@router.get("/notes", response_model=page_of("notes", Note), responses=replies(), tags=["notes"])
def notes(
    memory: Opened,
    user_id: UserId,
    about: Annotated[str | None, Query(description="Only about this person.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    statuses: Annotated[list[NoteStatus] | None, Query(description="Every version of these.")] = None,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """Statements about people, oldest first, a page at a time: current ones, unless others are asked for.

    What is not current does not count, and what is unsupported is not to be taken for true.
    """
    question = ("notes", memory.tenant.stored(user_id), about, as_of, known_at, statuses)
    size, begin = _size(limit), place(question, cursor)
    found = memory.notes(
        user_id=user_id,
        about=about,
        as_of=as_of,
        known_at=known_at,
        statuses=statuses,
        limit=size + 1,
        after=None if begin < 0 else f"N{begin >> _VERSION_BITS}.{begin % (1 << _VERSION_BITS)}",
    )
    return _page("notes", found, size, question, _note_place)


@router.get("/episodes", response_model=list_of("episodes", Episode), responses=replies(), tags=["memories"])
def episodes(memory: Opened, user_id: UserId, session_id: OfSession = None) -> Response:
    """What the dialogue falls into, in its order: every message lies in exactly one episode."""
    return reply({"episodes": memory.episodes(user_id=user_id, session_id=session_id)})


@router.get("/operations", response_model=_HISTORY, responses=replies(), tags=["notes"])
def operations(
    memory: Opened,
    user_id: UserId,
    action: OfAction = None,
    trigger: OfTrigger = None,
    since: Since = None,
    until: Until = None,
    newest_first: NewestFirst = False,
    limit: Limit = None,
    cursor: Cursor = None,
) -> Response:
    """The log of what changed notes and metadata, oldest first, a page at a time."""
    return _log(memory, None, user_id, (action, trigger, since, until, newest_first), limit, cursor)


def _log(
    memory: TenantMemory, id: str | None, user_id: str, only: _Only, limit: int | None, cursor: str | None
) -> Response:
    question = ("operations", memory.tenant.stored(user_id), id, *only)
    size, begin = _size(limit), place(question, cursor)
    action, trigger, since, until, newest_first = only
    found = memory.history(
        id,
        user_id=user_id,
        action=action,
        trigger=trigger,
        since=since,
        until=until,
        newest_first=newest_first,
        limit=size + 1,
        after=None if begin < 0 else f"O{begin}",
    )
    return _page("operations", found, size, question, lambda one: _number(one.operation_id))


@router.get("/evolution", response_model=model_of(Evolution), responses=replies(), tags=["notes"])
def evolution(
    memory: Opened,
    user_id: UserId,
    topic: Annotated[str, Query(description="In plain words: `home`, `Where does Ana live?`.")],
    about: Annotated[str | None, Query(description="Only notes about this person.")] = None,
    reference_time: Annotated[str | None, Query(description="What `last year` in the topic counts from.")] = None,
    known_at: KnownAt = None,
) -> Response:
    """How what is known about a topic has changed: a chain of notes, each with what it changed, and why."""
    found = memory.evolution(topic, user_id=user_id, about=about, reference_time=reference_time, known_at=known_at)
    return reply(found)


@router.get("/diff", response_model=list_of("changes", NoteChange), responses=replies(), tags=["notes"])
def diff(
    memory: Opened,
    user_id: UserId,
    a: Annotated[str, Query(description="The first moment.")],
    b: Annotated[str | None, Query(description="The second one; now without it.")] = None,
) -> Response:
    """How the notes that count differ between two moments, by what was recorded when."""
    return reply({"changes": memory.diff(a, b, user_id=user_id)})


@router.get("/sessions", response_model=list_of("sessions", Session), responses=replies(), tags=["memories"])
def sessions(memory: Opened, user_id: UserId) -> Response:
    """Every conversation, in the order in which they began."""
    return reply({"sessions": memory.sessions(user_id=user_id)})


@router.get("/traces", response_model=list_of("traces", Trace), responses=replies(), tags=["memories"])
def traces(memory: Opened, user_id: UserId, session_id: OfSession = None) -> Response:
    """What a search can find: runs of messages of one session, in the order of the dialogue."""
    return reply({"traces": memory.traces(user_id=user_id, session_id=session_id)})


@router.get("/cues", response_model=list_of("cues", Cue), responses=replies(), tags=["search"])
def cues(
    memory: Opened,
    user_id: UserId,
    like: Annotated[str | None, Query(description="Only cues that contain this text.")] = None,
    limit: Annotated[int, Query(description="Cues at most.")] = 50,
) -> Response:
    """What sentences and current notes mention, what most of them mention first."""
    return reply({"cues": memory.cues(user_id=user_id, like=like, limit=limit)})


@router.get(
    "/cues/{key:path}/neighbours", response_model=model_of(Neighbourhood), responses=replies(404), tags=["search"]
)
def neighbours(
    key: Annotated[str, Path(description="Of the cue, as the list of cues gives it.")],
    memory: Opened,
    user_id: UserId,
    limit: Annotated[int, Query(description="Of each kind at most.")] = 20,
) -> Response:
    """What one step leads to from a cue: sentences, current notes, and the cues beside it."""
    return reply(memory.neighbours(key, user_id=user_id, limit=limit))


@router.get("/proposals", response_model=list_of("notes", Note), responses=replies(), tags=["notes"])
def proposals(memory: Opened, user_id: UserId) -> Response:
    """Notes that wait for a person, oldest first."""
    return reply({"notes": memory.proposals(user_id=user_id)})


@router.get(
    "/export",
    response_class=Response,
    responses=replies(content={"application/x-ndjson": {"schema": {"type": "string"}}}),
    tags=["memories"],
)
def export(memory: Opened, user_id: UserId) -> Response:
    """Everything of a user, one line of JSON a message or note, in order; the import takes it back."""
    records = memory.export(user_id=user_id)
    first = list(_next(records))  # what is wrong is said before the reply begins
    return StreamingResponse(_lines(first, records), media_type="application/x-ndjson")


@router.get("/users", response_model=list_of("users", str), responses=replies(), tags=["server"])
def users(memory: Opened) -> Response:
    """Every user of the tenant; needs the scope `admin`."""
    return reply({"users": memory.users()})


@router.get("/status", response_model=model_of(Status), responses=replies(), tags=["server"])
def status(
    memory: Opened,
    user_id: Annotated[str | None, Query(description="Whose; all of the tenant with the scope `admin`.")] = None,
) -> Response:
    """Sizes of a user's memory, and how far language models are with it.

    Sizes of the database are 0 for all but whoever runs the server.
    """
    return reply(memory.status(user_id=user_id))


@router.get("/notice", response_model=model_of(Notice), responses=replies(), tags=["server"])
def notice(
    request: Request,
    memory: Opened,
    user_id: Annotated[str | None, Query(description="For this person, with how much is kept.")] = None,
    contact: Annotated[str | None, Query(description="Whom to ask; else as the server was told.")] = None,
) -> Response:
    """What people may be told: what is kept of them, who reads it, and how to see, correct and erase it."""
    return reply(memory.notice(user_id=user_id, contact=contact or request.app.state.settings.contact))


def _size(limit: int | None) -> int:
    """The length of a page. Raises InvalidQuery."""
    if limit is None:
        return PAGE
    if not 1 <= limit <= LONGEST_PAGE:
        raise InvalidQuery(f"limit must be between 1 and {LONGEST_PAGE:,}, not {limit}; further pages come by cursor")
    return limit


def _page(
    name: str, found: Sequence[T], size: int, question: tuple[object, ...], place_of: Callable[[T], int]
) -> Response:
    """The first ``size`` of what is left, and where the next page begins."""
    page = found[:size]
    following = cursor_of(question, place_of(page[-1])) if len(found) > size else None
    return reply({name: page, "next": following})


def _number(public_id: str) -> int:
    return int(public_id[1:])


def _note_place(note: Note) -> int:
    """By number, then version."""
    return (_number(note.note_id) << _VERSION_BITS) + note.version


def _next(records: Iterator[dict[str, Json]]) -> Generator[dict[str, Json]]:
    for record in records:
        yield record
        return


def _lines(first: Sequence[dict[str, Json]], records: Iterator[dict[str, Json]]) -> Generator[bytes]:
    for record in first:
        yield as_json(record) + b"\n"
    for record in records:
        yield as_json(record) + b"\n"
