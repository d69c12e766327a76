"""What it costs to run statements as the asker: `python -m benchmarks.lending [--rounds 40] [--json FILE]`.

One EXPLAIN and one run of each statement, in the asker's own session through a gateway, under a login of the asker's,
and in the least that a lent role ever took (`SET LOCAL ROLE` on an open connection, with no look at who owns what: not
safe, and here for comparison alone). Rounds are interleaved and shuffled; medians of milliseconds, and ratios of them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import asyncpg
import msgspec
import psycopg
from aiohttp import web

from benchmarks.wire.machine import describe
from engine.core.deadline import Deadline
from engine.settings import UpstreamSettings
from engine.types import AnswerRow, Asker, AskReply, AskRequest, RowKind
from engine.upstream import Databases
from pgparley import cluster
from pgparley.cluster import Cluster
from schema_catalog.identity import read_identity
from schema_catalog.logins import make_login
from schema_catalog.types import Database

SCHEMA = """
CREATE ROLE ana LOGIN;
CREATE TABLE customers (id int PRIMARY KEY, name text, city text);
CREATE TABLE orders (id int PRIMARY KEY, customer_id int REFERENCES customers, placed date, total numeric);
INSERT INTO customers SELECT g, 'customer ' || g, 'city ' || g % 20 FROM generate_series(1, 2000) g;
INSERT INTO orders SELECT g, g % 2000 + 1, date '2024-01-01' + g % 365, g % 500 FROM generate_series(1, 20000) g;
CREATE VIEW big_orders AS SELECT o.*, c.city FROM orders o JOIN customers c ON c.id = o.customer_id WHERE total > 400;
GRANT SELECT ON customers, orders, big_orders TO ana;
ANALYZE;
"""

STATEMENTS = (
    "SELECT count(*) FROM customers",
    "SELECT city, count(*) FROM customers GROUP BY city ORDER BY 2 DESC LIMIT 5",
    "SELECT name, sum(total) FROM customers c JOIN orders o ON customer_id = c.id GROUP BY 1 ORDER BY 2 LIMIT 10",
    "SELECT city, max(total) FROM big_orders GROUP BY city",
    "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE total > 490)",
)

Way = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Ways:
    """The ways that are compared, for one asker."""

    databases: Databases
    database: Database
    asker: Asker
    lender: asyncpg.Connection[asyncpg.Record]

    def all(self) -> dict[str, Way]:
        """Each by its name."""
        return {"lent role": self.role, "login": self.login, "session": self.session}

    async def session(self, sql: str) -> None:
        """In the asker's own session."""
        await self._both(self.asker, sql)

    async def login(self, sql: str) -> None:
        """Under the asker's login."""
        await self._both(replace(self.asker, session=None), sql)

    async def _both(self, asker: Asker, sql: str) -> None:
        deadline = Deadline(time.monotonic() + 30)
        await self.databases.explain(self.database, asker, sql, deadline)
        await self.databases.run(self.database, asker, sql, 2000, deadline)

    async def role(self, sql: str) -> None:
        """Under a role that is lent, without any look."""
        for statement in (f"EXPLAIN (FORMAT JSON) {sql}", sql):
            await self.lender.execute(
                "BEGIN READ ONLY; SET LOCAL statement_timeout = 30000; SET LOCAL lock_timeout = 2000;"
                " SET LOCAL search_path = public; SET LOCAL row_security = on"
            )
            await self.lender.execute("SET LOCAL ROLE ana")
            await self.lender.fetch(statement)
            await self.lender.execute("ROLLBACK")


async def measure(ways: Ways, rounds: int) -> dict[str, list[float]]:
    """Milliseconds of an EXPLAIN and a run together, a figure for each statement and round."""
    taken: dict[str, list[float]] = {name: [] for name in ways.all()}
    order = random.Random(0)  # noqa: S311 - an order, not a secret
    for number in range(rounds + 3):
        for sql in STATEMENTS:
            for name, way in order.sample(list(ways.all().items()), len(taken)):
                started = time.perf_counter()
                await way(sql)
                if number >= 3:  # noqa: PLR2004 - the first rounds warm everything up
                    taken[name].append(1000 * (time.perf_counter() - started))
    return taken


@contextmanager
def gateway(server: Cluster, folder: Path) -> Iterator[Path]:
    """A gateway in a process of its own; gives the directory of its Unix socket."""
    config = folder / "pgparley.toml"
    config.write_text(
        f'[gateway]\nupstream_host = "{server.socket_dir}"\nupstream_port = {server.port}\nlisten_addr = ""\n'
        f'listen_port = 1\nunix_socket_dir = "{folder}"\nruntime_dir = "{folder}"\n'
        f'[engine]\nsocket = "{folder}/engine"\n'
    )
    command = [sys.executable, "-m", "pgparley.processes", "gateway", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while not (folder / ".s.PGSQL.1").exists():
            time.sleep(0.05)
        yield folder
    finally:
        process.terminate()
        process.wait(20)


async def compared(server: Cluster, folder: Path, rounds: int) -> dict[str, list[float]]:
    """Asks through the gateway, and measures while that question is being answered."""
    admin = await asyncpg.connect(server.dsn())
    await admin.execute(SCHEMA)
    found: dict[str, list[float]] = {}

    async def ask(http: web.Request) -> web.Response:
        request = msgspec.json.decode(await http.read(), type=AskRequest)
        database = Database(
            "shop", server.dsn(), "postgres", ("public",), identity=await read_identity(admin)
        )
        database = replace(database, logins=(make_login(database, "ana"),))
        databases = Databases(UpstreamSettings())
        found.update(await measure(Ways(databases, database, request.asker, admin), rounds))
        await databases.aclose()
        row = AnswerRow(1, RowKind.CANDIDATE, "shop", 1.0, "SELECT 1", "", None, "q1")
        return web.Response(body=msgspec.json.encode(AskReply("q1", (row,))), content_type="application/json")

    app = web.Application()
    app.router.add_post("/v1/ask", ask)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.UnixSite(runner, str(folder / "engine")).start()
    with gateway(server, folder):
        dsn = f"host={folder} port=1 user=ana dbname=postgres"
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as ana:
            await ana.execute("NL (timeout 600): measure")
    await runner.cleanup()
    await admin.close()
    return found


def main() -> None:
    """Prints medians and ratios, and writes them where asked to."""
    parser = argparse.ArgumentParser(prog="benchmarks.lending")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    # The gateway's directory is its own alone; the server's has to be open to the server's user.
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryDirectory() as runtime:
        server = cluster.start(Path(data) / "pg")
        try:
            found = asyncio.run(compared(server, Path(runtime), options.rounds))
        finally:
            cluster.stop(server)
    medians = {name: round(statistics.median(figures), 3) for name, figures in found.items()}
    ratios = {name: round(median / medians["lent role"], 2) for name, median in medians.items()}
    for way, median in medians.items():
        print(f"{way:<12} {median:>8.2f} ms   {ratios[way]:>5.2f} x   n = {len(found[way])}")
    if options.json is not None:
        quartiles = {name: [round(each, 3) for each in statistics.quantiles(found[name])] for name in found}
        report = {
            "machine": asdict(describe(Path(__file__).parents[1])),
            "seed": 0,
            "rounds": options.rounds,
            "n": len(found["login"]),
            "milliseconds": medians,
            "quartiles": quartiles,
            "ratios": ratios,
        }
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
