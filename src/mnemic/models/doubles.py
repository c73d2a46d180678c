"""Deterministic doubles for tests, yours and ours: no files, no network, the same answer on every machine."""

from __future__ import annotations

import functools
import hashlib
import re
import threading
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from mnemic.errors import LanguageModelFailed
from mnemic.models.clean import clean
from mnemic.models.windows import unit_rows
from mnemic.protocols import Completion, Reply
from mnemic.types import Thresholds

if TYPE_CHECKING:
    from mnemic.protocols import Floats

# Words; each character of scripts written without spaces; where there is neither, whatever is not white space.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_ANYTHING = re.compile(r"\S")


class HashEmbedder:
    """Texts that share words are near each other; nothing else is known about meaning.

    Each word has a pseudo-random direction, and a text is the normalised sum of its words', so the cosine of two
    texts is about the share of their words that are equal, give or take ``1 / sqrt(dim)``.

    Args:
        dim: At least 8.
    """

    thresholds = Thresholds(tau_init=0.6, tau_alias=0.9, tau_iter=0.3, relevance=0.25)

    def __init__(self, dim: int = 64) -> None:
        if dim < 8:
            raise ValueError(f"dim must be at least 8, not {dim}")
        self.dim = dim
        self.name = f"hash-{dim}"
        self.fingerprint = f"hash-{dim}-v1"

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length: see ``protocols.Embedder``."""
        import numpy as np

        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            lowered = clean(text).lower()
            for token in _TOKEN.findall(lowered) or _ANYTHING.findall(lowered):
                row += _direction(token, self.dim)
        return unit_rows(rows)


@functools.lru_cache(maxsize=1 << 16)
def _direction(token: str, dim: int) -> Floats:
    """Bytes of a hash, centred. They are odd multiples of 1/2, so a few of them do not cancel to a zero row."""
    import numpy as np

    return np.frombuffer(hashlib.shake_128(token.encode()).digest(dim), dtype=np.uint8).astype(np.float32) - 127.5


class ScriptedModel:
    """A language model that gives the replies it was given, in order, and remembers what it was asked.

    Args:
        replies: Texts, whole replies, or exceptions to raise. A text becomes a reply that ended by itself, its
            tokens counted as words.
        name: What ``name`` says.
    """

    def __init__(self, replies: Iterable[str | Reply | Exception], *, name: str = "scripted:model") -> None:
        self.name = name
        self.requests: list[Completion] = []
        self._replies = iter(replies)
        self._lock = threading.Lock()

    def complete(self, request: Completion) -> Reply:
        """The next reply of the script.

        Raises:
            LanguageModelFailed: The script is at its end.
            Exception: The script says so.
        """
        with self._lock:
            self.requests.append(request)
            reply = next(self._replies, None)
        match reply:
            case None:
                raise LanguageModelFailed(f"{self.name} has no reply left for a request about {request.purpose}")
            case Exception():
                raise reply
            case str():
                return Reply(reply, "stop", len(f"{request.system} {request.user}".split()), len(reply.split()))
            case _:
                return reply
