"""Size of a text in tokens, independent of any embedder or language model."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.algo.scripts import EMOJI_MODIFIER, HANGUL, JOINERS, MARK, UNSPACED

_LONGEST_WORD = 16
"""Longer runs of letters and digits are no words (base64, hashes, joined identifiers): they count by pieces."""

_PIECE = 8
_BLANKS = 16

_LETTER = rf"[^\W{UNSPACED}{HANGUL}]"
_MARKED = rf"(?:{_LETTER}[{MARK}{JOINERS}]?)"
_TOKEN = re.compile(
    r"['’](?:[sStTmMdD]|[rRvV][eE]|[lL][lL])\b"
    rf"|{_MARKED}{{1,{_LONGEST_WORD}}}(?!{_LETTER})"
    rf"|{_MARKED}{{1,{_PIECE}}}"
    rf"|\s{{{_BLANKS}}}"
    rf"|\S(?:[{MARK}{EMOJI_MODIFIER}]|\u200d\S){{0,{_PIECE}}}"
)


def count(text: str) -> int:
    """Number of tokens in a text: for English about what a byte-pair vocabulary of 100,000 entries needs.

    One token is a word (with the marks on its letters), the ending of an English contraction, a mark of punctuation,
    a symbol or emoji, or one character of Chinese, Japanese, Korean, Thai, Lao, Khmer or Burmese. A run of more than
    16 letters and digits counts about one token for each 8 of them, a run of blanks one for each 16. Linear in time.
    """
    return len(_TOKEN.findall(text))


def ends(text: str, start: int, end: int) -> Iterator[int]:
    """Where the tokens of ``text[start:end]`` end, in ascending order.

    Between any two of these places a < b, ``count(text[a:b])`` is at most the number of ends in ``(a, b]``: they are
    where a text can be cut to a budget without splitting a word, a character from its marks, or an emoji.
    """
    return (match.end() for match in _TOKEN.finditer(text, start, end))
