"""How right the schema linker is: its links against what gold statements read, and its calibration.

Owns the figures and the slopes of the log-odds. What is chosen, is chosen on `Part.PROBES`; the development questions
and Defog's are read to report alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from benchmarks.quality.candidates.questions import Item, read_items
from benchmarks.quality.roc import auc
from engine.core.elements import WHOLE_TABLE
from engine.models.linker import calibrated
from engine.schema_linking.linker import decide, teacher_forced
from engine.schema_linking.nodes import HiddenStates, NodeStates
from schema_catalog.types import Column, ColumnKey, ForeignKey, Snapshot, Table, TableKind
from training.conditions import snapshots
from training.linker_examples import Example, Neighbours, gold_of, questions, unanswerable
from training.linker_split import Part


@dataclass(frozen=True, slots=True)
class Reading:
    """An example with what the model makes of it."""

    example: Example
    states: NodeStates


def readings(model: HiddenStates, examples: Iterable[Example]) -> list[Reading]:
    """Of the examples whose schema fits the model."""
    found = ((example, model.read(example.question, example.snapshot)) for example in examples)
    return [Reading(example, states) for example, states in found if states is not None]


def links(found: Sequence[Reading]) -> dict[str, float]:
    """Exact matches, precision and recall of tables, of columns, and of the columns of the right tables."""
    walks = [decide(each.states, each.example.snapshot) for each in found]
    pairs = [
        (frozenset(step.element for step in walk if step.linked), each.example.gold)
        for walk, each in zip(walks, found, strict=True)
    ]
    forced = [teacher_forced(each.states, each.example.snapshot, each.example.gold) for each in found]
    given = [not any(bad and step.element[2] != WHOLE_TABLE for step, bad in walk) for walk in forced]
    figures = {f"table_{name}": value for name, value in _agreement(pairs, tables=True).items()}
    figures |= {f"column_{name}": value for name, value in _agreement(pairs, tables=False).items()}
    figures["column_em_given_tables"] = float(np.mean(given))
    figures["branching_points"] = float(np.mean([sum(bad for _, bad in walk) for walk in forced]))
    return figures | {"questions": float(len(found))}


def _agreement(
    pairs: Sequence[tuple[frozenset[ColumnKey], frozenset[ColumnKey]]], *, tables: bool
) -> dict[str, float]:
    chosen = [
        tuple({each for each in part if (each[2] == WHOLE_TABLE) == tables} for part in pair)
        for pair in pairs
    ]
    right = sum(len(linked & gold) for linked, gold in chosen)
    return {
        "em": float(np.mean([linked == gold for linked, gold in chosen])),
        "precision": right / max(1, sum(len(linked) for linked, _ in chosen)),
        "recall": right / max(1, sum(len(gold) for _, gold in chosen)),
    }


def negatives(examples: Sequence[Example], seed: int) -> list[Example]:
    """The questions with schemas that do not answer them, as in training; of each one at most."""
    rng = np.random.default_rng(seed)
    neighbours = Neighbours.of({each.snapshot.database: each.snapshot for each in examples})
    made = (unanswerable(example, neighbours, rng) for example in examples)
    return [example for example in made if example is not None]


@dataclass(frozen=True, slots=True)
class Judged:
    """Readings of questions with schemas that answer them, and with schemas that do not."""

    right: Sequence[Reading]
    wrong: Sequence[Reading]

    @staticmethod
    def of_part(model: HiddenStates, bench: Path, part: Part, seed: int) -> Judged:
        """Of every second of one part's questions: most stand there in two wordings, one after the other."""
        examples = questions(bench, part)[::2]
        return Judged(readings(model, examples), readings(model, negatives(examples, seed)))

    def rescaled(self, scales: NDArray[np.float32]) -> Judged:
        """With the log-odds calibrated by `scales`."""
        return Judged(*(_rescaled(some, scales) for some in (self.right, self.wrong)))

    def figures(self) -> dict[str, float]:
        """Of the links of the right schemas, and of telling these from the wrong."""
        found = links(self.right) | {"answerable_auc": _answerable(self.right, self.wrong)}
        return {name: round(value, 4) for name, value in found.items()}


def _rescaled(some: Sequence[Reading], scales: NDArray[np.float32]) -> list[Reading]:
    return [Reading(each.example, calibrated(each.states, scales)) for each in some]


def calibration(judged: Judged) -> NDArray[np.float32]:
    """A slope and a bias for the log-odds of tables, of read tables' columns, and of the schema, (3, 2)."""
    tables, columns = [], []
    for each in judged.right:
        for node, odds in zip(each.states.nodes, each.states.log_odds.tolist(), strict=True):
            if node[2] == WHOLE_TABLE:
                tables.append((odds, node in each.example.gold))
            elif (*node[:2], WHOLE_TABLE) in each.example.gold:
                columns.append((odds, node in each.example.gold))
    chances = [(each.states.answerable, each.example.answerable) for each in (*judged.right, *judged.wrong)]
    schemas = [(float(np.log(chance / (1 - chance))), true) for chance, true in chances]
    return np.array([_fitted(each) for each in (tables, columns, schemas)], dtype=np.float32)


def _fitted(pairs: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The slope and the bias of a logistic regression (Platt scaling)."""
    odds = torch.tensor([value for value, _ in pairs])
    truth = torch.tensor([float(true) for _, true in pairs])
    scale = torch.tensor([1.0, 0.0], requires_grad=True)
    optimiser = torch.optim.LBFGS([scale], max_iter=100, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimiser.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(odds * scale[0] + scale[1], truth)
        loss.backward()  # type: ignore[no-untyped-call]  # torch types it not
        return loss

    optimiser.step(cost)  # type: ignore[no-untyped-call]  # torch types it not
    slope, bias = scale.detach().tolist()
    return slope, bias


def _answerable(right: Sequence[Reading], wrong: Sequence[Reading]) -> float:
    scores = np.array([each.states.answerable for each in (*right, *wrong)], dtype=np.float64)
    return auc(scores, np.arange(len(scores)) < len(right))


def figures_of_tests(model: HiddenStates, bench: Path) -> dict[str, float]:
    """Links of Spider's development questions; answerability of Defog's against those that cannot be answered."""
    schemas = snapshots(bench)
    spider = [
        Example(item["question"], schemas[item["db"]], gold_of(item))
        for item in read_items(bench / "spider/dev.jsonl")
    ]
    found = {f"dev_{name}": value for name, value in links(readings(model, spider)).items()}
    business = _defog_schemas(bench)
    right, wrong = (
        readings(
            model,
            [
                Example(item["question"], business[item["db"]], frozenset())
                for item in read_items(bench / "defog" / name)
            ],
        )
        for name in ("questions.jsonl", "idk.jsonl")
    )
    found["defog_answerable_auc"] = _answerable(right, wrong)
    return {name: round(value, 4) for name, value in found.items()}


def _defog_schemas(bench: Path) -> dict[str, Snapshot]:
    tables: dict[str, list[Table]] = defaultdict(list)
    for item in read_items(bench / "defog/schemas.jsonl"):
        tables[item["db"]].append(_table(item))
    return {name: Snapshot(name, (name,), tuple(each)) for name, each in tables.items()}


def _table(item: Item) -> Table:
    keys = tuple(
        ForeignKey((key["column"],), item["db"], key["ref_table"], (key["ref_column"],))
        for key in item["foreign_keys"]
    )
    columns = tuple(Column(column["name"], column["type"]) for column in item["columns"])
    return Table(
        item["db"], item["table"], TableKind.TABLE, columns, tuple(item["primary_key"]), foreign_keys=keys
    )
