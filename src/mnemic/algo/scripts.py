r"""Character classes of the world's scripts, as bodies for ``[...]`` in regular expressions.

Python's ``\w`` leaves out combining marks (half of every Hindi or Thai word, vowel points, decomposed accents)
and cannot tell scripts written without spaces from the others; these classes do.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from itertools import chain

_MARK_BLOCKS = (
    range(0x0300, 0x1E00),
    range(0x20D0, 0x2100),
    range(0x2CEF, 0x3100),
    range(0xA66F, 0xAC00),
    range(0xFB1E, 0xFB1F),
    range(0xFE00, 0xFE30),
    range(0x10A00, 0x12000),
    range(0xE0100, 0xE01F0),
)
"""Where Unicode's combining marks are; to look through all of its 1.1 million code points would take 0.1 s."""


def _marks(code_points: Iterable[int]) -> str:
    """Ranges of the combining marks (categories Mn, Mc, Me) among ascending code points."""
    ranges: list[list[int]] = []
    for point in code_points:
        if unicodedata.category(chr(point))[0] != "M":
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


MARK = _marks(chain.from_iterable(_MARK_BLOCKS))
"""Combining marks: they belong to the character before them."""

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiner: inside Persian and Indic words, and between the parts of one emoji."""

HAN = "\u2e80-\u2fd5\u3005-\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97f\uac00-\ud7ff"
SOUTH_EAST_ASIAN = "\u0e01-\u0e4e\u0e80-\u0edf\u1000-\u104a\u1780-\u17d3"
"""Thai, Lao, Myanmar and Khmer, vowel signs included."""

UNSPACED = HAN + HIRAGANA + KATAKANA + SOUTH_EAST_ASIAN
"""Scripts that put no blanks between words."""

EMOJI = (
    "\u231a-\u231b\u23e9-\u23fa\u25fb-\u25fe\u2600-\u27bf\u2b05-\u2b07\u2b1b-\u2b1c\u2b50\u2b55"
    "\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
)
EMOJI_MODIFIER = "\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
"""Variation selector, skin tones and flag tags: they belong to the emoji before them."""
