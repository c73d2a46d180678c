"""From stored words to what language models make of them: cues, notes and episodes, and how notes change."""

from mnemic.enrich.episodes import segment
from mnemic.enrich.passage import Passage, is_open, read
from mnemic.enrich.reconcile import Judged, changed, judge, quotations, quotes, taken_back
from mnemic.enrich.stages import distil
from mnemic.enrich.traces import TraceCues, read_traces

__all__ = [
    "Judged",
    "Passage",
    "TraceCues",
    "changed",
    "distil",
    "is_open",
    "judge",
    "quotations",
    "quotes",
    "read",
    "read_traces",
    "segment",
    "taken_back",
]
