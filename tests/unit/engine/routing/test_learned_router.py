"""The learned leg on a small catalog, with the real encoder: it learns, it stays on the graph, it sees no secret."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.core.ports import Match
from engine.models.encoder import MiniLMEncoder
from engine.models.fitting import NetworkTrainer
from engine.models.pointer import PointerModel
from engine.routing import learned_router
from engine.routing.artifact import BASE, Artifact, ArtifactError, ArtifactStore, Manifest, write
from engine.routing.graph import Graph
from engine.routing.index import Index, build
from engine.routing.learned_router import Versions
from engine.routing.router import HybridRouter
from engine.routing.training import (
    Example,
    Outcome,
    Progress,
    Terrain,
    TrainingSettings,
    batches,
    held_out,
    portioned,
    train,
)
from schema_catalog.types import Column, ForeignKey, ReadableColumns, Snapshot, Table, TableKind

HELD_OUT = 0.3


def table(name: str, *columns: str, to: tuple[str, str] | None = None) -> Table:
    keys = (ForeignKey((to[0],), "public", to[1], ("id",)),) if to else ()
    held = tuple(
        Column(column, "integer" if column.endswith("id") else "text") for column in ("id", *columns)
    )
    return Table("public", name, TableKind.TABLE, held, ("id",), foreign_keys=keys)


def database(name: str, *tables: Table) -> Snapshot:
    return Snapshot(name, ("public",), tuple(sorted(tables, key=lambda each: each.name)))


MUSIC = database(
    "music",
    table("singer", "name", "birth_year"),
    table("concert", "venue", "singer_id", to=("singer_id", "singer")),
    table("label", "city"),
)
SHOP = database(
    "shop",
    table("customer", "name", "email"),
    table("purchase", "price", "customer_id", to=("customer_id", "customer")),
)
ZOO = database("zoo", table("animal", "species", "weight"), table("cage", "area"))
CATALOG = (MUSIC, SHOP, ZOO)

_ASKED = {
    ("music", "singer"): ("warblers", "crooners", "people at the microphone", "voices on stage"),
    ("shop", "customer"): ("patrons", "folks who come in", "regulars", "guests of the house"),
    ("zoo", "animal"): ("beasts", "critters", "creatures behind bars", "inhabitants with paws"),
}
_WAYS = (
    "How many {} are there?",
    "List all {}.",
    "Who are the {}?",
    "Show the {} we have",
    "Which {} are new?",
)

EXAMPLES = tuple(
    Example(way.format(words), number, (tables.index(name),))
    for number, snapshot in enumerate(CATALOG)
    for tables in [[each.name for each in snapshot.tables]]
    for (owner, name), spoken in _ASKED.items()
    if owner == snapshot.database
    for words in spoken
    for way in _WAYS
)


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    return MiniLMEncoder()


@pytest.fixture(scope="module")
def trained(encoder: MiniLMEncoder) -> tuple[Artifact, Outcome, list[Progress]]:
    trainer = NetworkTrainer(None)
    terrain = Terrain.of(Index([build(each, encoder.encode) for each in CATALOG]))
    told: list[Progress] = []
    settings = TrainingSettings(passes=8, least=10, batch=16, held_out=HELD_OUT)
    outcome = train(trainer, terrain, EXAMPLES, settings, told.append)
    manifest = Manifest(BASE, "MiniLM", "2026-01-01", "a test")
    return Artifact(manifest, trainer.arrays(outcome.temperature)), outcome, told


@pytest.fixture(scope="module")
def router(
    encoder: MiniLMEncoder,
    trained: tuple[Artifact, Outcome, list[Progress]],
    tmp_path_factory: pytest.TempPathFactory,
) -> HybridRouter:
    folder = tmp_path_factory.mktemp("base")
    write(folder, trained[0].manifest, trained[0].arrays)
    return HybridRouter(encoder, versions=Versions(ArtifactStore(folder / "none", folder), PointerModel))


def everything(*snapshots: Snapshot) -> list[tuple[Snapshot, ReadableColumns]]:
    return [
        (each, frozenset((*held.key, column.name) for held, column in each.columns())) for each in snapshots
    ]


def names(matches: Sequence[Match]) -> list[str]:
    return [match.snapshot.database for match in matches]


def test_training_lowers_the_cost_of_questions_it_did_not_see(
    trained: tuple[Artifact, Outcome, list[Progress]],
) -> None:
    _, outcome, told = trained
    apart = [one for one in EXAMPLES if held_out(one.question, HELD_OUT)]
    assert 5 < len(apart) < len(EXAMPLES) - outcome.trained + 1
    assert outcome.trained + len(apart) == len(EXAMPLES)
    assert outcome.figures["nll"] < 0.8 * outcome.figures["nll_before"]
    assert outcome.figures["database_r1"] >= outcome.figures["database_r1_before"]
    assert [one.step for one in told] == list(range(1, told[-1].steps + 1))
    assert told[-1].databases < told[0].databases


def test_what_is_decoded_stays_on_the_graph(router: HybridRouter) -> None:
    question = "names of singers and the venue of each concert"
    matches = router.rank(question, everything(*CATALOG))
    assert all(match.sets for match in matches[:2])
    for match in matches:
        graph = Graph.of(match.snapshot)
        keys = [each.key for each in match.snapshot.tables]
        sets = [frozenset(one.tables) for one in match.sets]
        assert len(set(sets)) == len(sets)
        assert all(graph.connected([keys.index(key) for key in one]) for one in sets)
        assert not sets or sum(one.probability for one in match.sets) == pytest.approx(1, abs=0.05)
        assert [one.probability for one in match.sets] == sorted(
            (one.probability for one in match.sets), reverse=True
        )
        assert {key for key, _ in match.tables} == set(keys)


def test_many_questions_at_once_are_ranked_as_one_by_one(router: HybridRouter) -> None:
    questions = ["How many singers?", "???", "price of what each customer bought", "warblers"]
    together = router.rank_many(questions, everything(*CATALOG))
    for question, matches in zip(questions, together, strict=True):
        alone = router.rank(question, everything(*CATALOG))
        assert names(matches) == names(alone)
        assert [m.logit for m in matches] == pytest.approx([m.logit for m in alone], abs=1e-3)
        assert [[key for key, _ in m.tables] for m in matches] == [[k for k, _ in m.tables] for m in alone]


def test_a_cut_that_leaves_every_database_changes_nothing(
    router: HybridRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "Which customers made a purchase at what price?"
    decoded = router.rank(question, everything(*CATALOG))
    monkeypatch.setattr(learned_router, "WHOLE_DATABASES", 1)
    cut = router.rank(question, everything(*CATALOG))
    assert names(cut) == names(decoded)
    for one, other in zip(cut, decoded, strict=True):
        assert one.logit == pytest.approx(other.logit, abs=1e-4)
        assert [key for key, _ in one.tables] == [key for key, _ in other.tables]
        assert [each.tables for each in one.sets] == [each.tables for each in other.sets]


def test_what_the_asker_may_not_read_changes_nothing(router: HybridRouter) -> None:
    question = "How many singers, and which concert venue?"
    hidden = {("public", "concert", column.name) for column in MUSIC.tables[0].columns}
    restricted = [(each, readable - hidden) for each, readable in everything(*CATALOG)]
    masked = MUSIC.restricted_to(frozenset(restricted[0][1]))
    seen = router.rank(question, restricted)
    never_there = router.rank(question, everything(masked, SHOP, ZOO))
    assert [(m.logit, m.evidence, m.tables) for m in seen] == [
        (m.logit, m.evidence, m.tables) for m in never_there
    ]
    assert "concert" not in str([(m.tables, [one.tables for one in m.sets]) for m in seen])
    assert names(router.rank(question, [restricted[1], (MUSIC, frozenset())])) == ["shop"]
    (behind,) = router.rank(question, [(MUSIC, frozenset()), restricted[1]])
    assert (behind.position, behind.snapshot.database) == (1, "shop")


def test_two_databases_with_one_schema_come_side_by_side(router: HybridRouter) -> None:
    twin = Snapshot("music", ("public",), MUSIC.tables)
    matches = router.rank("How many singers are there?", everything(ZOO, MUSIC, twin, SHOP))
    assert names(matches)[:2] == ["music", "music"]
    assert [match.position for match in matches[:2]] == [1, 2]
    assert matches[0].logit == pytest.approx(matches[1].logit)


def test_a_catalog_of_nothing(router: HybridRouter) -> None:
    assert router.rank("How many singers?", []) == ()
    assert router.rank("How many singers?", everything(database("empty"))) == ()
    assert router.rank_many([], everything(*CATALOG)) == []


@pytest.mark.parametrize("question", ["", "?", "売上の合計は?", "a " * 600])
def test_any_question_is_ranked(router: HybridRouter, question: str) -> None:
    matches = router.rank(question, everything(*CATALOG, database("japan", table("売上", "金額"))))
    assert len(matches) == 4
    assert np.isfinite([match.logit for match in matches]).all()


def test_arrays_of_another_network_are_refused(trained: tuple[Artifact, Outcome, list[Progress]]) -> None:
    artifact, _, _ = trained
    arrays = {name: array for name, array in artifact.arrays.items() if name != "network.contrast"}
    with pytest.raises(ArtifactError, match="does not fit"):
        PointerModel(Artifact(artifact.manifest, arrays)).read(["anything"])


def test_training_on_nothing_is_refused(encoder: MiniLMEncoder) -> None:
    terrain = Terrain.of(Index([build(MUSIC, encoder.encode)]))
    with pytest.raises(ValueError, match="no question"):
        train(NetworkTrainer(None), terrain, (), TrainingSettings(), lambda _: None)


def test_a_pass_takes_every_question_once() -> None:
    lengths = [number % 7 for number in range(53)]
    some = batches(lengths, 5, np.random.default_rng(1))
    first: list[int] = []
    while len(first) < len(lengths):
        first += next(some)
    assert sorted(first) == list(range(53))


def test_a_damaged_base_leaves_the_retrieval_leg(encoder: MiniLMEncoder, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{", encoding="utf-8")
    broken = HybridRouter(
        encoder, versions=Versions(ArtifactStore(tmp_path / "none", tmp_path), PointerModel)
    )
    plain = HybridRouter(encoder)
    views = everything(*CATALOG)
    assert broken.rank("How many singers?", views) == plain.rank("How many singers?", views)


def test_a_large_catalog_is_weighed_in_portions(encoder: MiniLMEncoder) -> None:
    terrain = Terrain.of(Index([build(each, encoder.encode) for each in CATALOG]))
    rng = np.random.default_rng(1)
    portions = portioned(terrain, EXAMPLES, 2, rng)
    assert sorted(len(part.index.parts) for part, _ in portions) == [1, 2]
    names_of = {one.question: CATALOG[one.database].database for one in EXAMPLES}
    for part, some in portions:
        for one in some:
            assert part.index.parts[one.database].snapshot.database == names_of[one.question]
    assert sum(len(some) for _, some in portions) == len(EXAMPLES)
    assert portioned(terrain, EXAMPLES, 3, rng)[0][0] is terrain
    settings = TrainingSettings(passes=1, least=4, most=4, batch=8, portion=2)
    outcome = train(NetworkTrainer(None), terrain, EXAMPLES, settings, lambda _: None)
    assert outcome.figures["database_r1"] > 0
