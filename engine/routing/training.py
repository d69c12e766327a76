"""Training of the learned router on questions whose databases and tables are known.

The arithmetic is behind `Trainer` (`engine.models.fitting`). Schema vectors are frozen, so every step compares a
question's right database with all others.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.routing.candidate_space import CandidateSpace, whole_field
from engine.routing.decoder import BeamSettings, table_scores
from engine.routing.graph import Graph, serialise
from engine.routing.index import Index
from engine.routing.pointer_api import Asked, Pointed, Pointer
from engine.routing.scoring import lexical
from engine.text.tokens import question_words

States = NDArray[np.float16]
"""The frozen layers' output for one text, (tokens, d)."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the database that answers it, by number in the index, and its tables, by number there."""

    question: str
    database: int
    tables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Terrain:
    """The D databases to choose from, with T tables. `graphs`: one for each; `field`: the whole index."""

    index: Index
    graphs: tuple[Graph, ...]
    field: CandidateSpace

    @staticmethod
    def of(index: Index) -> Terrain:
        """Everything an index holds."""
        graphs = tuple(part.graph for part in index.parts)
        return Terrain(index, graphs, whole_field(index, graphs, index.columns))


Portion = tuple[Terrain, list["Example"]]
"""A part of a catalog, with the examples whose databases it holds."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The questions of one step.

    `words`: (B, T), `coverage`: (B, D). `databases`: the right ones, by number in the field. `orders`: the right
    tables, by number in the field, in the order to be decoded.
    """

    states: tuple[States, ...]
    words: NDArray[np.float32]
    coverage: NDArray[np.float32]
    databases: tuple[int, ...]
    orders: tuple[tuple[int, ...], ...]


class Trainer(Protocol):
    """A network that learns."""

    def states(self, questions: Sequence[str]) -> list[States]:
        """What the frozen layers make of each question."""

    def learn(self, field: CandidateSpace, batch: Batch, rate: float) -> tuple[float, float]:
        """One step at `rate` of the full learning rate; returns (database loss, table loss) before it."""

    def pointer(self, temperature: float) -> Pointer:
        """The network as it stands, to ask."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """`passes` over the questions, in `least` to `most` steps of `batch` questions.

    `held_out`: share of the questions for the figures. `portion`: databases compared with each other at most.
    """

    passes: float = 3.0
    least: int = 20
    most: int = 900
    batch: int = 48
    held_out: float = 0.1
    portion: int = 400
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Progress:
    """`step` of `steps` is done; `databases` and `tables`: mean losses of the last steps."""

    step: int
    steps: int
    databases: float
    tables: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """`temperature` of the databases' logits; `figures` of the held-out questions, with `…_before` training."""

    temperature: float
    figures: dict[str, float]
    trained: int
    minutes: float


def held_out(question: str, share: float) -> bool:
    """By a hash of the text: the same question is on the same side in every run."""
    digest = hashlib.sha256(question.encode()).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def train(
    trainer: Trainer,
    terrain: Terrain,
    examples: Sequence[Example],
    settings: TrainingSettings,
    progress: Callable[[Progress], None],
) -> Outcome:
    """Trains on `examples` but the held-out ones. Raises `ValueError` where nothing is left to train on."""
    started = time.monotonic()
    rng = np.random.default_rng(settings.seed)
    # A catalog too large to be weighed as a whole is weighed in random portions, as large as can be.
    portions = portioned(terrain, examples, settings.portion, rng)
    apart = [
        (part, [one for one in some if held_out(one.question, settings.held_out)]) for part, some in portions
    ]
    kept = [
        (part, [one for one in some if not held_out(one.question, settings.held_out)])
        for part, some in portions
    ]
    count = sum(len(some) for _, some in kept)
    if not count:
        raise ValueError("there is no question to train on")
    before = measure(trainer.pointer(1.0), apart)
    steps = min(max(round(settings.passes * count / settings.batch), settings.least), settings.most)
    costs: list[tuple[float, float]] = []
    turns = _turns(trainer, [one for one in kept if one[1]], settings, rng)
    for step, (part, batch) in zip(range(steps), turns, strict=False):
        costs.append(trainer.learn(part.field, batch, rate(step, steps)))
        root, tables = np.mean(costs[-20:], axis=0).tolist()
        progress(Progress(step + 1, steps, root, tables, time.monotonic() - started))
    temperature = _temperature(trainer.pointer(1.0), apart)
    after = measure(trainer.pointer(temperature), apart)
    figures = after | {f"{name}_before": value for name, value in before.items()}
    return Outcome(temperature, figures, count, (time.monotonic() - started) / 60)


