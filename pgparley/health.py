"""Whether a part of pgparley on this machine answers: `python -I -m pgparley.health PART [ADDRESS]`, for containers.

Owns what each part has to say to count as healthy; exits with 0 or 1 within two seconds. The standard library alone:
it is run every few seconds.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

SECONDS = 2.0

SSL_REQUEST = bytes.fromhex("0000000804d2162f")
"""The first packet of a client that wants TLS; a worker that lives says S or N (PostgreSQL docs 54.7)."""

ADDRESSES = {
    "gateway": "127.0.0.1:6432",
    "engine": "/run/pgparley/pgparley-10001.sock",
    "model": "127.0.0.1:6433",
    "page": "127.0.0.1:6480",
}
"""Part → where it listens in its container: host:port, or the path of a Unix socket."""

RUNTIME = Path("/run/pgparley")
"""Where the sockets of the gateway's workers are: a client meets any of them, and perhaps not the one that hangs."""

PING = b'{"verb":"ping"}\n'


def is_healthy(part: str, address: str) -> bool:
    """Whether `part` answers at `address`; raises `OSError` where nothing listens there, or it is silent."""
    if part == "gateway" and not all(map(_answers, RUNTIME.glob("*.workers/gateway-*.sock"))):
        return False
    with _connected(address) as connection:
        if part == "gateway":
            connection.sendall(SSL_REQUEST)
            return connection.recv(1) in {b"S", b"N"}
        path = "/sign-in" if part == "page" else "/health"
        connection.sendall(f"GET {path} HTTP/1.0\r\nHost: {part}\r\n\r\n".encode())
        return connection.recv(12).partition(b" ")[2][:1] == b"2"


def _answers(worker: Path) -> bool:
    """Whether the worker at this socket answers, or is gone: another takes its place."""
    try:
        with _connected(str(worker)) as connection:
            connection.sendall(PING)
            return connection.recv(1) == b"{"
    except (ConnectionRefusedError, FileNotFoundError):
        return True


def _connected(address: str) -> socket.socket:
    if not address.startswith("/"):
        host, _, port = address.rpartition(":")
        return socket.create_connection((host, int(port)), SECONDS)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(SECONDS)
    try:
        connection.connect(address)
    except OSError:
        connection.close()
        raise
    return connection


def main(part: str, address: str = "") -> int:
    """The status to exit with."""
    try:
        return 0 if is_healthy(part, address or ADDRESSES[part]) else 1
    except OSError as problem:
        sys.stderr.write(f"{part}: {problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
