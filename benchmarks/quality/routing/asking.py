"""Questions asked of one trained network over one catalog, by every system whose decoder is compared.

Owns the systems: a search, and how its sets are mixed with what each table is worth alone. Marks are `table_marks`'s,
searches `searches`'s. Heavy: imports torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import process_time

import numpy as np
from numpy.typing import NDArray

from benchmarks.quality.routing.searches import Beam, Scene, Search, Searched, searched, unconstrained
from benchmarks.quality.routing.table_marks import Mark, Marked, marked
from engine.models.beams import StepWeights
from engine.models.encoder import loaded_model
from engine.models.network import Ground, Names, Network
from engine.models.pointer import PointerModel, build, likely_databases, surveyed
from engine.routing.artifact import ArtifactStore
from engine.routing.decoder import FIRST_SHARE, BeamSettings, table_scores
from engine.routing.index import Index, SchemaIndexEntry
from engine.routing.pointer_api import Asked, Encoded
from engine.routing.training import Terrain
from engine.settings import EncoderSettings

RANKED = 20
"""Databases whose tables are ranked where none is given."""

LEAST_SHARE = 1e-6
"""Tables that no set holds stay in the order of what each is worth alone."""

Vectors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class System:
    """A search, and the share that a table's probability of being the first has in its score."""

    name: str
    search: Search | None
    first_share: float = FIRST_SHARE


TODAY = "engine"
SYSTEMS = (
    System(TODAY, Search()),
    System("width 1", Search(width=1)),
    System("width 2", Search(width=2)),
    System("width 8", Search(width=8)),
    System("any table may follow", Search(constrained=False)),
    System("groups that differ", Search(beam=Beam.PENALISED)),
    System("one beam of 20", Search(width=20, beam=Beam.PLAIN)),
    System("one beam of 4", Search(width=4, beam=Beam.PLAIN)),
    System("sets alone", Search(), LEAST_SHARE),
    System("any table may follow, sets alone", Search(constrained=False), LEAST_SHARE),
    System("single tables alone", None, 1.0),
)

BESIDE = (TODAY, "sets alone", "single tables alone")
"""Systems that another run's network is asked by."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its right tables, by name, in the schema `public`; `wording`: how it is put."""

    id: str
    wording: str
    text: str
    database: str
    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """A trained network, ready to be asked; `read`: its encoder. `temperature`: of its databases' logits."""

    read: Callable[[Sequence[str]], Sequence[Encoded]]
    network: Network
    step: StepWeights
    temperature: float

    @staticmethod
    def of(store: ArtifactStore, version: str) -> Reader:
        """Raises `ArtifactError` where there is no such version."""
        artifact, settings = store.load(version), EncoderSettings(threads=1)
        _, network = build(artifact, loaded_model(settings))
        network.eval()
        temperature = float(artifact.arrays["temperature"])
        return Reader(PointerModel(artifact, settings).read, network, StepWeights.of(network), temperature)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Databases as one network knows them, with the graph's constraint and free of it.

    `numbers`: of each database, by name.
    """

    terrain: Terrain
    ground: Ground
    free: Ground
    names: Names
    numbers: dict[str, int]

    @staticmethod
    def of(parts: Sequence[SchemaIndexEntry], network: Network) -> Catalog:
        """The databases of `parts`."""
        terrain = Terrain.of(Index(parts))
        ground = Ground.of(terrain.field)
        numbers = {part.snapshot.database: number for number, part in enumerate(parts)}
        return Catalog(terrain, ground, unconstrained(ground), network.name(ground), numbers)

    def right(self, question: Question) -> frozenset[int]:
        """The right tables' numbers in the field; raises `KeyError` for a table that is not there."""
        number = self.numbers[question.database]
        first = self.terrain.field.tables_of(number).start
        tables = self.terrain.index.parts[number].snapshot.tables
        places = {table.key: first + place for place, table in enumerate(tables)}
        return frozenset(places["public", name] for name in question.tables)

    def linked(self, question: Question) -> bool:
        """Whether the schema graph connects the right tables."""
        number = self.numbers[question.database]
        first = self.terrain.field.tables_of(number).start
        return self.terrain.graphs[number].connected([table - first for table in self.right(question)])


@dataclass(frozen=True, slots=True)
class _Read:
    """A question's row of a scene: log-probabilities of the databases, (D,), and of each table as the first, (T,)."""

    scene: Scene
    row: int
    databases: Vectors
    firsts: NDArray[np.float32]


