"""Answer metrics that need no model: F1 twice, BLEU-1, and LoCoMo's phrase match (methods.md 4.2).

All are of one question, 0 to 1; averages are over questions.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from math import exp

from mnemic.bench.answers import words

_MEM0_MARKS = re.compile(r"[.,!?]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LEFT_OUT = re.compile(r"\b(?:a|an|the|and)\b")
_UNAVAILABLE = ("no information available", "not mentioned")


def f1_mem0(prediction: str, gold: str) -> float:
    """F1 of two sets of words: mem0's, A-MEM's and HiMem's, and the one taken to be HERO's (methods.md A33).

    Lower case; ``. , ! ?`` are spaces, every other mark stays on its word; a word counts once however often it stands.
    0 where either text has no word. Source: mem0 ``evaluation/metrics/utils.py`` (``calculate_metrics``).
    """
    said, wanted = (set(_MEM0_MARKS.sub(" ", text.lower()).split()) for text in (prediction, gold))
    return _f1(len(said & wanted), len(said), len(wanted))


def f1_locomo(prediction: str, gold: str, category: str) -> float:
    """LoCoMo's official score of one question, which depends on its category.

    ``multi-hop`` (1): gold and prediction are split at commas, and the mean over the gold's parts of the best F1 that
    any predicted part has with it counts. ``open-domain`` (3): the gold ends at its first semicolon. ``adversarial``
    (5): ``says_unavailable``, whatever the gold. Every other one: one F1. Source: snap-research/locomo
    ``task_eval/evaluation.py`` (``eval_question_answering``).

    Raises:
        MissingExtra: NLTK is not installed.
    """
    if category == "adversarial":
        return says_unavailable(prediction)
    if category == "multi-hop":
        parts = [_stems(part) for part in prediction.split(",")]
        scores = [max(_f1_of(part, _stems(wanted)) for part in parts) for wanted in gold.split(",")]
        return sum(scores) / len(scores)
    if category == "open-domain":
        gold = gold.split(";")[0]
    return _f1_of(_stems(prediction), _stems(gold))


def says_unavailable(prediction: str) -> float:
    """1 where a reply holds one of the two phrases that LoCoMo accepts for a question without an answer, else 0."""
    return float(any(phrase in prediction.lower() for phrase in _UNAVAILABLE))


def bleu1(prediction: str, gold: str) -> float:
    """Sentence BLEU of unigrams against one reference, with NLTK's brevity penalty, over NLTK's lower-case tokens.

    Closed form of ``sentence_bleu(weights=(1, 0, 0, 0))`` with smoothing method 1: 0 where no token matches, else the
    share of the prediction's tokens that match (each as often as the reference has it), times exp(1 - r / p) where
    the prediction (p tokens) is shorter than the reference (r). Source: mem0 ``evaluation/metrics/utils.py``.

    Raises:
        MissingExtra: NLTK is not installed.
    """
    said, wanted = words.tokenize(prediction.lower()), words.tokenize(gold.lower())
    matches = (Counter(said) & Counter(wanted)).total()
    if not matches:
        return 0.0
    penalty = exp(1 - len(wanted) / len(said)) if len(said) < len(wanted) else 1.0
    return matches / len(said) * penalty


def _stems(text: str) -> list[str]:
    """The words of a text as LoCoMo compares them: no commas, lower case, no punctuation, no articles or ``and``."""
    plain = text.replace(",", "").lower().translate(_PUNCTUATION)
    return [words.stem(word) for word in _LEFT_OUT.sub(" ", plain).split()]


def _f1_of(said: Sequence[str], wanted: Sequence[str]) -> float:
    return _f1((Counter(said) & Counter(wanted)).total(), len(said), len(wanted))


def _f1(common: int, said: int, wanted: int) -> float:
    return 2 * common / (said + wanted) if common else 0.0
