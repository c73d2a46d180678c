"""Replies of language models: any text gives what is whole of it, or a failure by name; well-formed JSON as it is."""

from __future__ import annotations

import json
import math
from typing import Any, Final, Literal, get_args

from fuzz.given import Given
from mnemic.algo import replies
from mnemic.algo.field_pieces import FieldPieces
from mnemic.algo.lenient_json import containers
from mnemic.prompts import (
    align,
    answer,
    conflict,
    evolve,
    facts,
    judge_label,
    judge_yes,
    profile,
    query,
    rerank,
    segment,
    short_answer,
    sufficiency,
    topic,
    trace,
)
from mnemic.protocols import Reply

KEYS = ("facts", "notes", "text", "from", "kind", "n", "score", "cues", "answer", "sources", "segments", "label",
        "sufficient", "choice", "old", "new", "relation", "topic", "summary", "start", "end", "about", "pairs",
        "scores", "sentences", "date", "type", "entities", "preferences")  # fmt: skip
WORDS = (*(f'"{key}":' for key in KEYS), '{"', '":', "```json", "```", "<think>", "</think>", "</reasoning>",
         "I'm sorry",
         "I cannot assist", "true", "null", "NaN", "\\u", "\\ud83d\\ude00", "\\n", "[", "]", "{", "}", "',", "yes",
         "no",
         "1e999", "-0", "\\")  # fmt: skip
SEEDS = tuple(
    text.encode() + bytes(3)
    for text in (
        '{"facts": [{"text": "Ana likes tea", "from": [1], "kind": "preference"}]}',
        '<think>hm [</think>\n```json\n{"notes": ["a", "b"], "answer": "in \\"May\\"", "sources": [1, 2]}\n```',
        "{'segments': [{start: 1, end: 3, topic: 'x', summary: \"y\"}, ]}",
        '[{"type": "text", "text": "{\\"label\\": \\"CORRECT\\"}"}]',
        "I'm sorry, but I can't help with that.",
        '{"n": 1, "cues": ["a"]}\n{"n": 2, "cues": ["b"]}',
        '{"reasoning": "a\\ud83d\\ude00", "answer": " b\\u00e9 "}',
        '{"pairs": [{"new": 1, "relation": "extends", "old": 2, "text": "more"}, '
        '{"new": 2, "relation": "contradicts"}]}',
        '{"scores": [{"n": 1, "score": 7}, {"n": 2, "score": "3"}]}',
        '{"segments": [{"start": 0, "end": 3, "topic": "x", "summary": "y"}, {"start": 4, "end": 9}]}',
        '{"notes": [{"from": [4], "kind": "trait", "about": "Oda", "text": "a b", "cues": ["c"], '
        '"date": "2024-05-01"}], '
        '"sentences": [{"n": 4, "cues": ["d"]}]}',
        '{"choice": 2} {"sufficient": 1} {"answer": "yes", "sources": [1, 9]}',
    )
)
Finish = Literal["stop", "length", "refusal"]
_FINISHES: Final[tuple[Finish, ...]] = get_args(Finish)
_FAILURES = (None, *get_args(replies.Failure))


def check(data: bytes) -> None:
    """See the module."""
    given = Given(data)
    finish: Finish = given.one(_FINISHES)
    cut = given.number(0, 4096)
    text = given.rest_as_text()
    _items(text, finish)
    _pages(Reply(text, finish, 1, 1))
    _pieces(text, cut)
    _as_json_reads_it(text)


def _item(value: Any) -> str | None:
    if isinstance(value, dict):
        return replies.statement(value.get("text"))
    return replies.statement(value)


def _items(text: str, finish: Finish) -> None:
    parsed = replies.items(Reply(text, finish, 1, 1), ("facts", "notes"), _item)
    assert parsed.failure in _FAILURES
    assert parsed.dropped >= 0
    for one in parsed.items:
        assert one == " ".join(one.split())
        # No word is invented: each stands in the reply, unless an escape was read.
        assert "\\" in text or all(word in text for word in one.split())
    if "[" not in text and "{" not in text:
        assert parsed.failure is not None or "\\" in text
    if finish == "refusal":
        assert parsed.failure == "refused"
    assert replies.spoken(text) in text
    assert replies.unfenced(text) == replies.unfenced(text).strip()
    for found in replies.fields(text):
        assert isinstance(found, dict)


def _pages(reply: Reply) -> None:
    """Every prompt's reading of the reply stays within what was offered."""
    drafts = facts.parse(reply, lines=5).items
    for one in (*drafts, *evolve.parse(reply, evidence=5).items, *profile.parse(reply, lines=5).items):
        assert one.text.strip()
        assert all(1 <= source <= 5 for source in one.sources)
    if drafts:
        align.parse(reply, drafts)
    answered = answer.parse(reply, evidence=5)
    assert all(0 <= source < 5 for source in answered.sources)
    assert answered.text or not answered.sources
    pairs = conflict.parse(reply, ["a", "b"], ["c", "d"]).items
    assert {pair.new for pair in pairs} == {0, 1}
    assert all(pair.old in (0, 1) or (pair.old is None and pair.relation == "independent") for pair in pairs)
    assert judge_label.parse(reply) in (True, False, None)
    assert judge_yes.parse(reply) in (True, False, None)
    assert all(query.parse(reply).items)
    assert all(0 <= place < 5 and 0 <= score <= 1 for place, score in rerank.parse(reply, evidence=5).items)
    segments = segment.parse(reply, turns=5).items
    assert not segments or [turn for one in segments for turn in range(one.start, one.end)] == [*range(5)]
    assert isinstance(short_answer.parse(reply)[0], str)
    assert sufficiency.parse(reply) in (True, False, None)
    assert topic.parse(reply, candidates=3) in (None, 0, 1, 2)
    trace.parse(reply, sentences=5)


def _pieces(text: str, cut: int) -> None:
    """A field's words are the same however the text arrives."""
    at_once, in_two, singly = FieldPieces("answer"), FieldPieces("answer"), FieldPieces("answer")
    whole = at_once.feed(text)
    assert in_two.feed(text[:cut]) + in_two.feed(text[cut:]) == whole
    assert "".join(map(singly.feed, text[:300])) == FieldPieces("answer").feed(text[:300])
    assert whole == whole.strip()


def _as_json_reads_it(text: str) -> None:
    """Well-formed JSON is read as ``json`` reads it, where no key comes twice and no number is none."""
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_refused, parse_float=_finite)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict | list) or _depth(value) > 64:
        return
    begin = len(text) - len(text.lstrip())
    [found] = containers(text)
    assert (found.value, found.start, found.broken, found.cut) == (value, begin, 0, False)
    assert not text[found.end :].strip()
    assert FieldPieces("answer").feed(text) == _answer(value)


def _answer(value: Any) -> str:
    said = value.get("answer") if isinstance(value, dict) else None
    return said.strip() if isinstance(said, str) else ""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else _refused("a key twice")


def _refused(what: str) -> Any:
    raise ValueError(what)


def _finite(written: str) -> float:
    value = float(written)
    return value if math.isfinite(value) else _refused(written)


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (1 if isinstance(value, dict | list) else 0) + max(map(_depth, inner), default=0)
