"""Decides whether a described statement may run. Default deny: a name that is not on a list is refused.

Owns the checks, their order and their limits; the lists are in `engine.guard.allowed`, the description in
`engine.guard.analyse`, facts about one database in `Rules`. Privileges are checked by the second wall,
`engine.upstream` and PostgreSQL itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from engine.guard import allowed, versions
from engine.guard.analyse import (
    Analysis,
    Name,
    UnreadableError,
    analyse,
)
from engine.guard.measures import Quantity
from engine.values.guard_rules import BUILT_IN, QualifiedName, Reason, Rules

MAX_RELATIONS = 40
"""Names in FROM; planning time grows faster than linearly with them."""

LIMITS = {
    Quantity.CHARACTERS: 100_000,
    Quantity.ROWS: 1_000_000,
    Quantity.GATHERED: 10_000_000,
    Quantity.PAIRS: 10_000_000,
    Quantity.DIGITS: 10_000,
    Quantity.FACTORS: 1_000,
}
"""Most that the constants of a statement may produce: some MB of memory and a second of work on a server."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The statement may go to the second wall."""

    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Refused:
    """The statement may not run. `detail`: the refused name or construct, a clause; `hint`: a remedy, a sentence."""

    reason: Reason
    detail: str
    hint: str | None = None


Verdict = Allowed | Refused

_UNREADABLE = {
    Reason.EMPTY: "there is no statement",
    Reason.TOO_LONG: "the statement is too long",
    Reason.TOO_DEEP: "the statement is nested too deeply",
    Reason.SEVERAL_STATEMENTS: "only one statement is allowed",
    Reason.UNREADABLE: "the statement cannot be parsed",
}

_WRITING = frozenset({"InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt", "IntoClause"})
_COLLATION_OF_THE_SYSTEM = re.compile(r"[a-z]{2,3}(_[A-Z]{2}|-[A-Z]{2})?(\.?utf-?8|-x-icu)?", re.IGNORECASE)


def check(sql: str, rules: Rules = BUILT_IN) -> Verdict:
    """Whether `sql` may run on the server that `rules` describe. Never raises."""
    try:
        analysis = analyse(sql)
    except UnreadableError as error:
        text = _UNREADABLE[error.reason]
        return Refused(error.reason, f"{text}: {error}" if str(error) else text)
    return decide(analysis, rules)


def decide(analysis: Analysis, rules: Rules) -> Verdict:
    """The first refusal of `CHECKS`, or `Allowed`."""
    for refusing in CHECKS:
        refusal = refusing(analysis, rules)
        if refusal is not None:
            return refusal
    return Allowed(analysis)


def _statement(analysis: Analysis, _: Rules) -> Refused | None:
    if analysis.statement not in allowed.STATEMENTS:
        kind = _in_words(analysis.statement)
        return Refused(Reason.NOT_A_QUERY, f"{kind} is not a SELECT, VALUES, TABLE or WITH query")
    return None


def _writes(analysis: Analysis, _: Rules) -> Refused | None:
    for node in sorted(analysis.nodes & _WRITING):
        what = "SELECT INTO" if node == "IntoClause" else f"{_in_words(node)} inside the query"
        return Refused(Reason.WRITES, f"{what} would write")
    return None


def _locks(analysis: Analysis, _: Rules) -> Refused | None:
    if "LockingClause" in analysis.nodes:
        return Refused(Reason.LOCKS, "FOR UPDATE or FOR SHARE would lock rows")
    return None


def _constructs(analysis: Analysis, _: Rules) -> Refused | None:
    for node in sorted(analysis.nodes - allowed.NODES):
        return Refused(Reason.CONSTRUCT, f"the construct {_in_words(node)} is not allowed")
    for node, member in sorted(analysis.variants):
        if node in allowed.VARIANTS and member not in allowed.VARIANTS[node]:
            return Refused(Reason.CONSTRUCT, f"the construct {member.removeprefix('SVFOP_')} is not allowed")
    return None


