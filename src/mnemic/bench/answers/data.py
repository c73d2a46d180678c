"""What people and models said, as data of a prompt: delimited, and unable to leave its delimiters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mnemic.algo import select, tokens

_TAGS = (
    *("fragments", "fragment", "memories", "memory", "asked_on", "question", "option", "options"),
    *("correct_answer", "rubric", "explanation", "generated_answer"),
    *("session", "turn", "notes", "note"),
)
_DELIMITER = re.compile(rf"<(?=\s*+/?\s*+(?:{'|'.join(_TAGS)})\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Context:
    """What a language model is shown of a memory for one question.

    Attributes:
        entries: The texts of a system's hits, best first.
        beside: The texts of a second system's hits, shown apart as original dialogue (HERO, figure 2); empty for none.
    """

    entries: tuple[str, ...]
    beside: tuple[str, ...] = ()

    @property
    def tokens(self) -> int:
        """Size of all texts by ``algo.tokens.count``, without the delimiters."""
        return sum(map(tokens.count, (*self.entries, *self.beside)))


def within(texts: Sequence[str], max_tokens: int | None) -> tuple[str, ...]:
    """The texts that fit a budget, whole and in order: one too large is passed over. None: all of them."""
    if max_tokens is None:
        return tuple(texts)
    return tuple(texts[place] for place in select.within_budget([tokens.count(text) for text in texts], max_tokens))


def delimited(tag: str, text: str) -> str:
    """A text between ``<tag>`` and ``</tag>``, on lines of their own.

    In the text the ``<`` of whatever looks like one of the prompts' own tags is written ``&lt;``.

    Raises:
        ValueError: The tag is none of those that texts are kept from writing.
    """
    if tag not in _TAGS:
        raise ValueError(f"{tag!r} is not among the tags that are kept out of data")
    return f"<{tag}>\n{_DELIMITER.sub('&lt;', text)}\n</{tag}>"


def listed(tag: str, item: str, texts: Sequence[str]) -> str:
    """Texts one by one, each in an ``<item>``, all in a ``<tag>``; ``(none)`` where there is none.

    Raises:
        ValueError: As ``delimited``.
    """
    if tag not in _TAGS:
        raise ValueError(f"{tag!r} is not among the tags that are kept out of data")
    inside = "\n".join(delimited(item, text) for text in texts) or "(none)"
    return f"<{tag}>\n{inside}\n</{tag}>"
