"""Decides whether a described statement may run. Default deny: what is not allowed by name is refused.

Owns the rules and their order; the lists are in `engine.guard.allowed`, the description in
`engine.guard.analyse`. It knows no database: what needs one (is the name shadowed by a user's function, may
the user read the table) is the second wall's, in `engine.upstream` and PostgreSQL itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.guard import allowed
from engine.guard.analyse import (
    Analysis,
    EmptyError,
    Name,
    SeveralError,
    TooDeepError,
    TooLongError,
    UnreadableError,
    analyse,
)

MAX_RELATIONS = 40
"""Names in FROM; the planner's work grows with them faster than linearly."""


class Reason(StrEnum):
    """Why a statement is refused."""

    EMPTY = "empty"
    TOO_LONG = "too long"
    TOO_DEEP = "too deep"
    TOO_MANY_RELATIONS = "too many relations"
    UNREADABLE = "unreadable"
    SEVERAL_STATEMENTS = "several statements"
    NOT_A_QUERY = "not a query"
    WRITES = "writes"
    LOCKS = "locks"
    CONSTRUCT = "construct"
    RELATION = "relation"
    FUNCTION = "function"
    OPERATOR = "operator"
    TYPE = "type"
    COLLATION = "collation"
    FIELD = "field"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The statement may go to the second wall."""

    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Refused:
    """The statement may not run. `detail` names what was refused, as part of a sentence."""

    reason: Reason
    detail: str


Verdict = Allowed | Refused

_UNREADABLE = {
    EmptyError: (Reason.EMPTY, "there is no statement"),
    TooLongError: (Reason.TOO_LONG, "the statement is too long"),
    TooDeepError: (Reason.TOO_DEEP, "the statement is nested too deeply"),
    SeveralError: (Reason.SEVERAL_STATEMENTS, "only one statement is allowed"),
    UnreadableError: (Reason.UNREADABLE, "the statement cannot be parsed"),
}

_WRITING = frozenset({"InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "IntoClause"})
_COLLATION_OF_THE_SYSTEM = re.compile(r"[a-z]{2,3}(_[A-Z]{2}|-[A-Z]{2})?(\.?utf-?8|-x-icu)?", re.IGNORECASE)


def check(sql: str) -> Verdict:
    """Whether `sql` may run. Never raises for any text."""
    try:
        analysis = analyse(sql)
    except UnreadableError as error:
        reason, text = _UNREADABLE[type(error)]
        return Refused(reason, f"{text}: {error}" if str(error) else text)
    return judge(analysis)


def judge(analysis: Analysis) -> Verdict:
    """Applies the rules in order; the first refusal is the answer."""
    for rule in RULES:
        refusal = rule(analysis)
        if refusal is not None:
            return refusal
    return Allowed(analysis)


def _statement(analysis: Analysis) -> Refused | None:
    if analysis.statement not in allowed.STATEMENTS:
        kind = _spoken(analysis.statement)
        return Refused(Reason.NOT_A_QUERY, f"{kind} is not a SELECT, VALUES, TABLE or WITH query")
    return None


def _writes(analysis: Analysis) -> Refused | None:
    for node in sorted(analysis.nodes & _WRITING):
        what = "SELECT INTO" if node == "IntoClause" else f"{_spoken(node)} inside the query"
        return Refused(Reason.WRITES, f"{what} would write")
    return None


def _locks(analysis: Analysis) -> Refused | None:
    if "LockingClause" in analysis.nodes:
        return Refused(Reason.LOCKS, "FOR UPDATE or FOR SHARE would lock rows")
    return None


def _constructs(analysis: Analysis) -> Refused | None:
    for node in sorted(analysis.nodes - allowed.NODES):
        return Refused(Reason.CONSTRUCT, f"the construct {_spoken(node)} is not allowed")
    for node, member in sorted(analysis.variants):
        if node in allowed.VARIANTS and member not in allowed.VARIANTS[node]:
            return Refused(Reason.CONSTRUCT, f"the construct {member.removeprefix('SVFOP_')} is not allowed")
    return None


def _relations(analysis: Analysis) -> Refused | None:
    if len(analysis.relations) > MAX_RELATIONS:
        return Refused(
            Reason.TOO_MANY_RELATIONS, f"{len(analysis.relations)} names in FROM, at most {MAX_RELATIONS}"
        )
    for relation in analysis.relations:
        if len(relation.name) > 2:  # noqa: PLR2004 - database.schema.table
            return Refused(Reason.RELATION, f"relation {_dotted(relation.name)} names a database")
        # The names of system catalogs and of the views over them, in any schema. A WITH query of such a
        # name is refused as well: then its scope decides nothing about safety.
        if any(part.startswith("pg_") for part in relation.name) or relation.name[0] == "information_schema":
            return Refused(Reason.RELATION, f"relation {_dotted(relation.name)} belongs to the system")
    return None


def _functions(analysis: Analysis) -> Refused | None:
    return _first_unlisted(analysis.functions, allowed.FUNCTIONS, Reason.FUNCTION, "function")


def _operators(analysis: Analysis) -> Refused | None:
    known = allowed.OPERATORS | allowed.CONSTRUCT_OPERATORS
    return _first_unlisted(analysis.operators, known, Reason.OPERATOR, "operator")


def _types(analysis: Analysis) -> Refused | None:
    return _first_unlisted(analysis.types, allowed.TYPES, Reason.TYPE, "type")


def _sampling(analysis: Analysis) -> Refused | None:
    return _first_unlisted(analysis.sampling, allowed.SAMPLING, Reason.FUNCTION, "sampling method")


def _collations(analysis: Analysis) -> Refused | None:
    for name in analysis.collations:
        own = _built_in(name)
        if own is None or not (own in allowed.COLLATIONS or _COLLATION_OF_THE_SYSTEM.fullmatch(own)):
            return Refused(Reason.COLLATION, f"collation {_dotted(name)} is not one of the built-in ones")
    return None


def _fields(analysis: Analysis) -> Refused | None:
    """Refuses what PostgreSQL might read as a call: `(x).f` and `x.f` are also written forms of `f(x)`.

    `SELECT f.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS f` reads that file (PostgreSQL docs 8.16.5).
    """
    for field in analysis.field_selections:
        if field != "*":
            return Refused(Reason.FIELD, f"field selection (…).{field} can call a function of that name")
    for qualifier, column in analysis.attributes:
        if column.startswith("pg_"):
            return Refused(Reason.FIELD, f"{qualifier}.{column} can call the function {column}")
        for source, columns in analysis.function_sources:
            own = columns | allowed.SOURCE_COLUMNS | {source}
            if qualifier == source and column not in own:
                return Refused(
                    Reason.FIELD,
                    f"{qualifier}.{column} can call a function: {qualifier} is a function in FROM, name its "
                    f"column in the alias, as in {qualifier}({column})",
                )
    return None


def _first_unlisted(
    names: Iterable[Name], listed: frozenset[str], reason: Reason, what: str
) -> Refused | None:
    for name in names:
        if _built_in(name) not in listed:
            return Refused(reason, f"{what} {_dotted(name)} is not on the list of allowed {what}s")
    return None


def _built_in(name: Name) -> str | None:
    """The name where it is bare or qualified with pg_catalog, else None."""
    if len(name) == 1:
        return name[0]
    schema, *rest = name
    return rest[0] if schema == "pg_catalog" and len(rest) == 1 else None


def _dotted(name: Name) -> str:
    return ".".join(name)


def _spoken(node: str) -> str:
    """A parse tree's class in words: `CreateTableAsStmt` is CREATE TABLE AS."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.removesuffix("Stmt")).upper()


RULES: tuple[Callable[[Analysis], Refused | None], ...] = (
    _statement,
    _writes,
    _locks,
    _constructs,
    _relations,
    _functions,
    _operators,
    _types,
    _sampling,
    _collations,
    _fields,
)
"""In this order, so that a statement is refused for what a reader would name first."""
