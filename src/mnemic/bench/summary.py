"""What one system did on one data set, in numbers: the shape of ``mnemic bench … --json``.

A summary is JSON. Its metrics lie under ``trace`` and ``turn`` (what a hit is), and with LongMemEval under ``session``;
again under ``by_category``, and, where both halves were run, under ``by_half``. Numbers are rounded to four digits.
What a second run need not give again, times above all, lies under the names that ``stable`` leaves out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from mnemic.algo.jsonable import as_json
from mnemic.bench import metrics
from mnemic.bench.abstention import abstention
from mnemic.bench.provenance import Provenance
from mnemic.bench.records import DEPTHS, PROMPT_TOKENS, Built, DatasetName, Level, Outcome, Row, Usage
from mnemic.bench.reliability import reliability
from mnemic.bench.statistics import CONFIDENCE, RESAMPLES, SEED, intervals
from mnemic.types import Json

Summary = dict[str, Json]

LEVELS: tuple[Level, ...] = ("trace", "turn")

_DIGITS = 4
_TOKEN_DEPTHS = (5, 10)
_VARYING = frozenset({"latency_ms", "latency_without_models_ms", "cpu_ms", "rss_mb", "commit", "date", "versions"})
_VARYING_OF_BUILD = frozenset({"wall_s", "cpu_s", "embedding_cpu_s", "stages", "bytes_on_disk"})


def summarise(outcome: Outcome, *, by_conversation: bool = False, made: Provenance | None = None) -> Summary:
    """Sum up one outcome.

    Args:
        outcome: At least one row.
        by_conversation: Draw whole conversations in the bootstrap, then questions within them: the wider intervals that
            hold for conversations not yet seen. Otherwise for other questions about the same conversations.
        made: What made it; by default this process, now.

    Returns:
        The summary. A level is there only where the system was asked at it and a question has gold: PersonaMem has
        none. ``n`` counts the questions that have; tokens and times are of all questions, at the first of
        ``levels``. Under a level ``tokens`` is the mean over the questions counted in its ``n``. ``abstention`` is
        null where not both kinds of questions were asked.
    """
    made = made or Provenance.now()
    asked: list[Level] = [level for level in LEVELS if any(row.level == level for row in outcome.rows)]
    first = [row for row in outcome.rows if row.level == asked[0]] if asked else []
    tokens = _tokens(first)
    summary: Summary = {
        "dataset": outcome.dataset,
        "split": outcome.split,
        "system": outcome.system,
        "trial": outcome.trial,
        "gold": outcome.gold,
        **_quality(outcome.rows, outcome.dataset, by_conversation),
        "tokens_per_query": tokens.get(str(_TOKEN_DEPTHS[-1])),
        "tokens_at": tokens,
        "levels": list[Json](asked),
        "latency_ms": _percentiles([row.wall_ms for row in first]),
        **_asking(first),
        "cpu_ms": {
            **_percentiles([row.cpu_ms for row in first]),
            **_percentiles([row.cpu_ms - row.embedding_cpu_ms for row in first], "_without_embedding"),
        },
        "rss_mb": rounded(outcome.rss_mb),
        "build": _build(outcome.built.values()),
        "bootstrap": {
            "resamples": RESAMPLES,
            "seed": SEED,
            "confidence": CONFIDENCE,
            "unit": "conversation" if by_conversation else "question",
        },
        "configuration": as_json(outcome.configuration, "configuration"),
        "checksum": outcome.checksum,
        "commit": made.commit,
        "date": made.date,
        "versions": dict[str, Json](made.versions),
    }
    if outcome.split == "all":
        halves = {half: [row for row in outcome.rows if row.half == half] for half in ("dev", "test")}
        summary["by_half"] = {
            half: _quality(rows, outcome.dataset, by_conversation) for half, rows in halves.items() if rows
        }
    return summary


def stable(summary: Mapping[str, Json]) -> Summary:
    """The part of a summary that a second run on the same data, with the same configuration, gives again exactly."""
    kept = {name: value for name, value in summary.items() if name not in _VARYING}
    if isinstance(build := kept.get("build"), dict):
        kept["build"] = {name: value for name, value in build.items() if name not in _VARYING_OF_BUILD}
    return kept


def rounded(value: float) -> float:
    """To four digits; first to ten, so that a last bit that differs between machines does not turn a half."""
    return round(round(float(value), 10), _DIGITS)


def _quality(rows: Sequence[Row], dataset: DatasetName, by_conversation: bool) -> Summary:
    """All that does not depend on the machine, with each category apart."""
    blocks = _blocks(rows, dataset, by_conversation)
    categories: dict[str, Json] = {}
    for category in sorted({row.category for row in rows}):
        own = [row for row in rows if row.category == category]
        if found := _blocks(own, dataset, by_conversation):
            categories[category] = {"n": _with_gold(own), **found}
    level = next((level for level in LEVELS if any(row.level == level for row in rows)), None)
    asked = [row for row in rows if row.level == level]
    return {
        "n": _with_gold(rows),
        "questions": {
            "asked": len(asked),
            "unanswerable": sum(not row.answerable for row in asked),
            "without_gold": sum(row.answerable and not row.ranks for row in asked),
        },
        **blocks,
        "by_category": categories,
        "abstention": _abstention(asked),
        **_reliability(rows),
    }


def _blocks(rows: Sequence[Row], dataset: DatasetName, by_conversation: bool) -> Summary:
    blocks: Summary = {}
    sessions: Summary = {}
    for level in LEVELS:
        if found := metrics.with_gold(rows, level):
            answerable = [row for row in rows if row.level == level and row.answerable]
            blocks[level] = {
                **_means(found, lambda row: metrics.of_question(row, dataset), by_conversation),
                **(_official(answerable) if dataset == "locomo" else {}),
                "tokens": _tokens(found),
            }
        if dataset == "longmemeval" and (found := metrics.with_gold_sessions(rows, level)):
            sessions[level] = _means(found, metrics.of_sessions, by_conversation)
    return {**blocks, **({"session": sessions} if sessions else {})}


def _means(rows: Sequence[Row], measure: Callable[[Row], Mapping[str, float]], by_conversation: bool) -> Summary:
    """Means and intervals: ``fraction@5`` lies at ``["fraction"]["5"]`` and ``["interval"]["fraction"]["5"]``."""
    names, values = metrics.table(rows, measure)
    ends = intervals(values, clusters=[row.user_id for row in rows] if by_conversation else None)
    means: list[Json] = [rounded(mean) for mean in values.mean(axis=0)]
    between: list[Json] = [[rounded(low), rounded(high)] for low, high in ends]
    return {
        "n": len(rows),
        **_nested(dict(zip(names, means, strict=True))),
        "interval": _nested(dict(zip(names, between, strict=True))),
    }


def _nested(flat: Mapping[str, Json]) -> Summary:
    nested: Summary = {}
    for name, value in flat.items():
        metric, at, depth = name.partition("@")
        inner = nested.setdefault(metric, {})
        if at and isinstance(inner, dict):
            inner[depth] = value
        else:
            nested[metric] = value
    return nested


def _official(rows: Sequence[Row]) -> Summary:
    return {
        "fraction_official": {str(k): rounded(metrics.official_fraction(rows, k)) for k in DEPTHS},
        "n_official": len(rows),
    }


def _with_gold(rows: Sequence[Row]) -> int:
    return max(len(metrics.with_gold(rows, level)) for level in LEVELS)


def _tokens(rows: Sequence[Row]) -> Summary:
    if not rows:
        return {}
    return {str(k): rounded(float(np.mean([row.tokens[k] for row in rows]))) for k in _TOKEN_DEPTHS}


def _percentiles(values: Sequence[float], suffix: str = "") -> Summary:
    if not values:
        return {}
    return {f"p{q}{suffix}": rounded(float(np.percentile(values, q))) for q in (50, 95)}


def _asking(rows: Sequence[Row]) -> Summary:
    """What searches asked of a language model, where any did, and how long they took without it."""
    if not any(row.usage for row in rows):
        return {}
    calls = [sum(one.calls for one in row.usage.values()) for row in rows]
    tokens = [sum(one.tokens_in + one.tokens_out for one in row.usage.values()) for row in rows]
    return {
        "latency_without_models_ms": _percentiles([row.wall_ms - row.model_ms for row in rows]),
        "asking": {
            "calls_per_query": rounded(float(np.mean(calls))),
            "model_tokens_per_query": rounded(float(np.mean(tokens))),
            **_usage([row.usage for row in rows]),
        },
    }


def _abstention(rows: Sequence[Row]) -> Json:
    found = abstention(rows)
    if found is None:
        return None
    return {
        "n_answerable": found.answerable,
        "n_unanswerable": found.unanswerable,
        "auroc": _maybe(found.auroc),
        "interval": None if found.interval is None else [rounded(end) for end in found.interval],
        "precision": _maybe(found.precision),
        "recall": _maybe(found.recall),
        "flagged": found.flagged,
        "without_relevance": found.without_relevance,
    }


def _reliability(rows: Sequence[Row]) -> Summary:
    """How reliable the hits' probabilities are, by level and depth, where the system says any."""
    found: Summary = {}
    for level in LEVELS:
        # As in ``abstention``: an answerable question without usable evidence says nothing.
        own = [row for row in rows if row.level == level and (row.ranks or not row.answerable) and row.probabilities]
        if own:
            found[level] = {str(k): _reliable(own, k) for k in DEPTHS}
    return {"reliability": found} if found else {}


