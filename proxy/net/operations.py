"""The console's commands, carried out over all workers."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from engine.errors import NLError
from engine.types import ErrorReply
from proxy.console import views
from proxy.console.grammar import Assign, Command, Control, Show
from proxy.console.reports import SessionReport
from proxy.console.tables import Done, Result, Table
from proxy.net.access import CONSOLES
from proxy.net.control import Answer, Request

if TYPE_CHECKING:
    from proxy.net.worker import Worker

_LOOK_AGAIN = 0.1
"""Seconds between two looks at whether the sessions have ended."""


async def carry_out(worker: Worker, command: Command, user: str) -> Result:
    """Carries `command` out, as `user`; every foreseen failure is an ErrorReply."""
    if isinstance(command, Show):
        return await _show(worker, command.view)
    if isinstance(command, Assign):
        worker.log.info("console_command", verb="set", argument=command.key, user=user)
        return await _set(worker, command)
    if isinstance(command, Control):
        worker.log.info("console_command", verb=command.verb, argument=command.argument, user=user)
        if command.argument in CONSOLES:
            return ErrorReply("0A000", f"cannot {command.verb} admin db: {command.argument}")
        return await _VERBS[command.verb](worker, command.argument)
    raise TypeError(command)


async def _show(worker: Worker, view: str) -> Result:
    if view == "help":
        return Done("SHOW", ("Console usage", views.HELP))
    if view in views.FROM_ENGINE:
        try:
            return Table(views.columns_of(view) or (), await worker.engine_rows(view))
        except NLError as problem:
            return problem.reply()
    answers = await worker.everyone(Request("report"))
    reports = tuple(answer.report for answer in answers if answer.report is not None)
    table = views.table(view, worker.here(reports))
    if view in views.ENGINE_ADDS:
        with contextlib.suppress(NLError):
            return Table(table.columns, table.rows + await worker.engine_rows(view))
    return table


async def _simple(worker: Worker, verb: str, argument: str) -> Result:
    """Every worker does it; the first failure is the outcome."""
    answers = await worker.everyone(Request(verb, argument))
    for answer in answers:
        if answer.error is not None:
            return ErrorReply("F0000" if verb == "reload" else "55000", answer.error)
    return Done(verb.upper())


async def _reload(worker: Worker, argument: str) -> Result:
    return await _simple(worker, "reload", argument)


async def _set(worker: Worker, command: Assign) -> Result:
    """Our own worker first: where it refuses, the others are not asked."""
    request = Request("set", f"{command.key}={command.value}")
    answer = await worker.handle(request)
    if answer.error is not None:
        hint = "SHOW CONFIG says which settings are changeable; the others need the file and a restart."
        return ErrorReply("22023", answer.error, hint=hint)
    await worker.everyone(request)
    return Done("SET")


async def _reconnect(worker: Worker, argument: str) -> Result:
    return await _simple(worker, "reconnect", argument)


async def _wait_close(worker: Worker, argument: str) -> Result:
    """Ends when no session holds a connection from before the last RECONNECT."""
    while any(session.close_needed for session in await _sessions(worker, argument)):  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_AGAIN)
    return Done("WAIT_CLOSE")


async def _disable(worker: Worker, argument: str) -> Result:
    return await _simple(worker, "disable", argument)


async def _enable(worker: Worker, argument: str) -> Result:
    return await _simple(worker, "enable", argument)


async def _kill(worker: Worker, argument: str) -> Result:
    return await _simple(worker, "kill", argument)


async def _pause(worker: Worker, argument: str) -> Result:
    """New sessions wait from now on; the command ends when those that are open have ended."""
    outcome = await _simple(worker, "pause", argument)
    if isinstance(outcome, Done):
        await _until_closed(worker, argument)
    return outcome


async def _until_closed(worker: Worker, database: str) -> None:
    # No event tells of sessions in other processes.
    while await _sessions(worker, database):  # noqa: ASYNC110
        await asyncio.sleep(_LOOK_AGAIN)


async def _sessions(worker: Worker, database: str) -> list[SessionReport]:
    """Those of a database in all workers; of all, where it is empty."""
    reports = [answer.report for answer in await worker.everyone(Request("report"))]
    sessions = [session for report in reports if report is not None for session in report.sessions]
    return [session for session in sessions if database in ("", session.client.database)]


async def _resume(worker: Worker, argument: str) -> Result:
    answers = await worker.everyone(Request("resume", argument))
    if _somebody(answers):
        return Done("RESUME")
    what = f"database {argument} is not paused" if argument else "pooler is not paused/suspended"
    return ErrorReply("55000", what)


async def _kill_client(worker: Worker, argument: str) -> Result:
    if not argument.isascii() or not argument.isdigit():
        return ErrorReply("22023", "invalid client id", hint="SHOW CLIENTS shows it in the column id.")
    answers = await worker.everyone(Request("kill_client", argument))
    return Done("KILL_CLIENT") if _somebody(answers) else ErrorReply("22023", "client not found")


async def _shutdown(worker: Worker, argument: str) -> Result:
    await worker.shut_all_down(argument.lower())
    return Done("SHUTDOWN")


def _somebody(answers: list[Answer]) -> bool:
    return any(answer.done for answer in answers)


_VERBS: dict[str, Callable[[Worker, str], Awaitable[Result]]] = {
    "disable": _disable,
    "enable": _enable,
    "kill": _kill,
    "kill_client": _kill_client,
    "pause": _pause,
    "reconnect": _reconnect,
    "reload": _reload,
    "resume": _resume,
    "shutdown": _shutdown,
    "wait_close": _wait_close,
}
