"""Spans for OpenTelemetry, where its API is installed (`pgparley[tracing]`) and somebody has set up its SDK.

Owns how spans are begun, how they end in an error, and the header that carries them to the next process. Sets up no SDK
and no exporter. No question, statement, value or message of an error goes into a span.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from typing import ParamSpec, TypeVar

from engine.values.errors import NLError

try:
    from opentelemetry import propagate, trace
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

_TRACER = "pgparley"

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class SpanKind(StrEnum):
    """The part of the process in a span, by OpenTelemetry's names."""

    INTERNAL = "INTERNAL"
    CLIENT = "CLIENT"
    SERVER = "SERVER"


class Span:
    """A span that is under way."""

    __slots__ = ("_span",)

    def __init__(self, span: trace.Span | None) -> None:
        """`span`: None where nobody traces."""
        self._span = span

    def note(self, **attributes: str | int) -> None:
        """Adds attributes; in a name `__` stands for a dot."""
        if self._span is not None:
            for name, value in attributes.items():
                self._span.set_attribute(name.replace("__", "."), value)

    def failed(self, sqlstate: str) -> None:
        """It ends in an error."""
        if self._span is not None:
            self._span.set_attribute("db.response.status_code", sqlstate)
            self._span.set_status(trace.StatusCode.ERROR)


_UNTRACED = Span(None)


@contextmanager
def span(
    name: str, kind: SpanKind = SpanKind.INTERNAL, received: Mapping[str, str] | None = None
) -> Iterator[Span]:
    """A span within the current one; within that of the caller where `received` are the headers of a request.

    An exception that leaves the block fails it, an `NLError` with its SQLSTATE.
    """
    if not INSTALLED:
        yield _UNTRACED
        return
    context = None if received is None else propagate.extract(received)
    with trace.get_tracer(_TRACER).start_as_current_span(
        name,
        context=context,
        kind=trace.SpanKind[kind],
        # Messages of exceptions hold statements and values.
        record_exception=False,
        set_status_on_exception=False,
    ) as started:
        begun = Span(started)
        try:
            yield begun
        except BaseException as problem:
            begun.failed(problem.sqlstate if isinstance(problem, NLError) else type(problem).__name__)
            raise


def headers() -> dict[str, str]:
    """The headers by which a request carries the current span; none where nobody traces."""
    carried: dict[str, str] = {}
    if INSTALLED:
        propagate.inject(carried)
    return carried


def traced(
    step: Callable[_Parameters, Awaitable[_Result]],
) -> Callable[_Parameters, Awaitable[_Result]]:
    """`step` in a span of its name."""

    @functools.wraps(step)
    async def within(*arguments: _Parameters.args, **options: _Parameters.kwargs) -> _Result:
        with span(step.__name__):
            return await step(*arguments, **options)

    return within
