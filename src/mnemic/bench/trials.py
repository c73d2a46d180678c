"""Several runs of one system on one data set, as the mean and the standard deviation of every number."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, stdev

from mnemic.bench.summary import Summary, rounded
from mnemic.errors import InvalidInput
from mnemic.types import Json

_SAME = ("dataset", "split", "system", "gold", "checksum")
_NUMBERS = (
    "n",
    "trace",
    "turn",
    "session",
    "by_category",
    "by_half",
    "abstention",
    "tokens_per_query",
    "asking",
    "latency_without_models_ms",
    "tokens_at",
    "latency_ms",
    "cpu_ms",
    "rss_mb",
    "build",
)


def over_trials(summaries: Sequence[Summary]) -> Summary:
    """Mean and sample standard deviation (n - 1) over trials.

    Args:
        summaries: Of two trials or more of one system on one data set.

    Returns:
        What they are of, ``trials`` (how many), and under ``mean`` and ``std`` the numbers in the shape of a summary,
        without the bootstrap intervals. A number that a trial lacks is null in both.

    Raises:
        InvalidInput: They are fewer than two, or not of the same system on the same data.
    """
    if len(summaries) < 2:
        raise InvalidInput(f"a standard deviation needs two trials or more, not {len(summaries)}; run more (--trials)")
    for key in _SAME:
        if len(values := sorted({str(summary.get(key)) for summary in summaries})) > 1:
            raise InvalidInput(f"trials of one system have one {key}, not {', '.join(values)}; sum these up apart")
    kept: list[Json] = [{name: summary[name] for name in _NUMBERS if name in summary} for summary in summaries]
    mean, deviation = _both(kept)
    return {
        **{key: summaries[0][key] for key in _SAME},
        "trials": len(summaries),
        "mean": mean,
        "std": deviation,
    }


def _both(values: Sequence[Json]) -> tuple[Json, Json]:
    if any(isinstance(value, dict) for value in values):
        parts = [value if isinstance(value, dict) else {} for value in values]
        # In the order of the first that has it; an interval of a mean is not a number of the trial.
        names = dict.fromkeys(name for part in parts for name in part if name != "interval")
        both = {name: _both([part.get(name) for part in parts]) for name in names}
        return {name: mean for name, (mean, _) in both.items()}, {name: std for name, (_, std) in both.items()}
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    if len(numbers) < len(values):
        return None, None
    return rounded(fmean(numbers)), rounded(stdev(numbers))
