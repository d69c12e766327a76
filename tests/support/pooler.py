"""PgBouncer in front of a server, or of a gateway, as `make pooler` unpacks it.

Owns its configuration, starting and stopping it.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from tests.conftest import free_port

PLACE = cache_dir() / "pooler"
PROGRAM = PLACE / "usr" / "sbin" / "pgbouncer"
_SECONDS = 10.0


@contextmanager
def pgbouncer(
    server: Cluster, folder: Path, mode: str, roles: tuple[str, ...], *, gateway: int = 0
) -> Iterator[int]:
    """PgBouncer with one connection to the server for each database and role; yields its port.

    `gateway`: the port on which a gateway listens that it goes to instead.
    """
    behind = f"127.0.0.1 port={gateway}" if gateway else f"{server.socket_dir} port={server.port}"
    port = free_port()
    users, file = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text("".join(f'"{role}" ""\n' for role in roles), encoding="utf-8")
    file.write_text(
        f"""[databases]
* = host={behind}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = {mode}
default_pool_size = 1
""",
        encoding="utf-8",
    )
    # pytest's folders are its user's alone; what lies above them stays as it is.
    for each in (folder, *folder.parents):
        if each.stat().st_mode & 0o777 == 0o700:
            each.chmod(0o755)
    # It refuses to run as root; the server's account may use the server's socket, and not look into root's home.
    account = pwd.getpwuid(server.data_dir.stat().st_uid)
    place = folder / "usr"
    shutil.copytree(PLACE / "usr", place, dirs_exist_ok=True)
    libraries = os.pathsep.join(map(str, (place / "lib").glob("*-linux-gnu")))
    with (folder / "pgbouncer.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - the program that was unpacked
            [str(place / PROGRAM.relative_to(PLACE / "usr")), "-q", str(file)],
            env={**os.environ, "LD_LIBRARY_PATH": libraries},
            user=account.pw_uid if os.getuid() == 0 else None,
            group=account.pw_gid if os.getuid() == 0 else None,
            stdout=log,
            stderr=log,
        )
    try:
        _until_listening(port)
        yield port
    finally:
        process.terminate()
        process.wait(_SECONDS)
        shutil.rmtree(place)


def _until_listening(port: int) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return
