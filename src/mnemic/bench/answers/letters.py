"""Which of PersonaMem's four options a reply chooses, by three rules (methods.md 4.4).

A reply is right by a rule or it is not; a reply that names several options, or none, is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_IN_PARENTHESES = re.compile(r"\(([a-d])\)")
_ALONE = re.compile(r"\b([a-d])\b")
_OPENING, _CLOSING = "<final_answer>", "</final_answer>"


def hero(reply: str, gold: str) -> bool:
    """PersonaMem's rule for HERO's reply format: what stands after the last ``Answer``, else the whole reply.

    Args:
        reply: Of the model.
        gold: ``(b)`` or ``b``.
    """
    return _is_right(_after_answer(reply), reply, gold)


def personamem(reply: str, gold: str) -> bool:
    """The official rule: what stands after the last ``<final_answer>``, else the whole reply.

    Source: bowen-upenn/PersonaMem ``inference_standalone_openai.py`` (``extract_answer``).
    """
    final = reply.strip().rpartition(_OPENING)[2].strip().removesuffix(_CLOSING).strip()
    return _is_right(final, reply, gold)


def evermemos(reply: str, gold: str) -> bool:
    """EverMemOS' rule: the first letter in parentheses."""
    first = _IN_PARENTHESES.search(reply.lower())
    return first is not None and first[1] == _letter(gold)


RULES: Mapping[str, Callable[[str, str], bool]] = {"hero": hero, "personamem": personamem, "evermemos": evermemos}
"""Name -> rule."""


def chosen(reply: str) -> str | None:
    """The one letter that a reply chooses by HERO's rule; None where it names several, or none."""
    for text in (_after_answer(reply), reply):
        if len(named := _options(text)) == 1:
            return next(iter(named))
    return None


def _is_right(final: str, reply: str, gold: str) -> bool:
    return any(_options(text) == {_letter(gold)} for text in (final, reply))


def _options(text: str) -> set[str]:
    """The letters in parentheses; where there is none, the letters that stand alone."""
    lowered = text.lower()
    return set(_IN_PARENTHESES.findall(lowered)) or set(_ALONE.findall(lowered))


def _after_answer(reply: str) -> str:
    return reply.rpartition("Answer")[2]


def _letter(gold: str) -> str:
    return gold.lower().strip("() ")
