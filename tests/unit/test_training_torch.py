"""What of the training needs torch; the gate runs without it."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs torch: `make test-training` installs it and runs this")

from mnemic.errors import EmbedderUnavailable, InvalidInput  # noqa: E402
from mnemic.models.minilm import MiniLM  # noqa: E402
from training import base, loop  # noqa: E402
from training.loop import train  # noqa: E402
from training.model import Encoder, Shape, loaded, padded  # noqa: E402
from training.objective import contrast, excluded, pull  # noqa: E402
from training.pair import Pair, Passage  # noqa: E402
from training.recipe import Recipe  # noqa: E402

TINY = Shape(vocabulary=40, dim=16, layers=2, heads=2, inner=24, positions=12)
RECIPE = Recipe(frozen=0, epochs=3, batch=4, check_every=2, rate=1e-3, threads=1)
PAIRS = [
    Pair("memory", f"ab{chr(100 + i)}", Passage(f"{chr(100 + i)}xy", (str(i),)), "p", None, (Passage("zz", ("z",)),))
    for i in range(8)
]


def tokens(texts):
    return padded([[1, *(ord(letter) - 96 for letter in text), 2] for text in texts])


def encoder():
    torch.manual_seed(1)
    return Encoder(TINY)


def run(folder, recipe=RECIPE, stop=None, identity="one"):
    folder.mkdir(exist_ok=True)
    made = encoder()
    points = train(made, tokens, PAIRS, PAIRS[:4], recipe, folder=folder, identity=identity, stop=stop)
    return made.state_dict(), points


def test_contrast_is_the_cross_entropy_of_the_own_passage():
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    passages = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    none = torch.zeros((2, 3), dtype=torch.bool)
    scores = np.array([[1.0, 0.6, 0.0], [0.0, 0.8, 1.0]]) / 0.5
    expected = -np.mean([scores[i, i] - np.log(np.exp(scores[i]).sum()) for i in range(2)])
    assert contrast(queries, passages, none, temperature=0.5).item() == pytest.approx(expected, abs=1e-6)
    without = torch.tensor([[False, False, False], [False, False, True]])
    expected = -np.mean(
        [scores[0, 0] - np.log(np.exp(scores[0]).sum()), scores[1, 1] - np.log(np.exp(scores[1, :2]).sum())]
    )
    assert contrast(queries, passages, without, temperature=0.5).item() == pytest.approx(expected, abs=1e-6)


def test_passages_of_a_querys_own_turn_are_no_negatives_but_its_own_stays():
    assert excluded([["a"], ["b", "a"], ["d"], ["b"], ["c"], ["c", "d"]], 3).tolist() == [
        [False, True, False, False, False, False],
        [True, False, False, True, False, False],
        [False, False, False, False, False, True],
    ]


def test_the_pull_is_one_minus_the_cosine():
    rows = torch.tensor([[1.0, 0.0], [0.6, 0.8]])
    assert pull(rows, torch.tensor([[1.0, 0.0], [1.0, 0.0]])).item() == pytest.approx(0.2)


def test_padding_does_not_change_a_vector():
    made = encoder().eval()
    alone, together = made(*tokens(["abc"])), made(*tokens(["abc", "abcdefgh"]))
    assert torch.allclose(alone[0], together[0], atol=1e-6)
    assert torch.allclose(together.norm(dim=1), torch.ones(2), atol=1e-6)


def test_training_again_gives_the_same_weights(tmp_path):
    first, points = run(tmp_path / "a")
    second, again = run(tmp_path / "b")
    assert points == again
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert [point.step for point in points] == list(range(1, 7))
    assert [point.step for point in points if point.recall_1 is not None] == [2, 4, 6]


def test_training_makes_the_loss_small(tmp_path):
    _, points = run(
        tmp_path / "a", Recipe(frozen=0, epochs=40, batch=4, rate=3e-3, threads=1, pull=0.0, check_every=80)
    )
    losses = [point.contrast for point in points]
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


@pytest.mark.parametrize("stop", [2, 3])  # at a checkpoint, and one step behind it
def test_a_training_that_was_interrupted_ends_as_one_that_was_not(tmp_path, stop):
    whole, points = run(tmp_path / "whole")
    run(tmp_path / "parts", stop=stop)
    resumed, again = run(tmp_path / "parts")
    assert again == points
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    run(tmp_path / "a", stop=2)
    with pytest.raises(InvalidInput, match=r"checkpoint\.safetensors is of another recipe, .* --output"):
        run(tmp_path / "a", identity="other")


def test_frozen_embeddings_stay(tmp_path):
    before = encoder().state_dict()
    after, _ = run(tmp_path / "a")
    moved = [name for name in before if not torch.equal(before[name], after[name])]
    assert moved
    assert not [name for name in moved if name.startswith("embeddings.")]
    after, _ = run(tmp_path / "c", recipe=Recipe(epochs=1, batch=4, rate=1e-3, threads=1, frozen=1))
    moved = [name for name in before if not torch.equal(before[name], after[name])]
    assert moved
    assert not [name for name in moved if name.startswith(("embeddings.", "encoder.layer.0."))]
    after, _ = run(tmp_path / "b", recipe=Recipe(epochs=1, batch=4, rate=1e-3, threads=1, frozen=None))
    assert not torch.equal(before["embeddings.word_embeddings.weight"], after["embeddings.word_embeddings.weight"])


def test_mixed_weights_lie_between_both():
    base, trained = {"a": torch.tensor([0.0, 2.0])}, {"a": torch.tensor([1.0, 4.0])}
    assert loop.mixed(trained, base, 0.25)["a"].tolist() == [0.25, 2.5]
    assert loop.mixed(trained, base, 1.0)["a"].tolist() == [1.0, 4.0]


def test_a_strong_pull_keeps_the_vectors(tmp_path):
    texts = [pair.query for pair in PAIRS]
    base = loop.embedded(encoder(), tokens, texts)
    far = []
    for weight in (0.0, 50.0):
        made = encoder()
        recipe = Recipe(frozen=0, epochs=20, batch=4, rate=3e-3, threads=1, pull=weight, check_every=40)
        (tmp_path / str(weight)).mkdir()
        train(made, tokens, PAIRS, PAIRS[:4], recipe, folder=tmp_path / str(weight), identity="one")
        far.append(float(np.mean(1 - (loop.embedded(made, tokens, texts) * base).sum(axis=1))))
    assert far[1] < far[0] / 4


def test_embedding_many_is_embedding_each(tmp_path):
    made = encoder()
    texts = ["".join(letters) for letters in itertools.product("abcd", repeat=3)] + ["abcdefghi", "a"]
    together = loop.embedded(made, tokens, texts)
    alone = np.concatenate([loop.embedded(made, tokens, [text]) for text in texts])
    assert np.allclose(together, alone, atol=1e-6)
    assert not made.training


@pytest.fixture(scope="module")
def weights():
    try:
        return base.located(base.WEIGHTS)
    except EmbedderUnavailable as error:
        pytest.skip(str(error))


def test_the_base_is_the_embedded_embedder(weights):
    from training.embedder import TrainedMiniLM

    texts = ["What did Caroline research?", "Researching adoption agencies.", "", "tea and coffee " * 300, "naïve 🙂"]
    found, expected = TrainedMiniLM(weights).embed(texts), MiniLM().embed(texts)
    assert (found * expected).sum(axis=1)[[0, 1, 3, 4]] == pytest.approx(1, abs=5e-3)  # int8 against fp32
    assert not found[2].any()
    assert loaded(weights).training is False