def portioned(
    terrain: Terrain, examples: Sequence[Example], size: int, rng: np.random.Generator
) -> list[Portion]:
    """The catalog, or random parts of it with at most `size` databases, each with the examples that it answers."""
    count = len(terrain.index.parts)
    if count <= size:
        return [(terrain, list(examples))]
    portions = []
    for numbers in np.array_split(rng.permutation(count), -(-count // size)):
        places = {number: place for place, number in enumerate(sorted(numbers.tolist()))}
        part = Terrain.of(Index([terrain.index.parts[number] for number in places]))
        some = [replace(one, database=places[one.database]) for one in examples if one.database in places]
        portions.append((part, some))
    return portions


def _turns(
    trainer: Trainer, portions: Sequence[Portion], settings: TrainingSettings, rng: np.random.Generator
) -> Iterator[tuple[Terrain, Batch]]:
    """Endless batches, from each portion as often as it has questions."""
    states = [trainer.states([one.question for one in some]) for _, some in portions]
    endless = [batches([len(each) for each in held], settings.batch, rng) for held in states]
    sizes = np.array([len(some) for _, some in portions])
    while True:
        turn = int(rng.choice(len(portions), p=sizes / sizes.sum()))
        part, some = portions[turn]
        numbers = next(endless[turn])
        held = [states[turn][number] for number in numbers]
        chosen = [some[number] for number in numbers]
        yield part, batch_of(part, chosen, held, rng)


def rate(step: int, steps: int) -> float:
    """Share of the full learning rate: rises over the first twentieth, then falls evenly to a thirtieth."""
    warm = max(1, min(30, steps // 20))
    return min(1.0, (step + 1) / warm) * max(1 / 30, 1 - step / steps)


def batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> Iterator[list[int]]:
    """Endless batches of numbers: each pass in another order, texts of like length together."""
    together = 8 * size
    while True:
        order = rng.permutation(len(lengths))
        for start in range(0, len(order), together):
            some = sorted(order[start : start + together].tolist(), key=lambda number: lengths[number])
            cut = [some[at : at + size] for at in range(0, len(some), size)]
            yield from (cut[number] for number in rng.permutation(len(cut)))


def batch_of(
    terrain: Terrain, examples: Sequence[Example], states: Sequence[States], rng: np.random.Generator
) -> Batch:
    """Examples as a step takes them; a set's tables come depth-first along the graph, in a drawn order."""
    shares = [lexical(question_words(one.question), terrain.index) for one in examples]
    orders = []
    for one in examples:
        first = terrain.field.tables_of(one.database).start
        ordered = serialise(terrain.graphs[one.database], one.tables, rng)
        orders.append(tuple(first + int(table) for table in ordered))
    return Batch(
        states=tuple(states),
        words=np.stack([words for words, _ in shares]).astype(np.float32),
        coverage=np.stack([coverage for _, coverage in shares]).astype(np.float32),
        databases=tuple(one.database for one in examples),
        orders=tuple(orders),
    )


def measure(pointer: Pointer, portions: Sequence[Portion]) -> dict[str, float]:
    """Recall of databases at 1 and 5, of tables at 5 in the right one, and mean negative log-likelihood; or nothing."""
    totals, count = np.zeros(4), 0
    for terrain, examples in portions:
        for one, pointed in zip(examples, _pointed(pointer, terrain, examples), strict=True):
            shares = _log_shares(pointed.logits)
            rank = int((shares > shares[one.database]).sum())
            tables = terrain.field.tables_of(one.database)
            right = {tables[table] for table in one.tables}
            found = set(_tables(pointed, tables, one.database)[:5])
            totals += (rank < 1, rank < 5, len(right & found) / len(right), -shares[one.database])  # noqa: PLR2004  recall at 5
        count += len(examples)
    if not count:
        return {}
    names = ("database_r1", "database_r5", "table_r5", "nll")
    return dict(zip(names, (totals / count).round(4).tolist(), strict=True))


def _tables(pointed: Pointed, tables: range, database: int) -> list[int]:
    found = [one for one in pointed.found if pointed.heads[one.head] == database]
    scores = table_scores(tables, pointed.tables[tables.start : tables.stop], found)
    return [tables[number] for number in np.argsort(-scores, kind="stable").tolist()]


def _pointed(pointer: Pointer, terrain: Terrain, examples: Sequence[Example]) -> Iterator[Pointed]:
    at_once = 64
    for start in range(0, len(examples), at_once):
        texts = [one.question for one in examples[start : start + at_once]]
        asked = [
            Asked.of(text, read, terrain.index, terrain.field)
            for text, read in zip(texts, pointer.read(texts), strict=True)
        ]
        yield from pointer.point(asked, terrain.field, BeamSettings())


def _temperature(pointer: Pointer, portions: Sequence[Portion]) -> float:
    """The maximum-likelihood temperature on the held-out questions; 1 without such questions."""
    logits = [
        (one.database, pointed.logits)
        for terrain, examples in portions
        for one, pointed in zip(examples, _pointed(pointer, terrain, examples), strict=True)
    ]
    if not logits:
        return 1.0
    tried = np.geomspace(0.5, 3.0, 40)
    costs = [
        -sum(float(_log_shares(row / temperature)[right]) for right, row in logits) for temperature in tried
    ]
    return float(tried[int(np.argmin(costs))])


def _log_shares(logits: NDArray[np.floating]) -> NDArray[np.float64]:
    raised = np.asarray(logits, dtype=np.float64) - float(np.max(logits))
    shares: NDArray[np.float64] = raised - np.log(np.exp(raised).sum())
    return shares
