"""How far the work for several users is, taken together."""

from __future__ import annotations

from collections.abc import Iterable

from mnemic.types import Enrichment, FailedWork, WorkKind


def together(each: Iterable[Enrichment]) -> Enrichment:
    """How far language models and the embedder are with what all have."""
    all_of = tuple(each)
    failed: dict[tuple[WorkKind, str], int] = {}
    for one in all_of:
        for failure in one.failures:
            failed[failure.kind, failure.reason] = failed.get((failure.kind, failure.reason), 0) + failure.traces
    return Enrichment(
        pending=sum(one.pending for one in all_of),
        running=sum(one.running for one in all_of),
        done=sum(one.done for one in all_of),
        failed=sum(one.failed for one in all_of),
        failures=tuple(FailedWork(kind, traces, reason) for (kind, reason), traces in sorted(failed.items())),
        waiting_for=tuple(dict.fromkeys(reason for one in all_of for reason in one.waiting_for)),
        unembedded=sum(one.unembedded for one in all_of),
    )
