"""Trains the router that comes with the program, on Spider's training questions.

    python -m training.router --bench FOLDER --wordnet FOLDER --out engine/models/router_base
        --factors benchmarks/results/routing.json

The databases of Spider's development questions, of the variants of these, and of the pool are not among the
candidates and give no question: what is learned is how questions speak of schemas, not which databases there
are. At every turn a random part of the databases is the catalog, so that no database is the usual answer. A
third of the questions has words of the schema replaced by WordNet's neighbours of them.

How much each part of a database's logit tells of databases that were not trained on, training cannot see: `--factors`
takes the multipliers that folds over the training databases gave (`training.routing_folds`).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.harness.drawing import Item, read_items
from benchmarks.harness.schemas import snapshots
from engine.models.encoder import MiniLMEncoder
from engine.models.packaged import Arrays
from engine.models.pointer import FORMAT, NAME, NETWORK
from engine.route.index import Index, SchemaIndexEntry, build
from engine.values.ports import Encoder
from engine.values.settings import EncoderSettings
from training.command import Making, parser, written
from training.router_batches import Example, States, Terrain, batch_of, rate
from training.router_network import NetworkTrainer
from training.wordnet import WordNet, reworded, writable

QUESTIONS = ("spider/train.jsonl", "spider/train_others.jsonl")
CROWDED = 300
"""Questions taken of one database at most: a few have hundreds that differ in a name alone."""

BATCH, TURNS = 48, 4
"""Questions a step, and steps on the same part of the databases."""

LEAST_DATABASES = 60
REWORDED = 0.3
"""Share of reworded questions among those that are trained on."""

SHARES = (0.35, 0.6, 0.9)
"""Of a question's words for the schema, how many are replaced: a reworded question for each."""

LONGEST = 50
"""Tokens: beyond, a question lengthens its whole batch."""


@dataclass(frozen=True, slots=True)
class Material:
    """Questions with the frozen layers' states: the first `plain` as they are, the rest reworded."""

    items: list[Item]
    states: list[States]
    plain: int


@dataclass(frozen=True, slots=True)
class Course:
    """How long is trained, from which choices, and without which databases."""

    steps: int
    seed: int
    apart: frozenset[str]


def main() -> int:
    """Trains and writes the artifact's folder; exit status 2 where the data is not there."""
    made = parser(__doc__, seed=0)
    made.add_argument("--wordnet", type=Path, required=True, help="folder of WordNet's data files")
    made.add_argument("--steps", type=int, default=1000)
    made.add_argument("--threads", type=int, default=1)
    made.add_argument("--factors", type=Path, help="the folds' figures: weights are multiplied as they say")
    args = made.parse_args()
    if not (args.bench / QUESTIONS[0]).is_file() or not (args.wordnet / "data.noun").is_file():
        print("no benchmark data or no WordNet there", file=sys.stderr)
        return 2
    making, started = Making("training.router", NAME, FORMAT), time.monotonic()
    trainer = NetworkTrainer(EncoderSettings(threads=args.threads), seed=args.seed)
    items = [item for name in QUESTIONS for item in read_items(args.bench / name)]
    parts = entries(args.bench, {item["db"] for item in items}, MiniLMEncoder(EncoderSettings()))
    found, plain = worded(items, WordNet.load(args.wordnet), args.seed)
    material = Material(found, trainer.states([item["question"] for item in found]), plain)
    for step, root, tables in learned(trainer, material, parts, Course(args.steps, args.seed, frozenset())):
        if step % 25 == 0:
            seconds = time.monotonic() - started
            print(f"{step}/{args.steps} {root:.3f} {tables:.3f} {seconds:.0f} s", flush=True)
    known = {} if args.factors is None else factors(args.factors)
    written(args.out, making.manifest(plain), weighed(trainer.arrays(1.0), known))
    return 0


def factors(file: Path) -> dict[str, float]:
    """Part → what its weight is to be multiplied by, as the folds' report put it."""
    weights = json.loads(file.read_text(encoding="utf-8"))["parts"]["folds"]["tables"]["weights"]
    return {each["part"]: each["factor"] for each in weights}


