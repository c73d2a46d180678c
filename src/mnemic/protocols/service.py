"""The seam to what a server keeps beside the words: API keys, and the replies to requests that may come again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mnemic.types import KeyScope


@dataclass(frozen=True, slots=True)
class KeyRow:
    """An API key as it is kept: what proves it, never the key itself.

    Attributes:
        key_id: Names it; a part of the key, and no secret.
        name: What a person calls it.
        tenant: Whose data it opens.
        salt, digest: Of the slow hash of the key.
        expires_at: From then on it is refused; None for never.
        revoked_at: When somebody revoked it.
    """

    key_id: str
    name: str
    tenant: str
    scopes: tuple[KeyScope, ...]
    salt: bytes
    digest: bytes
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class KeptReply:
    """What was replied to a request with an idempotency key.

    Attributes:
        request: Digest of the request.
        status: Of the reply; None while there is none: the request is under way, or its process ended.
        body: As it was sent; empty while there is none.
    """

    request: bytes
    status: int | None = None
    body: bytes = b""


class ServiceRows(Protocol):
    """API keys belong to the *database*; replies to one user, and are gone with anything that is erased of theirs."""

    def add_key(self, row: KeyRow) -> None:
        """*database*: keep a key. Raises StoreConflict where its id is taken."""
        ...

    def key(self, key_id: str) -> KeyRow | None:
        """*database*: a key by its id, revoked and expired ones too."""
        ...

    def all_keys(self) -> Sequence[KeyRow]:
        """*database*: all keys, oldest first."""
        ...

    def revoke_key(self, key_id: str, *, now: datetime) -> bool:
        """*database*: revoke a key; False where there is none, or it was revoked before."""
        ...

    def begin_reply(self, user_id: str, key: str, request: bytes, *, now: datetime, keep_from: datetime) -> KeptReply:
        """Note that a request begins; what is known of its key: that of an earlier request, else this one's.

        Replies from before ``keep_from``, of all users, are dropped.
        """
        ...

    def finish_reply(self, user_id: str, key: str, reply: KeptReply) -> None:
        """Keep what was replied, where the beginning is still noted (an erasure drops it)."""
        ...

    def drop_reply(self, user_id: str, key: str) -> None:
        """Forget a request that came to nothing."""
        ...
