"""The words as a model may see them. Only models read this; what is stored and returned stays as given."""

from __future__ import annotations

import re

_UNREADABLE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """Replace what tokenizers and JSON encoders reject or stop at, NUL and lone surrogates, by spaces.

    A space rather than U+FFFD: the words on both sides stay apart, and models were trained without either.
    Code points keep their positions. A text whose result is white space is *blank*: no model is asked about it.
    """
    return _UNREADABLE.sub(" ", text)
