"""What counts as healthy: an answer, not a socket that is there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pgparley import health


@contextmanager
def listening(listener: socket.socket, says: bytes | None) -> Iterator[None]:
    """Says that to one client that has said something; None: nothing at all."""
    ended = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            if says is None:
                ended.wait()
            else:
                connection.sendall(says)

    thread = threading.Thread(target=serve, daemon=True)
    with listener:
        listener.listen()
        thread.start()
        yield
        ended.set()
        thread.join()


@pytest.mark.parametrize(
    ("part", "says", "status"),
    [
        *(("gateway", says, says not in (b"N", b"S")) for says in (b"N", b"S", b"E", b"", None)),
        *((part, b"HTTP/1.1 200 OK\r\n\r\n", 0) for part in ("model", "page")),
        *(("model", says, 1) for says in (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", None)),
    ],
)
def test_only_an_answer_is_healthy(
    part: str, says: bytes | None, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "SECONDS", 0.3)
    listener = socket.create_server(("127.0.0.1", 0))
    with listening(listener, says):
        assert health.main(part, f"127.0.0.1:{listener.getsockname()[1]}") == status


@pytest.mark.parametrize(("says", "status"), [(b'{"done":true}\n', 0), (None, 1)])
def test_every_worker_has_to_answer(
    says: bytes | None, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "SECONDS", 0.3)
    monkeypatch.setattr(health, "RUNTIME", tmp_path)
    (tmp_path / "e-1.workers").mkdir()
    worker, killed = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    worker.bind(str(tmp_path / "e-1.workers" / "gateway-1.sock"))
    killed.bind(str(tmp_path / "e-1.workers" / "gateway-2.sock"))
    killed.close()
    clients = socket.create_server(("127.0.0.1", 0))
    with listening(worker, says), listening(clients, b"N"):
        assert health.main("gateway", f"127.0.0.1:{clients.getsockname()[1]}") == status
        clients_address = clients.getsockname()
        if status:
            # The one that the port would have met is let go.
            with socket.create_connection(clients_address) as connection:
                connection.sendall(b"x")


def test_a_stale_socket_is_not_healthy(tmp_path: Path) -> None:
    path = str(tmp_path / "s")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    with listening(listener, b"HTTP/1.1 200 OK\r\n\r\n"):
        assert health.main("engine", path) == 0
    assert Path(path).exists()
    assert health.main("engine", path) == 1
    assert health.main("engine", str(tmp_path / "none")) == 1
