"""Rules about what is shown twice: of 2,521 known statements that show several things none shows one of them again."""

from __future__ import annotations

from sqlglot import exp

from engine.rewrite.join_tree import JoinTree, join_tree
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import TableRef, equality, identifier, written


def repeated_items(tree: exp.Query) -> list[exp.Expr]:
    """The items of a SELECT that stand in it before, without their names; none of a set operation."""
    seen: set[str] = set()
    repeated = []
    for item in tree.expressions if isinstance(tree, exp.Select) else ():
        shown = item.unalias()
        text = shown.sql()
        if text in seen and shown.find(exp.Column):
            repeated.append(shown)
        seen.add(text)
    return repeated


def other_reference(statement: Statement, context: Context) -> str | None:
    """Shows a column that is shown twice by both references to its table: the names of origin and destination."""
    repeated = repeated_items(statement.tree)
    found = join_tree(statement.tree, statement.scopes) if repeated else None
    reads = {read.name: read for each in repeated if (read := _reading(each, statement)) is not None}
    if found is None or len(reads) != 1:
        return None
    (read,) = reads.values()
    way = _other_way(found, read, context)
    name = f"{read.name}_2"
    if way is None or read.table is None or name in {each.name for each in found.reads}:
        return None
    source, column, key = way
    statement.scopes.qualify(found.tree)
    again = written(read.table, statement.scopes.snapshot)
    again.set("alias", exp.TableAlias(this=identifier(name)))
    found.tree.join(again, on=equality(source, [column], name, [key]), copy=False)
    for each in repeated:
        each.set("table", identifier(name))
    return f"shows {', '.join(each.name for each in repeated)} by {column} too"


def _reading(item: exp.Expr, statement: Statement) -> TableRef | None:
    return statement.scopes.reading(item) if isinstance(item, exp.Column) else None


def _other_way(tree: JoinTree, read: TableRef, context: Context) -> tuple[str, str, str] | None:
    """The one other reference to the table: what FROM calls the one that has it, its column, the column meant."""
    ways = [way for way in tree.ways() if tree.scopes.reading(way.far) is read]
    if len(ways) != 1 or read.table is None:
        return None
    other, own = ways[0].near, ways[0].far
    source = tree.scopes.reading(other)
    if source is None or source.table is None:
        return None
    pairs = context.references.column_pairs(source.table.key, read.table.key)
    left = [here for here, there in pairs if there == own.name and here != other.name]
    return (source.name, left[0], own.name) if len(left) == 1 else None
