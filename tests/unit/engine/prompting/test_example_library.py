"""The library of worked examples: its breadth, and each statement of the form that the grammar writes."""

from __future__ import annotations

from collections import Counter

import llguidance
import pytest
import sqlglot
from llguidance import LLMatcher

from engine.conditions.types import Operator
from engine.decoding.sql_grammar import sql_grammar
from engine.prompting.example_library import ExampleSchema, example_schemas
from engine.prompting.example_text import one_line
from engine.prompting.schema_text import schema_text
from engine.sql.resolution import resolve
from tests.support.example_snapshots import snapshot
from training.sql_features import operators

SCHEMAS = example_schemas()
PAIRS = [pair for schema in SCHEMAS for pair in schema.pairs]

LEAST = dict.fromkeys(Operator, 10) | {Operator.UNION: 5}
"""Statements with each operator, at least."""


@pytest.fixture(scope="module")
def tokenizer() -> llguidance.LLTokenizer:
    return llguidance.LLTokenizer("byte")


def test_it_is_broad() -> None:
    assert len(SCHEMAS) >= 50
    assert len(PAIRS) >= 250
    assert len({schema.schema for schema in SCHEMAS}) == len(SCHEMAS)
    assert len({pair.question for pair in PAIRS}) == len(PAIRS)
    assert all(2 <= len(schema.tables) <= 5 for schema in SCHEMAS)


def test_every_operator_is_shown_often() -> None:
    counted = Counter(operator for pair in PAIRS for operator in pair.operators)
    assert {operator: counted[operator] for operator in Operator if counted[operator] < LEAST[operator]} == {}


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.schema)
def test_statements_read_their_schema_and_say_their_operators(schema: ExampleSchema) -> None:
    shown = snapshot(schema)
    assert schema_text(shown, ())[0].splitlines() == list(schema.tables)
    for pair in schema.pairs:
        assert not resolve(pair.sql, shown).problems, pair.sql
        assert operators(sqlglot.parse_one(pair.sql, dialect="postgres")) == pair.operators, pair.sql
        assert one_line(pair.sql) == pair.sql


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.schema)
def test_the_grammar_writes_every_statement(tokenizer: llguidance.LLTokenizer, schema: ExampleSchema) -> None:
    grammar = LLMatcher.grammar_from_lark(sql_grammar(snapshot(schema), frozenset()))
    for pair in schema.pairs:
        matcher = LLMatcher(tokenizer, grammar)
        assert not matcher.is_error(), matcher.get_error()
        tokens = tokenizer.tokenize_str(f"{pair.sql};\n```")
        assert matcher.validate_tokens(tokens) == len(tokens), pair.sql
        assert matcher.consume_tokens(tokens)
        assert matcher.is_accepting()
