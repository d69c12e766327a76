"""OpenTelemetry's SDK with an exporter that keeps the spans, in place of the one that a process would have set up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult


class _Kept(SpanExporter):
    """Adds each span, as it ends, to a list."""

    def __init__(self, spans: list[Any]) -> None:
        self._spans = spans

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Keeps them."""
        self._spans += spans
        return SpanExportResult.SUCCESS


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The spans that end from now on, in this test."""
    spans: list[Any] = []
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_Kept(spans)))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return spans
