"""What known statements say of what their questions ask for, over Spider's training questions.

    python -m benchmarks.quality.contradictions --bench FOLDER [--dsn DSN]

How often a known statement contradicts its question by `engine.ranking.contradictions`; and how often the rule
`group_by_dimension` finds what a statement shows or groups by again, once that is taken out of it. Which values
columns hold is not known here: all texts are taken for words. With a database that holds the questions' data, as
`load.py` of the bench loads them, also of how many known statements for what is counted most the first is one row, and
how many show rows once that would repeat each other.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
from rich.progress import track
from sqlglot import exp

from benchmarks.quality.candidates.command import ROOT
from benchmarks.quality.candidates.questions import read_items
from benchmarks.quality.linking.linked import snapshots_of
from engine.core.elements import ValueList
from engine.core.ports import Encoder
from engine.linking.dimensions import aggregates, asked_dimensions, linked_dimensions
from engine.linking.element_text import linked
from engine.linking.entities import entities
from engine.linking.mentions import mentioned_tables
from engine.linking.numbers import numbers_not_used
from engine.linking.short_names import short_names, short_names_not_used
from engine.models.encoder import MiniLMEncoder
from engine.ranking.contradictions import contradictions
from engine.rewrite.driver import Rewritten, shown_once
from engine.rewrite.rule import Context, Statement
from engine.rewrite.rules.aggregates import SAID, asks_for_total, shown_measure
from engine.rewrite.rules.bounds import comparisons_with, said_bounds
from engine.rewrite.rules.dimensions import group_by_dimension
from engine.rewrite.rules.grouping import is_measure, largest_group, order_by_total
from engine.rewrite.rules.limits import asks_for_all
from engine.rewrite.rules.order import said_direction
from engine.rewrite.rules.references import compared_columns
from engine.rewrite.rules.repetition import SAYS_DIFFERENT
from engine.sql.tree import parsed
from engine.stages.deduplicate import REPEATS
from schema_catalog.types import Snapshot
from schema_catalog.values import TEXT_TYPES

FILES = ("train.jsonl", "train_others.jsonl")


@dataclass(frozen=True, slots=True)
class Known:
    """A question and its known statement."""

    question: str
    snapshot: Snapshot
    sql: str


def known(bench: Path) -> Iterator[Known]:
    """The training questions."""
    snapshots = snapshots_of(bench)
    for file in FILES:
        for item in read_items(bench / "spider" / file):
            yield Known(item["question"], snapshots[item["db"]], item["gold"])


def counted(questions: Iterable[Known], encoder: Encoder) -> Counter[str]:
    """Questions by what is told of them."""
    found: Counter[str] = Counter()
    for each in questions:
        tree = parsed(each.sql)
        if tree is None:
            continue
        found.update(f"says: {form}" for form in forms(tree))
        found.update(f"says: {said.name} by name" for said in SAID if said.word.search(each.question))
        bounded = (number for number in said_bounds(each.question) if comparisons_with(number, tree))
        found.update("says: a number above, below or at an end" for _ in bounded)
        found["asks for all rows"] += asks_for_all(each.question)
        if (
            said_direction(each.question) is not None
            and tree.args.get("order")
            and not tree.args.get("limit")
        ):
            found["says: the direction of all rows"] += 1
        if any(compared_columns(Statement(tree, each.snapshot))):
            found["says: compares columns of two tables"] += 1
        found.update(_of_numbers(each.question, tree))
        found.update(_of_orders(tree, each.snapshot))
        found.update(_of_groups(tree, each.snapshot))
        found.update(_of_totals(each.question, tree, each.snapshot))
        found.update(_of_short_names(each, tree))
        asked = mentioned_tables(each.question, each.snapshot)
        said = contradictions(each.question, each.sql, each.snapshot, asked, texts(each.snapshot))
        found.update({f"contradicts: {' '.join(words.split()[:4])} …" for words in said})
        if not isinstance(tree, exp.Select) or not aggregates(tree) or not asked_dimensions(each.question):
            continue
        if tree.args.get("group"):
            found["asks for groups and has them"] += 1
            if (right := found_again(each, tree, encoder)) is not None:
                found["groups taken out: " + ("found again" if right else "others, or none")] += 1
    return found


def _of_numbers(question: str, tree: exp.Query) -> Iterator[str]:
    if numbers_not_used(question, exp.Select(), ()):
        yield "says a number"
    if numbers_not_used(question, tree, _names(tree)):
        yield "leaves out a number"


def _names(tree: exp.Query) -> list[str]:
    return [each.name for each in tree.find_all(exp.Column, exp.Table)]


def _of_short_names(known: Known, tree: exp.Query) -> Iterator[str]:
    short = short_names(known.question, known.snapshot)
    if short:
        yield "says a word that names are short for"
    if short_names_not_used(short, _names(tree)):
        yield "leaves out a word that names are short for"


def _of_orders(tree: exp.Query, snapshot: Snapshot) -> Iterator[str]:
    """Whether the first rows by a number are those of many, as `order_by_total` takes them, or sums of groups."""
    order = tree.args.get("order")
    if not isinstance(tree, exp.Select) or order is None or not tree.args.get("limit"):
        return
    if order_by_total(Statement(tree.copy(), snapshot), Context(snapshot)) is not None:
        yield "orders: rows of many"
    first = order.expressions[0]
    measured = first.args.get("desc") and tree.args.get("group") and len(order.expressions) == 1
    if measured and isinstance(first.this, exp.Avg):
        yield "orders: averages of groups"
    elif measured and isinstance(first.this, exp.Sum) and not _shows_numbers(tree):
        yield "orders: sums of groups, not shown"


def _of_totals(question: str, tree: exp.Query, snapshot: Snapshot) -> Iterator[str]:
    """What is shown of the one column of numbers that a question asks how many of, as `asked_total` takes it."""
    item = tree.expressions[0].unalias() if isinstance(tree, exp.Select) and tree.expressions else None
    summed = tree.copy()
    if isinstance(item, exp.Sum) and isinstance(item.this, exp.Column):
        summed.set("expressions", [item.this.copy(), *summed.expressions[1:]])
    column = shown_measure(Statement(summed, snapshot))
    if column is not None and asks_for_total(question, column.name):
        yield f"asks how many: {'adds up' if isinstance(item, exp.Sum) else 'shows'} a column of numbers"


def _of_groups(tree: exp.Query, snapshot: Snapshot) -> Iterator[str]:
    """Whether the greatest or least number of each group is shown, without HAVING and LIMIT."""
    if not isinstance(tree, exp.Select) or not tree.args.get("group"):
        return
    if tree.args.get("having") or tree.args.get("limit"):
        return
    scopes = Statement(tree, snapshot).scopes
    items = (item.unalias() for item in tree.expressions)
    if any(isinstance(item, (exp.Max, exp.Min)) and is_measure(item.this, scopes) for item in items):
        yield "shows an extreme number of each group"


def _shows_numbers(select: exp.Select) -> bool:
    return any(item.find(exp.Sum, exp.Count, exp.Avg) for item in select.expressions)


def texts(snapshot: Snapshot) -> tuple[ValueList, ...]:
    """The columns of texts, as if they held a word."""
    return tuple(
        ValueList((*table.key, column.name), ("word",))
        for table in snapshot.tables
        for column in table.columns
        if column.type.split("(")[0] in TEXT_TYPES
    )


def forms(tree: exp.Query) -> Iterator[str]:
    """What of a statement says what one that contradicts its question would say otherwise."""
    selects = list(tree.find_all(exp.Select))
    if tree.find(exp.Intersect):
        yield "both of two, by INTERSECT"
    if tree.find(exp.Except) or any(isinstance(each.parent, exp.Not) for each in tree.find_all(exp.In)):
        yield "none of many, by NOT IN or EXCEPT"
    if isinstance(tree, exp.Select) and len(tree.expressions) > 1:
        yield "shows several"
    if any(each.args.get("order") and each.args.get("limit") for each in selects):
        yield "the first rows of an order"
    if any(each.args.get("group") for each in selects):
        yield "groups"
    if any(each.args.get("group") and _own(each, exp.Count) for each in selects):
        yield "counts rows of groups"
    if any(each.args.get("joins") and _own(each, exp.Sum, exp.Avg) for each in selects):
        yield "adds up rows of joined tables"


def _own(select: exp.Select, *kinds: type[exp.Expr]) -> bool:
    return any(each.parent_select is select for each in select.find_all(*kinds))


def found_again(known: Known, tree: exp.Select, encoder: Encoder) -> bool | None:
    """Whether the rule groups by something that was shown or grouped by; None where it can not be taken out alone."""
    items = tree.expressions
    shown = [each for each in items if not each.find(exp.AggFunc) or isinstance(each.unalias(), exp.Min)]
    numbers = [each for each in items if each not in shown]
    if not numbers or tree.args.get("having") or tree.args.get("order"):
        return None
    keys = {column.name for each in (*shown, tree.args["group"]) for column in each.find_all(exp.Column)}
    rest = tree.copy()
    rest.set("expressions", [each.copy() for each in numbers])
    rest.set("group", None)
    sql = rest.sql(dialect="postgres")
    near = linked(entities(known.question), known.snapshot, encoder)
    context = Context(known.snapshot, known.question, dimensions=linked_dimensions(known.question, near))
    statement = Statement(rest, known.snapshot, sql)
    if group_by_dimension(statement, context) is None:
        return False
    made = {column.name for column in statement.tree.args["group"].find_all(exp.Column)}
    return not made.isdisjoint(keys)


async def run(questions: Iterable[Known], dsn: str) -> Counter[str]:
    """Known statements for what is counted most, those of which the first is one row; what `_repeated` tells."""
    found: Counter[str] = Counter()
    connection = await asyncpg.connect(dsn)
    statements: set[tuple[str, str]] = set()
    try:
        for each in questions:
            tree = parsed(each.sql)
            if tree is None:
                continue
            await connection.execute(
                "SELECT set_config('search_path', quote_ident($1), false)", each.snapshot.database
            )
            largest = largest_group(tree)
            if largest is not None:
                found["run: what is counted most"] += 1
                if await connection.fetchval(largest.sql(dialect="postgres")) == 1:
                    found["run: the most is one row"] += 1
            if (each.snapshot.database, each.sql) not in statements:
                statements.add((each.snapshot.database, each.sql))
                found.update(await _repeated(each, tree, connection))
    finally:
        await connection.close()
    return found


async def _repeated(known: Known, tree: exp.Query, connection: asyncpg.Connection) -> list[str]:
    """How often each row stands in what a known statement shows without DISTINCT, and whether it has that."""
    plain = tree.copy()
    plain.set("distinct", None)
    sql = plain.sql(dialect="postgres")
    context = Context(known.snapshot)
    if SAYS_DIFFERENT.search(known.question) or shown_once(Rewritten(sql), context).sql == sql:
        return []
    rows = await connection.fetch(sql)
    different = len({tuple(map(str, row.values())) for row in rows})
    if len(rows) == different:
        return []
    times = "thrice or more" if len(rows) >= REPEATS * different else "less than thrice"
    return [f"run: each row {times} in the mean, {'DISTINCT' if tree.args.get('distinct') else 'plain'}"]


def main() -> int:
    """Counts and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, default=ROOT.parent / "shared" / "bench")
    parser.add_argument("--dsn", help="of a database with the questions' data")
    options = parser.parse_args()
    questions = list(known(options.bench))
    encoder = MiniLMEncoder()
    encoder.warm_up()
    found = counted(track(questions, "Reading"), encoder)
    if options.dsn:
        found += asyncio.run(run(track(questions, "Running"), options.dsn))
    for told, number in sorted(found.items()):
        print(f"{number:6d}  {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
