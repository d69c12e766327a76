"""What synonyms in the catalog are worth to routing, on Spider's training databases.

    python -m training.catalog_synonyms --bench FOLDER --wordnet FOLDER --work FOLDER [--n N] [--json FILE]

The training questions are put with synonyms (`training.paraphrases`). Half of the databases, by a hash of the name,
then get the words that stand in questions about them as synonyms of their tables and columns, as a DBA would give them;
the other half gets none. The router is measured among all 166, before and after, on the questions as they were and with
synonyms: the retrieval leg, and with the learned one of the base, which was trained on questions about these databases.
Nothing is trained and no question of a development set is read.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as Grid

from benchmarks.quality.ablations.drawing import in_turns
from benchmarks.quality.resampling import estimate
from benchmarks.quality.routing.collection import ROOT, View, read_items, read_views
from benchmarks.quality.routing.folds import Leg, Outcome, Variant
from benchmarks.quality.routing.versions import versions
from benchmarks.wire.machine import describe
from engine.models.encoder import MiniLMEncoder, packaged_model
from engine.routing.artifact import BASE
from engine.routing.router import HybridRouter
from engine.routing.scoring import SearchLimits
from engine.routing.vectors import VectorCache
from engine.settings import EncoderSettings
from engine.text.tokens import identifier_words
from schema_catalog.knowledge import Knowledge, Said, described
from schema_catalog.types import Snapshot
from training.fold_legs import BATCH, Question
from training.paraphrases import Paraphraser, share
from training.router import QUESTIONS
from training.wordnet import WordNet

VARIANTS = (Variant.PLAIN, Variant.SYNONYMS)

Pairs = dict[str, set[str]]
"""Words of names, with what is said instead."""

MOST = 30
"""Synonyms of an element, as the catalog allows."""


@dataclass(frozen=True, slots=True)
class Line:
    """Shares of n questions whose database is ranked first; `low`, `high`: 95 % interval of the gain, by database."""

    leg: Leg
    variant: Variant
    given: bool
    n: int
    databases: int
    before: float
    after: float
    low: float
    high: float


def given(database: str) -> bool:
    """Whether the database is of the half that gets synonyms."""
    return share("synonyms given", database) < 1 / 2


def with_synonyms(snapshot: Snapshot, pairs: Pairs) -> Snapshot:
    """`snapshot` with, for each name, every name that has one word replaced by one of `pairs`."""
    columns = [(*table.key, column.name) for table, column in snapshot.columns()]
    elements: list[tuple[str, ...]] = [*(table.key for table in snapshot.tables), *columns]
    known = [
        Knowledge(each, None, tuple(_replaced(each[-1], pairs))[:MOST], hidden=False) for each in elements
    ]
    return described(snapshot, Said(tuple(known))) or snapshot


def _replaced(name: str, pairs: Pairs) -> Iterator[str]:
    words = identifier_words(name)
    for place, word in enumerate(words):
        for other in sorted(pairs.get(word, ())):
            yield " ".join((*words[:place], other, *words[place + 1 :]))


def main() -> int:
    """Measures and prints; returns the exit status."""
    args = _arguments()
    encoder = MiniLMEncoder(EncoderSettings(threads=1))
    cache = VectorCache(encoder, model="folds", path=args.work / "vectors.sqlite")
    vocabulary = frozenset((packaged_model() / "vocab.txt").read_text(encoding="utf-8").split())
    paraphraser = Paraphraser(WordNet.load(args.wordnet), encoder, vocabulary)
    items = [dict(item) for item in in_turns(read_items(args.bench / QUESTIONS[0]), 0)][: args.n]
    questions: list[Question] = []
    pairs: dict[str, Pairs] = defaultdict(lambda: defaultdict(set))
    for item, variant in product(items, VARIANTS):
        paraphraser.used.clear()
        if (text := paraphraser.question(item, variant)) is not None:
            questions.append(Question(item["id"], variant, text, item["db"]))
        for word, other in paraphraser.used:
            pairs[item["db"]][word].add(other)
    plain = [snapshot for snapshot, _ in read_views(args.bench, pool=False)]
    told = [with_synonyms(each, pairs[each.database]) if given(each.database) else each for each in plain]

    lines: list[Line] = []
    for leg in (Leg.RETRIEVAL, Leg.LEARNED):
        router = HybridRouter(
            encoder,
            cache,
            limits=SearchLimits(databases=len(plain)),
            versions=versions(args.work, BASE) if leg is Leg.LEARNED else None,
        )
        before, after = (ranked(router, snapshots, questions) for snapshots in (plain, told))
        lines += [line(leg, before, after, variant, half) for variant in VARIANTS for half in (True, False)]
    Console(width=130).print(_grid(lines))
    if args.json:
        tables = [table for each in told for table in each.tables]
        synonyms = [len(each.synonyms) for each in tables]
        synonyms += [len(column.synonyms) for each in tables for column in each.columns]
        _write(args.json, lines, synonyms=sum(synonyms), elements=sum(map(bool, synonyms)))
    return 0


def ranked(
    router: HybridRouter, snapshots: Sequence[Snapshot], questions: Sequence[Question]
) -> list[Outcome]:
    """What `router` makes of the questions among the databases; one that it does not list is behind all others."""
    views: list[View] = [
        (each, frozenset((*table.key, column.name) for table, column in each.columns())) for each in snapshots
    ]
    found = []
    for start in range(0, len(questions), BATCH):
        asked = questions[start : start + BATCH]
        for one, matches in zip(asked, router.rank_many([each.text for each in asked], views), strict=True):
            names = [match.snapshot.database for match in matches]
            rank = names.index(one.database) + 1 if one.database in names else len(views)
            found.append(Outcome(one.id, one.variant, one.text, one.database, rank, ()))
    return found


def line(
    leg: Leg,
    before: Sequence[Outcome],
    after: Sequence[Outcome],
    variant: Variant,
    half: bool,  # noqa: FBT001
) -> Line:
    """The figures of one variant's questions about one half of the databases."""
    pairs = [
        pair
        for pair in zip(before, after, strict=True)
        if pair[0].variant is variant and given(pair[0].database) is half
    ]
    owners = [one.database for one, _ in pairs]
    right = np.array([[each.rank == 1 for each in pair] for pair in pairs], dtype=np.float64)
    gain = estimate(right[:, 1] - right[:, 0], owners)
    first, last = right.mean(0).tolist()
    return Line(leg, variant, half, len(pairs), len(set(owners)), first, last, gain.low, gain.high)


