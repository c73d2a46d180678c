"""The bundled dialogue: two people and their assistant, eight evenings over five months, and five questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, cast

from mnemic.importers.records import Conversation

USER = "demo"
ASKED = "2024-08-10T12:00:00+02:00"
"""When the questions are asked: two days after the last evening."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the dialogue.

    Attributes:
        kind: What it shows: ``a date``.
        question: The question.
        answer: The answer, for people.
        turn_ids: The turns that hold the answer; all of them are needed.
    """

    kind: str
    question: str
    answer: str
    turn_ids: tuple[str, ...]


def dialogue() -> list[Conversation]:
    """The eight sessions, in order; 80 messages."""
    return [
        Conversation(
            USER,
            session["session_id"],
            tuple({**message, "timestamp": session["timestamp"]} for message in session["messages"]),
        )
        for session in _bundled()["sessions"]
    ]


def questions() -> list[Question]:
    """The five questions."""
    return [
        Question(item["kind"], item["question"], item["answer"], tuple(item["turn_ids"]))
        for item in _bundled()["questions"]
    ]


def _bundled() -> dict[str, Any]:
    text = files(__name__).joinpath("dialogue.json").read_text(encoding="utf-8")
    return cast("dict[str, Any]", json.loads(text))
