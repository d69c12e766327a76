"""Runs the benchmark: see `benchmarks.quality.first_hour`.

python -m benchmarks.quality.first_hour [--json FILE]
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import asyncpg
import yaml
from rich.console import Console

from benchmarks.harness.command import plain_parser, told_command
from benchmarks.harness.machine import ROOT
from benchmarks.harness.processes import free_port
from benchmarks.harness.report import Part, Run, Summary, write_result
from benchmarks.quality.day.__main__ import Judged, forgotten, judged
from benchmarks.quality.day.asking import by_psycopg
from engine.values.proportion import Share
from pgparley import cluster as postgres
from pgparley.config import cache_dir
from pgparley.demo.prepare import ANALYST, STORE, prepare
from pgparley.demo.run import configure
from pgparley.demo.serving import pgparley, serving
from pgparley.demo.site import Site
from schema_catalog.login_rights import CATALOG_ROLE
from schema_catalog.types import EVERYONE

MODULE = "benchmarks.quality.first_hour"
OWN = ROOT / "tests" / "fixtures" / "own_database"
FILES = ("questions.yaml", "set_aside.yaml")
STATES = {
    "before": "",
    "proposals": "SELECT nl_catalog.accept_joins('own')",
    "hour": Path(__file__).with_name("knowledge.sql").read_text(encoding="utf-8"),
}
"""What is said to the catalog before the questions are asked, each on top of the one before."""


async def main() -> int:
    """Measures, prints, writes what the command line asks for; returns the exit status."""
    made = plain_parser(MODULE, __doc__)
    made.add_argument(
        "--work", type=Path, default=cache_dir() / "bench-first-hour", help="for the database and catalog"
    )
    given = made.parse_args()
    console = Console(width=160)
    given.work.mkdir(parents=True, exist_ok=True)
    asked = [
        {"question": each["question"], "database": "own", "right": [each["sql"]], "file": file}
        for file in FILES
        for each in yaml.safe_load((OWN / file).read_text(encoding="utf-8"))
    ]
    site = Site(given.work, await asyncio.to_thread(postgres.start, given.work / "postgres"), free_port())
    try:
        found = await _in_all_states(site, asked, console)
    finally:
        await asyncio.to_thread(postgres.stop, site.cluster)
    flat = summary(asked, found)
    rows = [
        {
            "question": each["question"],
            "file": each["file"],
            **{name: some[n].place for name, some in found.items()},
        }
        for n, each in enumerate(asked)
    ]
    for row in rows:
        console.print(row)
    console.print(flat)
    if given.json is not None:
        run = Run("first_hour", told_command(MODULE, sys.argv[1:]), given.seed, {"k": "the default"})
        write_result(given.json, run, {"first_hour": Part(len(asked), rows, flat)})
    return 0


async def _in_all_states(
    site: Site, asked: Sequence[dict[str, object]], console: Console
) -> dict[str, list[Judged]]:
    await forgotten(site, "own", STORE)
    await prepare(site.cluster, console, ())
    await _load(site)
    configure(site)
    sys.stdout.write(
        await pgparley(site, "catalog", "add", "own", "--dsn", site.cluster.dsn("own", CATALOG_ROLE))
    )
    sys.stdout.write(await pgparley(site, "catalog", "login", "own", EVERYONE))
    found = {}
    async with serving(site, console, keep=False):
        for name, knowledge in STATES.items():
            store = await asyncpg.connect(site.cluster.dsn(STORE), timeout=10)
            try:
                await store.execute(knowledge or "SELECT 1")
            finally:
                await store.close()
            # The values that are allowed now; the engine hears of it by itself.
            await pgparley(site, "catalog", "refresh", "own")
            await asyncio.sleep(SETTLED)
            shown = await by_psycopg(site, [str(each["question"]) for each in asked], "own")
            found[name] = await judged(site, asked, shown)
            console.print(
                f"{name}: {sum(each.place == 1 for each in found[name])} of {len(asked)} right first"
            )
    return found


SETTLED = 3.0
"""Seconds in which the engine has heard of a change to the catalog."""


async def _load(site: Site) -> None:
    """The database, which analyst and catalog may read."""
    server = await asyncpg.connect(site.cluster.dsn(), timeout=10)
    try:
        await server.execute("CREATE DATABASE own TEMPLATE template0 ENCODING 'UTF8'")
    finally:
        await server.close()
    own = await asyncpg.connect(site.cluster.dsn("own"), timeout=10)
    try:
        await own.execute((OWN / "schema.sql").read_text(encoding="utf-8"))
        for schema in ("erp", "crm"):
            await own.execute(f"GRANT USAGE ON SCHEMA {schema} TO {ANALYST}, {CATALOG_ROLE}")
            await own.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {ANALYST}, {CATALOG_ROLE}")
    finally:
        await own.close()


def summary(asked: Sequence[dict[str, object]], found: dict[str, list[Judged]]) -> Summary:
    """Right first and right shown of all questions in each state, with the bounds of the first; of those set aside."""
    flat: dict[str, float | None] = {}
    for name, some in found.items():
        first = sum(each.place == 1 for each in some)
        flat[f"{name}_first"] = first / len(some)
        flat[f"{name}_first_from"], flat[f"{name}_first_to"] = Share(first, len(some)).interval()
        flat[f"{name}_shown"] = sum(each.place is not None for each in some) / len(some)
        aside = [each for one, each in zip(asked, some, strict=True) if one["file"] == FILES[1]]
        flat[f"{name}_aside_first"] = sum(each.place == 1 for each in aside) / len(aside)
    return flat


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