def _relations(analysis: Analysis, rules: Rules) -> Refused | None:
    if len(analysis.relations) > MAX_RELATIONS:
        return Refused(
            Reason.TOO_MANY_RELATIONS, f"{len(analysis.relations)} names in FROM, at most {MAX_RELATIONS}"
        )
    for relation in analysis.relations:
        refusal = None if relation.cte else _relation(relation.name, rules)
        if refusal is not None:
            return refusal
    return None


def _relation(name: Name, rules: Rules) -> Refused | None:
    if len(name) > 2:  # noqa: PLR2004 - database.schema.table
        if name[0] != rules.database:
            return Refused(Reason.RELATION, f"relation {_dotted(name)} names a database")
        name = name[1:]
    if name[0] == "information_schema" or (len(name) > 1 and name[0].startswith("pg_")):
        return Refused(Reason.RELATION, f"relation {_dotted(name)} belongs to the system")
    # The names of system catalogs and of the views over them, which extensions put in other schemas as well.
    known = name in rules.relations or (len(name) == 1 and name[0] in rules.bare(rules.relations))
    if name[-1].startswith("pg_") and not known:
        return Refused(Reason.RELATION, f"relation {_dotted(name)} belongs to the system")
    return None


def _versions(analysis: Analysis, rules: Rules) -> Refused | None:
    """Refuses constructs that the server reads differently than the guard's parser, which is PostgreSQL 18's."""
    if rules.version < versions.OLDEST:
        return Refused(
            Reason.VERSION,
            f"the server is PostgreSQL {rules.version}, and the guard knows {versions.OLDEST} and newer",
        )
    found = [(versions.NODES[node], _in_words(node)) for node in analysis.nodes & versions.NODES.keys()]
    found += _newer(analysis.functions, versions.FUNCTIONS, "function")
    found += _newer((each.name for each in analysis.types), versions.TYPES, "type")
    found += _newer(analysis.operators, versions.OPERATORS, "operator")
    found += [(versions.NUMBERS, f"the number {number}") for number in analysis.numbers]
    for since, what in sorted(found):
        if since > rules.version:
            return Refused(
                Reason.VERSION, f"{what} works from PostgreSQL {since} on, and the server is {rules.version}"
            )
    return None


def _newer(names: Iterable[Name], since: Mapping[str, int], what: str) -> list[tuple[int, str]]:
    return [(since[name[-1]], f"{what} {_dotted(name)}") for name in names if _built_in(name) in since]


def _functions(analysis: Analysis, rules: Rules) -> Refused | None:
    known = allowed.FUNCTIONS
    return _first_unlisted(analysis.functions, known, rules.functions, (Reason.FUNCTION, "function"), rules)


def _operators(analysis: Analysis, rules: Rules) -> Refused | None:
    known = allowed.OPERATORS | allowed.CONSTRUCT_OPERATORS
    return _first_unlisted(analysis.operators, known, rules.operators, (Reason.OPERATOR, "operator"), rules)


def _types(analysis: Analysis, rules: Rules) -> Refused | None:
    names = [each.name for each in analysis.types]
    return _first_unlisted(names, allowed.TYPES, rules.types, (Reason.TYPE, "type"), rules)


def _sampling(analysis: Analysis, rules: Rules) -> Refused | None:
    what = (Reason.FUNCTION, "sampling method")
    return _first_unlisted(analysis.sampling, allowed.SAMPLING, frozenset(), what, rules)


def _settings(analysis: Analysis, _: Rules) -> Refused | None:
    for setting in analysis.settings:
        if setting is None or setting.lower() not in allowed.SETTINGS:
            what = "a setting that is not written out" if setting is None else f"setting {setting}"
            return Refused(Reason.FUNCTION, f"function current_setting may not read {what}")
    return None


def _collations(analysis: Analysis, _: Rules) -> Refused | None:
    for name in analysis.collations:
        own = _built_in(name)
        if own is None or not (own in allowed.COLLATIONS or _COLLATION_OF_THE_SYSTEM.fullmatch(own)):
            return Refused(Reason.COLLATION, f"collation {_dotted(name)} is not one of the built-in ones")
    return None


