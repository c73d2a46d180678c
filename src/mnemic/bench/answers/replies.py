"""What a model's reply says, whatever it is wrapped in: prose, fences, half a JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Literal, cast

from mnemic.protocols import Reply
from mnemic.types import Json

Form = Literal["formatted", "prose", "truncated", "refused"]
"""``prose``: not in the format that was asked for, so the whole reply is the answer. ``truncated``: cut by the limit of
tokens. ``refused``: declined by the provider."""

_THOUGHT = re.compile(r"\s*<think(?:ing)?>", re.IGNORECASE)
_THOUGHT_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_LONGEST_NUMBER = 20  # characters; of thousands Python makes no number
_FENCE = re.compile(r"```[a-z]*", re.IGNORECASE)
_ANSWER = re.compile(r'"answer"\s*:\s*("(?:[^"\\]|\\.)*+")')
_NO = re.compile(r"\bno\b")
_DECODER = json.JSONDecoder(strict=False)


def form_of(reply: Reply, *, formatted: bool = True) -> Form:
    """How a reply came."""
    if reply.finish == "refusal":
        return "refused"
    if reply.finish == "length":
        return "truncated"
    return "formatted" if formatted else "prose"


def answer(reply: Reply) -> tuple[str, Form]:
    """The field ``answer`` of the last JSON object that has one; without one, the whole reply.

    A reply that was cut before its answer holds none: it is the empty answer, not half a JSON object.
    """
    found = field(reply.text, "answer")
    if found is not None:
        return found, form_of(reply)
    quoted = _ANSWER.findall(reply.text)
    if quoted and (text := _string(quoted[-1])) is not None:
        return text, form_of(reply)
    if reply.finish == "length":
        return "", "truncated"
    return _FENCE.sub("", reply.text).strip(), form_of(reply, formatted=False)


def label(text: str) -> bool | None:
    """Whether a judge's JSON labels the answer CORRECT; None where it does not say CORRECT or WRONG."""
    return {"CORRECT": True, "WRONG": False}.get((field(text, "label") or "").strip().upper())


def yes(text: str) -> bool | None:
    """LongMemEval's reading of its judge: ``yes`` anywhere is yes; None where neither ``yes`` nor ``no`` is said.

    Source: xiaowu0162/LongMemEval ``src/evaluation/evaluate_qa.py``.
    """
    lowered = text.lower()
    if "yes" in lowered:
        return True
    return False if _NO.search(lowered) else None


def field(text: str, name: str) -> str | None:
    """The value, as text, of a field of the last JSON object in a text that has it; None where none does."""
    values = [value for found in objects(text) if (value := _text(found.get(name))) is not None]
    return values[-1] if values else None


def said(reply: Reply) -> list[dict[str, Json]]:
    """The JSON objects that a model says after it has thought: none where it declined, or was cut while it thought.

    A thought ends at the last closing tag that an object stands behind: it may quote one, and so may the object. Some
    servers leave out where a thought begins; then it begins with the reply.
    """
    if reply.finish == "refusal":
        return []
    for end in reversed([tag.end() for tag in _THOUGHT_END.finditer(reply.text)]):
        if found := list(objects(reply.text[end:])):
            return found
    return [] if _THOUGHT.match(reply.text) else list(objects(reply.text))


def objects(text: str) -> Iterator[dict[str, Json]]:
    """The JSON objects of a text that lie in no other one; of an object that was cut, those whole ones inside it."""
    place = text.find("{")
    while place >= 0:
        try:
            value, end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield cast("dict[str, Json]", value)
        place = text.find("{", end)


def whole(value: Json) -> int | None:
    """A whole number, also one that was written as text; None for anything else."""
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        return int(value) if len(value) < _LONGEST_NUMBER else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Json) -> str | None:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        parts = [part for item in value if (part := _text(item)) is not None]
        return ", ".join(parts) if parts else None
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _string(quoted: str) -> str | None:
    try:
        return str(json.loads(quoted, strict=False)).strip()
    except ValueError:
        return None
