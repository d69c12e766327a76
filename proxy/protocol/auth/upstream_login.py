"""The gateway's login at the upstream for a client that it has authenticated: the answers to the server's challenges.

Every other message passes to the client. Whether a challenge may be answered is decided in `server_methods`.
"""

from __future__ import annotations

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.auth.scram import ClientExchange, ClientKeys, KeyDerivation, ScramError
from proxy.protocol.auth.secrets import Credentials, MD5Hash, Password, md5_hash, md5_response
from proxy.protocol.auth.server_methods import UpstreamRefusedError
from proxy.protocol.framing import HEADER_SIZE

_AUTHENTICATION = ord("R")
_SASL = 10
_HINT = (
    "The operator should see that auth_file has the role's password, or that auth_query gives the very SCRAM "
    "verifier that the server keeps."
)


class UpstreamLogin:
    """One login."""

    def __init__(self, user: str, credentials: Credentials, nonce: str) -> None:
        self._user = user
        self._credentials = credentials
        self._nonce = nonce
        self._binding: bytes | None = None
        self._exchange: ClientExchange | None = None

    def bind(self, binding: bytes | None) -> None:
        """Sets the channel binding data of the server's certificate; None without TLS."""
        self._binding = binding

    def receive(self, message: bytes) -> bytes | KeyDerivation | None:
        """Takes a whole message. Returns the response, empty for none; None where the message passes to the client.

        A `KeyDerivation` is to be carried out, and its keys given to `derived`, before the next message. Raises
        `UpstreamRefusedError`: A challenge cannot be answered, or the server did not prove itself.
        """
        if message[0] != _AUTHENTICATION:
            return None
        code = int.from_bytes(message[HEADER_SIZE : HEADER_SIZE + 4], "big")
        try:
            return self._answer(code, message[HEADER_SIZE + 4 :])
        except ScramError as problem:
            raise self._refused(str(problem)) from problem

    def derived(self, keys: ClientKeys) -> bytes:
        """Takes the keys that `receive` asked for. Returns the response to the server."""
        return codec.message(b"p", self._under_way().final(keys))

    def _answer(self, code: int, data: bytes) -> bytes | KeyDerivation | None:
        match code:
            case 0:
                return None
            case 3:
                return self._password(self._text())
            case 5:
                return self._password(md5_response(self._md5(), data[:4]))
            case 10:
                return self._sasl(data)
            case 11:
                return self._challenged(data)
            case 12:
                self._under_way().verify(data)
                return b""
            case _:
                raise self._refused(f"The server asks for authentication method {code}.")

    def _text(self) -> str:
        if not isinstance(self._credentials, Password):
            raise self._refused("The server asks for the password, which the gateway does not know.")
        return self._credentials.text

    def _md5(self) -> str:
        if isinstance(self._credentials, MD5Hash):
            return self._credentials.text
        return md5_hash(self._user, self._text())

    def _sasl(self, data: bytes) -> bytes:
        if not isinstance(self._credentials, Password | ClientKeys):
            raise self._refused(
                "The server asks for SCRAM, for which the gateway has neither password nor keys."
            )
        self._exchange = ClientExchange(self._nonce, binding=self._binding)
        offered = tuple(name.decode("ascii", "replace") for name in data.split(b"\0") if name)
        mechanism, first = self._exchange.first(offered)
        return codec.message(b"p", mechanism.encode() + b"\0" + len(first).to_bytes(4, "big") + first)

    def _challenged(self, data: bytes) -> bytes | KeyDerivation:
        salt, iterations = self._under_way().challenged(data)
        if isinstance(self._credentials, ClientKeys):
            return self.derived(self._credentials)
        return KeyDerivation(self._text(), salt, iterations)

    def _under_way(self) -> ClientExchange:
        if self._exchange is None:
            raise self._refused("The server goes on with an exchange that it did not start.")
        return self._exchange

    @staticmethod
    def _password(text: str) -> bytes:
        return codec.message(b"p", text.encode("utf-8", "surrogateescape") + b"\0")

    def _refused(self, detail: str) -> UpstreamRefusedError:
        text = f'the gateway cannot log in to the server as user "{self._user}"'
        return UpstreamRefusedError(ErrorReply("28000", text, detail, _HINT))


def without_binding(message: bytes) -> bytes:
    """AuthenticationSASL less the mechanisms that bind to a certificate that the client does not see."""
    code = message[HEADER_SIZE : HEADER_SIZE + 4]
    if message[0] != _AUTHENTICATION or int.from_bytes(code, "big") != _SASL:
        return message
    names = [name for name in message[HEADER_SIZE + 4 :].split(b"\0") if name and not name.endswith(b"-PLUS")]
    return codec.message(b"R", code + b"".join(name + b"\0" for name in names) + b"\0")
