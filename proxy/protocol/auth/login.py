"""The client's login at the gateway: which challenge goes out, what a response means.

Owns the order of messages of each method. Which method applies and where the secret comes from is decided by
the caller. A login ends with `Accepted`, which sends nothing yet, or with `Refused`, which tells the client
always the same, whatever was wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from engine.types import ErrorReply
from proxy.protocol import codec
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.scram import ScramError, ServerExchange, Verifier
from proxy.protocol.auth.secrets import (
    Credentials,
    MD5Hash,
    Password,
    Secret,
    md5_hash,
    md5_response,
    same,
)
from proxy.protocol.framing import HEADER_SIZE

_CLEARTEXT, _MD5, _SASL, _SASL_CONTINUE, _SASL_FINAL = 3, 5, 10, 11, 12
AUTHENTICATED = codec.message(b"R", bytes(4))
"""AuthenticationOk."""


@dataclass(frozen=True, slots=True)
class Send:
    """Write to the client."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Accepted:
    """The client is who it says; `credentials` are what the upstream can be shown in its name."""

    credentials: Credentials


@dataclass(frozen=True, slots=True)
class Refused:
    """The client is not let in. `reason` is for the log alone."""

    error: ErrorReply
    reason: str


Step = Send | Accepted | Refused


@dataclass(frozen=True, slots=True)
class Chance:
    """Random values for one login: the server's part of the nonce, a salt, and a verifier for nobody.

    `slow`: roles have passwords, whose verifiers take time to compute; nobody's then takes as long.
    """

    nonce: str
    salt: bytes
    nobody: Verifier
    slow: bool = False


class _State(Enum):
    START = auto()
    CLEARTEXT = auto()
    MD5 = auto()
    SASL_FIRST = auto()
    SASL_FINAL = auto()
    ENDED = auto()


