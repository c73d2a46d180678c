"""The training itself: steps over a schedule that is known beforehand, deterministic, and resumable at a checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from training import curve, schedule
from training.checkpoint import Checkpoint
from training.curve import Point
from training.held_out import recall
from training.objective import contrast, excluded, pull
from training.pair import Pair
from training.recipe import Recipe

Tokens = Callable[[Sequence[str]], tuple[Tensor, Tensor]]
"""n texts -> their ids and mask, (n, t) each."""
_AT_ONCE = 32
CHECKPOINT, CURVE = "checkpoint.safetensors", "curve.json"


def train(
    encoder: nn.Module,
    tokens: Tokens,
    pairs: Sequence[Pair],
    held_out: Sequence[Pair],
    recipe: Recipe,
    *,
    folder: Path,
    identity: str,
    say: Callable[[Point, int], None] = lambda point, steps: None,
    stop: int | None = None,
) -> list[Point]:
    """Train an encoder in place, from its checkpoint where it has one.

    Args:
        encoder: With the base weights: what it is pulled towards.
        tokens: Makes its input.
        pairs: To train on.
        held_out: To look at now and then.
        recipe: How.
        folder: Of the checkpoint and of the curve's points.
        identity: Of all that the result depends on; a checkpoint of another one is refused.
        say: Told each point, and how many steps there are.
        stop: End after this step, to go on another time; None for the end.

    Returns:
        The curve from its first step.

    Raises:
        InvalidInput: The checkpoint is of another recipe or of other pairs.
    """
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(recipe.threads)
    torch.manual_seed(recipe.seed)
    base = deepcopy(encoder).eval().requires_grad_(False)
    optimizer = _optimizer(encoder, recipe)
    checkpoint = Checkpoint(folder / CHECKPOINT, identity)
    batches = schedule.batches(pairs, size=recipe.batch, epochs=recipe.epochs, seed=recipe.seed)
    batches = batches[: recipe.most_steps]
    done = checkpoint.restore(encoder, optimizer)
    points = curve.read(folder / CURVE, until=done)
    for number in range(done, len(batches) if stop is None else min(stop, len(batches))):
        rate = schedule.rate(number, len(batches), highest=recipe.rate, warmup=recipe.warmup)
        parts = _step(encoder, base, tokens, [pairs[place] for place in batches[number]], recipe, optimizer, rate)
        step = number + 1
        if step % recipe.check_every == 0 or step == len(batches):
            found = recall(held_out, lambda texts: embedded(encoder, tokens, texts))
            points.append(Point(step, *parts, rate, found[1], found[10]))
            curve.write(folder / CURVE, points)
            checkpoint.save(encoder, optimizer, step)
        else:
            points.append(Point(step, *parts, rate))
        say(points[-1], len(batches))
    encoder.eval()
    return points


def mixed(trained: Mapping[str, Tensor], base: Mapping[str, Tensor], share: float) -> dict[str, Tensor]:
    """Weights between two models: less is forgotten than gained (Wortsman et al., WiSE-FT, arXiv 2109.01903).

    Args:
        trained: Name -> weights.
        base: The same names: what training began with.
        share: Of the trained ones, 0 to 1.
    """
    return {name: torch.lerp(base[name], value, share) for name, value in trained.items()}


def embedded(encoder: nn.Module, tokens: Tokens, texts: Sequence[str]) -> NDArray[np.float32]:
    """(n, dim) unit rows of n texts, without dropout; the like long together, so that little is spent on padding."""
    encoder.eval()
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    rows: list[NDArray[np.float32]] = []
    with torch.inference_mode():
        for start in range(0, len(order), _AT_ONCE):
            rows.append(encoder(*tokens([texts[place] for place in order[start : start + _AT_ONCE]])).numpy())
    found = np.concatenate(rows)
    return found[np.argsort(order)]


def _optimizer(encoder: nn.Module, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter, arXiv 1711.05101); biases and norms do not decay."""
    fixed = ("embeddings.", *(f"encoder.layer.{number}." for number in range(recipe.frozen or 0)))
    for name, value in encoder.named_parameters():
        value.requires_grad_(recipe.frozen is None or not name.startswith(fixed))
    trained = [value for value in encoder.parameters() if value.requires_grad]
    groups = [
        {"params": [value for value in trained if value.ndim > 1], "weight_decay": recipe.decay},
        {"params": [value for value in trained if value.ndim == 1], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, foreach=False)


def _step(
    encoder: nn.Module,
    base: nn.Module,
    tokens: Tokens,
    batch: Sequence[Pair],
    recipe: Recipe,
    optimizer: torch.optim.AdamW,
    rate: float,
) -> tuple[float, float]:
    """One step; the two parts of the loss before it."""
    encoder.train()
    passages = [pair.positive for pair in batch] + [each for pair in batch for each in pair.negatives]
    texts = [*(pair.query for pair in batch), *(passage.text for passage in passages)]
    vectors, targets = _both(encoder, base, tokens, texts)
    same = excluded([passage.groups for passage in passages], len(batch))
    told_apart = contrast(vectors[: len(batch)], vectors[len(batch) :], same, temperature=recipe.temperature)
    moved = pull(vectors, targets)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    (told_apart + recipe.pull * moved).backward()
    nn.utils.clip_grad_norm_([value for value in encoder.parameters() if value.requires_grad], recipe.clip)
    optimizer.step()
    return told_apart.item(), moved.item()


def _both(encoder: nn.Module, base: nn.Module, tokens: Tokens, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """(n, d) rows of n texts, by the encoder and by its base; the like long together, as in ``embedded``."""
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    inputs = [tokens([texts[i] for i in order[start : start + _AT_ONCE]]) for start in range(0, len(order), _AT_ONCE)]
    with torch.no_grad():
        targets = torch.cat([base(*each) for each in inputs])
    back = torch.tensor(order).argsort()
    return torch.cat([encoder(*each) for each in inputs])[back], targets[back]
