"""Cues of a text by rules: names, key phrases, dates, numbers, titles, in any script (methods.md C5)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter

from mnemic.algo import cue_phrases
from mnemic.algo.cue_segments import segments
from mnemic.algo.cue_tokens import tokens
from mnemic.algo.scripts import EMOJI, HANGUL, MARK, UNSPACED
from mnemic.algo.word_cache import word_cache
from mnemic.algo.wordlists import DETERMINERS, STOP_WORDS
from mnemic.types import CueMention

Span = tuple[int, int]

_CACHED_CHARS = 100
_LONGEST_TITLE = 8

_UNSEEN = (
    *(0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0xFE0E, 0xFE0F, 0xFEFF),
    *range(0x202A, 0x202F),
    *range(0x2060, 0x206A),
)
_FOLDED: dict[int, str | None] = {
    **dict.fromkeys(_UNSEEN),
    **dict.fromkeys(map(ord, "_-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"), " "),
    **dict.fromkeys(map(ord, "‘’"), "'"),
}
"""Straight apostrophes, blanks for dashes and underscores, and none of the characters that cannot be seen."""

_OPENING = re.compile(rf"[^\W_]|[{EMOJI}$€£¥₹]")
_CLOSING = re.compile(rf"\w|[{MARK}{EMOJI}\U0001f3fb-\U0001f3ff]")
_SUFFIX = re.compile(r"\+\+|\#|[%€£₹°]")
_MEANING = re.compile(rf"[^\W\d_]|[{EMOJI}$€£¥₹%°]")

_DROPPED_IN_FRONT = DETERMINERS | {""}
_UNSPACED = re.compile(f"[{UNSPACED}{HANGUL}]")
_TITLE = re.compile(r"\"([^\"\n]{2,80})\"|“([^”\n]{2,80})”|«([^»\n]{2,80})»|[「『《]([^」』》\n]{2,80})[」』》]")


def normalise(surface: str) -> str:
    """The key under which equal cues are merged (methods.md C5).

    NFKC, lower case, blanks for underscores and dashes, no punctuation outside, no determiners and possessives in
    front (nor ``'s`` behind), single blanks. ``C++``, ``C#``, ``50%`` and ``$20`` keep their signs.

    Args:
        surface: Any text; linear in its length.

    Returns:
        The key; empty for what is no cue: numbers, stop words, pronouns, punctuation alone. Applied to a key it
        returns the same key.
    """
    return _cached_key(surface) if len(surface) <= _CACHED_CHARS else _key(surface)


def _key(surface: str) -> str:
    folded = unicodedata.normalize("NFKC", surface.translate(_FOLDED)).lower().translate(_FOLDED)
    words = unicodedata.normalize("NFKC", folded).split()
    while words:
        if closed := _closed(words[-1]):
            words[-1] = closed
            break
        words.pop()
    first = 0
    while first < len(words) - 1 and _opened(words[first]) in _DROPPED_IN_FRONT:
        first += 1
    words[: first + 1] = map(_opened, words[first : first + 1])
    key = " ".join(words)
    return "" if all(word in STOP_WORDS for word in words) or not _MEANING.search(key) else key


_cached_key = word_cache(1 << 16)(_key)


def _opened(word: str) -> str:
    """A word without the punctuation in front of it."""
    opening = _OPENING.search(word)
    return word[opening.start() :] if opening else ""


def _closed(word: str) -> str:
    """A word without the punctuation and possessive behind it."""
    end = len(word)
    while end:
        while end and not _CLOSING.match(word, end - 1):
            end -= 1
        suffix = _SUFFIX.match(word, end)
        if end and suffix:
            return word[: suffix.end()]
        if not word.endswith("'s", 0, end) or end == 2:
            break
        end -= 2
    return word[:end]


def mentions(text: str, names: Collection[str] = ()) -> list[CueMention]:
    """The cues that a text mentions: what a later question could share with it.

    Names, runs of two and three content words and each of these words (without the regular ending of a plural or verb
    where a word remains: ``researching`` meets ``research``), dates as written, numbers with what they count, quoted
    titles, tags, addresses, identifiers, emoji, and slices of scripts without blanks.

    Args:
        text: A sentence or question, in any script; linear in its length.
        names: The participants' names: they are no cues, nor parts of any.

    Returns:
        In order of position, longer ones first where two begin together.
    """
    speakers = _name_spans(text, names)
    spans = list(_titles(text))
    words: list[cue_phrases.Word] = []
    source = text.lower() if text.isupper() and text.isascii() else text  # capitals tell nothing where all are
    previous = -2
    for kind, start, end in tokens(text):
        if kind == "word" or kind == "number":
            joined = start == previous + 1 and text[previous].isspace()
            read = cue_phrases.word if kind == "word" else cue_phrases.number
            item = read(source, start, end, joined=joined)
            words.append(item._replace(rank="speaker") if speakers and _overlaps(start, end, speakers) else item)
            previous = end
        elif kind == "thing":
            spans.append((start, end))
        else:
            spans.extend(segments(kind, text, start, end))
    spans.extend(cue_phrases.spans(words))
    return _mentions(text, spans, names, speakers)


def mentions_at(text: str, spans: Iterable[Span], names: Collection[str]) -> list[CueMention]:
    """The cues at given spans of a text, without the participants' names; for extractors that find spans otherwise.

    Of a span that holds a name, what stands beside it is left: of "John's mother" it is "mother".

    Returns:
        In order of position, longer ones first where two begin together; without repeats and empty keys.
    """
    return _mentions(text, spans, names, _name_spans(text, names))


def _mentions(text: str, spans: Iterable[Span], names: Collection[str], speakers: Sequence[Span]) -> list[CueMention]:
    unwanted = {normalise(name) for name in names} | {""}
    pieces = {piece for span in spans for piece in _without(text, span, speakers)} if speakers else set(spans)
    found: list[CueMention] = []
    ends: dict[str, int] = {}
    for start, end in sorted(pieces, key=lambda piece: (piece[0], -piece[1])):
        surface = text[start:end]
        key = normalise(surface)
        if key not in unwanted and ends.get(key, 0) <= start:
            ends[key] = end
            found.append(CueMention(key, surface, start, end))
    return found


def _titles(text: str) -> Iterator[Span]:
    """What stands in quotation marks, if it is short enough for a title."""
    for match in _TITLE.finditer(text):
        start, end = match.span(match.lastindex or 0)
        if text.count(" ", start, end) < _LONGEST_TITLE:
            yield start, end


def _name_spans(text: str, names: Collection[str]) -> list[Span]:
    """Where participants are named, with the possessive ending."""
    pattern = _name_pattern(frozenset(names)) if names else None
    return [match.span() for match in pattern.finditer(text)] if pattern else []


@word_cache(1 << 10)
def _name_pattern(names: frozenset[str]) -> re.Pattern[str] | None:
    """Whole names in any case, and the words of longer names where they are written with the capital."""
    forms: set[str] = set()
    for name in names:
        for written in {name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)}:
            parts = written.split()
            forms.add(r"\s+".join(map(_bounded, parts)))
            if len(parts) > 1:
                forms.update(f"(?-i:{_bounded(part)})" for part in parts if normalise(part) and part[0].isupper())
    forms.discard("")
    if not forms:
        return None
    return re.compile(f"(?:{'|'.join(sorted(forms, key=len, reverse=True))})(?:['’]s)?", re.IGNORECASE)


def _bounded(part: str) -> str:
    """A pattern for a word of a name that does not match inside a longer word, in scripts that have word boundaries."""
    before = "" if _UNSPACED.match(part[0]) else r"(?<!\w)"
    after = "" if _UNSPACED.match(part[-1]) else r"(?!\w)"
    return before + re.escape(part) + after


def _first_after(start: int, others: Sequence[Span]) -> int:
    """Index of the first of these spans, in order and disjoint, that ends after a place."""
    return bisect_right(others, start, key=itemgetter(1))


def _overlaps(start: int, end: int, others: Sequence[Span]) -> bool:
    index = _first_after(start, others)
    return index < len(others) and others[index][0] < end


def _without(text: str, span: Span, others: Sequence[Span]) -> Iterator[Span]:
    """The pieces of a span beside other spans, without blanks at their ends."""
    start, end = span
    for index in range(_first_after(start, others), len(others)):
        first, last = others[index]
        if first >= end:
            break
        yield from _trimmed(text, start, first)
        start = last
    yield from _trimmed(text, start, end)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def counted(mentions: Iterable[CueMention], surfaces: dict[str, str]) -> dict[str, int]:
    """Mention counts by key; the first surface of each new key is noted in ``surfaces``."""
    counts: Counter[str] = Counter()
    for mention in mentions:
        counts[mention.key] += 1
        surfaces.setdefault(mention.key, mention.surface)
    return dict(counts)
