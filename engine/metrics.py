"""The engine's metrics, every name in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, Counter, Histogram

from engine.types import AskReply

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Counters and histograms over one registry."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    question_seconds: Histogram = field(init=False)
    stage_seconds: Histogram = field(init=False)
    tokens: Counter = field(init=False)
    model_calls: Counter = field(init=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        own = self.registry
        set_(
            self,
            "requests",
            Counter("pgparley_requests", "Requests by verb and outcome", ["verb", "outcome"], registry=own),
        )
        set_(
            self,
            "question_seconds",
            Histogram("pgparley_question_seconds", "A question, whole", registry=own, buckets=_SECONDS),
        )
        set_(
            self,
            "stage_seconds",
            Histogram("pgparley_stage_seconds", "One stage", ["stage"], registry=own, buckets=_SECONDS),
        )
        set_(self, "tokens", Counter("pgparley_model_tokens", "Tokens by kind", ["kind"], registry=own))
        set_(
            self, "model_calls", Counter("pgparley_model_calls", "Calls of the language model", registry=own)
        )

    def answered(self, reply: AskReply) -> None:
        """Counts what one answer cost."""
        self.question_seconds.observe(reply.seconds)
        for timing in reply.timings:
            self.stage_seconds.labels(timing.stage).observe(timing.seconds)
        self.model_calls.inc(reply.usage.calls)
        for kind in ("prefilled", "cached", "generated"):
            self.tokens.labels(kind).inc(getattr(reply.usage, kind))