def _grid(lines: Sequence[Line]) -> Grid:
    grid = Grid("leg", "questions", "databases", "n", "R@1 before", "R@1 after", "gain, 95 % over databases")
    for each in lines:
        half = f"{each.databases} {'with synonyms' if each.given else 'without'}"
        gain = f"{100 * (each.after - each.before):+.1f} [{100 * each.low:+.1f}, {100 * each.high:+.1f}]"
        grid.add_row(
            each.leg,
            each.variant,
            half,
            str(each.n),
            f"{100 * each.before:.1f}",
            f"{100 * each.after:.1f}",
            gain,
        )
    return grid


def _write(file: Path, lines: Sequence[Line], synonyms: int, elements: int) -> None:
    machine = describe(ROOT)
    whole = {
        "benchmark": "synonyms in the catalog",
        "command": "python -m training.catalog_synonyms",
        "commit": machine.commit,
        "dirty": machine.dirty,
        "synonyms": synonyms,
        "elements with one": elements,
        "figures": [dataclasses.asdict(each) for each in lines],
    }
    file.write_text(json.dumps(whole, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="benchmark folder")
    parser.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    parser.add_argument("--work", type=Path, required=True, help="where vectors are kept")
    parser.add_argument("--n", type=int, default=3000, help="questions, drawn evenly over the databases")
    parser.add_argument("--json", type=Path, help="write the figures here")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
