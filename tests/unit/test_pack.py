from __future__ import annotations

import pytest

from mnemic.algo.pack import pack, rendered_tokens
from mnemic.types import Span, Turn


def turn(number: int, text: str, *, session: str = "s", agent: str | None = None, speaker: str = "Ana") -> Turn:
    return Turn(f"t{number}", session, "user", speaker, text, agent_id=agent)


WORDS_26 = " ".join(["word"] * 26)
"""With a name of one token, the word "said", a comma, two quotation marks and the line end: 32 tokens."""


def test_whole_turns_are_packed_up_to_the_budget() -> None:
    turns = [turn(number, WORDS_26) for number in range(9)]
    traces = pack(turns, budget=128)

    assert rendered_tokens(turns[0], 0, len(WORDS_26)) == 32
    assert [len(trace.spans) for trace in traces] == [4, 4, 1]
    assert [trace.tokens for trace in traces] == [128, 128, 32]
    assert traces[0].spans[1] == Span("t1", 0, len(WORDS_26))
    assert {(trace.trace_id, trace.ordinal) for trace in traces} == {("", -1)}


def test_one_token_more_does_not_fit() -> None:
    traces = pack([turn(0, WORDS_26), turn(1, WORDS_26 + "!")], budget=64)
    assert [trace.tokens for trace in traces] == [32, 33]


def test_sessions_and_agents_are_kept_apart() -> None:
    turns = [turn(0, "a"), turn(1, "b"), turn(2, "c", session="r"), turn(3, "d", session="r", agent="x"), turn(4, "e")]
    assert [[span.turn_id for span in trace.spans] for trace in pack(turns)] == [["t0", "t1"], ["t2"], ["t3"], ["t4"]]


def test_a_long_turn_is_cut_at_sentence_ends_into_traces_of_its_own() -> None:
    sentence = "We went to the old market by the sea again."  # 11 tokens
    text = " ".join([sentence] * 5)
    traces = pack([turn(0, "Hello there."), turn(1, text), turn(2, "Bye now.")], budget=40)

    pieces = [text[span.start : span.end] for trace in traces[1:-1] for span in trace.spans]
    assert pieces == [" ".join([sentence] * 3), " ".join([sentence] * 2)]
    assert [trace.tokens for trace in traces] == [9, 39, 28, 9]


def test_a_long_sentence_is_cut_at_blanks_and_a_long_word_between_pieces() -> None:
    sentence = " ".join(["word"] * 100)
    word = "x" * 1000

    for text, unit in ((sentence, "word"), (word, "x" * 8)):
        pieces = [text[s.start : s.end] for trace in pack([turn(0, text)], budget=32) for s in trace.spans]
        assert len(pieces) > 3
        assert all(len(piece.replace(" ", "")) % len(unit) == 0 for piece in pieces)
        assert "".join(pieces).replace(" ", "") == text.replace(" ", "")


def test_a_turn_keeps_its_blanks_and_a_blank_turn_has_no_span() -> None:
    (trace,) = pack([turn(0, " \n\t"), turn(1, "  code\n"), turn(2, "")])
    assert trace.spans == (Span("t1", 0, 7),)


def test_a_name_cannot_use_up_the_budget() -> None:
    (trace,) = pack([turn(0, "hello", speaker="name " * 1000)], budget=32)
    assert trace.tokens == 16 + 5 + 1


def test_a_budget_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32"):
        pack([], budget=31)
