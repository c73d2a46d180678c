"""What replies look like: Pydantic models of ``mnemic.types``, made from its dataclasses, for the description alone.

Replies are not validated on their way out: a stored text may be one that Pydantic takes for no text (a lone surrogate).
A test compares real replies with these models.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, cast, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from mnemic.importers import Report
from mnemic.service.docstrings import entries, summary

_PLAIN = (str, int, float, bool, NoneType, datetime)


@cache
def model_of(kind: type) -> type[BaseModel]:
    """The model of a dataclass; all of its fields are always there.

    Raises:
        TypeError: It has a field that JSON does not hold.
    """
    said = entries(kind, "Attributes")
    hints = get_type_hints(kind)
    fields: dict[str, Any] = {
        field.name: (_wired(hints[field.name]), Field(..., description=said.get(field.name)))
        for field in dataclasses.fields(kind)
    }
    config = ConfigDict(extra="forbid")
    return create_model(kind.__name__, __config__=config, __doc__=summary(kind), **fields)


def _wired(hint: Any) -> Any:  # noqa: ANN401 - a type of any kind
    """A type of ``mnemic.types`` as it is on the wire."""
    if hint in _PLAIN or get_origin(hint) is Literal:
        return hint
    if dataclasses.is_dataclass(hint):
        return model_of(cast("type", hint))
    origin: Any = get_origin(hint)
    arguments = get_args(hint)
    if origin in (UnionType, Union) and {bool, int, float, str} <= {*arguments}:
        return Any  # JSON of any kind
    if origin in (UnionType, Union):
        return Union[tuple(_wired(one) for one in arguments)]  # noqa: UP007 - of a number that nobody knows
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return list[_wired(arguments[0])]
    if origin is tuple:
        return tuple[tuple(_wired(one) for one in arguments)]
    if origin is list:
        return list[_wired(arguments[0])]
    if isinstance(origin, type) and issubclass(cast("type", origin), Mapping):
        return dict[str, _wired(arguments[1])]
    raise TypeError(f"{hint!r} has no place in a reply")


class Problem(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(description="`urn:mnemic:` and the kind of the error.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="Of HTTP.")
    detail: str = Field(description="What happened to what, and the way out.")
    errors: list[Wrong] | None = Field(None, description="What was wrong with the request.")


class Wrong(BaseModel):
    """One thing that is wrong with a request."""

    where: list[str]
    why: str


def page_of(name: str, kind: type) -> type[BaseModel]:
    """The model of a page of a list."""
    items = (list[model_of(kind)], Field(..., description="In order."))
    following = (str | None, Field(..., description="The `cursor` of the next page; null on the last one."))
    fields: dict[str, Any] = {name: items, "next": following}
    return create_model(f"PageOf{name.capitalize()}", __config__=ConfigDict(extra="forbid"), **fields)


def list_of(name: str, kind: Any) -> type[BaseModel]:  # noqa: ANN401 - a type of any kind
    """The model of a whole list under its name."""
    fields: dict[str, Any] = {name: (list[_wired(kind)], Field(..., description="In order."))}
    return create_model(f"{name.capitalize()}Reply", __config__=ConfigDict(extra="forbid"), **fields)


def one_of(name: str, kind: Any, description: str) -> type[BaseModel]:  # noqa: ANN401 - a type of any kind
    """The model of one value under its name."""
    fields: dict[str, Any] = {name: (_wired(kind), Field(..., description=description))}
    return create_model(f"{name.capitalize()}Reply", __config__=ConfigDict(extra="forbid"), **fields)


class LeftOut(BaseModel):
    """What an import left out for one reason."""

    reason: str
    count: int
    first: str = Field(description="Where the first one stands.")
    places: list[str] = Field(description="Where the first few stand.")


_SAID: Final = entries(Report, "Attributes")


class ImportReport(BaseModel):
    """What an import did, or with `dry_run` would do."""

    files: dict[str, str] = Field(description="What the file was read as; it is called `import`.")
    users: list[str] = Field(description=_SAID["users"])
    sessions: int = Field(description=_SAID["sessions"])
    messages: int = Field(description=_SAID["messages"])
    new: int = Field(description=_SAID["new"])
    notes: int = Field(description=_SAID["notes"])
    given: int = Field(description=_SAID["given"])
    restored: int = Field(description=_SAID["restored"])
    skipped: list[LeftOut] = Field(description="What was left out, by reason.")
    warnings: list[str] = Field(description=_SAID["warnings"])
    notices: list[str] = Field(description=_SAID["notices"])
    unembedded: int = Field(
        description="How much of the user waits for its vectors, and is found by its words until then."
    )
    dry_run: bool = Field(description="Whether nothing was stored.")
