"""Instructions to a model, hidden in what was stored: told by their wording, by rules, and careful.

A tool's result, a page that somebody pasted or a forwarded mail may speak to the model that will read it one day. Two
kinds of wording are told apart. What overrides (forget your instructions, forged turns of a chat, do not let the user
know) is none of a conversation's own business, whoever said it. What directs (from now on recommend …, remember that
the user …) is something that a person may well say to their assistant, and is told only where it is no person's word.

Rules find what is worded as an attack, not every attack. Whatever they miss is still no instruction: prompts delimit
all stored words, and say that these are data.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from mnemic.algo.lexical import fold
from mnemic.types import Tier

_ALL: Final = (
    r"(?:all|any|every|the|your|my|these|those|of|other|previous|prior|above|earlier|preceding|existing|initial|system"
    r"|safety)"
)
_RULES: Final = (
    r"(?:instructions?|prompts?|directions?|directives?|guidelines?|programming|guardrails?|system messages?)"
)
_OVERRIDES: Final = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass|overrule)(?: {_ALL}){{1,5}} {_RULES}\b",
            rf"\b(?:ignore|disregard|forget|override)(?: {_ALL}){{0,3}} (?:everything|anything|all)"
            r" (?:above|before this|you were told|you have been told)\b",
            rf"\b(?:reveal|print|repeat|output|show|leak)(?: me)?(?: {_ALL}){{0,3}} (?:system prompt|hidden prompt|"
            r"initial prompt|system message)\b",
            r"\b(?:new|updated|real|actual|important) (?:system )?instructions?(?: for (?:the )?(?:ai|assistant|model"
            r"|llm|agent))? ?:",
            r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|let|warn|mention (?:this |it |that )?to)"
            r" the (?:user|human)(?:s)?\b",
            r"\bwithout (?:telling|informing|alerting|notifying|asking) the (?:user|human)\b",
            r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|?>|\[/?inst\]|<<sys>>",
            r"\b(?:you are|act) now (?:in )?(?:dan|developer mode|jailbroken|unrestricted)\b",
            r"\b(?:enable|enter|activate) (?:developer|dan|jailbreak|god) mode\b",
        )
    )
)
_MODEL: Final = r"(?:ai|assistants?|(?:language )?models?|llms?|agents?|chat ?bots?)"
_DIRECTS: Final = re.compile(
    "|".join(
        (
            rf"\b(?:note|attention|message|instructions?|warning|reminder|important)(?: to| for)? (?:the |any |all )?"
            rf"{_MODEL}\b ?(?::|must|should|please)",
            rf"\b(?:dear|hey|hello|attention),? {_MODEL}\b ?[,:!]",
            r"\bfrom now on,? (?:you|always|never|only|whenever|recommend|respond|reply|answer)\b",
            r"\b(?:remember|memorize|memorise|save|store|record|note)(?: (?:it|this))?(?: (?:in|to|into)"
            r" (?:your )?(?:long-term )?memory)?(?: permanently)? that the (?:user|human)\b",
            r"\b(?:save|store|write|add|commit|record) (?:this|the following|it|these)(?: \w+){0,3} (?:in|to|into)"
            r" (?:your |the |long-term )*memory\b",
            r"\b(?:update|change|overwrite|erase|delete|clear) (?:your|the user's|all)(?: \w+){0,2} memor(?:y|ies)\b",
            r"\b(?:when|whenever|if) the (?:user|human) (?:asks?|says?|mentions?|wants?|requests?)\b.{0,80}"
            r"\b(?:say|tell|reply|respond|answer|recommend|claim|insist|send|give|use|always)\b",
            r"\b(?:tell|convince|persuade|instruct) the (?:user|human) (?:to|that)\b",
            r"\byou must (?:always |never |now )?(?:recommend|obey|comply|forward|execute|tell the user|answer with|"
            r"reply with|respond with)\b",
        )
    )
)
_OVERRIDE_HINTS: Final = (
    *("ignor", "disregard", "forget", "overrid", "overrul", "bypass", "instruction", "prompt", "system", "developer"),
    *("the user", "the human", "<|", "inst]", "sys>>", "jail", "god mode", " dan"),
)
_DIRECT_HINTS: Final = (
    *("the user", "the human", "from now on", "you must", "memory", "memories", "assistant", "model", "llm", "agent"),
    *("bot", "ai"),
)
"""One of these is in all that the rules tell: most texts are read no further."""
_PIECE: Final = re.compile(r"[^.!?\n]+[.!?\n]*")
_BLANKS: Final = re.compile(r"\s+")


def instructions(text: str, tier: Tier) -> list[tuple[int, int]]:
    """The spans, in code points, of a text that speak to the model that reads it; in order, none where it does not.

    Args:
        text: What was said or fetched.
        tier: Of a person, only what overrides is told.
    """
    found: list[tuple[int, int]] = []
    whole = _plain(text)
    overrides = any(hint in whole for hint in _OVERRIDE_HINTS) and _OVERRIDES.search(whole)
    directs = tier != "user" and any(hint in whole for hint in _DIRECT_HINTS) and _DIRECTS.search(whole)
    if not overrides and not directs:
        return found
    for start, end in _pieces(text):
        plain = _plain(text[start:end])
        if _OVERRIDES.search(plain) or (tier != "user" and _DIRECTS.search(plain)):
            found.append((start, end))
    # What runs over several lines is told of the whole.
    return found or [(0, len(text))]


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Sentences, roughly."""
    for piece in _PIECE.finditer(text):
        yield piece.span()


def _plain(text: str) -> str:
    """A text as the rules read it: folded, without characters that nobody sees, blanks joined."""
    if not text.isascii():
        text = "".join(one for one in text.replace("’", "'") if unicodedata.category(one) != "Cf")
    return _BLANKS.sub(" ", fold(text)).strip()
