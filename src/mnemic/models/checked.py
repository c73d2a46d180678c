"""Any embedder, verified at every call: no vector is shifted to another text, and none is made up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from mnemic.errors import EmbeddingFailed, ModelError
from mnemic.models import foreign
from mnemic.models.clean import clean
from mnemic.telemetry import Attributes, span

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from mnemic.protocols import Embedder, Floats
    from mnemic.types import Thresholds

_NORM_TOLERANCE = 1e-2  # half precision on the wire stays well within


@runtime_checkable
class Loading(Protocol):
    """An embedder that can be loaded before its first use."""

    def load(self) -> None:
        """Load now."""
        ...


class Checked:
    """Wraps an embedder so that its contract holds or ``EmbeddingFailed`` says what is wrong with which text.

    The wrapped embedder sees cleaned texts and never a blank one: their zero rows are added here. What it returns
    must have one finite row of norm 1 a text (within 1 %, then normalised exactly). Whatever it raises becomes
    ``EmbeddingFailed``, except mnemic's own errors, which already say what to do.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The wrapped embedder's."""
        return self._embedder.name

    @property
    def fingerprint(self) -> str:
        """The wrapped embedder's."""
        return self._embedder.fingerprint

    @property
    def dim(self) -> int:
        """The wrapped embedder's, which may have to embed something to know it.

        Raises:
            EmbeddingFailed: It failed.
        """
        try:
            return self._embedder.dim
        except ModelError:
            raise
        except Exception as error:  # other people's code may raise anything
            raise self._failed(foreign.told(error)) from error

    @property
    def thresholds(self) -> Thresholds:
        """The wrapped embedder's."""
        return self._embedder.thresholds

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts of any length: see ``protocols.Embedder``."""
        import numpy as np

        cleaned = [clean(text) for text in texts]
        places = [i for i, text in enumerate(cleaned) if text.strip()]
        if not places:
            return np.zeros((len(cleaned), self.dim), dtype=np.float32)
        told: Attributes = {"gen_ai.request.model": self.name, "mnemic.texts": len(places), "mnemic.kind": kind}
        with span("mnemic.embed", told):
            given = self._ask([cleaned[i] for i in places], kind)
        rows = np.zeros((len(cleaned), self.dim), dtype=np.float32)
        rows[places] = self._verified(given, len(places))
        return rows

    def load(self) -> None:
        """Load the wrapped embedder, where it can be loaded ahead.

        Raises:
            ModelError: It failed.
        """
        if not isinstance(self._embedder, Loading):
            return
        try:
            self._embedder.load()
        except ModelError:
            raise
        except Exception as error:  # other people's code may raise anything
            raise self._failed(foreign.told(error)) from error

    def _ask(self, texts: list[str], kind: Literal["query", "passage"]) -> ArrayLike:
        """What the wrapped embedder returns: only believed after ``_verified``."""
        try:
            return self._embedder.embed(texts, kind=kind)
        except ModelError:
            raise
        except Exception as error:  # other people's code may raise anything
            raise self._failed(foreign.told(error)) from error

    def _verified(self, given: ArrayLike, count: int) -> Floats:
        import numpy as np

        try:
            rows = np.asarray(given)
        except ValueError as error:
            raise self._failed("it returned rows of different lengths") from error
        if rows.shape != (count, self.dim):
            raise self._failed(f"asked for {count} vectors of {self.dim}, it returned an array of shape {rows.shape}")
        if rows.dtype.kind != "f":
            raise self._failed(f"it returned {rows.dtype} instead of float32")
        norms = np.linalg.norm(rows.astype(np.float64), axis=1)
        # A NaN or an infinity anywhere in a row makes its norm one, and fails this comparison.
        wrong = np.flatnonzero(~(np.abs(norms - 1) <= _NORM_TOLERANCE))
        if len(wrong):
            raise self._failed(f"vector {wrong[0] + 1} of {count} has norm {norms[wrong[0]]:.3g} instead of 1")
        return (rows / norms[:, np.newaxis]).astype(np.float32)

    def _failed(self, what: str) -> EmbeddingFailed:
        return EmbeddingFailed(f"The embedder {self._embedder.name} failed: {what}")
