"""Wrong statements made of right ones, by rule: what the ranker learns to tell apart.

Each is the right one with one thing changed, of the kinds that language models get wrong: another column or table,
another aggregate, comparison, direction or way to combine, a clause too many or too few, a join by another key. That
the change shows in the words that the ranker reads is checked; that it changes the rows is not.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from engine.ranking.ranker import phrases
from schema_catalog.types import Snapshot, Table

_AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max)
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_SETS = (exp.Intersect, exp.Union, exp.Except)
_TRIES = 6
"""Attempts for each mutation that is wanted: many rules do not apply to many statements."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A copy of a statement that a rule may change, the schema, and where the rule draws from."""

    tree: exp.Query
    snapshot: Snapshot
    random: random.Random

    def one(self, *kinds: type[exp.Expr]) -> exp.Expr | None:
        """Any node of these kinds."""
        found = list(self.tree.find_all(*kinds))
        return self.random.choice(found) if found else None

    def select(self) -> exp.Select:
        """Any SELECT."""
        return self.random.choice(list(self.tree.find_all(exp.Select)))

    def table(self, name: str) -> Table | None:
        """The schema's table of that name."""
        return next((table for table in self.snapshot.tables if table.name == name), None)


Rule = Callable[[Draft], bool]
"""Changes the draft and says whether it could."""


def mutations(sql: str, snapshot: Snapshot, count: int, seed: str) -> list[str]:
    """At most `count` statements with other phrases than `sql` and than each other."""
    drawn = random.Random(seed)  # noqa: S311 - a seeded draw, no secret
    tree = sqlglot.parse_one(sql, dialect="postgres")
    if not isinstance(tree, exp.Query):
        return []
    seen = {frozenset(phrases(sql))}
    found: list[str] = []
    for _ in range(count * _TRIES):
        draft = Draft(tree.copy(), snapshot, drawn)
        if drawn.choice(RULES)(draft):
            text = draft.tree.sql(dialect="postgres")
            said = frozenset(phrases(text))
            if said and said not in seen:
                seen.add(said)
                found.append(text)
        if len(found) == count:
            break
    return found


def _sources(draft: Draft, select: exp.Select) -> dict[str, Table]:
    """Name to qualify with → table, of what a SELECT reads itself."""
    found = {}
    for node in select.find_all(exp.Table):
        table = draft.table(node.name)
        if node.parent_select is select and table is not None:
            found[node.alias_or_name] = table
    return found


def _columns(draft: Draft, select: exp.Select) -> Iterator[exp.Column]:
    """The columns of its sources; qualified where there are several."""
    sources = _sources(draft, select)
    for name, table in sources.items():
        for column in table.columns:
            yield exp.column(column.name, table=name if len(sources) > 1 else None, quoted=True)


def _other_column(draft: Draft) -> bool:
    """A column that stands outside joins becomes another of the same tables."""
    nodes = [
        node
        for node in draft.tree.find_all(exp.Column)
        if node.parent_select is not None
        and node.find_ancestor(exp.Join, exp.Select) is node.parent_select
        and not isinstance(node.this, exp.Star)
    ]
    if not nodes:
        return False
    node = draft.random.choice(nodes)
    others = [one for one in _columns(draft, node.parent_select or draft.select()) if one.name != node.name]
    if others:
        node.replace(draft.random.choice(others))
    return bool(others)


def _other_table(draft: Draft) -> bool:
    """A table that is read alone becomes another one, its columns those of the same names or any."""
    select = draft.select()
    sources = _sources(draft, select)
    old = next(iter(sources.values())) if len(sources) == 1 else None
    others = [table for table in draft.snapshot.tables if old is not None and table.name != old.name]
    if not others:
        return False
    new = draft.random.choice(others)
    names = [column.name for column in new.columns]
    for node in list(select.find_all(exp.Column)):
        if node.parent_select is select and node.name not in names and not isinstance(node.this, exp.Star):
            node.set("this", exp.to_identifier(draft.random.choice(names), quoted=True))
    for source in list(select.find_all(exp.Table)):
        if source.parent_select is select:
            source.set("this", exp.to_identifier(new.name, quoted=True))
    return True


def _other_aggregate(draft: Draft) -> bool:
    """An aggregate becomes another one, or goes away."""
    node = draft.one(*_AGGREGATES)
    if node is None or not isinstance(node.this, exp.Column):
        return False
    others = [kind for kind in _AGGREGATES if not isinstance(node, kind)]
    plain = node.this.copy()
    node.replace(plain if draft.random.random() < 0.25 else draft.random.choice(others)(this=plain))  # noqa: PLR2004
    return True


def _other_comparison(draft: Draft) -> bool:
    """A comparison outside joins becomes another one."""
    nodes = [
        node
        for node in draft.tree.find_all(*_COMPARISONS)
        if not isinstance(node.parent, exp.Join) and node.find_ancestor(exp.Where, exp.Having) is not None
    ]
    if not nodes:
        return False
    node = draft.random.choice(nodes)
    kind = draft.random.choice([each for each in _COMPARISONS if not isinstance(node, each)])
    node.replace(kind(this=node.this.copy(), expression=node.expression.copy()))
    return True


def _other_direction(draft: Draft) -> bool:
    """The other way round."""
    node = draft.one(exp.Ordered)
    if node is not None:
        node.set("desc", not node.args.get("desc"))
    return node is not None


