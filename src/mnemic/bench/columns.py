"""The columns of a report's tables: where their numbers lie, what they mean, which of two numbers is the better one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from mnemic.bench.records import DEPTHS, Level
from mnemic.types import Json

Record = Mapping[str, Json]
"""A summary, or one row of answer or speed results."""

LEVEL_WORDS: Final[Mapping[Level, str]] = {"trace": "trace level", "turn": "turn level"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        head: Its heading.
        meaning: What it says, in one line.
        path: Where its number lies.
        write: The number as text.
        best: Whether the largest number is to stand out: a measure of quality, of which more is better.
        interval: Where its two ends lie, if anywhere.
    """

    head: str
    meaning: str
    path: tuple[str, ...]
    write: Callable[[float], str]
    best: bool = False
    interval: tuple[str, ...] = ()


def at(record: Json | Record, *path: str) -> Json:
    """What lies at a path of keys; None where there is nothing."""
    found = record
    for key in path:
        if not isinstance(found, Mapping):
            return None
        found = found.get(key)
    return found if not isinstance(found, Mapping) else dict(found)


def number(record: Json | Record, *path: str) -> float | None:
    """The number at a path of keys; None where there is none."""
    found = at(record, *path)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def ends(record: Json | Record, *path: str) -> tuple[float, float] | None:
    """The interval ``[low, high]`` at a path of keys; None where there is none."""
    found = at(record, *path)
    if not isinstance(found, list) or len(found) != 2:
        return None
    low, high = found
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)):
        return None
    return float(low), float(high)


def inner(record: Json | Record, *path: str) -> dict[str, Json]:
    """The mapping at a path of keys; empty where there is none."""
    found = at(record, *path)
    return found if isinstance(found, dict) else {}


def share(value: float) -> str:
    """``.873``, ``1.000``, ``-.012``; never ``-.000``."""
    written = f"{round(value, 3) + 0.0:.3f}"
    return written.replace("0.", ".", 1) if abs(value) < 0.9995 else written


def whole(value: float) -> str:
    """``1,180``."""
    return f"{value:,.0f}"


def small(value: float) -> str:
    """Three digits that count: ``0.42``, ``12.3``, ``1,520``."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def megabytes(value: float) -> str:
    """Bytes as MB (1e6)."""
    return small(value / 1e6)


def quality(level: Level) -> tuple[Column, ...]:
    """The retrieval metrics of one level."""
    return (
        Column("n", "questions that have an answer whose turns are known", (level, "n"), whole),
        *(_metric((level,), "fraction", k, f"R@{k}", "mean share of a question's evidence turns", k in ("5", "10"))
          for k in ("1", "5", "10", "20")),
        _metric((level,), "hit_any", "5", "any@5", "share of questions with at least one evidence turn", False),
        _metric((level,), "hit_any", "10", "any@10", "share of questions with at least one evidence turn", True),
        _metric((level,), "hit_all", "10", "all@10", "share of questions with all their evidence turns", False),
        Column("MRR", "mean of 1 / rank of the first hit with evidence", (level, "mrr"), share, True),
        Column("nDCG@10", "gain of the first 10 hits, discounted by rank, against the best possible order",
               (level, "ndcg", "10"), share, True),
        Column("tokens@10", "mean tokens of the first 10 hits, as a reader gets them",
               (level, "tokens", "10"), whole),
    )  # fmt: skip


def sessions(level: Level) -> tuple[Column, ...]:
    """LongMemEval's metrics over sessions."""
    where = ("session", level)
    return (
        Column("n", "questions that have an answer whose turns are known", (*where, "n"), whole),
        *(_metric(where, "recall_any", k, f"any@{k}", "share of questions with at least one evidence session", k == "5")
          for k in ("5", "10")),
        *(_metric(where, "recall_all", k, f"all@{k}", "share of questions with all their evidence sessions", k == "10")
          for k in ("5", "10")),
        Column("nDCG_any@10", "as LongMemEval's authors reckon it: ranks 1 and 2 weigh the same",
               (*where, "ndcg_any", "10"), share, True),
    )  # fmt: skip


