"""Small frozen settings, and the only place that reads the environment."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Environment:
    """What the environment says; empty variables count as unset."""

    database: str | None
    user: str | None
    data: Path

    @classmethod
    def read(cls) -> Environment:
        """Read ``MNEMIC_DB``, ``MNEMIC_USER`` and ``MNEMIC_DATA`` (benchmark data; default ``../shared/data``)."""
        return cls(
            database=os.environ.get("MNEMIC_DB") or None,
            user=os.environ.get("MNEMIC_USER") or None,
            data=Path(os.environ.get("MNEMIC_DATA") or "../shared/data"),
        )
