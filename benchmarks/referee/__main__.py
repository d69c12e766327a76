"""Milliseconds that the referee takes for joins of up to eight tables, and the event loop's longest pause meanwhile.

python -m benchmarks.referee DSN        # a superuser's, of a database in which a schema may be made and dropped
"""

from __future__ import annotations

import asyncio
import sys
import time

import asyncpg

from engine.guard import BUILT_IN
from engine.guard.analyse import analyse
from engine.statement.printing.names import Names, Relation
from engine.statement.printing.statement import Printed, PrintingError, placed, printed
from engine.upstream.referee import agree, plan

ROUNDS = 40
MOST = 8
COLUMNS = ("id", "up", "n", "t")
LEVELS = 60
GROWING = [
    ("nullif(", ", 1)"),
    ("(", " BETWEEN SYMMETRIC 1 AND 2)::int"),
    ("CASE ", " WHEN 1 THEN 2 WHEN 3 THEN 4 END"),
]


def statement(tables: int) -> str:
    """A join with a sum, a list and a NULLIF."""
    joins = "".join(f" JOIN t{n} ON t{n}.up = t{n - 1}.id" for n in range(1, tables))
    return (
        f"SELECT t0.t, sum(t0.n) / nullif(count(*), 0) FROM t0{joins} "  # noqa: S608 - ours
        "WHERE t0.n BETWEEN 1 AND 5 AND t0.t IN ('a', 'b') GROUP BY t0.t ORDER BY 2 DESC LIMIT 3"
    )


async def measured(dsn: str) -> None:
    """Prints the figures."""
    names = Names(
        {f"t{n}": "referee_cost" for n in range(MOST)},
        tuple(Relation("referee_cost", f"t{n}", COLUMNS) for n in range(MOST)),
    )
    connection = await asyncpg.connect(dsn)
    await connection.execute("DROP SCHEMA IF EXISTS referee_cost CASCADE; CREATE SCHEMA referee_cost")
    for n in range(MOST):
        await connection.execute(
            f"CREATE TABLE referee_cost.t{n} (id int PRIMARY KEY, up int, n numeric, t text)"
        )
    version = connection.get_server_version().major
    for tables in (1, 2, 4, MOST):
        framed = printed(analyse(statement(tables)), names, BUILT_IN)
        text = placed(framed, names, typed=True)
        taken = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            assert await agree(connection, await plan(connection, framed.text), text, names, version)  # type: ignore[arg-type]  # noqa: S101
            taken.append((time.perf_counter() - started) * 1000)
        taken.sort()
        least, median, late = (taken[place] for place in (0, ROUNDS // 2, ROUNDS * 95 // 100))
        print(f"{tables} tables: least {least:.2f} ms, median {median:.2f} ms, p95 {late:.2f} ms")
    await connection.execute("DROP SCHEMA referee_cost CASCADE")
    await connection.close()
    for before, behind in GROWING:
        nested = "SELECT " + before * LEVELS + "n" + behind * LEVELS + " FROM t0"  # noqa: S608 - ours
        framed = printed(analyse(nested), names, BUILT_IN)
        print(f"{before}…: longest pause {await longest_pause(framed, names):.1f} ms")


async def longest_pause(framed: Printed, names: Names) -> float:
    """Milliseconds by which the event loop was late at most while the statement was printed."""
    task = asyncio.create_task(asyncio.to_thread(placed, framed, names, typed=True))
    longest = 0.0
    while not task.done():
        started = time.perf_counter()
        await asyncio.sleep(0.001)
        longest = max(longest, time.perf_counter() - started - 0.001)
    try:
        await task
    except PrintingError:
        return longest * 1000
    return longest * 1000


asyncio.run(measured(sys.argv[1]))
