"""What is counted, for Prometheus: requests by route, method and status. Never by user, tenant or key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

if TYPE_CHECKING:
    from mnemic.memory import Memory

MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """The counts of one application; each has its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("mnemic_requests", "Requests.", labels, registry=self._registry)
        self._seconds = Histogram(
            "mnemic_request_seconds", "From a request to the end of its reply.", labels[:2],
            buckets=_SECONDS, registry=self._registry,
        )  # fmt: skip
        self._under_way = Gauge("mnemic_requests_under_way", "Requests at the moment.", registry=self._registry)
        self._database = Gauge("mnemic_database_bytes", "The database on disk.", registry=self._registry)
        self._indexes = Gauge("mnemic_index_bytes", "Indexes in memory.", registry=self._registry)
        self._users = Gauge("mnemic_users", "Users in the database.", registry=self._registry)
        self._work = Gauge("mnemic_work", "Pieces of work for language models.", ("state",), registry=self._registry)

    def begin(self) -> None:
        """A request begins."""
        self._under_way.inc()

    def end(self, method: str, route: str, status: int, seconds: float) -> None:
        """A request ended."""
        self._under_way.dec()
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def text(self, memory: Memory) -> bytes:
        """All of it, with the sizes of a memory now."""
        status = memory.status()
        self._database.set(status.size_bytes)
        self._indexes.set(status.index_bytes)
        self._users.set(status.users)
        for state in ("pending", "running", "done", "failed"):
            self._work.labels(state).set(getattr(status.enrichment, state))
        return generate_latest(self._registry)
