"""What a run that answers questions leaves: numbers and ids, no text of a data set and none of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mnemic.bench.answers.checks import Check
from mnemic.bench.answers.judge import Judge
from mnemic.bench.answers.model import Call, CallPurpose
from mnemic.bench.records import DatasetName, Half, Level, Split
from mnemic.errors import InvalidInput
from mnemic.models.prices import Price
from mnemic.prompts.short_answer import Variant
from mnemic.types import Json

Form = Literal["formatted", "prose", "truncated", "refused"]
"""How an answer came. ``prose``: not in the format that was asked for, so the whole reply is the answer. ``truncated``:
cut by the limit of tokens. ``refused``: declined by the provider."""

TOP_K: Mapping[DatasetName, int] = {"locomo": 10, "personamem": 40, "longmemeval": 10}
"""k of HERO for the first two (methods.md 1.7); LongMemEval is in neither paper."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How questions are answered.

    Attributes:
        top_k: How many hits a system is asked for; None for the data set's own (``TOP_K``).
        level: What a hit is, where the system has that level; else the first that it has.
        variant: LoCoMo's reading of relative time.
        evidence_tokens: Budget of what is shown of each system, by ``algo.tokens.count``: whole hits, best first; None
            for no limit.
        unanswerable: Ask LoCoMo's category 5 too, which both papers leave out; every prompt then allows "No
            information available".
        answer_tokens: Limit of an answer, its reasoning included.
        judge_tokens: Limit of a judgement; None for 256, and the 10 of LongMemEval's authors. A model that thinks
            before it speaks needs more.
        jobs: How many requests are under way at a time.
        tries: How often a request that fails is made.
        judge_checks: How many answers that are wrong on purpose each judge is asked about, to tell how often it accepts
            one; 0 for none.
        trial: 1 for the first run; the replies of another trial are asked for again.
        outage: After so many questions in a row without any reply the run stops; what was answered is cached.
    """

    top_k: int | None = None
    level: Level = "trace"
    variant: Variant = "paper"
    evidence_tokens: int | None = None
    unanswerable: bool = False
    answer_tokens: int = 1024
    judge_tokens: int | None = None
    judge_checks: int = 50
    jobs: int = 4
    tries: int = 5
    trial: int = 1
    outage: int = 10

    def __post_init__(self) -> None:
        """Check the ranges. Raises InvalidInput."""
        for name in ("top_k", "evidence_tokens", "answer_tokens", "judge_tokens", "jobs", "tries", "trial", "outage"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} must be at least 1, not {value}")
        if self.judge_checks < 0:
            raise InvalidInput(f"judge_checks must be at least 0, not {self.judge_checks}")
        if self.variant not in ("paper", "resolve"):
            raise InvalidInput(f"there are the variants paper and resolve, not {self.variant!r}")


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """How one question was answered.

    Attributes:
        scores: Name -> 0 to 1: ``f1_mem0``, ``f1_locomo``, ``bleu1``, the judges, PersonaMem's ``accuracy`` and its
            other rules (``accuracy_personamem``, ``accuracy_evermemos``). A score that does not apply, or that failed,
            is absent.
        letter: The option chosen in PersonaMem, by HERO's rule.
        form: How the answer came; None where none came.
        hits: How many hits were shown, of all systems.
        evidence_tokens: Their size by ``algo.tokens.count``.
        unreadable: How many judgements said neither yes nor no; they count as wrong.
        calls: Of the answer, then of the judgements.
    """

    question_id: str
    user_id: str
    half: Half
    category: str
    answerable: bool
    scores: Mapping[str, float]
    letter: str | None
    form: Form | None
    hits: int
    evidence_tokens: int
    unreadable: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """One system, answering one data set's questions with one model.

    Attributes:
        system: Its name; ``a+b`` where b's evidence was shown beside a's.
        configuration: The system's, and the settings and prompts of answering.
        models: Purpose -> the model's name; no ``judge`` where nobody judged.
        rows: In the order of the questions.
        errors: Why calls failed -> how many did: for a person to read, not for a file of results, since a provider may
            quote the prompt.
        prices: Purpose -> price, where given.
        checks: Judge -> what it made of answers that are wrong on purpose; empty where nobody judged.
        check_calls: Of the judges, for that.
    """

    dataset: DatasetName
    split: Split
    system: str
    configuration: Mapping[str, Json]
    checksum: str
    gold: str
    models: Mapping[CallPurpose, str]
    rows: tuple[AnswerRow, ...]
    trial: int = 1
    errors: Mapping[str, int] = field(default_factory=dict[str, int])
    prices: Mapping[CallPurpose, Price] = field(default_factory=dict["CallPurpose", "Price"])
    checks: Mapping[Judge, Check] = field(default_factory=dict["Judge", "Check"])
    check_calls: tuple[Call, ...] = ()
