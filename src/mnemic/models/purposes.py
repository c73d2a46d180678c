"""Which language model does what, for whom, at what price and within what budgets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, cast, get_args

from mnemic.config import Budgets, Limit
from mnemic.errors import InvalidInput
from mnemic.models import registry
from mnemic.models.metered import MeteredModel
from mnemic.models.patience import LimitedModel, Patience, PatientModel
from mnemic.models.prices import Price, listed
from mnemic.protocols import LanguageModel, Ledger, StreamingModel
from mnemic.types import Purpose

Given = str | LanguageModel | Mapping[Purpose | Literal[""], str | LanguageModel] | None
"""One model for all purposes, or one for each; ``""`` is for those not named. None: none."""

_UNITS: Final[dict[str, Callable[[str], float]]] = {"tokens": int, "calls": int, "cost": float}
_PURPOSES: Final[tuple[Purpose, ...]] = get_args(Purpose)


class LanguageModels:
    """The language models of one memory.

    Args:
        given: Which model, by name (``models.registry``) or itself.
        ledger: Where it is written down what they take.
        budgets: What they may take.
        prices: As ``given``: of the model under the same name; what has none costs what the list says (``prices``).
        jobs: How many requests of one model are under way at a time.
        patience: How often a busy model is asked again.
        clock: Says when now is, aware.
        wait: Waits for so many seconds; None for the clock's own.

    Raises:
        InvalidInput: A name is none, a purpose is none, or a budget in money lacks a price.
        MissingExtra: The extra ``llm`` is not installed.
    """

    def __init__(
        self,
        given: Given,
        ledger: Ledger,
        *,
        clock: Callable[[], datetime],
        budgets: Budgets | None = None,
        prices: Mapping[str, Price] | None = None,
        jobs: int = 4,
        patience: Patience | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._ledger = ledger
        self._clock = clock
        self._budgets = budgets or Budgets()
        self._patience = patience
        self._wait = wait
        named = _by_name(given)
        limited: dict[str | int, LimitedModel] = {}
        self._models: dict[Purpose, LimitedModel] = {}
        self._prices: dict[Purpose, Price | None] = {}
        for purpose in _PURPOSES:
            name = purpose if purpose in named else ""
            if (one := named.get(name)) is None:
                continue
            key = one if isinstance(one, str) else id(one)  # a model for two purposes has one limit
            self._models[purpose] = limited.setdefault(key, LimitedModel(_model(one), jobs=jobs))
            self._prices[purpose] = _price(one, (prices or {}).get(name))
            self.of(purpose, "")  # what is wrong with a price or budget shows now

    def of(self, purpose: Purpose, user_id: str) -> StreamingModel | None:
        """The model for a purpose and user, metered and patient; None where there is none for it."""
        model = self._models.get(purpose)
        if model is None:
            return None
        metered = MeteredModel(
            model,
            self._ledger,
            user_id,
            budgets=self._budgets,
            price=self._prices[purpose],
            clock=self._clock,
        )
        return PatientModel(metered, patience=self._patience, wait=self._wait)

    @property
    def budgets(self) -> Budgets:
        """What they may take."""
        return self._budgets

    @property
    def names(self) -> dict[Purpose, str]:
        """Purpose -> name of its model."""
        return {purpose: model.name for purpose, model in self._models.items()}


def budgets(given: Mapping[str, str]) -> Budgets:
    """Budgets from text: name -> ``tokens=50000,calls=100,cost=2.50``, any of the three.

    Raises:
        InvalidInput: It says something else.
    """
    return Budgets(**{name: _limit(name, text) for name, text in given.items()})


def _limit(name: str, text: str) -> Limit:
    found: dict[str, Any] = {}  # each number is read as its field wants it
    try:
        for piece in text.split(","):
            unit, _, number = piece.partition("=")
            found[unit.strip()] = _UNITS[unit.strip()](number)
        return Limit(**found)
    except (KeyError, ValueError) as error:
        raise InvalidInput(
            f"{text!r} is no budget ({name}); write one or more of tokens=50000,calls=100,cost=2.50"
        ) from error


def _by_name(given: Given) -> dict[str, str | LanguageModel]:
    """Purpose, or ``""`` for those not named, -> model."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {"": given}
    named = cast("Mapping[str, str | LanguageModel]", given)
    if unknown := [name for name in named if name and name not in _PURPOSES]:
        raise InvalidInput(f"there is no purpose {unknown[0]!r}; there are {', '.join(_PURPOSES)}")
    return dict(named)


def _model(given: str | LanguageModel) -> LanguageModel:
    model = registry.language_model(given)
    assert model is not None  # only None gives none
    return model


def _price(given: str | LanguageModel, price: Price | None) -> Price | None:
    return price or (listed(given) if isinstance(given, str) else None)
