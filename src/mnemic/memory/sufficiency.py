"""Whether what a layer found answers the question: judged by a model, or by calibrated relevance (methods.md 2.7)."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, Literal

from mnemic.memory.layers import Layer
from mnemic.models.foreign import told
from mnemic.prompts import sufficiency
from mnemic.types import Sufficiency

if TYPE_CHECKING:
    from mnemic.protocols import LanguageModel

_log = logging.getLogger("mnemic")
_RELEVANCE: Final = "relevance"


def judged(
    name: Literal["notes", "episodes"], layer: Layer, query: str, model: LanguageModel | None
) -> tuple[Sufficiency, tuple[str, ...]]:
    """Judge a layer, with one call where there are a model and something to judge.

    A reply that says neither 0 nor 1 counts as 0, with a warning; a model that fails leaves it to relevance.

    Args:
        name: Of the layer.
        layer: What it found.
        query: As asked.
        model: Of the purpose ``sufficiency``; None for relevance.
    """
    by_relevance = Sufficiency(name, layer.relevant, _RELEVANCE)
    if model is None or not layer.items:
        return by_relevance, ()
    try:
        reply = model.complete(sufficiency.render(query, [item.text for item in layer.items]))
    except Exception as error:  # noqa: BLE001 - anybody's code; without it there is still an answer
        _log.warning("%s did not judge the %s: %s", model.name, name, told(error))
        return by_relevance, (f"{name} judged by relevance alone: {model.name} failed: {told(error)}",)
    said = sufficiency.parse(reply)
    unclear = () if said is not None else (f"{name} taken for insufficient: {model.name} said neither 0 nor 1",)
    return Sufficiency(name, bool(said), model.name), unclear