def asked(
    reader: Reader, catalog: Catalog, questions: Sequence[Question], systems: Sequence[System]
) -> Iterator[Marked]:
    """The questions, marked; processor time is that of one thread."""
    started = process_time()
    texts = [one.text for one in questions]
    terrain = catalog.terrain
    every = [
        Asked.of(text, read, terrain.index, terrain.field)
        for text, read in zip(texts, reader.read(texts), strict=True)
    ]
    survey = surveyed(reader.network, catalog.ground, catalog.names, every)
    taken = 1000 * (process_time() - started) / len(questions)
    scene = Scene(reader.step, catalog.ground, catalog.free, survey)
    logits = survey.root.numpy().astype(np.float64) / reader.temperature
    firsts = reader.network.first_tables(survey, catalog.ground).numpy()
    for row, one in enumerate(questions):
        shares = logits[row] - np.logaddexp.reduce(logits[row])
        read = _Read(scene, row, shares, firsts[row])
        number = catalog.numbers[one.database]
        right = catalog.right(one)
        yield Marked(
            id=one.id,
            wording=one.wording,
            database=one.database,
            tables=len(right),
            linked=catalog.linked(one),
            database_rank=int((shares > shares[number]).sum()) + 1,
            milliseconds=taken,
            marks=(
                *_given(read, number, right, systems),
                *_open(read, right, systems),
            ),
        )


def _given(read: _Read, number: int, right: frozenset[int], systems: Sequence[System]) -> Iterator[Mark]:
    """Within the right database; one beam over all databases is no other there."""
    chosen = [one for one in systems if one.search is None or one.search.beam is not Beam.PLAIN]
    field = read.scene.ground.field
    tables = np.array(field.tables_of(number))
    found = _searches(read, chosen, np.array([number]))
    for one in chosen:
        result = found.get(one.search)
        scores = _scores(read, one, result)[tables]
        ranked = tables[np.argsort(-scores, kind="stable")].tolist()
        sets = [] if result is None else [frozenset(each.tables) for each in result.sets.get(number, ())]
        yield marked(
            one.name, ranked, sets, right, given=True, milliseconds=result.milliseconds if result else 0.0
        )


def _open(read: _Read, right: frozenset[int], systems: Sequence[System]) -> Iterator[Mark]:
    """Over all databases."""
    found = _searches(
        read, systems, likely_databases(read.databases.astype(np.float32), BeamSettings().groups)
    )
    owners = read.scene.ground.field.owners
    among = np.zeros(len(read.databases), dtype=bool)
    among[np.argsort(-read.databases, kind="stable")[:RANKED]] = True
    tables = np.flatnonzero(among[owners])
    for one in systems:
        result = found.get(one.search)
        scores = np.log(_scores(read, one, result) + 1e-12) + read.databases[owners]
        ranked = tables[np.argsort(-scores[tables], kind="stable")].tolist()
        yield marked(
            one.name,
            ranked,
            [] if result is None else _sets(read, result),
            right,
            given=False,
            milliseconds=result.milliseconds if result else 0.0,
        )


def _searches(
    read: _Read, systems: Sequence[System], databases: NDArray[np.intp]
) -> Mapping[Search | None, Searched]:
    """Each search once, in turns: the first of a question waits for its arrays to come from memory."""
    ways = list(dict.fromkeys(one.search for one in systems if one.search is not None))
    turn = read.row % len(ways) if ways else 0
    prices = read.databases[databases].astype(np.float32)
    return {way: searched(way, read.scene, read.row, databases, prices) for way in ways[turn:] + ways[:turn]}


def _scores(read: _Read, system: System, found: Searched | None) -> Vectors:
    """(T,): of each table, given its database."""
    scores: Vectors = np.exp(read.firsts.astype(np.float64))
    for database, sets in (found.sets if found else {}).items():
        tables = read.scene.ground.field.tables_of(database)
        held = slice(tables.start, tables.stop)
        scores[held] = table_scores(tables, read.firsts[held], sets, system.first_share)
    return scores


def _sets(read: _Read, found: Searched) -> list[frozenset[int]]:
    """Of all databases, likeliest first."""
    every = [
        (read.databases[database] + one.log_probability, frozenset(one.tables))
        for database, sets in found.sets.items()
        for one in sets
    ]
    return [tables for _, tables in sorted(every, key=lambda pair: -pair[0])]
