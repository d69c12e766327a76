"""Checks definitions without planning or running them: the guard, and the names of a statement in the newest snapshot.

Owns the statement that a database takes exactly where it takes a definition. Texts are data until they have been
parsed: what is no single expression is refused before anything is put together. What only a server can tell, such as
whether types compare, shows where a statement is planned: as whoever asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import structlog
from pglast import ast, enums

from engine.guard import BUILT_IN, Analysis, Refused, Rules, check
from engine.guard.analyse import Name, UnreadableError, analyse
from engine.learn.parameters import ParameterError, filled, parameters
from engine.statement.printing.trees import nodes
from engine.statement.resolution import resolve
from engine.statement.written import one_line
from engine.values.background import Background
from engine.values.errors import NLError
from engine.values.ports import Upstream
from schema_catalog.definitions import (
    Definition,
    DefinitionStore,
    Join,
    State,
    Stored,
    Verdict,
    VerifiedQuery,
)
from schema_catalog.naming import dotted, quote_ident
from schema_catalog.pg import Pool
from schema_catalog.store import CatalogStore, UnknownNameError
from schema_catalog.types import Snapshot, Term

_PLAIN = frozenset({"targetList", "op", "limitOption"})
"""The parts that every SELECT has; what else one has, a SELECT of one expression has not."""


class DefinitionError(Exception):
    """The definition is none; the message says why."""


def statement_of(definition: Definition) -> str:
    """A statement that the database takes exactly where it takes the definition; raises `DefinitionError`."""
    if isinstance(definition, Join):
        return _join(definition)
    if isinstance(definition, VerifiedQuery):
        try:
            return (
                filled(definition.sql, named)
                if (named := parameters(definition.question))
                else definition.sql
            )
        except ParameterError as problem:
            raise DefinitionError(str(problem)) from problem
    return _selected(definition.definition)


def guarded(definition: Definition, rules: Rules) -> Analysis:
    """What is known of its statement under a server's `rules`; raises `DefinitionError` where it is not allowed."""
    verdict = check(statement_of(definition), rules)
    if isinstance(verdict, Refused):
        raise DefinitionError(f"not allowed: {verdict.detail}")
    if isinstance(definition, Term) and not verdict.analysis.repeatable:
        raise DefinitionError(
            "not allowed: it calls a volatile function, so that it means something else each time"
        )
    return verdict.analysis


def refusal(definition: str) -> str | None:
    """Why an expression can be no term's definition, as far as is known without its database; None where it can."""
    try:
        guarded(Term("", definition), BUILT_IN)
    except DefinitionError as problem:
        return str(problem)
    return None


def _join(join: Join) -> str:
    column, referred = join.column, join.referred
    one, other = (quote_ident(each[1]) for each in (column, referred))
    other = "other" if other == one else other
    return (
        f"SELECT 1 FROM {dotted(column[:2])} AS {one} JOIN {dotted(referred[:2])} AS {other}"  # noqa: S608 - quoted names
        f" ON {one}.{quote_ident(column[2])} = {other}.{quote_ident(referred[2])}"
    )


def _selected(definition: str) -> str:
    """SELECT of an expression from the tables before its columns."""
    written = one_line(definition)
    if written is None:
        raise DefinitionError("it holds a comment, or a line break within a text")
    try:
        tree = analyse(f"SELECT {written}").tree
    except UnreadableError as problem:
        raise DefinitionError(f"it is no SQL expression: {problem}") from problem
    if not _is_one_expression(tree):
        raise DefinitionError("it is more than one SQL expression")
    tables = dict.fromkeys(_tables(tree.targetList[0].val))
    if not tables:
        raise DefinitionError("it names no column of a table")
    return f"SELECT {written} FROM {', '.join(map(dotted, tables))}"  # noqa: S608 - an expression, and quoted names


def _is_one_expression(tree: Any) -> bool:
    if not isinstance(tree, ast.SelectStmt) or tree.op != enums.SetOperation.SETOP_NONE:
        return False
    select: Any = tree
    if any(getattr(select, slot) for slot in select.__slots__ if slot not in _PLAIN):
        return False
    return len(select.targetList or ()) == 1 and select.targetList[0].name is None


