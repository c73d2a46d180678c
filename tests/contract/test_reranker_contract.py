"""What every reranker promises (``protocols.Reranker``), run over each of them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mnemic.errors import RerankingFailed
from mnemic.models.doubles import HashEmbedder
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.models.rerankers import CrossEncoderReranker, LateInteractionReranker

TEXTS = [
    "Ana: The ferry to the island leaves at noon.",
    "John went to a yoga class with Rob last Saturday.",
    "",
    "The stock market fell by two percent on Friday, and nobody knew why it did.",
    "a\x00b \ud800 他上周末去了京都 👩‍👩‍👧",
]
QUESTION = "Who did John go to yoga with?"


class FakeCrossEncoder:
    """Cosine of hashed words, as logits."""

    def predict(self, inputs, *, show_progress_bar):
        for pair in inputs:
            "".join(pair).encode()  # as a tokenizer does
        left, right = (HashEmbedder().embed([pair[side] for pair in inputs]) for side in (0, 1))
        return 10 * (left * right).sum(axis=1)


MAKERS = {
    "cross-encoder": lambda: CrossEncoderReranker("fake", model=FakeCrossEncoder()),
    "late-interaction": lambda: LateInteractionReranker(MnemicMiniLM()),
}


@pytest.fixture(scope="module", params=MAKERS)
def reranker(request):
    return MAKERS[request.param]()


def test_it_has_a_name(reranker):
    assert reranker.name


def test_one_finite_number_a_text_and_the_best_is_best(reranker):
    scores = reranker.score(QUESTION, TEXTS)
    assert len(scores) == len(TEXTS)
    assert np.isfinite(scores).all()
    assert np.argmax(scores) == 1


def test_no_texts_have_no_scores(reranker):
    assert list(reranker.score(QUESTION, [])) == []


def test_scores_do_not_depend_on_the_order_or_the_company(reranker):
    scores = reranker.score(QUESTION, TEXTS)
    assert reranker.score(QUESTION, TEXTS[::-1]) == pytest.approx(scores[::-1], abs=1e-5)
    alone = [reranker.score(QUESTION, [text])[0] for text in TEXTS]
    assert alone == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize(
    "query", ["", "\x00", "\ud83d", "👀", "long " * 3000], ids=["blank", "NUL", "half", "emoji", "long"]
)
def test_hostile_queries_are_scored(reranker, query):
    assert np.isfinite(reranker.score(query, TEXTS)).all()


def test_threads_do_not_disturb_each_other(reranker):
    wanted = reranker.score(QUESTION, TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for scores in pool.map(lambda _: reranker.score(QUESTION, TEXTS), range(8)):
            assert scores == pytest.approx(wanted, abs=1e-5)


# Failures ---------------------------------------------------------------------------------------------


class Returning:
    def __init__(self, result):
        self.result = result

    def predict(self, inputs, *, show_progress_bar):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    "result",
    [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], [1.0, float("nan")], None, ["a", "b"], RuntimeError("out of memory")],
    ids=repr,
)
def test_a_wrong_result_is_an_error_that_names_the_reranker(result):
    with pytest.raises(RerankingFailed, match="cross-encoder:bent"):
        CrossEncoderReranker("bent", model=Returning(result)).score("q", ["a", "b"])


def test_a_missing_library_is_named_with_its_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(RerankingFailed, match="pip install sentence-transformers"):
        CrossEncoderReranker().score("q", ["a"])


def test_late_interaction_reports_a_failing_embedder(tmp_path):
    gone = LateInteractionReranker(MnemicMiniLM(weights=tmp_path / "gone.onnx"))
    with pytest.raises(RerankingFailed, match=r"late-interaction:mnemic-minilm-1.*gone\.onnx"):
        gone.score("q", ["a"])


def test_late_interaction_is_the_mean_of_the_best_cosines():
    class Tokens:
        name = "tokens"

        def token_embeddings(self, texts):
            axes = np.eye(3, dtype=np.float32)
            return [axes[["abc".index(letter) for letter in text]].reshape(-1, 3) for text in texts]

    reranker = LateInteractionReranker(Tokens())
    assert reranker.score("ab", ["abc", "a", "ccc", "", "bbba"]) == [1.0, 0.5, 0.0, 0.0, 1.0]


def test_token_vectors_average_to_the_embedding():
    model = MnemicMiniLM()
    text = "we went to the harbour and ate fish"
    tokens, blank, long = model.token_embeddings([text, " ", "word " * 600])
    assert tokens.shape == (8, 384)
    np.testing.assert_allclose(np.linalg.norm(tokens, axis=1), 1, atol=1e-5)
    assert tokens.mean(axis=0) @ model.embed([text])[0] > 0.6
    assert blank.shape == (0, 384)
    assert long.shape == (600, 384)
