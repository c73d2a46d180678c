"""Cursors: where the next page begins, as an opaque text.

A cursor holds the place of the last thing of its page, by numbers that only grow, so what others write or erase
meanwhile makes nothing be skipped or come twice. It belongs to one question of one user: elsewhere it is refused. It
opens nothing: what it leads to is looked up among the tenant's own, so it need not be signed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Final

from mnemic.errors import InvalidQuery

_REFUSED: Final = "cursor is none of this question's; take the one that the page before gave, with the same arguments"


def cursor(question: tuple[object, ...], place: int) -> str:
    """The cursor of what comes behind a place.

    Args:
        question: What is listed, whose, and by which filters: all that a next page must have in common.
        place: At least 0.
    """
    return base64.urlsafe_b64encode(f"{_digest(question)}.{place}".encode()).decode().rstrip("=")


def place(question: tuple[object, ...], given: str | None) -> int:
    """The place of a cursor; -1, before everything, without one.

    Raises:
        InvalidQuery: It is none of this question.
    """
    if given is None:
        return -1
    try:
        text = base64.b64decode(given + "=" * (-len(given) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError) as error:
        raise InvalidQuery(_REFUSED) from error
    digest, _, number = text.partition(".")
    if digest != _digest(question) or not number.isdecimal() or len(number) > 18:
        raise InvalidQuery(_REFUSED)
    return int(number)


def _digest(question: tuple[object, ...]) -> str:
    text = json.dumps(question, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
