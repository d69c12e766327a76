"""The protocol messages that the gateway reads or makes, as values. Everything else passes as bytes."""

from __future__ import annotations

from dataclasses import dataclass


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
