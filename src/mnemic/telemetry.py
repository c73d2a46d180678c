"""Spans of OpenTelemetry: what takes how long, told in counts; never words, queries, notes, keys, ids or addresses.

A program that wants spans sets up an SDK with an exporter, and so has OpenTelemetry loaded. Where it has not, nothing
is imported, made or sent, and a span costs one look into a dictionary. Errors are told by their class alone, for their
messages may name things.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Final, ParamSpec, TypeVar

Attributes = Mapping[str, bool | int | float | str]
"""Name -> a number, or one of a closed set of words of our own (or a model's name)."""

P = ParamSpec("P")
R = TypeVar("R")

_API: Final = "opentelemetry.trace"


@contextmanager
def span(name: str, attributes: Attributes | None = None) -> Generator[Callable[[Attributes], None]]:
    """A span for the duration of the block, under the one that is current.

    Args:
        name: ``mnemic.`` and what is done; the same at every call.
        attributes: What is known before.

    Yields:
        Adds what is known later.
    """
    if _API not in sys.modules:
        yield _nothing
        return
    from opentelemetry import trace  # already there: whoever wants spans has imported it

    with trace.get_tracer("mnemic").start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ) as current:
        try:
            yield current.set_attributes
        except BaseException as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(trace.StatusCode.ERROR)
            raise


def spanned(name: str, told: Callable[[R], Attributes] = lambda _: {}) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Put a span around every call of a function.

    Args:
        name: As for ``span``.
        told: What its result says of the call.
    """

    def around(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            with span(name) as tell:
                result = function(*args, **kwargs)
                tell(told(result))
                return result

        return call

    return around


def _nothing(_: Attributes) -> None:
    pass
