"""What a search returns is, byte for byte, what was said: over hostile words, and over all of LoCoMo."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.memory import Memory
from mnemic.models.doubles import HashEmbedder

PIECES = (
    "I went to yoga with Rob yesterday. ",
    "a",
    "\0",
    "\ud800",
    "\udfff",
    "\ud83d\ude00",
    "😀👩‍👩‍👧‍👦",
    "e\u0301",
    "שלום\u200f עולם. ",
    "昨日公园里有三只白鹭。",
    "เราเห็นประภาคาร",
    "\r\n",
    "\u2028",
    "\x85",
    "  ",
    "</memory>",
    "{}%s$1\\",
    "http://example.org/a?b=c ",
    "Dr. Smith said 3.5%! ",
    "ZZ" * 30,
    "\ufeff",
    "\u202e",
)

words = st.lists(st.sampled_from(PIECES) | st.text(max_size=12), min_size=1, max_size=40).map("".join)
contents = words | st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": words})
    | st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.just("http://x"), "caption": words}),
    min_size=1,
    max_size=4,
)
messages = st.lists(
    st.fixed_dictionaries(
        {"content": contents, "speaker": st.sampled_from(("Ana", "Bo\0", "שלום")), "session_id": st.sampled_from("st")}
    ),
    min_size=1,
    max_size=6,
)


def utf8(text):
    return text.encode("utf-8", "surrogatepass")


def given_text(message):
    """The words of a message as its caller has them: the texts and captions of a list joined by line ends."""
    content = message["content"]
    if isinstance(content, str):
        return content
    pieces = [part["text"] if part["type"] == "text" else part["caption"] for part in content]
    return "\n".join(pieces)


def has_words(message):
    """In each of its pieces: a blank message is an error, and a caption of blanks is none."""
    content = message["content"]
    parts = [{"content": content}] if isinstance(content, str) else [{"content": [part]} for part in content]
    return all(given_text(part).strip() for part in parts)


def assert_verbatim(found, said):
    """Each span of each hit is that slice of what was given."""
    for hit in found.results:
        for span, quote in zip(hit.spans, hit.quotes, strict=True):
            words = said[span.turn_id]
            assert 0 <= span.start < span.end <= len(words)
            assert utf8(quote) == utf8(words[span.start : span.end])


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(messages=messages)
def test_hostile_words_come_back_as_they_were(messages):
    usable = [message for message in messages if has_words(message)]
    if not usable:
        return
    said = {str(n): given_text(message) for n, message in enumerate(usable)}
    with (
        tempfile.TemporaryDirectory() as folder,
        Memory.open(Path(folder) / "m.db", embedder=HashEmbedder(16)) as memory,
    ):
        memory.add([{**message, "id": str(n)} for n, message in enumerate(usable)], user_id="u")
        assert {turn.turn_id: turn.text for turn in memory.get_all(user_id="u")} == said
        seen = set()
        for granularity in ("trace", "turn"):
            found = memory.search("Rob 😀 公园", user_id="u", top_k=10_000, granularity=granularity, explain=True)
            assert_verbatim(found, said)
            seen |= {turn_id for hit in found.results for turn_id in hit.turn_ids}
        assert seen == said.keys()
        for note in memory.notes(user_id="u"):
            (source,) = note.sources
            assert utf8(note.text) == utf8(said[source.turn_id][source.start : source.end])


@pytest.fixture(scope="module")
def imported(locomo_turns, tmp_path_factory):
    """All of LoCoMo, by its words alone, each conversation a user."""
    with Memory.open(tmp_path_factory.mktemp("spans") / "m.db", embedder=None) as memory:
        for user_id, turns in locomo_turns.items():
            given = [
                {"id": t.turn_id, "speaker": t.speaker, "content": t.text, "timestamp": t.timestamp,
                 "session_id": t.session_id}
                for t in turns
            ]  # fmt: skip
            memory.add(given, user_id=user_id)
        yield memory


def test_every_span_of_locomo_is_a_slice_of_its_turn(imported, locomo_turns):
    for user_id, turns in locomo_turns.items():
        said = {turn.turn_id: turn.text for turn in turns}
        for granularity in ("trace", "turn"):
            found = imported.search("yoga", user_id=user_id, top_k=10_000, granularity=granularity)
            assert_verbatim(found, said)
            assert {turn_id for hit in found.results for turn_id in hit.turn_ids} == said.keys()


def test_every_turn_of_locomo_is_covered_by_traces(imported, locomo_turns):
    for user_id, turns in locomo_turns.items():
        covered = {turn.turn_id: [False] * len(turn.text) for turn in turns}
        for trace in imported._store.traces(user_id):
            for span in trace.spans:
                marks = covered[span.turn_id]
                assert not any(marks[span.start : span.end])
                marks[span.start : span.end] = [True] * (span.end - span.start)
        for turn in turns:
            missed = [c for c, mark in zip(turn.text, covered[turn.turn_id], strict=True) if not mark]
            assert "".join(missed).strip() == ""
