"""Makes ambiguous questions of Spider's training part, in the format of the benchmark's AmbiQT files.

    python -m training.ambiguous --bench FOLDER --wordnet FOLDER --work FOLDER --out FILE --n 150 --seed 0

They are for fitting when to ask back: AmbiQT itself stays a test. A third each: a column under two names, a table
under two names, a column that also stands in a table of its own. Every question has a word for what was made ambiguous,
and every one was run: each gold gives the base gold's rows where both interpretations exist and where its own does,
and not where the other one does. The databases are those that the ranker's network was not trained on, and take turns.

Owns the drawing, the checks and the file. No question is made on a test's databases.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.harness.drawing import Item, in_turns, read_items, unfitted
from benchmarks.harness.questions import AMBIQT, SPIDER, TRAIN, Judge, QuestionSet
from benchmarks.harness.report import write_lines
from benchmarks.harness.schemas import snapshots
from benchmarks.harness.scorer import Scorer
from benchmarks.harness.site import site
from engine.models.encoder import MiniLMEncoder
from training.command import parser
from training.elements import Ambiguous, Author, Kind
from training.renaming import Renamer
from training.wordnet import WordNet, writable


def held(made: Sequence[Ambiguous], bench: Path, dsn: str, folder: Path) -> list[Ambiguous]:
    """Those of which the benchmark's scorer says what the module's docstring promises."""
    lines = [each.line() for each in made]
    together = [line | {"ddl_1": line["ddl_both"], "ddl_2": line["ddl_both"]} for line in lines]
    wanted = {each.id: (each.variants.gold_1, each.variants.gold_2) for each in made}
    apart, both = (
        Scorer(bench, dsn, folder / name).judge(_set(folder / name, some), wanted)
        for name, some in (("apart", lines), ("both", together))
    )
    kept = ((True, False), (False, True)), ((True, True),) * 2
    return [each for each in made if (apart[each.id], both[each.id]) == kept]


def _set(folder: Path, lines: Sequence[Mapping[str, object]]) -> QuestionSet:
    """The questions as the scorer reads them."""
    write_lines(folder / "questions.jsonl", lines)
    return QuestionSet("ambiguous", str((folder / "questions.jsonl").resolve()), Judge.AMBIQT)


def drawn(options: argparse.Namespace, dsn: str, folder: Path) -> list[Ambiguous]:
    """`options.n` questions, each of one kind; fewer where the databases hold no more."""
    items = _items(options.bench)
    renamer = Renamer(WordNet.load(options.wordnet), MiniLMEncoder(), writable())
    author = Author(snapshots(options.bench), renamer, options.seed)
    kept: list[Ambiguous] = []
    for number, kind in enumerate(Kind):
        wanted = (options.n - len(kept)) // (len(Kind) - number)
        used = {each.item["id"] for each in kept}
        turns = in_turns([item for item in items if item["id"] not in used], options.seed)
        made, found = author.made(kind, turns), list[Ambiguous]()
        while len(found) < wanted and (batch := list(islice(made, wanted))):
            found += held(batch, options.bench, dsn, folder / kind / batch[0].id)
        kept += found[:wanted]
    return kept


def _items(bench: Path) -> list[Item]:
    tested = {item["db"] for of in (SPIDER, *AMBIQT) for item in read_items(bench / of.file)}
    return [item for item in unfitted(read_items(bench / TRAIN.file)) if item["db"] not in tested]


def main() -> int:
    """Writes the file; returns the exit status."""
    made = parser(__doc__, seed=0)
    made.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    made.add_argument("--work", type=Path, required=True, help="for PostgreSQL's data")
    made.add_argument("--n", type=int, default=150, help="questions, a third of each kind")
    options = made.parse_args()
    found = asyncio.run(_made(options))
    write_lines(options.out, [each.line() for each in found])
    databases = len({each.item["db"] for each in found})
    print(dict(Counter(str(each.kind) for each in found)), f"{databases} databases")
    return 0


async def _made(options: argparse.Namespace) -> list[Ambiguous]:
    async with site(options.work, options.bench) as place:
        return await asyncio.to_thread(drawn, options, place.dsn, options.work / "checks")


if __name__ == "__main__":
    sys.exit(main())
