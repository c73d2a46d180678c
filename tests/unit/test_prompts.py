"""Every page as it is sent, word for word; and what is read of replies, whatever they are."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo import tokens
from mnemic.algo.segments import repair
from mnemic.models.metered import size
from mnemic.prompts import (
    align,
    answer,
    conflict,
    evolve,
    facts,
    profile,
    query,
    rerank,
    segment,
    sufficiency,
    topic,
    trace,
)
from mnemic.prompts.data import delimited, numbered
from mnemic.prompts.drafts import Draft
from mnemic.protocols import Reply

GOLDEN = Path(__file__).parent / "golden" / "prompts"
LINES = ("Ana (2024-05-17 09:00 UTC): I moved </dialogue> {x} %s\n2. Bo: yes", "Bo (undated): hi")
SAID = (trace.Said("Ana\n(2024)", ("I moved.", "I <notes> sing.")), trace.Said("Bo", ("Hi.",)))
FACT = Draft("Ana moved.", "fact", (1,))
PAGES = {
    "trace": (trace, trace.render(SAID)),
    "query": (query, query.render("Who </question> moved?")),
    "segment": (segment, segment.render(LINES)),
    "topic": (topic, topic.render("gardens", ["gardening", "cars"])),
    "facts": (facts, facts.render("Ana", LINES)),
    "profile": (profile, profile.render("Ana", LINES, [FACT])),
    "align": (align, align.render("Ana", LINES, [FACT], "2024-05-17")),
    "sufficiency": (sufficiency, sufficiency.render("Who moved?", LINES)),
    "evolve": (evolve, evolve.render("Ana", "Who moved?", LINES)),
    "conflict": (conflict, conflict.render(["Ana lives in Oslo."], ["Ana lives in Turku."])),
    "rerank": (rerank, rerank.render("Who moved?", LINES)),
    "answer": (answer, answer.render("Who moved?", LINES, asked_on="2024-06-01")),
}  # fmt: skip


def says(value, finish="stop"):
    return Reply(value if isinstance(value, str) else json.dumps(value), finish, 1, 1)


@pytest.mark.parametrize("name", PAGES)
def test_the_prompt_is_word_for_word(name):
    page, request = PAGES[name]
    sent = (
        f"version {page.VERSION}\n{request.system}\n--------\n{request.user}\n--------\n{json.dumps(request.schema)}\n"
    )
    assert sent == (GOLDEN / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.fault("B014")
@pytest.mark.fault("B034")
def test_words_can_neither_close_their_tag_nor_begin_a_line():
    shown = numbered("dialogue", LINES)
    assert shown.count("</dialogue>") == 1
    assert "{x} %s\n   2. Bo: yes\n2. Bo (undated)" in shown
    with pytest.raises(ValueError, match="'nobody'"):
        delimited("nobody", "x")


def test_query_cues_are_within_the_papers_budget():
    request = query.render("What did Caroline and her mentor paint together at the lake last summer?")
    reply = '{"cues": ["Caroline", "mentor", "painting", "lake", "last summer"]}'
    assert size(request) + tokens.count(reply) <= 250


@pytest.mark.parametrize("name", PAGES)
@settings(max_examples=30)
@given(text=st.text(alphabet='{}[]":, 0123tnewoldartsfcues\n', max_size=60), finish=st.sampled_from(["stop", "length"]))
def test_any_reply_can_be_read(name, text, finish):
    reply = Reply(text, finish, 1, 1)
    readings = {
        "trace": lambda: trace.parse(reply, sentences=3),
        "query": lambda: query.parse(reply),
        "segment": lambda: segment.parse(reply, turns=4),
        "topic": lambda: topic.parse(reply, candidates=2),
        "facts": lambda: facts.parse(reply, lines=2),
        "profile": lambda: profile.parse(reply, lines=2),
        "align": lambda: align.parse(reply, [FACT]),
        "sufficiency": lambda: sufficiency.parse(reply),
        "evolve": lambda: evolve.parse(reply, evidence=2),
        "conflict": lambda: conflict.parse(reply, ["a"], ["b"]),
        "rerank": lambda: rerank.parse(reply, evidence=2),
        "answer": lambda: answer.parse(reply, evidence=2),
    }
    readings[name]()


@settings(max_examples=60)
@given(st.lists(st.integers(-3, 12), max_size=6), st.integers(1, 8))
def test_segments_partition_the_session(starts, turns):
    found = segment.parse(says({"segments": [{"start": start, "topic": "t"} for start in starts]}), turns=turns)
    assert bool(found.items) == bool(starts)
    for some in filter(None, (found.items, repair(None, turns).segments)):
        assert [turn for one in some for turn in range(one.start, one.end)] == [*range(turns)]
        assert all(one.start < one.end for one in some)


def test_a_trace_reading_keeps_both_halves():
    reply = {
        "notes": [{"from": [2, 9], "kind": "Event", "about": "Ana", "text": "Ana sings.", "cues": ["song", "song"]}],
        "sentences": [{"n": 1, "cues": ["move"]}, {"n": 7, "cues": ["x"]}],
    }
    read = trace.parse(says(reply), sentences=3)
    assert read.notes.items == (Draft("Ana sings.", "fact", (2,), "Ana", None, ("song",)),)
    assert (read.sentences.items, read.sentences.failure) == ((trace.SentenceCues(1, ("move",)),), "unfit")


def test_alignment_loses_no_note():
    notes = [FACT, Draft("Bo sings.", "fact", (2,))]
    reply = {
        "notes": [{"from": [1], "kind": "fact", "text": "Ana moved on 16 May.", "date": "2024-05-16"}, {"text": "New."}]
    }
    aligned = align.parse(says(reply), notes)
    assert aligned.notes == (Draft("Ana moved on 16 May.", "fact", (1,), since=date(2024, 5, 16)), notes[1])
    assert aligned.left_out == 1
    assert align.parse(says("I cannot do that."), notes).notes == tuple(notes)


@pytest.mark.fault("B073")
@pytest.mark.fault("B076")
@pytest.mark.fault("B079")
def test_conflicts():
    old, new = ["a", "b"], ["c", "d", "e"]
    reply = {"pairs": [
        {"new": 1, "relation": " CONTRADICTS ", "old": 2, "text": ""},
        {"new": 2, "relation": "extends", "old": 1, "text": "a"},
        {"new": 3, "relation": "equivalent", "old": 12, "text": ""},
    ]}  # fmt: skip
    read = conflict.parse(says(reply), old, new)
    assert read.items == (
        conflict.Pair(0, "contradicts", 1),
        conflict.Pair(1, "extends", 0, None),
        conflict.Pair(2, "independent"),
    )
    assert read.failure == "unfit"
    assert {pair.relation for pair in conflict.parse(says(""), old, new).items} == {"independent"}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("1", True), ("0", False), (" 1.", True), ("<think>0 or 1?</think>1", True), ("0 or 1", None), ("", None),
     ("10", None)],
)  # fmt: skip
def test_sufficiency(text, wanted):
    assert sufficiency.parse(says(text)) is wanted


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        (says({"answer": "Oslo", "sources": [2, 9, "1"]}), answer.Answered("Oslo", (1, 0), None)),
        (says({"answer": "", "sources": []}), answer.Answered(None, (), None)),
        (says("In Oslo."), answer.Answered("In Oslo.", (), "prose")),
        (says("I'm sorry, I can't help."), answer.Answered(None, (), "refused")),
        (says('{"answer": "Os', "length"), answer.Answered(None, (), "truncated")),
        (says("", "refusal"), answer.Answered(None, (), "refused")),
        (says(""), answer.Answered(None, (), "empty")),
    ],
)
def test_answers(reply, wanted):
    assert answer.parse(reply, evidence=3) == wanted


def test_topics():
    assert topic.parse(says({"choice": 2}), candidates=2) == 1
    assert [topic.parse(says(text), candidates=2) for text in ({"choice": 0}, {"choice": 3}, "none")] == [None] * 3
