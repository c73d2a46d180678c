"""Trace counts of HERO's paper, by our own token counter (methods.md, checks, 1)."""

from __future__ import annotations

import pytest

from mnemic.algo.pack import BUDGET, pack
from mnemic.types import Turn

PUBLISHED = [168, 128, 244, 208, 239, 240, 222, 221, 179, 231]
"""Traces of each conversation with the cl100k vocabulary: mean 208.0, most 244; the paper prints 209 and 244."""


def test_trace_counts_are_those_of_the_paper(locomo_turns: dict[str, list[Turn]]) -> None:
    counts = [len(pack(turns)) for turns in locomo_turns.values()]

    assert counts == pytest.approx(PUBLISHED, rel=0.05)
    assert sum(counts) / 10 == pytest.approx(208.0, rel=0.02)


def test_every_turn_is_evidence_once(locomo_turns: dict[str, list[Turn]]) -> None:
    for turns in locomo_turns.values():
        by_id = {turn.turn_id: turn for turn in turns}
        spans = [span for trace in pack(turns) for span in trace.spans]
        words: dict[str, str] = {}
        for span in spans:
            words[span.turn_id] = words.get(span.turn_id, "") + by_id[span.turn_id].text[span.start : span.end]
        assert list(words) == [turn.turn_id for turn in turns]
        assert all("".join(words[turn.turn_id].split()) == "".join(turn.text.split()) for turn in turns)


def test_budget_and_sessions_are_respected(locomo_turns: dict[str, list[Turn]]) -> None:
    for turns in locomo_turns.values():
        sessions = {turn.turn_id: turn.session_id for turn in turns}
        for trace in pack(turns):
            assert 0 < trace.tokens <= BUDGET
            assert {sessions[span.turn_id] for span in trace.spans} == {trace.session_id}
