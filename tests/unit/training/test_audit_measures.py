"""The measures of parts on databases that had no say: counts and shares of examples whose answer is known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.core.elements import Relation, ValueLink
from engine.core.state import Route
from engine.linking.index import ValueIndex
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind
from schema_catalog.values import ColumnValues
from training import ranker_measures, value_thresholds
from training.certainty import at_home
from training.certainty_lists import Kind, QuestionList

SINGER = Table(
    "m", "singer", TableKind.TABLE, (Column("id", "bigint"), Column("country", "text")), primary_key=("id",)
)
SONG = Table(
    "m",
    "song",
    TableKind.TABLE,
    (Column("title", "text"), Column("singer_id", "bigint")),
    foreign_keys=(ForeignKey(("singer_id",), "m", "singer", ("id",)),),
)
MUSIC = Snapshot("m", ("m",), (SINGER, SONG))
COUNTRY = ("m", "singer", "country")


def asked(gold: str) -> value_thresholds.Ready:
    """A question about the singers' countries, of which France and Italy are stored."""
    item = {"question": "Singers from france?", "gold": gold, "columns": ["singer.id", "singer.country"]}
    index = ValueIndex([ColumnValues(COUNTRY, ("France", "Italy"))])
    return value_thresholds.Ready(item, Route(Database("m", "", "m", ("m",)), MUSIC, 1.0, ()), index)


def test_a_link_is_right_by_its_value_and_its_column() -> None:
    question = asked("SELECT id FROM singer WHERE country = 'France'")
    right = ValueLink("france", COUNTRY, ("France",), 1.0, Relation.EQUALS)
    elsewhere = ValueLink("france", ("m", "song", "title"), ("France",), 1.0, Relation.EQUALS)
    other = ValueLink("italy", COUNTRY, ("Italy",), 1.0, Relation.EQUALS)
    found = value_thresholds.counted(question, [right, elsewhere, other])
    assert found == value_thresholds.Counted(links=3, right=1, wanted=1, found=1)
    figures = value_thresholds.figures([found])
    assert figures["precision"] == pytest.approx(1 / 3)
    assert figures["recall"] == 1.0


def test_the_signs_of_a_pattern_are_no_part_of_a_value() -> None:
    assert list(value_thresholds.texts("SELECT 1 WHERE a LIKE '%ran%' AND b = 2")) == ["ran"]


def test_a_question_is_linked_with_the_thresholds_given() -> None:
    question = asked("SELECT id FROM singer WHERE country = 'France'")
    links = question.links(value_thresholds.Setting())
    assert [(link.column, link.values) for link in links] == [(COUNTRY, ("France",))]


def test_shares_have_intervals_over_databases() -> None:
    outcomes = [ranker_measures.Outcome(name, {"network": name == "a"}) for name in "aab"]
    found = ranker_measures.figures(outcomes)
    assert (found["n"], found["of"]) == (3, 2)
    assert found["network"] == [0.667, 0.0, 1.0]


def test_a_question_made_ambiguous_is_in_the_fold_of_its_database(tmp_path: Path) -> None:
    (tmp_path / "spider").mkdir()
    train = tmp_path / "spider" / "train.jsonl"
    train.write_text(json.dumps({"id": "spider-train-0007", "db": "music"}) + "\n", encoding="utf-8")
    made = QuestionList(
        "ambiguous:ambiguous-T-0007", Kind.AMBIGUOUS, "ambiguous_t_0007", (), {"constant": 1.0}, ()
    )
    plain = QuestionList("plain:spider-train-0009", Kind.PLAIN, "pets", (), {"constant": 1.0}, ())
    assert [each.database for each in at_home([made, plain], tmp_path)] == ["music", "pets"]
