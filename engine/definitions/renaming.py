"""Accepted renames written into terms and verified queries.

Owns where in a text the old name stands. Whatever does not read afterwards exactly what it read before is refused as a
whole, with the reason: a definition is never changed by guess. Joins are carried over in SQL
(`nl_catalog.accept_rename`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import structlog
from pglast import ast

from engine.definitions.statement import DefinitionError, statement_of
from engine.errors import UnsafeSQLError
from engine.guard.analyse import UnreadableError, analyse
from engine.learning.parameters import parameters
from engine.printing.trees import nodes
from engine.prompting.known_text import one_line
from engine.sql.binder import bind
from engine.sql.bound_query import Bound, Cell, Star
from engine.sql.resolution import resolve
from schema_catalog.definitions import DefinitionStore, Element, State, Stored, Verdict, VerifiedQuery
from schema_catalog.drift import Rename
from schema_catalog.drift_store import AcceptedRename, DriftStore
from schema_catalog.naming import quote_ident
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore
from schema_catalog.types import Snapshot, Table, Term

_IDENTIFIER = re.compile(r'(?:[uU]&)?"(?:[^"]|"")*"|[^\W\d][\w$]*')

_BEFORE = len("SELECT ")
"""Characters before a term's definition in the statement that stands for it."""

_COLUMN = 3
"""Names of a column's element."""

log = structlog.stdlib.get_logger("engine")

Edit = tuple[int, int, str]
"""(from, to, the text there instead), in characters of a statement."""


async def write_renames(pool: Pool) -> None:
    """Goes through the definitions that accepted renames break; raises the store's errors."""
    drift = DriftStore(pool)
    for accepted in await drift.accepted():
        snapshot = await CatalogStore(pool).newest(accepted.database)
        proposed = await drift.proposals(accepted.database)
        if snapshot is not None:
            for stored in await DefinitionStore(pool).named(accepted.database, accepted.broken):
                await _write(DefinitionStore(pool), stored, accepted, (snapshot, proposed))
        await drift.rewritten(accepted.id)


async def _write(
    store: DefinitionStore, stored: Stored, accepted: AcceptedRename, now: tuple[Snapshot, tuple[Rename, ...]]
) -> None:
    try:
        text = await asyncio.to_thread(renamed_text, stored, accepted.rename, *now)
    except (DefinitionError, UnsafeSQLError, UnreadableError) as problem:
        reason = f"the rename of {'.'.join(accepted.rename.old)} could not be written into it: {problem}"
        await store.note(stored, Verdict(State.REFUSED, reason))
        log.warning("definition not renamed", database=stored.database, kind=stored.kind)
    else:
        await store.rewrite(stored, text)


def renamed_text(stored: Stored, rename: Rename, snapshot: Snapshot, proposed: Iterable[Rename] = ()) -> str:
    """The SQL of a term or verified query with the element's new name, which `snapshot` has.

    `proposed`: renames that nobody has decided on; the text may still have their old names. Raises `DefinitionError`
    where the result would not read what the text read, or is no other text, and `UnreadableError`.
    """
    after = snapshot
    for each in proposed:
        after = _with_old_name(after, each)
    before = _with_old_name(after, rename)
    definition = stored.definition
    if isinstance(definition, VerifiedQuery) and parameters(definition.question):
        raise DefinitionError("it has parameters: verify it anew")
    statement = statement_of(definition)
    body = analyse(statement).body
    bound = bind(body, before)
    if bound.problems:
        raise DefinitionError("; ".join(problem.message for problem in bound.problems))
    edits = sorted(_edits(bound, body, rename, outputs=not isinstance(definition, Term)))
    if isinstance(definition, Term):
        written = one_line(definition.definition) or ""
        edits = [each for each in edits if each[1] <= _BEFORE + len(written)]
        text = _edited(body[: _BEFORE + len(written)], edits)[_BEFORE:]
        result = statement_of(replace(definition, definition=text))
    else:
        text = result = _edited(body, edits)
    read, reads = resolve(body, before), resolve(result, after)
    if reads.problems:
        raise DefinitionError("; ".join(problem.message for problem in reads.problems))
    if {_now(each, rename) for each in (*read.columns, *read.tables)} != {*reads.columns, *reads.tables}:
        raise DefinitionError("it would read other columns than before")
    return text


def _edited(text: str, edits: Iterable[Edit]) -> str:
    parts, done = [], 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
    return "".join([*parts, text[done:]])


def _now(element: Element, rename: Rename) -> Element:
    length = len(rename.old)
    return (*rename.new, *element[length:]) if element[:length] == rename.old else element


def _with_old_name(snapshot: Snapshot, rename: Rename) -> Snapshot:
    """`snapshot` as if the element had its old name, in keys of other tables too."""
    return replace(snapshot, tables=tuple(_table(table, rename) for table in snapshot.tables))


