"""The protocol messages that the gateway reads or makes, as values and as bytes (PostgreSQL docs, 54.7)."""

from __future__ import annotations

import struct
import sys
from dataclasses import dataclass

from engine.values.messages import ErrorReply
from proxy.protocol.framing import HEADER_SIZE, ProtocolViolationError


@dataclass(frozen=True, slots=True)
class EncryptionRequest:
    """SSLRequest or GSSENCRequest."""


@dataclass(frozen=True, slots=True)
class CancelRequest:
    """A request to cancel; `key` is the body of the BackendKeyData that it repeats: process id and secret."""

    packet: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Startup:
    """A StartupMessage of any protocol version; `parameters` are empty where the version is not 3."""

    packet: bytes
    parameters: tuple[tuple[str, str], ...]

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor version of the protocol."""
        return int.from_bytes(self.packet[4:6], "big"), int.from_bytes(self.packet[6:8], "big")

    def parameter(self, name: str) -> str | None:
        """The last value given for `name`."""
        return dict(self.parameters).get(name)


FirstPacket = EncryptionRequest | CancelRequest | Startup


@dataclass(frozen=True, slots=True)
class Parse:
    """Parse: `types` are the declared parameter types' OIDs, 0 where the server shall infer."""

    name: bytes
    text: bytes
    types: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bind:
    """Bind: `results` are the result format codes as they stand in the message, their count included."""

    portal: bytes
    statement: bytes
    formats: tuple[int, ...]
    parameters: tuple[bytes | None, ...]
    results: bytes

    def format(self, index: int) -> int:
        """The format code that applies to the parameter at `index`, from 0."""
        if len(self.formats) > 1:
            return self.formats[index]
        return self.formats[0] if self.formats else 0


@dataclass(frozen=True, slots=True)
class Target:
    """The object that Describe and Close name: `kind` is S for a prepared statement and P for a portal."""

    kind: bytes
    name: bytes


_CANCEL_CODE = 80877102

ENCRYPTION_REQUEST_SIZE = 8
SSL_REQUEST, GSS_REQUEST = (
    ENCRYPTION_REQUEST_SIZE.to_bytes(4, "big") + code.to_bytes(4, "big") for code in (80877103, 80877104)
)
"""SSLRequest and GSSENCRequest (PostgreSQL docs, 54.7)."""

_KEY_SIZES = range(8, 261)
"""Bytes of a process id and a secret of 4 to 256 bytes (PostgreSQL docs, 54.2.8)."""

MAJOR_VERSION = 3
NEWEST_MINOR = 2
"""Protocol 3.2, which is PostgreSQL 18's."""

_INT16 = struct.Struct(">H")
_INT32 = struct.Struct(">I")
_NULL_LENGTH = 0xFFFF_FFFF
_MALFORMED = (struct.error, ValueError, IndexError)


def encode_cancel(key: bytes) -> bytes:
    """A CancelRequest packet; `key` is the body of a BackendKeyData."""
    return _INT32.pack(len(key) + 8) + _INT32.pack(_CANCEL_CODE) + key


def message(kind: bytes, body: bytes) -> bytes:
    """One message with its header."""
    return kind + _INT32.pack(len(body) + 4) + body


AUTHENTICATION_OK = message(b"R", bytes(4))
SYNC = message(b"S", b"")
FLUSH = message(b"H", b"")
TERMINATE = message(b"X", b"")


def decode_first(packet: bytes) -> FirstPacket:
    """The packet that opens a connection. Raises `ProtocolViolationError`."""
    (code,) = _INT32.unpack_from(packet, 4)
    if code == _CANCEL_CODE:
        if len(packet) - 8 not in _KEY_SIZES:
            raise ProtocolViolationError("invalid length of cancel request packet")
        return CancelRequest(packet, packet[8:])
    if packet[4:8] in (SSL_REQUEST[4:], GSS_REQUEST[4:]):
        if len(packet) != ENCRYPTION_REQUEST_SIZE:
            raise ProtocolViolationError("invalid length of encryption request packet")
        return EncryptionRequest()
    return Startup(packet, _startup_parameters(packet) if code >> 16 == MAJOR_VERSION else ())


