"""Describes a statement as a frozen value: its class, nodes and every name in its parse tree.

Owns the reading of PostgreSQL's own parse tree (pglast) and the limits that keep the parser safe. Decides
nothing about what is allowed: that is `engine.guard.policy`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

from pglast import ast, parse_sql, parser

from engine.guard import allowed
from engine.guard.growth import growth
from engine.guard.measures import Growth
from engine.values.guard_rules import Reason

MAX_CHARACTERS = 20_000
MAX_TOKENS = 4_000
"""Bounds the tree's depth: with 8 MiB of stack the parser's own recursion is fatal past 10,000 levels."""
MAX_DEPTH = 200
"""Nodes on the longest path. Later passes recurse; a statement that an analyst reads stays far below it."""

KEPT_CHARACTERS = 4_000
KEPT = 128
"""Analyses kept, of texts of at most `KEPT_CHARACTERS`: some 30 MiB where all are that long."""

_OTHER_NOTATION = re.compile(r"_|^0[xob]", re.IGNORECASE)

Name = tuple[str, ...]
"""A name as written, folded by the parser: ("upper",) or ("pg_catalog", "upper")."""


class UnreadableError(Exception):
    """The text is not one statement that can be described, within the limits."""

    def __init__(self, message: str = "", reason: Reason = Reason.UNREADABLE) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Relation:
    """A name in FROM; `name` may hold a database and a schema. `cte`: it refers to a WITH query in scope.

    `start`: where the name begins, in characters of the analysis's `body`.
    """

    name: Name
    cte: bool
    start: int


@dataclass(frozen=True, slots=True)
class WrittenType:
    """A type that is named; `start`: where, in characters of the analysis's `body`, -1 where the parser put it."""

    name: Name
    start: int


@dataclass(frozen=True, slots=True)
class Analysis:
    """A statement, described.

    `body`: the text without surrounding semicolons and comments. `statement`: the parse tree's class.
    `nodes`: every class in the tree. `variants`: (class, member) for the enumerations that choose a node's meaning.
    `attributes`: (qualifier, name) of qualified column references, which PostgreSQL also reads as function calls.
    `function_sources`: alias of each function in FROM, with its known column names. `numbers`: literals in other
    notations than decimal digits. `settings`: arguments of `current_setting`, None where one is no literal. `growths`:
    bounds on the results of expressions. `depth`: nodes on the longest path. `tree`: pglast's, of `body`; read-only.
    """

    body: str
    statement: str
    nodes: frozenset[str]
    variants: frozenset[tuple[str, str]]
    relations: tuple[Relation, ...]
    functions: tuple[Name, ...]
    operators: tuple[Name, ...]
    types: tuple[WrittenType, ...]
    collations: tuple[Name, ...]
    sampling: tuple[Name, ...]
    attributes: tuple[Name, ...]
    function_sources: tuple[tuple[str, frozenset[str]], ...]
    field_selections: tuple[str, ...]
    numbers: tuple[str, ...]
    settings: tuple[str | None, ...]
    growths: tuple[Growth, ...]
    depth: int
    tree: Any = field(compare=False, repr=False)

    @property
    def repeatable(self) -> bool:
        """Whether no volatile function is called."""
        return not any(name[-1] in allowed.UNREPEATABLE for name in self.functions)


@dataclass(slots=True)
class _Findings:
    """The walk's findings so far."""

    nodes: set[str] = field(default_factory=set)
    variants: set[tuple[str, str]] = field(default_factory=set)
    relations: list[Relation] = field(default_factory=list)
    functions: list[Name] = field(default_factory=list)
    operators: list[Name] = field(default_factory=list)
    types: list[WrittenType] = field(default_factory=list)
    collations: list[Name] = field(default_factory=list)
    sampling: list[Name] = field(default_factory=list)
    attributes: list[Name] = field(default_factory=list)
    function_sources: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    field_selections: list[str] = field(default_factory=list)
    settings: list[str | None] = field(default_factory=list)
    depth: int = 0


_Item = tuple[object, int, frozenset[str]]
"""A part of the tree to visit, its depth, and the WITH queries that are in scope there."""


