"""Any values beside a column: the grammar takes exactly these, and PostgreSQL's parser reads them back."""

from __future__ import annotations

import unicodedata

import llguidance
import pglast
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llguidance import LLMatcher
from pglast import ast

from engine.values.elements import ValueList
from engine.write.search.sql_grammar import sql_grammar
from schema_catalog.naming import quote_literal
from tests.support.schemas import MUSIC

COUNTRY = ("public", "singer", "country")
BEFORE = "SELECT artist_name FROM singer WHERE country = "
SHARP = st.sampled_from(["'", "''", '"', "\\", "|", ";", "--", "\n```", "%", "/", "<", ">", "x", " ", "$"])
TEXT = st.one_of(st.text(max_size=12), st.lists(SHARP, max_size=6).map("".join))
LISTS = st.lists(TEXT, min_size=1, max_size=6, unique=True)


@pytest.fixture(scope="module")
def tokenizer() -> llguidance.LLTokenizer:
    """Tokens are bytes."""
    return llguidance.LLTokenizer("byte")


def writable(text: str) -> bool:
    return "```" not in text and not any(unicodedata.category(each).startswith("C") for each in text)


@given(values=LISTS, other=TEXT)
def test_a_listed_column_is_equal_to_its_values_alone(
    tokenizer: llguidance.LLTokenizer, values: list[str], other: str
) -> None:
    lists = [ValueList(COUNTRY, tuple(values))]
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_lark(sql_grammar(MUSIC, frozenset(), lists)))
    assert not matcher.is_error(), matcher.get_error()
    held = all(map(writable, values))
    for text in [*values, other] if held else []:
        sql = BEFORE + quote_literal(text)
        tokens = tokenizer.tokenize_bytes(f"{sql};\n```".encode("utf-8", "surrogatepass"))
        assert (matcher.validate_tokens(tokens) == len(tokens)) == (text in values)


@given(text=TEXT.filter(writable))
def test_a_quoted_value_is_one_literal_to_postgresql(text: str) -> None:
    (statement,) = pglast.parse_sql(BEFORE + quote_literal(text))
    assert isinstance(statement.stmt, ast.SelectStmt)
    condition = statement.stmt.whereClause
    assert isinstance(condition, ast.A_Expr)
    assert isinstance(condition.rexpr, ast.A_Const)
    assert isinstance(condition.rexpr.val, ast.String)
    assert (condition.rexpr.val.sval or "") == text