def _startup_parameters(packet: bytes) -> tuple[tuple[str, str], ...]:
    if packet[8:][-1:] != b"\0":
        raise ProtocolViolationError("invalid startup packet layout: expected terminator as last byte")
    words = packet[8:-1].split(b"\0")
    if len(words) % 2 == 0 or words[-1] or not all(words[:-1:2]):
        raise ProtocolViolationError("invalid startup packet layout: expected terminator as last byte")
    # Most sessions send the same words, and each keeps them as long as it lasts.
    texts = [sys.intern(word.decode("utf-8", "surrogateescape")) for word in words[:-1]]
    return tuple(zip(texts[::2], texts[1::2], strict=True))


def encode_startup(parameters: dict[str, str]) -> bytes:
    """A StartupMessage of protocol 3.0."""
    words = (word for pair in parameters.items() for word in pair)
    body = b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in words)
    return struct.pack(">II", len(body) + 9, MAJOR_VERSION << 16) + body + b"\0"


def encode_negotiation(startup: Startup) -> bytes:
    """The NegotiateProtocolVersion that answers `startup`; empty where all that it asks for is known."""
    options = [name for name, _ in startup.parameters if name.startswith("_pq_.")]
    major, minor = startup.version
    if minor <= NEWEST_MINOR and not options:
        return b""
    version = major << 16 | min(minor, NEWEST_MINOR)
    names = b"".join(name.encode("utf-8", "surrogateescape") + b"\0" for name in options)
    return message(b"v", struct.pack(">II", version, len(options)) + names)


def _string(data: bytes, pos: int) -> tuple[bytes, int]:
    end = data.index(0, pos)
    return data[pos:end], end + 1


def decode_query(data: bytes) -> bytes:
    """The text of a whole Query message, up to its first NUL."""
    return data[HEADER_SIZE:].partition(b"\0")[0]


def encode_query(text: bytes) -> bytes:
    """A Query message."""
    return message(b"Q", text + b"\0")


def decode_parse(data: bytes) -> Parse | None:
    """A whole Parse message; None where it is malformed (the server then reports the error)."""
    try:
        name, pos = _string(data, HEADER_SIZE)
        text, pos = _string(data, pos)
        (count,) = _INT16.unpack_from(data, pos)
        return Parse(name, text, struct.unpack_from(f">{count}I", data, pos + 2))
    except _MALFORMED:
        return None


def encode_parse(parse: Parse) -> bytes:
    """A Parse message."""
    types = struct.pack(f">H{len(parse.types)}I", len(parse.types), *parse.types)
    return message(b"P", b"%b\0%b\0%b" % (parse.name, parse.text, types))


def decode_bind(data: bytes) -> Bind | None:
    """A whole Bind message; None where it is malformed (the server then reports the error)."""
    try:
        portal, pos = _string(data, HEADER_SIZE)
        statement, pos = _string(data, pos)
        (count,) = _INT16.unpack_from(data, pos)
        formats = struct.unpack_from(f">{count}H", data, pos + 2)
        parameters, pos = _parameters(data, pos + 2 + 2 * count)
        if pos + 2 > len(data) or len(formats) > max(1, len(parameters)):
            return None
        return Bind(portal, statement, formats, parameters, data[pos:])
    except _MALFORMED:
        return None


def _parameters(data: bytes, pos: int) -> tuple[tuple[bytes | None, ...], int]:
    (count,) = _INT16.unpack_from(data, pos)
    pos += 2
    values: list[bytes | None] = []
    for _ in range(count):
        (length,) = _INT32.unpack_from(data, pos)
        pos += 4
        if length == _NULL_LENGTH:
            values.append(None)
            continue
        if pos + length > len(data):
            raise ValueError(length)
        values.append(data[pos : pos + length])
        pos += length
    return tuple(values), pos


def decode_row(data: bytes) -> tuple[bytes | None, ...]:
    """The columns of a whole DataRow message, None for null."""
    return _parameters(data, HEADER_SIZE)[0]