class Login:
    """One login. `binding`: the channel binding data of the client's TLS connection, None without TLS."""

    def __init__(
        self,
        user: str,
        method: Method,
        secret: Secret | None,
        chance: Chance,
        *,
        binding: bytes | None = None,
    ) -> None:
        self._user = user
        self._method = method
        self._secret = secret
        self._chance = chance
        self._binding = binding
        self._exchange: ServerExchange | None = None
        self._state = _State.START

    def begin(self) -> list[Step]:
        """The first challenge, or the end where none is needed."""
        match self._method:
            case Method.TRUST | Method.CERT | Method.PEER:
                # These three were decided by the caller: nothing is left to ask.
                return [self._accepted(_shown(self._secret))]
            case Method.SCRAM:
                return self._begin_scram()
            case Method.MD5:
                # As PostgreSQL does: a role with a SCRAM verifier is asked for SCRAM.
                if isinstance(self._secret, Verifier):
                    return self._begin_scram()
                self._state = _State.MD5
                return [Send(_challenge(_MD5, self._chance.salt))]
            case Method.PASSWORD:
                self._state = _State.CLEARTEXT
                return [Send(_challenge(_CLEARTEXT))]
            case Method.REJECT | Method.PASSTHROUGH:
                return [self._refused(f"method {self._method}")]

    def receive(self, message: bytes) -> list[Step]:
        """Takes a whole message of kind `p`."""
        body = message[HEADER_SIZE:]
        try:
            match self._state:
                case _State.CLEARTEXT:
                    return self._cleartext(body)
                case _State.MD5:
                    return self._md5(body)
                case _State.SASL_FIRST:
                    return self._sasl_first(body)
                case _State.SASL_FINAL:
                    return self._sasl_final(body)
                case _:
                    return [self._refused("a response that nothing asked for")]
        except ScramError as problem:
            return [self._refused(str(problem))]

    # -- SCRAM

    def _begin_scram(self) -> list[Step]:
        secret, nobody = self._secret, self._chance.nobody
        verifier = secret if isinstance(secret, Verifier) else nobody
        if isinstance(secret, Password):
            verifier = Verifier.of_password(secret.text, nobody.salt)
        elif verifier is nobody and self._chance.slow:
            Verifier.of_password("", nobody.salt)
        genuine = isinstance(secret, Password | Verifier)
        self._exchange = ServerExchange(verifier, self._chance.nonce, binding=self._binding, genuine=genuine)
        self._state = _State.SASL_FIRST
        names = b"".join(name.encode() + b"\0" for name in self._exchange.mechanisms)
        return [Send(_challenge(_SASL, names + b"\0"))]

    def _sasl_first(self, body: bytes) -> list[Step]:
        name, end, rest = body.partition(b"\0")
        if not end or len(rest) < 4 or int.from_bytes(rest[:4], "big") != len(rest) - 4:  # noqa: PLR2004
            raise ScramError("malformed SASLInitialResponse")
        if self._exchange is None:
            raise AssertionError("no exchange is under way")
        reply = self._exchange.first(name.decode("ascii", "replace"), rest[4:])
        self._state = _State.SASL_FINAL
        return [Send(_challenge(_SASL_CONTINUE, reply))]

    def _sasl_final(self, body: bytes) -> list[Step]:
        if self._exchange is None:
            raise AssertionError("no exchange is under way")
        reply, keys = self._exchange.final(body)
        credentials: Credentials = self._secret if isinstance(self._secret, Password) else keys
        return [Send(_challenge(_SASL_FINAL, reply)), self._accepted(credentials)]

    # -- passwords

    def _cleartext(self, body: bytes) -> list[Step]:
        given = _terminated(body)
        if given is None or not given or not self._knows(given):
            return [self._refused("wrong password")]
        return [self._accepted(Password(given))]

    def _knows(self, given: str) -> bool:
        secret = self._secret
        match secret:
            case Password():
                return same(secret.text, given)
            case MD5Hash():
                return same(secret.text, md5_hash(self._user, given))
            case Verifier():
                offered = Verifier.of_password(given, secret.salt, secret.iterations)
                return same(offered.stored_key.hex(), secret.stored_key.hex())
            case None:
                return False

    def _md5(self, body: bytes) -> list[Step]:
        given = _terminated(body)
        secret = self._secret
        if given is None or not isinstance(secret, Password | MD5Hash):
            return [self._refused("no password that md5 can check")]
        stored = secret.text if isinstance(secret, MD5Hash) else md5_hash(self._user, secret.text)
        if not same(given, md5_response(stored, self._chance.salt)):
            return [self._refused("wrong password")]
        return [self._accepted(secret)]

    # -- ends

    def _accepted(self, credentials: Credentials) -> Accepted:
        self._state = _State.ENDED
        return Accepted(credentials)

    def _refused(self, reason: str) -> Refused:
        self._state = _State.ENDED
        return Refused(failure(self._user, self._method), reason)


def failure(user: str, method: Method) -> ErrorReply:
    """What a refused client is told."""
    if method is Method.REJECT:
        return ErrorReply("28000", f'the gateway\'s rules reject the connection of user "{user}"')
    if method in (Method.CERT, Method.PEER):
        return ErrorReply("28000", f'{method} authentication failed for user "{user}"')
    return ErrorReply("28P01", f'password authentication failed for user "{user}"')


def _shown(secret: Secret | None) -> Credentials:
    """What a client that proved nothing itself lets us show the upstream."""
    return secret if isinstance(secret, Password | MD5Hash) else None


def _challenge(code: int, data: bytes = b"") -> bytes:
    return codec.message(b"R", code.to_bytes(4, "big") + data)


def _terminated(body: bytes) -> str | None:
    """The text of a PasswordMessage; None where it does not end with its only NUL."""
    if body[-1:] != b"\0" or 0 in body[:-1]:
        return None
    return body[:-1].decode("utf-8", "surrogateescape")
