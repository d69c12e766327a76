"""Literals that exist: `python -m benchmarks.quality.literals --bench FOLDER --wordnet FOLDER --work FOLDER`.

Prints how often a literal of a training question's right statement, distorted by a seeded recipe, comes back as the
stored value, by way to distort and number of values in the column (`--folds`: of databases in these folds alone); and,
with `--model FILE`, what the lists cost. No development set is read, no language model is run. `--work` keeps a
PostgreSQL with Spider's databases.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import asyncpg

from benchmarks.quality.literals import cost, gain
from benchmarks.quality.literals.distortions import synonyms
from benchmarks.quality.routing.folds import FOLDS, fold_of
from engine.models.encoder import MiniLMEncoder
from pgparley import cluster

DATABASE = "bench"


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of data.noun and its kin")
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="the embedded model's file, for its vocabulary")
    parser.add_argument("--folds", type=int, nargs="+", default=list(range(FOLDS)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--examples", type=int, default=0, help="of each outcome but the right one")
    options = parser.parse_args()
    words, encoder = synonyms(options.wordnet), MiniLMEncoder()
    if options.model is not None:
        print(cost.table(cost.costs(options.model, words, encoder, options.rounds)))
        return
    running = cluster.start(options.work / "postgres")
    try:
        asyncio.run(_load(running, options.bench))
        literals, others = asyncio.run(gain.stored_literals(options.bench, running.dsn(DATABASE)))
    finally:
        cluster.stop(running)
    drawn = [each for each in literals if fold_of(each.database) in options.folds]
    found = list(gain.verdicts(drawn, words, encoder, options.seed))
    print(f"{len(literals)} literals; {others} do not occur, or in a column of too many values\n")
    print(gain.table(found))
    _print_examples(found, options.examples)


async def _load(running: cluster.Cluster, bench: Path) -> None:
    connection = await asyncpg.connect(running.dsn())
    known = await connection.fetchval("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", DATABASE)
    if not known:
        await connection.execute(f"CREATE DATABASE {DATABASE}")
    await connection.close()
    command = [sys.executable, str(bench / "load.py"), "--dsn", running.dsn(DATABASE), "--what", "spider"]
    await asyncio.to_thread(subprocess.run, command, check=True, capture_output=True)


def _print_examples(found: Sequence[gain.Verdict], count: int) -> None:
    chance = random.Random(0)  # noqa: S311  a draw of examples
    for outcome in gain.OUTCOMES[1:]:
        some = [each for each in found if each.outcome == outcome]
        for each in chance.sample(some, min(count, len(some))):
            print(f"{outcome} | {each.how} | {each.written} | {each.stored} | {each.found}")


if __name__ == "__main__":
    main()
