"""`auth_query`: reads roles' secrets from the upstream, over a few connections of the gateway's own, for a while.

Owns these connections and the cache of one worker; a failed query gives no secret and is not cached. Nothing that a
client sent reaches it but the role's name, as a bind parameter: every setting is ours (CVE-2025-12819).
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import cast

import structlog

from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.login_phase import LoginHandler, with_login_handler
from proxy.protocol import codec
from proxy.protocol.auth.secrets import Secret, VisibleTraits, secret_of
from proxy.protocol.codec import Bind, Parse
from proxy.protocol.framing import message_end
from proxy.settings import GatewaySettings

_READY, _ROW, _ERROR = ord("Z"), ord("D"), ord("E")
_EXECUTE = codec.message(b"E", b"\0\0\0\0\0")

_Row = tuple[str, str | None]


class AuthQueryError(Exception):
    """The look-up could not be made; the message is for the log: our words, and the server's SQLSTATE."""


class AuthQueryConnection(asyncio.Protocol):
    """One connection, for one question at a time. Its owner sets the deadlines, and closes it after one has passed."""

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._transport: asyncio.Transport | None = None
        self._partial = b""
        self._found: list[_Row] = []
        self._problem = ""
        self._answer: asyncio.Future[list[_Row]] | None = None

    @staticmethod
    async def open(
        dialer: Dialer, settings: GatewaySettings, login_handler: LoginHandler
    ) -> AuthQueryConnection:
        """One that is logged in; `login_handler` does that. Raises `OSError` and `AuthQueryError`."""
        connection = AuthQueryConnection(settings)
        ready = connection._expect()
        try:
            await dialer.dial(with_login_handler(lambda: connection, login_handler))
            await ready
        except BaseException:
            connection.close()
            raise
        return connection

    @property
    def usable(self) -> bool:
        """Whether it is connected and no query is under way on it."""
        return self._transport is not None and not self._transport.is_closing() and self._answer is None

    async def fetch_secret(self, user: str) -> Secret | None:
        """The secret of `user`; None where there is no such role, or it may not log in. Raises `AuthQueryError`."""
        answer = self._expect()
        parse = codec.encode_parse(Parse(b"", self._settings.auth_query.encode(), ()))
        name = user.encode("utf-8", "surrogateescape")
        bind = codec.encode_bind(Bind(b"", b"", (), (name,), b"\0\0"))
        if self._transport is None:
            raise AuthQueryError("auth_query: the connection is closed")
        self._transport.write(parse + bind + _EXECUTE + codec.SYNC)
        # A query that gives another role's secret would log the client in as that role.
        found = [secret for name, secret in await answer if name == user]
        return secret_of(found[0]) if len(found) == 1 and found[0] is not None else None

    def close(self) -> None:
        """Ends the connection."""
        if self._transport is not None:
            self._transport.write(codec.TERMINATE)
            self._transport.close()
            self._transport = None

    def _expect(self) -> asyncio.Future[list[_Row]]:
        """The future that the next ReadyForQuery resolves: the rows, or `AuthQueryError`."""
        self._found, self._problem = [], ""
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket to the server is connected."""
        self._transport = cast("asyncio.Transport", transport)
        parameters = {
            "user": self._settings.auth_user,
            "database": self._settings.auth_dbname,
            "application_name": "pgparley auth_query",
            "client_encoding": "UTF8",
            "search_path": "pg_catalog",
        }
        self._transport.write(codec.encode_startup(parameters))

    def data_received(self, data: bytes) -> None:
        """Bytes from the server."""
        data = self._partial + data
        pos = 0
        while (end := message_end(data, pos)) is not None:
            self._take(data[pos], data[pos:end])
            pos = end
        self._partial = data[pos:]

    def _take(self, kind: int, message: bytes) -> None:
        if kind == _ERROR:
            sqlstate = codec.error_fields(message).get(b"C", b"XX000").decode("ascii", "replace")
            self._problem = f"the server answers {sqlstate}"
        elif kind == _ROW:
            self._found.append(_row(message))
        elif kind == _READY:
            self._end(self._problem)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server has closed."""
        self._transport = None
        self._end(self._problem or f"the server closed the connection ({exc})")

    def _end(self, problem: str) -> None:
        answer, self._answer = self._answer, None
        if answer is None or answer.done():
            return
        if problem:
            answer.set_exception(AuthQueryError(f"auth_query: {problem}"))
        else:
            answer.set_result(self._found)


def _row(message: bytes) -> _Row:
    values = [
        None if value is None else value.decode("utf-8", "replace") for value in codec.decode_row(message)
    ]
    return values[0] or "", values[1] if len(values) > 1 else None


_MAX_NAMES = 1000
"""Names that are cached; a client that tries many makes the oldest be queried again, and no more."""

