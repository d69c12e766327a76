"""Trains the classifier of conditions that comes with the program, on Spider's training questions.

    python -m training.conditions --bench FOLDER --out engine/conditions/base

A fifth of the databases, by a hash of their names, gives the figures and is not trained on; what is written is then
trained on all of them with the same settings, which were chosen with that fifth in view. Where a gold statement takes
`min` of a column only because PostgreSQL wants one value a group, the question does not ask for a minimum: that label
is left away.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from benchmarks.harness.drawing import Item, fold_of, read_items
from benchmarks.harness.schemas import snapshots
from engine.conditions.classifier import FORMAT, LABELS, NAME, assembled, indicator, owners_of, words_of
from engine.conditions.types import Operator, StatementKind
from engine.linking.element_text import element_words
from engine.models.encoder import MiniLMEncoder
from schema_catalog.types import Snapshot
from training.command import Making, parser, written
from training.sql_features import kind_of

QUESTIONS = "spider/train.jsonl"
HIDDEN, STEPS, BATCH, RATE, DECAY, DROPPED = 128, 1_500, 128, 2e-3, 0.02, 0.4
LEAST_DATABASES = 15
"""Databases whose questions have a word, for it to be a cue: no cue is a word of one schema."""

LEAST_SEEN = 2
"""Times that a composition was seen, to be proposed."""

_LEAST_WORDS = re.compile(
    r"\b(min\w*|lowest|least|smallest|earliest|youngest|shortest|fewest|cheapest)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Known:
    """A question with what is read of it but the cues."""

    item: Item
    kind: StatementKind
    sentence: NDArray[np.float32]
    elements: NDArray[np.float32]
    owners: list[int]


def known(bench: Path, file: str) -> list[Known]:
    """The file's questions whose gold can be read."""
    encoder = MiniLMEncoder()
    items = read_items(bench / file)
    sentences = encoder.encode([item["question"] for item in items])
    schemas = {name: _encoded(table, encoder) for name, table in snapshots(bench).items()}
    found = []
    for item, sentence in zip(items, sentences, strict=True):
        kind = kind_of(item["gold"])
        if kind is not None:
            elements, owners = schemas[item["db"]]
            found.append(Known(item, _asked(kind, item), sentence, elements, owners))
    return found


def _asked(kind: StatementKind, item: Item) -> StatementKind:
    made = Operator.MIN in kind.operators and Operator.GROUP in kind.operators
    if made and not _LEAST_WORDS.search(item["question"]):
        return replace(kind, operators=kind.operators - {Operator.MIN})
    return kind


def _encoded(snapshot: Snapshot, encoder: MiniLMEncoder) -> tuple[NDArray[np.float32], list[int]]:
    words = element_words(snapshot)
    return encoder.encode(list(words.values())), owners_of(words)


def cues(questions: Sequence[Known]) -> list[str]:
    """Words and pairs of words that questions on many databases have."""
    places: dict[str, set[str]] = defaultdict(set)
    for each in questions:
        for word in words_of(each.item["question"]):
            places[word].add(each.item["db"])
    return sorted(word for word, there in places.items() if len(there) >= LEAST_DATABASES)


def compositions(questions: Sequence[Known]) -> tuple[list[StatementKind], NDArray[np.float32]]:
    """Those seen, the most frequent first, and the logarithms of their frequencies."""
    counted = [
        (kind, n) for kind, n in Counter(each.kind for each in questions).most_common() if n >= LEAST_SEEN
    ]
    shares = np.array([n for _, n in counted], dtype=np.float32) / len(questions)
    return [kind for kind, _ in counted], np.log(shares)


def matrix(questions: Sequence[Known], said: Sequence[str]) -> torch.Tensor:
    """Features, a row a question."""
    return torch.from_numpy(
        np.stack([assembled(q.item["question"], q.sentence, q.elements, q.owners, said) for q in questions])
    )


def trained(questions: Sequence[Known], seed: int) -> dict[str, NDArray[Any]]:
    """The artifact's arrays."""
    torch.manual_seed(seed)
    said, (kinds, prior) = cues(questions), compositions(questions)
    given = matrix(questions, said)
    rows = torch.from_numpy(np.stack([indicator(kind) for kind in kinds]))
    targets = torch.from_numpy(np.stack([indicator(each.kind) for each in questions]))
    numbers = {kind: number for number, kind in enumerate(kinds)}
    places = torch.tensor([numbers.get(each.kind, -100) for each in questions])
    first, second = torch.nn.Linear(given.shape[1], HIDDEN), torch.nn.Linear(HIDDEN, len(LABELS))
    bias = torch.nn.Parameter(torch.from_numpy(prior * 0.3))
    parameters = [*first.parameters(), *second.parameters(), bias]
    optimiser = torch.optim.AdamW(parameters, lr=RATE, weight_decay=DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, RATE, total_steps=STEPS)
    for _ in range(STEPS):
        chosen = torch.randint(len(questions), (BATCH,))
        hidden = functional.relu(first(functional.dropout(given[chosen], 0.1)))
        odds = second(functional.dropout(hidden, DROPPED))
        loss = functional.binary_cross_entropy_with_logits(odds, targets[chosen])
        loss = loss + 0.3 * functional.cross_entropy(odds @ rows.T + bias, places[chosen])
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]  # torch types it not
        optimiser.step()
        schedule.step()
    named = {"w1": first.weight.T, "b1": first.bias, "w2": second.weight.T, "b2": second.bias, "prior": bias}
    arrays: dict[str, NDArray[Any]] = {k: v.detach().numpy().astype(np.float16) for k, v in named.items()}
    return arrays | {"kinds": rows.numpy().astype(np.uint8), "cues": np.array(said)}


def measured(arrays: dict[str, NDArray[Any]], questions: Sequence[Known]) -> dict[str, float]:
    """Micro-F1 of the labels at even odds, and how often the true composition is among the first 1, 3 and 5."""
    given = matrix(questions, [str(cue) for cue in arrays["cues"]]).numpy()
    w1, b1, w2, b2, prior, rows = (
        arrays[key].astype(np.float32) for key in ("w1", "b1", "w2", "b2", "prior", "kinds")
    )
    odds = np.maximum(given @ w1 + b1, 0) @ w2 + b2
    truth = np.stack([indicator(each.kind) for each in questions]) > 0
    said = odds > 0
    order = np.argsort(-(odds @ rows.T + prior), axis=1)
    right = [
        [bool((rows[number] == truth[at]).all()) for number in order[at, :5]] for at in range(len(questions))
    ]
    operators = len(Operator)
    figures = {
        "micro_f1": float(2 * (said & truth).sum() / (said.sum() + truth.sum())),
        "hardness_accuracy": float((odds[:, operators:].argmax(1) == truth[:, operators:].argmax(1)).mean()),
    }
    return figures | {
        f"composition_top{m}": float(np.mean([any(row[:m]) for row in right])) for m in (1, 3, 5)
    }


def main() -> int:
    """Trains, measures, writes; returns the exit status."""
    options = parser(__doc__).parse_args()
    making = Making("training.conditions", NAME, FORMAT)
    questions = known(options.bench, QUESTIONS)
    # Fold 0 gives the figures and had a say in the settings.
    held = [each for each in questions if not fold_of(each.item["db"])]
    figures = measured(trained([each for each in questions if fold_of(each.item["db"])], options.seed), held)
    written(options.out, making.manifest(len(questions), figures), trained(questions, options.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
