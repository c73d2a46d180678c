"""The encoder: BERT (Devlin et al., arXiv 1810.04805) as all-MiniLM-L6-v2 is made, pooled to one unit vector.

In plain PyTorch, with the names of the published weights, so that they load as they are and go out the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional

from mnemic.models.clean import clean

_UNUSED = ("pooler.", "embeddings.position_ids")
"""In the file, but not on the way to the mean of the last states."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Sizes of an encoder; the defaults are all-MiniLM-L6-v2's."""

    vocabulary: int = 30_522
    dim: int = 384
    layers: int = 6
    heads: int = 12
    inner: int = 1536
    positions: int = 512
    dropout: float = 0.1


class Encoder(nn.Module):
    """Token ids to unit vectors.

    Args:
        shape: Its sizes.
    """

    def __init__(self, shape: Shape | None = None) -> None:
        super().__init__()
        self.shape = shape = shape or Shape()
        self.embeddings = nn.ModuleDict(
            {
                "word_embeddings": nn.Embedding(shape.vocabulary, shape.dim),
                "position_embeddings": nn.Embedding(shape.positions, shape.dim),
                "token_type_embeddings": nn.Embedding(2, shape.dim),
                "LayerNorm": _norm(shape),
            }
        )
        self.encoder = nn.ModuleDict({"layer": nn.ModuleList(_Layer(shape) for _ in range(shape.layers))})

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """Embed a batch.

        Args:
            ids: (n, t) token ids, padded with anything.
            mask: (n, t) booleans, true where a token is real; at least one a row.

        Returns:
            (n, dim) rows of norm 1: the mean of the real tokens' last states, normalised.
        """
        parts = self.embeddings
        places = torch.arange(ids.shape[1], device=ids.device)
        states = parts["word_embeddings"](ids) + parts["position_embeddings"](places)
        states = parts["LayerNorm"](states + parts["token_type_embeddings"].weight[0])
        states = functional.dropout(states, self.shape.dropout, self.training)
        for layer in self.encoder["layer"]:
            states = layer(states, mask)
        weights = mask.unsqueeze(-1).to(states.dtype)
        return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=1)


class _Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self._shape = shape
        own = {name: nn.Linear(shape.dim, shape.dim) for name in ("query", "key", "value")}
        self.attention = nn.ModuleDict({"self": nn.ModuleDict(own), "output": _output(shape.dim, shape)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(shape.dim, shape.inner)})
        self.output = _output(shape.inner, shape)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        attended = self._closed(self.attention["output"], self._attended(states, mask), states)
        return self._closed(self.output, functional.gelu(self.intermediate["dense"](attended)), attended)

    def _attended(self, states: Tensor, mask: Tensor) -> Tensor:
        n, t, dim = states.shape
        heads = self._shape.heads
        query, key, value = (
            self.attention["self"][name](states).view(n, t, heads, dim // heads).transpose(1, 2)
            for name in ("query", "key", "value")
        )
        # Without dropout of its own: with it torch takes a path that is half as fast.
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask[:, None, None, :])
        return mixed.transpose(1, 2).reshape(n, t, dim)

    def _closed(self, output: nn.ModuleDict, inner: Tensor, before: Tensor) -> Tensor:
        dropped = functional.dropout(output["dense"](inner), self._shape.dropout, self.training)
        return output["LayerNorm"](dropped + before)


def _output(width: int, shape: Shape) -> nn.ModuleDict:
    return nn.ModuleDict({"dense": nn.Linear(width, shape.dim), "LayerNorm": _norm(shape)})


def _norm(shape: Shape) -> nn.LayerNorm:
    return nn.LayerNorm(shape.dim, eps=1e-12)


def loaded(path: Path) -> Encoder:
    """An encoder of all-MiniLM-L6-v2's shape with the weights of a safetensors file, ready to embed.

    Raises:
        RuntimeError: The file has other weights.
    """
    weights: Mapping[str, Tensor] = load_file(path)
    encoder = Encoder()
    encoder.load_state_dict({name: value for name, value in weights.items() if not name.startswith(_UNUSED)})
    return encoder.eval()


class Texts:
    """Texts to token ids, as the embedded embedder reads them, cut at so many tokens.

    Args:
        tokenizer: The file ``tokenizer.json``.
        most: Tokens of a text that are read, [CLS] and [SEP] included; at least 3.
    """

    def __init__(self, tokenizer: Path, *, most: int) -> None:
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(most)

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Ids (n, t) and mask (n, t) of n texts, t the longest of them."""
        rows = [found.ids for found in self._tokenizer.encode_batch([clean(text) for text in texts])]
        return padded(rows)


def padded(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Rows of token ids, at least one, none empty, as ids (n, t) and their mask."""
    ids = torch.zeros((len(rows), max(map(len, rows))), dtype=torch.long)
    mask = torch.zeros_like(ids, dtype=torch.bool)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = torch.tensor(row)
        mask[place, : len(row)] = True
    return ids, mask