_IDLE_SECONDS = 10.0
"""Seconds that an idle connection is kept: the server's smart shutdown waits for it."""

_RETRY_SECONDS = 1.0
"""Seconds for which a server that could not be connected to is not tried again."""


@dataclass(slots=True)
class _Entry:
    """`expires`: by the clock. `suspect`: a login failed on it; `renewed`: it replaces such an entry."""

    secret: Secret | None
    expires: float
    renewed: bool
    suspect: bool = False


class RoleSecrets:
    """`connect` opens a connection, `spawn` runs a task that its owner ends."""

    def __init__(
        self,
        settings: GatewaySettings,
        connect: Callable[[], Awaitable[AuthQueryConnection]],
        spawn: Callable[[str, Coroutine[object, object, None]], object],
        log: structlog.typing.FilteringBoundLogger,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._connect = connect
        self._spawn = spawn
        self._log = log
        self._clock = clock
        self._slots = asyncio.Semaphore(settings.auth_query_connections)
        self._known: dict[str, _Entry] = {}
        self._pending: dict[str, asyncio.Future[Secret | None]] = {}
        self._idle: list[AuthQueryConnection] = []
        self._timer: asyncio.TimerHandle | None = None
        self._down_until = 0.0
        self._closed = False
        self._traits: dict[str, VisibleTraits] = {}
        self.visible_traits: Counter[VisibleTraits] = Counter()
        """The visible traits of the secrets found, with the number of roles of each."""

    async def find(self, user: str) -> Secret | None:
        """The secret of `user`; None where there is no such role, it may not log in, or the server cannot be asked."""
        entry = self._known.get(user)
        if entry is not None and not entry.suspect and self._clock() < entry.expires:
            return entry.secret
        answer = self._pending.get(user)
        if answer is None:
            answer = self._pending[user] = asyncio.get_running_loop().create_future()
            self._spawn("auth_query", self._look_up(user, answer))
        return await asyncio.shield(answer)

    def login_failed(self, user: str) -> None:
        """A login as `user` has failed: the cached secret may be old. Causes at most one query an `auth_query_ttl`."""
        entry = self._known.get(user)
        if entry is not None and not entry.renewed:
            entry.suspect = True

    async def _look_up(self, user: str, answer: asyncio.Future[Secret | None]) -> None:
        secret = None
        try:
            async with asyncio.timeout(self._settings.server_connect_timeout), self._slots:
                secret = await self._query(user)
            self._remember(user, secret)
        except (OSError, AuthQueryError) as problem:
            self._log.warning("auth_query_failed", error=str(problem) or type(problem).__name__)
        finally:
            del self._pending[user]
            if not answer.done():
                answer.set_result(secret)

    def _remember(self, user: str, secret: Secret | None) -> None:
        if secret is not None:
            self._learn(user, secret)
        before, now = self._known.pop(user, None), self._clock()
        renewed = before is not None and before.suspect and now < before.expires
        self._known[user] = _Entry(secret, now + self._settings.auth_query_ttl, renewed)
        if len(self._known) > _MAX_NAMES:
            del self._known[next(iter(self._known))]

    def _learn(self, user: str, secret: Secret) -> None:
        before, trait = self._traits.get(user), VisibleTraits.of(secret)
        if trait == before or (before is None and len(self._traits) >= _MAX_NAMES):
            return
        self._traits[user] = trait
        self.visible_traits[trait] += 1
        if before is not None:
            self.visible_traits[before] -= 1

    # -- connections

    async def _query(self, user: str) -> Secret | None:
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                try:
                    return await self._fetch_secret(connection, user)
                except AuthQueryError:
                    if connection.usable:
                        raise
                    # It had been closed: others may still be usable, and a new one shows the cause.
        return await self._fetch_secret(await self._open(), user)

    async def _fetch_secret(self, connection: AuthQueryConnection, user: str) -> Secret | None:
        try:
            return await connection.fetch_secret(user)
        finally:
            if connection.usable and not self._closed:
                self._idle.append(connection)
                self._schedule_close()
            else:
                connection.close()

    async def _open(self) -> AuthQueryConnection:
        """A connection; the first also reads the secret of `auth_user`, for `visible_traits` to hold a real role."""
        if self._clock() < self._down_until:
            raise AuthQueryError("auth_query: the server could not be reached a moment ago")
        try:
            connection = await self._connect()
        except BaseException:
            self._down_until = self._clock() + _RETRY_SECONDS
            raise
        if not self._traits:
            try:
                secret = await connection.fetch_secret(self._settings.auth_user)
            except BaseException:
                connection.close()
                raise
            if secret is not None:
                self._learn(self._settings.auth_user, secret)
        return connection

    def _schedule_close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self.close_idle)

    def close_idle(self) -> None:
        """Closes the idle connections."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Closes the connections for good; queries under way are still answered."""
        self._closed = True
        self.close_idle()
