"""From a question to evidence."""

from mnemic.retrieve.episodes import described
from mnemic.retrieve.evidence import block, evidence, spans_of
from mnemic.retrieve.explain import paths
from mnemic.retrieve.question import Question, understand
from mnemic.retrieve.rank import Ranking, rank, useful

__all__ = ["Question", "Ranking", "block", "described", "evidence", "paths", "rank", "spans_of", "understand", "useful"]
