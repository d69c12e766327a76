"""Logins of one worker: admission, role secrets, the threads that derive keys, and the rules for the server's login.

One limit for all and none for each address: behind a balancer everybody has the same one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine

import structlog

from engine.values.messages import ErrorReply
from proxy.net.access import Access
from proxy.net.upstream.auth_query import AuthQueryConnection, RoleSecrets
from proxy.net.upstream.dialer import Dialer
from proxy.net.upstream.login_phase import DerivationPool, GatewayLogin, RelayedLogin
from proxy.protocol.auth.client_login import ChallengeInputs
from proxy.protocol.auth.secrets import Credentials, MD5Hash, Password, Secret, typical_role
from proxy.protocol.auth.server_methods import MethodCheck
from proxy.protocol.auth.upstream_login import UpstreamLogin
from proxy.settings import GatewaySettings

TOO_MANY_LOGINS = ErrorReply(
    "53300",
    "too many clients are logging in (max_login_clients)",
    hint="Try again in a moment; the operator may raise max_login_clients.",
)
LOGIN_TIMEOUT = ErrorReply("08P01", "canceling authentication due to timeout")
_NONCE_BYTES = 18


class LoginService:
    """`spawn` runs a task that its owner ends."""

    def __init__(
        self,
        settings: GatewaySettings,
        access: Access,
        dialer: Dialer,
        spawn: Callable[[str, Coroutine[object, object, None]], object],
        log: structlog.typing.FilteringBoundLogger,
    ) -> None:
        self._settings, self._access, self._dialer = settings, access, dialer
        self._spawn = spawn
        self._log = log
        self._admitted: set[object] = set()
        self.deriver = DerivationPool()
        self._secrets = RoleSecrets(settings, self._connect, spawn, log)

    def configure(self, settings: GatewaySettings, access: Access, dialer: Dialer) -> None:
        """Takes over other settings, and drops the secrets that were cached under the old ones."""
        self._secrets.close()
        self._settings, self._access, self._dialer = settings, access, dialer
        self._secrets = RoleSecrets(settings, self._connect, self._spawn, self._log)

    # -- admission

    def admit(self, client: object) -> bool:
        """Counts `client` as logging in, within `max_login_clients`. Returns whether it is admitted, now or before."""
        if client not in self._admitted and len(self._admitted) >= self._settings.max_login_clients:
            return False
        self._admitted.add(client)
        return True

    def release(self, client: object) -> None:
        """`client` is logging in no longer, if it was."""
        self._admitted.discard(client)

    # -- roles

    @property
    def uses_auth_query(self) -> bool:
        """Whether there is an `auth_query`."""
        return bool(self._settings.auth_user)

    async def find_secret(self, user: str) -> Secret | None:
        """From `auth_file`, else `auth_query`; both are asked, so that no time shows which names the file has."""
        found = await self._secrets.find(user)
        return self.auth_file_secret(user) if user in self._access.users else found

    def auth_file_secret(self, user: str) -> Secret | None:
        """The secret of `user` in `auth_file`; None where there is none."""
        return self._access.users.get(user)

    def login_failed(self, user: str) -> None:
        """A login as `user` has failed."""
        self._secrets.login_failed(user)

    def challenge_inputs(self, user: str) -> ChallengeInputs:
        """Random values for one login, and a mock verifier for a role that does not exist."""
        return self._access.challenge_inputs(
            user, typical_role(self._access.traits + self._secrets.visible_traits)
        )

    # -- the server

    def gateway_login(self, user: str, credentials: Credentials) -> GatewayLogin:
        """The handler of a login that the gateway does for a client."""
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        login = UpstreamLogin(user, credentials, nonce)
        return GatewayLogin(login, self.method_check(), self.deriver, lambda: self.login_failed(user))

    def relayed_login(self, binding: bytes | None) -> RelayedLogin | None:
        """The handler of a login that the client does itself; None where nothing is checked."""
        if self._access.requirement is None and self._access.server_tls is None and self._dialer.is_local:
            return None
        return RelayedLogin(binding, self.method_check())

    def method_check(self) -> MethodCheck:
        """A check of one login against `server_require_auth`."""
        return MethodCheck(self._access.requirement)

    async def _connect(self) -> AuthQueryConnection:
        settings = self._settings
        auth_file_secret = self.auth_file_secret(settings.auth_user)
        credentials = auth_file_secret if isinstance(auth_file_secret, Password | MD5Hash) else None
        return await AuthQueryConnection.open(
            self._dialer, settings, self.gateway_login(settings.auth_user, credentials)
        )

    # -- ends

    def close_idle(self) -> None:
        """Closes the idle connections of `auth_query`."""
        self._secrets.close_idle()

    def close(self) -> None:
        """The worker ends."""
        self._secrets.close()
        self.deriver.close()
