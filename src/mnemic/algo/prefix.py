"""Finding what a client that sends its whole history each time has sent before."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def overlap(stored: Sequence[Hashable], sent: Sequence[Hashable]) -> tuple[int, int]:
    """Where the beginning of ``sent`` lies in ``stored``.

    Either all of it is there already, from some point on (a repeat of an earlier call), or the longest beginning
    of it that ends what is stored is (the history, perhaps with its oldest part cut, and something new).

    Returns:
        (start, length): ``stored[start:start + length] == sent[:length]``; length 0 when nothing overlaps.
    """
    if not sent:
        return len(stored), 0
    border = _borders(sent)
    matched = 0
    for end, item in enumerate(stored, 1):
        while matched and (matched == len(sent) or sent[matched] != item):
            matched = border[matched - 1]
        if sent[matched] == item:
            matched += 1
        if matched == len(sent):
            return end - matched, matched
    return len(stored) - matched, matched


def _borders(pattern: Sequence[Hashable]) -> list[int]:
    """Knuth, Morris and Pratt (1977): for each prefix, its longest proper prefix that is also its suffix."""
    borders = [0] * len(pattern)
    length = 0
    for i in range(1, len(pattern)):
        while length and pattern[i] != pattern[length]:
            length = borders[length - 1]
        if pattern[i] == pattern[length]:
            length += 1
        borders[i] = length
    return borders
