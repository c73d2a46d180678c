"""Summaries of the benchmark for people: a small table a level, legible as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mnemic.types import Json

if TYPE_CHECKING:
    from mnemic.bench.columns import Column
    from mnemic.bench.summary import Summary

_RECALL = (("fraction", "5", "R@5"), ("fraction", "10", "R@10"), ("hit_any", "5", "any@5"), ("hit_any", "10", "any@10"))
_LEGEND = (
    "R@k: share of a question's evidence that the first k hits show; any@k: questions with some of it there. "
    "In brackets 95 % intervals over questions. Times are of one search; the embedder's part is apart."
)


def lines(summaries: Mapping[str, Summary]) -> Iterator[str]:
    """What was measured, as lines.

    Args:
        summaries: Label -> summary, all on one data set.
    """
    from mnemic.bench.columns import LEVEL_WORDS, Column, inner, sessions, share, whole
    from mnemic.bench.compare_text import table
    from mnemic.bench.tables import filled

    def write(title: str, found: Mapping[str, Summary], columns: Sequence[Column]) -> Iterator[str]:
        cells = filled(found, columns)
        yield from table((title, *cells.heads[1:]), cells.rows)
        yield ""

    for level, words in LEVEL_WORDS.items():
        measured = [Column("n", "", (level, "n"), whole)]
        measured += (
            Column(head, "", (level, metric, k), share, interval=(level, "interval", metric, k))
            for metric, k, head in _RECALL
        )
        measured.append(Column("tokens@10", "", (level, "tokens", "10"), whole))
        if asked := {label: summary for label, summary in summaries.items() if inner(summary, level)}:
            yield from write(words, asked, measured)
        if asked := {label: summary for label, summary in summaries.items() if inner(summary, "session", level)}:
            yield from write(f"sessions, by {level}", asked, sessions(level))
    asked = any(inner(summary, "build", "usage") for summary in summaries.values())
    counted = any("prompt_tokens_per_user" in inner(summary, "build") for summary in summaries.values())
    yield from write("cost", summaries, _cost() + (_asked(counted) if asked else []))
    if asking := {label: summary for label, summary in summaries.items() if inner(summary, "asking")}:
        yield from write("models asked by a search", asking, _asking())
    yield _LEGEND


def answers(summaries: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """How well models answered, as lines; none where nobody did.

    Args:
        summaries: As ``bench.answers.summarise`` makes them.
    """
    from mnemic.bench.columns import answering
    from mnemic.bench.compare_text import table
    from mnemic.bench.tables import filled

    if not summaries:
        return
    trials = any(summary.get("trial") != 1 for summary in summaries)
    labelled: dict[str, Mapping[str, Json]] = {}
    for summary in summaries:
        name = str(summary.get("system"))
        labelled[f"{name}, trial {summary.get('trial')}" if trials else name] = summary
    cells = filled(labelled, answering(list(labelled.values())))
    yield from table(("answers", *cells.heads[1:]), cells.rows)


def _cost() -> list[Column]:
    from mnemic.bench.columns import Column, share, small, whole

    return [
        Column("ms p50", "", ("latency_ms", "p50"), small),
        Column("ms p95", "", ("latency_ms", "p95"), small),
        Column("CPU-ms p50", "", ("cpu_ms", "p50"), small),
        Column("without embedding", "", ("cpu_ms", "p50_without_embedding"), small),
        Column("ingestion CPU-s", "", ("build", "cpu_s"), small),
        Column("resident MB", "", ("rss_mb",), whole),
        Column("AUROC", "", ("abstention", "auroc"), share),
    ]


def _asking() -> list[Column]:
    """What searches asked of a language model."""
    from mnemic.bench.columns import Column, small, whole

    return [
        Column("ms p50", "", ("latency_ms", "p50"), small),
        Column("ms p95", "", ("latency_ms", "p95"), small),
        Column("without model p50", "", ("latency_without_models_ms", "p50"), small),
        Column("without model p95", "", ("latency_without_models_ms", "p95"), small),
        Column("calls", "", ("asking", "calls_per_query"), small),
        Column("tokens", "", ("asking", "model_tokens_per_query"), whole),
    ]


def _asked(counted: bool) -> list[Column]:
    """What a language model was asked, to write the memory."""
    from mnemic.bench.columns import Column, whole

    return [
        Column("model calls", "", ("build", "model_calls"), whole),
        Column("tokens in", "", ("build", "tokens_in"), whole),
        Column("tokens out", "", ("build", "tokens_out"), whole),
        *([Column("prompt tokens a user", "", ("build", "prompt_tokens_per_user"), whole)] if counted else []),
    ]
