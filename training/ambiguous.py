"""Makes ambiguous questions of Spider's training part, in the format of the benchmark's AmbiQT files.

    python -m training.ambiguous --bench FOLDER --wordnet FOLDER --out FILE --n 150 --seed 0

They are for fitting when to ask back: AmbiQT itself stays a test. A third each: a column under two names, a table
under two names, a column that also stands in a table of its own. Every question has a word for what was made ambiguous,
and every one was run: each gold gives the base gold's rows where both interpretations exist and where its own does,
and not where the other one does. The databases are those that the ranker's network was not trained on, and take turns.

Owns the drawing, the checks and the file. Starts a PostgreSQL of its own and stops it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import psycopg

from benchmarks.quality.ablations.drawing import in_turns, unfitted
from benchmarks.quality.candidates.journal import Answer, Cost, Proposal
from benchmarks.quality.candidates.judging import Scorer
from benchmarks.quality.candidates.questions import Item, Judge, QuestionSet, read_items
from engine.models.encoder import MiniLMEncoder, packaged_model
from pgparley import cluster
from training.conditions import QUESTIONS, snapshots
from training.elements import Ambiguous, Author, Kind
from training.renaming import Renamer
from training.wordnet import WordNet

DATA = "bench"

TESTS = ("spider/dev.jsonl", "ambiqt/C.jsonl", "ambiqt/T.jsonl", "ambiqt/J.jsonl")
"""No question is made on their databases."""


def held(made: Sequence[Ambiguous], bench: Path, dsn: str, folder: Path) -> list[Ambiguous]:
    """Those of which the benchmark's scorer says what the module's docstring promises."""
    apart = _right(made, bench, dsn, folder / "apart", both=False)
    together = _right(made, bench, dsn, folder / "both", both=True)
    return [
        each
        for each in made
        if apart[each.id] == ((True, False), (False, True)) and together[each.id] == ((True, True),) * 2
    ]


def _right(
    made: Sequence[Ambiguous], bench: Path, dsn: str, folder: Path, *, both: bool
) -> Mapping[str, tuple[tuple[bool, bool], ...]]:
    """By question, for each gold where it is right: under the first and the second variant, or `both` twice."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "questions.jsonl"
    lines = [each.line() for each in made]
    if both:
        lines = [line | {"ddl_1": line["ddl_both"], "ddl_2": line["ddl_both"]} for line in lines]
    _write(file, lines)
    answers = [
        Answer(each.id, (Proposal(each.variants.gold_1), Proposal(each.variants.gold_2)), Cost(0.0))
        for each in made
    ]
    return Scorer(bench, dsn, folder).judge(QuestionSet("ambiguous", str(file), Judge.AMBIQT), answers).right


def _write(file: Path, lines: Sequence[Mapping[str, object]]) -> None:
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def drawn(options: argparse.Namespace, dsn: str, folder: Path) -> list[Ambiguous]:
    """`options.n` questions, each of one kind; fewer where the databases hold no more."""
    items = _items(options.bench)
    vocabulary = frozenset((packaged_model() / "vocab.txt").read_text(encoding="utf-8").split())
    renamer = Renamer(WordNet.load(options.wordnet), MiniLMEncoder(), vocabulary)
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
    tested = {item["db"] for name in TESTS for item in read_items(bench / name)}
    return [item for item in unfitted(read_items(bench / QUESTIONS)) if item["db"] not in tested]


@contextmanager
def loaded(bench: Path, folder: Path) -> Iterator[str]:
    """The DSN of a PostgreSQL that holds Spider's databases and keeps its data in `folder`; stopped at the end."""
    running = cluster.start(folder)
    try:
        with psycopg.connect(running.dsn(), autocommit=True) as connection:
            found = "SELECT FROM pg_database WHERE datname = %s"
            if connection.execute(found, (DATA,)).fetchone() is None:
                connection.execute(f"CREATE DATABASE {DATA}")
        dsn = running.dsn(DATA)
        loader = [sys.executable, str(bench / "load.py"), "--dsn", dsn, "--what", "spider"]
        subprocess.run(loader, check=True, capture_output=True)  # noqa: S603 - the benchmark's own loader
        yield dsn
    finally:
        cluster.stop(running)


def main() -> int:
    """Writes the file; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="benchmark folder")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    parser.add_argument("--out", type=Path, required=True, help="the file to write")
    parser.add_argument("--n", type=int, default=150, help="questions, a third of each kind")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="ambiguous-") as name,
        loaded(options.bench, Path(name) / "postgres") as dsn,
    ):
        found = drawn(options, dsn, Path(name) / "checks")
    _write(options.out, [each.line() for each in found])
    databases = len({each.item["db"] for each in found})
    print(dict(Counter(str(each.kind) for each in found)), f"{databases} databases")
    return 0


if __name__ == "__main__":
    sys.exit(main())
