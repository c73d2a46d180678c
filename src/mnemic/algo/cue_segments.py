"""Cues in scripts without blanks between words, or with particles grown onto them: slices that can be found again.

Without a dictionary the words of such a run are unknown. Overlapping bigrams (Han) and trigrams (Thai, Lao, Khmer,
Burmese) are the usual answer: whatever its boundaries, a word in a question shares them with the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.algo.cue_tokens import Kind
from mnemic.algo.scripts import HAN, MARK

_LONGEST_KOREAN_WORD = 12
_LONGEST_WORD = 40
_HAN_FUNCTION = frozenset(
    "的了在是我你您他她它们們这這那哪个個和与與就也都不没沒很吗嗎呢吧啊呀哦嗯把被让讓给給为為但而之其又再还還么麼着"
)
_HIRAGANA_PART = re.compile("[^を]+")
_PARTICLES_BEFORE = re.compile("[はがにでとものへや]")
_PARTICLES_AFTER = re.compile(r"(?:から|まで|より|では|には|とは|[はがにでとものへや])\Z")
_HIRAGANA_FUNCTION = frozenset(
    (
        "です", "ます", "でした", "ました", "ません", "ている", "ています", "していた", "しました", "します",
        "する", "した", "して", "という", "こと", "それ", "これ", "あれ", "どこ", "だれ", "いつ", "なに", "どう",
        "そう", "ある", "いる", "ない", "なる", "ください", "ので", "のに", "けど", "でも", "だけ", "たち", "さん",
        "ちゃん", "くん", "から", "まで", "より", "とても", "たくさん",
    )
)  # fmt: skip
_KOREAN_PARTICLE = re.compile(
    r"(?<=.)(?:에서는|에서|에게서|에게|한테|으로|이랑|하고|부터|까지|처럼|보다|마다|에는|에|는|를)\Z"
    r"|(?<=..)[이가은을와과도만의로랑]\Z"
)
_SYLLABLE = re.compile(rf".[{MARK}]*", re.DOTALL)
_HAN = re.compile(f"[{HAN}]")


def segments(kind: Kind, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans of the cues of one run ``text[start:end]``; none for the kinds ``word``, ``number`` and ``thing``."""
    if kind == "han":
        return _bigrams(text, start, end)
    if kind == "hiragana":
        return _hiragana_words(text, start, end)
    if kind == "hangul":
        return _korean_word(text, start, end)
    if kind == "syllables":
        return _trigrams(text, start, end)
    return iter([(start, end)] if kind == "katakana" and 1 < end - start <= _LONGEST_WORD else [])


def _bigrams(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Pairs of characters of which none is a function word, and characters that stand alone between those."""
    previous = False
    for position in range(start, end):
        content = text[position] not in _HAN_FUNCTION
        following = position + 1 < end and text[position + 1] not in _HAN_FUNCTION
        if content and following:
            yield position, position + 2
        elif content and not previous:
            yield position, position + 1
        previous = content


def _hiragana_words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Parts of a run between particles that may be words: neither short, nor long, nor the ending of a verb."""
    for part in _HIRAGANA_PART.finditer(text, start, end):
        first, last = part.span()
        if first > 0 and _HAN.match(text, first - 1):
            if not _PARTICLES_BEFORE.match(text, first):
                continue
            first += 1
        particle = _PARTICLES_AFTER.search(text, max(first, last - 2), last)
        if particle and particle.start() > first + 1:
            last = particle.start()
        if 2 <= last - first <= 8 and text[first:last] not in _HIRAGANA_FUNCTION:
            yield first, last


def _korean_word(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A word without its particle; of a longer run, where somebody left out the blanks, bigrams."""
    if end - start > _LONGEST_KOREAN_WORD:
        yield from ((position, position + 2) for position in range(start, end - 1))
        return
    particle = _KOREAN_PARTICLE.search(text[start:end])
    yield start, start + particle.start() if particle else end


def _trigrams(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Runs of three base characters with their vowel signs and tone marks; a shorter run whole."""
    syllables = [match.span() for match in _SYLLABLE.finditer(text, start, end)]
    for first in range(max(1, len(syllables) - 2)):
        yield syllables[first][0], syllables[min(first + 2, len(syllables) - 1)][1]
