"""Language models of any provider, through pydantic-ai."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from mnemic.algo import tokens
from mnemic.errors import LanguageModelBusy, LanguageModelFailed, MnemicError
from mnemic.models import background
from mnemic.models.clean import clean
from mnemic.models.foreign import told
from mnemic.models.optional import from_extra
from mnemic.models.providers import Model, ModelName, resolve
from mnemic.protocols import Completion, Reply

_FINISH: Final[dict[str | None, Literal["stop", "length", "refusal"]]] = {
    "length": "length",
    "content_filter": "refusal",
}
_REJECTED = (400, 422)
_PASSING = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a server is spoken to; what it rejects is said in another way the next time.

    Attributes:
        schema: Whether the server is told of a schema; else only the prompt is.
        old_limit: See ``providers.resolve``.
    """

    schema: bool = True
    old_limit: bool = True


class PydanticAIModel:
    """A ``LanguageModel`` over one pydantic-ai model.

    The prompts leave this machine. Keys and addresses come from the provider's own environment variables, from the
    name, or from a pydantic-ai ``Model`` with a provider of your own. A request's schema is enforced by the provider
    where it can do that, and put into the prompt where it cannot; the reply is returned unparsed either way. A request
    is made once: trying again is the business of ``models.patience``.

    Args:
        model: ``anthropic:claude-sonnet-4-5``, ``openai-compatible:MODEL@URL``, or a pydantic-ai ``Model``.
        temperature: 0 by default, as both papers do; None leaves it to the provider.
        timeout: Seconds for one request, from its beginning to its end.

    Raises:
        InvalidInput: The name is none.
    """

    def __init__(self, model: str | Model, *, temperature: float | None = 0.0, timeout: float = 120.0) -> None:
        self.name = model if isinstance(model, str) else f"{model.system}:{model.model_name}"
        self._named = ModelName.parse(model) if isinstance(model, str) else None
        self._model = None if isinstance(model, str) else model
        self._manner = _Manner()
        self._lock = threading.Lock()
        self._settings: dict[str, float] = {"timeout": timeout, "request_timeout": timeout, "max_retries": 0}
        if temperature is not None:
            self._settings["temperature"] = temperature

    def complete(self, request: Completion) -> Reply:
        """Complete one request.

        Raises:
            MissingExtra: The extra ``llm`` is not installed.
            LanguageModelBusy: It timed out, could not be reached, or asks to come again later.
            LanguageModelFailed: It raised.
        """
        manner = self._manner
        try:
            return self._complete(request, manner)
        except LanguageModelFailed as error:
            other = self._other(manner, request, error.__cause__)
            if other is None:
                raise
        with self._lock:
            self._manner = other
            if other.old_limit != manner.old_limit:
                self._model = None
        return self.complete(request)

    def _complete(self, request: Completion, manner: _Manner) -> Reply:
        direct = from_extra("pydantic_ai.direct", needed_by=self.name, extra="llm")
        messages = from_extra("pydantic_ai.messages", needed_by=self.name, extra="llm")
        system, user = clean(_system(request, manner)), clean(request.user)
        parts = [messages.SystemPromptPart(content=system), messages.UserPromptPart(content=user)]
        try:
            model = self._resolved()
            response = background.run(
                direct.model_request(
                    model,
                    [messages.ModelRequest(parts=parts)],
                    model_settings={**self._settings, "max_tokens": request.max_tokens},
                    model_request_parameters=self._parameters(model, request, manner),
                )
            )
        except MnemicError:
            raise
        except Exception as error:  # other people's code may raise anything
            raise self._failure(error) from error
        if response.finish_reason == "error":
            raise LanguageModelFailed(f"{self.name} reported an error instead of a reply", billed=True)
        text = response.text or ""
        return Reply(
            text,
            _FINISH.get(response.finish_reason, "stop"),
            # Some servers count nothing, and a budget that is never used up is none.
            response.usage.input_tokens or tokens.count(system) + tokens.count(user),
            response.usage.output_tokens or tokens.count(text),
        )

    def _resolved(self) -> Model:
        """The pydantic-ai model; made at the first use, because that is when the provider asks for its key."""
        with self._lock:
            if self._model is None:
                assert self._named is not None  # only a model that was given by name is ever missing
                self._model = resolve(self._named, needed_by=self.name, old_limit=self._manner.old_limit)
            return self._model

    def _parameters(self, model: Model, request: Completion, manner: _Manner) -> object:
        models = from_extra("pydantic_ai.models", needed_by=self.name, extra="llm")
        if request.schema is None or not manner.schema:
            return models.ModelRequestParameters()
        output = from_extra("pydantic_ai.output", needed_by=self.name, extra="llm")
        native = model.profile.get("supports_json_schema_output", False)
        return models.ModelRequestParameters(
            output_mode="native" if native else "prompted",
            output_object=output.OutputObjectDefinition(json_schema=dict(request.schema), name=request.purpose),
        )

    def _other(self, manner: _Manner, request: Completion, error: BaseException | None) -> _Manner | None:
        """How to say what the server rejected; None where there is no other way."""
        if _status(error) not in _REJECTED:
            return None
        said = str(error)
        if manner.old_limit and self._named is not None and "max_completion_tokens" in said:
            return replace(manner, old_limit=False)
        if manner.schema and request.schema is not None and ("response_format" in said or "schema" in said):
            return replace(manner, schema=False)
        return None

    def _failure(self, error: Exception) -> LanguageModelFailed:
        """What an error means: whether trying again later helps, and whether it may cost something."""
        message = f"{self.name} failed: {told(error)}"
        kinds: Any = from_extra("pydantic_ai.exceptions", needed_by=self.name, extra="llm")
        wait: float | None = getattr(error, "retry_after", None)
        status = _status(error)
        if isinstance(error, kinds.ModelQuotaExceededError):
            return LanguageModelFailed(message)
        if status is not None and (status in _PASSING or status >= 500):
            return LanguageModelBusy(message, retry_after_s=wait)
        # The request was under way: what came back of it was lost, not what was done for it.
        late = isinstance(error, (kinds.ModelTimeoutError, kinds.ModelRequestTimeout, TimeoutError))
        if late or isinstance(error, (kinds.ModelConnectionError, ConnectionError)):
            lost = late or getattr(error, "phase", None) == "read"
            return LanguageModelBusy(message, billed=lost, retry_after_s=wait)
        return LanguageModelFailed(message)


def _system(request: Completion, manner: _Manner) -> str:
    """The instructions, with the schema where only they can say it."""
    if request.schema is None or manner.schema:
        return request.system
    return f"{request.system}\n\nThe reply is JSON of this schema, and nothing else:\n{json.dumps(request.schema)}"


def _status(error: BaseException | None) -> int | None:
    """Of an answer over HTTP that is an error."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None
