"""What a system costs: wall and CPU time, the part of it spent in models, resident memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

from mnemic.models.checked import Loading

if TYPE_CHECKING:
    from mnemic.protocols import CueExtractor, Embedder, Floats
    from mnemic.types import CueMention, Thresholds


class Stopwatch:
    """Times a block: ``with Stopwatch() as watch: …``; running on until the block ends.

    Attributes:
        wall_s: Seconds by the clock on the wall.
        cpu_s: Seconds of processor time of this process, all its threads together.
    """

    def __init__(self) -> None:
        self.wall_s = self.cpu_s = 0.0

    def __enter__(self) -> Self:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = time.process_time() - self._cpu


class TimedEmbedder:
    """An embedder that counts the CPU seconds spent in it.

    Attributes:
        cpu_s: So far; whoever measures takes differences.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.cpu_s = 0.0

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
        """The wrapped embedder's."""
        return self._embedder.dim

    @property
    def thresholds(self) -> Thresholds:
        """The wrapped embedder's."""
        return self._embedder.thresholds

    def embed(self, texts: Sequence[str], *, kind: Literal["query", "passage"] = "passage") -> Floats:
        """Embed texts: see ``protocols.Embedder``."""
        with Stopwatch() as watch:
            rows = self._embedder.embed(texts, kind=kind)
        self.cpu_s += watch.cpu_s
        return rows

    def load(self) -> None:
        """Load the wrapped embedder, where it can be loaded ahead."""
        if isinstance(self._embedder, Loading):
            self._embedder.load()


class TimedExtractor:
    """A cue extractor that counts the CPU seconds spent in it.

    Attributes:
        cpu_s: So far; whoever measures takes differences.
    """

    def __init__(self, extractor: CueExtractor) -> None:
        self._extractor = extractor
        self.cpu_s = 0.0

    @property
    def name(self) -> str:
        """The wrapped extractor's."""
        return self._extractor.name

    def extract(self, texts: Sequence[str], *, names: Collection[str]) -> list[list[CueMention]]:
        """Extract cues: see ``protocols.CueExtractor``."""
        with Stopwatch() as watch:
            found = self._extractor.extract(texts, names=names)
        self.cpu_s += watch.cpu_s
        return found


def resident_mb() -> float:
    """Resident memory of this process in MB (1e6 bytes); where the system only tells its peak, the peak."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        import os

        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    try:
        import resource
    except ImportError:  # Windows has neither; it is not told there
        return 0.0
    # In bytes on macOS, in KiB elsewhere.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
