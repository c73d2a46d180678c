"""Finding what a client that sends its whole history each time has sent before."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def recognise(stored: Sequence[Item], sent: Sequence[Item], *, standing: Callable[[Item], bool]) -> list[int | None]:
    """Where each message of a history that is sent again is stored already; None for what is new.

    Instructions may differ from call to call, so they and the dialogue are looked up apart:

    * of the dialogue, the beginning that ``overlap`` finds; or, where it is longer, the beginning that is stored in
      this order from the first message on, whatever lies between (an answer was made anew or edited);
    * of instructions, those of the same words, as often as they are stored.

    Args:
        stored: The session's messages, oldest first.
        sent: The history.
        standing: Whether a message is an instruction (a system message) and no part of the dialogue.

    Returns:
        For each message sent its place in ``stored``, each at most once, or None.
    """
    known: list[int | None] = [None] * len(sent)
    of_stored, of_sent = _dialogue(stored, standing), _dialogue(sent, standing)
    said, again = [stored[i] for i in of_stored], [sent[i] for i in of_sent]
    start, length = overlap(said, again)
    places = max(range(start, start + length), _scattered(said, again), key=len)
    for i, place in zip(of_sent, places, strict=False):
        known[i] = of_stored[place]
    left: dict[Item, list[int]] = {}
    for place in sorted(set(range(len(stored))).difference(of_stored), reverse=True):
        left.setdefault(stored[place], []).append(place)
    for i in sorted(set(range(len(sent))).difference(of_sent)):
        places_left = left.get(sent[i])
        known[i] = places_left.pop() if places_left else None
    return known


def _dialogue(messages: Sequence[Item], standing: Callable[[Item], bool]) -> list[int]:
    return [i for i, message in enumerate(messages) if not standing(message)]


def _scattered(stored: Sequence[Item], sent: Sequence[Item]) -> Sequence[int]:
    """Places of the longest beginning of ``sent`` that ``stored`` holds in this order; both begin alike, or none."""
    if stored[:1] != sent[:1]:
        return ()
    places: list[int] = []
    for place, item in enumerate(stored):
        if len(places) < len(sent) and item == sent[len(places)]:
            places.append(place)
    return places


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
