"""The gateway's metrics: names and meaning. How they are exposed is somebody else's matter."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_OVERHEAD_BUCKETS = (0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.05)
_ENGINE_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


class GatewayMetrics:
    """The metrics of one worker, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.sessions = Gauge(
            "pgparley_sessions", "Client sessions that are open now", registry=self.registry
        )
        self.sessions_total = Counter(
            "pgparley_sessions_opened", "Client sessions since the start", registry=self.registry
        )
        self.upstream_failures = Counter(
            "pgparley_upstream_connect_failures", "Upstream connections that failed", registry=self.registry
        )
        self.statements = Counter(
            "pgparley_nl_statements", "NL statements by kind", ("kind",), registry=self.registry
        )
        self.errors = Counter(
            "pgparley_nl_errors",
            "NL statements answered with an error",
            ("sqlstate",),
            registry=self.registry,
        )
        self.engine_seconds = Histogram(
            "pgparley_nl_engine_seconds",
            "Seconds that the engine took for a request",
            buckets=_ENGINE_BUCKETS,
            registry=self.registry,
        )
        self.overhead_seconds = Histogram(
            "pgparley_nl_overhead_seconds",
            "Seconds that the gateway itself spent on the reply of a request",
            buckets=_OVERHEAD_BUCKETS,
            registry=self.registry,
        )
