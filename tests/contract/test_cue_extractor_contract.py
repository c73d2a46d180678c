"""What every cue extractor promises (``protocols.CueExtractor``)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemic.algo.cues import normalise
from mnemic.errors import MissingExtra
from mnemic.models.cues import RuleCues, SpacyCues
from mnemic.protocols import CueExtractor

EXTRACTORS: list[Callable[[], CueExtractor]] = [RuleCues, SpacyCues]

TEXTS = [
    "Caroline went to the LGBTQ support group in New York on 7 May 2023.",
    "John's mother bought 3 dogs for $20; john and JOHN did not.",
    "When did the user ask the assistant about Caroline’s painting?",
]
HOSTILE = [
    "",
    " \n\t",
    "\x00\x00dogs\x00",
    "lone \ud800 surrogate and cats \udfff",
    "\u202ertl\u202c \u200f\u05e9\u05dc\u05d5\u05dd",
    "e\u0301" * 50,
    "\u0301\u0301",
    "昨日公园里有三只白鹭",
    "😀👨‍👩‍👧🇫🇮",
    "don't AB-358 a:b \"x, (y, path/to, \\*, NEAR, AND, C++, 100%, ?",
    "((((((((((" * 20,
    "' OR 1=1; DROP TABLE turns; --",
    "{{prompt}} %s {0} <script>alert(1)</script>",
    "x" * 20_000,
    "many dogs and cats. " * 500,
]


@pytest.fixture(scope="module", params=EXTRACTORS, ids=lambda extractor: extractor.__name__)
def extractor(request: pytest.FixtureRequest) -> CueExtractor:
    try:
        return request.param()
    except MissingExtra as missing:
        pytest.skip(str(missing))


def test_has_a_stable_name(extractor: CueExtractor) -> None:
    assert extractor.name == type(extractor)().name
    assert extractor.name.isascii()
    assert extractor.name


def test_one_list_for_each_text(extractor: CueExtractor) -> None:
    assert extractor.extract([], names=set()) == []
    assert [len(found) > 0 for found in extractor.extract([*TEXTS, ""], names=set())] == [True, True, True, False]


@pytest.mark.parametrize("names", [set(), {"John", "Caroline"}, {"", "(", "\ud800", "[a"}, ["John", "John"]])
def test_mentions_are_slices_in_order_under_their_keys(extractor: CueExtractor, names: set[str]) -> None:
    texts = TEXTS + HOSTILE
    for text, found in zip(texts, extractor.extract(texts, names=names), strict=True):
        for mention in found:
            assert text[mention.start : mention.end] == mention.surface
            assert mention.key == normalise(mention.surface)
            assert mention.key
        assert [mention.start for mention in found] == sorted(mention.start for mention in found)


def test_finds_topics(extractor: CueExtractor) -> None:
    found = [{mention.key for mention in mentions} for mentions in extractor.extract(TEXTS, names=set())]
    assert {"lgbtq support group", "new york"} <= found[0]
    assert any("paint" in key for key in found[2])


def test_participants_are_no_cues(extractor: CueExtractor) -> None:
    for found in extractor.extract(TEXTS, names={"John", "caroline"}):
        for mention in found:
            assert not {"john", "caroline", "john's", "user", "assistant"} & set(mention.key.split())
    keys = {mention.key for mention in extractor.extract(TEXTS, names={"John"})[1]}
    assert "mother" in keys


def test_a_text_does_not_depend_on_its_neighbours(extractor: CueExtractor) -> None:
    together = extractor.extract(TEXTS + HOSTILE[:10], names={"John"})
    alone = [extractor.extract([text], names={"John"})[0] for text in TEXTS + HOSTILE[:10]]
    assert together == alone


def test_is_thread_safe(extractor: CueExtractor) -> None:
    expected = extractor.extract(TEXTS, names=set())
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: extractor.extract(TEXTS, names=set()), range(8)))
    assert results == [expected] * 8


def test_without_its_extra_spacy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    with pytest.raises(MissingExtra, match=r"pip install 'mnemic\[spacy\]'"):
        SpacyCues()
