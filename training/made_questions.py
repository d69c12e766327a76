"""Chooses what made questions and proposed words weigh in the retrieval leg, by folds of databases, and measures it.

    python -m training.made_questions --wordnet FOLDER [--bench FOLDER] [--n N] [--out FILE]

What was made (`MADE`) a strong model wrote of 40 training databases, seeing the product's prompts alone. `EVERYDAY` has
questions without the schema's words, written before; nothing is chosen by them. Each database is looked for among the
40, by the retrieval leg alone: the network that ships was trained on questions about them.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.command import told_command
from benchmarks.harness.drawing import in_turns, read_items
from benchmarks.harness.intervals import Figure, mean
from benchmarks.harness.machine import ROOT
from benchmarks.harness.report import Part, Run, shown, write_result
from benchmarks.harness.schemas import snapshots
from benchmarks.quality.routing.folds import Variant, fold_of
from engine.models.encoder import MiniLMEncoder
from engine.question.question import Question
from engine.route import index as indexes
from engine.route import scoring
from engine.route.index import Index, build
from engine.route.scoring import EncodedQuestion, made_cosines, score
from engine.values.ports import Encoder
from engine.values.settings import EncoderSettings
from schema_catalog.types import MadeQuestion, Snapshot
from training.command import parser
from training.paraphrases import Paraphraser
from training.router import QUESTIONS
from training.wordnet import WordNet, writable

MODULE = "training.made_questions"
FOLDER = ROOT / "benchmarks" / "quality" / "routing"
MADE, EVERYDAY = FOLDER / "made.jsonl", FOLDER / "everyday.jsonl"

NOTHING = (0.0, 0.0)
WORDS = (NOTHING, (0.2, 0.7), (0.4, 0.7), (0.8, 1.0))
"""Pairs of `PROPOSED` and `PROPOSED_NEAR` that are tried; without words first, with a DBA's weights last."""

ASKED = (NOTHING, *product((1.0, 2.0, 3.0, 4.0, 6.0), (0.3, 0.4, 0.5)))
"""The same of `MADE`. From 0.3 on: below, of two databases that are both far, the one that was asked is nearer."""

Numbers = NDArray[np.float64]
Weights = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Asking:
    """Questions of one kind. `schema`: (n, D), logits by pair of `WORDS`; `made`: (n, D), cosines; `right`: (n,)."""

    owners: list[str]
    schema: Mapping[tuple[float, float], Numbers]
    made: Numbers
    right: NDArray[np.intp]

    def logits(self, weights: Weights) -> Numbers:
        """(n, D)."""
        words, (weight, near) = weights
        found: Numbers = self.schema[words] + weight * np.maximum(0, self.made - near)
        return found

    def likelihoods(self, weights: Weights) -> Numbers:
        """Logarithms, (n,)."""
        logits = self.logits(weights)
        of_all: Numbers = np.logaddexp.reduce(logits, axis=1)
        found: Numbers = logits[np.arange(len(self.right)), self.right] - of_all
        return found

    def first(self, weights: Weights) -> Numbers:
        """1 where the right database is first, (n,)."""
        found: Numbers = (self.logits(weights).argmax(1) == self.right).astype(np.float64)
        return found


def with_made(snapshot: Snapshot, rows: Sequence[Mapping[str, object]]) -> Snapshot:
    """The schema with what was made of it."""
    words: dict[str, tuple[str, ...]] = {}
    questions: list[MadeQuestion] = []
    for row in rows:
        words |= {name: tuple(some) for name, some in row["words"].items()}  # type: ignore[attr-defined]  # JSON
        tables = tuple(("public", name) for name in row["tables"])  # type: ignore[attr-defined]
        questions += [MadeQuestion(text, tables) for text in row["questions"]]  # type: ignore[attr-defined]
    told = tuple(
        replace(
            table,
            proposed_synonyms=words.get(table.name, ()),
            columns=tuple(
                replace(column, proposed_synonyms=words.get(f"{table.name}.{column.name}", ()))
                for column in table.columns
            ),
        )
        for table in snapshot.tables
    )
    return replace(snapshot, tables=told, made_questions=tuple(questions))


def drawn(
    options: argparse.Namespace, names: Sequence[str], encoder: Encoder
) -> dict[str, list[tuple[str, str]]]:
    """Questions with their databases by kind: `n` of each database at most, and the everyday ones."""
    items = [one for one in in_turns(read_items(options.bench / QUESTIONS[0]), 0) if one["db"] in names]
    paraphraser = Paraphraser(WordNet.load(options.wordnet), encoder, writable())
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for variant in Variant:
        counted: Counter[str] = Counter()
        for item in items:
            if counted[item["db"]] < options.n and (text := paraphraser.question(item, variant)) is not None:
                counted[item["db"]] += 1
                found[variant].append((text, item["db"]))
    found["everyday"] = [(item["question"], item["db"]) for item in read_items(EVERYDAY)]
    return found


