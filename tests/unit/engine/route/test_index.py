"""The stacked index: as if every database had been scored alone; a shortlist where there are many."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.models.encoder import MiniLMEncoder
from engine.question.question import Question
from engine.question.tokens import question_words
from engine.route import index as mapped
from engine.route.index import Index, build
from engine.route.router import HybridRouter
from engine.route.scoring import EncodedQuestion, database_words, shortlist, table_words, word_shares
from engine.values.settings import EncoderSettings
from schema_catalog.types import Column, ReadableColumns, Snapshot, Table, TableKind
from tests.support.scripted import WordEncoder

Vectors = NDArray[np.float32]


WORDS = "singer concert venue album song order item price customer stock city name age weight date".split()  # noqa: SIM905  words
ENCODER = WordEncoder()


def database(name: str, rng: np.random.Generator, tables: int) -> Snapshot:
    def table(number: int) -> Table:
        columns = dict.fromkeys(rng.choice(WORDS, int(rng.integers(1, 7))).tolist())
        named = f"{rng.choice(WORDS)}_{number}"
        return Table("public", named, TableKind.TABLE, tuple(Column(column, "text") for column in columns))

    return Snapshot(name, ("public",), tuple(table(number) for number in range(tables)))


def catalog(databases: int, *, seed: int = 3, largest: int = 6) -> list[Snapshot]:
    rng = np.random.default_rng(seed)
    return [database(f"db{n}", rng, int(rng.integers(1, largest))) for n in range(databases)]


def asked(text: str) -> EncodedQuestion:
    sentence, tokens = ENCODER.encode_tokens_many([text])[0]
    return EncodedQuestion(sentence, tokens, question_words(text))


def lexical(words: Sequence[str], index: Index) -> tuple[np.ndarray, np.ndarray]:
    """Of all tables, and of all databases."""
    shares, every = word_shares(words, index), np.arange(len(index.tables))
    return table_words(words, shares, index, every), database_words(words, shares, index)


def whole(snapshot: Snapshot) -> tuple[Snapshot, ReadableColumns]:
    return snapshot, frozenset((*table.key, column.name) for table, column in snapshot.columns())


def test_stacking_keeps_every_part_in_its_place() -> None:
    parts = [build(snapshot, ENCODER.encode) for snapshot in catalog(12)]
    index = Index(parts)
    for number, (own, held) in enumerate(zip(parts, index.parts, strict=True)):
        first, end = index.table_starts[number], index.table_ends[number]
        assert np.array_equal(index.tables[first:end], own.tables)
        columns = slice(index.column_starts[first], index.column_ends[end - 1])
        assert np.array_equal(index.columns[columns], own.columns)
        assert np.array_equal(index.column_starts[first:end] - index.column_starts[first], own.starts)
        assert (index.owners[first:end] == number).all()
        assert list(index.keys[first:end]) == [table.key for table in own.snapshot.tables]
        assert np.shares_memory(held.columns, index.columns)
        assert held.words is own.words
    restored = index.quantized.values * index.quantized.scales[:, None]
    assert np.allclose(restored, index.columns, atol=index.quantized.scales.max() / 2 + 1e-6)


def test_many_questions_are_ranked_as_one_by_one() -> None:
    views = [whole(snapshot) for snapshot in catalog(20)]
    router = HybridRouter(ENCODER)
    texts = ["singers by age", "price of every item", "", "zebra", "singers by age"]
    questions = [Question(each) for each in texts]
    together = router.rank_many(questions, views)
    for question, matches in zip(questions, together, strict=True):
        alone = HybridRouter(ENCODER).rank(question, views)
        assert [match.position for match in alone] == [match.position for match in matches]
        assert [match.tables for match in alone] == [match.tables for match in matches]
    with ThreadPoolExecutor(len(questions)) as pool:
        at_once = list(pool.map(lambda question: router.rank(question, views), questions))
    for matches, other in zip(together, at_once, strict=True):
        assert [match.tables for match in matches] == [match.tables for match in other]
    assert router.rank_many([], views) == []
    assert router.rank_many([Question("x")], []) == [()]


def test_routers_over_mapped_files_rank_as_one_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "LEAST", 1)
    views = [whole(snapshot) for snapshot in catalog(20)]
    question = "singers by age"
    expected = HybridRouter(ENCODER).rank(Question(question), views)
    for _ in range(2):
        found = HybridRouter(ENCODER, folder=tmp_path).rank(Question(question), views)
        assert [(match.logit, match.tables) for match in found] == [
            (match.logit, match.tables) for match in expected
        ]
    assert len(list(tmp_path.iterdir())) == 3, "tables, columns, columns in 8 bits: one copy for both"


def test_roles_with_other_views_do_not_disturb_each_other() -> None:
    snapshots = catalog(8)
    router = HybridRouter(ENCODER)
    all_of_it = [whole(snapshot) for snapshot in snapshots]
    some = [(snapshot, frozenset(list(readable)[:1])) for snapshot, readable in all_of_it]
    first = router.rank(Question("singer name"), all_of_it)
    narrow = router.rank(Question("singer name"), some)
    assert [match.tables for match in router.rank(Question("singer name"), all_of_it)] == [
        m.tables for m in first
    ]
    assert {len(match.snapshot.tables) for match in narrow} == {1}
    changed = [whole(snapshot) for snapshot in catalog(8)]
    assert [match.tables for match in router.rank(Question("singer name"), changed)] == [
        m.tables for m in first
    ]


def test_a_table_of_five_thousand_columns_and_names_in_other_scripts() -> None:
    wide = Table("public", "wide", TableKind.TABLE, tuple(Column(f"measure_{n}", "int") for n in range(5000)))
    scripts = [
        ("売上", "顧客名"),
        ("заказы", "цена"),
        ("παραγγελίες", "ημερομηνία"),
        ("طلبات", "سعر"),
        ("🙂", "日付"),
    ]
    others = tuple(
        Table("public", name, TableKind.TABLE, (Column(column, "text"),)) for name, column in scripts
    )
    snapshots = [Snapshot("wide", ("public",), (wide,)), Snapshot("world", ("public",), others)]
    router = HybridRouter(ENCODER)
    views = [whole(snapshot) for snapshot in snapshots]
    assert router.rank(Question("measure 4999"), views)[0].snapshot.database == "wide"
    for name, column in scripts[:4]:
        best = router.rank(Question(f"{name} {column}?"), views)[0]
        assert (best.snapshot.database, best.tables[0][0][1]) == ("world", name)


def test_of_many_databases_the_shortlist_keeps_those_that_comparing_all_finds() -> None:
    rng = np.random.default_rng(5)
    index = Index(
        [build(database(f"{WORDS[n % len(WORDS)]} {n}", rng, 3), ENCODER.encode) for n in range(900)]
    )
    whole_of_it, held = np.ones(400, dtype=np.float32), np.zeros(400)
    assert len(shortlist(whole_of_it, held)) == 400
    questions = [f"{one} of a {two}" for one in WORDS for two in WORDS[1:7]]
    kept = 0
    for text in questions:
        question = asked(text)
        whole_of_it = index.whole @ question.sentence
        _, held = lexical(question.words, index)
        some = shortlist(whole_of_it, held)
        assert np.array_equal(some, np.unique(some))
        assert 128 <= len(some) <= 3 * 128
        best = np.maximum.reduceat(index.tables @ question.sentence, index.table_starts)
        likeliest = np.argsort(-(whole_of_it + 2 * best + 4 * held), kind="stable")[:5]
        kept += int(np.isin(likeliest, some).sum())
    assert kept >= 0.98 * 5 * len(questions)


def test_the_first_question_leaves_torch_with_the_threads_that_were_set() -> None:
    """With more, threads that wait for each other on a busy machine make a question a hundred times slower."""

    class Schemas:
        """Gives texts their vectors without loading the model."""

        def encode(self, texts: Sequence[str]) -> Vectors:
            return np.full((len(texts), 384), 384**-0.5, dtype=np.float32)

    torch.set_num_threads(2)
    router = HybridRouter(MiniLMEncoder(EncoderSettings(threads=1)), Schemas())
    # In this thread, of which alone the number is known here.
    router.rank_many([Question("how many singers?")], [whole(snapshot) for snapshot in catalog(3)])
    assert torch.get_num_threads() == 1
