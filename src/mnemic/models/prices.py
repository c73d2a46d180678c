"""What language models cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from mnemic.errors import InvalidInput
from mnemic.models.optional import from_extra
from mnemic.models.providers import COMPATIBLE, ModelName

_OWN = ("ollama", COMPATIBLE)
"""Run on one's own machine, mostly: no list says what they cost."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, per million tokens, in whatever currency was given; lists of prices are in US dollars."""

    tokens_in: float
    tokens_out: float

    @classmethod
    def parse(cls, text: str) -> Price:
        """From ``in,out``: ``0.15,0.60``.

        Raises:
            InvalidInput: It is not two numbers of at least 0.
        """
        try:
            price = cls(*map(float, text.split(",")))
        except (ValueError, TypeError):
            price = cls(-1, -1)
        if not (0 <= price.tokens_in < float("inf") and 0 <= price.tokens_out < float("inf")):
            raise InvalidInput(
                f"{text!r} is no price; give those of a million tokens in and out, for example 0.15,0.60"
            )
        return price

    def of(self, tokens_in: int, tokens_out: int) -> float:
        """What so many tokens cost."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


def listed(name: str) -> Price | None:
    """The price of a model by the list that comes with pydantic-ai; None where it has none. Asks nobody.

    A list can be old: a price that is given (``MNEMIC_PRICE``) counts more. Discounts for cached input are left out.

    Args:
        name: ``provider:model``.

    Raises:
        MissingExtra: The extra ``llm`` is not installed.
        InvalidInput: The name is none.
    """
    named = ModelName.parse(name)
    if named.provider in _OWN or named.url is not None:
        return None
    library = from_extra("genai_prices", needed_by=f"the price of {name}", extra="llm")
    try:
        tokens_in, tokens_out = (
            library.calc_price(usage, model_ref=named.model, provider_id=named.provider).total_price
            for usage in (library.Usage(input_tokens=1000), library.Usage(output_tokens=1000))
        )
    except LookupError:
        return None
    return Price(float(tokens_in * Decimal(1000)), float(tokens_out * Decimal(1000)))
