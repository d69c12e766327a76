"""The authentication methods that the server may request through the gateway: `server_require_auth`.

An answer to a request for a password, or its hash, is as good as the password: only a trusted server gets it, unless
the operator configures otherwise. The client cannot judge that: it sees the gateway.
"""

from __future__ import annotations

from enum import StrEnum

from engine.values.messages import ErrorReply
from proxy.protocol.framing import HEADER_SIZE

_AUTHENTICATION = ord("R")
_ERROR = ord("E")
_OK, _SASL, _SASL_FINAL = 0, 10, 12
_GOES_ON = frozenset({8, 11})
"""AuthenticationGSSContinue and AuthenticationSASLContinue."""


class ServerMethod(StrEnum):
    """How a server has a client prove itself, by the names of libpq's `require_auth`."""

    NONE = "none"
    PASSWORD = "password"  # noqa: S105 - the method's name
    MD5 = "md5"
    GSS = "gss"
    SSPI = "sspi"
    SCRAM = "scram-sha-256"
    OAUTH = "oauth"


_CODES = {3: ServerMethod.PASSWORD, 5: ServerMethod.MD5, 7: ServerMethod.GSS, 9: ServerMethod.SSPI}
_REVEALING = frozenset({ServerMethod.PASSWORD, ServerMethod.MD5, ServerMethod.OAUTH})
"""Methods whose response is of use to an impostor."""

Requirement = frozenset[ServerMethod] | None
"""The methods that may be used; None: those that reveal nothing, and all where the server is trusted."""


class UpstreamRefusedError(Exception):
    """The login at the server cannot go on; `reply` is for the client."""

    def __init__(self, reply: ErrorReply) -> None:
        super().__init__(reply.message)
        self.reply = reply


def parse_requirement(text: str) -> Requirement:
    """Of a list of methods with commas, all or none after `!`; empty: the default. Raises `ValueError`."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    excluded = [word.startswith("!") for word in words]
    if not words:
        return None
    if any(excluded) and not all(excluded):
        raise ValueError("a list has ! before all of its methods, or before none")
    named = frozenset(ServerMethod(word.removeprefix("!").strip()) for word in words)
    return frozenset(ServerMethod) - named if any(excluded) else named


class MethodCheck:
    """The check of one login. `trusted` (see `bind`): the server has a checked certificate, or is on this machine."""

    def __init__(self, requirement: Requirement) -> None:
        self._requirement = requirement
        self._trusted = False
        self._finished = True
        self.requested: ServerMethod | None = None
        """The method that the server has requested; None before, or where it requested none."""
        self.ended = False
        """Whether the server has decided."""

    def bind(self, *, trusted: bool) -> None:
        """The server is connected."""
        self._trusted = trusted

    def check(self, message: bytes) -> None:
        """Checks a whole message of the server's. Raises `UpstreamRefusedError`."""
        if message[0] == _ERROR:
            self.ended = True
        elif message[0] == _AUTHENTICATION:
            self._authentication(int.from_bytes(message[HEADER_SIZE : HEADER_SIZE + 4], "big"), message)

    def _authentication(self, code: int, message: bytes) -> None:
        if code == _OK:
            self._let_in()
        elif code == _SASL_FINAL:
            self._finished = True
        elif code not in _GOES_ON:
            self.requested = self._allowed(_sasl(message) if code == _SASL else _CODES.get(code), code)
            self._finished = self.requested is not ServerMethod.SCRAM

    def _let_in(self) -> None:
        if self.requested is None:
            self._allowed(ServerMethod.NONE, _OK)
        if not self._finished:
            # A server that does not know the secret could start an exchange, too.
            raise UpstreamRefusedError(
                ErrorReply("28000", "the server ended SCRAM authentication before it had proved itself")
            )
        self.ended = True

    def _allowed(self, method: ServerMethod | None, code: int) -> ServerMethod:
        if method is None:
            text = f"the server asks for authentication method {code}, which the gateway does not know"
            raise UpstreamRefusedError(ErrorReply("28000", text))
        if self._requirement is not None and method not in self._requirement:
            raise UpstreamRefusedError(_not_listed(method))
        if self._requirement is None and method in _REVEALING and not self._trusted:
            raise UpstreamRefusedError(_untrusted(method))
        return method


def _sasl(message: bytes) -> ServerMethod | None:
    names = message[HEADER_SIZE + 4 :].split(b"\0")
    if any(name.startswith(b"SCRAM-SHA-256") for name in names):
        return ServerMethod.SCRAM
    return ServerMethod.OAUTH if b"OAUTHBEARER" in names else None


def _not_listed(method: ServerMethod) -> ErrorReply:
    return ErrorReply(
        "28000",
        f'the server uses authentication method "{method}", which the gateway must not',
        hint="The operator lists in server_require_auth what the server may ask for.",
    )


def _untrusted(method: ServerMethod) -> ErrorReply:
    return ErrorReply(
        "28000",
        f'the server asks for authentication method "{method}" over a connection that proves nothing about it',
        "It could be anybody: it is on no Unix socket and no loopback address, and no certificate of its was checked.",
        "The operator should let the server ask for scram-sha-256, or set server_tls_sslmode to verify-full, or list"
        " in server_require_auth what is allowed all the same.",
    )
