"""The client's login at the gateway: challenges and the check of responses.

`LoginAccepted` sends nothing yet; `LoginRefused` says the same for every cause. Messages and computation are the same
for a role that does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.auth.hba import Method
from proxy.protocol.auth.scram import ClientKeys, KeyDerivation, ScramError, ServerExchange, Verifier
from proxy.protocol.auth.secrets import Credentials, MD5Hash, Password, Secret, md5_hash, md5_response, same
from proxy.protocol.framing import HEADER_SIZE

_CLEARTEXT, _MD5, _SASL, _SASL_CONTINUE, _SASL_FINAL = 3, 5, 10, 11, 12


@dataclass(frozen=True, slots=True)
class SendToClient:
    """Write to the client."""

    data: bytes


@dataclass(frozen=True, slots=True)
class DeriveKeys:
    """Carry `derivation` out and give the keys to `ClientLogin.derived`; nothing else is to be given to it before."""

    derivation: KeyDerivation


@dataclass(frozen=True, slots=True)
class LoginAccepted:
    """The client is authenticated; `credentials`: for the login at the upstream in its name."""

    credentials: Credentials


@dataclass(frozen=True, slots=True)
class LoginRefused:
    """The login has failed. `reason` is for the log alone."""

    error: ErrorReply
    reason: str


LoginStep = SendToClient | DeriveKeys | LoginAccepted | LoginRefused


@dataclass(frozen=True, slots=True)
class ChallengeInputs:
    """The random inputs of one login: nonce, salt, a mock role's verifier; the rest as in `MockRole`."""

    nonce: str
    salt: bytes
    mock_verifier: Verifier
    asks_scram: bool = True
    derives_keys: bool = False


class _State(Enum):
    START = auto()
    CLEARTEXT = auto()
    CLEARTEXT_DERIVING = auto()
    MD5 = auto()
    SASL_DERIVING = auto()
    SASL_FIRST = auto()
    SASL_FINAL = auto()
    ENDED = auto()