def encode_bind(bind: Bind) -> bytes:
    """A Bind message."""
    parts = [bind.portal, b"\0", bind.statement, b"\0"]
    parts.append(struct.pack(f">H{len(bind.formats)}H", len(bind.formats), *bind.formats))
    parts.append(_INT16.pack(len(bind.parameters)))
    for value in bind.parameters:
        parts.append(_INT32.pack(_NULL_LENGTH if value is None else len(value)))
        parts.append(value or b"")
    parts.append(bind.results)
    return message(b"B", b"".join(parts))


def decode_target(data: bytes) -> Target:
    """A whole Describe or Close message."""
    return Target(data[HEADER_SIZE : HEADER_SIZE + 1], data[HEADER_SIZE + 1 :].partition(b"\0")[0])


def statement_of_bind(data: bytes, pos: int) -> bytes | None:
    """The statement that the Bind message at `pos` names; None where that part has not arrived yet."""
    start = data.find(0, pos + HEADER_SIZE) + 1
    end = data.find(0, start) if start else -1
    return data[start:end] if end >= 0 else None


def portal_of_bind(data: bytes, pos: int) -> bytes:
    """The portal that the Bind message at `pos` makes; whatever is there, where that is malformed."""
    end = data.find(b"\0", pos + HEADER_SIZE)
    return data[pos + HEADER_SIZE : len(data) if end < 0 else end]


def portal_of_execute(message: bytes) -> bytes:
    """The portal that a whole Execute message runs."""
    return message[HEADER_SIZE:].partition(b"\0")[0]


def decode_status(data: bytes) -> tuple[str, str]:
    """Name and value of a whole ParameterStatus message; a missing one is empty."""
    name, value = (*data[HEADER_SIZE:].split(b"\0"), b"", b"")[:2]
    return name.decode("ascii", "replace"), value.decode("utf-8", "replace")


def without_last_parameter(description: bytes) -> bytes:
    """A whole ParameterDescription message less its last parameter."""
    (count,) = _INT16.unpack_from(description, HEADER_SIZE)
    return message(b"t", _INT16.pack(count - 1) + description[HEADER_SIZE + 2 : -4])


def error_fields(data: bytes) -> dict[bytes, bytes]:
    """The fields of a whole ErrorResponse or NoticeResponse by their codes."""
    return {field[:1]: field[1:] for field in data[HEADER_SIZE:].split(b"\0") if field}


def encode_error(
    error: ErrorReply,
    encoding: str,
    *,
    severity: bytes = b"ERROR",
    shown: bytes | None = None,
    routine: bytes | None = None,
) -> bytes:
    """An ErrorResponse. `shown`: the severity in the user's language. Characters that the encoding lacks become `?`."""
    fields = _fields(error, encoding, severity, shown or severity)
    return message(b"E", fields + (b"" if routine is None else b"R" + routine + b"\0") + b"\0")


def encode_fatal(error: ErrorReply) -> bytes:
    """The ErrorResponse that ends a connection, in UTF-8."""
    return encode_error(error, "utf-8", severity=b"FATAL")


def encode_notice(notice: ErrorReply, encoding: str, *, severity: bytes = b"WARNING") -> bytes:
    """A NoticeResponse."""
    return message(b"N", _fields(notice, encoding, severity, severity) + b"\0")


def _fields(report: ErrorReply, encoding: str, severity: bytes, shown: bytes) -> bytes:
    texts = ((b"M", report.message), (b"D", report.detail), (b"H", report.hint))
    parts = [b"S" + shown, b"V" + severity, b"C" + report.sqlstate.encode("ascii", "replace")]
    parts += [code + _clean(text, encoding) for code, text in texts if text is not None]
    return b"".join(part + b"\0" for part in parts)


def _clean(text: str, encoding: str) -> bytes:
    # Where no codec is known (`encoding.UNREADABLE`), ASCII is the same in each.
    return text.encode(encoding or "ascii", "replace").replace(b"\0", b"")
