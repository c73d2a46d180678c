"""One tenant's part of a memory: ``Memory``'s methods, for the tenant's users alone, as far as scopes allow."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Concatenate, Final, ParamSpec, TypeVar

from mnemic.algo.budgets import TOTAL
from mnemic.errors import MnemicError
from mnemic.memory import Memory
from mnemic.memory.spent import summed
from mnemic.service.sums import together
from mnemic.types import Enrichment, Notice, Status

if TYPE_CHECKING:
    from mnemic.service.access import Access
    from mnemic.types import Json, KeyScope

SERVER_BUDGET: Final = "paused: the server's budget for language models is spent"

P = ParamSpec("P")
R = TypeVar("R")


def _scoped(scope: KeyScope, method: Callable[Concatenate[Memory, P], R]) -> Callable[Concatenate[TenantMemory, P], R]:
    """A method of ``Memory``, of the same arguments and defaults, that one scope allows."""

    @functools.wraps(method)
    def call(self: TenantMemory, *args: P.args, **kwargs: P.kwargs) -> R:
        self.access.require(scope)
        if kwargs.get("evolve"):  # a search that writes
            self.access.require("write")
        with self.unveiling():
            kwargs["user_id"] = self.tenant.stored(kwargs.get("user_id"))
            return method(self.whole, *args, **kwargs)

    return call


class TenantMemory:
    """``Memory`` as one API key sees it.

    What is another tenant's is what does not exist: every id, filter and cursor is looked up among the tenant's own
    users. Errors name users as the caller does.

    Args:
        whole: The memory of all tenants.
        access: What the key opens.
    """

    def __init__(self, whole: Memory, access: Access) -> None:
        self.whole = whole
        self.access = access
        self.tenant = access.tenant

    @contextmanager
    def unveiling(self) -> Generator[None]:
        """Have errors name users as the caller does, not as they are stored."""
        try:
            yield
        except MnemicError as error:
            error.args = tuple(self.tenant.unveiled(one) if isinstance(one, str) else one for one in error.args)
            raise

    def users(self) -> list[str]:
        """The tenant's users; needs the scope ``admin``."""
        self.access.require("admin")
        return [self.tenant.shown(stored) for stored in self.whole.users() if self.tenant.owns(stored)]

    def export(self, *, user_id: str) -> Iterator[dict[str, Json]]:
        """As ``Memory.export``."""
        self.access.require("read")
        return self.whole.export(user_id=self.tenant.stored(user_id))

    def status(self, *, user_id: str | None = None) -> Status:
        """As ``Memory.status``, of a user, or of all users of the tenant, which needs the scope ``admin``.

        Sizes of the database, which others fill too, are 0 for all but the operator, and what is spent in total None.
        """
        self.access.require("read" if user_id is not None else "admin")
        with self.unveiling():
            found = self.whole.status(user_id=None if user_id is None else self.tenant.stored(user_id))
        if self.access.is_operator:
            return found
        mine = [stored for stored in self.whole.users() if self.tenant.owns(stored)]
        # What all tenants spent together is no business of one.
        mine_alone = tuple(replace(one, spent=None) if one.budget == "total" else one for one in found.allowances)
        found = replace(found, users=len(mine), size_bytes=0, index_bytes=0, allowances=mine_alone)
        if user_id is not None:
            return replace(found, enrichment=_own(found.enrichment))
        each = [self.whole.status(user_id=stored) for stored in mine]
        enrichment = _own(together(one.enrichment for one in each))
        return replace(found, enrichment=enrichment, spent=summed(line for one in each for line in one.spent))

    def notice(self, *, user_id: str | None = None, contact: str | None = None) -> Notice:
        """As ``Memory.notice``."""
        self.access.require("read")
        with self.unveiling():
            stored = None if user_id is None else self.tenant.stored(user_id)
            return self.whole.notice(user_id=stored, contact=contact)

    def retry(self, *, user_id: str | None = None) -> int:
        """As ``Memory.retry``; of all users of the tenant with the scope ``admin``."""
        return sum(self._each(user_id, lambda stored: self.whole.retry(user_id=stored)))

    def wait(
        self,
        *,
        user_id: str | None = None,
        timeout: float | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> Enrichment:
        """As ``Memory.wait``; for all users of the tenant, one after the other, with the scope ``admin``."""
        found = together(
            self._each(user_id, lambda stored: self.whole.wait(user_id=stored, timeout=timeout, progress=progress))
        )
        return found if self.access.is_operator else _own(found)

    def _each(self, user_id: str | None, do: Callable[[str], R]) -> list[R]:
        """What comes of a user, or of each of the tenant's."""
        self.access.require("write")
        if user_id is None:
            self.access.require("admin")
        with self.unveiling():
            if user_id is not None:
                return [do(self.tenant.stored(user_id))]
            return [do(stored) for stored in self.whole.users() if self.tenant.owns(stored)]

    search = _scoped("read", Memory.search)
    context = _scoped("read", Memory.context)
    answer = _scoped("read", Memory.answer)
    answer_stream = _scoped("read", Memory.answer_stream)
    notes = _scoped("read", Memory.notes)
    episodes = _scoped("read", Memory.episodes)
    get = _scoped("read", Memory.get)
    get_all = _scoped("read", Memory.get_all)
    history = _scoped("read", Memory.history)
    sessions = _scoped("read", Memory.sessions)
    traces = _scoped("read", Memory.traces)
    cues = _scoped("read", Memory.cues)
    neighbours = _scoped("read", Memory.neighbours)
    evolution = _scoped("read", Memory.evolution)
    diff = _scoped("read", Memory.diff)
    quarantine = _scoped("read", Memory.quarantine)
    proposals = _scoped("read", Memory.proposals)
    add = _scoped("write", Memory.add)
    add_notes = _scoped("write", Memory.add_notes)
    recover = _scoped("write", Memory.recover)
    update = _scoped("write", Memory.update)
    release = _scoped("write", Memory.release)
    discard = _scoped("write", Memory.discard)
    approve = _scoped("write", Memory.approve)
    reject = _scoped("write", Memory.reject)
    confirm = _scoped("write", Memory.confirm)
    retract = _scoped("write", Memory.retract)
    undo = _scoped("write", Memory.undo)
    reflect = _scoped("write", Memory.reflect)
    forget = _scoped("write", Memory.forget)
    restore = _scoped("write", Memory.restore)
    enrich = _scoped("write", Memory.enrich)
    erase = _scoped("erase", Memory.erase)
    delete = _scoped("erase", Memory.delete)
    delete_all = _scoped("erase", Memory.delete_all)


def _own(found: Enrichment) -> Enrichment:
    """The same without what all tenants together have spent, which a reason to wait may say."""
    reasons = tuple(SERVER_BUDGET if TOTAL in reason else reason for reason in found.waiting_for)
    return replace(found, waiting_for=tuple(dict.fromkeys(reasons)))
