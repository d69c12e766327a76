"""Rules about the grain of a sum: rows that a join repeats, and what is added up or counted of them.

Owns which side of a join is many, from keys and references: where neither tells, nothing is said. A table whose rows
are shown or grouped by repeats the others' on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from engine.findings.lint import Context
from engine.findings.rules.grouping import own_aggregates
from engine.findings.rules.references import LABELS, refer
from engine.statement.read import Draft
from engine.statement.scope import (
    Branch,
    JoinEdge,
    JoinTree,
    Scopes,
    TableRef,
    equality,
    from_parts,
    has_column,
    identifier,
    join_tree,
)
from engine.values import wording
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.implied_references import with_implied_references
from schema_catalog.types import Table
from schema_catalog.words import identifier_words

_SEVERAL = 2

_Part = tuple[exp.AggFunc, Branch, exp.Expr]
"""An aggregate, the tables that it is made of, and what it is within one row of the others."""


def sums_apart(statement: Draft, _context: Context) -> str | None:
    """Adds up each of several tables that refer to one by itself, where joined with each other they repeat their rows.

    Rows of the one to which none of another table belong stay as well.
    """
    joined = _top(statement)
    if joined is None or joined.tree.args.get("distinct") or joined.tree.args.get("having"):
        return None
    aggregates = own_aggregates(joined.tree, joined.tree)
    kept = joined.names(_plain_parts(joined.tree)) or _hub(joined)
    parts = [part for each in aggregates if (part := _part(each, joined, kept)) is not None]
    branches = {branch.link.far.sql(): branch for _, branch, _ in parts}
    if (
        len(parts) < len(aggregates)
        or len(branches) < _SEVERAL
        or not _is_whole(joined, kept, [*branches.values()])
    ):
        return None
    for node, branch, inner in parts:
        link, own = branch.link, {read.name for read in branch.reads}
        tests = [test.copy() for test in joined.tests if joined.names([test]) <= own]
        query = joined.over(branch.reads, [inner]).where(link.far.eq(link.near), *tests)
        outer = type(node) if isinstance(node, exp.Min | exp.Max) else exp.Sum
        node.replace(outer(this=exp.Subquery(this=query)))
    apart = [read for branch in branches.values() for read in branch.reads]
    statement.tree = joined.without(
        [test for test in joined.tests if not joined.names([test]) <= kept], apart
    )
    return wording.of(wording.ADDS_SEPARATELY, (read.name for read in apart))


def _part(node: exp.AggFunc, joined: JoinTree, kept: set[str]) -> _Part | None:
    """None where it is not made of one branch whose parts can be put together."""
    column = node.find(exp.Column)
    branch = None if column is None else joined.branch(column, kept)
    names, made = {read.name for read in branch.reads} if branch else set[str](), joined.names([node])
    if branch is None or not _is_many(branch.link, joined.scopes) or not made <= names:
        return None
    if isinstance(node, exp.Avg) or all(_repeating(joined, each) & names for each in made):
        return None
    if isinstance(node.this, exp.Distinct):
        key = node.this.expressions[0]
        last = joined.scopes.reading(branch.link.far)
        if (
            not isinstance(node, exp.Count)
            or not _is_key(key, joined.scopes)
            or joined.scopes.reading(key) is not last
        ):
            return None
        return node, branch, exp.Count(this=key.copy(), big_int=True)
    return node, branch, node


def _is_whole(joined: JoinTree, kept: set[str], branches: Sequence[Branch]) -> bool:
    """Whether the kept tables and the branches are all, each test is of one of them, and no kept table repeats a sum.

    A left join leads from the kept tables to a branch of one table.
    """
    own = [{read.name for read in branch.reads} for branch in branches]
    nears = [
        near.name for branch in branches if (near := joined.scopes.reading(branch.link.near)) is not None
    ]
    outer = {join.this.alias_or_name for join in from_parts(joined.tree)[1:] if join.args.get("side")}
    return (
        kept.union(*own) == {read.name for read in joined.reads}
        and all(any(joined.names([test]) <= each for each in (kept, *own)) for test in joined.tests)
        and not any(_repeating(joined, near) & kept for near in nears)
        and not outer & kept
        and all(len(each) == 1 for each in own if each & outer)
    )


def _hub(joined: JoinTree) -> set[str]:
    """The one table of which nothing is aggregated; nothing where there are several."""
    made = joined.names(own_aggregates(joined.tree, joined.tree))
    left = [read.name for read in joined.reads if read.name not in made]
    return set(left) if len(left) == 1 else set()


def sum_once(statement: Draft, _context: Context) -> str | None:
    """Tests a table that only filters by IN, where joined it repeats the rows that are added up.

    Not where a test denies: of many rows one that is not so says nothing of the others (`repetition.none_of_them`).
    """
    select = statement.tree
    joined = _top(statement, outer=False)
    if joined is None or not isinstance(select, exp.Select) or not list(_repeated(joined)):
        return None
    kept = joined.names([*joined.shown()])
    for end in (end for link in joined.links for end in (link.near, link.far)):
        branch = joined.branch(end, kept)
        names = set() if branch is None else {read.name for read in branch.reads}
        tests = [test for test in joined.tests if joined.names([test]) & names]
        near = None if branch is None else joined.scopes.reading(branch.link.near)
        if branch is None or near is None or not tests or not _repeating(joined, near.name) & names:
            continue
        if any(isinstance(test, exp.NEQ | exp.NullSafeNEQ | exp.Not) for test in tests):
            continue
        if all(joined.names([test]) <= names for test in tests):
            inside = joined.over(branch.reads, [branch.link.far]).where(*(test.copy() for test in tests))
            among = exp.In(this=branch.link.near.copy(), query=exp.Subquery(this=inside))
            statement.tree = joined.without(tests, branch.reads).where(among)
            return wording.of(wording.ADDS_ONCE, sorted(names))
    return None


def counts_each_once(statement: Draft, _context: Context) -> str | None:
    """COUNT(DISTINCT …) of the key of what is joined with many, which the count would take several times."""
    joined = _top(statement)
    counts = [] if joined is None else own_aggregates(joined.tree, joined.tree)
    changed = []
    for count in counts:
        column = count.this
        if joined is None or not isinstance(count, exp.Count) or not isinstance(column, exp.Column):
            continue
        read = joined.scopes.reading(column)
        shown = joined.names(_plain_parts(joined.tree))
        repeated = read is not None and _is_key(column, joined.scopes) and _repeating(joined, read.name)
        if read is not None and repeated and read.name not in shown:
            count.set("this", exp.Distinct(expressions=[column.copy()]))
            changed.append(column.name)
    if joined is None or not changed:
        return None
    statement.tree = joined.tree
    return wording.of(wording.COUNTS_EACH_ONCE, changed)


def counts_joined(statement: Draft, _context: Context) -> str | None:
    """Counts the rows of the table that is joined from the left, where COUNT(*) counts one that is not there."""
    joined = _top(statement)
    if joined is None or not joined.links:
        return None
    (*_, last), link = joined.reads, joined.links[-1]
    far = link.far if joined.scopes.reading(link.far) is last else link.near
    outer = [bool(join.args.get("side")) for join in from_parts(joined.tree)[1:]]
    used = joined.names([*_plain_parts(joined.tree), *joined.tests])
    edge = link if far is link.far else link.turned()
    counts = [each for each in own_aggregates(joined.tree, joined.tree) if isinstance(each, exp.Count)]
    stars = [each for each in counts if isinstance(each.this, exp.Star)]
    alone = sum(outer) == 1 and outer[-1] and last.name not in used and joined.tree.args.get("group")
    if not stars or not alone or not _is_many(edge, joined.scopes):
        return None
    for each in stars:
        each.set("this", far.copy())
    statement.tree = joined.tree
    return wording.COUNTS_NONE.format(last.name)


def group_by_key(statement: Draft, _context: Context) -> str | None:
    """Groups by the key as well where others' rows are put together by a name that several rows may have."""
    joined = _top(statement)
    group = None if joined is None else joined.tree.args.get("group")
    if joined is None or group is None:
        return None
    there = {joined.scopes.place(each) for each in group.expressions}
    reads = {
        read.name: read for each in group.expressions if (read := _labelled(each, joined.scopes)) is not None
    }
    keys = [(read, read.table.primary_key[0]) for read in reads.values() if read.table is not None]
    added = [
        (read, key) for read, key in keys if (read.name, key) not in there and _repeating(joined, read.name)
    ]
    for read, key in added:
        group.append("expressions", exp.column(identifier(key), identifier(read.name)))
    statement.tree = joined.tree if added else statement.tree
    return wording.of(wording.GROUPS_ALSO_BY, (f"{read.name}.{key}" for read, key in added))


