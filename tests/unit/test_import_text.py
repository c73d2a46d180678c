"""Plain transcripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidFile
from mnemic.importers import Conversation, Skipped, read
from mnemic.importers.text import looks_like
from yardstick import at_most


def transcript(tmp_path: Path, text: str) -> tuple[list[Conversation], list[Skipped]]:
    path = tmp_path / "chat.txt"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    records = list(read(path, "text"))
    return (
        [record for record in records if isinstance(record, Conversation)],
        [record for record in records if isinstance(record, Skipped)],
    )


def said(conversation: Conversation) -> list[tuple[str, str | None, str]]:
    return [(m["name"], m.get("timestamp"), m["content"]) for m in conversation.messages]


def test_names_and_words(tmp_path):
    [one], skipped = transcript(tmp_path, "Ana: hi\r\nBo van Dam: yes:  and \n小明：你好\nAssistant: hello\n")
    assert said(one) == [
        ("Ana", None, "hi"),
        ("Bo van Dam", None, "yes:  and "),
        ("小明", None, "你好"),
        ("Assistant", None, "hello"),
    ]
    assert [m["role"] for m in one.messages] == ["user", "user", "user", "assistant"]
    assert one.session_id == "chat"
    assert not skipped


@pytest.mark.parametrize(
    ("line", "timestamp"),
    [
        ("[2024-03-01 10:22] Ana: hi", "2024-03-01T10:22:00"),
        ("2024-03-01 10:22 - Ana: hi", "2024-03-01T10:22:00"),
        ("2024-03-01, 9:05 - Ana: hi", "2024-03-01T09:05:00"),
        ("2024-03-01T10:22:33Z Ana: hi", "2024-03-01T10:22:33+00:00"),
        ("[2024-03-01 10:22 +0530] Ana: hi", "2024-03-01T10:22:00+05:30"),
        ("[2024-03-01] Ana: hi", "2024-03-01"),
    ],
)
def test_times(tmp_path, line, timestamp):
    [one], skipped = transcript(tmp_path, line)
    assert said(one) == [("Ana", timestamp, "hi")]
    assert not skipped


def test_a_clock_time_takes_the_date_above_it(tmp_path):
    two, skipped = transcript(
        tmp_path, "[8:00] Ana: early\n# Session 2, 2024-03-01 09:00\n[10:22] Ana: hi\n[9:00] Bo: no\n"
    )
    assert [said(c) for c in two] == [
        [("Ana", None, "early")],
        [("Ana", "2024-03-01T10:22:00", "hi"), ("Bo", "2024-03-01T09:00:00", "no")],
    ]
    assert skipped == [Skipped("a time without a date, left out", "line 1")]


def test_a_time_that_does_not_exist_is_counted_and_the_words_kept(tmp_path):
    [one], skipped = transcript(tmp_path, "[2024-13-45 10:22] Ana: hi\n[2024-02-30] Bo: hm\n")
    assert said(one) == [("Ana", None, "hi"), ("Bo", None, "hm")]
    assert [s.where for s in skipped] == ["line 1", "line 2"]


def test_other_lines_continue_the_message(tmp_path):
    text = "Ana: milk\n  Note: indented\nhttps://example.org: no name\n\nlast\n\n\nBo:\nbelow\n"
    [one], skipped = transcript(tmp_path, text)
    assert said(one) == [
        ("Ana", None, "milk\n  Note: indented\nhttps://example.org: no name\n\nlast"),
        ("Bo", None, "below"),
    ]
    assert not skipped


def test_in_a_stamped_transcript_only_stamped_lines_start_a_message(tmp_path):
    [one], _ = transcript(tmp_path, "[2024-03-01 10:22] Ana: list\nNote: milk\n[2024-03-01 10:23] Bo: ok")
    assert said(one) == [("Ana", "2024-03-01T10:22:00", "list\nNote: milk"), ("Bo", "2024-03-01T10:23:00", "ok")]


@pytest.mark.parametrize(
    "heading", ["2024-03-02", "# Session 2", "## session two", "--- 2024-03-02 ---", "# 2024-03-02"]
)
def test_headings_start_sessions(tmp_path, heading):
    two, skipped = transcript(tmp_path, f"Ana: a\nBo: b\n{heading}\n\nAna: c\n\nBo: d\n")
    assert [c.session_id for c in two] == ["chat", "chat/" + heading.strip("#- ")]
    assert [m["content"] for c in two for m in c.messages] == ["a", "b", "c", "d"]
    assert not skipped


def test_a_markdown_heading_is_part_of_a_message(tmp_path):
    [one], _ = transcript(tmp_path, "Assistant: plan\n# Monday\nrest\n")
    assert one.messages[0]["content"] == "plan\n# Monday\nrest"


def test_blank_lines_separate_sessions_unless_they_are_everywhere(tmp_path):
    two, _ = transcript(tmp_path, "Ana: a\nBo: b\n\nAna: c\nBo: d\n")
    assert [c.session_id for c in two] == ["chat", "chat/2"]
    one, _ = transcript(tmp_path, "Ana: a\n\nBo: b\n\nAna: c\n\nBo: d\n")
    assert [c.session_id for c in one] == ["chat"]


def test_what_belongs_to_nobody_is_counted(tmp_path):
    two, skipped = transcript(tmp_path, "WhatsApp export\n\nAna: a\nBo:\n\n# Session 2\n# Session 3\nBo: b\n")
    assert len(two) == 2
    assert {(s.reason, s.where) for s in skipped} == {
        ("text before the first speaker", "line 1"),
        ("a message without words", "line 4"),
        ("a session without messages", "session 'chat/Session 2'"),
    }


def test_no_speaker_at_all_is_refused(tmp_path):
    with pytest.raises(InvalidFile, match="no line that starts with a speaker"):
        transcript(tmp_path, "just words\nand more\n")


@pytest.mark.parametrize(
    "text",
    [
        "Ana: hi",
        "\n\n# Session 1\nAna: a long\nanswer\nof many\nlines",
        "# My chat with Bo\nAna: hi",
        "Exported today.\n\nAna: hi\nBo: yes",
        "# Plans\n\nPreface.\n\nHuman: write\nAI: a\nb\nc\nd\ne\nHuman: more\nAI: a\nb\nc\nd\ne",
        "Preface\nof two lines\nand a third\n[2024-03-01 10:22] Ana: hi",
    ],
)
def test_a_transcript_is_told_from_prose(text):
    assert looks_like(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "only words",
        "# My project\n\nThese are notes.\nThey go on.\n\nUsage: read them.\n",
        "Prose.\nMore.\nNote: one\nMore.\nNote: two\nMore.\nAnd more.\n",
        "name,age\nana,3\n",
        "<html>\n<style>\n  color: red\n</style>\n</html>",
    ],
)
def test_prose_is_no_transcript(text):
    assert not looks_like(text)


@pytest.mark.fault("B088")
def test_a_longer_and_a_cut_transcript_name_the_same_messages_the_same(tmp_path):
    lines = [f"{'Ana' if i % 2 else 'Bo'}: {'ok' if i % 3 else f'turn {i}'}" for i in range(40)]
    blocks = "\n\n".join("\n".join(lines[i : i + 4]) for i in range(0, 40, 4))
    whole = [m["id"] for c in transcript(tmp_path, blocks)[0] for m in c.messages]
    longer = [m["id"] for c in transcript(tmp_path, blocks + "\nAna: ok\n")[0] for m in c.messages]
    cut = [m["id"] for c in transcript(tmp_path, blocks.partition("\n\n")[2])[0] for m in c.messages]
    assert len(set(whole)) == 40
    assert longer[:40] == whole
    assert longer[40] not in whole
    assert set(cut) < set(whole)


NAMES = st.sampled_from(["Ana", "Bo", "小明", "Ωmega", "Ana Lee"])
WORDS = st.text(st.characters(exclude_characters="\n\r"), min_size=1).filter(lambda s: s.strip() == s)


@given(st.lists(st.tuples(NAMES, WORDS), min_size=1, max_size=20))
def test_every_message_of_a_transcript_comes_back(messages):
    from mnemic.importers.files import SourceFile
    from mnemic.importers.text import read as read_text

    text = "".join(f"{name}: {words}\n" for name, words in messages)

    class Given(SourceFile):
        def text(self) -> str:
            return text

    records = list(read_text(Given(Path("chat.txt"), "chat")))
    assert [(m["name"], m["content"]) for c in records for m in c.messages] == messages


@pytest.mark.parametrize(
    "line", ["a " * 500_000, "[" * 1_000_000, "2024-03-01 " * 90_000, "Ab" * 500_000 + ":", "# " * 500_000]
)
def test_a_hostile_line_costs_linear_time(tmp_path, line):
    with at_most(1):
        [one], _ = transcript(tmp_path, f"Ana: x\n{line}\n")
        assert len(one.messages) == 1