def analyse(sql: str) -> Analysis:
    """Describes `sql`; raises `UnreadableError` where it is not one statement within the limits.

    The last `KEPT` short texts are cached: several checks read the same statement.
    """
    return _kept(sql) if len(sql) <= KEPT_CHARACTERS else _analysed(sql)


def _analysed(sql: str) -> Analysis:
    body, numbers = _body(sql)
    try:
        statements = parse_sql(body)
    except (parser.ParseError, UnicodeError, RecursionError, MemoryError) as error:
        raise UnreadableError(str(error.args[0] if error.args else error)) from error
    if len(statements) != 1:
        raise UnreadableError(reason=Reason.SEVERAL_STATEMENTS if statements else Reason.EMPTY)
    tree: Any = statements[0].stmt
    found = _walk(tree)
    return Analysis(
        body=body,
        statement=type(statements[0].stmt).__name__,
        nodes=frozenset(found.nodes),
        variants=frozenset(found.variants),
        relations=tuple(found.relations),
        functions=tuple(found.functions),
        operators=tuple(found.operators),
        types=tuple(found.types),
        collations=tuple(found.collations),
        sampling=tuple(found.sampling),
        attributes=tuple(found.attributes),
        function_sources=tuple(found.function_sources),
        field_selections=tuple(found.field_selections),
        numbers=numbers,
        settings=tuple(found.settings),
        growths=growth(tree),
        depth=found.depth,
        tree=tree,
    )


_kept = lru_cache(maxsize=KEPT)(_analysed)


def _body(sql: str) -> tuple[str, tuple[str, ...]]:
    """The text without surrounding semicolons and comments, and the numbers in it that are not in decimal digits."""
    if len(sql) > MAX_CHARACTERS:
        raise UnreadableError(f"{len(sql)} characters, at most {MAX_CHARACTERS}", Reason.TOO_LONG)
    if "\0" in sql:
        # The parser would read a C string and stop here, so that what follows went unseen.
        raise UnreadableError("a zero byte")
    try:
        tokens = parser.scan(sql)
    except (parser.ParseError, UnicodeError, MemoryError) as error:
        raise UnreadableError(str(error.args[0] if error.args else error)) from error
    kept = [token for token in tokens if token.name not in {"SQL_COMMENT", "C_COMMENT"}]
    if len(kept) > MAX_TOKENS:
        raise UnreadableError(f"{len(kept)} tokens, at most {MAX_TOKENS}", Reason.TOO_LONG)
    while kept and kept[-1].name == "ASCII_59":
        kept.pop()
    while kept and kept[0].name == "ASCII_59":
        kept.pop(0)
    if not kept:
        raise UnreadableError(reason=Reason.EMPTY)
    numbers = (sql[token.start : token.end + 1] for token in kept if token.name in {"ICONST", "FCONST"})
    odd = tuple(number for number in numbers if _OTHER_NOTATION.search(number))
    return sql[kept[0].start : kept[-1].end + 1], odd


def _walk(root: object) -> _Findings:
    """Visits every node; without recursion, since the text decides how deep the tree is."""
    found = _Findings()
    stack: list[_Item] = [(root, 1, frozenset())]
    while stack:
        part, depth, ctes = stack.pop()
        if isinstance(part, tuple):
            stack.extend((child, depth, ctes) for child in part)
        elif isinstance(part, ast.Node):
            if depth > MAX_DEPTH:
                raise UnreadableError(f"nested deeper than {MAX_DEPTH} levels", Reason.TOO_DEEP)
            found.depth = max(found.depth, depth)
            found.nodes.add(type(part).__name__)
            _note(part, ctes, found)
            stack.extend(_children(part, depth + 1, ctes))
    return found


