"""Text to sentences: HERO's units (methods.md A2), by rules, in any script."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mnemic.algo.scripts import EMOJI, EMOJI_MODIFIER, JOINERS, MARK, UNSPACED
from mnemic.algo.wordlists import (
    ABBREVIATIONS_AT_END,
    ABBREVIATIONS_BEFORE_NAMES,
    ABBREVIATIONS_BEFORE_NUMBERS,
    SENTENCE_STARTERS,
)

MIN_WORDS = 3
"""A sentence with fewer words is part of its neighbour."""

MAX_CHARS = 1000
"""A longer sentence is cut, so that no unit is enormous."""

_LINE_END = r"\n\r\x0b\x0c\x85\u2028\u2029"
_STOP = ".!?…؟۔।॥።。！？｡"
_CLOSER = r"\"'”’»)\]}」』）】*_"

# Every run of stops is one match whatever follows it: a condition on what follows would be tried again at each stop
# of the run, which takes quadratic time.
_CANDIDATE = re.compile(
    rf"(?P<line>[{_LINE_END}]+)"
    rf"|(?P<stop>[{_STOP}]+)(?P<closer>[{_CLOSER}]{{0,4}})"
    rf"|[{EMOJI}][{EMOJI}{EMOJI_MODIFIER}\u200d]*"
)
_NONBLANK = re.compile(r"\S")
_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}](?:[^\W{UNSPACED}]|[{MARK}{JOINERS}'’-])*")
_CLAUSE_END = re.compile(r"[,;:—–)](?=\s)|[、，；：）]")
_BLANK = re.compile(r"\s")
_INSIDE = re.compile(rf"[{MARK}{JOINERS}{EMOJI_MODIFIER}]")

_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]\Z")
_NEXT_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


_ASKING = re.compile(rf"[?？؟⸮՞\u037e]+[{_CLOSER}{EMOJI}{EMOJI_MODIFIER}\s]*\Z")


def asks(sentence: str) -> bool:
    """Whether a sentence ends as a question: with a question mark of any script, closers and emoji left aside."""
    return _ASKING.search(sentence) is not None


def split(text: str) -> list[tuple[int, int]]:
    """Split a text into sentences.

    Sentences end at stops (Latin, Arabic, Devanagari, Ethiopic, CJK), at line ends (but not where a paragraph is
    merely wrapped), and at emoji before a capital; not after abbreviations, initials and list numbers, nor inside
    numbers, file names and addresses. A sentence of fewer than 3 words is glued to the one before it, the first to
    the next (methods.md A2); one of more than 1,000 characters is cut at the marks of its clauses, else at blanks.

    Args:
        text: Any text; linear in its length.

    Returns:
        Spans ``[start, end)`` in ascending order, disjoint, without blanks at their ends; every non-blank character
        is in one of them. Empty for a blank text.
    """
    return [piece for start, end in _glued(text, _sentences(text)) for piece in _cut(text, start, end)]


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Sentences of any length, trimmed."""
    start = 0
    for match in _CANDIDATE.finditer(text):
        if _ends_sentence(text, start, match):
            end = match.start() if match["line"] else match.end()
            yield from _trimmed(text, start, end)
            start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The span without blanks at its ends; nothing when it is blank."""
    words = text[start:end].rstrip()
    if words:
        end = start + len(words)
        yield end - len(words.lstrip()), end


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a candidate ends the sentence that began at ``start``."""
    if match["line"]:
        return not _is_wrapped(text, start, match)
    following = _NONBLANK.search(text, match.end())
    if following is None:
        return True
    follower = following.group()
    adjacent = following.start() == match.end()
    stop = match["stop"]
    if not stop:
        return not adjacent and follower.isupper()
    if stop[-1] in "。！？｡":
        return True
    if adjacent:
        return False
    if stop == ".":
        return _dot_ends_sentence(text, start, match, follower)
    if match["closer"] or stop[-1] in ".…":
        return not follower.islower()
    return True


def _is_wrapped(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a line end is only where a mail program broke a long line: one line end, a lower-case letter after it."""
    if match["line"] not in ("\n", "\r\n") or not text[match.end() : match.end() + 1].islower():
        return False
    line_start = max(text.rfind("\n", max(0, match.start() - 101), match.start()) + 1, start)
    return 50 <= match.start() - line_start <= 100


def _dot_ends_sentence(text: str, start: int, match: re.Match[str], follower: str) -> bool:
    """Whether one full stop with a blank after it ends the sentence: not after an abbreviation."""
    before = text[max(start, match.start() - 24) : match.start()]
    if not before or before[-1].isspace():
        return True
    word = before.split()[-1].lstrip("\"'“‘«([{*_")
    lowered = word.lower()
    if lowered in ABBREVIATIONS_BEFORE_NAMES:
        return False
    if lowered in ABBREVIATIONS_BEFORE_NUMBERS:
        return not follower.isdigit()
    if lowered in ABBREVIATIONS_AT_END:
        return not (follower.islower() or follower.isdigit() or follower in ",;:)")
    if word.isdigit():
        return not _opens_line(text, match.start() - len(word))
    if _INITIALS.fullmatch(word) and (word.isupper() or "." in word):
        following = _NEXT_WORD.search(text, match.end(), match.end() + 24)
        return (
            following is not None and following.group().lower() in SENTENCE_STARTERS and following.group()[0].isupper()
        )
    return True


def _opens_line(text: str, position: int) -> bool:
    """Whether only a few blanks stand between the beginning of the line and a position."""
    before = text[max(0, position - 12) : position].rstrip(" \t")
    return not before or before[-1] in "\n\r"


def _glued(text: str, sentences: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Sentences joined until each has at least ``MIN_WORDS`` words, unless the whole text has fewer."""
    start = end = words = 0
    for following_start, following_end in sentences:
        following_words = _words(text, following_start, following_end)
        if end and words >= MIN_WORDS and following_words >= MIN_WORDS:
            yield start, end
            start, words = following_start, following_words
        else:
            start, words = (start if end else following_start), words + following_words
        end = following_end
    if end:
        yield start, end


def _words(text: str, start: int, end: int) -> int:
    """Number of words, counted no further than ``MIN_WORDS``."""
    number = 0
    for _ in _WORD.finditer(text, start, end):
        number += 1
        if number == MIN_WORDS:
            break
    return number


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Pieces of at most ``MAX_CHARS`` characters, each as long as a good place to cut allows."""
    while end - start > MAX_CHARS:
        cut = _place_to_cut(text, start + MAX_CHARS // 2, start + MAX_CHARS)
        yield from _trimmed(text, start, cut)
        following = _NONBLANK.search(text, cut)
        start = following.start() if following else end
    yield from _trimmed(text, start, end)


def _place_to_cut(text: str, low: int, high: int) -> int:
    """The last clause end of a window, else its last blank, else where no combining sequence is split."""
    for pattern in (_CLAUSE_END, _BLANK):
        places = [match.end() for match in pattern.finditer(text, low, high)]
        if places:
            return places[-1]
    while high > low and _INSIDE.match(text, high):
        high -= 1
    return high