def official(level: Level) -> tuple[Column, ...]:
    """LoCoMo's own reading of recall beside ours."""
    return (
        Column(f"{level} n", "questions that have an answer, usable evidence or not", (level, "n_official"), whole),
        *(Column(f"{level} R@{k}", "R@k where a question without usable evidence counts 1, as LoCoMo's code has it",
                 (level, "fraction_official", k), share, True) for k in ("5", "10")),
    )  # fmt: skip


def halves(level: Level) -> tuple[Column, ...]:
    """Recall on the half that was worked on, and on the half that was not."""
    return tuple(
        Column(
            f"{half} {head}",
            f"R@5, R@10 and any@10 on the {words} half",
            ("by_half", half, level, metric, k),
            share,
            True,
            ("by_half", half, level, "interval", metric, k) if head == "R@10" else (),
        )
        for half, words in (("dev", "development"), ("test", "test"))
        for metric, k, head in (("fraction", "5", "R@5"), ("fraction", "10", "R@10"), ("hit_any", "10", "any@10"))
    )


def by_category(level: Level, categories: Sequence[str], *, metric: str = "fraction", k: str = "10") -> list[Column]:
    """One metric, a column for each category."""
    return [
        Column(
            category,
            f"R@{k} of the questions of one category",
            ("by_category", category, level, metric, k),
            share,
            True,
            ("by_category", category, level, "interval", metric, k),
        )
        for category in categories
    ]


ABSTENTION: Final = (
    Column("answerable", "questions whose answer is in the memory", ("abstention", "n_answerable"), whole),
    Column("unanswerable", "questions whose answer is not", ("abstention", "n_unanswerable"), whole),
    Column("AUROC", "chance that an answerable question gets a higher relevance than an unanswerable one",
           ("abstention", "auroc"), share, True, ("abstention", "interval")),
    Column("precision", "of the questions it calls unanswerable at its own threshold, those that are",
           ("abstention", "precision"), share, True),
    Column("recall", "of the unanswerable questions, those it calls so", ("abstention", "recall"), share, True),
    Column("flagged", "questions it calls unanswerable", ("abstention", "flagged"), whole),
)  # fmt: skip


def reliability(level: Level) -> list[Column]:
    """How far what is said of hits is from what is so, over the first hit, the first five and twenty."""
    return [
        *(
            Column(f"ECE@{k}", f"expected calibration error of the probabilities of the first {k} hits",
                   ("reliability", level, str(k), "ece"), share, False)
            for k in DEPTHS
        ),
        *(
            Column(f"{head}@{k}", meaning, ("reliability", level, str(k), name), share, False)
            for k in (1, DEPTHS[-1])
            for head, name, meaning in (
                ("Brier", "brier", "mean squared error of these probabilities"),
                ("Brier of the rate", "brier_of_rate", "the same of saying for every hit how many are useful"),
            )
        ),
    ]  # fmt: skip


COST: Final = (
    Column("CPU ms p50", "processor time of a search, the median", ("cpu_ms", "p50"), small),
    Column("p95", "the 95th percentile of the same", ("cpu_ms", "p95"), small),
    Column("CPU ms p50 w/o embedding", "the same without embedding the question",
           ("cpu_ms", "p50_without_embedding"), small),
    Column("p95 w/o embedding", "the 95th percentile of the same",
           ("cpu_ms", "p95_without_embedding"), small),
    Column("wall ms p50", "time of a search by the clock, the median", ("latency_ms", "p50"), small),
    Column("wall ms p95", "the 95th percentile of the same", ("latency_ms", "p95"), small),
    Column("wall ms p50 w/o model", "the median without the time in which a language model answered",
           ("latency_without_models_ms", "p50"), small),
    Column("p95 w/o model", "the 95th percentile of the same", ("latency_without_models_ms", "p95"), small),
    Column("model calls", "of a language model, mean of a search", ("asking", "calls_per_query"), small),
    Column("model tokens", "sent to it and written by it, mean of a search",
           ("asking", "model_tokens_per_query"), whole),
    Column("tokens", "mean tokens of the first 10 hits over all questions", ("tokens_per_query",), whole),
    Column("resident MB", "memory of the process at the end, libraries and models included",
           ("rss_mb",), whole),
)  # fmt: skip

