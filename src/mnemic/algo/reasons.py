"""Why something is so, by the words that say it: the sentences of a turn that give a reason for one of them.

A reason stands in the sentence itself ("because …", "that is why …"), or in one beside it that says where it came from
("I realised that …", "it made me …"). Nothing is concluded: without such words there is no reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from mnemic.algo.lexical import fold

_WITHIN: Final = re.compile(
    r"\b(?:because|cause|cuz|due to|thanks to|owing to|so that|in order to|that(?:'s| is) why|which is why|the reason|"
    r"as a result|given that|now that|since (?:i|we|my|our|it|its|the|he|she|they|there|that)|"
    r"since [a-z]+ \w+ed|so i (?:can|could|would|do)|after (?:i|we|my|\w+ing)|as it|as i)\b"
)
_BESIDE: Final = re.compile(
    r"\b(?:because|due to|thanks to|the reason|that(?:'s| is) why|which is why|as a result|i (?:reali[sz]ed|"
    r"found (?:that|it|out)|discovered|learned|learnt|noticed|felt|wanted|needed|was tired|got tired|"
    r"had enough)|made me|led me|inspired|"
    r"convinced me|helped me|it (?:felt|was|became|got) (?:too|so|very|really|more|less)|reminded me|turned out)\b"
)
_NEAR: Final = 2
"""Sentences on either side."""


def reasons(text: str, sentences: Sequence[tuple[int, int]], start: int, end: int) -> list[tuple[int, int]]:
    """The sentences that say why what stands in ``[start, end)`` is so; in order.

    Args:
        text: Of the whole turn.
        sentences: Its sentences' spans, in order.
        start: Of the statement.
        end: Of the statement.
    """
    stated = [place for place, (begin, stop) in enumerate(sentences) if begin < end and start < stop]
    if not stated:
        return []
    found = [place for place in stated if _says(_WITHIN, text, sentences[place])]
    near = [*range(stated[0] - _NEAR, stated[0]), *range(stated[-1] + 1, stated[-1] + 1 + _NEAR)]
    found += [place for place in near if 0 <= place < len(sentences) and _says(_BESIDE, text, sentences[place])]
    return [sentences[place] for place in sorted(found)]


def _says(pattern: re.Pattern[str], text: str, span: tuple[int, int]) -> bool:
    return pattern.search(fold(text[slice(*span)]).replace("’", "'")) is not None
