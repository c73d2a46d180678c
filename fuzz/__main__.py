"""Runs one target: for some seconds, or, given files, once with each of them.

    python -m fuzz filters 60
    python -m fuzz filters build/fuzz/filters/crash-…

What it finds is left in ``build/fuzz/TARGET/``, with the inputs that reach new code, where the next run goes on.
Exits with 0 if everything held.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import atheris

TARGETS = ("messages", "importers", "replies", "filters", "times")


def main(name: str, *rest: str) -> None:
    """Fuzz a target. See the module."""
    if name not in TARGETS:
        raise SystemExit(f"there is no target {name!r}; there are {', '.join(TARGETS)}")
    # What is imported before this line gives the fuzzer no coverage to be guided by.
    with atheris.instrument_imports(include=["mnemic", "fuzz"]):
        target = importlib.import_module(f"fuzz.{name}")
    home = Path("build/fuzz") / name
    corpus = home / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for index, seed in enumerate(target.SEEDS):
        (corpus / f"seed-{index}").write_bytes(seed)
    dictionary = home / "words.dict"
    dictionary.write_text("\n".join(map(_quoted, target.WORDS or ("-",))), encoding="ascii")  # never empty
    seconds = [f"-max_total_time={int(one)}" for one in rest if one.isdecimal()]
    replayed = [one for one in rest if not one.isdecimal()]
    options = [
        *seconds,
        f"-dict={dictionary}",
        f"-artifact_prefix={home}/",
        "-timeout=20",
        "-max_len=4096",
        "-len_control=20",
    ]
    atheris.Setup([sys.argv[0], *options, "-print_final_stats=1", *(replayed or [str(corpus)])], target.check)
    atheris.Fuzz()


def _quoted(word: str) -> str:
    """A word as libFuzzer's dictionaries write it."""
    written = word.encode().decode("latin-1")
    return '"' + "".join(char if char.isascii() and char.isalnum() else f"\\x{ord(char):02x}" for char in written) + '"'


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