_BUILD: Final = (
    Column("users", "memories built", ("build", "users"), whole),
    Column("CPU s", "processor time of taking everything in, over all users", ("build", "cpu_s"), small),
    Column("of it embedding", "the part of it spent in the embedder", ("build", "embedding_cpu_s"), small),
    Column("wall s", "the same by the clock", ("build", "wall_s"), small),
    Column("MB on disk", "what lies on disk after it, of the largest user",
           ("build", "bytes_on_disk"), megabytes),
    Column("model calls", "calls of a language model", ("build", "model_calls"), whole),
    Column("tokens in", "tokens sent to it", ("build", "tokens_in"), whole),
    Column("tokens out", "tokens it wrote", ("build", "tokens_out"), whole),
    Column("prompt tokens a user", "tokens of the prompts for one user by mnemic's own count; HERO's paper counts "
           "182,269 for a conversation of LoCoMo", ("build", "prompt_tokens_per_user"), whole),
)  # fmt: skip


USAGE: Final = (
    Column("calls", "replies of a language model for that purpose", ("calls",), whole),
    Column("tokens in", "tokens sent to it", ("tokens_in",), whole),
    Column("tokens out", "tokens it wrote", ("tokens_out",), whole),
    Column("unreadable", "replies that were declined, or not what was asked for", ("unreadable",), whole),
)


def build(records: Sequence[Record]) -> list[Column]:
    """What taking the conversations in cost, by stage, and what came of it; stages and counts as the systems have."""
    stages = [
        Column(f"{stage}, CPU s", "processor time of that stage", ("build", "stages", stage), small)
        for stage in _keys(records, "build", "stages")
    ]
    counts = [
        Column(count, "how many of them all users have together", ("build", "counts", count), whole)
        for count in _keys(records, "build", "counts")
    ]
    return [*_BUILD, *stages, *counts]


SPEED: Final = (
    Column("users", "users in the store", ("users",), whole),
    Column("turns", "turns of each of them", ("turns",), whole),
    Column("add one, CPU ms", "processor time of taking in one more turn, without embedding it: the median",
           ("add_one_ms",), small),
    Column("search CPU ms p50", "processor time of a search, without embedding the question: the median",
           ("search_cpu_ms", "p50"), small),
    Column("search CPU ms p95", "the 95th percentile of the same", ("search_cpu_ms", "p95"), small),
    Column("search wall ms", "time of a search by the clock, embedding the question included: the median",
           ("search_wall_ms",), small),
    Column("search after an add", "processor time, without embedding, of the first search after one more turn: the "
           "median", ("search_after_add_ms",), small),
    Column("restart ms", "from a new process to its first answer", ("restart_ms",), small),
    Column("resident MB", "memory of the process at the end, libraries and models included", ("rss_mb",), whole),
    Column("MB on disk", "what lies on disk", ("bytes",), megabytes),
)  # fmt: skip