def _fields(analysis: Analysis, rules: Rules) -> Refused | None:
    """Refuses possible function calls: `(x).f` and `x.f` are also notations of `f(x)`.

    `SELECT f.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS f` reads that file (PostgreSQL docs 8.16.5).
    """
    for field in analysis.field_selections:
        if field != "*" and _callable(field, rules):
            return Refused(Reason.FIELD, f"field selection (…).{field} can call a function of that name")
    for qualifier, column in analysis.attributes:
        if column.startswith("pg_") and _callable(column, rules):
            return Refused(Reason.FIELD, f"{qualifier}.{column} can call the function {column}")
        for source, columns in analysis.function_sources:
            own = columns | allowed.SOURCE_COLUMNS | {source}
            if qualifier == source and column not in own and _callable(column, rules):
                return Refused(
                    Reason.FIELD,
                    f"{qualifier}.{column} can call a function: {qualifier} is a function in FROM",
                    f"Name its column in the alias, as in {qualifier}({column}).",
                )
    return None


def _callable(field: str, rules: Rules) -> bool:
    return rules.callable_fields is None or field in rules.callable_fields


def _cost(analysis: Analysis, _: Rules) -> Refused | None:
    """Refuses expressions that constants in the text make expensive; the cost of reading data is not considered."""
    for growth in analysis.growths:
        limit = LIMITS[growth.quantity]
        if not growth.amount <= limit:
            many = f"{growth.amount:.3g}" if math.isfinite(growth.amount) else "any number of"
            hint = None if math.isfinite(growth.amount) else f"Bound it: least(…, {limit // 1000})."
            return Refused(
                Reason.COST,
                f"{growth.what} may make {many} {growth.quantity.value}, at most {limit:,} are allowed",
                hint,
            )
    return None


def _first_unlisted(
    names: Iterable[Name],
    listed: frozenset[str],
    confirmed: frozenset[QualifiedName],
    what: tuple[Reason, str],
    rules: Rules,
) -> Refused | None:
    reason, word = what
    unlisted = [name for name in dict.fromkeys(names) if _built_in(name) not in listed]
    bare = rules.bare(confirmed) if unlisted else frozenset()
    for name in unlisted:
        if name[0] not in bare if len(name) == 1 else name not in confirmed:
            detail = f"{word} {_dotted(name)} is not on the list of allowed {word}s"
            return Refused(reason, detail, _setting_hint(name, word, rules))
    return None


def _setting_hint(name: Name, word: str, rules: Rules) -> str | None:
    """The setting that would allow `name`, or the reason why none can."""
    for dropped in rules.dropped:
        if dropped.name.split(".", 1)[-1] == name[-1]:
            return f"{dropped.name} cannot be allowed: {dropped.why}."
    if word == "sampling method" or name[0] == "pg_catalog":
        return None
    full = _dotted(name) if len(name) > 1 else f"SCHEMA.{name[-1]}"
    return f'Whoever keeps pgparley.toml may allow a safe one: [guard] {word}s = ["{full}"].'


def _built_in(name: Name) -> str | None:
    """The name where it is bare or qualified with pg_catalog, else None."""
    if len(name) == 1:
        return name[0]
    schema, *rest = name
    return rest[0] if schema == "pg_catalog" and len(rest) == 1 else None


def _dotted(name: Name) -> str:
    return ".".join(name)


def _in_words(node: str) -> str:
    """A parse tree's class in words: `CreateTableAsStmt` is CREATE TABLE AS."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", node.removesuffix("Stmt")).upper()


CHECKS: tuple[Callable[[Analysis, Rules], Refused | None], ...] = (
    _statement,
    _writes,
    _locks,
    _constructs,
    _relations,
    _functions,
    _operators,
    _types,
    _sampling,
    _settings,
    _collations,
    _fields,
    _versions,
    _cost,
)
"""In the order of reporting: the most telling refusal first."""