class ClientLogin:
    """One login. `binding`: the channel binding data of the client's TLS connection, None without TLS."""

    def __init__(
        self,
        user: str,
        method: Method,
        secret: Secret | None,
        inputs: ChallengeInputs,
        *,
        binding: bytes | None = None,
    ) -> None:
        self._user = user
        self._method = method
        self._secret = secret
        self._inputs = inputs
        self._binding = binding
        self._exchange: ServerExchange | None = None
        self._derivation: KeyDerivation | None = None
        self._given = ""
        self._state = _State.START

    def begin(self) -> list[LoginStep]:
        """The first challenge, or the end where none is needed."""
        match self._method:
            case Method.TRUST | Method.CERT | Method.PEER:
                # These three were decided by the caller: nothing is left to ask.
                return [self._accepted(_upstream_credentials(self._secret))]
            case Method.SCRAM:
                return self._begin_scram()
            case Method.MD5:
                # As PostgreSQL does: a role with a SCRAM verifier is asked for SCRAM.
                if isinstance(self._secret, Verifier) or (self._secret is None and self._inputs.asks_scram):
                    return self._begin_scram()
                self._state = _State.MD5
                return [SendToClient(_challenge(_MD5, self._inputs.salt))]
            case Method.PASSWORD:
                self._state = _State.CLEARTEXT
                return [SendToClient(_challenge(_CLEARTEXT))]
            case Method.REJECT | Method.PASSTHROUGH:
                return [self._refused(f"method {self._method}")]

    def receive(self, message: bytes) -> list[LoginStep]:
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

    def derived(self, keys: ClientKeys) -> list[LoginStep]:
        """Takes the keys that a `DeriveKeys` asked for."""
        if self._derivation is None:
            raise AssertionError("nothing is being derived")
        verifier, self._derivation = self._derivation.verifier(keys), None
        if self._state is _State.SASL_DERIVING:
            return self._offer(verifier if isinstance(self._secret, Password) else None)
        return self._cleartext_derived(verifier)

    def _derive(self, password: str, template: Verifier, state: _State) -> list[LoginStep]:
        self._state = state
        self._derivation = KeyDerivation(password, template.salt, template.iterations)
        return [DeriveKeys(self._derivation)]

    # -- SCRAM

    def _begin_scram(self) -> list[LoginStep]:
        password = self._secret.text if isinstance(self._secret, Password) else ""
        if not password and not self._inputs.derives_keys:
            return self._offer(None)
        return self._derive(password, self._inputs.mock_verifier, _State.SASL_DERIVING)

    def _offer(self, derived: Verifier | None) -> list[LoginStep]:
        kept = self._secret if isinstance(self._secret, Verifier) else derived
        self._exchange = ServerExchange(
            kept or self._inputs.mock_verifier,
            self._inputs.nonce,
            binding=self._binding,
            genuine=kept is not None,
        )
        self._state = _State.SASL_FIRST
        names = b"".join(name.encode() + b"\0" for name in self._exchange.mechanisms)
        return [SendToClient(_challenge(_SASL, names + b"\0"))]

    def _sasl_first(self, body: bytes) -> list[LoginStep]:
        name, end, rest = body.partition(b"\0")
        if not end or len(rest) < 4 or int.from_bytes(rest[:4], "big") != len(rest) - 4:  # noqa: PLR2004
            raise ScramError("malformed SASLInitialResponse")
        if self._exchange is None:
            raise AssertionError("no exchange is under way")
        reply = self._exchange.first(name.decode("ascii", "replace"), rest[4:])
        self._state = _State.SASL_FINAL
        return [SendToClient(_challenge(_SASL_CONTINUE, reply))]

    def _sasl_final(self, body: bytes) -> list[LoginStep]:
        if self._exchange is None:
            raise AssertionError("no exchange is under way")
        reply, keys = self._exchange.final(body)
        credentials: Credentials = self._secret if isinstance(self._secret, Password) else keys
        return [SendToClient(_challenge(_SASL_FINAL, reply)), self._accepted(credentials)]

    # -- passwords

    def _cleartext(self, body: bytes) -> list[LoginStep]:
        given = _terminated(body)
        if not given:
            return [self._refused("no password")]
        self._given = given
        template = self._secret if isinstance(self._secret, Verifier) else self._inputs.mock_verifier
        return self._derive(given, template, _State.CLEARTEXT_DERIVING)

    def _cleartext_derived(self, offered: Verifier) -> list[LoginStep]:
        if not self._password_matches(self._given, offered):
            return [self._refused("wrong password")]
        return [self._accepted(Password(self._given))]

    def _password_matches(self, given: str, offered: Verifier) -> bool:
        secret = self._secret
        match secret:
            case Password():
                return same(secret.text, given)
            case MD5Hash():
                return same(secret.text, md5_hash(self._user, given))
            case Verifier():
                return same(offered.stored_key.hex(), secret.stored_key.hex())
            case None:
                return False

    def _md5(self, body: bytes) -> list[LoginStep]:
        given = _terminated(body)
        secret = self._secret
        text = secret.text if isinstance(secret, Password | MD5Hash) else ""
        stored = text if isinstance(secret, MD5Hash) else md5_hash(self._user, text)
        matches = given is not None and same(given, md5_response(stored, self._inputs.salt))
        if not matches or not isinstance(secret, Password | MD5Hash):
            return [self._refused("wrong password")]
        return [self._accepted(secret)]

    # -- ends

    def _accepted(self, credentials: Credentials) -> LoginAccepted:
        self._state = _State.ENDED
        return LoginAccepted(credentials)

    def _refused(self, reason: str) -> LoginRefused:
        self._state = _State.ENDED
        return LoginRefused(failure(self._user, self._method), reason)


def failure(user: str, method: Method) -> ErrorReply:
    """The error for a refused client."""
    if method is Method.REJECT:
        return ErrorReply("28000", f'the gateway\'s rules reject the connection of user "{user}"')
    if method in (Method.CERT, Method.PEER):
        return ErrorReply("28000", f'{method} authentication failed for user "{user}"')
    return ErrorReply("28P01", f'password authentication failed for user "{user}"')


def _upstream_credentials(secret: Secret | None) -> Credentials:
    """The credentials of a client that sent no proof itself."""
    return secret if isinstance(secret, Password | MD5Hash) else None


def _challenge(code: int, data: bytes = b"") -> bytes:
    return codec.message(b"R", code.to_bytes(4, "big") + data)


def _terminated(body: bytes) -> str | None:
    """The text of a PasswordMessage; None where it does not end with its only NUL."""
    if body[-1:] != b"\0" or 0 in body[:-1]:
        return None
    return body[:-1].decode("utf-8", "surrogateescape")
