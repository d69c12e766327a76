"""Measures the packaged ranker on databases that its network was not trained on, beside those that it was.

    python -m training.ranker_measures --bench FOLDER [--n N] [--written FILE]

A list is a known statement and four made wrong of it by rule, as in training; the untrained encoder's cosine stands
beside the network. `--written`: lists that the language model wrote (`training.certainty_lists`), of which the order of
the rank stage stands beside that by likelihood. Nothing is fitted.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.quality.ablations.drawing import in_turns, left_out
from benchmarks.quality.candidates.questions import Item, read_items
from benchmarks.quality.resampling import estimate
from engine.models.cross import CrossEncoder
from engine.models.encoder import MiniLMEncoder
from engine.models.packaged import read
from engine.ranking.ranker import FORMAT, NAME, cosines, packaged
from training import certainty_lists
from training.certainty import at_home
from training.conditions import OTHERS, QUESTIONS, snapshots
from training.ranker import example

PRIOR = {"likelihood": 6.0, "similarity": 1.0}
"""The order by likelihood, as `engine.core.tools.ByLikelihood` has it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one list: whether each order has a right statement first."""

    database: str
    first: dict[str, bool]


def groups(bench: Path) -> dict[str, list[Item]]:
    """Questions of databases that the network was trained on, and of two kinds that it was not."""
    items = read_items(bench / QUESTIONS)
    kept = frozenset(left_out(items))
    return {
        "trained on": [item for item in items if item["db"] not in kept],
        "left out": [item for item in items if item["db"] in kept],
        OTHERS: list(read_items(bench / OTHERS)),
    }


def made_wrong(bench: Path, count: int, seed: int) -> Iterator[dict[str, object]]:
    """A line a group: how often the known statement stands before those made wrong of it."""
    arrays = dict(read(packaged(), NAME, FORMAT).arrays)
    del arrays["head"]
    network, encoder, schemas = CrossEncoder(arrays), MiniLMEncoder(), snapshots(bench)
    for name, items in groups(bench).items():
        outcomes = []
        for item in in_turns(items, seed)[:count]:
            made = example(item, schemas[item["db"]], f"{seed}:{item['id']}")
            if made is not None:
                scores = network.scores([(made.question, said) for said in made.statements])
                near = cosines(made.question, made.statements, encoder)
                first = {
                    "network": bool(scores.sum(axis=1).argmax() == 0),
                    "whole": bool(scores[:, 0].argmax() == 0),
                    "phrases": bool(scores[:, 1].argmax() == 0),
                    "cosine": bool(near.argmax() == 0),
                }
                outcomes.append(Outcome(item["db"], first))
        yield {"made wrong": name} | figures(outcomes)


def of_written(bench: Path, file: Path) -> Iterator[dict[str, object]]:
    """A line for each kind of question and group of databases: orders of what the model wrote."""
    kept = frozenset(left_out(read_items(bench / QUESTIONS)))
    found: dict[tuple[str, bool], list[Outcome]] = defaultdict(list)
    for each in at_home(certainty_lists.read(file), bench):
        if each.which and any(each.right):
            scores = [
                sum(one.get(name, 0.0) * weight for name, weight in PRIOR.items()) for one in each.which
            ]
            first = {"rank stage": each.right[0], "likelihood": each.right[int(np.argmax(scores))]}
            outcome = Outcome(each.database, first | {"contested": not all(each.right)})
            found[each.kind, each.database in kept].append(outcome)
    for (kind, unseen), outcomes in sorted(found.items()):
        yield {"written": kind, "databases": "left out" if unseen else "trained on"} | figures(outcomes)


def figures(outcomes: Sequence[Outcome]) -> dict[str, object]:
    """n, databases, and of each order the share with its 95 % interval, resampling databases."""
    owners = [each.database for each in outcomes]
    found: dict[str, object] = {"n": len(outcomes), "of": len(set(owners))}
    for name in outcomes[0].first:
        share = estimate([each.first[name] for each in outcomes], owners)
        found[name] = [round(value, 3) for value in (share.value, share.low, share.high)]
    return found


def main() -> int:
    """Prints the figures, a line each in JSON; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, required=True, help="the data's folder")
    parser.add_argument("--n", type=int, default=300, help="questions of each group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--written", type=Path, help="what training.certainty_lists recorded")
    options = parser.parse_args()
    if options.written is not None:
        for line in of_written(options.bench, options.written):
            sys.stdout.write(json.dumps(line) + "\n")
        return 0
    for line in made_wrong(options.bench, options.n, options.seed):
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
