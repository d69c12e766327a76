"""A server that listens on TCP with TLS and asks for passwords, certificates for everybody, and gateways to it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest
import trustme
import uvloop

from pgparley import cluster
from proxy.net.worker.worker import Worker
from proxy.settings import GatewaySettings
from tests.conftest import free_port

PASSWORD = "pa:ss, wörd"

RULES = """
local all all trust
host all md5er 127.0.0.1/32 md5
host all plainer 127.0.0.1/32 password
hostssl all certified 127.0.0.1/32 cert
host all all 127.0.0.1/32 scram-sha-256
"""


@dataclass(frozen=True)
class Certificates:
    """Files in PEM. `ca` signed all of them but `stranger`."""

    folder: Path
    ca: Path
    server: Path
    gateway: Path
    client: Path
    stranger: Path

    @staticmethod
    def make(folder: Path) -> Certificates:
        """Writes them; each file holds key and chain."""
        authority, other = trustme.CA(), trustme.CA()
        authority.cert_pem.write_to_path(str(folder / "ca.pem"))
        made = {
            "server": authority.issue_cert("localhost", "127.0.0.1"),
            "gateway": authority.issue_cert("localhost", "127.0.0.1"),
            "client": authority.issue_cert("alice@example.org", common_name="alice"),
            "stranger": other.issue_cert("alice@example.org", common_name="alice"),
        }
        for name, certificate in made.items():
            certificate.private_key_and_cert_chain_pem.write_to_path(str(folder / f"{name}.pem"))
            (folder / f"{name}.pem").chmod(0o600)
        return Certificates(folder, folder / "ca.pem", *(folder / f"{name}.pem" for name in made))

    def serving(self, mode: str = "require") -> dict[str, Any]:
        """Settings of a gateway that speaks TLS with clients."""
        return serving(self.gateway, mode)


def serving(file: Path, mode: str = "require") -> dict[str, Any]:
    """As `Certificates.serving`, with the certificate and the key of `file`."""
    return {
        "client_tls_sslmode": mode,
        "client_tls_key_file": str(file),
        "client_tls_cert_file": str(file),
    }


@dataclass(frozen=True)
class Server:
    """The server: trusted on its Unix socket, with passwords on TCP, where it speaks TLS too."""

    socket_dir: Path
    port: int
    verifiers: dict[str, str]
    tls: bool

    def admin(self) -> psycopg.Connection:
        """A superuser's connection."""
        return psycopg.connect(host=str(self.socket_dir), port=self.port, user="postgres", autocommit=True)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates.make(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, certificates: Certificates) -> Iterator[Server]:
    """PostgreSQL of the system, which speaks TLS; without one the embedded server, which does not."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    running = _Own(tmp_path_factory, certificates, found[-1].parent if found else None)
    with psycopg.connect(host="/tmp", port=running.port, user="postgres", autocommit=True) as admin:  # noqa: S108
        verifiers = _roles(admin)
    yield Server(Path("/tmp"), running.port, verifiers, tls=bool(found))  # noqa: S108
    running.stop()


@pytest.fixture
def tls_server(server: Server) -> Server:
    """The server, where it speaks TLS."""
    if not server.tls:
        pytest.skip("the embedded server is built without TLS, and the system has none (Debian: postgresql)")
    return server


class _Own:
    """A server of our own on TCP. It cannot run as root: its files are then given to somebody else."""

    def __init__(
        self, factory: pytest.TempPathFactory, certificates: Certificates, binaries: Path | None
    ) -> None:
        self._data = factory.mktemp("secured") / "data"
        if binaries is None:
            first = cluster.start(self._data)
            cluster.stop(first)
            self._binaries = first.bin_dir
            self._owner = self._data.stat().st_uid
        else:
            self._binaries = binaries
            self._owner = os.getuid() or pwd.getpwnam("nobody").pw_uid
            self._data.mkdir(mode=0o700)
            for folder in (*self._data.parents[:4],):
                if folder.stat().st_uid == os.getuid() and folder != Path("/tmp"):  # noqa: S108
                    folder.chmod(0o755)
            os.chown(self._data, self._owner, -1)
            self._run("initdb", "-U", "postgres", "-A", "trust", "--no-sync", "-E", "UTF8")
        for name in ("server", "ca"):
            copy = self._data / f"{name}.pem"
            shutil.copy(certificates.folder / f"{name}.pem", copy)
            copy.chmod(0o600)
            os.chown(copy, self._owner, -1)
        (self._data / "pg_hba.conf").write_text(RULES if binaries else RULES.replace("hostssl", "host"))
        self.port = free_port()
        tls = "-c ssl=on -c ssl_cert_file=server.pem -c ssl_key_file=server.pem -c ssl_ca_file=ca.pem"
        options = f"-h 127.0.0.1 -p {self.port} -k /tmp -F {tls if binaries else ''}"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self._data / "log"), "start")

    def stop(self) -> None:
        """Stops it and removes what it wrote."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self._data)

    def _run(self, program: str, *arguments: str) -> None:
        user = self._owner if os.getuid() == 0 else None
        subprocess.run(  # noqa: S603 - programs of the server under test
            [str(self._binaries / program), "-D", str(self._data), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            user=user,
            cwd="/tmp",  # noqa: S108
        )


def _roles(admin: psycopg.Connection) -> dict[str, str]:
    admin.execute(
        "CREATE ROLE alice LOGIN; CREATE ROLE bob LOGIN; CREATE ROLE plainer LOGIN; CREATE ROLE nologin"
    )
    admin.execute("CREATE ROLE asker SUPERUSER LOGIN; CREATE ROLE expired LOGIN VALID UNTIL '2001-01-01'")
    for role in ("alice", "bob", "plainer", "nologin", "asker", "expired", "postgres"):
        admin.execute(f"ALTER ROLE {role} PASSWORD '{PASSWORD}'")
    admin.execute("SET password_encryption = md5")
    if admin.info.server_version >= 180000:
        admin.execute("SET md5_password_warnings = off")
    admin.execute(f"CREATE ROLE md5er LOGIN PASSWORD '{PASSWORD}'")
    rows = admin.execute(
        "SELECT rolname, rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL"
    ).fetchall()
    return dict(rows)


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> dict[str, Any]:
    """The loop that a gateway runs on."""
    return {"uvloop": uvloop.new_event_loop}


StartGateway = Callable[..., Awaitable[Worker]]
UserList = Callable[..., str]
HostRules = Callable[[str], dict[str, Any]]


@pytest.fixture
async def gateway(server: Server) -> AsyncIterator[StartGateway]:
    """Starts gateways in the test's own loop."""
    running: list[Worker] = []

    async def start(**changes: Any) -> Worker:
        settings = {
            "upstream_host": "127.0.0.1",
            "upstream_port": server.port,
            "listen_port": 0,
            "shutdown_grace": 0.0,
        }
        worker = Worker(msgspec.convert({**settings, **changes}, GatewaySettings))
        await worker.start()
        running.append(worker)
        return worker

    yield start
    for worker in running:
        await worker.stop()


@pytest.fixture
def hba(tmp_path: Path) -> HostRules:
    """Writes host rules; gives the settings of a gateway that goes by them."""

    def write(rules: str) -> dict[str, Any]:
        (tmp_path / "hba").write_text(rules)
        return {"auth_type": "hba", "auth_hba_file": str(tmp_path / "hba")}

    return write


@pytest.fixture
def user_list(tmp_path: Path) -> UserList:
    """Writes an auth_file: name → secret."""

    def write(**secrets: str) -> str:
        file = tmp_path / "userlist.txt"
        file.write_text("; roles\n" + "".join(f'"{name}" "{secret}"\n' for name, secret in secrets.items()))
        file.chmod(0o600)
        return str(file)

    return write


def dsn(worker: Worker, user: str = "alice", **more: Any) -> str:
    """A connection string to a gateway."""
    words = {
        "host": "127.0.0.1",
        "port": worker.port,
        "user": user,
        "dbname": "postgres",
        "sslmode": "disable",
    }
    quoted = ({**words, "password": PASSWORD, "connect_timeout": 10, **more}).items()
    return " ".join(f"{key}='{value}'" for key, value in quoted)


async def session(worker: Worker, user: str = "alice", **more: Any) -> psycopg.AsyncConnection[Any]:
    """A session through a gateway, outside of transactions."""
    return await psycopg.AsyncConnection.connect(dsn(worker, user, **more), autocommit=True)


async def user_of(text: str) -> str:
    """The role that a connection has at the server."""
    async with await psycopg.AsyncConnection.connect(text) as connection:
        row = await (await connection.execute("SELECT session_user::text")).fetchone()
        assert row is not None
        return str(row[0])
