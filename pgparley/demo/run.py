"""`pgparley demo`: from nothing to five answered questions in a real psql, by the commands that users have."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path

import asyncpg
from rich.console import Console

from pgparley import cluster as postgres
from pgparley.demo.asking import ask_all, talk
from pgparley.demo.loading import SampleError
from pgparley.demo.prepare import DBA, STORE, let_dba_sign_in, prepare
from pgparley.demo.questions import QUESTIONS
from pgparley.demo.serving import pgparley, serving
from pgparley.demo.site import Site
from pgparley.plugins import embedded_model
from pgparley.private_file import private
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.personal import personal_by_name
from schema_catalog.types import EVERYONE, Column

ENOUGH = 4
"""Questions of the five whose database and rows must be right for the demo to succeed."""

_CONFIG = """\
[gateway]
upstream_host = "{socket_dir}"
upstream_port = {port}
listen_port = {listen_port}
nl_timeout = 240.0

[engine]
socket = "{engine_socket}"
store = "{store}"

[catalog]
login = "{login}"

[limits]
timeout = 240.0

[page]
listen = "{page}"
"""

_PSQLRC = """\
\\set QUIET 1
\\pset linestyle unicode
\\pset columns 100
\\x auto
\\unset QUIET
"""
"""Answers as they are read best in 100 columns."""


async def run(cache: Path, *, keep: bool) -> int:
    """Runs the demo and returns its exit code: 0 where at least `ENOUGH` questions were answered rightly.

    Whatever goes wrong, nothing of it stays running.
    """
    console = Console(highlight=False, soft_wrap=True)
    home, taken = take_folder(cache)
    console.rule("1. The language model")
    model = await asyncio.to_thread(embedded_model().fetch, cache / "models")
    console.print(f"{model.name} is in {model.parent}")
    console.rule("2. PostgreSQL and five sample databases")
    ports = _free_port(GATEWAY_PORT, console), _free_port(PAGE_PORT, console)
    site = Site(home, postgres.start(home / "postgres"), *ports)
    console.print(f"PostgreSQL listens on the Unix socket {site.cluster.socket_dir}")
    kept = False
    try:
        right = await _shown(site, console, taken, keep=keep)
        kept = keep
    except (RuntimeError, SampleError, OSError, asyncpg.PostgresError) as problem:
        console.print(f"pgparley demo: {problem}", markup=False)
        return 1
    finally:
        if not kept:
            postgres.stop(site.cluster)
    return 0 if right >= ENOUGH else 1


async def _shown(site: Site, console: Console, taken: int, *, keep: bool) -> int:
    """Everything that the server is there for; how many questions were answered rightly."""
    databases = await prepare(site.cluster, console)
    password = await let_dba_sign_in(site.cluster)
    configure(site)
    console.rule("3. The catalog")
    await register(site, databases)
    console.rule("4. The gateway, the engine and the model")
    async with serving(site, console, keep=keep, taken=taken):
        console.rule("5. Five questions through psql")
        right = await ask_all(site, console)
        console.rule("6. A question that is asked back, and one that is not answered")
        talked = await talk(site, console)
    _say_how_to_connect(site, console, password, keep=keep)
    console.print(f"\n{right} of {len(QUESTIONS)} questions: the right database first and the right rows.")
    if not talked:
        console.print("The last two went another way than they should.")
    return right


def take_folder(cache: Path) -> tuple[Path, int]:
    """The first of `demo`, `demo-2`, … in which no other demo runs, and the file that says so while it is open.

    What `pgparley serve` inherits of it stays open: a demo that was kept loses its folder to no other.
    """
    for number in count(1):
        home = cache / ("demo" if number == 1 else f"demo-{number}")
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        taken = os.open(home / "taken", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with suppress(BlockingIOError):
            fcntl.flock(taken, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return home, taken
        os.close(taken)
    raise AssertionError


def configure(site: Site) -> None:
    """Writes the configuration file."""
    text = _CONFIG.format(
        socket_dir=site.cluster.socket_dir,
        port=site.cluster.port,
        listen_port=site.port,
        engine_socket=site.engine_socket,
        store=site.cluster.dsn(STORE, STORE_ROLE),
        login=site.cluster.dsn(user=CATALOG_ROLE),
        page=f"127.0.0.1:{site.page_port}" if site.page_port else "",
    )
    site.psqlrc.write_text(_PSQLRC, encoding="utf-8")
    private(site.config).write_text(text, encoding="utf-8")


GATEWAY_PORT, PAGE_PORT = 6432, 6480
"""PgBouncer's port, and the page's of the documents."""


def _free_port(wanted: int, console: Console) -> int:
    """`wanted`, or a free one where that is taken; the console is told."""
    for port in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            found = int(probe.getsockname()[1])
            if found != wanted:
                console.print(f"Port {wanted} is taken, by another demo perhaps; this one takes {found}.")
            return found
    raise OSError("no free port")


_ALL_TEXT = """
    SELECT c.element, c."table", c."column", c.type
    FROM nl_catalog.columns c JOIN nl_catalog.tables t USING (database, schema, "table")
    WHERE t.kind NOT IN ('view', 'foreign table') AND c.type ~ '^(text|character|name)'
"""


_FORGET = "DELETE FROM pgparley.question; DELETE FROM pgparley.learned_example; DELETE FROM pgparley.learned_adapter"


async def register(site: Site, databases: tuple[tuple[str, str], ...]) -> None:
    """`pgparley catalog add` or `refresh` for each database; its text may go to the model, except for personal data.

    What was asked and chosen before is forgotten: a demo shows what anybody is answered. Each asker logs in there under
    their own name: it is the server behind the gateway, so names mean the same people.
    """
    listed = await pgparley(site, "catalog", "list", "--json")
    for name, dsn in databases:
        command = ["refresh", name] if f'"{name}"' in listed else ["add", name, "--dsn", dsn]
        sys.stdout.write(await pgparley(site, "catalog", *command))
        sys.stdout.write(await pgparley(site, "catalog", "login", name, EVERYONE))
    store = await asyncpg.connect(site.cluster.dsn(STORE, STORE_ROLE), timeout=10)
    try:
        allowed = [
            (row["element"],)
            for row in await store.fetch(_ALL_TEXT)
            if personal_by_name(row["table"], Column(row["column"], row["type"])) is None
        ]
        await store.executemany("SELECT nl_catalog.allow_values($1)", allowed)
        await store.execute(_FORGET)
    finally:
        await store.close()
    # Reads the values that are allowed now.
    sys.stdout.write(await pgparley(site, "catalog", "refresh"))


def _say_how_to_connect(site: Site, console: Console, password: str, *, keep: bool) -> None:
    console.rule("7. Your turn")
    console.print(f"Databases, configuration and log are in {site.home}")
    if not keep:
        console.print(
            "make demo ARGS=--keep leaves everything running. Then connect with any PostgreSQL client:"
        )
        console.print(f"  PSQLRC={site.psqlrc} {site.psql} {site.uri}")
        return
    console.print("Everything is still running. Connect with any PostgreSQL client, for example:")
    console.print(f"  PSQLRC={site.psqlrc} {site.psql} {site.uri}")
    console.print("  NL: $$how many airports are there in Iceland?$$;")
    console.print("The page for DBAs, where questions can be tried as the analyst, too:")
    console.print(f"  {site.page} role {DBA}, password {password}", markup=False)
    console.print("Stop it:")
    console.print(
        f"  kill $(cat {site.pid_file}); kill -INT $(head -1 {site.cluster.data_dir / 'postmaster.pid'})"
    )