def weighed(arrays: Arrays, factors: Mapping[str, float]) -> Arrays:
    """The arrays with the weights of the parts of a database's logit multiplied; part → factor."""
    heavier = {f"{NETWORK}.root.{part}": np.float32(factor) for part, factor in factors.items()}
    return {**arrays, **{name: arrays[name] * factor for name, factor in heavier.items()}}


def entries(bench: Path, wanted: Collection[str], encoder: Encoder) -> dict[str, SchemaIndexEntry]:
    """The index entries of Spider's databases that are `wanted`, by name."""
    return {
        name: build(snapshot, encoder.encode)
        for name, snapshot in snapshots(bench, schema="public").items()
        if name in wanted
    }


def worded(
    items: Sequence[Item], wordnet: WordNet, seed: int, spared: Callable[[str, str], bool] | None = None
) -> tuple[list[Item], int]:
    """`CROWDED` questions of a database at most, then reworded ones of them; and how many are as they were.

    `spared`: tells of a word and a neighbour whether no question may be reworded so.
    """
    rng = np.random.default_rng(seed)
    vocabulary = writable()
    counts: dict[str, int] = {}
    plain: list[Item] = []
    for number in rng.permutation(len(items)).tolist():
        item = items[number]
        counts[item["db"]] = counts.get(item["db"], 0) + 1
        if counts[item["db"]] <= CROWDED:
            plain.append(item)
    other = [
        {**item, "question": text}
        for item in plain
        for share in SHARES
        if (text := reworded(item, share, wordnet, vocabulary, rng, spared=spared)) != item["question"]
    ]
    return plain + other, len(plain)


def learned(
    trainer: NetworkTrainer, material: Material, parts: dict[str, SchemaIndexEntry], course: Course
) -> Iterator[tuple[int, float, float]]:
    """Learns as the result is asked for: after each step its number and both losses."""
    names = np.array(sorted(set(parts) - course.apart))
    fits = [len(states) < LONGEST for states in material.states]
    for first in range(0, course.steps, TURNS):
        # By step: the router that ships was trained on what this draws.
        rng = np.random.default_rng([course.seed, first])
        some = sorted(rng.permutation(names)[: rng.integers(LEAST_DATABASES, len(names) + 1)].tolist())
        terrain, numbers = terrain_of(parts, some)
        bags = _bags(material, fits, numbers, rng)
        for step, bag in enumerate(bags, start=first):
            chosen = [_example(terrain, numbers, material.items[number]) for number in bag]
            states = [material.states[number] for number in bag]
            batch = batch_of(terrain, chosen, states, rng)
            if step < course.steps:
                yield step, *trainer.learn(terrain.field, batch, rate(step, course.steps))


def _bags(
    material: Material, fits: Sequence[bool], numbers: Collection[str], rng: np.random.Generator
) -> list[list[int]]:
    """Numbers of questions about some databases for `TURNS` steps, texts of like length together."""
    bag: list[int] = []
    while len(bag) < BATCH * TURNS:
        low, high = (material.plain, len(fits)) if rng.random() < REWORDED else (0, material.plain)
        number = int(rng.integers(low, high))
        if fits[number] and material.items[number]["db"] in numbers:
            bag.append(number)
    bag.sort(key=lambda number: len(material.states[number]))
    return [bag[turn * BATCH : (turn + 1) * BATCH] for turn in rng.permutation(TURNS).tolist()]


def terrain_of(parts: dict[str, SchemaIndexEntry], names: Sequence[str]) -> tuple[Terrain, dict[str, int]]:
    """The databases of these names, and the number of each."""
    numbers = {name: number for number, name in enumerate(names)}
    return Terrain.of(Index([parts[name] for name in names])), numbers


def _example(terrain: Terrain, names: dict[str, int], item: Item) -> Example:
    number = names[item["db"]]
    tables = {table.name: n for n, table in enumerate(terrain.index.parts[number].snapshot.tables)}
    return Example(item["question"], number, tuple(tables[name] for name in item["tables"]))


if __name__ == "__main__":
    sys.exit(main())
