"""Language models of any provider, through pydantic-ai."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol

from mnemic.errors import LanguageModelFailed
from mnemic.models import background
from mnemic.models.clean import clean
from mnemic.models.foreign import told
from mnemic.models.optional import from_extra
from mnemic.protocols import Completion, Reply

_FINISH: Final[dict[str | None, Literal["stop", "length", "refusal"]]] = {
    "length": "length",
    "content_filter": "refusal",
}


class Model(Protocol):
    """The part of pydantic-ai's ``Model`` that is used here; the rest is pydantic-ai's own business."""

    @property
    def system(self) -> str:
        """The provider."""
        ...

    @property
    def model_name(self) -> str:
        """The model."""
        ...

    @property
    def profile(self) -> Mapping[str, object]:
        """What the model can do."""
        ...


class PydanticAIModel:
    """A ``LanguageModel`` over one pydantic-ai model.

    The prompts leave this machine. Keys and addresses come from the provider's own environment variables, or from
    a pydantic-ai ``Model`` with a provider of your own. A request's schema is enforced by the provider where it can
    do that, and put into the prompt where it cannot; the reply is returned unparsed either way.

    Args:
        model: ``anthropic:claude-sonnet-4-5``, or a pydantic-ai ``Model``.
        temperature: 0 by default, as both papers do; None leaves it to the provider.
        timeout: Seconds for one request.
    """

    def __init__(self, model: str | Model, *, temperature: float | None = 0.0, timeout: float = 120.0) -> None:
        self.name = model if isinstance(model, str) else f"{model.system}:{model.model_name}"
        self._model = model
        self._settings: dict[str, float] = {"timeout": timeout}
        if temperature is not None:
            self._settings["temperature"] = temperature

    def complete(self, request: Completion) -> Reply:
        """Complete one request.

        Raises:
            MissingExtra: The extra ``llm`` is not installed.
            LanguageModelFailed: It raised, timed out or could not be reached.
        """
        direct = from_extra("pydantic_ai.direct", needed_by=self.name, extra="llm")
        messages = from_extra("pydantic_ai.messages", needed_by=self.name, extra="llm")
        prompt = messages.ModelRequest(
            parts=[
                messages.SystemPromptPart(content=clean(request.system)),
                messages.UserPromptPart(content=clean(request.user)),
            ]
        )
        try:
            model = self._resolved()
            response = background.run(
                direct.model_request(
                    model,
                    [prompt],
                    model_settings={**self._settings, "max_tokens": request.max_tokens},
                    model_request_parameters=self._parameters(model, request),
                )
            )
        except Exception as error:  # other people's code may raise anything
            raise LanguageModelFailed(f"{self.name} failed: {told(error)}") from error
        if response.finish_reason == "error":
            raise LanguageModelFailed(f"{self.name} reported an error instead of a reply")
        usage = response.usage
        finish = _FINISH.get(response.finish_reason, "stop")
        return Reply(response.text or "", finish, usage.input_tokens, usage.output_tokens)

    def _resolved(self) -> Model:
        """The pydantic-ai model; made at the first use, because that is when the provider asks for its key."""
        if isinstance(self._model, str):
            models = from_extra("pydantic_ai.models", needed_by=self.name, extra="llm")
            self._model = models.infer_model(self._model)
        return self._model

    def _parameters(self, model: Model, request: Completion) -> object:
        models = from_extra("pydantic_ai.models", needed_by=self.name, extra="llm")
        if request.schema is None:
            return models.ModelRequestParameters()
        output = from_extra("pydantic_ai.output", needed_by=self.name, extra="llm")
        native = model.profile.get("supports_json_schema_output", False)
        return models.ModelRequestParameters(
            output_mode="native" if native else "prompted",
            output_object=output.OutputObjectDefinition(json_schema=dict(request.schema), name=request.purpose),
        )
