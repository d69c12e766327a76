"""What tests read out of the messages that a session sends to its server."""

from __future__ import annotations

from proxy.protocol import codec
from proxy.protocol.codec import Bind, Parse


def first_message(data: bytes) -> bytes:
    """The first of the messages in `data`."""
    return data[: 1 + int.from_bytes(data[1:5], "big")]


def parsed(data: bytes) -> Parse:
    """The Parse message that `data` begins with."""
    found = codec.decode_parse(first_message(data))
    assert found is not None
    return found


def bound(data: bytes) -> Bind:
    """The Bind message that `data` begins with."""
    found = codec.decode_bind(first_message(data))
    assert found is not None
    return found


def text_of(message: bytes) -> str:
    """The statements of a Query message."""
    return codec.decode_query(message).decode()


def token_of(data: bytes) -> str:
    """The name under which the server is made to raise an error of ours."""
    start = data.index(b"pgparley_error_")
    return data[start:].split(b"'", 1)[0].split(b"\0", 1)[0].decode()
