"""Words as NLTK sees them: the stems of LoCoMo's F1 and the tokens of BLEU-1, without any download.

The official code of LoCoMo stems with ``nltk.stem.PorterStemmer``, whose rules differ from Porter's paper and from
mnemic's own Porter2 (``algo.stem``); mem0's BLEU-1 splits with ``nltk.word_tokenize``. That function needs a sentence
model which NLTK downloads, so the same two steps are taken here with what is in the package: Punkt, told the
abbreviations that chat holds, and NLTK's word tokenizer. On the 7,424 answers and turns of LoCoMo, in lower case, the
tokens were those that the downloaded English model gives.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from mnemic.models.optional import from_extra

_NEEDED_BY: Final = "an answer metric (F1-LoCoMo, BLEU-1)"
_TITLES: Final = "dr mr mrs ms prof jr sr st"
_DATES: Final = "tues wed fri jan feb aug sept oct nov dec a.m p.m"
_OTHERS: Final = "co d.c inc j.k j.r ltd ok ph.d u.k u.s vs"
_INITIALS: Final = "c d e f g h k l m n p r s t v w"
_ABBREVIATIONS: Final = frozenset(f"{_TITLES} {_DATES} {_OTHERS} {_INITIALS}".split())
"""After these a full stop ends no sentence: of the words that NLTK's English model knows, those that people write."""


@functools.lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of a word by NLTK's PorterStemmer, in the mode that is its default.

    Raises:
        MissingExtra: NLTK is not installed.
    """
    return str(_stemmer().stem(word))


def tokenize(text: str) -> list[str]:
    """The tokens of an English text as ``nltk.word_tokenize`` gives them.

    Raises:
        MissingExtra: NLTK is not installed.
    """
    sentences, words = _tokenizers()
    return [str(token) for sentence in sentences.tokenize(text) for token in words.tokenize(sentence)]


@functools.cache
def _stemmer() -> Any:  # noqa: ANN401 - NLTK has no types
    return from_extra("nltk.stem.porter", needed_by=_NEEDED_BY, extra="bench").PorterStemmer()


@functools.cache
def _tokenizers() -> tuple[Any, Any]:
    punkt = from_extra("nltk.tokenize.punkt", needed_by=_NEEDED_BY, extra="bench")
    destructive = from_extra("nltk.tokenize.destructive", needed_by=_NEEDED_BY, extra="bench")
    parameters = punkt.PunktParameters()
    parameters.abbrev_types = set(_ABBREVIATIONS)
    return punkt.PunktSentenceTokenizer(parameters), destructive.NLTKWordTokenizer()
