"""The grounding gate takes any text, and more context never makes a name or number unsupported."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.grounding import ground
from mnemic.types import Turn

AT = datetime(2024, 3, 10, 12, tzinfo=UTC)
VOCABULARY = "Ana Bo Tom Oslo never not I moved last Friday two 21 hundred dogs if ? . , \" ' don't no and yesterday"
WORDS = st.lists(st.sampled_from(VOCABULARY.split()), max_size=12).map(" ".join)
TEXTS = WORDS | st.text(max_size=40)


def turns(texts: list[str]) -> list[Turn]:
    return [Turn(f"t{n}", "s", "user", ("Ana", "Bo")[n % 2], text, AT) for n, text in enumerate(texts)]


@settings(deadline=None)
@given(note=TEXTS, about=st.sampled_from(["Ana", "Bo", "Tom", ""]), said=st.lists(TEXTS, min_size=1, max_size=3))
def test_any_text_is_taken_and_the_answer_is_always_the_same(note, about, said):
    found = ground(note, about, turns(said))
    assert found == ground(note, about, turns(said))
    assert all(isinstance(fault.what, str) for fault in found)


@settings(deadline=None)
@given(note=TEXTS, said=TEXTS, before=st.lists(TEXTS, max_size=2))
def test_context_supports_names_and_numbers_and_takes_nothing_away(note, said, before):
    cited = turns([said])
    alone = ground(note, "Ana", cited, speakers=("Ana", "Bo"))
    context = [Turn(f"b{n}", "s", "user", "Bo", text, AT) for n, text in enumerate(before)]
    more = ground(note, "Ana", cited, before=context, speakers=("Ana", "Bo"))
    kinds = ("name", "number", "date")
    assert {fault for fault in more if fault.reason in kinds} <= {fault for fault in alone if fault.reason in kinds}
