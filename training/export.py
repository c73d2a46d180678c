"""Makes of trained weights what onnxruntime runs: a graph with int8 weights, and its tokenizer.

    python -m training.export FOLDER [--into FOLDER]

``FOLDER`` is a training's. Says the files' checksums, and how alike the rounded weights are to those before rounding;
writes that to ``FOLDER/export.json``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path

from mnemic.config import Environment
from mnemic.models.onnx_encoder import OnnxEncoder, Pinned
from training import base, data, evaluated, prepare
from training.embedder import TrainedMiniLM
from training.model import Shape, loaded
from training.onnx_graph import graph
from training.parity import parity

FILES = ("model.onnx", "tokenizer.json")


def main() -> None:
    parser = argparse.ArgumentParser(description="Makes of trained weights what onnxruntime runs.")
    parser.add_argument("folder", type=Path, help="of a training")
    parser.add_argument("--into", type=Path, help="of the two files (default FOLDER/export)")
    given = parser.parse_args()
    into: Path = given.into or given.folder / "export"
    into.mkdir(parents=True, exist_ok=True)
    weights = given.folder / "model.safetensors"
    arrays = {name: value.numpy().copy() for name, value in loaded(weights).state_dict().items()}
    (into / "model.onnx").write_bytes(graph(arrays, Shape()).SerializeToString())
    shutil.copyfile(base.located(base.TOKENIZER), into / "tokenizer.json")
    data_folder = Environment.read().data
    held = prepare.parted(data.read(data_folder / "train", evaluated.keys(data_folder)))[1]
    alike = parity(TrainedMiniLM(weights), exported(into), prepare.checks(held))
    files = {name: into / name for name in FILES}
    found = {
        "sha256": {name: _sha256(path) for name, path in files.items()},
        "bytes": {name: path.stat().st_size for name, path in files.items()},
        "parity with single precision": asdict(alike),
    }
    text = json.dumps(found, indent=2)
    (given.folder / "export.json").write_text(text + "\n", encoding="utf-8")
    print(text)


def exported(folder: Path) -> OnnxEncoder:
    """The embedder of a folder's files, whatever they are."""

    class Exported(OnnxEncoder):
        """Of files that nobody has pinned yet."""

        name = "exported"
        _prefix = "exported"
        _files = (_as_it_is(folder / FILES[0]), _as_it_is(folder / FILES[1]))

    return Exported()


def _as_it_is(path: Path) -> Pinned:
    return Pinned(lambda: path, _sha256(path), str(path.parent), "python -m training.export")


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
