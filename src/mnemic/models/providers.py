"""From the name of a language model to pydantic-ai's model of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import urlsplit

from mnemic.config import Environment
from mnemic.errors import InvalidInput
from mnemic.models.optional import from_extra

COMPATIBLE: Final = "openai-compatible"
"""Any server that speaks OpenAI's chat completions: llama.cpp, vLLM, LM Studio, a gateway."""


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


@dataclass(frozen=True, slots=True)
class ModelName:
    """A language model by name: ``PROVIDER:MODEL``, or ``PROVIDER:MODEL@URL`` for another address of the provider.

    Attributes:
        provider: ``openai``, ``anthropic``, ``google``, ``ollama``, ``openai-compatible``, or any other of pydantic-ai.
        model: As the provider calls it.
        url: Of the API, without credentials; None for the provider's own, or its environment variable's.
    """

    provider: str
    model: str
    url: str | None = None

    @classmethod
    def parse(cls, text: str) -> ModelName:
        """Read a name.

        Raises:
            InvalidInput: It lacks a part, or its address is not one.
        """
        place = max(text.rfind("@http://"), text.rfind("@https://"))
        name, url = (text, None) if place < 0 else (text[:place], text[place + 1 :])
        provider, _, model = name.partition(":")
        if not (provider and model):
            raise InvalidInput(
                f"No language model is called {text!r}; write PROVIDER:MODEL, for example openai:gpt-4.1-mini, or "
                "PROVIDER:MODEL@URL, for example openai-compatible:qwen2.5-7b@http://127.0.0.1:8080/v1"
            )
        if url is not None:
            parts = urlsplit(url)
            if not parts.hostname or parts.username is not None or parts.query:
                raise InvalidInput(
                    f"the address in {provider}:{model} must be http(s)://HOST[:PORT][/PATH]; a key does not belong in "
                    "it, but in the provider's environment variable (MNEMIC_MODEL_KEY for openai-compatible)"
                )
        elif provider == COMPATIBLE:
            raise InvalidInput(f"{text!r} needs an address: openai-compatible:MODEL@http://HOST:PORT/v1")
        return cls(provider, model, url)


def resolve(name: ModelName, *, needed_by: str, old_limit: bool = True) -> Model:
    """Pydantic-ai's model; its client connects to nothing yet.

    Args:
        name: Which one.
        needed_by: For the message, should the extra be missing.
        old_limit: ``openai-compatible`` alone: the limit of tokens is called ``max_tokens`` there, which more servers
            know, and not ``max_completion_tokens``.

    Raises:
        MissingExtra: The extra ``llm`` is not installed.
        InvalidInput: The provider takes no other address.
        Exception: Pydantic-ai knows no such provider, or the provider finds no key.
    """
    models = from_extra("pydantic_ai.models", needed_by=needed_by, extra="llm")
    providers = from_extra("pydantic_ai.providers", needed_by=needed_by, extra="llm")
    environment = Environment.read()
    if name.provider == COMPATIBLE:
        library = from_extra("pydantic_ai.providers.openai_compatible", needed_by=needed_by, extra="llm")

        def compatible(_provider: str) -> object:
            return library.OpenAICompatibleProvider(
                COMPATIBLE,
                base_url=name.url,
                api_key=environment.model_key,
                # What a model of that name does elsewhere says nothing of this server: a setting is sent, or refused.
                profile={
                    "openai_chat_supports_max_completion_tokens": not old_limit,
                    "openai_supports_reasoning": False,
                },
            )

        return models.infer_model(f"openai-chat:{name.model}", provider_factory=compatible)
    url = name.url or (environment.ollama_url if name.provider == "ollama" else None)
    if url is None:
        return models.infer_model(f"{name.provider}:{name.model}")
    factory = _at(url, providers.infer_provider_class)
    return models.infer_model(f"{name.provider}:{name.model}", provider_factory=factory)


def _at(url: str, infer_provider_class: Callable[[str], Callable[..., Any]]) -> Callable[[str], Any]:
    def make(provider: str) -> Any:  # noqa: ANN401 - pydantic-ai's Provider, which is its own business
        try:
            return infer_provider_class(provider)(base_url=url)
        except TypeError as error:
            raise InvalidInput(f"the provider {provider} takes no other address; leave out @{url}") from error

    return make
