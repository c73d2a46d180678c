"""The program that a peer's interpreter runs: ``python -I bootstrap.py ADAPTER [EMBEDDER] FOLDER``.

An adapter is a module of this package, or ``MODULE:VARIANT`` of one that has several. It has ``open_store``, or
``open_asking`` where it asks the other side.

It makes the package that this file lies in importable, and nothing beside it: where mnemic is installed in a shared
``site-packages``, the peer must not find that folder's libraries. So the peer embeds with the very code that runs on
the other side, and nothing of mnemic has to be installed in the peer's environment.
"""

import importlib
import importlib.util
import sys
from pathlib import Path

_PACKAGE = Path(__file__).parents[2]


def _make_importable() -> None:
    spec = importlib.util.spec_from_file_location(
        "mnemic", _PACKAGE / "__init__.py", submodule_search_locations=[str(_PACKAGE)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mnemic"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    _make_importable()
    adapter, *chosen, folder = sys.argv[1:]
    module, _, variant = adapter.partition(":")
    adapted = importlib.import_module(f"mnemic.bench.peers.{module}")
    embedding = importlib.import_module("mnemic.bench.peers.embedding")
    serve = importlib.import_module("mnemic.bench.peers.serve")
    if hasattr(adapted, "open_asking"):
        serve.serve_asking(adapted.open_asking, Path(folder), embedder=embedding.embedder(*chosen))
    else:
        opens = adapted.variant(variant) if variant else adapted.open_store
        serve.serve(opens, Path(folder), embedder=embedding.embedder(*chosen))
