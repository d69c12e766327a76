"""Trains the ranker that comes along: a cross-encoder on statements made wrong by rule or by the model, and a head.

    python -m training.ranker --bench FOLDER --lists FILE --out FOLDER

`--lists` is what `training.lists` wrote, of databases that the cross-encoder is not trained on. The head, which weighs
its two scores beside what the engine knows anyway (`training.judgement.WHICH`), is fitted on them.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import sqlglot
import torch
from numpy.typing import NDArray
from sqlglot import exp
from torch import Tensor
from torch.nn import functional

from benchmarks.harness.drawing import Item, left_out, read_items
from benchmarks.harness.questions import TRAIN
from benchmarks.harness.schemas import snapshots
from engine.judgement.model import weighed
from engine.models.cross import HEADS, LAYERS, CrossEncoder, Pair, tokenized
from engine.models.cross_network import Heads, Pairs, Scores
from engine.ranking.ranker import FORMAT, NAME, phrases
from training.command import Making, parser
from training.command import written as written_to
from training.judgement import WHICH
from training.linker_split import Part, part_of
from training.lists import Kind, QuestionList, read
from training.logit import Choice, fitted
from training.mutations import mutations
from training.tuned import Tuned

GivenT = TypeVar("GivenT")

TUNED = 3
"""Layers of the encoder that are trained, from the top: the rest is the packaged model's."""

WRONG, LISTS, WRITTEN = 4, 10, 4
"""Wrong statements beside a right one; lists a step, and how many of them the language model wrote."""

RATE = 1e-4