def asked(
    kinds: Mapping[str, Sequence[tuple[str, str]]], schemas: Mapping[str, Snapshot], encoder: MiniLMEncoder
) -> dict[str, Asking]:
    """The questions of each kind over the schemas, by every pair of `WORDS`."""
    silent = [replace(each, made_questions=()) for each in schemas.values()]
    by_words = {}
    for pair in WORDS:
        indexes.PROPOSED, indexes.PROPOSED_NEAR = pair
        by_words[pair] = Index([build(each, encoder.encode) for each in silent])
    whole, names = Index([build(each, encoder.encode) for each in schemas.values()]), list(schemas)
    every = np.arange(len(names))
    found = {}
    for kind, some in kinds.items():
        read = encoder.encode_tokens_many([text for text, _ in some])
        questions = [
            EncodedQuestion(*each, Question(text).content_words)
            for each, (text, _) in zip(read, some, strict=True)
        ]
        found[kind] = Asking(
            [name for _, name in some],
            {
                pair: np.stack([_logits(each, index) for each in questions])
                for pair, index in by_words.items()
            },
            np.stack([made_cosines(each.sentence, whole, every) for each in questions]).astype(np.float64),
            np.array([names.index(name) for _, name in some]),
        )
    return found


def _logits(question: EncodedQuestion, index: Index) -> Numbers:
    found = np.empty(len(index.parts))
    for one in score(question, index):
        found[one.part] = one.logit
    return found


def likeliest(kinds: Mapping[str, Asking], choices: Sequence[Weights], fold: int | None = None) -> Weights:
    """Of greatest likelihood over the three variants' questions, but those of the databases of `fold`."""

    def worth(weights: Weights) -> float:
        return sum(float(_others(kinds[v], kinds[v].likelihoods(weights), fold).mean()) for v in Variant)

    return max(choices, key=worth)


def _others(asking: Asking, values: Numbers, fold: int | None) -> Numbers:
    return values[[fold_of(name) != fold for name in asking.owners]]


def measured(kinds: Mapping[str, Asking]) -> Iterator[tuple[str, str, dict[str, Figure | int]]]:
    """(arm, kind, figures): recall at 1 before and after, and what is gained."""
    arms = {
        "questions": [(NOTHING, pair) for pair in ASKED],
        "words": [(pair, NOTHING) for pair in WORDS],
        "both": list(product(WORDS, ASKED)),
    }
    folds = sorted({fold_of(name) for each in kinds.values() for name in each.owners})
    shipped = ((indexes.PROPOSED, indexes.PROPOSED_NEAR), scoring.MADE)
    for arm, choices in arms.items():
        print(f"{arm}: by all folds {likeliest(kinds, choices)}", flush=True)
        chosen = {fold: likeliest(kinds, choices, fold) for fold in folds}
        for kind, asking in kinds.items():
            yield arm, kind, _figures(asking, chosen)
    for kind, asking in kinds.items():
        yield "as shipped", kind, _figures(asking, dict.fromkeys(folds, shipped))


def _figures(asking: Asking, chosen: Mapping[int, Weights]) -> dict[str, Figure | int]:
    before, own = asking.first((NOTHING, NOTHING)), np.array([fold_of(name) for name in asking.owners])
    after = np.zeros_like(before)
    for fold, weights in chosen.items():
        after[own == fold] = asking.first(weights)[own == fold]
    owners = asking.owners
    figures = {
        "before": mean(before, owners),
        "after": mean(after, owners),
        "gain": mean(after - before, owners),
    }
    return {"n": len(owners), "databases": len(set(owners)), **figures}


def main() -> int:
    """Chooses, prints and writes; returns the exit status."""
    made = parser(__doc__, seed=0)
    made.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    made.add_argument("--n", type=int, default=25, help="questions of each variant and database at most")
    options = made.parse_args()
    rows: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for row in read_items(MADE):
        rows[row["db"]].append(row)
    encoder = MiniLMEncoder(EncoderSettings(threads=1))
    known = snapshots(options.bench, schema="public")
    shipped = indexes.PROPOSED, indexes.PROPOSED_NEAR
    kinds = asked(
        drawn(options, list(rows), encoder),
        {n: with_made(known[n], some) for n, some in rows.items()},
        encoder,
    )
    indexes.PROPOSED, indexes.PROPOSED_NEAR = shipped
    found = list(measured(kinds))
    for arm, kind, each in found:
        print(
            arm,
            kind,
            *(f"{name} {shown(one) if isinstance(one, Figure) else one}" for name, one in each.items()),
        )
    if options.out is not None:
        table = [{"arm": arm, "questions": kind, **each} for arm, kind, each in found]
        shipped_alone = ((kind, each["after"]) for arm, kind, each in found if arm == "as shipped")
        summary: dict[str, float | None] = {
            f"made_{kind}_db_r1": after.value for kind, after in shipped_alone if isinstance(after, Figure)
        }
        run = Run("routing", told_command(MODULE, sys.argv[1:]), options.seed, {})
        n = {kind: len(each.owners) for kind, each in kinds.items()}
        write_result(options.out, run, {"made": Part(n, {"figures": table}, summary)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
