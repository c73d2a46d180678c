"""What the answers of one system come to, in numbers that can go into a file of results.

Means are over questions (micro), overall and by category (methods.md 4.2). A question without an answer, because every
call failed, is in no mean and is counted under ``failed``; it is never a wrong answer. A score that nobody gave is
absent: without a judge there is no judge's score, and nothing stands in for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from mnemic.bench.answers.model import Call
from mnemic.bench.answers.records import AnswerOutcome, AnswerRow
from mnemic.bench.summary import rounded
from mnemic.models.prices import Price
from mnemic.types import Json

_SCORES = (
    *("f1_mem0", "f1_locomo", "bleu1", "judge_lenient", "judge_strict", "judge_longmemeval"),
    *("accuracy", "accuracy_personamem", "accuracy_evermemos"),
)
"""In the order of the reports."""
_JUDGE = "judge_longmemeval"


def summarise(outcome: AnswerOutcome) -> dict[str, Json]:
    """Sum up one outcome.

    Returns:
        What it is of, and: ``n`` (questions with an answer), ``failed`` (without), the means of the scores, all again
        under ``by_category`` and, where both halves were asked, ``by_half``; LoCoMo's unanswerable questions apart
        under ``unanswerable``, in no overall mean; LongMemEval's mean over its types and its unanswerable questions
        under ``longmemeval``; how often a judge accepts wrong answers under ``judge_checks``; ``evidence_tokens`` a
        question; ``usage`` by purpose. Tokens and money are of every reply that the scores rest on, whether it was
        asked for now or taken from the cache: a second run gives them again. ``calls_made`` and ``retries`` are of this
        run.
    """
    overall = _overall(outcome)
    summary: dict[str, Json] = {
        "dataset": outcome.dataset,
        "split": outcome.split,
        "system": outcome.system,
        "trial": outcome.trial,
        "gold": outcome.gold,
        "models": {purpose: name for purpose, name in outcome.models.items()},
        **_block(overall),
        "by_category": {
            category: _block([row for row in overall if row.category == category])
            for category in sorted({row.category for row in overall})
        },
    }
    halves = {half: [row for row in overall if row.half == half] for half in ("dev", "test")}
    if all(halves.values()):
        summary["by_half"] = {half: _block(rows) for half, rows in halves.items()}
    if outcome.dataset == "locomo" and (apart := [row for row in outcome.rows if not row.answerable]):
        summary["unanswerable"] = _block(apart)
    if outcome.dataset == "longmemeval" and "judge" in outcome.models:
        summary["longmemeval"] = _longmemeval(outcome.rows)
    return {
        **summary,
        "evidence_tokens": rounded(fmean(row.evidence_tokens for row in outcome.rows)) if outcome.rows else None,
        **_checks(outcome),
        "usage": _usage(outcome),
        "configuration": dict[str, Json](outcome.configuration),
        "checksum": outcome.checksum,
    }


def _overall(outcome: AnswerOutcome) -> list[AnswerRow]:
    """LoCoMo's overall rows are its 1,540 answerable questions; LongMemEval's are all."""
    return [row for row in outcome.rows if row.answerable or outcome.dataset != "locomo"]


def _block(rows: Sequence[AnswerRow]) -> dict[str, Json]:
    """Counts and means of some rows; a score is there where any of them has it."""
    answered = [row for row in rows if row.form is not None]
    scores: dict[str, Json] = {
        name: rounded(fmean(values))
        for name in _SCORES
        if (values := [row.scores[name] for row in answered if name in row.scores])
    }
    return {
        "n": len(answered),
        "failed": len(rows) - len(answered),
        **scores,
        "forms": {
            form: sum(row.form == form for row in answered) for form in ("formatted", "prose", "truncated", "refused")
        },
        "judgements": {
            "read": sum(_judged(row) for row in answered) - sum(row.unreadable for row in answered),
            "unreadable": sum(row.unreadable for row in answered),
            "failed": sum(call.finish == "failed" for row in answered for call in row.calls),
        },
    }


def _judged(row: AnswerRow) -> int:
    return sum(call.purpose == "judge" and call.finish != "failed" for call in row.calls)


def _longmemeval(rows: Sequence[AnswerRow]) -> dict[str, Json]:
    """The mean over the types, each as heavy as the others, and the judge's score of the unanswerable questions.

    Source: xiaowu0162/LongMemEval ``src/evaluation/print_qa_metrics.py``; the types include their ``_abs`` questions.
    """
    judged = [row for row in rows if _JUDGE in row.scores]
    types = sorted({row.category for row in judged})
    unanswerable = [row.scores[_JUDGE] for row in judged if not row.answerable]
    means = [fmean(row.scores[_JUDGE] for row in judged if row.category == one) for one in types]
    return {
        "types": len(types),
        "mean_over_types": rounded(fmean(means)) if means else None,
        "unanswerable": {"n": len(unanswerable), _JUDGE: rounded(fmean(unanswerable)) if unanswerable else None},
    }


def _checks(outcome: AnswerOutcome) -> dict[str, Json]:
    """How often each judge took an answer that is wrong on purpose for a right one, where any judged."""
    found: dict[str, Json] = {
        judge: {
            "wrong_answers": one.judged,
            "accepted": one.accepted,
            "rate": rounded(one.accepted / one.judged) if one.judged else None,
        }
        for judge, one in outcome.checks.items()
    }
    return {"judge_checks": found} if found else {}


def _usage(outcome: AnswerOutcome) -> dict[str, Json]:
    """By purpose, and the money of all of them where each has a price."""
    usage: dict[str, Json] = {}
    total: float | None = 0.0
    for purpose in outcome.models:
        made = [*(call for row in outcome.rows for call in row.calls), *outcome.check_calls]
        calls = [call for call in made if call.purpose == purpose]
        money = _money(calls, outcome.prices.get(purpose))
        total = None if total is None or money is None else total + money
        usage[purpose] = {
            "calls": sum(call.finish != "failed" for call in calls),
            "failed": sum(call.finish == "failed" for call in calls),
            "tokens_in": sum(call.tokens_in for call in calls),
            "tokens_out": sum(call.tokens_out for call in calls),
            "money": None if money is None else rounded(money),
            "calls_made": sum(not call.cached and call.finish != "failed" for call in calls),
            "retries": sum(call.retries for call in calls),
        }
    return {**usage, "money": None if total is None else rounded(total)}


def _money(calls: Sequence[Call], price: Price | None) -> float | None:
    if price is None:
        return None
    return price.of(sum(call.tokens_in for call in calls), sum(call.tokens_out for call in calls))
