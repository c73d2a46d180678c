"""Where a PostgreSQL database is: parsed once, and shown without its secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from mnemic.errors import StoreError

_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of an address.

    Attributes:
        name: For messages: who, where and which database, never the password.
        schema: Which schema the tables are in; None for the server's default.
        options: Of the server's session, as given in the address.
        url: For the driver, with the password; it shows none.
    """

    name: str
    schema: str | None
    options: str
    url: URL = field(repr=False)


def parse(given: str) -> Address:
    """The address in ``postgresql://user:password@host:port/database?schema=name``.

    What else the query holds goes to libpq (``sslmode``, ``target_session_attrs``, …).

    Raises:
        StoreError: It is no such address. The message does not repeat it, for there may be a password in it.
    """
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        raise StoreError(f"this is no address of a database: {shown(given)}") from None
    if url.drivername not in _SCHEMES:
        raise StoreError(f"mnemic does not know {url.drivername}:// databases; give postgresql://host/database")
    query = dict(url.query)
    schema, options = query.pop("schema", None), query.pop("options", "")
    if schema is not None and not (isinstance(schema, str) and _SCHEMA.fullmatch(schema)):
        raise StoreError("a schema is named by small letters, digits and _, and does not begin with a digit")
    if not isinstance(options, str):
        raise StoreError("the address of the database has options twice")
    return Address(
        name=shown(given),
        schema=schema,
        options=options,
        url=url.set(drivername="postgresql+psycopg", query=query),
    )


def shown(given: str) -> str:
    """The address of a database as it may be shown: who, where and which database and schema."""
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        return f"{given.partition('://')[0]}://…"
    who = f"{url.username}@" if url.username else ""
    where = f"{url.host or ''}{f':{url.port}' if url.port else ''}"
    schema = url.query.get("schema")
    return f"postgresql://{who}{where}/{url.database or ''}{f'?schema={schema}' if schema else ''}"
