"""How often each rule adds a reading to a right statement, and how often it mends a wrong one. Fits and writes nothing.

    python -m training.rule_rates --bench FOLDER [--n N]

Statements are the known ones of Spider's training questions, where every reading is one too many, and those made wrong
of them by rule (`training.mutations`), where it is right if it says what the known one says
(`engine.ranking.phrases`). Nothing is run and no value is linked, so that the rules about literals do not apply.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.ablations.drawing import in_turns
from benchmarks.quality.candidates.questions import Item, read_items
from engine.linking.mentions import mentioned_tables
from engine.ranking.phrases import phrases
from engine.rewrite.driver import Rewritten, readings
from engine.rewrite.rule import Context, RuleKind
from engine.rewrite.rules import RULES
from schema_catalog.types import Snapshot
from training.conditions import QUESTIONS, snapshots
from training.mutations import mutations
from training.ranker import asked_for

WRONG = 2
"""Statements made wrong of a known one."""

NAMES = tuple(rule.name for rule in RULES if rule.kind is RuleKind.READING)


@dataclass(frozen=True, slots=True)
class Made:
    """A reading. `known`: of the known statement; `mended`: of another, and says what the known one says."""

    database: str
    rule: str
    known: bool
    mended: bool


def made(item: Item, snapshot: Snapshot) -> list[Made]:
    """The readings, of one rule each, of a question's known statement and of those made wrong of it."""
    question, right = item["question"], asked_for(item)
    context = Context(snapshot, question, mentioned=mentioned_tables(question, snapshot))
    meant = frozenset(phrases(right))
    found = []
    for place, sql in enumerate((right, *mutations(right, snapshot, WRONG, item["id"]))):
        for each in readings(Rewritten(sql), context):
            said = frozenset(phrases(each.sql))
            if len(each.changes) == 1 and said != frozenset(phrases(sql)):
                mended = place > 0 and said == meant
                found.append(Made(item["db"], each.changes[0].rule, place == 0, mended))
    return found


def table(found: Iterable[Made]) -> Iterator[dict[str, object]]:
    """A line a rule: readings of known statements, on how many databases; of wrong ones, and how many are mended."""
    groups: dict[str, list[Made]] = defaultdict(list)
    for each in found:
        groups[each.rule].append(each)
    for name in NAMES:
        of_known = [each for each in groups[name] if each.known]
        yield {
            "rule": name,
            "of_known": len(of_known),
            "on_databases": len({each.database for each in of_known}),
            "of_wrong": len(groups[name]) - len(of_known),
            "mended": sum(each.mended for each in groups[name]),
        }


def main() -> int:
    """Prints the counts, a line each in JSON; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument(
        "--n", type=int, default=700, help="questions, as many from each database as there are"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    schemas = snapshots(options.bench)
    items = in_turns(read_items(options.bench / QUESTIONS), options.seed)[: options.n]
    for line in table(one for item in items for one in made(item, schemas[item["db"]])):
        sys.stdout.write(json.dumps(line) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
