"""Names in mixed case, which have to be quoted, survive every rule: each golden pair holds with such names as well."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from sqlglot import exp

from engine.findings.lint import Context
from engine.link.element_text import compared, element_words
from engine.statement.read import Draft
from engine.statement.resolution import resolve
from engine.statement.tree import parsed
from engine.values.elements import WHOLE_TABLE, linked_dimensions
from schema_catalog.types import ColumnKey, ForeignKey, Snapshot, Table
from tests.support.golden_rules import Pair, Words, pairs

PAIRS = [pair for pair in pairs() if pair.schema not in {"camel", "clinics"} and pair.rule.name != "as_named"]


def mixed(name: str) -> str:
    """`singer_id` as `Singer_Id`: the same words, and to be quoted."""
    return name if name == WHOLE_TABLE else name.title()


def _table(given: Table) -> Table:
    def keys(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(mixed, names))

    return replace(
        given,
        name=mixed(given.name),
        columns=tuple(replace(each, name=mixed(each.name)) for each in given.columns),
        primary_key=keys(given.primary_key),
        unique_keys=tuple(map(keys, given.unique_keys)),
        foreign_keys=tuple(
            ForeignKey(keys(f.columns), f.ref_schema, mixed(f.ref_table), keys(f.ref_columns), f.enforced)
            for f in given.foreign_keys
        ),
    )


@cache
def renamed(snapshot: Snapshot) -> Snapshot:
    """The schema with all names of tables and columns in mixed case."""
    return replace(snapshot, tables=tuple(map(_table, snapshot.tables)))


def _key(key: ColumnKey) -> ColumnKey:
    return (key[0], mixed(key[1]), mixed(key[2]))


def context(pair: Pair) -> Context:
    """As the pair's, over the renamed schema."""
    given, snapshot = pair.context, renamed(pair.snapshot)
    near = compared(pair.asked.entities, element_words(snapshot), Words())
    return Context(
        snapshot,
        pair.asked,
        [replace(each, column=_key(each.column)) for each in given.values],
        frozenset((schema, mixed(name)) for schema, name in given.secured),
        {(_key(key), text): value for (key, text), value in given.stored.items()},
        frozenset((_key(key), text) for key, text in given.in_any_case),
        frozenset((_key(key), text) for key, text in given.missing),
        {_key(key): chance for key, chance in given.linked.items()},
        linked_dimensions(pair.asked.dimensions, near),
        (),
        [replace(each, column=_key(each.column)) for each in given.contents],
        newest={_key(key): day for key, day in given.newest.items()},
    )


def quoted(sql: str, snapshot: Snapshot) -> exp.Query:
    """The statement over the renamed schema."""
    names = {name for table, column in snapshot.columns() for name in (table.name, column.name)}
    tree = parsed(sql)
    assert tree is not None
    tree = tree.copy()
    for each in tree.find_all(exp.Identifier):
        if each.name in names:
            each.replace(exp.to_identifier(mixed(each.name), quoted=True))
    return tree


def _as_written(tree: exp.Query) -> str:
    """Without what does not matter: whether a name that needs no quotes has them."""
    tree = tree.copy()
    for each in tree.find_all(exp.Identifier):
        each.replace(exp.to_identifier(each.name, quoted=True))
    return tree.sql(dialect="postgres")


def name(pair: Pair) -> str:
    return f"{pair.rule.name}: {pair.before}"


@pytest.mark.parametrize("pair", PAIRS, ids=name)
def test_a_rule_does_the_same_with_quoted_names(pair: Pair) -> None:
    statement = Draft(quoted(pair.before, pair.snapshot), renamed(pair.snapshot))
    assert pair.rule.fix is not None
    changed = pair.rule.fix(statement, context(pair)) is not None
    assert changed is (pair.after is not None)
    made = parsed(statement.sql)
    assert made is not None
    if pair.after is not None:
        assert _as_written(made) == _as_written(quoted(pair.after, pair.snapshot))
    if changed and pair.rule.name != "requalify":
        assert resolve(statement.sql, renamed(pair.snapshot)).problems == ()
