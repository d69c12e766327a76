"""One console: its connection, and its commands, carried out over all workers by a task of its own."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Awaitable, Callable
from typing import cast

from engine.values.errors import NLError
from engine.values.messages import ErrorReply
from proxy.console import views
from proxy.console.grammar import AdminCommand, ConsoleCommand, Rights, SetSetting, ShowView
from proxy.console.reports import ClientReport, SessionReport, WorkerReport
from proxy.console.session import CloseConnection, ConsoleAction, ConsoleSession, RunCommand, WriteReply
from proxy.console.tables import CommandResult, Done, ResultTable, Value
from proxy.console.views import ConsoleSnapshot
from proxy.net.access import CONSOLE_DATABASES
from proxy.net.worker.context import GatewayContext, ShutdownMode
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerRequest
from proxy.protocol import codec
from proxy.protocol.interruptions import SHUTTING_DOWN
from proxy.protocol.numbers import whole
from proxy.settings import GatewaySettings, described

_VERSION = "pgparley 0.1.0"
_KEY_BYTES = 8
_MOST_CLIENTS = 2**63 - 1
_POLL_SECONDS = 0.1
"""Seconds between two looks at whether the sessions have ended."""


async def carry_out(context: GatewayContext, command: ConsoleCommand, user: str) -> CommandResult:
    """Carries `command` out, as `user`; every foreseen failure is an ErrorReply."""
    if isinstance(command, ShowView):
        return await _show(context, command.view)
    if isinstance(command, SetSetting):
        context.log.info("console_command", verb="set", argument=command.key, user=user)
        return await _set(context, command)
    if isinstance(command, AdminCommand):
        context.log.info("console_command", verb=command.verb, argument=command.argument, user=user)
        if command.argument in CONSOLE_DATABASES:
            return ErrorReply("0A000", f"cannot {command.verb} admin db: {command.argument}")
        act = _VERBS.get(command.verb)
        if act is None:
            return await _on_all_workers(context, command.verb, command.argument)
        return await act(context, command.argument)
    raise TypeError(command)


async def _show(context: GatewayContext, view: str) -> CommandResult:
    if view == "help":
        return Done("SHOW", ("Console usage", views.HELP))
    if view in views.FROM_ENGINE:
        try:
            return ResultTable(views.columns_of(view) or (), await _engine_rows(context, view))
        except NLError as problem:
            return problem.reply()
    answers = await context.admin.ask_all(WorkerRequest("report"))
    reports = tuple(answer.report for answer in answers if answer.report is not None)
    table = views.table(view, _snapshot(context.settings, reports))
    if view in views.ENGINE_ADDS:
        with contextlib.suppress(NLError):
            return ResultTable(table.columns, table.rows + await _engine_rows(context, view))
    return table


async def _engine_rows(context: GatewayContext, view: str) -> tuple[tuple[Value, ...], ...]:
    """Raises `NLError`: the engine does not answer."""
    return (await context.engine.view(view, timeout=context.settings.server_connect_timeout)).rows


def _snapshot(settings: GatewaySettings, reports: tuple[WorkerReport, ...]) -> ConsoleSnapshot:
    return ConsoleSnapshot(
        version=_VERSION,
        upstream_host=settings.upstream_host,
        upstream_port=settings.upstream_port,
        max_client_conn=settings.max_client_conn,
        config=described(settings),
        reports=reports,
    )


async def _on_all_workers(context: GatewayContext, verb: str, argument: str) -> CommandResult:
    answers = await context.admin.ask_all(WorkerRequest(verb, argument))
    for answer in answers:
        if answer.error is not None:
            return ErrorReply("F0000" if verb == "reload" else "55000", answer.error)
    return Done(verb.upper())


async def _set(context: GatewayContext, command: SetSetting) -> CommandResult:
    """Our own worker first: where it refuses, the others are not asked."""
    request = WorkerRequest("set", f"{command.key}={command.value}")
    answer = await context.admin.handle(request)
    if answer.error is not None:
        hint = "SHOW CONFIG says which settings are changeable; the others need the file and a restart."
        return ErrorReply("22023", answer.error, hint=hint)
    await context.admin.ask_all(request)
    return Done("SET")


async def _wait_close(context: GatewayContext, argument: str) -> CommandResult:
    """Ends when no session holds a connection from before the last RECONNECT."""
    while any(session.close_needed for session in await _sessions(context, argument)):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    return Done("WAIT_CLOSE")


async def _pause(context: GatewayContext, argument: str) -> CommandResult:
    """New sessions wait from now on; the command ends when those that are open have ended."""
    outcome = await _on_all_workers(context, "pause", argument)
    # No event tells of sessions in other processes.
    while isinstance(outcome, Done) and await _sessions(context, argument):  # noqa: ASYNC110
        await asyncio.sleep(_POLL_SECONDS)
    return outcome


async def _sessions(context: GatewayContext, database: str) -> list[SessionReport]:
    """Those of a database in all workers; of all, where it is empty."""
    reports = [answer.report for answer in await context.admin.ask_all(WorkerRequest("report"))]
    sessions = [session for report in reports if report is not None for session in report.sessions]
    return [session for session in sessions if database in ("", session.client.database)]


async def _resume(context: GatewayContext, argument: str) -> CommandResult:
    answers = await context.admin.ask_all(WorkerRequest("resume", argument))
    if _any_done(answers):
        return Done("RESUME")
    what = f"database {argument} is not paused" if argument else "pooler is not paused/suspended"
    return ErrorReply("55000", what)


async def _kill_client(context: GatewayContext, argument: str) -> CommandResult:
    if whole(argument, _MOST_CLIENTS) is None:
        return ErrorReply("22023", "invalid client id", hint="SHOW CLIENTS shows it in the column id.")
    answers = await context.admin.ask_all(WorkerRequest("kill_client", argument))
    return Done("KILL_CLIENT") if _any_done(answers) else ErrorReply("22023", "client not found")


async def _shutdown(context: GatewayContext, argument: str) -> CommandResult:
    await context.admin.shut_all_down(ShutdownMode(argument.lower()))
    return Done("SHUTDOWN")


def _any_done(answers: list[WorkerAnswer]) -> bool:
    return any(answer.done for answer in answers)


_VERBS: dict[str, Callable[[GatewayContext, str], Awaitable[CommandResult]]] = {
    "kill_client": _kill_client,
    "pause": _pause,
    "resume": _resume,
    "shutdown": _shutdown,
    "wait_close": _wait_close,
}
"""Verb → its own function; the other verbs are sent to every worker."""


class ConsoleConnection(asyncio.Protocol):
    """A console user's connection, after the login."""

    def __init__(self, context: GatewayContext, client_report: ClientReport, rights: Rights) -> None:
        self._context = context
        self._client_report = client_report
        self._session = ConsoleSession(rights)
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._key = secrets.token_bytes(_KEY_BYTES)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The client has been logged in."""
        self._transport = cast("asyncio.Transport", transport)
        self._context.consoles.add(self)
        self._context.keys.owners[self._key] = self
        self._context.log.info(
            "console_opened", user=self._client_report.user, address=self._client_report.address
        )
        self._transport.write(self._session.greeting(self._client_report.user, self._key))

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self._perform(self._session.receive(data))

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The client has gone; the command under way is cancelled."""
        self._transport = None
        self._context.consoles.discard(self)
        self._context.keys.owners.pop(self._key, None)
        if self._task is not None:
            self._task.cancel()

    def _perform(self, outputs: list[ConsoleAction]) -> None:
        for output in outputs:
            match output:
                case WriteReply():
                    if self._transport is not None:
                        self._transport.write(output.data)
                case RunCommand():
                    self._task = self._context.spawn("console", self._carry_out(output.command))
                case CloseConnection():
                    if self._transport is not None:
                        self._transport.close()

    async def _carry_out(self, command: ConsoleCommand) -> None:
        try:
            result = await carry_out(self._context, command, self._client_report.user)
        except Exception:
            self._context.log.exception("console_command_failed")
            result = ErrorReply("XX000", "the gateway failed to carry the command out")
        self._task = None
        if self._transport is not None:
            self._perform(self._session.answered(result))

    def cancel_requested(self) -> bool:
        """Ctrl-C: gives up the command under way. The server has no part in it."""
        if self._task is not None:
            self._task.cancel()
            self._task = None
            error = ErrorReply("57014", "canceling statement due to user request")
            self._perform(self._session.answered(error))
        return False

    def shut_down(self) -> None:
        """The gateway ends."""
        if self._transport is not None:
            self._transport.write(codec.encode_fatal(SHUTTING_DOWN))
            self._transport.close()
