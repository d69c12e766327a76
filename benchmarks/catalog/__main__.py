"""Runs the benchmark: see `benchmarks.catalog`.

    python -m benchmarks.catalog [--only large,joins,terms,hundreds] [--rounds N] [--json FILE]

`terms` and `hundreds` need the embedded model, `terms` is resumable; `joins` needs the data alone, `large` not even
that.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.catalog import hundreds, joins, large, terms
from benchmarks.harness.command import Options, measuring, parser, told_command
from benchmarks.harness.questions import DEFOG
from benchmarks.harness.report import Grid, Part, Run, printed, shown, write_result
from benchmarks.harness.site import DATA, load, prepared
from pgparley import cluster

MODULE = "benchmarks.catalog"
PARTS = ("large", "joins", "terms", "hundreds")


@dataclass(frozen=True, slots=True)
class CatalogOptions(Options):
    """Those of every benchmark; `only`: the parts that are measured; `rounds`: of each page and statement."""

    only: str
    rounds: int


def main() -> int:
    """Measures, prints the tables, returns the exit status (2: no data, wrong options, another run; 130: stopped)."""
    made = parser(MODULE, __doc__, k=3)
    made.add_argument("--only", default=",".join(PARTS), help=f"comma-separated, of {', '.join(PARTS)}")
    made.add_argument("--rounds", type=int, default=20)
    return measuring(made, CatalogOptions, _run)


async def _run(options: CatalogOptions, console: Console) -> None:
    config = {"k": options.k, "rounds": options.rounds}
    run = Run("catalog", told_command(MODULE, sys.argv[1:]), options.seed, config)
    only = options.only.split(",")
    if unknown := set(only) - set(PARTS):
        raise ValueError(f"no part {', '.join(sorted(unknown))}: there are {', '.join(PARTS)}")
    for name in only:
        match name:
            case "large":
                part = await _large(options.rounds, console)
            case "joins":
                part = await _joins(options.bench, console)
            case "hundreds":
                part = await _hundreds(options, console)
            case _:
                if (found := await _terms(options, console)) is None:
                    continue
                part = found
        console.print(dict(part.summary))
        if options.json is not None:
            write_result(options.json, run, {name: part})


async def _large(rounds: int, console: Console) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        running = await asyncio.to_thread(cluster.start, Path(folder) / "pg")
        try:
            await large.fill(running.dsn())
            pages = await large.measured(running, rounds)
            views = await large.read(running.dsn(), rounds)
            took = await large.imported(running.dsn())
        finally:
            await asyncio.to_thread(cluster.stop, running)
    grids = [_milliseconds("pages", pages), _milliseconds("views", views)]
    printed(console, grids)
    searches = [statistics.median(each) for name, each in pages if name.startswith("search")]
    told = [statistics.median(each) for name, each in views if name != "all columns"]
    summary = {
        "views_ms_100k_columns": 1000 * max(told),
        "search_ms_100k_columns": 1000 * max(searches),
        "import_s_5000": took,
    }
    return Part(rounds, {"pages": dict(pages), "views": dict(views)}, summary)


def _milliseconds(title: str, found: Sequence[tuple[str, Sequence[float]]]) -> Grid:
    rows = [
        (name, f"{1000 * statistics.median(each):.0f}", f"{1000 * max(each):.0f}") for name, each in found
    ]
    return Grid(title, ("what", "median, ms", "at most"), rows)


async def _joins(bench: Path, console: Console) -> Part:
    with tempfile.TemporaryDirectory() as folder:
        running = await asyncio.to_thread(cluster.start, Path(folder) / "pg")
        try:
            await prepared(running, DATA)
            await asyncio.to_thread(load, running, bench, ("spider",))
            spider = await joins.of_spider(running, bench)
        finally:
            await asyncio.to_thread(cluster.stop, running)
    found = {
        f"{name}, {half}": counts
        for name, halves in (("spider", spider), ("pool", joins.of_pool(bench)))
        for half, counts in (
            ("looked at", halves[0]),
            ("other half", halves[1]),
            ("all", halves[0] + halves[1]),
        )
    }
    columns = ("databases", "n", "proposed", "contradicted", "declared", "precision, %", "recall, %")
    rows = [
        (
            name,
            *map(str, (each.databases, each.proposed, each.contradicted, each.declared)),
            *(f"{100 * share:.1f}" for share in (each.precision, each.recall)),
        )
        for name, each in found.items()
    ]
    printed(console, [Grid("proposed joins", columns, rows)])
    summary = {
        f"joins_{prefix}{what}": getattr(found[f"{name}, other half"], what)
        for name, prefix in (("spider", ""), ("pool", "pool_"))
        for what in ("precision", "recall")
    }
    told = {
        name: {**asdict(each), "precision": each.precision, "recall": each.recall}
        for name, each in found.items()
    }
    return Part({name: each.declared for name, each in found.items()}, told, summary)


async def _hundreds(options: Options, console: Console) -> Part:
    found = await hundreds.measured(options, console)
    rows = [
        (arm, each.question, f"{each.seconds:.1f}", f"{each.prefilled}", str(each.first), each.said)
        for arm, some in found.items()
        for each in some
    ]
    columns = ("tables", "question", "processor, s", "tokens read", "first right", "refused")
    printed(console, [Grid("questions over hundreds of tables", columns, rows)])
    told = {arm: [asdict(each) for each in some] for arm, some in found.items()}
    return Part(len(rows), told, hundreds.summary(found))


async def _terms(options: Options, console: Console) -> Part | None:
    found = await terms.measured(options, console)
    if found is None:
        return None
    rows = found.rows.get(DEFOG.name, ())
    told = [
        (e.system, str(e.n), shown(e.acc1), shown(e.set_acc), shown(e.gain_acc1), shown(e.gain_set))
        for e in rows
    ]
    columns = ("term", "n", "first right", "in the set", "gain by it, first", "in the set")
    printed(console, [Grid("terms of the business", columns, told)])
    without = found.find(DEFOG.name, terms.WITHOUT)
    gain = None if without is None or without.gain_acc1 is None else without.gain_acc1.value
    n = {each.system: each.n for each in rows}
    commits = found.commits(DEFOG.name) if rows else []
    return Part(n, [asdict(each) for each in rows], {"terms_gain_defog": gain}, commits)


if __name__ == "__main__":
    sys.exit(main())
