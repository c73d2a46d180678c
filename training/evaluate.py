"""Compares trained weights with the base's: on LoCoMo's development half, on held-out personas, and in similarity.

    python -m training.evaluate FOLDER [--system NAME ...]

The test half is never read here. The thresholds and weights of ``default`` are those fitted to the base. The numbers go
to ``FOLDER/evaluation.json``, after each system.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from mnemic.bench.datasets.loading import load
from mnemic.config import Environment
from training import base, data, evaluated, held_out, on_locomo, prepare
from training.embedder import TrainedMiniLM
from training.similarity import correlation, sentence_pairs


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares trained weights with the base's on development data.")
    parser.add_argument("folder", type=Path, help="of a training")
    parser.add_argument("--system", action="append", choices=on_locomo.SYSTEMS, help="only this one; may come again")
    given = parser.parse_args()
    data_folder = Environment.read().data
    before = TrainedMiniLM(base.located(base.WEIGHTS))
    after = TrainedMiniLM(given.folder / "model.safetensors")
    kept = prepare.parted(data.read(data_folder / "train", evaluated.keys(data_folder)))[1]
    found: dict[str, object] = {
        "similarity": {
            name: correlation(sentence_pairs(kept.turns, seed=0, together=together), before, after)
            for name, together in (("any two sentences", False), ("two sentences of one turn", True))
        },
        "held_out": {
            name: held_out.recall(prepare.checks(kept), one.embed)
            for name, one in (("base", before), ("trained", after))
        },
    }
    dataset = load("locomo", "dev", data=data_folder)
    for name in (None, *(given.system or on_locomo.SYSTEMS)):
        if name is not None:
            rows = [on_locomo.rows(name, one, dataset) for one in (before, after)]
            found[name] = on_locomo.compared(*rows)
        text = json.dumps(found, indent=2)
        (given.folder / "evaluation.json").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
