"""How often each rule adds a reading to a statement, and how often that is right. Fits and writes nothing.

    python -m training.rule_rates --bench FOLDER --work FOLDER [--n N] [--lists FILE]

Statements are the known ones of Spider's training questions, where a reading with other rows is wrong; those made wrong
of these by rule (`training.mutations`), where it may be right; and with `--lists` those that the language model wrote
for questions of `training.certainty_lists`, as they are. Readings that two rules made together are left out. Normal
forms, which change no rows, and repairs, which need a refused statement, are not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from benchmarks.quality.candidates.questions import Item, read_items
from engine.core.elements import WHOLE_TABLE
from engine.linking.mentions import mentioned_tables
from engine.rewrite.driver import Rewritten, readings
from engine.rewrite.rule import Context, RuleKind
from engine.rewrite.rules import RULES
from schema_catalog.types import Snapshot
from training.conditions import QUESTIONS, snapshots
from training.mutations import mutations
from training.ranker import asked_for
from training.ranker_lists import Judge, loaded
from training.value_thresholds import Ready, add_options, drawn, ready

WRONG = 3
"""Statements made wrong of a known one."""

NAMES = tuple(rule.name for rule in RULES if rule.kind is RuleKind.READING)


class Source(StrEnum):
    """Where a statement is from."""

    KNOWN = "known"
    MADE_WRONG = "made wrong"
    WRITTEN = "written by the model"


@dataclass(frozen=True, slots=True)
class Read:
    """A reading beside what it was made of, and whether each gives the known rows."""

    source: Source
    database: str
    rule: str
    before: bool
    after: bool


def context(each: Ready) -> Context:
    """What rules may look at, as the generate stage has it; no table is secured."""
    route = each.route
    similarity = {
        table.key: max(
            (e.similarities.get((*table.key, WHOLE_TABLE), -1.0) for e in route.entities), default=-1.0
        )
        for table in route.snapshot.tables
    }
    question = each.item["question"]
    mentioned = mentioned_tables(question, route.snapshot)
    return Context(route.snapshot, question, route.values, mentioned, similarity)


def made(sql: str, given: Context) -> Iterator[tuple[str, str]]:
    """(rule, its reading of `sql`) of the readings that one rule made."""
    for each in readings(Rewritten(sql), given):
        if len(each.changes) == 1:
            yield each.changes[0].rule, each.sql


def read(
    each: Ready, statements: Sequence[tuple[Source, str]], judge: Judge
) -> tuple[list[tuple[Source, bool]], list[Read]]:
    """The statements that run, with whether they are right, and the readings of these that run."""
    given = context(each)
    pairs = [(source, sql, *found) for source, sql in statements for found in made(sql, given)]
    texts = list(dict.fromkeys([*(sql for _, sql in statements), *(after for *_, after in pairs)]))
    judged = judge.verdicts(each.item, texts)
    if judged is None:
        return [], []
    verdicts = {text: right for text, (right, runs) in zip(texts, judged, strict=True) if runs}
    counted = [(source, verdicts[sql]) for source, sql in statements if sql in verdicts]
    return counted, [
        Read(source, each.item["db"], rule, verdicts[sql], verdicts[after])
        for source, sql, rule, after in pairs
        if sql in verdicts and after in verdicts
    ]


def table(statements: Iterable[tuple[Source, bool]], found: Iterable[Read]) -> Iterator[dict[str, object]]:
    """Of each source how many statements are right and wrong; of each rule there what became of what it read.

    `spoilt`: the statement is right, the reading is not; `mended`: the other way round.
    """
    groups: dict[tuple[Source, str], list[Read]] = defaultdict(list)
    for one in found:
        groups[one.source, one.rule].append(one)
    counted = list(statements)
    for source in Source:
        verdicts = [right for where, right in counted if where is source]
        yield {"source": source, "right": sum(verdicts), "wrong": len(verdicts) - sum(verdicts)}
        for name in NAMES:
            reads = groups[source, name]
            yield {
                "source": source,
                "rule": name,
                "databases": len({each.database for each in reads}),
                "of_right": sum(each.before for each in reads),
                "spoilt": sum(each.before and not each.after for each in reads),
                "of_wrong": sum(not each.before for each in reads),
                "mended": sum(each.after and not each.before for each in reads),
            }


def written(file: Path) -> dict[str, list[str]]:
    """Question's id → the statements that the model wrote for it as it is."""
    lists = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return {
        each["id"].removeprefix("plain:"): each["statements"] for each in lists if each["kind"] == "plain"
    }


def _statements(
    item: Item, snapshot: Snapshot, lists: Mapping[str, Sequence[str]]
) -> list[tuple[Source, str]]:
    right = asked_for(item)
    wrong = mutations(right, snapshot, WRONG, item["id"])
    return [
        (Source.KNOWN, item["gold"]),
        *((Source.MADE_WRONG, sql) for sql in wrong),
        *((Source.WRITTEN, sql) for sql in lists.get(item["id"], ())),
    ]


async def _run(options: argparse.Namespace) -> None:
    lists = written(options.lists) if options.lists else {}
    schemas = snapshots(options.bench)
    chosen = {item["id"] for item in drawn(options.bench, options)} | lists.keys()
    items = [item for item in read_items(options.bench / QUESTIONS) if item["id"] in chosen]
    counted: list[tuple[Source, bool]] = []
    found: list[Read] = []
    async with loaded(options.bench, options.work) as dsn:
        judge = Judge(options.bench, dsn)
        for each in await ready(dsn, items, schemas):
            statements = _statements(each.item, each.route.snapshot, lists)
            more, reads = await asyncio.to_thread(read, each, statements, judge)
            counted += more
            found += reads
    for line in table(counted, found):
        sys.stdout.write(json.dumps(line) + "\n")


def main() -> int:
    """Prints the counts, a line each in JSON; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_options(parser, 700)
    parser.add_argument("--lists", type=Path, help="what training.certainty_lists recorded")
    asyncio.run(_run(parser.parse_args()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
