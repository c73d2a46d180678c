"""A language model by rules: it reads the prompts of enrichment and answers them as asked, word for word.

A fact is every statement "I …" of the lines shown, in the third person; topics are the first words. Tests replace what
it says to a purpose, count what it was asked, and make it slow or fail.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from mnemic.protocols import Completion, Reply
from model_server_kit import Answer, completion

_LINE = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)
_OWNER = re.compile(r"<owner>\n(.*)\n</owner>")


def tagged(request: Completion, tag: str) -> str:
    """What stands in a tag of a prompt."""
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", request.user, re.DOTALL)
    return found[1] if found else ""


def numbered(request: Completion, tag: str) -> list[tuple[int, str]]:
    """The numbered lines in a tag."""
    return [(int(number), text) for number, text in _LINE.findall(tagged(request, tag))]


def kind_of(request: Completion) -> str:
    """Which page a prompt is of, by its schema."""
    keys = [] if request.schema is None else list(request.schema["properties"])
    if request.purpose == "notes":
        if keys == ["facts"]:
            return "facts"
        if "<question>" in request.user:
            return "evolve"
        return "align" if "<session_time>" in request.user else "profile"
    if request.purpose == "segment":
        return "segment" if keys == ["segments"] else "topic"
    return request.purpose


class ReadingModel:
    """Answers every page; ``say`` replaces what it says to one.

    Attributes:
        asked: Page -> how often; counted when the call ends.
        requests: All of them, in order.
    """

    def __init__(self, *, name: str = "scripted:reader", delay_s: float = 0.0) -> None:
        self.name = name
        self.delay_s = delay_s
        self.asked: Counter[str] = Counter()
        self.requests: list[Completion] = []
        self.say: dict[str, Callable[[Completion], str | Reply | Exception]] = {}
        self._lock = threading.Lock()

    def complete(self, request: Completion) -> Reply:
        page = kind_of(request)
        with self._lock:
            self.asked[page] += 1
            self.requests.append(request)
        if self.delay_s:
            time.sleep(self.delay_s)
        said = self.say.get(page, getattr(self, f"_{page}"))(request)
        if isinstance(said, Exception):
            raise said
        if isinstance(said, Reply):
            return said
        return Reply(said, "stop", len(request.user) // 4, len(said) // 4)

    def _facts(self, request: Completion) -> str:
        owner = _OWNER.search(request.user)[1]
        facts = []
        for number, line in numbered(request, "dialogue"):
            for statement in re.findall(r"\bI ([a-z][^.!?]*)[.!]", line):
                verb, _, rest = statement.partition(" ")
                facts.append({"from": [number], "text": f"{owner} {verb} {rest}".strip() + "."})
        return json.dumps({"facts": facts})

    def _profile(self, request: Completion) -> str:
        return '{"notes": []}'

    def _align(self, request: Completion) -> str:
        notes = []
        for number, text in numbered(request, "notes"):
            kind, _, words = text.partition("] ")
            notes.append({"from": [number], "kind": kind.lstrip("["), "text": words, "date": ""})
        return json.dumps({"notes": notes})

    def _evolve(self, request: Completion) -> str:
        return '{"notes": []}'

    def _segment(self, request: Completion) -> str:
        turns = numbered(request, "dialogue")
        return json.dumps({"segments": [{"start": 0, "end": len(turns) - 1, "topic": "talk", "summary": "They talk."}]})

    def _topic(self, request: Completion) -> str:
        return '{"choice": 1}'

    def _conflict(self, request: Completion) -> str:
        new = numbered(request, "new_notes")
        return json.dumps({"pairs": [{"new": n, "relation": "independent", "old": 0, "text": ""} for n, _ in new]})

    def _sufficiency(self, request: Completion) -> str:
        return "0"

    def _rerank(self, request: Completion) -> str:
        scores = [{"n": number, "score": 5} for number, _ in numbered(request, "evidence")]
        return json.dumps({"scores": scores})

    def _answer(self, request: Completion) -> str:
        return '{"answer": "", "sources": []}'

    def _cues(self, request: Completion) -> str:
        notes, sentences, speaker = [], [], ""
        for line in tagged(request, "dialogue").splitlines():
            found = _LINE.match(line)
            if not found:
                speaker = line.partition(" (")[0]
                continue
            number, text = int(found[1]), found[2]
            words = [word.lower() for word in re.findall(r"[A-Za-z]{5,}", text)][:3]
            sentences.append({"n": number, "cues": words})
            for statement in re.findall(r"\bI ([a-z][^.!?]*)[.!]", text):
                note = {
                    "from": [number],
                    "kind": "fact",
                    "about": speaker,
                    "text": f"{speaker} {statement}.",
                    "cues": words,
                }
                notes.append(note)
        return json.dumps({"notes": notes, "sentences": sentences})


def over_http(reader: ReadingModel) -> Callable[[dict[str, Any]], Answer]:
    """Has a server answer as the reader does: what a page is, its schema says."""

    def answer(body: dict[str, Any]) -> Answer:
        said = {message["role"]: message["content"] for message in body["messages"]}
        form = body.get("response_format", {}).get("json_schema", {}).get("schema")
        name = body.get("response_format", {}).get("json_schema", {}).get("name", "")
        purpose = next(one for one in ("segment", "conflict", "cues", "notes") if one in name)
        return completion(reader.complete(Completion(purpose, said["system"], said["user"], 1, form)).text)

    return answer
