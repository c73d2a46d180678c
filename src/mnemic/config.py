"""Small frozen settings, and the only place that touches the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from mnemic.types import Cut, Purpose

BudgetName = Literal["call", "user_day", "total"]

_ANY = float("inf")
_RULES_OR_MODEL = ("rules", "model")
_SILENCED = ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY")


def silence_libraries() -> None:
    """Keep the libraries that are about to be loaded from reporting their use to anybody.

    onnxruntime (seen in 1.30 and 1.32) makes a device id under the home folder at import and sends usage events,
    unless this variable says otherwise; a value that the user has set stands.
    """
    for variable in _SILENCED:
        os.environ.setdefault(variable, "1")


@dataclass(frozen=True, slots=True)
class Environment:
    """What the environment says; empty variables count as unset."""

    database: str | None
    user: str | None
    data: Path
    models: Mapping[str, str]
    prices: Mapping[str, str]
    budgets: Mapping[str, str]
    model_key: str | None
    snapshots: str | None
    snapshot_bytes: str | None
    ollama_url: str

    @classmethod
    def read(cls) -> Environment:
        """Read the variables.

        ``MNEMIC_DB``, ``MNEMIC_USER``; ``MNEMIC_DATA``: benchmark data, ``../shared/data`` without it.
        ``MNEMIC_MODEL`` and ``MNEMIC_PRICE``, for all purposes, under ``""``; ``MNEMIC_MODEL_NOTES`` and so on, under
        ``notes``. ``MNEMIC_BUDGET_CALL``, ``_USER_DAY`` and ``_TOTAL``, under ``call`` and so on.
        ``MNEMIC_SNAPSHOTS`` and ``MNEMIC_SNAPSHOT_BYTES``: as in ``Memory.open``. ``MNEMIC_MODEL_KEY``: of an
        ``openai-compatible`` server. ``OLLAMA_BASE_URL``.
        """
        return cls(
            database=os.environ.get("MNEMIC_DB") or None,
            user=os.environ.get("MNEMIC_USER") or None,
            data=Path(os.environ.get("MNEMIC_DATA") or "../shared/data"),
            models=_named("MNEMIC_MODEL", ("", *get_args(Purpose))),
            prices=_named("MNEMIC_PRICE", ("", *get_args(Purpose))),
            budgets=_named("MNEMIC_BUDGET", get_args(BudgetName)),
            model_key=os.environ.get("MNEMIC_MODEL_KEY") or None,
            snapshots=os.environ.get("MNEMIC_SNAPSHOTS") or None,
            snapshot_bytes=os.environ.get("MNEMIC_SNAPSHOT_BYTES") or None,
            ollama_url=os.environ.get("OLLAMA_BASE_URL") or "http://127.0.0.1:11434/v1",
        )


def _named(prefix: str, names: Iterable[str]) -> dict[str, str]:
    """Name -> value of the variables that are set; the empty name is the prefix itself."""
    found = {name: os.environ.get(f"{prefix}_{name}".upper().rstrip("_")) for name in names}
    return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class Hero:
    """The ``hero`` configuration: the paper, literally, with the readings of methods.md sections 1.3, 1.7 and 6.1.

    Attributes:
        tau_init, tau_alias, tau_iter: Cosine thresholds; None takes the embedder's calibrated one.
        thresholds: ``quantile`` sets tau_init and tau_iter for each question instead: so that about 8 cues are
            anchors and a tenth of the contexts pass (A10).
        rounds: K; 0 is the paper's no-expansion ablation.
        seeds: m_seed, anchors per entity at most; None for all over tau_init.
        alpha: Weight of a trace's own similarity in phase 3.
        trace_restart: w_T, the traces' share of the restart vector.
        follow: d, the probability of following an edge.
        profile: False is the no-profile ablation.
        ppr: False ranks by the activation W(t) alone.
        directed: Edges only from cue to trace and from trace to the next.
        names: ``strip`` leaves the participants' names out of the embedded question.
        query_cues: ``model``: a language model finds the question's cues, by one call (R0).
    """

    tau_init: float | None = None
    tau_alias: float | None = None
    tau_iter: float | None = None
    thresholds: Literal["fixed", "quantile"] = "fixed"
    rounds: int = 2
    seeds: int | None = 10
    alpha: float = 2.0
    trace_restart: float = 1.0
    follow: float = 0.5
    profile: bool = True
    ppr: bool = True
    directed: bool = False
    names: Literal["keep", "strip"] = "keep"
    query_cues: Literal["rules", "model"] = "rules"

    def __post_init__(self) -> None:
        """Check the ranges. Raises ValueError."""
        _check(self, follow=(0.0, 0.999), alpha=(0.0, _ANY), trace_restart=(0.0, _ANY), rounds=(0, _ANY))
        _check(self, seeds=(1, _ANY), tau_init=(-1.0, _ANY), tau_alias=(-1.0, _ANY), tau_iter=(-1.0, _ANY))
        _check_words(self, thresholds=("fixed", "quantile"), names=("keep", "strip"), query_cues=_RULES_OR_MODEL)


@dataclass(frozen=True, slots=True)
class Fusion:
    """The ``default`` configuration: a weighted sum of signals, measured in docs/decisions/0003-retrieval.md.

    Attributes:
        unit: Cosine of the question to a sentence.
        asking: What that cosine is less for a sentence that is a question itself: it seeks what is sought.
        lexical: BM25 of a turn with the one before it, as a share of the best.
        speaker: The one who speaks is exactly the one whom the question names; three tenths of it where the words of
            somebody else name them.
        date: Nearness to a time that the question names.
        order: How late, or early, something was said, where the question asks for the last or the first time; less
            the less it is about the question.
        note: Cosine of the question to a given note that rests on a sentence, in words other than the sentence's.
        trace: Cosine of the question to the whole trace.
        graph: PageRank over HERO's graph, restarted at the best traces by the other signals and at the activated
            cues, as a share of the best.
        beside: What the better of the two traces beside it in its session counts, against a trace's own score.
        spread: How many of the best traces PageRank restarts at.
        cue_restart: The cues' restart mass as a multiple of the traces'.
        follow: d of that walk.
        rounds: K of the activation.
        date_scale_days: Gap at which the date signal falls to a half.
        relative_date: Weight of a time that the question names relative to now, against an absolute one.
        query_cues: ``model``: a language model finds the question's cues, by one call.
    """

    unit: float = 1.0
    asking: float = 0.6
    lexical: float = 0.4
    speaker: float = 0.5
    date: float = 0.8
    order: float = 0.3
    note: float = 0.2
    trace: float = 0.6
    graph: float = 0.4
    beside: float = 0.2
    spread: int = 10
    cue_restart: float = 0.3
    follow: float = 0.5
    rounds: int = 1
    date_scale_days: float = 7.0
    relative_date: float = 0.25
    query_cues: Literal["rules", "model"] = "rules"

    def __post_init__(self) -> None:
        """Check the ranges. Raises ValueError."""
        signals = ("unit", "lexical", "speaker", "date", "order", "note", "trace", "graph", "beside")
        weights = (*signals, "asking", "cue_restart", "rounds")
        _check(self, **dict.fromkeys(weights, (0.0, _ANY)))
        _check(self, spread=(1, _ANY), follow=(0.0, 0.999))
        _check(self, date_scale_days=(1e-6, _ANY), relative_date=(0.0, 1.0))
        _check_words(self, query_cues=_RULES_OR_MODEL)


def _check(settings: object, **ranges: tuple[float, float]) -> None:
    """Whether fields lie in their ranges, ends included; None is left alone."""
    for name, (low, high) in ranges.items():
        value = getattr(settings, name)
        if value is not None and not low <= value <= high:
            span = f"at least {low:g}" if high == _ANY else f"between {low:g} and {high:g}"
            raise ValueError(f"{type(settings).__name__}: {name} must be {span}, not {value!r}")


def _check_words(settings: object, **allowed: tuple[str | None, ...]) -> None:
    """Whether fields have one of their values."""
    for name, values in allowed.items():
        if getattr(settings, name) not in values:
            raise ValueError(f"{type(settings).__name__}: {name} is one of {', '.join(map(repr, values))}")


@dataclass(frozen=True, slots=True)
class Limit:
    """What may be spent: tokens in and out, calls, and money in the currency of the prices; None for no limit."""

    tokens: int | None = None
    calls: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        """Check the ranges. Raises ValueError."""
        _check(self, tokens=(0, _ANY), calls=(0, _ANY), cost=(0.0, _ANY))


@dataclass(frozen=True, slots=True)
class Budgets:
    """What language models may spend: a call (its ``calls`` means nothing), a user on one day (UTC), and in total."""

    call: Limit = Limit()
    user_day: Limit = Limit()
    total: Limit = Limit()


@dataclass(frozen=True, slots=True)
class Enriching:
    """What language models make of what is added, where there is one for the purpose; else local rules do.

    Attributes:
        cues: ``model``: HERO's reading of each trace adds cues to those that rules find (methods.md 1.2 C4).
        notes: ``session``: HiMem's three stages, a session and speaker (2.4); ``trace``: HERO's profile extraction, a
            trace, in one call with its cues (1.2 C3); ``rules``: quotations only.
        align: The third stage of ``session``.
        episodes: ``model``: HiMem's one call a session (2.3).
        cut: Where an episode begins by that call: ``either`` the topic turns or something surprises; where the
            ``topic`` turns alone; or only where the session as a whole turns (``coarse``).
        align_topics: Whether an episode's topic is chosen among known ones (2.3).
        conflicts: Who says how a new note relates to known ones: a ``model``, ``rules``, or None for nobody: all are
            added, as in HERO.
        check_facts: False leaves facts out of that, as in HiMem's authors' code.
        approve: Whether changes wait for a person.
        batch: Traces that one call reads at most.
        settle_s: Seconds that new words wait for more of their session before they are read.
        lease_s: Seconds after which work that a process began, and does not answer for any more, is begun by another;
            whoever has waited for it for 20 seconds without a sign of life need not wait longer.
        tries: How often work is begun before it has failed.
    """

    cues: Literal["rules", "model"] = "rules"
    notes: Literal["rules", "trace", "session"] = "session"
    align: bool = True
    episodes: Literal["rules", "model"] = "model"
    cut: Cut = "either"
    align_topics: bool = True
    conflicts: Literal["model", "rules"] | None = "model"
    check_facts: bool = True
    approve: bool = False
    batch: int = 12
    settle_s: float = 20.0
    lease_s: float = 120.0
    tries: int = 5

    def __post_init__(self) -> None:
        """Check the ranges. Raises ValueError."""
        _check_words(self, cues=_RULES_OR_MODEL, notes=("rules", "trace", "session"), episodes=_RULES_OR_MODEL)
        _check_words(self, conflicts=(*_RULES_OR_MODEL, None), cut=get_args(Cut))
        _check(self, batch=(1, _ANY), settle_s=(0.0, _ANY), lease_s=(1.0, _ANY), tries=(1, _ANY))


Configuration = Hero | Fusion
"""What ``search(config=…)`` takes, besides the names ``hero`` and ``default``."""
