"""Memory for any client in the shape of OpenAI's: recalled before each chat completion, added after it.

    client = remembering(OpenAI(), memory, user_id="ana", session_id="monday")

The client is the caller's, of whatever package; this module imports none.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar, cast

from mnemic.adapters.recall import Whose, quietly_added, quietly_recalled, words
from mnemic.adapters.streamed import Reply
from mnemic.memory import Memory

Client = TypeVar("Client")
Message = Mapping[str, object]
_INSTRUCTIONS: Final = ("system", "developer")
_COPIES: Final = ("with_options", "copy")


def remembering(
    client: Client,
    memory: Memory,
    *,
    user_id: str,
    session_id: str | None = None,
    agent_id: str | None = None,
    max_tokens: int = 1500,
) -> Client:
    """The same client, with memory: ``chat.completions.create`` and ``parse``, streamed or not, sync or async.

    Before a request, what memory has on its last user message stands in a system message behind those that are there;
    what the request shows anyway is left out. After it, the messages of the request (but for system messages) and the
    reply are added, word for word, and only what is new: a client that sends its history each time, or tries again,
    adds nothing twice. What was recalled is never among them. Where memory fails, that is logged, and the chat goes on.

    Args:
        client: ``OpenAI()``, ``AsyncOpenAI()``, or anything with their ``chat.completions``.
        memory: Where it remembers.
        user_id: Whose memory; make one client a user, which costs nothing.
        session_id: The conversation; ``default`` where none is given.
        agent_id: The agent that is spoken to, where there are several.
        max_tokens: Of what is recalled, at most.

    Raises:
        InvalidScope: One of the ids cannot be one.
    """
    remembers = _Remembers(Whose(memory, user_id, session_id, agent_id), max_tokens)
    return cast(Client, _Client(client, remembers))


@dataclass(frozen=True, slots=True)
class _Remembers:
    whose: Whose
    max_tokens: int

    def before(self, messages: Sequence[object]) -> list[object]:
        """A request's messages, with what memory has on the last of them."""
        given = [_mapping(message) for message in messages]
        texts = [words(message.get("content")) for message in given]
        asked = [text for message, text in zip(given, texts, strict=True) if message.get("role") == "user"]
        block = quietly_recalled(self.whose, asked[-1], shown=texts, max_tokens=self.max_tokens) if asked else ""
        if not block:
            return list(messages)
        place = 0
        while place < len(given) and given[place].get("role") in _INSTRUCTIONS:
            place += 1
        return [*messages[:place], {"role": "system", "content": block}, *messages[place:]]

    def after(self, messages: Sequence[object], reply: Message | None) -> None:
        """Store what was said: the messages as the caller gave them, and the reply."""
        given = [message for message in map(_mapping, messages) if message.get("role") not in _INSTRUCTIONS]
        answered = [place for place, message in enumerate(given) if message.get("role") == "assistant"]
        first = answered[-1] + 1 if answered else 0
        now = datetime.now(UTC)
        # Only what follows the last answer is being said now; when the rest was, nobody knows.
        said = given[:first] + [{"timestamp": now, **message} for message in given[first:]]
        quietly_added(self.whose, said if reply is None else [*said, {"timestamp": now, **reply}])


class _Client:
    """Whatever it is asked for is the client's, but for the way to chat completions."""

    def __init__(self, client: object, remembers: _Remembers) -> None:
        self._client, self._remembers = client, remembers

    def __getattr__(self, name: str) -> object:
        found: object = getattr(self._client, name)
        if name == "chat":
            return _Within(found, "completions", lambda completions: _Completions(completions, self._remembers))
        if name in _COPIES:
            copy = cast(Callable[..., object], found)

            def copied(*given: object, **named: object) -> _Client:
                return _Client(copy(*given, **named), self._remembers)

            return copied
        return found

    def __enter__(self) -> Self:
        cast(AbstractContextManager[object], self._client).__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        cast(AbstractContextManager[object], self._client).__exit__(kind, error, trace)

    async def __aenter__(self) -> Self:
        await cast(AbstractAsyncContextManager[object], self._client).__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await cast(AbstractAsyncContextManager[object], self._client).__aexit__(kind, error, trace)


