"""The measurement of terms: which questions it asks, and that its terms are expressions."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.catalog.terms import asked, definitions
from engine.definitions.checking import statement_of
from schema_catalog.types import Term


def test_every_term_is_one_expression_over_tables() -> None:
    for each in definitions():
        assert " FROM " in statement_of(Term(each.name, each.definition))


def test_questions_are_those_that_name_a_term_of_their_database_without_the_instruction(
    tmp_path: Path,
) -> None:
    texts = [
        ("a", "defog_ewallet", "What was the STR last month?", "STR = a rate"),
        ("b", "defog_ewallet", "How strong?", "STR = a rate"),
        ("c", "defog_ewallet", "What was the STR last month?", ""),
        ("d", "defog_atis", "What was the STR last month?", "STR = a rate"),
        ("e", "defog_derm_treatment", "Who took biologic drugs?", "Biologic drugs have a type"),
    ]
    (tmp_path / "defog").mkdir()
    lines = [json.dumps({"id": i, "db": db, "question": q, "instructions": how}) for i, db, q, how in texts]
    (tmp_path / "defog" / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    assert [(each.question.id, each.question.text) for each in asked(tmp_path)] == [
        ("a", "What was the STR last month?"),
        ("e", "Who took biologic drugs?"),
    ]