def _tables(expression: Any) -> Iterator[Name]:
    """The tables before the columns of an expression, as written; those of its subqueries without their own tables."""
    stack: list[tuple[Any, frozenset[str]]] = [(expression, frozenset())]
    while stack:
        node, inner = stack.pop()
        if isinstance(node, ast.ColumnRef):
            yield from _qualifier(node, inner)
        else:
            if isinstance(node, ast.SubLink):
                inner |= frozenset(_own_names(node.subselect))
            stack += [(part, inner) for part in reversed(_parts(node))]


def _qualifier(column: Any, inner: frozenset[str]) -> Iterator[Name]:
    names = tuple(str(part.sval) for part in column.fields if isinstance(part, ast.String))
    before = names if len(names) < len(column.fields) else names[:-1]
    if not before and not inner:
        raise DefinitionError(f"write {names[0] if names else 'a column'} with its table before it")
    if before and before[-1] not in inner:
        yield before


def _own_names(query: Any) -> Iterator[str]:
    """Of the tables that a query, its WITH queries or its subqueries read."""
    for node in nodes(query):
        alias = getattr(node, "alias", None)
        if isinstance(alias, ast.Alias):
            yield str(alias.aliasname)
        elif isinstance(node, ast.RangeVar):
            yield str(node.relname)


def _parts(node: Any) -> tuple[Any, ...]:
    """Of a node of the parse tree, or of several."""
    if isinstance(node, tuple) or not isinstance(node, ast.Node):
        return node if isinstance(node, tuple) else ()
    whole: Any = node
    return tuple(getattr(whole, slot) for slot in whole.__slots__)


INTERVAL = 1.0
"""Seconds between two looks for something new."""

RETRY = 60.0
"""Seconds until a database that did not answer is asked again."""

log = structlog.stdlib.get_logger("engine")


async def check_pending(
    pool: Pool, upstream: Upstream, database: str | None = None
) -> tuple[tuple[Stored, Verdict], ...]:
    """Checks what is new, and all of a database with a newer snapshot; raises the store's errors.

    `database`: of this one alone. What belongs to a database that does not answer stays as it was, with the reason.
    """
    return await check_definitions(DefinitionStore(pool), CatalogStore(pool), upstream, database)


async def check_definitions(
    store: DefinitionStore, catalog: CatalogStore, upstream: Upstream, database: str | None = None
) -> tuple[tuple[Stored, Verdict], ...]:
    """As `check_pending`, of the definitions in `store` as they stand."""
    outcomes: list[tuple[Stored, Verdict]] = []
    for name, pending in groupby(await store.pending(database), key=lambda each: each.database):
        try:
            snapshot = await catalog.newest(name)
            rules = await upstream.rules((await catalog.get(name)).database)
        except (UnknownNameError, NLError) as problem:
            for each in pending:
                await store.postpone(each, f"not checked: {problem}")
            continue
        if snapshot is None:
            continue
        for each in pending:
            verdict = await asyncio.to_thread(_verdict, each.definition, snapshot, rules)
            await store.note(each, verdict)
            outcomes.append((each, verdict))
    return tuple(outcomes)


async def watch(pool: Pool, upstream: Upstream, background: Background) -> None:
    """Checks whatever is defined while the engine runs, about a second later. Ends when cancelled."""
    store, seen, tried = CatalogStore(pool), -1, 0.0

    async def look() -> None:
        nonlocal seen, tried
        version = await store.version()
        if version != seen or time.monotonic() - tried > RETRY:
            seen, tried = version, time.monotonic()
            for stored, verdict in await check_pending(pool, upstream):
                log.info("definition", database=stored.database, kind=stored.kind, state=verdict.state)

    await background.repeat("definitions", INTERVAL, look)


def _verdict(definition: Definition, snapshot: Snapshot, rules: Rules) -> Verdict:
    try:
        resolution = resolve(guarded(definition, rules).body, snapshot)
    except DefinitionError as problem:
        return Verdict(State.REFUSED, str(problem))
    if resolution.problems:
        return Verdict(State.REFUSED, "; ".join(problem.message for problem in resolution.problems))
    if not resolution.tables:
        return Verdict(State.REFUSED, "it reads no table")
    return Verdict(State.CHECKED, None, tuple(sorted({*resolution.tables, *resolution.columns})))
