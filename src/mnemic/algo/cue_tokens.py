"""Tokens of a text for cue extraction: words, numbers, things with a form of their own, runs of other scripts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from mnemic.algo.scripts import (
    EMOJI,
    EMOJI_MODIFIER,
    HAN,
    HANGUL,
    HIRAGANA,
    JOINERS,
    KATAKANA,
    MARK,
    SOUTH_EAST_ASIAN,
    UNSPACED,
)

Kind = Literal["word", "number", "thing", "han", "hiragana", "katakana", "hangul", "syllables"]

_LETTER = rf"[^\W\d_{UNSPACED}{HANGUL}]"

# Repetitions that an alternative may have to give up are bounded: without that, hostile text takes quadratic time.
_TOKEN = re.compile(
    # First, for speed, what most tokens are: an English word before a blank or a mark of punctuation.
    r"(?P<plain>[A-Za-z]{1,40}(?:['’][a-z]{1,2})?(?=[\s,!?;]|\.?\Z|\.\s))"
    # The host of an address; e-mail; tag or handle; money; measure; C++; snake_case; file or dotted name; AB-358.
    r"|(?:https?://|www\.)(?:www\.)?(?P<host>[\w.-]{1,100})[^\s<>\"]{0,2000}"
    r"|(?P<mail>[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})"
    rf"|[#@](?P<tag>[^\W_](?:\w|[{MARK}{JOINERS}]){{0,63}})"
    r"|(?P<money>[$€£¥₹]\ ?\d[\d.,]{0,30}(?:(?:\ ?[kKmM]|\ (?:million|billion|thousand))\b)?)"
    r"|(?P<measure>\d[\d.,]{0,30}\ ?(?:[%€£₹]|°[CF]?))"
    r"|(?P<language>[A-Za-z](?:\+\+|\#)(?!\w))"
    r"|(?P<snake>[^\W_]{1,64}(?:_{1,2}[^\W_]{1,64}){1,16})"
    r"|(?P<file>[\w-]{1,64}(?:[./][\w-]{1,64}){0,8}\.[a-z][a-z0-9]{0,3}(?![\w.]))"
    r"|(?P<code>[A-Za-z]{1,16}-?\d[\da-z]{0,16}(?:\.\d{1,8}){0,4}(?!\w))"
    rf"|(?P<emoji>[\U0001f1e6-\U0001f1ff]{{2}}|[{EMOJI}](?:[{EMOJI_MODIFIER}]|\u200d[{EMOJI}]){{0,16}})"
    rf"|(?P<word>{_LETTER}(?:{_LETTER}|[{MARK}{JOINERS}]|['’״׳-](?={_LETTER}))*)"
    r"|(?P<number>\d[\d.,:/]{0,64}(?:[A-Za-z]{1,8})?)"
    rf"|(?P<han>[{HAN}]+)|(?P<hiragana>[{HIRAGANA}]+)|(?P<katakana>[{KATAKANA}]+)"
    rf"|(?P<hangul>[{HANGUL}]+)|(?P<syllables>[{SOUTH_EAST_ASIAN}]+)"
)
_KINDS: dict[str, Kind] = {
    "plain": "word",
    "word": "word",
    "number": "number",
    "han": "han",
    "hiragana": "hiragana",
    "katakana": "katakana",
    "hangul": "hangul",
    "syllables": "syllables",
}


def tokens(text: str) -> Iterator[tuple[Kind, int, int]]:
    """Kind and span of each token, in order, disjoint; what belongs to none (punctuation, blanks) is left out.

    A ``thing`` is taken as it stands: the host of a web address, an e-mail address, a tag or handle, an amount of
    money, a percentage or temperature, an identifier, a file name, an emoji. Linear in the length of the text.
    """
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        start, end = match.span(group)
        yield _KINDS.get(group, "thing"), start, end
