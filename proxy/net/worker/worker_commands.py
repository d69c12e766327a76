"""The commands that a worker carries out for a sibling, or for its own console.

Owns the verbs of `worker_ipc.WorkerRequest` and the report. The choice of workers, and the console's reply,
are in `admin_commands`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Protocol

from proxy.console.reports import MetricSample, PrewarmedReport, WorkerReport
from proxy.metrics import GatewayMetrics
from proxy.net.addresses import server_side
from proxy.net.ports import ShutdownMode
from proxy.net.session.session_registry import SessionView
from proxy.net.worker.context import GatewayContext
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerRequest


class WorkerControl(Protocol):
    """A worker as far as its commands need it."""

    @property
    def context(self) -> GatewayContext:
        """The state that its connections share."""

    def reload(self) -> str | None:
        """Reads the settings and their files anew. Returns why that failed; everything is then as before."""

    def assign(self, key: str, value: str) -> str | None:
        """Changes one setting until the next `reload`. Returns why that failed."""

    def shut_down(self, how: ShutdownMode) -> None:
        """Begins to end."""


def perform(worker: WorkerControl, request: WorkerRequest) -> WorkerAnswer:
    """Carries out `request`; an unknown verb gives an error in the answer."""
    act = _VERBS.get(request.verb)
    return (
        WorkerAnswer(error=f"unknown request {request.verb}")
        if act is None
        else act(worker, request.argument)
    )


def report(context: GatewayContext) -> WorkerReport:
    """The worker's sessions, counts and metrics at this moment."""
    sessions = context.sessions
    period, recent = sessions.recent()
    sockets = context.prewarm_pool.waiting
    context.metrics.spares.set(len(sockets))
    context.metrics.sessions_max.set(context.settings.max_client_conn)
    return WorkerReport(
        pid=os.getpid(),
        started=context.started,
        sessions=sessions.reports(),
        traffic=tuple(sessions.traffic().values()),
        recent=recent,
        period=period,
        paused=tuple(sessions.paused),
        disabled=tuple(sessions.disabled),
        all_paused=sessions.all_paused,
        shutting_down=context.shutdown is not None,
        logins=len(context.pending_clients),
        memory=_resident(),
        samples=tuple(_samples(context.metrics)),
        prewarmed=tuple(PrewarmedReport(server_side(each.transport), each.connected) for each in sockets),
    )


def _report(worker: WorkerControl, _: str) -> WorkerAnswer:
    return WorkerAnswer(done=True, report=report(worker.context))


def _cancel(worker: WorkerControl, key: str) -> WorkerAnswer:
    return WorkerAnswer(done=worker.context.keys.cancel_for_sibling(bytes.fromhex(key)))


def _reload(worker: WorkerControl, _: str) -> WorkerAnswer:
    return _outcome(worker.reload())


def _set(worker: WorkerControl, assignment: str) -> WorkerAnswer:
    key, _, value = assignment.partition("=")
    return _outcome(worker.assign(key, value))


def _reconnect(worker: WorkerControl, database: str) -> WorkerAnswer:
    worker.context.reconnect(database)
    return WorkerAnswer(done=True)


def _kill(worker: WorkerControl, database: str) -> WorkerAnswer:
    worker.context.pause(database)
    return _end(worker.context.sessions.of_database(database))


def _kill_client(worker: WorkerControl, number: str) -> WorkerAnswer:
    return _end(worker.context.sessions.of_client(int(number)))


def _shut_down(worker: WorkerControl, how: str) -> WorkerAnswer:
    worker.shut_down(ShutdownMode(how))
    return WorkerAnswer(done=True)


def _end(connections: list[SessionView]) -> WorkerAnswer:
    for connection in connections:
        connection.shut_down()
    return WorkerAnswer(done=bool(connections))


def _outcome(problem: str | None) -> WorkerAnswer:
    return WorkerAnswer(done=problem is None, error=problem)


_VERBS: dict[str, Callable[[WorkerControl, str], WorkerAnswer]] = {
    "cancel": _cancel,
    "disable": lambda worker, database: WorkerAnswer(done=worker.context.sessions.disable(database)),
    "enable": lambda worker, database: WorkerAnswer(done=worker.context.sessions.enable(database)),
    "kill": _kill,
    "kill_client": _kill_client,
    "pause": lambda worker, database: WorkerAnswer(done=worker.context.pause(database)),
    "ping": lambda *_: WorkerAnswer(done=True),
    "reconnect": _reconnect,
    "reload": _reload,
    "report": _report,
    "resume": lambda worker, database: WorkerAnswer(done=worker.context.sessions.resume(database)),
    "set": _set,
    "shutdown": _shut_down,
}


def _samples(metrics: GatewayMetrics) -> list[MetricSample]:
    return [
        MetricSample(sample.name, tuple(sorted(sample.labels.items())), sample.value)
        for family in metrics.registry.collect()
        for sample in family.samples
        if not sample.name.endswith("_created")
    ]


def _resident() -> int:
    """Bytes of memory that this process has in use (proc(5)); 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as source:  # noqa: PTH123 - one read of the kernel's
            return int(source.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0
