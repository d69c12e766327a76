"""Whether another database serves a question as well: what of its gold elements is said stands there by name too.

Owns the share of misses that no router can help, since the question says nothing that tells the two apart. By words
alone, so it is an estimate: a synonym in the schema is not seen, nor a word that means something else there.

    python -m training.twins --bench FOLDER --folds FOLDER
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.quality.routing.collection import Item, read_items, read_views
from benchmarks.quality.routing.folds import Leg, Outcome, Variant, measured
from engine.text.tokens import identifier_words, question_words
from schema_catalog.types import Snapshot
from training.router import QUESTIONS

AMONG = 166


def serves(snapshot: Snapshot, item: Item, question: str) -> bool:
    """Whether `snapshot` has, for each gold element, one that holds the words of it that are said in `question`.

    A column counts with the words of its table. A column of which nothing is said must be there by its whole name.
    """
    said = set(question_words(question))
    held = [
        {*identifier_words(table.name), *identifier_words(column.name)}
        for table, column in snapshot.columns()
    ]
    for name in item["columns"] or ():
        table, column = name.split(".", 1)
        whole = set(identifier_words(column))
        wanted = said & (whole | set(identifier_words(table))) or whole
        if not any(wanted <= words for words in held):
            return False
    tables = [said & set(identifier_words(table)) for table in item["tables"]]
    return all(any(wanted <= words for words in held) for wanted in tables)


def misses(
    outcomes: Sequence[Outcome], items: Mapping[str, Item], snapshots: Mapping[str, Snapshot]
) -> tuple[int, int]:
    """Questions whose first database is wrong, and those of them that it serves too."""
    wrong = [each for each in outcomes if each.rank > 1]
    shared = [each for each in wrong if serves(snapshots[each.picked], items[each.id], each.question)]
    return len(wrong), len(shared)


def main() -> int:
    """Prints, for each variant, how many misses are twins'; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument(
        "--folds", type=Path, required=True, help="the journal of training.routing_folds learned"
    )
    given = parser.parse_args()
    items = {str(item["id"]): item for name in QUESTIONS for item in read_items(given.bench / name)}
    snapshots = {snapshot.database: snapshot for snapshot, _ in read_views(given.bench, pool=False)}
    for variant in Variant:
        outcomes = [
            each for fold in measured(given.folds, Leg.LEARNED, variant, AMONG).values() for each in fold
        ]
        wrong, shared = misses(outcomes, items, snapshots)
        print(f"{variant}: {wrong} of {len(outcomes)} wrong, {shared} of them served by the database picked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