def _other_combination(draft: Draft) -> bool:
    """Another set operation, AND for OR, IN for NOT IN."""
    node = draft.one(*_SETS, exp.And, exp.Or, exp.Not)
    if isinstance(node, exp.SetOperation):
        kind = draft.random.choice([each for each in _SETS if not isinstance(node, each)])
        made = kind(**node.copy().args)
        if node is draft.tree:
            return False
        node.replace(made)
    elif isinstance(node, exp.And | exp.Or) and node.find_ancestor(exp.Join) is None:
        turned = exp.Or if isinstance(node, exp.And) else exp.And
        node.replace(turned(this=node.this.copy(), expression=node.expression.copy()))
    elif isinstance(node, exp.Not):
        node.replace(node.this.copy())
    else:
        return False
    return True


def _fewer_conditions(draft: Draft) -> bool:
    """One condition, or the only one, goes away."""
    node = draft.one(exp.Where, exp.Having)
    if node is None or node.parent is None or node.arg_key is None:
        return False
    if isinstance(node.this, exp.And | exp.Or):
        node.set("this", draft.random.choice([node.this.this, node.this.expression]).copy())
    else:
        node.parent.set(node.arg_key, None)
    return True


def _more_conditions(draft: Draft) -> bool:
    """A condition on any column, with a value that stands in the statement."""
    select, value = draft.select(), draft.one(exp.Literal)
    columns = list(_columns(draft, select))
    if value is None or not columns:
        return False
    kind = draft.random.choice(_COMPARISONS[:1] * 3 + _COMPARISONS)
    select.where(kind(this=draft.random.choice(columns), expression=value.copy()), copy=False)
    return True


def _fewer_clauses(draft: Draft) -> bool:
    """GROUP BY, ORDER BY with its limit, the limit, or DISTINCT goes away."""
    node = draft.one(exp.Group, exp.Order, exp.Limit, exp.Distinct)
    if node is None or node.parent is None or node.arg_key is None or isinstance(node.parent, exp.AggFunc):
        return False
    parent = node.parent
    parent.set(node.arg_key, None)
    if isinstance(node, exp.Order):
        parent.set("limit", None)
    return True


def _more_clauses(draft: Draft) -> bool:
    """DISTINCT, an order with a limit, or a grouping, that was not asked for."""
    select = draft.select()
    columns = list(_columns(draft, select))
    if not columns:
        return False
    column = draft.random.choice(columns)
    match draft.random.randrange(3):
        case 0 if not select.args.get("distinct"):
            select.distinct(copy=False)
        case 1 if not select.args.get("order"):
            select.order_by(exp.Ordered(this=column, desc=draft.random.random() < 0.5), copy=False)  # noqa: PLR2004
            select.limit(1, copy=False)
        case 2 if not select.args.get("group"):
            select.group_by(column, copy=False)
        case _:
            return False
    return True


def _fewer_outputs(draft: Draft) -> bool:
    """One output column goes away."""
    select = draft.select()
    kept = list(select.expressions)
    if len(kept) < 2:  # noqa: PLR2004 - one must stay
        return False
    kept.pop(draft.random.randrange(len(kept)))
    select.set("expressions", kept)
    return True


def _more_outputs(draft: Draft) -> bool:
    """Another column is given as well."""
    select = draft.select()
    columns = list(_columns(draft, select))
    if columns:
        select.append("expressions", draft.random.choice(columns))
    return bool(columns)


def _other_join(draft: Draft) -> bool:
    """A join compares another column, or goes away; or a table that a key leads to is joined as well."""
    select = draft.select()
    joins = select.args.get("joins") or []
    chance = draft.random.random()
    if joins and chance < 0.4:  # noqa: PLR2004 - a share
        keys = [node for node in joins[-1].find_all(exp.Column) if _sources(draft, select).get(node.table)]
        if keys:
            key = draft.random.choice(keys)
            table = _sources(draft, select)[key.table]
            key.set("this", exp.to_identifier(draft.random.choice(table.columns).name, quoted=True))
        return bool(keys)
    if joins and chance < 0.6:  # noqa: PLR2004 - as above
        select.set("joins", joins[:-1])
        return True
    return _joined(draft, select)


def _joined(draft: Draft, select: exp.Select) -> bool:
    sources = _sources(draft, select)
    here = {table.name for table in sources.values()}
    options = [
        (name, key.columns[0], key.ref_table, key.ref_columns[0])
        for name, table in sources.items()
        for key in table.foreign_keys
    ]
    options += [
        (name, key.ref_columns[0], other.name, key.columns[0])
        for name, table in sources.items()
        for other in draft.snapshot.tables
        for key in other.foreign_keys
        if key.ref_table == table.name
    ]
    options = [each for each in options if each[2] not in here]
    if not options:
        return False
    name, column, other, its = draft.random.choice(options)
    condition = exp.EQ(this=exp.column(column, table=name), expression=exp.column(its, table=other))
    select.join(exp.to_table(f'"{other}"'), on=condition, copy=False)
    return True


RULES: Sequence[Rule] = (
    *(_other_column,) * 5, *(_other_table,) * 2, *(_other_aggregate,) * 2, *(_other_comparison,) * 2,
    *(_other_direction,) * 2, _other_combination, *(_fewer_conditions,) * 2, _more_conditions,
    *(_fewer_clauses,) * 2, *(_more_clauses,) * 2, *(_fewer_outputs,) * 2, *(_more_outputs,) * 2,
    *(_other_join,) * 2,
)  # fmt: skip
"""Drawn from as they stand: what language models get wrong more often stands more often."""