_MULTI_HOP: Final = ("by_category", "multi-hop", "turn")
OVERVIEW: Final = (
    Column("trace R@5", "mean share of a question's evidence turns within the first 5 traces",
           ("trace", "fraction", "5"), share, True, ("trace", "interval", "fraction", "5")),
    Column("trace R@10", "the same within the first 10",
           ("trace", "fraction", "10"), share, True, ("trace", "interval", "fraction", "10")),
    Column("any@5", "share of questions with at least one evidence turn within the first 5 traces",
           ("trace", "hit_any", "5"), share, True),
    Column("any@10", "the same within the first 10", ("trace", "hit_any", "10"), share, True),
    Column("turn R@10", "mean share of a question's evidence turns within the first 10 turns",
           ("turn", "fraction", "10"), share, True, ("turn", "interval", "fraction", "10")),
    Column("multi-hop turn R@10", "the same of the multi-hop questions",
           (*_MULTI_HOP, "fraction", "10"), share, True, (*_MULTI_HOP, "interval", "fraction", "10")),
    Column("AUROC", "chance that an answerable question gets a higher relevance than an unanswerable one",
           ("abstention", "auroc"), share, True),
    Column("CPU ms", "processor time of a search, the median", ("cpu_ms", "p50"), small),
    Column("tokens", "mean tokens of the first 10 hits over all questions", ("tokens_per_query",), whole),
)  # fmt: skip
"""The few numbers by which systems are told apart at a glance."""


SCORES: Final[Mapping[str, tuple[str, str]]] = {
    "judge_lenient": ("judge, lenient", "replies that a language model calls right, being generous"),
    "judge_strict": ("judge, strict", "replies that a language model calls right, being strict"),
    "judge_longmemeval": ("judge", "replies that a language model calls right by LongMemEval's rules"),
    "accuracy": ("accuracy", "replies that choose the right option, by HERO's reading of a reply"),
    "accuracy_personamem": ("accuracy (PersonaMem)", "the same by PersonaMem's own reading"),
    "accuracy_evermemos": ("accuracy (EverMemOS)", "the same by EverMemOS' reading: the first letter in parentheses"),
    "f1_mem0": ("F1 (mem0)", "F1 of the sets of words of reply and gold answer, as mem0's code has it"),
    "f1_locomo": ("F1 (LoCoMo)", "F1 of their stemmed words, by category, as LoCoMo's code has it"),
    "bleu1": ("BLEU-1", "words of the reply that stand in the gold answer, short replies punished"),
}
"""Score of a reply -> heading, meaning; the ones that say most first."""


def answering(records: Sequence[Record]) -> list[Column]:
    """How well replies were and what they took, as ``answers.summarise`` sums it up; purposes as the results have."""
    scores = [Column(head, meaning, (name,), share, True) for name, (head, meaning) in SCORES.items()]
    usage = [
        Column(f"{purpose} {words}", meaning, ("usage", purpose, key), whole)
        for purpose in _keys(records, "usage")
        for words, key, meaning in (
            ("calls", "calls", "replies of that model that the scores rest on, cached ones too"),
            ("tokens in", "tokens_in", "tokens it read for them"),
            ("tokens out", "tokens_out", "tokens it wrote"),
        )
    ]
    return [
        Column("n", "questions with a reply", ("n",), whole),
        Column("failed", "questions without one, because every call failed; they are in no mean", ("failed",), whole),
        *scores,
        Column("mean over types", "the judge's score, each type of question as heavy as the others",
               ("longmemeval", "mean_over_types"), share, True),
        Column("unanswerable", "the judge's score of the questions that the memory does not answer",
               ("longmemeval", "unanswerable", "judge_longmemeval"), share, True),
        *(
            Column(f"wrong accepted, {judge.removeprefix('judge_')}",
                   "answers wrong on purpose that this judge calls right", ("judge_checks", judge, "rate"),
                   share)
            for judge in _keys(records, "judge_checks")
        ),
        Column("evidence tokens", "mean tokens of what the model was shown of the memory", ("evidence_tokens",), whole),
        *usage,
        Column("money", "for all of these, at the prices given", ("usage", "money"), small),
    ]  # fmt: skip


def _metric(where: tuple[str, ...], metric: str, k: str, head: str, meaning: str, wide: bool) -> Column:
    interval = (*where, "interval", metric, k) if wide else ()
    return Column(head, f"{meaning} within the first k hits", (*where, metric, k), share, True, interval)


def _keys(records: Sequence[Record], *path: str) -> list[str]:
    return list(dict.fromkeys(key for record in records for key in inner(record, *path)))
