"""Trains the embedder: ``make train``, or where torch is installed the command below.

    python -m training.train [--quick] [--output FOLDER]

What is left after an interruption is gone on with. The folder gets ``model.safetensors``, ``curve.json``, ``curve.png``
and ``made.json``, which says what the weights depend on.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from dataclasses import asdict
from pathlib import Path

from safetensors.torch import save_file

from mnemic.config import Environment
from mnemic.models import registry
from training import base, curve, schedule
from training.curve import Point
from training.loop import mixed, train
from training.model import Texts, loaded
from training.prepare import Prepared, prepared
from training.recipe import FULL, QUICK

OUTPUT = Path("build/training")


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains mnemic's embedder.")
    parser.add_argument("--quick", action="store_true", help="a small part of the data, in minutes")
    parser.add_argument("--output", type=Path, help=f"folder of the result (default {OUTPUT}/full or /quick)")
    given = parser.parse_args()
    recipe = QUICK if given.quick else FULL
    folder: Path = given.output or OUTPUT / ("quick" if given.quick else "full")
    folder.mkdir(parents=True, exist_ok=True)
    started = time.process_time()
    published = registry.embedder("minilm")
    assert published is not None
    made = prepared(OUTPUT, recipe.preparation, data_folder=Environment.read().data, base=published)
    pairs = schedule.kept(made.pairs, recipe.most, seed=recipe.seed)
    print(
        f"{len(pairs)} of {len(made.pairs)} pairs; left out because an evaluation has them: {made.dropped}", flush=True
    )
    identity = f"{recipe.fingerprint}-{_fingerprint(made)}"
    encoder = loaded(base.located(base.WEIGHTS))
    tokens = Texts(base.located(base.TOKENIZER), most=recipe.tokens)
    points = train(encoder, tokens, pairs, made.held_out, recipe, folder=folder, identity=identity, say=_say)
    before = loaded(base.located(base.WEIGHTS)).state_dict()
    save_file(mixed(encoder.state_dict(), before, recipe.share), folder / "model.safetensors")
    about = {"recipe": asdict(recipe), "identity": identity, "steps": len(points), "dropped": made.dropped}
    about |= {"cpu_s": round(time.process_time() - started), "pairs": len(pairs)}
    (folder / "made.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    curve.draw(folder / "curve.png", points)


def _fingerprint(made: Prepared) -> str:
    return hashlib.sha256(json.dumps(asdict(made)).encode()).hexdigest()[:16]


def _say(point: Point, steps: int) -> None:
    looked = "" if point.recall_1 is None else f"  held out R@1 {point.recall_1:.3f} R@10 {point.recall_10:.3f}"
    if looked or point.step % 10 == 0:
        print(f"step {point.step}/{steps}  loss {point.contrast:.3f}  from base {point.pull:.4f}{looked}", flush=True)


if __name__ == "__main__":
    main()
