"""Whatever the text, the guard answers with a verdict, and what it allows is one statement again."""

from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.guard import Allowed, Refused, check

GOLDEN = Path(__file__).parents[1] / "golden" / "guard"
SEEDS = [
    block.strip().split("\n", 1)[-1]
    for name in ("allowed.sql", "refused.sql")
    for block in re.split(r"\n{2,}", (GOLDEN / name).read_text("utf-8"))[1:]
]
WORDS = "SELECT FROM WITH AS ( ) , ; * ' \" $$ -- /* */ \\ :: . = [ ] E' U&' $1 RECURSIVE LATERAL é"
FRAGMENTS = [
    *WORDS.split(),
    *("\0", "\u00a0", "\ud800", "pg_sleep(1)", "x.pg_read_file", "unnest(ARRAY['x']) f"),
    *("INTO t", "FOR UPDATE", "OPERATOR(a.b)", "INSERT INTO t VALUES (1)"),
]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A golden statement with pieces cut out, repeated, or put in."""
    text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        until = draw(st.integers(at, min(len(text), at + 20)))
        put = draw(st.one_of(st.sampled_from(FRAGMENTS), st.just(text[at:until] * 2), st.text(max_size=3)))
        text = text[:at] + put + text[until:]
    return text


def holds(sql: str) -> None:
    verdict = check(sql)
    assert isinstance(verdict, Allowed | Refused)
    if isinstance(verdict, Allowed):
        again = check(verdict.analysis.body)
        assert isinstance(again, Allowed)
        assert again.analysis == verdict.analysis
        wrapped = check(f"SELECT * FROM (\n{verdict.analysis.body}\n) AS t")
        assert isinstance(wrapped, Allowed) or "nested" in wrapped.detail or "names in FROM" in wrapped.detail


@given(mutated())
@settings(max_examples=15 * settings().max_examples)
def test_mutated_statements(sql: str) -> None:
    holds(sql)


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map(" ".join) | st.text(max_size=200))
@settings(max_examples=10 * settings().max_examples)
def test_any_text(sql: str) -> None:
    holds(sql)
