"""What a worker does when a sibling asks it to, or its own console.

Owns the verbs of `control.Request` and the report. Which workers are asked, and what the console says of their
answers, is the matter of `operations`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from proxy.console.reports import Sample, SpareReport, WorkerReport
from proxy.metrics import GatewayMetrics
from proxy.net.control import Answer, Request
from proxy.net.sessions import server_side

if TYPE_CHECKING:
    from proxy.net.link import Link
    from proxy.net.worker import Worker


def perform(worker: Worker, request: Request) -> Answer:
    """Does what is asked."""
    act = _VERBS.get(request.verb)
    return Answer(error=f"unknown request {request.verb}") if act is None else act(worker, request.argument)


def report(worker: Worker) -> WorkerReport:
    """Everything that the worker knows."""
    sessions = worker.sessions
    period, recent = sessions.recent()
    spares = worker.spares.standing
    worker.metrics.spares.set(len(spares))
    return WorkerReport(
        pid=os.getpid(),
        started=worker.started,
        sessions=sessions.reports(),
        traffic=tuple(sessions.traffic().values()),
        recent=recent,
        period=period,
        paused=tuple(sessions.paused),
        disabled=tuple(sessions.disabled),
        all_paused=sessions.all_paused,
        shutting_down=worker.shutting_down,
        logins=len(worker.guests),
        memory=_resident(),
        samples=tuple(_samples(worker.metrics)),
        spares=tuple(SpareReport(server_side(one.transport), one.connected) for one in spares),
    )


def _report(worker: Worker, _: str) -> Answer:
    return Answer(done=True, report=report(worker))


def _cancel(worker: Worker, key: str) -> Answer:
    return Answer(done=worker.cancel_for_sibling(bytes.fromhex(key)))


def _reload(worker: Worker, _: str) -> Answer:
    return _outcome(worker.reload())


def _set(worker: Worker, assignment: str) -> Answer:
    key, _, value = assignment.partition("=")
    return _outcome(worker.assign(key, value))


def _pause(worker: Worker, database: str) -> Answer:
    return Answer(done=worker.pause(database))


def _resume(worker: Worker, database: str) -> Answer:
    return Answer(done=worker.sessions.resume(database))


def _disable(worker: Worker, database: str) -> Answer:
    return Answer(done=worker.sessions.disable(database))


def _enable(worker: Worker, database: str) -> Answer:
    return Answer(done=worker.sessions.enable(database))


def _reconnect(worker: Worker, database: str) -> Answer:
    worker.reconnect(database)
    return Answer(done=True)


def _kill(worker: Worker, database: str) -> Answer:
    worker.pause(database)
    return _end(worker.sessions.of(database))


def _kill_client(worker: Worker, number: str) -> Answer:
    return _end(worker.sessions.of_client(int(number)))


def _shut_down(worker: Worker, how: str) -> Answer:
    worker.shut_down(how)
    return Answer(done=True)


def _end(links: list[Link]) -> Answer:
    for link in links:
        link.shut_down()
    return Answer(done=bool(links))


def _outcome(problem: str | None) -> Answer:
    return Answer(done=problem is None, error=problem)


_VERBS: dict[str, Callable[[Worker, str], Answer]] = {
    "cancel": _cancel,
    "disable": _disable,
    "enable": _enable,
    "kill": _kill,
    "kill_client": _kill_client,
    "pause": _pause,
    "ping": lambda *_: Answer(done=True),
    "reconnect": _reconnect,
    "reload": _reload,
    "report": _report,
    "resume": _resume,
    "set": _set,
    "shutdown": _shut_down,
}


def _samples(metrics: GatewayMetrics) -> list[Sample]:
    return [
        Sample(sample.name, tuple(sorted(sample.labels.items())), sample.value)
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
