"""Language models of any provider, through pydantic-ai."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from functools import partial
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
_TOO_LARGE = 413
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|too (?:long|large|many tokens)|(?:maximum|exceeds?)\b.{0,40}\btokens",
    re.IGNORECASE,
)
"""What providers say of a prompt that does not fit."""
_PASSING = (408, 425, 429)


@dataclass(frozen=True, slots=True)
class _Manner:
    """How a server is spoken to; what it rejects is said in another way the next time.

    Attributes:
        schema: Whether the server is told of a schema; else only the prompt is.
        old_limit: See ``providers.resolve``.
        streams: Whether the server is asked to send a reply while it makes it, where somebody wants to read it then.
        temperature: Whether it is told our own temperature of 0; one that a caller chose is always sent.
    """

    schema: bool = True
    old_limit: bool = True
    streams: bool = True
    temperature: bool = True


class PydanticAIModel:
    """A ``StreamingModel`` over one pydantic-ai model.

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
        self._asked_temperature = temperature

    def complete(self, request: Completion) -> Reply:
        """Complete one request.

        Raises:
            MissingExtra: The extra ``llm`` is not installed.
            LanguageModelBusy: It timed out, could not be reached, or asks to come again later.
            LanguageModelFailed: It raised.
        """
        return self._asked(request, None)

    def stream(self, request: Completion, receive: Callable[[str], object]) -> Reply:
        """Complete one request: see ``protocols.StreamingModel``; in one piece where the server knows no other way.

        Raises:
            MissingExtra, LanguageModelBusy, LanguageModelFailed: As ``complete``.
        """
        return self._asked(request, receive)

    def _asked(self, request: Completion, receive: Callable[[str], object] | None) -> Reply:
        manner = self._manner
        try:
            return self._ask(request, manner, receive)
        except LanguageModelFailed as error:
            if error.billed:
                raise
            other = self._other(manner, request, error.__cause__, streams=receive is not None)
            if other is None:
                raise
        with self._lock:
            self._manner = other
            if other.old_limit != manner.old_limit:
                self._model = None
        return self._asked(request, receive)

    def _ask(self, request: Completion, manner: _Manner, receive: Callable[[str], object] | None) -> Reply:
        direct = from_extra("pydantic_ai.direct", needed_by=self.name, extra="llm")
        messages = from_extra("pydantic_ai.messages", needed_by=self.name, extra="llm")
        system, user = clean(_system(request, manner)), clean(request.user)
        parts = [messages.SystemPromptPart(content=system), messages.UserPromptPart(content=user)]
        model = self._resolved()
        asking = partial(
            direct.model_request_stream if receive and manner.streams else direct.model_request,
            model,
            [messages.ModelRequest(parts=parts)],
            model_settings={**self._settings, **self._temperature(manner), "max_tokens": request.max_tokens},
            model_request_parameters=self._parameters(model, request, manner),
            # Its spans would hold the words; ours (telemetry) hold counts.
            instrument=False,
        )
        pieces: list[str] = []
        if receive and manner.streams:

            def pass_on(piece: str) -> None:
                pieces.append(piece)
                receive(piece)

            response = background.run_in_pieces(partial(self._in_pieces, asking), pass_on)
        else:
            response = background.run(self._whole(asking))
            pieces += [response.text] if response.text else []
        if response.finish_reason == "error":
            raise LanguageModelFailed(f"{self.name} reported an error instead of a reply", billed=True)
        if receive and pieces and not manner.streams:
            receive(*pieces)
        text = "".join(pieces)
        return Reply(
            text,
            _FINISH.get(response.finish_reason, "stop"),
            # Some servers count nothing, and a budget that is never used up is none.
            response.usage.input_tokens or tokens.count(system) + tokens.count(user),
            response.usage.output_tokens or tokens.count(text),
        )

    def _temperature(self, manner: _Manner) -> dict[str, float]:
        asked = self._asked_temperature
        return {} if asked is None or (asked == 0 and not manner.temperature) else {"temperature": asked}

    async def _whole(self, asking: Callable[[], Any]) -> Any:  # noqa: ANN401 - pydantic-ai's response
        try:
            return await asking()
        except Exception as error:  # other people's code may raise anything
            raise self._failure(error) from error

    async def _in_pieces(
        self, asking: Callable[[], AbstractAsyncContextManager[Any]], put: Callable[[str], None]
    ) -> Any:  # noqa: ANN401 - pydantic-ai's response
        begun = False
        try:
            async with asking() as stream:
                async for event in stream:
                    if piece := _words(event):
                        begun = True
                        put(piece)
                return stream.get()
        except Exception as error:  # other people's code may raise anything
            raise self._failure(error, begun=begun) from error

    def _resolved(self) -> Model:
        """The pydantic-ai model; made at the first use, because that is when the provider asks for its key."""
        with self._lock:
            if self._model is None:
                assert self._named is not None  # only a model that was given by name is ever missing
                try:
                    self._model = resolve(self._named, needed_by=self.name, old_limit=self._manner.old_limit)
                except MnemicError:
                    raise
                except Exception as error:  # other people's code may raise anything
                    raise self._failure(error) from error
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

    def _other(
        self, manner: _Manner, request: Completion, error: BaseException | None, *, streams: bool
    ) -> _Manner | None:
        """How to say what the server rejected; None where there is no other way."""
        kinds: Any = from_extra("pydantic_ai.exceptions", needed_by=self.name, extra="llm")
        if streams and manner.streams and isinstance(error, kinds.UnexpectedModelBehavior):
            # Nothing came as a stream: it is empty, or the server does not know the word.
            return replace(manner, streams=False)
        if _status(error) not in _REJECTED:
            return None
        said = str(error)
        if manner.old_limit and self._named is not None and "max_completion_tokens" in said:
            return replace(manner, old_limit=False)
        if manner.schema and request.schema is not None and ("response_format" in said or "schema" in said):
            return replace(manner, schema=False)
        if manner.temperature and self._asked_temperature == 0 and "temperature" in said:
            return replace(manner, temperature=False)
        if manner.streams and streams and "stream" in said:
            return replace(manner, streams=False)
        return None

    def _failure(self, error: Exception, *, begun: bool = False) -> LanguageModelFailed:
        """What an error means: whether trying again later helps, and whether it may cost something.

        Args:
            error: What was raised.
            begun: Whether a part of the reply had come.
        """
        message = f"{self.name} failed: {told(error)}"
        kinds: Any = from_extra("pydantic_ai.exceptions", needed_by=self.name, extra="llm")
        wait: float | None = getattr(error, "retry_after", None)
        status = _status(error)
        if isinstance(error, kinds.ModelQuotaExceededError):
            return LanguageModelFailed(message)
        if status is not None and (status in _PASSING or status >= 500):
            return LanguageModelBusy(message, billed=begun, retry_after_s=wait)
        # The request was under way: what came back of it was lost, not what was done for it.
        late = isinstance(error, (kinds.ModelTimeoutError, kinds.ModelRequestTimeout, TimeoutError))
        if late or isinstance(error, (kinds.ModelConnectionError, ConnectionError)):
            lost = late or begun or getattr(error, "phase", None) == "read"
            return LanguageModelBusy(message, billed=lost, retry_after_s=wait)
        too_long = status == _TOO_LARGE or (status in _REJECTED and _TOO_LONG.search(str(error)) is not None)
        return LanguageModelFailed(message, billed=begun, too_long=too_long)


def _system(request: Completion, manner: _Manner) -> str:
    """The instructions, with the schema where only they can say it."""
    if request.schema is None or manner.schema:
        return request.system
    return f"{request.system}\n\nThe reply is JSON of this schema, and nothing else:\n{json.dumps(request.schema)}"


def _words(event: Any) -> str:  # noqa: ANN401 - of pydantic-ai
    """The piece of a reply's text that an event of a stream brings; of reasoning, none."""
    match event.event_kind:
        case "part_start" if event.part.part_kind == "text":
            return event.part.content
        case "part_delta" if event.delta.part_delta_kind == "text":
            return event.delta.content_delta
        case _:
            return ""


def _status(error: BaseException | None) -> int | None:
    """Of an answer over HTTP that is an error."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None
