"""Language models in a search: the cues of its question, and the order of its hits."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mnemic.algo import cues
from mnemic.errors import ModelError, RerankingFailed
from mnemic.prompts import query as query_page
from mnemic.prompts import rerank as rerank_page
from mnemic.protocols import LanguageModel
from mnemic.types import CueMention


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """A ``CueExtractor`` for one question, whose cues are known already."""

    name: str
    found: tuple[CueMention, ...]

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """The cues, for the question alone; participants are no topics."""
        people = {cues.normalise(name) for name in names}
        return [[mention for mention in self.found if mention.key not in people] for _ in texts]


def question_cues(question: str, model: LanguageModel | None) -> tuple[QuestionCues | None, tuple[str, ...]]:
    """The cues that a model finds in a question, by one call (methods.md 1.3 R0); None, and a warning, without them.

    Only words of the question count: what a model makes up leads nowhere.
    """
    if model is None:
        return None, ("cues of the question by rules: no language model is set for cues; see Memory.open(model=…)",)
    try:
        phrases = query_page.parse(model.complete(query_page.render(question)))
    except ModelError as error:
        return None, (f"cues of the question by rules: {error}",)
    found = [mention for phrase in phrases.items if (mention := _mention(question, phrase)) is not None]
    if not found:
        why = phrases.failure or "none of its cues is in the question"
        return None, (f"cues of the question by rules: {model.name}: {why}",)
    return QuestionCues(model.name, tuple(found)), ()


def _mention(question: str, phrase: str) -> CueMention | None:
    start = question.lower().find(phrase.lower())
    if start < 0 or len(question.lower()) != len(question):
        start = question.find(phrase)
    surface = question[start : start + len(phrase)] if start >= 0 else ""
    key = cues.normalise(surface)
    return CueMention(key, surface, start, start + len(surface)) if key else None


class ModelReranker:
    """A ``Reranker`` that asks a language model, once for all hits.

    Args:
        model: Who is asked.
    """

    def __init__(self, model: LanguageModel) -> None:
        self.name = model.name
        self._model = model

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """A score in [0, 1] for each text, 0 where the reply has none.

        Raises:
            RerankingFailed: No reply came, or none of use.
        """
        if not texts:
            return []
        try:
            parsed = rerank_page.parse(self._model.complete(rerank_page.render(query, texts)), evidence=len(texts))
        except ModelError as error:
            raise RerankingFailed(str(error)) from error
        if not parsed.items:
            raise RerankingFailed(f"{self.name} gave no scores: {parsed.failure or 'the list is empty'}")
        scores = dict(parsed.items)
        return [scores.get(place, 0.0) for place in range(len(texts))]
