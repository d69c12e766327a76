"""The engine's metrics."""

from __future__ import annotations

from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from engine.values.calibration import Status
from engine.values.messages import AskReply, RowKind

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0)

OVERDUE = "pgparley_statements_overdue"


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the calibration; docs/judging.md defines the names."""

    name: str
    k: int
    value: float


def figures(status: Status) -> tuple[Figure, ...]:
    """The figures over all databases, by k; none where nothing is selected."""
    if not status.enabled:
        return ()
    found: list[Figure] = []
    for line in status.lines:
        if line.group is not None:
            continue
        values = {
            "points": float(line.points),
            "points_needed": float(line.needed),
            "promised": line.coverage,
            "observed": ratio(line.kept, line.possible),
            "observed_of_all": ratio(line.right, line.tested),
            "possible": ratio(line.possible, line.tested),
            "tested": float(line.tested),
            "shown_mean": ratio(line.shown, line.tested),
            "generated_mean": ratio(line.generated, line.tested),
        }
        known = ((name, value) for name, value in values.items() if value is not None)
        found += [Figure(name, line.k, value) for name, value in known]
    chosen = ratio(status.chosen_inside, status.chosen)
    if chosen is not None:
        found.append(Figure("chosen_inside", status.k, chosen))
    return tuple(found)


def ratio(part: int, whole: int) -> float | None:
    """`part / whole`; None where `whole` is 0."""
    return part / whole if whole else None


class Metrics:
    """Counters and histograms over one registry."""

    def __init__(self) -> None:
        self.registry = own = CollectorRegistry()
        self.requests = Counter(
            "pgparley_requests", "Requests by verb and outcome", ["verb", "outcome"], registry=own
        )
        self.question_seconds = Histogram(
            "pgparley_question_seconds", "A question, whole", registry=own, buckets=_SECONDS
        )
        self.stage_seconds = Histogram(
            "pgparley_stage_seconds", "One stage", ["stage"], registry=own, buckets=_SECONDS
        )
        self.first_candidate_seconds = Histogram(
            "pgparley_first_candidate_seconds",
            "From a question's arrival to its first candidate",
            registry=own,
            buckets=_SECONDS,
        )
        self.answers = Counter(
            "pgparley_answers", "Answers by the kind of their rows", ["kind"], registry=own
        )
        for kind in RowKind:  # a share of none is 0, and not unknown
            self.answers.labels(kind)
        self.ready = Gauge("pgparley_engine_ready", "1 once models and schemas are loaded", registry=own)
        self.tokens = Counter("pgparley_model_tokens", "Tokens by kind", ["kind"], registry=own)
        self.model_calls = Counter("pgparley_model_calls", "Calls of the language model", registry=own)
        self.money = Counter(
            "pgparley_model_money", "What the calls cost by the configured prices", registry=own
        )
        self.circuit_open = Gauge(
            "pgparley_model_circuit_open",
            "1 while the language model is not called because it failed too often",
            registry=own,
        )
        self.circuit_opened = Counter(
            "pgparley_model_circuit_opened", "Times that calls of the language model stopped", registry=own
        )
        self.selection = Gauge(
            "pgparley_nl_selection",
            "What selection promises and what was observed",
            ["figure", "k"],
            registry=own,
        )
        self.drift = Counter(
            "pgparley_schema_drift",
            "Changes found in schemas by database",
            ["database", "what"],
            registry=own,
        )
        self.renames = Gauge("pgparley_renames_proposed", "Renames that nobody has decided on", registry=own)
        self.running = Gauge("pgparley_questions_running", "Questions that are being answered", registry=own)
        self.waiting = Gauge(
            "pgparley_questions_waiting", "Questions that wait for one of the engine's places", registry=own
        )
        self.overdue = Gauge(
            OVERDUE, "Statements that a server has not stopped at their deadline", registry=own
        )

    def calibrated(self, status: Status) -> None:
        """Sets the figures of selection; unknown ones are left out."""
        self.selection.clear()
        for figure in figures(status):
            self.selection.labels(figure.name, str(figure.k)).set(figure.value)

    def answered(self, reply: AskReply) -> None:
        """Counts one answer and its cost."""
        self.answers.labels(reply.rows[0].kind).inc()
        self.question_seconds.observe(reply.seconds)
        for timing in reply.timings:
            self.stage_seconds.labels(timing.stage).observe(timing.seconds)
        if reply.usage.first_candidate_seconds is not None:
            self.first_candidate_seconds.observe(reply.usage.first_candidate_seconds)
        self.model_calls.inc(reply.usage.calls)
        self.money.inc(reply.usage.money)
        for kind in ("prefilled", "cached", "generated"):
            self.tokens.labels(kind).inc(getattr(reply.usage, kind))