def _reliable(rows: Sequence[Row], depth: int) -> Json:
    said = [row.probabilities[:depth] for row in rows]
    useful = [
        [row.answerable and rank in row.ranks for rank in range(1, len(one) + 1)]
        for row, one in zip(rows, said, strict=True)
    ]
    found = reliability(np.concatenate(said), np.concatenate(useful).astype(np.float64))
    bins: list[Json] = [[one.n, rounded(one.said), rounded(one.useful)] for one in found.bins]
    return {
        "hits": found.n,
        "rate": rounded(found.rate),
        "ece": rounded(found.ece),
        "brier": rounded(found.brier),
        "brier_of_rate": rounded(found.brier_of_rate),
        "bins": bins,
    }


def _maybe(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _build(built: Iterable[Built]) -> Summary:
    """Sums over the users."""
    users = list(built)
    return {
        "users": len(users),
        "wall_s": rounded(sum(one.wall_s for one in users)),
        "cpu_s": rounded(sum(one.cpu_s for one in users)),
        "embedding_cpu_s": rounded(sum(one.embedding_cpu_s for one in users)),
        "stages": {name: rounded(value) for name, value in _sums([one.stages for one in users]).items()},
        "bytes_on_disk": sum(one.bytes_on_disk for one in users),
        "counts": {name: int(value) for name, value in _sums([one.counts for one in users]).items()},
        "model_calls": sum(one.model_calls for one in users),
        "tokens_in": sum(one.tokens_in for one in users),
        "tokens_out": sum(one.tokens_out for one in users),
        **_usage([one.usage for one in users]),
        **_prompts(users),
    }


def _prompts(users: Sequence[Built]) -> Summary:
    """Tokens of prompts for one user, where the system counts them."""
    counted = [one.counts[PROMPT_TOKENS] for one in users if PROMPT_TOKENS in one.counts]
    return {"prompt_tokens_per_user": rounded(float(np.mean(counted)))} if counted else {}


def _usage(parts: Sequence[Mapping[str, Usage]]) -> Summary:
    """By purpose, where a language model was asked for anything."""
    names = dict.fromkeys(purpose for part in parts for purpose in part)
    asked = {
        purpose: dict[str, Json](_sums([asdict(part[purpose]) for part in parts if purpose in part]))
        for purpose in names
    }
    return {"usage": dict[str, Json](asked)} if asked else {}


def _sums(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {
        name: sum(part.get(name, 0) for part in parts) for name in dict.fromkeys(key for part in parts for key in part)
    }