def _table(table: Table, rename: Rename) -> Table:
    if len(rename.old) < _COLUMN:
        schema, name = _back(table.key, rename)
        return replace(table, schema=schema, name=name, foreign_keys=())
    columns = tuple(
        replace(column, name=_back((*table.key, column.name), rename)[-1]) for column in table.columns
    )
    return replace(table, columns=columns, primary_key=(), unique_keys=(), foreign_keys=())


def _back(element: Element, rename: Rename) -> Element:
    if element == rename.new:
        return rename.old
    if len(element) == _COLUMN and element[:2] == rename.old[:2] and element[2] == rename.new[-1]:
        return rename.old
    return element


def _edits(bound: Bound, body: str, rename: Rename, *, outputs: bool) -> Iterator[Edit]:
    """`outputs`: a renamed column in a select list keeps its old name as that of the output."""
    for node in nodes(bound.root):
        if isinstance(node, ast.RangeVar) and len(rename.old) < _COLUMN:
            yield from _table_edit(bound, body, node, rename)
        elif isinstance(node, ast.ColumnRef):
            yield from _column_edit(bound, body, node, rename)
        elif isinstance(node, ast.ResTarget) and outputs and node.name is None:
            yield from _output_edit(bound, body, node, rename)
        elif (
            isinstance(node, ast.JoinExpr) and (node.usingClause or node.isNatural) and _merges(bound, rename)
        ):
            raise DefinitionError("it joins by USING or NATURAL a column of that name")


def _merges(bound: Bound, rename: Rename) -> bool:
    merged = (ref for refs in bound.merges.values() for ref in refs)
    return len(rename.old) == _COLUMN and any(
        isinstance(cell, Cell) and _is_old(cell, rename)
        for pair in merged
        for cell in (pair.left, pair.right)
    )


def _is_old(ref: Any, rename: Rename) -> bool:
    """Whether a reference is the renamed column itself, not one that a subquery or an alias gives another name."""
    if not isinstance(ref, Cell) or not isinstance(ref.source.origin, Table) or ref.position is None:
        return False
    table = ref.source.origin
    column = table.columns[ref.position].name
    return (*table.key, column) == rename.old and ref.name == column


def _table_edit(bound: Bound, body: str, node: Any, rename: Rename) -> Iterator[Edit]:
    source = bound.sources.get(id(node))
    if source is None or not isinstance(source.origin, Table) or source.origin.key != rename.old:
        return
    *schema, name = _identifiers(body, node.location, 2 if node.schemaname else 1)
    yield (*name, quote_ident(rename.new[1]))
    if schema:
        yield (*schema[0], quote_ident(rename.new[0]))


def _column_edit(bound: Bound, body: str, node: Any, rename: Rename) -> Iterator[Edit]:
    ref = bound.refs.get(id(node))
    places = _identifiers(body, node.location, sum(isinstance(part, ast.String) for part in node.fields))
    if _is_old(ref, rename):
        yield (*places[-1], quote_ident(rename.new[-1]))
    if len(rename.old) == _COLUMN:
        return
    qualifier = places if isinstance(node.fields[-1], ast.A_Star) else places[:-1]
    if qualifier and _of_renamed(ref, rename):
        yield (*qualifier[-1], quote_ident(rename.new[1]))
        for place in qualifier[:-1]:
            yield (*place, quote_ident(rename.new[0]))


def _of_renamed(ref: Any, rename: Rename) -> bool:
    """Whether a qualified reference goes by the table's own name."""
    if isinstance(ref, Star):
        return bool(ref.refs) and all(_of_renamed(each, rename) for _, each in ref.refs)
    if not isinstance(ref, Cell):
        return False
    source = ref.source
    return isinstance(source.origin, Table) and source.origin.key == rename.old and not source.aliased


def _output_edit(bound: Bound, body: str, node: Any, rename: Rename) -> Iterator[Edit]:
    column = node.val
    if isinstance(column, ast.ColumnRef) and _is_old(bound.refs.get(id(column)), rename):
        end = _identifiers(body, column.location or 0, len(column.fields or ()))[-1][1]
        yield (end, end, f" AS {quote_ident(rename.old[-1])}")


def _identifiers(body: str, start: int, count: int) -> list[tuple[int, int]]:
    """Where the `count` names joined by points that begin at `start` stand."""
    places: list[tuple[int, int]] = []
    while len(places) < count:
        found = _IDENTIFIER.match(body, start)
        if found is None:
            raise DefinitionError("a name in it is written in an unusual way")
        places.append(found.span())
        start = found.end() + 1
        if len(places) < count and body[found.end() : start] != ".":
            raise DefinitionError("a name in it is written in an unusual way")
    return places
