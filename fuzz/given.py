"""Values drawn from a fuzzer's bytes: numbers and choices from the end of them, text from the beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from atheris import FuzzedDataProvider

T = TypeVar("T")
_DEEPEST = 4
_WIDEST = 4
_SELDOM = 24
"""One in so many places of a value is altered."""


class Given:
    """What one run of a target is given.

    Args:
        data: The fuzzer's bytes. When they are used up, numbers are 0 and texts empty.
    """

    def __init__(self, data: bytes) -> None:
        self._data = FuzzedDataProvider(data)

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        return self._data.ConsumeIntInRange(low, high)

    def one(self, of: Sequence[T]) -> T:
        """One of some values."""
        return of[self.number(0, len(of) - 1)]

    def rest(self) -> bytes:
        """All the bytes that are left."""
        return self._data.ConsumeBytes(self._data.remaining_bytes())

    def rest_as_text(self) -> str:
        """The same as text; what is no UTF-8 becomes lone surrogates."""
        return self.rest().decode("utf-8", "surrogateescape")

    def text(self, words: Sequence[str] = ()) -> str:
        """A short text, or one of the words."""
        if words and self.number(0, 3):
            return self.one(words)
        return self._data.ConsumeBytes(self.number(0, 12)).decode("utf-8", "surrogateescape")

    def value(self, keys: Sequence[str], words: Sequence[str] = (), depth: int = _DEEPEST) -> Any:
        """A JSON value whose objects have some of the keys and whose texts are some of the words, or any others."""
        kind = self.number(0, 9 if depth else 6)
        match kind:
            case 0:
                return None
            case 1:
                return bool(self.number(0, 1))
            case 2:
                return self.number(-3, 3)
            case 3:
                return self.number(-(10**18), 10**18) * self.one((1, 10**300))
            case 4:
                return self._data.ConsumeRegularFloat()
            case 5 | 6:
                return self.text(words)
            case 7:
                return [self.value(keys, words, depth - 1) for _ in range(self.number(0, _WIDEST))]
            case _:
                return self.object(keys, words, depth)

    def object(self, keys: Sequence[str], words: Sequence[str] = (), depth: int = _DEEPEST) -> dict[str, Any]:
        """An object of the same kind."""
        count = self.number(0, _WIDEST)
        return {self.text(keys): self.value(keys, words, depth - 1) for _ in range(count)}

    def altered(self, value: Any, keys: Sequence[str], words: Sequence[str] = ()) -> Any:
        """A copy of a JSON value in which here and there something is replaced, left out or there twice."""
        if self.number(0, _SELDOM) == _SELDOM:
            return self.value(keys, words, 2)
        if isinstance(value, dict):
            pairs = [(self._key(key, keys), self.altered(one, keys, words)) for key, one in value.items()]
            return dict(self._few(pairs))
        if isinstance(value, list):
            return self._few([self.altered(one, keys, words) for one in value])
        return value

    def _key(self, key: str, keys: Sequence[str]) -> str:
        return self.text(keys) if self.number(0, _SELDOM) == _SELDOM else key

    def _few(self, values: list[T]) -> list[T]:
        """The values, of which seldom one is left out, there twice, or elsewhere."""
        change = self.number(0, _SELDOM) if values else 0
        place = self.number(0, len(values) - 1) if change > _SELDOM - 3 else 0
        if change == _SELDOM:
            return values[:place] + values[place + 1 :]
        if change == _SELDOM - 1:
            return [*values, values[place]]
        return values[place:] + values[:place] if change == _SELDOM - 2 else values
