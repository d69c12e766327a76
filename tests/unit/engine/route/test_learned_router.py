"""The learned leg on a small catalog, with the real networks: it stays on the graph, and sees no secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from engine.models.encoder import MiniLMEncoder
from engine.models.packaged import Packaged, read
from engine.models.pointer import FORMAT, NAME, PointerModel, packaged
from engine.question.question import Question
from engine.route import learned_router
from engine.route.router import HybridRouter
from engine.values.errors import PackagedError
from engine.values.ports import Match
from engine.values.schema_graph import Graph
from schema_catalog.types import Column, ForeignKey, MadeQuestion, ReadableColumns, Snapshot, Table, TableKind
from tests.support.graphs import connected


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


@pytest.fixture(scope="module")
def encoder() -> MiniLMEncoder:
    return MiniLMEncoder()


@pytest.fixture(scope="module")
def artifact() -> Packaged:
    return read(packaged(), NAME, FORMAT)


@pytest.fixture(scope="module")
def router(encoder: MiniLMEncoder, artifact: Packaged) -> HybridRouter:
    return HybridRouter(encoder, pointer=PointerModel(artifact))


def everything(*snapshots: Snapshot) -> list[tuple[Snapshot, ReadableColumns]]:
    return [
        (each, frozenset((*held.key, column.name) for held, column in each.columns())) for each in snapshots
    ]


def names(matches: Sequence[Match]) -> list[str]:
    return [match.snapshot.database for match in matches]


def test_what_is_decoded_stays_on_the_graph(router: HybridRouter) -> None:
    question = "names of singers and the venue of each concert"
    matches = router.rank(Question(question), everything(*CATALOG))
    assert all(match.sets for match in matches[:2])
    for match in matches:
        graph = Graph.of(match.snapshot)
        keys = [each.key for each in match.snapshot.tables]
        sets = [frozenset(one.tables) for one in match.sets]
        assert len(set(sets)) == len(sets)
        assert all(connected(graph, [keys.index(key) for key in one]) for one in sets)
        assert not sets or sum(one.probability for one in match.sets) == pytest.approx(1, abs=0.05)
        assert [one.probability for one in match.sets] == sorted(
            (one.probability for one in match.sets), reverse=True
        )
        assert {key for key, _ in match.tables} == set(keys)


def test_a_cut_that_leaves_every_database_changes_nothing(
    router: HybridRouter, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "Which customers made a purchase at what price?"
    decoded = router.rank(Question(question), everything(*CATALOG))
    monkeypatch.setattr(learned_router, "WHOLE_DATABASES", 1)
    cut = router.rank(Question(question), everything(*CATALOG))
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
    seen = router.rank(Question(question), restricted)
    never_there = router.rank(Question(question), everything(masked, SHOP, ZOO))
    assert [(m.logit, m.evidence, m.tables) for m in seen] == [
        (m.logit, m.evidence, m.tables) for m in never_there
    ]
    assert "concert" not in str([(m.tables, [one.tables for one in m.sets]) for m in seen])
    assert names(router.rank(Question(question), [restricted[1], (MUSIC, frozenset())])) == ["shop"]
    (behind,) = router.rank(Question(question), [(MUSIC, frozenset()), restricted[1]])
    assert (behind.position, behind.snapshot.database) == (1, "shop")


@pytest.mark.parametrize("question", ["", "?", "売上の合計は?", "a " * 600])
def test_any_question_is_ranked(router: HybridRouter, question: str) -> None:
    matches = router.rank(Question(question), everything(*CATALOG, database("japan", table("売上", "金額"))))
    assert len(matches) == 4
    assert np.isfinite([match.logit for match in matches]).all()


def test_a_network_that_does_not_fit_leaves_the_retrieval_leg(
    encoder: MiniLMEncoder, artifact: Packaged
) -> None:
    arrays = {name: array for name, array in artifact.arrays.items() if name != "network.contrast"}
    other = PointerModel(Packaged(artifact.manifest, arrays))
    with pytest.raises(PackagedError, match="do not fit"):
        other.read(["anything"])
    views = everything(*CATALOG)
    plain = HybridRouter(encoder).rank(Question("How many singers?"), views)
    assert HybridRouter(encoder, pointer=other).rank(Question("How many singers?"), views) == plain


@pytest.mark.parametrize("learned", [True, False])
def test_a_made_question_counts_in_both_legs_and_less_than_a_synonym(
    router: HybridRouter, encoder: MiniLMEncoder, *, learned: bool
) -> None:
    leg, question = router if learned else HybridRouter(encoder), "what did we turn over in each region"
    tables = tuple(table.key for table in SHOP.tables)
    asked = replace(SHOP, made_questions=(MadeQuestion(question, tables),))
    own = replace(SHOP, database="own", tables=(SHOP.tables[0], _called(SHOP.tables[1], "turn over")))

    def logits(*snapshots: Snapshot) -> dict[str, float]:
        found = leg.rank(Question(question), everything(*snapshots))
        return {match.snapshot.database: match.logit for match in found}

    before, after = logits(*CATALOG), logits(MUSIC, asked, ZOO)
    assert before["shop"] + 0.5 < after["shop"]
    assert (after["music"], after["zoo"]) == (before["music"], before["zoo"])
    both = logits(MUSIC, asked, own, ZOO)
    assert both["own"] > both["shop"] > both["music"]


def _called(table: Table, word: str) -> Table:
    first, price, *others = table.columns
    return replace(table, columns=(first, replace(price, synonyms=(word,)), *others))
