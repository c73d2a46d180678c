"""The encoder as an ONNX graph with int8 weights, built node by node: what onnxruntime runs inside ``mnemic``.

Weights alone are rounded, symmetrically, with one scale for each 32 of a row (blocks as in Dettmers et al., arXiv
2208.07339 and later; no activation is rounded): they are unpacked when the session is made, and the arithmetic stays in
single precision, so that a text's vector does not depend on what is embedded with it. Query, key and value are one
product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, NodeProto, TensorProto, checker, helper, numpy_helper

from training.model import Shape

Weights = Mapping[str, NDArray[np.float32]]
OPSET = 20
"""The first with Gelu."""
_FLOAT = TensorProto.FLOAT
_BLOCK = 32
_LOWEST_SCALE = 1e-7  # the least that float16 holds, nearly


@dataclass(slots=True)
class _Graph:
    nodes: list[NodeProto] = field(default_factory=list)
    constants: list[TensorProto] = field(default_factory=list)

    def put(self, kind: str, inputs: list[str], output: str, **attributes: object) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name: str, values: NDArray) -> str:
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def unpacked(self, name: str, values: NDArray[np.float32]) -> str:
        """A table of weights (n, m), stored in eight bits with a scale for each block of a row."""
        whole, scale = rounded(values)
        self.constant(f"{name}.int8", whole)
        self.constant(f"{name}.scale", scale)
        # Not DequantizeLinear, which onnxruntime keeps and runs for every text.
        wide = [self.put("Cast", [f"{name}.{part}"], f"{name}.{part}.wide", to=_FLOAT) for part in ("int8", "scale")]
        shape = self.constant(f"{name}.shape", np.array(values.shape, np.int64))
        return self.put("Reshape", [self.put("Mul", wide, f"{name}.blocks"), shape], name)

    def linear(self, states: str, name: str, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        """``states @ weight.T + bias``; weight (out, in)."""
        table = self.put("Transpose", [self.unpacked(f"{name}.weight", weight)], f"{name}.turned", perm=[1, 0])
        product = self.put("MatMul", [states, table], f"{name}.product")
        return self.put("Add", [product, self.constant(f"{name}.bias", bias)], name)

    def norm(self, states: str, name: str, weights: Weights) -> str:
        parts = [self.constant(f"{name}.{part}", weights[f"{name}.{part}"]) for part in ("weight", "bias")]
        return self.put("LayerNormalization", [states, *parts], name, axis=-1, epsilon=1e-12)


def rounded(values: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """A matrix in whole numbers from -127 to 127 and the scales of its blocks: it is about their product.

    Args:
        values: (n, m), m a multiple of 32.

    Returns:
        (n, m / 32, 32) and (n, m / 32, 1).
    """
    blocks = values.reshape(len(values), -1, _BLOCK)
    scale = np.maximum(np.abs(blocks).max(axis=2, keepdims=True) / 127, _LOWEST_SCALE).astype(np.float16)
    # A scale that was rounded down would not reach the largest.
    return np.clip(np.rint(blocks / scale.astype(np.float32)), -127, 127).astype(np.int8), scale


def graph(weights: Weights, shape: Shape) -> ModelProto:
    """``input_ids`` and ``attention_mask``, (n, t) int64, to ``last_hidden_state``, (n, t, dim) float32.

    Args:
        weights: By the names of the published file (``training.model.Encoder.state_dict``).
        shape: Their sizes.
    """
    made = _Graph()
    states = _embedded(made, weights)
    mask = _mask(made)
    for number in range(shape.layers):
        states = _layer(made, f"encoder.layer.{number}", states, mask, weights, shape)
    made.put("Identity", [states], "last_hidden_state")
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", shape.dim])
    body = helper.make_graph(made.nodes, "encoder", inputs, [output], made.constants)
    model = helper.make_model(
        body, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9, producer_name="mnemic"
    )
    checker.check_model(model, full_check=True)
    return model


def _embedded(made: _Graph, weights: Weights) -> str:
    words = made.unpacked("words", weights["embeddings.word_embeddings.weight"])
    kind = weights["embeddings.token_type_embeddings.weight"][0]
    # All is of one kind, so that the kind's vector is added to the places' once and for all.
    places = made.unpacked("places", weights["embeddings.position_embeddings.weight"] + kind)
    found = made.put("Gather", [words, "input_ids"], "found")
    size = made.put("Shape", ["input_ids"], "length", start=1, end=2)
    zero, one = made.constant("zero", np.array([0], np.int64)), made.constant("one", np.array([1], np.int64))
    here = made.put("Slice", [places, zero, size, zero, one], "here")
    return made.norm(made.put("Add", [found, here], "sum"), "embeddings.LayerNorm", weights)


def _mask(made: _Graph) -> str:
    """(n, 1, 1, t): 0 where a token is real, far below 0 where it is not."""
    axes = made.constant("axes", np.array([1, 2], np.int64))
    real = made.put("Cast", ["attention_mask"], "real", to=TensorProto.FLOAT)
    less = made.put("Sub", [real, made.constant("unit", np.array(1, np.float32))], "less")
    far = made.put("Mul", [less, made.constant("far", np.array(1e9, np.float32))], "away")
    return made.put("Unsqueeze", [far, axes], "mask")


def _layer(made: _Graph, name: str, states: str, mask: str, weights: Weights, shape: Shape) -> str:
    def of(part: str) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return weights[f"{name}.{part}.weight"], weights[f"{name}.{part}.bias"]

    mixed = made.linear(
        _attended(made, name, states, mask, weights, shape), f"{name}.mixed", *of("attention.output.dense")
    )
    beside = made.put("Add", [mixed, states], f"{name}.beside")
    attended = made.norm(beside, f"{name}.attention.output.LayerNorm", weights)
    inner = made.put("Gelu", [made.linear(attended, f"{name}.inner", *of("intermediate.dense"))], f"{name}.gelu")
    outer = made.linear(inner, f"{name}.outer", *of("output.dense"))
    return made.norm(made.put("Add", [outer, attended], f"{name}.sum"), f"{name}.output.LayerNorm", weights)


def _attended(made: _Graph, name: str, states: str, mask: str, weights: Weights, shape: Shape) -> str:
    width = shape.dim // shape.heads
    own = f"{name}.attention.self"
    weight, bias = (
        np.concatenate([weights[f"{own}.{part}.{kind}"] for part in ("query", "key", "value")])
        for kind in ("weight", "bias")
    )
    # The scale of the scores is in the weights of the query already.
    weight[: shape.dim] /= np.sqrt(width)
    bias[: shape.dim] /= np.sqrt(width)
    product = made.linear(states, f"{own}.product", weight, bias)
    heads = made.constant(f"{own}.heads", np.array([0, 0, 3, shape.heads, width], np.int64))
    parted = made.put("Reshape", [product, heads], f"{own}.parted")
    ordered = made.put("Transpose", [parted], f"{own}.ordered", perm=[2, 0, 3, 1, 4])
    query, key, value = (
        made.put(
            "Gather", [ordered, made.constant(f"{own}.{place}", np.array(place, np.int64))], f"{own}.{part}", axis=0
        )
        for place, part in enumerate(("query", "key", "value"))
    )
    turned = made.put("Transpose", [key], f"{own}.turned", perm=[0, 1, 3, 2])
    scores = made.put("Add", [made.put("MatMul", [query, turned], f"{own}.scores"), mask], f"{own}.masked")
    shares = made.put("Softmax", [scores], f"{own}.shares", axis=-1)
    read = made.put("Transpose", [made.put("MatMul", [shares, value], f"{own}.read")], f"{own}.back", perm=[0, 2, 1, 3])
    flat = made.constant(f"{own}.flat", np.array([0, 0, shape.dim], np.int64))
    return made.put("Reshape", [read, flat], f"{own}.joined")
