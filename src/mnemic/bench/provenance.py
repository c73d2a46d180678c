"""What made a result: the commit, the versions of what computes, the machine's kind, the time."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import mnemic

_COMPUTING = ("numpy", "scipy", "onnxruntime", "tokenizers", "bm25s", "PyStemmer", "dateparser")
_GIT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Provenance:
    """What made a result.

    Attributes:
        commit: Of mnemic's own checkout, ``+changes`` behind it where tracked files under its ``src`` differ from it;
            None outside a checkout.
        date: When it was summed up, ISO format, UTC, to the second.
        versions: Name -> version of mnemic, Python, the platform and each installed package that numbers depend on.
    """

    commit: str | None
    date: str
    versions: dict[str, str]

    @classmethod
    def now(cls) -> Provenance:
        """Of this process, at this moment."""
        return cls(_commit(), datetime.now(UTC).isoformat(timespec="seconds"), _versions())


def _commit() -> str | None:
    package = Path(mnemic.__file__).parent
    # An installed copy may lie inside somebody else's checkout: only a tracked file is of this commit.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    commit = _git(package, "rev-parse", "HEAD")
    changed = _git(package, "status", "--porcelain", "--untracked-files=no", ".")
    return f"{commit}+changes" if commit and changed else commit


def _git(folder: Path, *command: str) -> str | None:
    """What a reading git command prints; None where it fails or there is no git."""
    try:
        done = subprocess.run(
            ["git", "--no-optional-locks", "-C", str(folder), *command],
            capture_output=True,
            text=True,
            check=True,
            timeout=_GIT_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _versions() -> dict[str, str]:
    versions = {
        "mnemic": mnemic.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
    }
    for name in _COMPUTING:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions
