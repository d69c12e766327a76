"""SCRAM-SHA-256 (RFC 5802, RFC 7677) for both roles that the gateway plays, without I/O. Parsing is strict.

Nonces come from the caller, and so does the slow step: a `KeyDerivation` that is carried out in a thread.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import stringprep
import unicodedata
from dataclasses import dataclass, field

_PROHIBITED = (
    stringprep.in_table_c12,
    stringprep.in_table_c21_c22,
    stringprep.in_table_c3,
    stringprep.in_table_c4,
    stringprep.in_table_c5,
    stringprep.in_table_c6,
    stringprep.in_table_c7,
    stringprep.in_table_c8,
    stringprep.in_table_c9,
    stringprep.in_table_a1,
)


def prepare(password: str) -> bytes:
    """The password as SCRAM hashes it: prepared where the rules allow it, else as it is, as in PostgreSQL."""
    raw = password.encode("utf-8", "surrogateescape")
    if password.isascii() and password.isprintable():
        return raw
    mapped = "".join(_mapped(character) for character in password)
    text = unicodedata.ucd_3_2_0.normalize("NFKC", mapped)
    allowed = text and not any(test(character) for character in text for test in _PROHIBITED)
    return text.encode("utf-8", "surrogateescape") if allowed and _one_direction(text) else raw


def _mapped(character: str) -> str:
    if stringprep.in_table_c12(character):
        return " "
    return "" if stringprep.in_table_b1(character) else character


def _one_direction(text: str) -> bool:
    """RFC 3454, 6: a text with right-to-left letters begins and ends with one and has no others."""
    if not any(stringprep.in_table_d1(character) for character in text):
        return True
    mixed = any(stringprep.in_table_d2(character) for character in text)
    return not mixed and stringprep.in_table_d1(text[0]) and stringprep.in_table_d1(text[-1])


PLAIN = "SCRAM-SHA-256"
PLUS = "SCRAM-SHA-256-PLUS"
BINDING = "tls-server-end-point"
ITERATIONS = 4096
"""PostgreSQL's default (`scram_iterations`)."""

SALT_SIZE = 16
"""Bytes of a salt that PostgreSQL makes (`SCRAM_DEFAULT_SALT_LEN`)."""

MAX_ITERATIONS = 10_000_000
"""More than this is no honest verifier: computing it takes many seconds."""

_KEY_SIZE = 32
_NONCE = re.compile(r"[\x21-\x2b\x2d-\x7e]+")
_VERIFIER = re.compile(r"SCRAM-SHA-256\$([0-9]{1,8}):([^$:]+)\$([^$:]+):([^$:]+)")
_FIRST = re.compile(r"n=([^,]*),r=([^,]*)(?:,.*)?", re.DOTALL)
_FINAL = re.compile(r"(c=([^,]*),r=([^,]*)(?:,[a-zA-Z]=[^,]*)*),p=([^,]*)", re.DOTALL)
_SERVER_FIRST = re.compile(r"r=([^,]*),s=([^,]*),i=([1-9][0-9]{0,7})(?:,.*)?", re.DOTALL)


class ScramError(Exception):
    """The exchange broke the rules or the proof is wrong; the text is for the log."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """The verifier that a server keeps of a password (`rolpassword`)."""

    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    @staticmethod
    def parse(text: str) -> Verifier | None:
        """`SCRAM-SHA-256$<iterations>:<salt>$<StoredKey>:<ServerKey>`; None where `text` is none."""
        match = _VERIFIER.fullmatch(text)
        if match is None:
            return None
        try:
            salt, stored, server = (_decoded(match[group]) for group in (2, 3, 4))
        except ScramError:
            return None
        iterations = int(match[1])
        sound = len(stored) == len(server) == _KEY_SIZE and 0 < iterations <= MAX_ITERATIONS and salt
        return Verifier(iterations, salt, stored, server) if sound else None

    @staticmethod
    def of_password(password: str, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
        """The verifier of a password. Slow, as `KeyDerivation.keys` is."""
        return KeyDerivation(password, salt, iterations).verifier(
            ClientKeys.of_password(password, salt, iterations)
        )

    @property
    def text(self) -> str:
        """As `parse` takes it."""
        salt, stored, server = (
            base64.b64encode(part).decode() for part in (self.salt, self.stored_key, self.server_key)
        )
        return f"SCRAM-SHA-256${self.iterations}:{salt}${stored}:{server}"


@dataclass(frozen=True, slots=True)
class ClientKeys:
    """The keys that suffice to log in where the same verifier is kept, without the password."""

    client_key: bytes
    server_key: bytes

    @staticmethod
    def of_password(password: str, salt: bytes, iterations: int) -> ClientKeys:
        """The keys of a password (RFC 5802, 3)."""
        salted = hashlib.pbkdf2_hmac("sha256", prepare(password), salt, iterations)
        return ClientKeys(_hmac(salted, b"Client Key"), _hmac(salted, b"Server Key"))


@dataclass(frozen=True, slots=True)
class KeyDerivation:
    """A computation of keys from a password: milliseconds at PostgreSQL's default, seconds at the most iterations."""

    password: str = field(repr=False)
    salt: bytes
    iterations: int

    def keys(self) -> ClientKeys:
        """Carries it out."""
        return ClientKeys.of_password(self.password, self.salt, self.iterations)

    def verifier(self, keys: ClientKeys) -> Verifier:
        """The verifier that belongs to the keys that came out."""
        return Verifier(self.iterations, self.salt, _hash(keys.client_key), keys.server_key)


class ServerExchange:
    """One client's proof. `binding`: of our TLS connection; not `genuine`: fails at the end, as for no such role."""

    def __init__(
        self, verifier: Verifier, nonce: str, *, binding: bytes | None, genuine: bool = True
    ) -> None:
        self._verifier = verifier
        self._nonce = nonce
        self._binding = binding
        self._genuine = genuine
        self._bound = b""
        self._transcript = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The SASL mechanisms that are offered, the strongest first."""
        return (PLAIN,) if self._binding is None else (PLUS, PLAIN)

    def first(self, mechanism: str, message: bytes) -> bytes:
        """Takes client-first-message, gives server-first-message. Raises `ScramError`."""
        if mechanism not in self.mechanisms:
            raise ScramError("a SASL mechanism that was not offered")
        flag, authzid, bare = _split_header(_text(message))
        self._check_flag(flag, mechanism)
        if authzid:
            raise ScramError("an authorization identity is not supported")
        match = _FIRST.fullmatch(bare)
        if match is None or _NONCE.fullmatch(match[2]) is None:
            raise ScramError("malformed client-first-message")
        header = f"{flag},,".encode()
        self._bound = header + (self._binding or b"") if flag.startswith("p=") else header
        self._nonce = match[2] + self._nonce
        salt = base64.b64encode(self._verifier.salt).decode()
        reply = f"r={self._nonce},s={salt},i={self._verifier.iterations}"
        self._transcript = f"{bare},{reply}"
        return reply.encode()

    def _check_flag(self, flag: str, mechanism: str) -> None:
        if mechanism == PLUS:
            if flag != f"p={BINDING}":
                raise ScramError("channel binding of another kind, or none")
        elif flag == "y":
            if self._binding is not None:
                raise ScramError("the client did not see that channel binding is offered")
        elif flag != "n":
            raise ScramError("channel binding with a mechanism that has none")

    def final(self, message: bytes) -> tuple[bytes, ClientKeys]:
        """Takes client-final-message; gives server-final-message and the client's keys. Raises `ScramError`."""
        match = _FINAL.fullmatch(_text(message))
        if match is None:
            raise ScramError("malformed client-final-message")
        bound, proof = _decoded(match[2]), _decoded(match[4])
        if not hmac.compare_digest(bound, self._bound):
            raise ScramError("channel binding check failed")
        if not hmac.compare_digest(match[3].encode(), self._nonce.encode()):
            raise ScramError("nonce does not match")
        if len(proof) != _KEY_SIZE:
            raise ScramError("malformed proof")
        transcript = f"{self._transcript},{match[1]}".encode()
        signature = _hmac(self._verifier.stored_key, transcript)
        client_key = _xor(proof, signature)
        matches = hmac.compare_digest(_hash(client_key), self._verifier.stored_key)
        if not (matches and self._genuine):
            raise ScramError("the proof is wrong")
        server_signature = base64.b64encode(_hmac(self._verifier.server_key, transcript))
        return b"v=" + server_signature, ClientKeys(client_key, self._verifier.server_key)


class ClientExchange:
    """The gateway's own proof: `first`, `challenged`, `final` and `verify`, in this order."""

    def __init__(self, nonce: str, *, binding: bytes | None) -> None:
        self._nonce = nonce
        self._binding = binding
        self._header = "n,,"
        self._server_first = ""
        self._combined = ""
        self._signature = b""

    def first(self, offered: tuple[str, ...]) -> tuple[str, bytes]:
        """The mechanism to use and client-first-message. Raises `ScramError`: nothing that is offered is known."""
        mechanism = PLAIN
        if self._binding is not None:
            # RFC 5802, 6: with PLUS offered it is used, without it the server learns that we could have.
            mechanism, self._header = (PLUS, f"p={BINDING},,") if PLUS in offered else (PLAIN, "y,,")
        if mechanism not in offered:
            raise ScramError("the server offers no SCRAM mechanism that is known")
        return mechanism, f"{self._header}n=,r={self._nonce}".encode()

    def challenged(self, message: bytes) -> tuple[bytes, int]:
        """Takes server-first-message; gives its salt and iterations. Raises `ScramError`: it is malformed."""
        self._server_first = _text(message)
        match = _SERVER_FIRST.fullmatch(self._server_first)
        if match is None or not match[1].startswith(self._nonce) or len(match[1]) == len(self._nonce):
            raise ScramError("malformed server-first-message")
        iterations = int(match[3])
        if iterations > MAX_ITERATIONS:
            raise ScramError("too many iterations")
        self._combined = match[1]
        return _decoded(match[2]), iterations

    def final(self, keys: ClientKeys) -> bytes:
        """Gives client-final-message, which proves that we hold `keys`."""
        shown = (self._binding or b"") if self._header.startswith("p=") else b""
        bound = self._header.encode() + shown
        without_proof = f"c={base64.b64encode(bound).decode()},r={self._combined}"
        transcript = f"n=,r={self._nonce},{self._server_first},{without_proof}".encode()
        proof = _xor(keys.client_key, _hmac(_hash(keys.client_key), transcript))
        self._signature = _hmac(keys.server_key, transcript)
        return f"{without_proof},p={base64.b64encode(proof).decode()}".encode()

    def verify(self, message: bytes) -> None:
        """Takes server-final-message. Raises `ScramError`: the server does not know the secret."""
        expected = b"v=" + base64.b64encode(self._signature)
        if not self._signature or not hmac.compare_digest(message, expected):
            raise ScramError("the server did not prove that it knows the secret")


def _split_header(text: str) -> tuple[str, str, str]:
    flag, first, rest = text.partition(",")
    authzid, second, bare = rest.partition(",")
    if not first or not second:
        raise ScramError("malformed client-first-message")
    return flag, authzid, bare


def _text(message: bytes) -> str:
    try:
        text = message.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ScramError("not UTF-8") from problem
    if "\0" in text:
        raise ScramError("a NUL in a SASL message")
    return text


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as problem:
        raise ScramError("malformed base64") from problem


def _hmac(key: bytes, data: bytes) -> bytes:
    return hmac.digest(key, data, "sha256")


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def _xor(left: bytes, right: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(left, right, strict=True))