def _labelled(column: exp.Expr, scopes: Scopes) -> TableRef | None:
    """What a column is of by which people call rows with a key of one column, and which several rows may have."""
    read = scopes.reading(column) if isinstance(column, exp.Column) else None
    if read is None or read.table is None or len(read.table.primary_key) != 1 or _is_key(column, scopes):
        return None
    return read if not LABELS.isdisjoint(identifier_words(column.name)) else None


def repeated_sums(statement: Draft, _context: Context) -> Iterator[str]:
    """In words, the sums of rows that joins repeat, be it for another sum or for a test."""
    if statement.tree.find(exp.Sum, exp.Avg) is None:
        return
    plain = without_using(statement)
    for select in plain.tree.find_all(exp.Select):
        joined = join_tree(select, plain.scopes, grouped=True, outer=True)
        for node, names in _repeated(joined) if joined is not None else ():
            yield wording.ADDS_REPEATEDLY.format(node.this.sql(dialect="postgres"), ", ".join(names))


def _repeated(joined: JoinTree) -> Iterator[tuple[exp.AggFunc, list[str]]]:
    """The sums and averages of rows that are repeated, and the tables that do it, which are tested or added up too."""
    aggregates = own_aggregates(joined.tree, joined.tree)
    shown = joined.names(_plain_parts(joined.tree))
    tested = joined.names(joined.tests)
    for node in aggregates:
        made = joined.names([node])
        grain = next((each for each in made if not _repeating(joined, each) & made), None)
        if not isinstance(node, exp.Sum | exp.Avg) or isinstance(node.this, exp.Distinct) or grain is None:
            continue
        repeating = _repeating(joined, grain)
        others = joined.names([each for each in aggregates if each is not node and isinstance(node, exp.Sum)])
        if not repeating & shown and repeating & (tested | others):
            yield node, sorted(repeating)


