"""How often questions are taken for orders, for another language, or for being about what a schema lacks.

`python -m benchmarks.quality.understanding --bench PATH` prints counts over questions that a database answers, and, for
several thresholds, the share of training questions with an unknown word: on their own database, and on another one,
drawn by chance, that cannot answer them. By folds of databases, to choose the threshold by. Between the two: names of
which the right statement, and another one, says nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.routing.collection import read_items, read_views
from engine.core.state import Route
from engine.linking.element_text import linked
from engine.linking.spans import entities
from engine.models.encoder import MiniLMEncoder
from engine.settings import EncoderSettings
from engine.understanding.language import foreign_language
from engine.understanding.requests import request_kind
from engine.understanding.unknown import NEAR, names_not_used, unknown_phrases
from schema_catalog.types import Database, Snapshot

ANSWERABLE = ("spider/train.jsonl", "spider/train_others.jsonl", "defog/questions.jsonl")
THRESHOLDS = (0.25, 0.3, 0.325, NEAR, 0.375, 0.4)
FOLDS = 5
REMEMBERED = 40_000


@dataclass(frozen=True, slots=True)
class Farthest:
    """A question's fold, and the lowest of `THRESHOLDS` that flags it on its own and on another database.

    Infinite where none does.
    """

    fold: int
    own: float
    other: float


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--n", type=int, default=2_000, help="training questions drawn for the thresholds")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in ANSWERABLE:
        _print_false_alarms(name, [item["question"] for item in read_items(options.bench / name)])
    _print_names(options.bench, options.seed)
    _print_thresholds(_farthest(options.bench, options.n, options.seed))


def _print_false_alarms(name: str, questions: Sequence[str]) -> None:
    orders = [each for each in questions if request_kind(each) is not None]
    foreign = [each for each in questions if foreign_language(each) is not None]
    print(f"{name}: n {len(questions)}, no question {len(orders)}, another language {len(foreign)}")
    for each in (*orders, *foreign):
        print(f"  {each}")


def _print_names(bench: Path, seed: int) -> None:
    """Names that the right statement leaves out, and that another statement on the same database does."""
    chance = random.Random(seed)  # noqa: S311  a draw of statements
    items = read_items(bench / "spider" / "train.jsonl")
    schemas = {view.database: view for view, _ in read_views(bench, pool=False)}
    right = [names_not_used(each["question"], each["gold"], schemas[each["db"]], ()) for each in items]
    named = [each for each in items if names_not_used(each["question"], "", schemas[each["db"]], ())]
    golds: dict[str, list[str]] = {}
    for each in items:
        golds.setdefault(each["db"], []).append(each["gold"])
    others = [
        names_not_used(each["question"], chance.choice(golds[each["db"]]), schemas[each["db"]], ())
        for each in named
    ]
    print(f"names left out by the right statement {_percent(list(map(bool, right))):.1f} % of {len(items)},")
    print(f"  by another where there are names {_percent(list(map(bool, others))):.1f} % of {len(named)}")


def _farthest(bench: Path, n: int, seed: int) -> list[Farthest]:
    chance = random.Random(seed)  # noqa: S311  a draw of questions
    items = read_items(bench / "spider" / "train.jsonl")
    drawn = chance.sample(items, min(n, len(items)))
    trained = sorted({item["db"] for item in items})
    schemas = {view.database: view for view, _ in read_views(bench, pool=False)}
    encoder = MiniLMEncoder(EncoderSettings(remembered=REMEMBERED))
    found = []
    for item in drawn:
        other = chance.choice([name for name in trained if name != item["db"]])
        own = _lowest(item["question"], schemas[item["db"]], encoder)
        found.append(Farthest(_fold(item["db"]), own, _lowest(item["question"], schemas[other], encoder)))
    return found


def _lowest(question: str, snapshot: Snapshot, encoder: MiniLMEncoder) -> float:
    links = linked(entities(question), snapshot, encoder)
    route = Route(Database(snapshot.database, "", snapshot.database, ("public",)), snapshot, 1.0, (), links)
    flagged = (near for near in THRESHOLDS if unknown_phrases(question, route, encoder, near))
    return next(flagged, float("inf"))


def _print_thresholds(found: Sequence[Farthest]) -> None:
    for near in THRESHOLDS:
        own = _shares(found, [each.own <= near for each in found])
        other = _shares(found, [each.other <= near for each in found])
        print(f"near {near}: own database {own}, another {other}")


def _shares(found: Sequence[Farthest], flagged: Sequence[bool]) -> str:
    """The share of all, and of each fold, in percent."""
    folds: list[list[bool]] = [[] for _ in range(FOLDS)]
    for each, flag in zip(found, flagged, strict=True):
        folds[each.fold].append(flag)
    by_fold = " ".join(f"{_percent(fold):.1f}" for fold in folds)
    return f"{_percent(flagged):.1f} % ({by_fold})"


def _percent(flags: Sequence[bool]) -> float:
    return 100 * sum(flags) / max(1, len(flags))


def _fold(database: str) -> int:
    return int(hashlib.sha256(database.encode()).hexdigest(), 16) % FOLDS


if __name__ == "__main__":
    main()
