"""The gateway's metrics: names, meaning, and their exposition over all workers. Serves no HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from proxy.console.reports import WorkerReport

_OVERHEAD_BUCKETS = (0.00025, 0.0005, 0.001, 0.002, 0.004, 0.008, 0.016, 0.05)
_ENGINE_BUCKETS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)


class GatewayMetrics:
    """The metrics of one worker, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        gauge, counter = partial(Gauge, registry=self.registry), partial(Counter, registry=self.registry)
        self.sessions = gauge("pgparley_sessions", "Client sessions that are open now")
        self.sessions_max = gauge(
            "pgparley_sessions_max", "Client sessions that may be open (max_client_conn)"
        )
        self.sessions_total = counter("pgparley_sessions_opened", "Client sessions since the start")
        self.upstream_failures = counter(
            "pgparley_upstream_connect_failures", "Upstream connections that failed"
        )
        self.spares = gauge("pgparley_spares", "Sockets to the server, dialled ahead, that wait")
        self.spares_used = counter("pgparley_spares_used", "Those that got a client")
        self.spares_unused = counter("pgparley_spares_unused", "Those that ended without one")
        self.statements = counter("pgparley_nl_statements", "NL statements by kind", ("kind",))
        self.errors = counter("pgparley_nl_errors", "NL statements answered with an error", ("sqlstate",))
        self.loans = counter("pgparley_loans", "Transactions of the engine in askers' sessions")
        self.loans_cancelled = counter(
            "pgparley_loans_cancelled", "Those that had to be cancelled at the server"
        )
        self.loans_overdue = counter(
            "pgparley_loans_overdue", "Sessions ended because the server did not stop in time"
        )
        self.audit_lost = counter(
            "pgparley_audit_lines_lost", "Lines of the audit log that could not be written"
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


def families(page: str) -> Iterator[Metric]:
    """Those of a page in Prometheus' text format, without the times at which counting began."""
    found = text_string_to_metric_families(page)
    return (family for family in found if not family.name.endswith("_created"))


class LabelledPages(Collector):
    """Pages of several processes: each sample gets the label `label`, by which `pages` has its page."""

    def __init__(self, label: str, pages: Mapping[str, str]) -> None:
        self._label = label
        self._pages = pages

    def collect(self) -> Iterable[Metric]:
        """The families of all pages."""
        found: dict[str, Metric] = {}
        for process, page in self._pages.items():
            for family in families(page):
                whole = found.setdefault(family.name, Metric(family.name, family.documentation, family.type))
                for name, labels, value, *_ in family.samples:
                    whole.add_sample(name, {**labels, self._label: process}, value)
        return found.values()


def exposition(reports: Iterable[WorkerReport]) -> bytes:
    """The metrics of all workers in Prometheus' text format, with the label `worker`: its process id."""
    found = tuple(reports)
    registry = CollectorRegistry()
    registry.register(LabelledPages("worker", {str(report.pid): report.metrics for report in found}))
    registry.register(_Sessions(found))
    return generate_latest(registry)


class _Sessions(Collector):
    """What the reports say of sessions and traffic beside the workers' pages."""

    def __init__(self, reports: tuple[WorkerReport, ...]) -> None:
        self._reports = reports

    def collect(self) -> Iterator[Metric]:
        yield from self._states()
        yield from self._traffic()

    def _states(self) -> Iterator[Metric]:
        states = GaugeMetricFamily(
            "pgparley_sessions_by_state", "Client sessions by state", labels=("worker", "state")
        )
        logins = GaugeMetricFamily("pgparley_logins", "Clients that are logging in", labels=("worker",))
        memory = GaugeMetricFamily("pgparley_worker_memory_bytes", "Memory in use", labels=("worker",))
        for report in self._reports:
            worker = str(report.pid)
            for state in ("active", "idle", "waiting"):
                count = sum(session.state == state for session in report.sessions)
                states.add_metric((worker, state), count)
            logins.add_metric((worker,), report.logins)
            memory.add_metric((worker,), report.memory)
        yield from (states, logins, memory)

    def _traffic(self) -> Iterator[Metric]:
        kinds = {
            "queries": ("pgparley_queries", "Queries, by the server's count of its answers"),
            "transactions": ("pgparley_transactions", "Transactions that have ended"),
            "received": ("pgparley_received_bytes", "Bytes from clients"),
            "sent": ("pgparley_sent_bytes", "Bytes from the server"),
        }
        for field, (name, meaning) in kinds.items():
            family = CounterMetricFamily(name, meaning, labels=("worker", "database"))
            for report in self._reports:
                for entry in report.traffic:
                    family.add_metric((str(report.pid), entry.database), getattr(entry, field))
            yield family
