"""A language model that keeps to its budgets, and writes down what it took."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

from mnemic.algo import tokens
from mnemic.algo.budgets import difference
from mnemic.config import Budgets
from mnemic.errors import InvalidInput, LanguageModelFailed, ModelError
from mnemic.models.prices import Price
from mnemic.models.streaming import streamed
from mnemic.protocols import Amount, Completion, LanguageModel, Ledger, Reply
from mnemic.telemetry import Attributes, span


class MeteredModel:
    """A ``LanguageModel`` for one user.

    What a call may take (its prompt by ``algo.tokens.count``, and its limit of tokens) is reserved in the ledger before
    it is made, and corrected after it. So several processes together keep to a budget, and what a killed one had under
    way counts as spent.

    Args:
        model: Who is asked.
        ledger: Where it is written down: the store.
        user_id: For whom.
        budgets: What may be spent.
        price: Of the model; None where it is not known.
        clock: Says when now is, aware.

    Raises:
        InvalidInput: There is a budget in money, and no price.
    """

    def __init__(
        self,
        model: LanguageModel,
        ledger: Ledger,
        user_id: str,
        *,
        budgets: Budgets,
        price: Price | None,
        clock: Callable[[], datetime],
    ) -> None:
        if price is None and any(limit.cost is not None for limit in (budgets.call, budgets.user_day, budgets.total)):
            raise InvalidInput(
                f"there is a budget in money, but nobody says what {model.name} costs: give the price of a million "
                "tokens in and out (MNEMIC_PRICE=0.15,0.60), or a budget in tokens"
            )
        self.name = model.name
        self._model = model
        self._ledger = ledger
        self._user_id = user_id
        self._budgets = budgets
        self._price = price
        self._clock = clock

    def complete(self, request: Completion) -> Reply:
        """Complete one request: see ``protocols.LanguageModel``.

        Raises:
            BudgetExceeded: It was not made.
            LanguageModelFailed: It was made, and failed.
        """
        return self._metered(request, self._model.complete)

    def stream(self, request: Completion, receive: Callable[[str], object]) -> Reply:
        """Complete one request: see ``protocols.StreamingModel``. One that the caller ends counts as it was reserved.

        Raises:
            BudgetExceeded: It was not made.
            LanguageModelFailed: It was made, and failed.
        """
        return self._metered(request, lambda request: streamed(self._model, request, receive))

    def _metered(self, request: Completion, complete: Callable[[Completion], Reply]) -> Reply:
        day = self._clock().astimezone(UTC).date()
        reserved = self._amount(size(request), request.max_tokens)
        self._ledger.spend(self._user_id, request.purpose, reserved, day=day, within=self._budgets)

        def correct(actual: Amount) -> None:
            change = difference(actual, reserved)
            self._ledger.spend(self._user_id, request.purpose, change, day=day, within=Budgets())

        try:
            with span(
                "mnemic.complete", {"gen_ai.request.model": self.name, "mnemic.purpose": request.purpose}
            ) as tell:
                reply = complete(request)
                tell(_told_of(reply))
        except LanguageModelFailed as error:
            if not error.billed:
                correct(self._amount(0, 0))
            raise
        except ModelError:
            correct(Amount())  # nothing left this machine
            raise
        correct(self._amount(reply.tokens_in, reply.tokens_out))
        return reply

    def _amount(self, tokens_in: int, tokens_out: int) -> Amount:
        cost = 0.0 if self._price is None else self._price.of(tokens_in, tokens_out)
        return Amount(1, tokens_in, tokens_out, cost, int(self._price is None))


def _told_of(reply: Reply) -> Attributes:
    return {
        "gen_ai.usage.input_tokens": reply.tokens_in,
        "gen_ai.usage.output_tokens": reply.tokens_out,
        "mnemic.finish": reply.finish,
    }


def size(request: Completion) -> int:
    """Tokens of a prompt, by ``algo.tokens.count``, its schema included."""
    schema = "" if request.schema is None else json.dumps(request.schema)
    return sum(map(tokens.count, (request.system, request.user, schema)))
