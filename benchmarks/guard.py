"""What the guard costs: `python -m benchmarks.guard`, milliseconds of processor time for each list of statements.

The lists are the golden ones of the tests, and statements as large as the guard's limits let them be.
"""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path

from engine.guard import BUILT_IN, Rules, check
from engine.guard.analyse import MAX_CHARACTERS, MAX_TOKENS

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "guard"
ROUNDS = 5
"""Each statement counts by its quickest round: what else the machine does is not the cost of the guard."""

KNOWN = Rules(
    database="shop",
    types=frozenset((f"s{n % 20}", f"type{n}") for n in range(2_000)),
    functions=frozenset(("public", f"function{n}") for n in range(2_000)),
    callable_fields=frozenset(f"field{n}" for n in range(3_000)),
)
"""Rules as large as those of a big database with PostGIS."""

LARGE = {
    "long list": "SELECT 1 IN (1" + ",1" * ((MAX_TOKENS - 6) // 2) + ")",
    "long text": "SELECT '" + "x" * (MAX_CHARACTERS - 9) + "'",
    "conjunction": "SELECT 1 WHERE " + " AND ".join(["a.b = 1"] * 650),
    "calls": "SELECT " + ", ".join(["upper(lower(a.b))"] * 400),
    "concatenation": "SELECT " + " || ".join(["a"] * 190),
    "nested calls": "SELECT " + "repeat(" * 90 + "'x'" + ", 1)" * 90,
    "nested queries": "SELECT * FROM " + "(SELECT * FROM " * 38 + "t" + ") t" * 38,
    "with queries": "WITH "
    + ", ".join(f"c{n} AS (SELECT a || b AS a, b FROM {f'c{n - 1}' if n else 't'})" for n in range(39))
    + " SELECT * FROM c38",
    "recursive": "WITH RECURSIVE r AS (SELECT "
    + ", ".join(f"c{n}" for n in range(200))
    + " FROM t UNION ALL SELECT "
    + ", ".join(f"c{n} || 'x'" for n in range(200))
    + " FROM r) TABLE r",
    "types": "SELECT " + ", ".join(f"a::type{n}" for n in range(900)),
}


def milliseconds(sql: str, rules: Rules) -> float:
    """The quickest of some checks of one statement."""
    taken = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        check(sql, rules)
        taken.append(time.thread_time() - start)
    return 1000 * min(taken)


def golden(name: str) -> list[str]:
    """The statements of one list."""
    return [block.strip() for block in re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]]


def line(name: str, figures: list[float]) -> str:
    """Median, 99th percentile and maximum of one list."""
    p99 = statistics.quantiles(figures, n=100, method="inclusive")[98]
    return f"{name:<16} {len(figures):>5} {statistics.median(figures):>8.2f} {p99:>8.2f} {max(figures):>8.2f}"


def main() -> None:
    """Prints a line for each list, then one for each large statement."""
    print(f"{'milliseconds':<16} {'n':>5} {'median':>8} {'p99':>8} {'max':>8}")
    for name in ("honest.sql", "allowed.sql", "refused.sql"):
        print(line(name, [milliseconds(sql, KNOWN) for sql in golden(name)]))
    large = {name: milliseconds(sql, KNOWN) for name, sql in LARGE.items()}
    print(line("large", list(large.values())))
    for name, figure in large.items():
        print(f"  {name:<20} {figure:>8.2f}")
    print(f"{'without rules':<16} {milliseconds(LARGE['calls'], BUILT_IN):.2f}")


if __name__ == "__main__":
    main()
