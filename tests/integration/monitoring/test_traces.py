"""A question through gateway and engine is one trace, from the NL statement to each call of the model."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from engine.app.pipeline import STAGES
from tests.integration.lending.conftest import House


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    pytest.importorskip("opentelemetry.sdk.trace", reason="needs opentelemetry-sdk")
    from tests.support.spans import recorded  # noqa: PLC0415 - needs the SDK

    return recorded(monkeypatch)


def parent(span: Any, spans: list[Any]) -> str | None:
    """The name of the span that this one is within."""
    if span.parent is None:
        return None
    (found,) = [each for each in spans if each.context.span_id == span.parent.span_id]
    name: str = found.name
    return name


def test_a_question_is_one_trace(house: House, spans: list[Any]) -> None:
    with house.connect() as ana:
        ana.execute("NL: $$name of each singer$$").fetchall()
    within = {span.name: parent(span, spans) for span in spans}
    stages = {stage.__name__ for stage in STAGES}
    assert within["NL ask"] is None
    assert within["engine ask"] == "NL ask"
    assert {name for name, outer in within.items() if outer == "engine ask"} == stages
    assert within["chat"] == "write"
    assert len({span.context.trace_id for span in spans}) == 1
    kinds = {span.name: span.kind.name for span in spans}
    assert (kinds["NL ask"], kinds["engine ask"], kinds["judge"], kinds["chat"]) == (
        "CLIENT",
        "SERVER",
        "INTERNAL",
        "CLIENT",
    )


def test_a_call_of_the_model_says_its_tokens_and_nothing_that_was_said(
    house: House, spans: list[Any]
) -> None:
    with house.connect() as ana:
        ana.execute("NL: $$name of each singer$$").fetchall()
    calls = [span for span in spans if span.name == "chat"]
    assert calls
    assert dict(calls[0].attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.usage.input_tokens": 1,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.output_tokens": 1,
    }
    assert "singer" not in " ".join(span.to_json() for span in spans)


def test_a_refusal_fails_its_spans(house: House, spans: list[Any]) -> None:
    with house.connect() as ana, pytest.raises(psycopg.Error):
        ana.execute("NL (db nowhere): $$name of each singer$$")
    failed = {span.name: dict(span.attributes) for span in spans if span.status.status_code.name == "ERROR"}
    assert failed["engine ask"] == failed["NL ask"] == {"db.response.status_code": "NL003"}