_LEAST = ("min", "lowest", "least", "smallest", "earliest", "youngest", "shortest", "fewest", "cheapest")


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the phrases of statements, the right one first."""

    question: str
    statements: tuple[tuple[str, ...], ...]


def asked_for(item: Item) -> str:
    """The gold less a `min` that only PostgreSQL wants, around a column of a grouped statement."""
    if any(word in item["question"].lower() for word in _LEAST):
        return str(item["gold"])
    tree = sqlglot.parse_one(item["gold"], dialect="postgres")
    for node in list(tree.find_all(exp.Min)):
        if node.parent_select is not None and node.parent_select.args.get("group"):
            node.replace(node.this.copy())
    return tree.sql(dialect="postgres")


def example(item: Item, snapshot: Any, seed: str) -> Example | None:
    """None where no wrong statement could be made."""
    right = asked_for(item)
    wrong = mutations(right, snapshot, WRONG, seed)
    if not wrong or not phrases(right):
        return None
    return Example(item["question"], tuple(phrases(sql) for sql in (right, *wrong)))


def written(listed: QuestionList, item: Item, seed: str) -> Example | None:
    """What the model wrote: a right statement, the known one where it has none; None where all are right."""
    drawn = random.Random(seed)  # noqa: S311 - a seeded draw, no secret
    said = dict.fromkeys((phrases(each.sql), each.right) for each in listed.candidates)
    right = [words for words, good in said if good and words] or [phrases(asked_for(item))]
    wrong = [words for words, good in said if not good and words and words not in right]
    if not wrong or not right[0]:
        return None
    return Example(item["question"], (drawn.choice(right), *drawn.sample(wrong, min(WRONG, len(wrong)))))


class Trainer:
    """The cross-encoder in training, for so many steps."""

    def __init__(self, seed: int, steps: int) -> None:
        self.tuned = Tuned(Heads, seed, torch.get_num_threads(), TUNED, RATE)
        self._steps, self._step = steps, 0

    def scores(self, pairs: Pairs) -> Scores:
        """As the artifact will give them, up to its precision."""
        hidden = self.tuned.upper(self.tuned.lower(pairs.ids, pairs.mask), pairs.mask)
        found: Scores = self.tuned.heads(hidden, pairs)
        return found

    def learn(self, examples: Sequence[Example]) -> float:
        """One step; the loss before it."""
        pairs: list[Pair] = [(each.question, said) for each in examples for said in each.statements]
        found = self.scores(tokenized(self.tuned.tokenizer, pairs))
        loss = listwise(found, [len(each.statements) for each in examples]) + phrasewise(found, examples)
        self.tuned.step(loss, self._step / self._steps)
        self._step += 1
        return float(loss.detach())


def listwise(found: Scores, sizes: Sequence[int]) -> Tensor:
    """The cost of choosing the right statement of each list: by the whole, by the phrases, by both."""
    total = torch.zeros(())
    at = 0
    for size in sizes:
        whole, phrased = found.whole[at : at + size], found.phrase_total[at : at + size]
        for scores in (whole, phrased, whole + phrased):
            total = total - functional.log_softmax(scores, dim=0)[0]
        at += size
    return total / (3 * len(sizes))


def phrasewise(found: Scores, examples: Sequence[Example]) -> Tensor:
    """The cost of telling the phrases that the right statement has from those that it has not."""
    rows = [
        [float(phrase in each.statements[0]) for phrase in said]
        for each in examples
        for said in each.statements
    ]
    truth = torch.zeros_like(found.phrases)
    for number, row in enumerate(rows):
        kept = row[: truth.shape[1]]
        truth[number, : len(kept)] = torch.tensor(kept)
    costs = functional.binary_cross_entropy_with_logits(found.phrases, truth, reduction="none")
    # Wrong phrases are the fewer: both kinds weigh the same.
    wrong = (1 - truth) * found.present
    right = truth * found.present
    return 0.5 * (
        (costs * wrong).sum() / wrong.sum().clamp_min(1) + (costs * right).sum() / right.sum().clamp_min(1)
    )


def train(
    options: argparse.Namespace, questions: Mapping[str, Item], lists: Sequence[QuestionList]
) -> tuple[Trainer, int]:
    """The trained cross-encoder, and on how many questions. `questions`: by their ids; `lists`: of some of them."""
    schemas = snapshots(options.bench)
    by_rule = _endless(
        list(questions.values()), options.seed, lambda item, seed: example(item, schemas[item["db"]], seed)
    )
    by_model = _endless(lists, options.seed, lambda each, seed: written(each, questions[each.id], seed))
    trainer = Trainer(options.seed, options.steps)
    recent, started = 0.0, time.monotonic()
    asked: set[str] = set()
    for step in range(options.steps):
        batch = [*islice(by_model, WRITTEN * bool(lists))]
        batch += islice(by_rule, LISTS - len(batch))
        asked.update(each.question for each in batch)
        recent += trainer.learn(batch)
        if step % 20 == 19:  # noqa: PLR2004 - often enough to watch
            seconds = time.monotonic() - started
            sys.stdout.write(f"step {step + 1} loss {recent / 20:.3f} after {seconds:.0f} s\n")
            sys.stdout.flush()
            recent = 0.0
    return trainer, len(asked)


def _endless(
    given: Sequence[GivenT], seed: int, make: Callable[[GivenT, str], Example | None]
) -> Iterator[Example]:
    """The examples of what is given, in a drawn order, over and over."""
    order = list(given)
    random.Random(seed).shuffle(order)  # noqa: S311 - a seeded draw, no secret
    for at in count():
        made = make(order[at % len(order)], f"{seed}:{at}")
        if made is not None:
            yield made


def arrays_of(layers: Any, heads: Any) -> dict[str, NDArray[Any]]:
    """What an artifact holds, in half precision. `layers`, `heads`: torch modules."""
    found = {f"{LAYERS}.{name}": value for name, value in layers.state_dict().items()}
    found |= {f"{HEADS}.{name}": value for name, value in heads.state_dict().items()}
    return {name: value.detach().numpy().astype(np.float16) for name, value in found.items()}


def head_of(
    lists: Sequence[QuestionList], questions: Mapping[str, Item], reader: CrossEncoder
) -> tuple[NDArray[np.float64], dict[str, float]]:
    """The weights of the two scores beside what is known anyway; and how often a right statement is first, by each."""
    choices = []
    for each in lists:
        said = [(questions[each.id]["question"], phrases(one.sql)) for one in each.candidates]
        known = [[weighed(one.features, WHICH)] for one in each.candidates]
        right = np.array([one.right for one in each.candidates])
        choices.append(Choice(np.concatenate([reader.scores(said), known], axis=1), right))
    contested = [each for each in choices if each.right.any() and not each.right.all()]
    weights = fitted(contested, [0.0, 0.0, 1.0], 0.2 * len(contested), [True, True, False])

    def first(weights: Sequence[float]) -> float:
        return float(np.mean([each.right[np.argmax(each.features @ np.array(weights))] for each in choices]))

    figures = {"without": first([0.0, 0.0, 1.0]), "with": first(weights.tolist()), "lists": float(len(lists))}
    return weights[:2], figures


def main() -> int:
    """Trains, fits, measures, writes; returns the exit status."""
    made = parser(__doc__)
    made.add_argument("--lists", type=Path, nargs="+", required=True, help="what training.lists wrote")
    made.add_argument("--steps", type=int, default=400)
    options = made.parse_args()
    making = Making("training.ranker", NAME, FORMAT)
    items = read_items(options.bench / TRAIN.file)
    measured = frozenset(left_out(items))
    seen = {
        item["id"]: item
        for item in items
        if item["db"] not in measured and part_of(item["db"]) is Part.LINKER
    }
    lists = [
        each for file in options.lists for each in read(file) if each.kind is Kind.PLAIN and each.candidates
    ]
    wrong = [each for each in lists if each.id in seen and not all(one.right for one in each.candidates)]
    trainer, questions = train(options, seen, wrong)
    arrays = arrays_of(trainer.tuned.layers, trainer.tuned.heads)
    unseen = [each for each in lists if each.id not in seen]
    head, figures = head_of(unseen, {item["id"]: item for item in items}, CrossEncoder(arrays))
    written_to(options.out, making.manifest(questions, figures), arrays | {"head": head})
    return 0


if __name__ == "__main__":
    sys.exit(main())
