"""Spans: none without OpenTelemetry; with it they nest, carry over, and say of an error its SQLSTATE alone."""

from __future__ import annotations

import pytest

from engine.values import tracing
from engine.values.errors import NoRouteError
from engine.values.tracing import SpanKind, span, traced


async def step() -> int:
    """A stage."""
    return 3


async def test_without_the_api_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "INSTALLED", False)
    with span("NL ask", SpanKind.CLIENT) as begun:
        begun.note(gen_ai__usage__input_tokens=1)
        begun.failed("58000")
        assert tracing.headers() == {}
    assert await traced(step)() == 3


def test_a_traced_stage_keeps_its_name() -> None:
    assert traced(step).__name__ == "step"


class TestWithTheSDK:
    """With an exporter that keeps the spans in memory."""

    @pytest.fixture
    def spans(self, monkeypatch: pytest.MonkeyPatch) -> list[object]:
        sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="needs opentelemetry-sdk")
        from tests.support.spans import recorded  # noqa: PLC0415 - needs the SDK

        assert sdk is not None
        return recorded(monkeypatch)

    def test_a_span_goes_on_behind_a_header(self, spans: list[object]) -> None:
        with span("NL ask", SpanKind.CLIENT):
            carried = tracing.headers()
        assert set(carried) == {"traceparent"}
        with span("engine ask", SpanKind.SERVER, carried):
            pass
        client, server = spans
        assert server.parent.span_id == client.context.span_id
        assert server.context.trace_id == client.context.trace_id

    def test_an_error_is_its_sqlstate_and_no_word(self, spans: list[object]) -> None:
        with pytest.raises(NoRouteError), span("route"):
            raise NoRouteError("no database holds 'secret'")
        (failed,) = spans
        assert failed.status.status_code.name == "ERROR"
        assert dict(failed.attributes) == {"db.response.status_code": "NL003"}
        assert (failed.events, failed.status.description) == ((), None)
