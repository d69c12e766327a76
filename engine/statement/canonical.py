"""A statement's normal form: one text for statements that say the same in other words, by sqlglot's optimizer.

Equal forms give equal rows in every database. Names are bound, stars expanded, aliases numbered, conditions sorted;
what else means the same is for the rows to tell (`engine.judge.run`).
"""

from __future__ import annotations

from pglast.parser import ParseError
from pglast.stream import RawStream
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.optimizer.scope import traverse_scope
from sqlglot.schema import MappingSchema

from engine.statement.tree import parsed
from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot, TableKey, once_per_snapshot

_TURNED: dict[type[exp.Binary], type[exp.Binary]] = {
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
}
"""What a comparison is with its sides exchanged, where one of the two is the normal one."""

_NOT_INNER = ("side", "method", "using")
"""What a join has that is no inner one on a condition."""


def canonical(sql: str, snapshot: Snapshot) -> str:
    """The normal form of one query against `snapshot`, to be compared alone; its own words where names stay unbound."""
    try:
        written = RawStream()(sql)
    except ParseError:
        return " ".join(sql.split())
    tree = parsed(written)
    if tree is None:
        return written
    try:
        bound = _bound(tree.copy(), snapshot)
    except (SqlglotError, RecursionError):
        return written
    if not _outputs_resolved(bound):
        return written
    _sort(bound)
    return _text(bound)


def _text(tree: exp.Expr) -> str:
    return tree.sql(dialect="postgres", comments=False)


@once_per_snapshot
def _known(snapshot: Snapshot) -> tuple[dict[TableKey, dict[str, str]], dict[str, str]]:
    """The types of each table's columns, and the schemas of the tables that a bare name finds."""
    return (
        {table.key: {each.name: each.type for each in table.columns} for table in snapshot.tables},
        {t.name: t.schema for t in snapshot.tables if snapshot.display_name(t) == quote_ident(t.name)},
    )


def _bound(tree: exp.Query, snapshot: Snapshot) -> exp.Query:
    """The tree with tables and columns qualified, stars expanded and tables numbered."""
    known, bare = _known(snapshot)
    read = [each for scope in traverse_scope(tree) for each in scope.sources.values()]
    used: dict[str, dict[str, dict[str, str]]] = {}
    for table in (each for each in read if isinstance(each, exp.Table)):
        if not table.db and table.name in bare:
            table.set("db", exp.to_identifier(bare[table.name], quoted=True))
        if (table.db, table.name) in known:
            used.setdefault(table.db, {})[table.name] = dict(known[table.db, table.name])
    bound = qualify(
        tree,
        dialect="postgres",
        schema=MappingSchema(dict[str, object](used), dialect="postgres", normalize=False),
        expand_alias_refs=False,
        validate_qualify_columns=False,
    )
    for select in bound.find_all(exp.Select):
        _sort_tables(select)
    return qualify_tables(bound, dialect="postgres", canonicalize_table_aliases=True)


def _sort_tables(select: exp.Select) -> None:
    """Puts different tables that are joined inwards in the order of their names, and their conditions into WHERE."""
    joins = select.args.get("joins") or []
    read = [part.this for part in (select.args["from_"], *joins)] if joins else []
    names = {(each.db, each.name) for each in read if _is_plain(each)}
    if (
        not joins
        or len(names) < len(read)
        or any(join.args.get(each) for join in joins for each in _NOT_INNER)
    ):
        return
    order = sorted(read, key=lambda each: (each.db, each.name))
    for join in joins:
        if join.args.get("on") is not None:
            select.where(join.args["on"], copy=False)
    select.set("from_", exp.From(this=order[0]))
    select.set("joins", [exp.Join(this=each) for each in order[1:]])


def _is_plain(read: exp.Expr) -> bool:
    return (
        isinstance(read, exp.Table) and isinstance(read.this, exp.Identifier) and not read.args.get("joins")
    )


def _outputs_resolved(bound: exp.Query) -> bool:
    """Puts what they name in the place of output names; whether every column is then one of a table or a query.

    Names of output columns do not count. A whole row, which is called as its table is, has no form.
    """
    named = {each.alias: each.this for each in bound.selects if isinstance(each, exp.Alias)}
    for column in [each for each in bound.find_all(exp.Column) if not each.table]:
        item = column.parent.parent if isinstance(column.parent, exp.Ordered) else column.parent
        if (
            not isinstance(item, exp.Order | exp.Group)
            or item.parent is not bound
            or column.name not in named
        ):
            return False
        if isinstance(bound, exp.Select):
            column.replace(named[column.name].copy())
    if isinstance(bound, exp.Select):
        bound.set("expressions", [each.unalias() for each in bound.expressions])
    return True


def _sort(tree: exp.Expr) -> None:
    """Puts conditions, and the sides of comparisons, in the order of their texts."""
    for node in reversed(list(tree.find_all(exp.Connector, exp.In, exp.Group, *_TURNED))):
        if isinstance(node, exp.In | exp.Group):
            node.set("expressions", sorted(node.expressions, key=_text))
        elif isinstance(node, exp.Connector):
            parts = sorted(node.flatten(), key=_text)
            node.replace(exp.or_(*parts) if isinstance(node, exp.Or) else exp.and_(*parts))
        elif isinstance(node, exp.Binary):
            turned = _TURNED[type(node)]
            if turned is not type(node) or _text(node.left) > _text(node.right):
                node.replace(turned(this=node.right, expression=node.left))
