"""Known weaknesses of what is installed, as pip-audit finds them. Run: make audit.

pip-audit passes over what its service does not know, and then finds nothing: an index without that service (a mirror)
looks like a clean bill. Here that is told apart.

    python scripts/audit.py PROGRAM FOLDER [--if-answered]

PROGRAM is pip-audit, FOLDER what pip installs to. Exits with 0 where nothing is known, 1 where something is, and 3
where nothing could be looked up (0 with ``--if-answered``, for a gate that must also run without a network).
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

SILENT = 3
_TIMEOUT_S = "20"


def verdict(found: Sequence[dict[str, Any]]) -> tuple[int, str]:
    """The exit status, and what there is to say.

    Args:
        found: ``dependencies`` of pip-audit's JSON: of each package its ``vulns``, or a ``skip_reason``.
    """
    weak = [one for one in found if one.get("vulns")]
    skipped = [one["name"] for one in found if "skip_reason" in one]
    looked_up = len(found) - len(skipped)
    lines = [f"{one['name']} {one['version']}: {_known(vuln)}" for one in weak for vuln in one["vulns"]]
    if not looked_up:
        return SILENT, (
            f"nothing was looked up: the package index knows nothing of the weaknesses of {len(found)} packages. Run "
            "this where pip reaches the public index itself, not a mirror of it."
        )
    lines.append(f"{looked_up} packages looked up, {len(lines)} weaknesses known")
    if skipped:
        lines.append(f"not looked up: {', '.join(skipped)}")
    return int(bool(weak)), "\n".join(lines)


def _known(vuln: dict[str, Any]) -> str:
    fixed = ", ".join(vuln.get("fix_versions") or ()) or "no version yet"
    return f"{vuln['id']}, mended in {fixed}"


def main(program: str, folder: str, *options: str) -> int:
    """Look, and say what was found."""
    command = [program, "--progress-spinner", "off", "--timeout", _TIMEOUT_S, "--format", "json", "--path", folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        found = json.loads(done.stdout)["dependencies"]
    except (ValueError, KeyError):
        reason = done.stderr.strip().rpartition("\n")[2]
        status, said = SILENT, f"nothing was looked up, for nobody answers: {reason}"
    else:
        status, said = verdict(found)
    print(said)
    return 0 if status == SILENT and "--if-answered" in options else status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