def _children(node: Any, depth: int, ctes: frozenset[str]) -> Iterator[_Item]:
    """The parts of `node` with the WITH queries in scope there: one sees earlier ones (docs 7.8)."""
    with_clause: Any = getattr(node, "withClause", None)
    if with_clause is not None:
        names = [cte.ctename for cte in with_clause.ctes]
        inner = ctes | frozenset(names)
        for index, cte in enumerate(with_clause.ctes):
            yield cte, depth + 1, inner if with_clause.recursive else ctes | frozenset(names[:index])
        ctes = inner
    for slot in node.__slots__:
        value = getattr(node, slot)
        if slot == "withClause" and value is not None:
            # Its queries are visited above, each in its own scope; the clause itself is a node like others.
            yield ast.WithClause(recursive=value.recursive), depth, ctes
        elif isinstance(value, ast.Node | tuple):
            yield value, depth, ctes


def _note(node: Any, ctes: frozenset[str], found: _Findings) -> None:
    """Records the names in `node` itself."""
    for slot in node.__slots__:
        value = getattr(node, slot)
        if isinstance(value, Enum):
            found.variants.add((type(node).__name__, value.name))
    if isinstance(node, ast.RangeVar):
        name = tuple(part for part in (node.catalogname, node.schemaname, node.relname) if part)
        found.relations.append(Relation(name, len(name) == 1 and name[0] in ctes, int(node.location or 0)))
    elif type(node) in _NOTES:
        _NOTES[type(node)](node, found)


def _note_column(node: Any, found: _Findings) -> None:
    if len(node.fields) > 1 and isinstance(node.fields[-1], ast.String):
        found.attributes.append(written_name(node.fields[-2:]))


def _note_type(node: Any, found: _Findings) -> None:
    suffix = ("%type",) if node.pct_type else ("setof",) if node.setof else ()
    found.types.append(WrittenType((*written_name(node.names), *suffix), int(node.location or 0)))


def _note_call(node: Any, found: _Findings) -> None:
    name = written_name(node.funcname)
    found.functions.append(name)
    if name[-1] == "current_setting":
        first = node.args[0] if node.args else None
        text = (
            first.val.sval if isinstance(first, ast.A_Const) and isinstance(first.val, ast.String) else None
        )
        found.settings.append(text)


def _note_selection(node: Any, found: _Findings) -> None:
    for part in node.indirection:
        if not isinstance(part, ast.A_Indices):
            found.field_selections.append(getattr(part, "sval", "*"))


def _note_function_in_from(node: Any, found: _Findings) -> None:
    found.function_sources.extend(_function_source(node))
    # FROM takes keywords such as CURRENT_DATE too.
    others = [call for call, _ in node.functions if not isinstance(call, ast.FuncCall)]
    found.nodes.update(f"{type(call).__name__} in FROM" for call in others)


def _note_operator(node: Any, found: _Findings) -> None:
    """SubLink and SortBy carry an operator only where one was written."""
    names = node.operName if isinstance(node, ast.SubLink) else node.useOp
    if names:
        found.operators.append(written_name(names))


_NOTES: dict[type[ast.Node], Callable[[Any, _Findings], None]] = {
    ast.FuncCall: _note_call,
    ast.A_Expr: lambda node, found: found.operators.append(written_name(node.name)),
    ast.CollateClause: lambda node, found: found.collations.append(written_name(node.collname)),
    ast.RangeTableSample: lambda node, found: found.sampling.append(written_name(node.method)),
    ast.SubLink: _note_operator,
    ast.SortBy: _note_operator,
    ast.TypeName: _note_type,
    ast.ColumnRef: _note_column,
    ast.A_Indirection: _note_selection,
    ast.RangeFunction: _note_function_in_from,
}
"""Class → its recorder; pglast types every slot as optional, hence Any."""


def written_name(parts: Iterable[Any]) -> Name:
    """The name that nodes of a tree make up."""
    return tuple(part.sval for part in parts)


def _function_source(node: Any) -> Iterator[tuple[str, frozenset[str]]]:
    """Alias of a function in FROM, and the columns that the statement itself names."""
    columns = {column.colname for column in node.coldeflist or ()}
    for _, definitions in node.functions:
        columns.update(column.colname for column in definitions or ())
    if node.alias:
        columns.update(part.sval for part in node.alias.colnames or ())
        yield node.alias.aliasname, frozenset(columns)
        return
    for call, _ in node.functions:
        if type(call) is ast.FuncCall:
            yield written_name(call.funcname or ())[-1], frozenset(columns)
