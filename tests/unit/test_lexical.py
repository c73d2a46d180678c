from __future__ import annotations

import math
import unicodedata
from collections import Counter

import bm25s
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.algo.bm25 import BM25
from mnemic.algo.lexical import STOP_WORDS, content_terms, fold, terms
from yardstick import at_most

# terms ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("She was running, he ran.", ["she", "was", "run", "he", "ran"]),
        ("東京へ行く。猫", ["東京", "京へ", "へ行", "行く", "猫"]),
        ("日本語とEnglishのmix", ["日本", "本語", "語と", "english", "の", "mix"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("ฉันรัก", ["ฉั", "ัน", "นร", "รั", "ัก"]),
        ("नमस्ते दुनिया, किताबें", ["नमस्ते", "दुनिया", "किताबें"]),
        ("مرحبا، بالعالم", ["مرحبا", "بالعالم"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("Привет, МИР!", ["привет", "мир"]),
        ("한국어 문장", ["한국", "국어", "문장"]),
        ("😀😀 ok 👍🏽", ["😀", "😀", "ok", "👍"]),
        ("I ❤️ it", ["i", "❤", "it"]),
        ("C++ and C# or c", ["c++", "and", "c#", "or", "c"]),
        ("AB-358", ["ab", "358"]),
        ("don't don’t dont", ["dont", "dont", "dont"]),
        ("Ana's Ana’s ana", ["ana", "ana", "ana"]),
        ("O'Brien's O’Brien", ["obrien", "obrien"]),
        ("Jones' 'quoted'", ["jone", "quot"]),
        ("snake_case __x__", ["snake", "case", "x"]),
        ("Straße STRASSE", ["strass", "strass"]),
        ("ﬁne ｆｕｌｌ", ["fine", "full"]),
        ("ｶﾞｶﾞ ガガ", ["ガガ", "ガガ"]),
        ("a\0b \ud800 x", ["a", "b", "x"]),
        ("", []),
        (" \n\t…—!?", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("text", ["Café Ångström naïve", "Việt Nam đã", "パパ がぎ", "한국어", "Ёлка й"])
def test_composed_and_decomposed_letters_give_equal_terms(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert composed != decomposed
    assert terms(composed) == terms(decomposed)


def test_accents_do_not_matter_but_voiced_kana_do() -> None:
    assert terms("Café") == terms("cafe")
    assert terms("かか") != terms("がが")


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_no_text_raises_and_no_term_is_empty(text: str) -> None:
    found = terms(text)
    assert all(found)
    assert not any(character.isspace() for term in found for character in term)


@given(st.text(max_size=40))
def test_folding_twice_is_folding_once_for_search(text: str) -> None:
    assert terms(fold(text)) == terms(text)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 200_000,
        "a" * 1_000_000,
        "猫" * 1_000_000,
        "a'" * 500_000,
        "é" + "\u0301\u0323" * 500_000,
        "é" + "\U0001d165\U0001d17b" * 500_000,
        ("é" + "\u0301\u0323" * 14) * 35_000,
        "c+" * 500_000,
        "—" * 1_000_000,
        "😀" * 500_000,
        "\ud800" * 1_000_000,
    ],
    ids=["words", "letters", "han", "quotes", "marks", "music", "zalgo", "code", "dashes", "emoji", "surrogates"],
)
def test_a_megabyte_takes_no_more_than_a_moment(text: str) -> None:
    with at_most(5):  # quadratic time would be minutes
        terms(text)


def test_questions_lose_their_stop_words_unless_nothing_else_is_left() -> None:
    assert content_terms("What did you say about the trains?") == ["say", "train"]
    assert content_terms("Who is it?") == ["who", "is", "it"]
    assert content_terms("What doesn't he like?") == ["like"]
    assert {"the", "doesnt", "whats"} <= STOP_WORDS


# BM25 ----------------------------------------------------------------------------------------------------


def index(*documents: list[str]) -> BM25:
    made = BM25()
    for document in documents:
        made.add(document)
    return made


def test_scores_by_hand() -> None:
    made = index(["a", "b", "a"], ["b"], ["c", "c"])
    mean = 2
    idf_a, idf_b = math.log(1 + 2.5 / 1.5), math.log(1 + 1.5 / 2.5)

    def tf(count: int, length: int) -> float:
        return count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean))

    assert made.scores(["a", "b"]) == pytest.approx([idf_a * tf(2, 3) + idf_b * tf(1, 3), idf_b * tf(1, 1), 0])
    assert made.idf("a") == pytest.approx(idf_a)
    assert made.frequency("b") == 2


def test_a_term_counts_once_in_a_query_and_unknown_ones_not_at_all() -> None:
    made = index(["a"], ["b"])
    assert made.scores(["a", "a", "unknown"]).tolist() == made.scores(["a"]).tolist()
    assert made.scores([]).tolist() == [0, 0]


def test_no_documents_or_only_empty_ones() -> None:
    assert BM25().scores(["a"]).tolist() == []
    assert index([], []).scores(["a"]).tolist() == [0, 0]


def test_coverage_is_the_share_of_the_words_by_rarity_however_long_a_document_is() -> None:
    made = index(["a", "b", *["x"] * 10_000], ["a"], ["c"])
    idf = {term: made.idf(term) for term in ("a", "b", "unknown")}
    assert made.coverage(["a", "b", "b"]).tolist() == pytest.approx([1, idf["a"] / (idf["a"] + idf["b"]), 0])
    assert made.coverage(["a", "unknown"])[1] == pytest.approx(idf["a"] / (idf["a"] + idf["unknown"]))
    assert made.coverage([]).tolist() == made.coverage(["unknown"]).tolist() == [0, 0, 0]


def test_removing_twice_is_refused() -> None:
    made = index(["a"], ["b"])
    made.remove(0)
    with pytest.raises(IndexError, match="removed before"):
        made.remove(0)
    with pytest.raises(IndexError):
        made.remove(2)


def test_numbers_are_not_given_again() -> None:
    made = index(["a"], ["b"])
    made.remove(1)
    assert made.add(["c"]) == 2
    assert len(made) == 3
    assert made.scores(["b"]).tolist() == [0, 0, 0]


def test_its_size_follows_what_it_holds() -> None:
    made = index(["a", "b"], ["b", "c", "d"])
    held = made.nbytes
    made.add(["e", "f"])
    assert made.nbytes > held


documents = st.lists(st.lists(st.sampled_from("abcde"), max_size=8), min_size=1, max_size=8)
queries = st.lists(st.sampled_from("abcdez"), max_size=4, unique=True)


def naive(texts: list[list[str]], query: list[str], k1: float, b: float) -> list[float]:
    n, total = len(texts), sum(map(len, texts))
    scores = []
    for text in texts:
        counts = Counter(text)
        score = 0.0
        for term in query:
            df = sum(term in other for other in texts)
            if counts[term]:
                idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
                score += idf * counts[term] * (k1 + 1) / (counts[term] + k1 * (1 - b + b * len(text) * n / total))
        scores.append(score)
    return scores


@given(documents, queries, st.sampled_from([(1.2, 0.75), (0.9, 0.4), (2.0, 1.0)]))
def test_equals_a_naive_implementation(texts: list[list[str]], query: list[str], options: tuple[float, float]) -> None:
    made = BM25(k1=options[0], b=options[1])
    for text in texts:
        made.add(text)
    assert made.scores(query).tolist() == pytest.approx(naive(texts, query, *options))


@settings(max_examples=40, deadline=None)
@given(documents.filter(any), queries)
def test_equals_bm25s_up_to_the_factor_that_lucene_leaves_out(texts: list[list[str]], query: list[str]) -> None:
    theirs = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    theirs.index(texts, show_progress=False)
    known = [term for term in query if any(term in text for text in texts)]
    expected = 2.2 * theirs.get_scores(known) if known else np.zeros(len(texts))
    assert index(*texts).scores(query) == pytest.approx(expected, rel=1e-5)


@given(documents, st.lists(st.integers(0, 7), unique=True), documents, queries)
def test_removal_equals_an_index_that_never_had_the_documents(
    first: list[list[str]], gone: list[int], later: list[list[str]], query: list[str]
) -> None:
    made = index(*first)
    gone = [number for number in gone if number < len(first)]
    for number in gone:
        made.remove(number)
    for text in later:
        made.add(text)
    left = [number for number in range(len(first)) if number not in gone]
    never = index(*[first[number] for number in left], *later)

    kept = [*left, *range(len(first), len(first) + len(later))]
    assert made.scores(query)[kept].tolist() == never.scores(query).tolist()
    assert not made.scores(query)[gone].any()
    assert made.coverage(query)[kept].tolist() == pytest.approx(never.coverage(query).tolist())
    assert not made.coverage(query)[gone].any()
    assert [made.frequency(term) for term in "abcde"] == [never.frequency(term) for term in "abcde"]


def test_a_korean_word_is_found_whatever_particle_it_carries() -> None:
    assert set(terms("서울")) <= set(terms("서울에서 친구를 만났다"))
    assert set(terms("친구")) <= set(terms("서울에서 친구를 만났다"))
