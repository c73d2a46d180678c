"""What requests look like: the arguments of ``Memory``'s methods, with their names and defaults.

A test compares each model with the method's signature; what an argument means is read from its docstring. ``Json`` is
``Any`` here: the method itself checks what it takes, and says better what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, StrictBool, StrictInt

from mnemic.memory import Memory
from mnemic.service.docstrings import entries
from mnemic.types import Granularity, Mode

Time = str | int | float | None
Config = Literal["default", "hero", "himem"]
Number = int | float


class Arguments(BaseModel):
    """The arguments of one method of ``Memory``, but those that stand in the path."""

    model_config = ConfigDict(extra="forbid")
    of: ClassVar[Callable[..., object]]

    def __init_subclass__(cls, of: Callable[..., object], **_: object) -> None:
        """Say which method."""
        cls.of = of

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: object) -> None:
        """Describe the fields as the method's docstring does."""
        said = entries(Memory.search, "Args") | {
            name: text for name, text in entries(cls.of, "Args").items() if text != "See there."
        }
        for name, field in cls.model_fields.items():
            field.description = said.get(name)
        cls.model_rebuild(force=True)

    def arguments(self) -> dict[str, Any]:
        """As the method takes them."""
        return {name: getattr(self, name) for name in type(self).model_fields}


class Narrowed(Arguments, of=Memory.context):
    """What narrows a search."""

    user_id: str
    filters: dict[str, Any] | None = None
    agent_id: str | None = None
    session_id: str | None = None
    since: Time = None
    until: Time = None
    reference_time: Time = None
    config: Config = "default"


class Add(Arguments, of=Memory.add):
    """Messages to store."""

    messages: str | dict[str, Any] | list[dict[str, Any]]
    user_id: str
    session_id: str | None = None
    agent_id: str | None = None
    timestamp: Time = None
    timezone: str | None = None
    metadata: dict[str, Any] | None = None
    idempotency_key: str | None = None
    resend: Literal["prefix"] | None = None
    enrich: Literal["later", "now", "never"] = "later"
    embed: Literal["now", "later"] = "now"


class AddNotes(Arguments, of=Memory.add_notes):
    """Statements to store."""

    notes: dict[str, Any] | list[dict[str, Any]]
    user_id: str
    timezone: str | None = None


class Update(Arguments, of=Memory.update):
    """What changes about a message."""

    user_id: str
    metadata: dict[str, Any]
    text: str | None = None


class Search(Narrowed, of=Memory.search):
    """A search."""

    query: str
    top_k: StrictInt = 10
    threshold: Number | None = None
    granularity: Granularity = "trace"
    rerank: str | None = None
    explain: StrictBool = False
    mode: Mode = "graph"
    keep_notes: StrictBool = False
    evolve: StrictBool = False
    as_of: Time = None
    known_at: Time = None


class Context(Narrowed, of=Memory.context):
    """What a prompt is about."""

    query: str
    max_tokens: StrictInt = 1500
    as_of: Time = None
    known_at: Time = None


class Ask(Narrowed, of=Memory.answer):
    """A question."""

    question: str
    max_tokens: StrictInt = 2000
    top_k: StrictInt | None = None
    rerank: str | None = None


class Whose(Arguments, of=Memory.enrich):
    """Whose memory."""

    user_id: str


class Restore(Arguments, of=Memory.restore):
    """Whose notes shall stand as they stood, and when."""

    user_id: str
    as_of: Time


class Retract(Arguments, of=Memory.retract):
    """Whose note is wrong, and why."""

    user_id: str
    reason: str | None = None


class Reflect(Arguments, of=Memory.reflect):
    """Whose notes to look through."""

    user_id: str
    dry_run: StrictBool = False


class Forget(Arguments, of=Memory.forget):
    """How many notes are to be left."""

    user_id: str
    max_notes: StrictInt
    half_life_days: Number = 90.0
    dry_run: StrictBool = False


class Erase(Arguments, of=Memory.erase):
    """What to erase."""

    user_id: str
    turn_id: str | None = None
    session_id: str | None = None
    speaker: str | None = None
    everything: StrictBool = False


class Retry(Arguments, of=Memory.retry):
    """Whose work is to be done again."""

    user_id: str | None = None


class Wait(Arguments, of=Memory.wait):
    """Whose work is to be waited for."""

    user_id: str | None = None
    timeout: Number | None = None
