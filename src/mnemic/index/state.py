"""What an index is made of, as named arrays: how it goes into a snapshot and comes out of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnemic.algo.arrays import Rows

State = dict[str, NDArray[Any]]
"""Name -> (n, …)."""
Held = Mapping[str, Rows]
"""The same, to go on with."""


def under(prefix: str, state: State) -> State:
    """A part's arrays, under names of their own."""
    return {f"{prefix}/{name}": array for name, array in state.items()}


def of(prefix: str, held: Held) -> Held:
    """The part that is ``under`` a prefix."""
    return {name.removeprefix(f"{prefix}/"): rows for name, rows in held.items() if name.startswith(f"{prefix}/")}


def of_texts(name: str, texts: Iterable[str]) -> State:
    """Texts, surrogates and NUL included: all of them in UTF-8, and how many characters each has."""
    texts = tuple(texts)
    whole = np.frombuffer("".join(texts).encode("utf-8", "surrogatepass"), np.uint8)
    return {name: whole, f"{name}.lengths": np.fromiter(map(len, texts), np.int32, len(texts))}


def texts(name: str, held: Held) -> list[str]:
    """The inverse of ``of_texts``. Raises UnicodeDecodeError where it is damaged."""
    whole = held[name].view.tobytes().decode("utf-8", "surrogatepass")
    ends = np.cumsum(held[f"{name}.lengths"].view, dtype=np.int64).tolist()
    return [whole[start:end] for start, end in pairwise([0, *ends])]


def of_labels(name: str, labels: Sequence[str | None]) -> State:
    """Texts of which many are equal, or None: each once."""
    numbers: dict[str | None, int] = {}
    codes = np.fromiter((numbers.setdefault(label, len(numbers)) for label in labels), np.int32, len(labels))
    distinct = list(numbers)
    is_none = np.array([label is None for label in distinct], np.bool_)
    given = of_texts(f"{name}.distinct", (label or "" for label in distinct))
    return {name: codes, f"{name}.none": is_none, **given}


def labels(name: str, held: Held) -> list[Any]:
    """The inverse of ``of_labels``."""
    given = texts(f"{name}.distinct", held)
    distinct = [None if is_none else text for text, is_none in zip(given, held[f"{name}.none"].view, strict=True)]
    return list(map(distinct.__getitem__, held[name].view.tolist()))


def of_json(name: str, value: object) -> State:
    """Anything that JSON says."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return {name: np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)}


def from_json(name: str, held: Held) -> Any:  # noqa: ANN401 - whatever of_json was given
    """The inverse of ``of_json``. Raises ValueError where it is damaged."""
    return json.loads(held[name].view.tobytes().decode("utf-8", "surrogatepass"))


def of_rows(owner: object, names: Sequence[str]) -> State:
    """Attributes that are ``Rows``."""
    return {name: getattr(owner, name).view for name in names}


def put_rows(owner: object, names: Sequence[str], held: Held) -> None:
    """The inverse of ``of_rows``."""
    for name in names:
        setattr(owner, name, held[name])
