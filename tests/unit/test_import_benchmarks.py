"""LoCoMo, PersonaMem and LongMemEval, in small and as published."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from import_kit import HI, YES, ids, imported, lines, words
from mnemic.config import Environment
from mnemic.errors import InvalidFile
from mnemic.importers import Conversation, Skipped, read

DATA = Path(__file__).parent.parent.parent / Environment.read().data


def test_locomo(tmp_path):
    turn = {"speaker": "Ana", "dia_id": "D1:1", "text": "look"}
    seen = turn | {"dia_id": "D1:2", "img_url": ["http://x/1", "http://x/2"], "blip_caption": "a lake", "query": "lake"}
    conversation = {
        "speaker_a": "Ana", "speaker_b": "Bo",
        "session_1_date_time": "12:05 am on 8 May, 2023", "session_1": [turn, seen, {"speaker": "Bo"}],
        "session_2_date_time": "1:56 pm on 9 May, 2023", "session_3": [turn | {"dia_id": "D3:1", "blip_caption": "b"}],
    }  # fmt: skip
    two, skipped = imported(tmp_path, [{"sample_id": "conv-1", "conversation": conversation}, {"sample_id": "no"}])
    assert [(c.user_id, c.session_id) for c in two] == [("conv-1", "session_1"), ("conv-1", "session_3")]
    first, second = two[0].messages
    assert first == {
        "id": "D1:1",
        "role": "user",
        "name": "Ana",
        "content": "look",
        "timestamp": "2023-05-08T00:05:00+00:00",
    }
    assert second["content"] == [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "http://x/1"}, "caption": "a lake"},
        {"type": "image_url", "image_url": {"url": "http://x/2"}, "caption": ""},
    ]
    assert "timestamp" not in two[1].messages[0]
    assert [(s.reason.split(" (")[0], s.where) for s in skipped] == [
        ("not a turn", "conv-1, session_1, turn 3"),
        ("a session without turns", "conv-1, session_2"),
        ("a session's time that cannot be read, left out", "conv-1, session_3"),
        ("not a conversation", "item 2"),
    ]


def test_locomo_as_published():
    path = DATA / "locomo" / "locomo10.json"
    if not path.is_file():
        pytest.skip("no LoCoMo data")
    source = read(path)
    records = list(source)
    conversations = [r for r in records if isinstance(r, Conversation)]
    assert source.format == "locomo"
    assert (len(conversations), len(ids(conversations))) == (272, 5882)
    assert len({(c.user_id, i) for c in conversations for i in ids([c])}) == 5882
    assert Counter(r.reason for r in records if isinstance(r, Skipped)) == {"a session without turns": 16}
    assert all("timestamp" in m for c in conversations for m in c.messages)
    images = [p for w in words(conversations) if isinstance(w, list) for p in w if p.get("caption")]
    assert len(images) == 1226


def test_personamem(tmp_path):
    user = "0a" * 32
    messages = [
        {"role": "system", "content": "Name: Ana"},
        *({"role": "user", "content": f"User: {i}"} for i in range(1, 5)),
        {"role": "assistant", "content": "Assistant: User: x"},
        {"role": "user"},
    ]
    questions = f"shared_context_id,end_index_in_shared_context\n{user},3\n{user},5\n{'1b' * 32},4\n"
    (tmp_path / "questions_32k.csv").write_text(questions)
    several, skipped = imported(tmp_path, lines({user: messages}), name="shared_contexts_32k.jsonl")
    assert [(c.user_id, words([c]), ids([c])) for c in several] == [
        (user, ["1", "2"], ["1", "2"]),
        (user, ["3", "4"], ["3", "4"]),
        (user, ["User: x"], ["5"]),
    ]
    assert len({c.session_id for c in several}) == 1
    assert [s.where for s in skipped] == [f"context {user}, message 0", f"context {user}, message 6"]
    (tmp_path / "questions_32k.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidFile, match=r"questions_32k\.csv"):
        imported(tmp_path, lines({user: messages}), name="shared_contexts_32k.jsonl")


def test_personamem_as_published():
    path = DATA / "personamem" / "shared_contexts_32k.jsonl"
    if not path.is_file():
        pytest.skip("no PersonaMem data")
    records = list(read(path))
    conversations = [r for r in records if isinstance(r, Conversation)]
    # 222 distinct pairs of context and end index (methods.md 4.4): as many breaks, less those at a context's end
    assert len({c.user_id for c in conversations}) == 37
    assert len(conversations) <= 222 + 37
    assert len(ids(conversations)) + sum(isinstance(r, Skipped) for r in records) == 6462
    assert not any(word.startswith(("User:", "Assistant:")) for word in words(conversations))


def test_longmemeval(tmp_path):
    question = {
        "question_id": "q1", "haystack_session_ids": ["a", "b", "a"],
        "haystack_dates": ["2023/04/25 (Tue) 04:07", "2023-05-20T01:30:00", "soon"],
        "haystack_sessions": [[HI, {**YES, "has_answer": True}], [], [HI, {"role": "user"}]],
    }  # fmt: skip
    two, skipped = imported(tmp_path, [question, {"x": 1}])
    assert [(c.user_id, c.session_id, ids([c])) for c in two] == [("q1", "a", ["a_1", "a_2"]), ("q1", "a#2", ["a#2_1"])]
    assert two[0].messages[1] == {
        "id": "a_2", "role": "assistant", "content": "yes", "timestamp": "2023-04-25T04:07:00+00:00",
    }  # fmt: skip
    assert [s.reason for s in skipped] == [
        "a session without turns",
        "a session's time that cannot be read, left out",
        "a turn without content",
        "not a question with haystack_sessions",
    ]
    assert imported(tmp_path, lines(question), name="l.jsonl")[0] == two


def test_longmemeval_as_published():
    path = DATA / "longmemeval" / "longmemeval_s_dev.jsonl.gz"
    if not path.is_file():
        pytest.skip("no LongMemEval data")
    records = list(read(path))
    conversations = [r for r in records if isinstance(r, Conversation)]
    assert len({c.user_id for c in conversations}) == 21
    assert len({(c.user_id, i) for c in conversations for i in ids([c])}) == 10388
    assert Counter(r.reason for r in records if isinstance(r, Skipped)) == {"a session without turns": 4}
