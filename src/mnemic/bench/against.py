"""Every system of a report against one of them, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from mnemic.bench.columns import LEVEL_WORDS, share
from mnemic.bench.compare import SIGNIFICANT
from mnemic.bench.differences import OVERALL, SESSION, Change, by_rows
from mnemic.bench.records import DatasetName, Row
from mnemic.bench.statistics import holm
from mnemic.bench.tables import MISSING, Table

_PREFERRED: Final = "rrf"
_OVERALL: Final = ("fraction@5", "fraction@10", "hit_any@10", *SESSION, "auroc")
_BY_CATEGORY: Final = ("fraction@10", "recall_all@10")
_HEADS: Final = {"fraction@5": "R@5", "fraction@10": "R@10", "hit_any@10": "any@10", "auroc": "AUROC"}


def baseline_of(systems: Sequence[str]) -> str:
    """What the others are compared with where nobody says: ``rrf``, else the first."""
    return _PREFERRED if _PREFERRED in systems else systems[0]


def differences(
    systems: Mapping[str, Sequence[Sequence[Row]]], baseline: str, dataset: DatasetName
) -> dict[str, Table]:
    """How much better each system is than the baseline.

    Args:
        systems: Name -> the rows of each of its trials, none empty; all were asked the same questions.
        baseline: One of them.
        dataset: Whose metrics.

    Returns:
        What was measured (``trace level``) -> table of differences: over all questions with their 95 % interval, by
        category without; ▲ and ▼ at those beyond noise, all p values adjusted together by Holm's method.

    Raises:
        InvalidInput: They were not asked the same questions.
    """
    found = {
        name: [change for change in by_rows(systems[baseline], trials, dataset) if _told(change)]
        for name, trials in systems.items()
        if name != baseline
    }
    adjusted = iter(holm([change.p for changes in found.values() for change in changes if change.p is not None]))
    judged = {
        name: [replace(change, p_holm=p) for change, p in zip(changes, islice(adjusted, len(changes)), strict=True)]
        for name, changes in found.items()
    }
    levels = dict.fromkeys(change.level for changes in judged.values() for change in changes)
    return {_words(level): _table(level, judged) for level in levels}


def _told(change: Change) -> bool:
    return change.metric in (_OVERALL if change.category == OVERALL else _BY_CATEGORY) and change.p is not None


def _table(level: str, systems: Mapping[str, Sequence[Change]]) -> Table:
    own = {
        name: {(change.category, change.metric): change for change in changes if change.level == level}
        for name, changes in systems.items()
    }
    columns = list(dict.fromkeys(key for cells in own.values() for key in cells))
    sizes = {category: change.n for cells in own.values() for (category, _), change in cells.items()}
    columns.sort(key=lambda key: (key[0] != OVERALL, -sizes[key[0]]))
    heads = [_head(category, metric) for category, metric in columns]
    rows = tuple((name, *(_cell(cells.get(key)) for key in columns)) for name, cells in own.items() if cells)
    return Table(("system", *heads), rows)


def _head(category: str, metric: str) -> str:
    head = _HEADS.get(metric, metric)
    return head if category == OVERALL else f"{category} {head}"


def _cell(change: Change | None) -> str:
    if change is None:
        return MISSING
    mark = ""
    if change.p_holm is not None and change.p_holm <= SIGNIFICANT:
        mark = " ▲" if change.difference > 0 else " ▼"
    between = ""
    if change.category == OVERALL and change.low is not None and change.high is not None:
        between = f" [{_signed(change.low)}, {_signed(change.high)}]"
    return f"{_signed(change.difference)}{between}{mark}"


def _signed(value: float) -> str:
    written = share(value)
    return written if written.startswith("-") else f"+{written}"


def _words(level: str) -> str:
    if level.startswith("session/"):
        return f"sessions, in the order of their best {level.removeprefix('session/')}"
    return {str(name): words for name, words in LEVEL_WORDS.items()}.get(level, level)
