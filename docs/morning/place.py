"""Where a morning takes place: PostgreSQL with three sample databases, gateway, engine, model and page, all new.

Owns the configuration. Starting and loading is the demo's.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from rich.console import Console

from docs.morning.steps import DATABASES
from pgparley import cluster
from pgparley.demo.prepare import STORE, prepare
from pgparley.demo.samples import SAMPLES
from pgparley.demo.serving import serving
from pgparley.demo.site import Site
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE

ROOT = Path(__file__).parents[2]

PASSWORD = "of one morning"  # noqa: S105 - of a server that lives as long as this program

_CONFIG = """\
[gateway]
upstream_host = "{socket_dir}"
upstream_port = {port}
listen_port = {listen_port}
nl_timeout = 240.0
nl_progress = 0.0

[engine]
socket = "{engine_socket}"
store = "{store}"

[catalog]
login = "{login}"

[limits]
timeout = 240.0

[page]
listen = "127.0.0.1:{page_port}"
"""


@dataclass(frozen=True, slots=True)
class Place:
    """`page`: its address. Everything that listens is this process's children's."""

    site: Site
    page: str

    def uri(self, dbname: str, role: str) -> str:
        """A connection through the gateway."""
        return f"postgresql://{role}@127.0.0.1:{self.site.port}/{dbname}"

    @property
    def store(self) -> str:
        """The store, directly, as a superuser."""
        return self.site.cluster.dsn(STORE)

    @property
    def environment(self) -> Mapping[str, str]:
        """Of a shell in which `pgparley` is this program, and dora's password is known."""
        return {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "PGPARLEY_CONFIG": str(self.site.config),
            "PGPASSWORD": PASSWORD,
        }


@asynccontextmanager
async def place(home: Path, console: Console, model: str = "") -> AsyncIterator[Place]:
    """All of it, until the end of the block. `model`: the address of its API; the embedded one without it."""
    running = cluster.start(home / "postgres")
    try:
        made = Place(Site(home, running, _free_port()), f"http://127.0.0.1:{_free_port()}")
        await prepare(running, console, [sample for sample in SAMPLES if sample.name in DATABASES])
        await _people(made)
        _configure(made, model)
        async with serving(made.site, console, keep=False):
            yield made
    finally:
        cluster.stop(running)


async def forget(at: Place) -> None:
    """As before the first morning: nothing is registered, no question was asked, the column has its old name."""
    store = await asyncpg.connect(at.store)
    try:
        for name in DATABASES:
            await store.execute("SELECT nl_catalog.unregister($1)", name)
        await store.execute("TRUNCATE pgparley.question CASCADE")
    finally:
        await store.close()
    sales = await asyncpg.connect(at.site.cluster.dsn("sales"))
    try:
        await sales.execute("ALTER TABLE orders RENAME COLUMN gross_amount TO gross_sales")
    finally:
        await sales.close()


async def _people(made: Place) -> None:
    """Dora, an nl_admin whom the page can tell from others by her password."""
    running = made.site.cluster
    admin = await asyncpg.connect(running.dsn())
    try:
        await admin.execute(f"CREATE ROLE dora LOGIN IN ROLE nl_admin PASSWORD '{PASSWORD}'")
        hba = running.data_dir / "pg_hba.conf"
        hba.write_text("local all dora scram-sha-256\n" + hba.read_text("utf-8"), encoding="utf-8")
        await admin.execute("SELECT pg_reload_conf()")
    finally:
        await admin.close()


def _configure(made: Place, model: str) -> None:
    running = made.site.cluster
    text = _CONFIG.format(
        socket_dir=running.socket_dir,
        port=running.port,
        listen_port=made.site.port,
        engine_socket=made.site.engine_socket,
        store=running.dsn(STORE, STORE_ROLE),
        login=running.dsn(user=CATALOG_ROLE),
        page_port=made.page.rpartition(":")[2],
    )
    if model:
        text += f'\n[model]\nbase_url = "{model}"\ngrammar = "structured_outputs"\n'
    made.site.config.write_text(text, encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
