"""Commands that look after the API keys of a server: keys create, list, revoke."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Annotated, cast

import typer

from mnemic.cli import options, output

if TYPE_CHECKING:
    from mnemic.protocols import KeyRow
    from mnemic.service.access import Keys
    from mnemic.types import KeyScope

app = typer.Typer(name="keys", help="Look after the API keys of a server.", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What you call it: laptop, billing-agent.")],
    db: options.Database = None,
    tenant: Annotated[
        str, typer.Option("--tenant", metavar="NAME", help="Whose data it opens; tenants never see each other's.")
    ] = "default",
    scope: Annotated[
        list[str] | None,
        typer.Option("--scope", metavar="NAME", help="read, write, erase or admin; once each. [read and write]"),
    ] = None,
    expires: Annotated[
        str | None, typer.Option("--expires", metavar="TIME", help="Refuse it from then on: 2027-01-01. [never]")
    ] = None,
    json: options.AsJson = False,
) -> None:
    """Make an API key, and show it: this once.

    Only a slow hash of it is kept. The default tenant is that of the command line.
    """
    from mnemic.algo.moments import parse_time

    # Those that there are not are refused by name.
    scopes = cast("list[KeyScope]", scope or ["read", "write"])
    with _keys(options.database(db)) as keys:
        made = keys.create(name, tenant=tenant, scopes=scopes, expires_at=parse_time(expires, "UTC"))
    if json:
        output.result(output.as_json({"key": made.key, **_public(made.row)}))
        return
    output.note(f"The key {output.shown(name)} ({made.row.key_id}) is shown this once; keep it as you keep a password.")
    output.result(made.key)


@app.command("list")
def list_(db: options.Database = None, json: options.AsJson = False) -> None:
    """List the API keys, revoked and expired ones too."""
    with _keys(options.existing(db)) as keys:
        found = keys.list()
    if json:
        output.result(output.as_json({"keys": [_public(row) for row in found]}))
        return
    for row in found:
        ends = f", until {row.expires_at:%Y-%m-%d %H:%M} UTC" if row.expires_at else ""
        gone = ", revoked" if row.revoked_at else ""
        line = f"{row.key_id}  {row.name}: tenant {row.tenant}, {', '.join(row.scopes)}{ends}{gone}"
        output.result(output.shown(line))
    output.note(output.counted(len(found), "key"))


@app.command()
def revoke(
    key_id: Annotated[str, typer.Argument(metavar="ID", help="As keys list shows it; no secret.")],
    db: options.Database = None,
) -> None:
    """Refuse an API key from its next request on."""
    with _keys(options.existing(db)) as keys:
        keys.revoke(key_id)
    output.result(f"Revoked {output.shown(key_id)}")


@contextmanager
def _keys(name: str) -> Generator[Keys]:
    from mnemic.service.access import Keys
    from mnemic.store import open_store

    with closing(open_store(options.located(name))) as rows:
        yield Keys(rows)


def _public(row: KeyRow) -> dict[str, object]:
    """What may be told of a key."""
    return {
        "key_id": row.key_id,
        "name": row.name,
        "tenant": row.tenant,
        "scopes": list(row.scopes),
        "created_at": row.created_at,
        "expires_at": row.expires_at,
        "revoked_at": row.revoked_at,
    }
