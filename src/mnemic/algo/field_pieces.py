"""A text field of a JSON object, read while the object is still being written."""

from __future__ import annotations

import json
import re
from typing import Final

from mnemic.algo.lenient_json import unescaped

_REASONING: Final = re.compile(r"\s*+<(think|thinking|thought|reasoning)>", re.IGNORECASE)
_REASONED: Final = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPENING: Final = re.compile(r"\s*+(?:```\w*+\s*+)?\{\s*+")
_KEY: Final = re.compile(r'"((?:[^"\\]|\\.)*+)"\s*+:\s*+', re.DOTALL)
_NEXT: Final = re.compile(r"\s*+,\s*+")
# What may still become an escape, or one half of a pair of surrogates that waits for the other.
_OPEN_ESCAPE: Final = re.compile(
    r"\\(?:u(?:[0-9a-fA-F]{0,3}|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?)?)?"
)
_ESCAPE: Final = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)", re.DOTALL
)
_DECODER: Final = json.JSONDecoder(strict=False)


class FieldPieces:
    """Reads one field of the object that a text begins with, perhaps behind reasoning or in a code fence.

    Of well-formed JSON whose keys are each there once, the pieces joined are the field's words without blanks at both
    ends, however the text is cut. Of anything else they are the beginning of what is there, or nothing.

    Args:
        name: The field's key.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._before = ""  # what came before the field's words, as long as they have not begun
        self._begun = False
        self._ended = False
        self._escape = ""
        self._said = False
        self._blanks = ""

    def feed(self, piece: str) -> str:
        """The field's words that the next piece of the text brings, unescaped; often none."""
        if self._ended:
            return ""
        if not self._begun:
            self._before += piece
            begin = self._begin()
            if begin is None:
                return ""
            self._begun, piece, self._before = True, self._before[begin:], ""
        return self._trimmed("".join(map(self._character, piece)))

    def _begin(self) -> int | None:
        """Where the field's words begin; None as long as that is not known."""
        text, at = self._before, 0
        if _REASONING.match(text):
            reasoned = _REASONED.search(text)
            if reasoned is None:
                return None
            at = reasoned.end()
        opening = _OPENING.match(text, at)
        while opening is not None:
            key = _KEY.match(text, opening.end())
            if key is None:
                return None
            at = key.end()
            if key[1] == self._name:
                return at + 1 if text[at : at + 1] == '"' else None
            try:
                at = _DECODER.raw_decode(text, at)[1]
            except (ValueError, RecursionError):
                return None
            opening = _NEXT.match(text, at)
        return None

    def _character(self, char: str) -> str:
        """What the next character of the string adds to its words."""
        if self._ended:
            return ""
        if not self._escape:
            if char == "\\":
                self._escape = char
                return ""
            self._ended = char == '"'
            return "" if self._ended else char
        self._escape += char
        if _OPEN_ESCAPE.fullmatch(self._escape):
            return ""
        whole = _ESCAPE.match(self._escape)
        assert whole is not None  # a backslash and any character are one
        rest, self._escape = self._escape[whole.end() :], ""
        return unescaped(whole[0]) + "".join(map(self._character, rest))

    def _trimmed(self, words: str) -> str:
        """Words without the blanks at both ends of all: those that may be the last wait for what follows."""
        words = self._blanks + words
        kept = words.rstrip()
        self._blanks = words[len(kept) :] if self._said or kept else ""
        if not self._said:
            kept = kept.lstrip()
        self._said = self._said or bool(kept)
        return kept