class _Within:
    """An object of which one attribute is another one."""

    def __init__(self, inside: object, name: str, wrap: Callable[[object], object]) -> None:
        self._inside, self._name, self._wrap = inside, name, wrap

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inside, name)
        return self._wrap(found) if name == self._name else found


class _Completions:
    def __init__(self, completions: object, remembers: _Remembers) -> None:
        self._completions, self._remembers = completions, remembers

    def __getattr__(self, name: str) -> object:
        found = cast(Callable[..., object], getattr(self._completions, name))
        if name not in ("create", "parse"):
            return found
        is_async = inspect.iscoroutinefunction(inspect.unwrap(found))

        def asking(*, messages: Iterable[object], **options: object) -> object:
            if is_async:
                return self._ask_async(cast(Callable[..., Awaitable[object]], found), list(messages), options)
            return self._ask(found, list(messages), options)

        return asking

    def _ask(self, create: Callable[..., object], messages: list[object], options: dict[str, object]) -> object:
        try:
            answer = create(messages=self._remembers.before(messages), **options)
        except BaseException:
            self._remembers.after(messages, None)  # it was said, whoever did not answer
            raise
        if options.get("stream"):
            return _Stream(cast(_Pieces, answer), lambda reply: self._remembers.after(messages, reply))
        self._remembers.after(messages, _chosen(answer))
        return answer

    async def _ask_async(
        self, create: Callable[..., Awaitable[object]], messages: list[object], options: dict[str, object]
    ) -> object:
        shown = await asyncio.to_thread(self._remembers.before, messages)
        try:
            answer = await create(messages=shown, **options)
        except BaseException:
            await asyncio.to_thread(self._remembers.after, messages, None)
            raise
        if options.get("stream"):
            return _AsyncStream(cast(_AsyncPieces, answer), lambda reply: self._remembers.after(messages, reply))
        await asyncio.to_thread(self._remembers.after, messages, _chosen(answer))
        return answer


class _Pieces(Protocol):
    """What a streamed answer is, of whatever package."""

    def __iter__(self) -> Iterator[object]: ...
    def close(self) -> object: ...


class _AsyncPieces(Protocol):
    """The same of an asynchronous client."""

    def __aiter__(self) -> AsyncIterator[object]: ...
    def close(self) -> Awaitable[object]: ...


class _Stream:
    """A stream, read as before; once, when it ends however it does, what came of it is stored."""

    def __init__(self, stream: _Pieces, store: Callable[[Message | None], None]) -> None:
        self._stream, self._store = stream, store
        self._pieces = iter(stream)
        self._reply = Reply()
        self._stored = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        try:
            piece = next(self._pieces)
        except BaseException:
            self._settle()
            raise
        self._reply.take(piece)
        return piece

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the request; what came of the reply is stored."""
        self._stream.close()
        self._settle()

    def _settle(self) -> None:
        if not self._stored:
            self._stored = True
            self._store(self._reply.message())


class _AsyncStream:
    """The same, read with ``async for``."""

    def __init__(self, stream: _AsyncPieces, store: Callable[[Message | None], None]) -> None:
        self._stream, self._store = stream, store
        self._pieces = aiter(stream)
        self._reply = Reply()
        self._stored = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)

    def __aiter__(self) -> AsyncIterator[object]:
        return self

    async def __anext__(self) -> object:
        try:
            piece = await anext(self._pieces)
        except BaseException:
            await self._settle()
            raise
        self._reply.take(piece)
        return piece

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """End the request; what came of the reply is stored."""
        await self._stream.close()
        await self._settle()

    async def _settle(self) -> None:
        if not self._stored:
            self._stored = True
            await asyncio.to_thread(self._store, self._reply.message())


def _mapping(message: object) -> Message:
    """A message as a mapping: those that a client got back are often objects."""
    if isinstance(message, Mapping):
        return cast(Message, message)
    dump = getattr(message, "model_dump", None)
    return cast(Message, dump(exclude_none=True)) if callable(dump) else {"role": "", "content": ""}


def _chosen(answer: object) -> Message | None:
    """The first choice of an answer."""
    choices = getattr(answer, "choices", None)
    message = getattr(choices[0], "message", None) if choices else None
    return None if message is None else _mapping(message)
