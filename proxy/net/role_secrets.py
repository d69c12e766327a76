"""Secrets of roles by `auth_query`: few connections, one query for concurrent logins of a role, a short-lived cache.

Owns the connections, the queries under way and the cache of one worker. A failed query gives no secret, and is not
cached.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass

import structlog

from proxy.net.upstream.auth_query import AuthQueryConnection, AuthQueryError
from proxy.protocol.auth.mock_role import VisibleTraits
from proxy.protocol.auth.secrets import Secret
from proxy.settings import GatewaySettings

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
