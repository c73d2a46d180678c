"""Who may: API keys, and what each opens. REST, MCP and the inspector all ask here.

A key is ``mnemic_<id>_<secret>``. The id finds its row; the secret, 256 random bits, is kept only as a slow hash. A key
that proved good is remembered by its digest, so that the slow hash is computed once; its row is read every time, so
that a revocation, in whatever process, holds from the next request on.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from mnemic.algo.scope import check_id
from mnemic.errors import InvalidInput, KeyRefused, NotAllowed, NotFound
from mnemic.protocols import KeyRow, ServiceRows
from mnemic.service.tenancy import DEFAULT, Tenant
from mnemic.service.tenant_memory import TenantMemory
from mnemic.types import KEY_SCOPES, KeyScope

if TYPE_CHECKING:
    from mnemic.memory import Memory

_KEY: Final = re.compile(r"mnemic_(?P<id>[0-9a-f]{16})_[A-Za-z0-9_-]{43}")
_REMEMBERED: Final = 1024
_HASHES_AT_ONCE: Final = 2
"""A hash takes 16 MiB and some 50 ms: guesses must not take the machine."""


def slow_hash(key: str, salt: bytes) -> bytes:
    """What is kept of a key: scrypt, 16 MiB."""
    return hashlib.scrypt(key.encode(), salt=salt, n=1 << 14, r=8, p=1, maxmem=1 << 26, dklen=32)


@dataclass(frozen=True, slots=True)
class Access:
    """What a good key opens.

    Attributes:
        key_id: Of the key; no secret. Empty where the server asks for none.
        name: What a person calls the key.
        tenant: Whose data.
        scopes: ``read``; ``write``: add, change, have models work; ``erase``; ``admin``: see all users of the tenant.
            None of them includes another.
    """

    key_id: str
    name: str
    tenant: Tenant
    scopes: frozenset[KeyScope]

    def require(self, scope: KeyScope) -> None:
        """Go on only with a scope. Raises NotAllowed."""
        if scope not in self.scopes:
            raise NotAllowed(
                f"this needs an API key with the scope {scope!r}; yours has {', '.join(sorted(self.scopes))}"
            )

    @property
    def is_operator(self) -> bool:
        """Whether it is of whoever runs the server: of the tenant ``default``, with the scope ``admin``."""
        return self.tenant.name == DEFAULT and "admin" in self.scopes

    def require_operator(self) -> None:
        """Go on only as the operator. Raises NotAllowed."""
        if not self.is_operator:
            raise NotAllowed(f"this is for whoever runs the server: a key of the tenant {DEFAULT!r} with 'admin'")

    def memory(self, memory: Memory) -> TenantMemory:
        """The tenant's part of a memory, with what the scopes allow: the only way to any data."""
        return TenantMemory(memory, self)


OPEN: Final = Access("", "no key", Tenant(), frozenset(KEY_SCOPES))
"""Where the server asks for no key."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made; ``key`` is shown this once."""

    key: str
    row: KeyRow


class Keys:
    """The API keys of one database. Thread-safe.

    Args:
        rows: Where they are kept: ``mnemic.memory.service_rows(memory)``.
        clock: Says when now is.
    """

    def __init__(self, rows: ServiceRows, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._rows = rows
        self._clock = clock
        self._proved: OrderedDict[bytes, bytes] = OrderedDict()
        self._lock = threading.Lock()
        self._hashing = threading.BoundedSemaphore(_HASHES_AT_ONCE)

    def create(
        self,
        name: str,
        *,
        tenant: str = DEFAULT,
        scopes: Collection[KeyScope] = ("read", "write"),
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Make a key.

        Raises:
            InvalidInput: Names the argument.
        """
        check_id(name, "name")
        unknown = [scope for scope in scopes if scope not in KEY_SCOPES]
        if unknown or not scopes:
            raise InvalidInput(f"scopes are some of {', '.join(KEY_SCOPES)}, not {', '.join(unknown) or 'none'}")
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput(f"expires_at is over already: {expires_at.isoformat()}")
        key_id, salt = secrets.token_hex(8), secrets.token_bytes(16)
        key = f"mnemic_{key_id}_{secrets.token_urlsafe(32)}"
        ordered: tuple[KeyScope, ...] = tuple(scope for scope in KEY_SCOPES if scope in scopes)
        row = KeyRow(key_id, name, Tenant(tenant).name, ordered, salt, slow_hash(key, salt), now, expires_at)
        self._rows.add_key(row)
        return NewKey(key, row)

    def list(self) -> Sequence[KeyRow]:
        """All keys, oldest first, revoked and expired ones too."""
        return self._rows.all_keys()

    def revoke(self, key_id: str) -> None:
        """Refuse a key from now on. Raises NotFound where there is none, or it was revoked before."""
        if not self._rows.revoke_key(key_id, now=self._clock()):
            raise NotFound(f"there is no API key {key_id!r} that is not revoked; see: mnemic keys list")

    def verify(self, key: str) -> Access:
        """What a key opens.

        Raises:
            KeyRefused: It is unknown, revoked or expired; the message does not say which.
        """
        named = _KEY.fullmatch(key)
        row = None if named is None else self._rows.key(named["id"])
        if not self._proves(key, row) or row is None or not self._is_good(row):
            raise KeyRefused(
                "the API key is unknown, revoked or expired; whoever runs the server makes one by: mnemic keys create"
            )
        return Access(row.key_id, row.name, Tenant(row.tenant), frozenset(row.scopes))

    def has_proved(self, key: str) -> bool:
        """Whether the slow hash of a key was computed already, and was right."""
        with self._lock:
            return _proof(key) in self._proved

    def _is_good(self, row: KeyRow) -> bool:
        return row.revoked_at is None and (row.expires_at is None or self._clock() < row.expires_at)

    def _proves(self, key: str, row: KeyRow | None) -> bool:
        """Whether a key is the one that a row was made of; as long without a row, so that time betrays no id."""
        proof = _proof(key)
        with self._lock:
            proved = self._proved.get(proof)
            if proved is not None:
                self._proved.move_to_end(proof)
        if proved is not None:
            return row is not None and hmac.compare_digest(proved, row.digest)
        if not _KEY.fullmatch(key):
            return False
        with self._hashing:
            digest = slow_hash(key, b"\0" * 16 if row is None else row.salt)
        if row is None or not hmac.compare_digest(digest, row.digest):
            return False
        with self._lock:
            self._proved[proof] = row.digest
            while len(self._proved) > _REMEMBERED:
                self._proved.popitem(last=False)
        return True


def _proof(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