def _top(statement: Draft, *, outer: bool = True) -> JoinTree | None:
    """A copy of the statement taken apart."""
    plain = without_using(statement)
    return join_tree(plain.tree, plain.scopes, grouped=True, outer=outer)


def without_using(statement: Draft) -> Draft:
    """A copy that says USING as ON."""
    plain = Draft(statement.tree.copy(), statement.scopes.snapshot)
    for select in plain.tree.find_all(exp.Select):
        reads, joins = plain.scopes.reads.get(id(select), []), from_parts(select)[1:]
        using = [[each.name for each in join.args.get("using") or ()] for join in joins]
        if any(using) and not any(item.is_star for item in select.expressions):
            plain.scopes.qualify(select)
            for place, (join, names) in enumerate(zip(joins, using, strict=True), 1):
                before = next((each for each in reads[:place] if _has_all(each.table, names)), None)
                if names and before is not None:
                    join.set("using", None)
                    join.set("on", equality(before.name, names, reads[place].name, names))
            plain.bind()
    return plain


def _has_all(table: Table | None, names: Sequence[str]) -> bool:
    return table is not None and all(has_column(table, name) for name in names)


def _plain_parts(select: exp.Select) -> list[exp.Expr]:
    """What is shown, grouped by and sorted by without being aggregated."""
    group, order = select.args.get("group"), select.args.get("order")
    parts = [*select.expressions, *(order.expressions if order else ())]
    return [*(each for each in parts if not each.find(exp.AggFunc)), *(group.expressions if group else ())]


def _repeating(joined: JoinTree, name: str) -> set[str]:
    """What FROM reads that has several rows for one of `name`."""
    found, met, left = set[str](), {name}, [(name, False)]
    while left:
        near, repeats = left.pop()
        for way in joined.ways():
            ends = [joined.scopes.reading(each) for each in (way.near, way.far)]
            if (
                ends[0] is not None
                and ends[1] is not None
                and ends[0].name == near
                and ends[1].name not in met
            ):
                many = repeats or _is_many(way, joined.scopes)
                met.add(ends[1].name)
                found.update({ends[1].name} if many else ())
                left.append((ends[1].name, many))
    return found


def _is_many(link: JoinEdge, scopes: Scopes) -> bool:
    """Whether several rows of the far table belong to one of the near one, as far as keys and references tell."""
    if _is_key(link.far, scopes):
        return False
    one, other = scopes.key(link.near), scopes.key(link.far)
    if one is None or other is None:
        return False
    references = foreign_key_graph(with_implied_references(scopes.snapshot))
    return other not in references.referred(one) and (
        _is_key(link.near, scopes) or refer(other, one, references)
    )


def _is_key(column: exp.Expr, scopes: Scopes) -> bool:
    """Whether a column tells the rows of its table apart."""
    key, stored = scopes.key(column), scopes.stored(column)
    if key is None or stored is None:
        return False
    table = scopes.tables[key[:2]]
    declared = stored.attributes is not None and stored.attributes.key is not None
    return declared or (stored.name,) in (table.primary_key, *table.unique_keys)
