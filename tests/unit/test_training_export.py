"""From trained weights to what onnxruntime runs: the graph is the encoder, but for the rounding of its weights."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is installed for `make test-training` alone")
onnx_graph = pytest.importorskip("training.onnx_graph", reason="onnx is installed for `make test-training` alone")

from training.model import Encoder, Shape, padded  # noqa: E402 - only where torch is
from training.pair import Pair, Passage  # noqa: E402
from training.parity import parity  # noqa: E402

SMALL = Shape(vocabulary=100, dim=64, layers=2, heads=4, inner=128, positions=32)


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return Encoder(SMALL).eval()


@pytest.fixture(scope="module")
def session(encoder):
    import onnxruntime

    weights = {name: value.numpy().copy() for name, value in encoder.state_dict().items()}
    model = onnx_graph.graph(weights, SMALL).SerializeToString()
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def states(session, ids, mask):
    return session.run(None, {"input_ids": ids.numpy(), "attention_mask": mask.numpy().astype(np.int64)})[0]


def pooled(session, ids, mask):
    summed = (states(session, ids, mask) * mask.numpy()[..., None]).sum(axis=1)
    return summed / np.linalg.norm(summed, axis=1, keepdims=True)


def rows(lengths):
    rng = np.random.default_rng(0)
    return [rng.integers(1, 100, size=length).tolist() for length in lengths]


def test_the_graph_gives_what_the_encoder_gives(encoder, session):
    ids, mask = padded(rows([3, 32, 1, 17]))
    with torch.inference_mode():
        expected = encoder(ids, mask).numpy()
    assert (pooled(session, ids, mask) * expected).sum(axis=1) == pytest.approx(1, abs=1e-3)


def test_a_text_does_not_depend_on_what_it_is_embedded_with(session):
    texts = rows([5, 30, 2])
    together = pooled(session, *padded(texts))
    for row, text in zip(together, texts, strict=True):
        assert pooled(session, *padded([text]))[0] == pytest.approx(row, abs=1e-5)


def test_rounding_is_within_half_a_step_of_its_block():
    values = np.random.default_rng(1).normal(size=(7, 96)).astype(np.float32)
    values[3, :32] = 0
    whole, scale = onnx_graph.rounded(values)
    assert (whole.shape, scale.shape) == ((7, 3, 32), (7, 3, 1))
    steps = np.abs(values.reshape(7, 3, 32) - whole * scale.astype(np.float32)) / scale.astype(np.float32)
    assert steps.max() < 0.57  # half a step, and what a scale in half precision adds at the 127th


def test_parity_of_an_embedder_with_itself_is_whole_and_with_another_less():
    class Turned:
        def __init__(self, seed):
            self.seed = seed

        def embed(self, texts):
            made = np.stack([np.random.default_rng((self.seed, *text.encode())).normal(size=16) for text in texts])
            return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    pairs = [Pair("memory", f"q{n}", Passage(f"p{n}", (str(n),)), "pool") for n in range(30)]
    own = parity(Turned(0), Turned(0), pairs)
    assert (own.cosine, own.same, own.shared) == (pytest.approx(1), 1.0, 1.0)
    other = parity(Turned(0), Turned(1), pairs)
    assert other.cosine < 0.5
    assert other.same < 0.2
    assert other.shared == pytest.approx(1 / 3, abs=0.15)  # ten of thirty at random
