"""What a server keeps beside the words: API keys, and the replies to requests that may come again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import Connection, Row, delete, insert, select, update

from mnemic.errors import StoreConflict
from mnemic.protocols import KeptReply, KeyRow
from mnemic.store.database import Database, alone
from mnemic.store.encodings import micros, moment
from mnemic.store.shared_tables import api_keys, replies
from mnemic.types import KeyScope


class ServiceTables:
    """The half of the store that only a server uses. What each method promises stands in ``protocols.ServiceRows``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_key(self, row: KeyRow) -> None:
        """Keep a key."""

        def add(connection: Connection) -> None:
            alone(connection, api_keys)
            if _key(connection, row.key_id) is not None:
                raise StoreConflict(f"there is an API key {row.key_id!r} already; make another one")
            connection.execute(
                insert(api_keys),
                {
                    "key_id": row.key_id,
                    "name": row.name,
                    "tenant": row.tenant,
                    "scopes": list(row.scopes),
                    "salt": row.salt,
                    "digest": row.digest,
                    "created_at": micros(row.created_at),
                    "expires_at": None if row.expires_at is None else micros(row.expires_at),
                    "revoked_at": None if row.revoked_at is None else micros(row.revoked_at),
                },
            )

        self._database.change(add)

    def key(self, key_id: str) -> KeyRow | None:
        """A key by its id."""
        return self._database.look(lambda connection: _key(connection, key_id))

    def all_keys(self) -> Sequence[KeyRow]:
        """All keys, oldest first."""
        query = select(api_keys).order_by(api_keys.c.created_at, api_keys.c.key_id)
        return [_read(row) for row in self._database.look(lambda connection: connection.execute(query).all())]

    def revoke_key(self, key_id: str, *, now: datetime) -> bool:
        """Revoke a key."""
        mine = (api_keys.c.key_id == key_id, api_keys.c.revoked_at.is_(None))
        revoke = update(api_keys).where(*mine).values(revoked_at=micros(now))
        return self._database.change(lambda connection: connection.execute(revoke).rowcount > 0)

    def begin_reply(self, user_id: str, key: str, request: bytes, *, now: datetime, keep_from: datetime) -> KeptReply:
        """Note that a request begins."""

        def begin(connection: Connection) -> KeptReply:
            connection.execute(delete(replies).where(replies.c.at < micros(keep_from)))
            known = connection.execute(
                select(replies.c.request, replies.c.status, replies.c.body).where(*_mine(user_id, key))
            ).one_or_none()
            if known is not None:
                return KeptReply(*known)
            row: dict[str, Any] = {"user_id": user_id, "key": key, "request": request, "body": b"", "at": micros(now)}
            connection.execute(insert(replies), row)
            return KeptReply(request)

        return self._database.change(begin, user_id=user_id)

    def finish_reply(self, user_id: str, key: str, reply: KeptReply) -> None:
        """Keep what was replied."""
        begun = (*_mine(user_id, key), replies.c.request == reply.request)
        keep = update(replies).where(*begun).values(status=reply.status, body=reply.body)
        self._database.change(lambda connection: connection.execute(keep), user_id=user_id)

    def drop_reply(self, user_id: str, key: str) -> None:
        """Forget a request that came to nothing."""
        drop = delete(replies).where(*_mine(user_id, key), replies.c.status.is_(None))
        self._database.change(lambda connection: connection.execute(drop), user_id=user_id)


def forget_replies(connection: Connection, user_id: str) -> None:
    """Drop all replies to a user's requests: what was erased may stand in them, and its digest in the requests'."""
    connection.execute(delete(replies).where(replies.c.user_id == user_id))


def _mine(user_id: str, key: str) -> tuple[Any, Any]:
    return replies.c.user_id == user_id, replies.c.key == key


def _key(connection: Connection, key_id: str) -> KeyRow | None:
    row = connection.execute(select(api_keys).where(api_keys.c.key_id == key_id)).one_or_none()
    return None if row is None else _read(row)


def _read(row: Row[Any]) -> KeyRow:
    return KeyRow(
        key_id=row.key_id,
        name=row.name,
        tenant=row.tenant,
        scopes=tuple(cast("list[KeyScope]", row.scopes)),
        salt=row.salt,
        digest=row.digest,
        created_at=moment(row.created_at),
        expires_at=None if row.expires_at is None else moment(row.expires_at),
        revoked_at=None if row.revoked_at is None else moment(row.revoked_at),
    )
