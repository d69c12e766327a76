"""Which questions are asked, and that no gold comes with them."""

from __future__ import annotations

import dataclasses
from itertools import chain
from pathlib import Path

import pytest

from benchmarks.quality.candidates.questions import (
    SETS,
    Question,
    QuestionSet,
    Selection,
    asked,
    by_name,
    catalogued,
)
from engine.calibration.splits import Split

EVERYTHING = Selection(None, seed=1)
SPIDER, UNROUTED = SETS[0], SETS[1]


def ids(bench: Path, of: QuestionSet, selection: Selection) -> list[str]:
    return [each.question.id for each in asked(bench, of, selection)]


def test_a_question_has_no_field_for_gold() -> None:
    assert [field.name for field in dataclasses.fields(Question)] == ["id", "text", "database"]


@pytest.mark.parametrize("of", SETS, ids=lambda of: of.name)
def test_no_gold_comes_with_a_question(bench: Path, of: QuestionSet) -> None:
    found = asked(bench, of, EVERYTHING)
    assert found
    assert "SECRET-GOLD" in (bench / of.file).read_text(encoding="utf-8")
    assert "SECRET-GOLD" not in repr(found)


def test_a_question_without_its_database_does_not_name_it(bench: Path) -> None:
    assert {each.question.database for each in asked(bench, SPIDER, EVERYTHING)} == {"music"}
    assert "music" not in repr(asked(bench, UNROUTED, EVERYTHING))


def test_a_smaller_sample_is_part_of_a_larger_one_and_in_the_files_order(bench: Path) -> None:
    whole = ids(bench, SPIDER, EVERYTHING)
    ten, twenty = (ids(bench, SPIDER, Selection(n, seed=1)) for n in (10, 20))
    assert len(whole) == 40
    assert len(ten) == 10
    assert set(ten) < set(twenty) < set(whole)
    assert ten == sorted(ten, key=whole.index)
    assert ten != ids(bench, SPIDER, Selection(10, seed=2))


def test_halves_and_splits_are_disjoint_and_complete(bench: Path) -> None:
    whole = sorted(ids(bench, SPIDER, EVERYTHING))
    halves = [ids(bench, SPIDER, Selection(None, 1, half=half)) for half in (0, 1)]
    splits = [ids(bench, SPIDER, Selection(None, 1, split=split)) for split in Split]
    for parts in (halves, splits):
        assert all(parts)
        assert sorted(chain.from_iterable(parts)) == whole


def test_an_ambiguous_question_brings_its_schema_and_its_keys(bench: Path) -> None:
    found = asked(bench, SETS[4], EVERYTHING)[0]
    assert found.question.database == "ambiqt_j_0"
    assert found.views is not None
    assert found.views.ddl.startswith("CREATE SCHEMA ambiqt_j_0; CREATE VIEW ambiqt_j_0.singer")
    table = found.views.snapshot.tables[0]
    assert (table.schema, table.primary_key, table.unique_keys) == ("ambiqt_j_0", ("id",), (("name",),))


def test_defogs_instructions_are_part_of_the_question(bench: Path) -> None:
    assert asked(bench, SETS[5], EVERYTHING)[0].question.text.endswith("times? Names are matched exactly.")


def test_the_catalog_holds_every_database(bench: Path) -> None:
    assert catalogued(bench) == ("music",)


def test_unknown_names_are_refused() -> None:
    assert by_name("defog,spider", SETS, "set", lambda each: each.name) == (SPIDER, SETS[5])
    with pytest.raises(ValueError, match="no set atis: there are spider, "):
        by_name("spider,atis", SETS, "set", lambda each: each.name)
