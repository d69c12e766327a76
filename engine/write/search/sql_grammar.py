"""The Lark grammar, for llguidance, of a SELECT over a schema's unmasked names.

Masking in the decoder keeps the prompt, and so the prefix cache, the same for every candidate, and excludes invented
columns. A bare name is a column of the only table in FROM; over several tables a column is `table.column`, or has an
alias derived from the table's name (`p` or `pe` for `people`), since it precedes FROM. Tables may share aliases;
validation then decides. A column whose values are all known (a listed one) is equal to one of them or to no text; one
of an enum is neither less nor greater than another text either.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import resources

from engine.link.contents import JSON_TYPES, keys_of
from engine.statement.written import aliases, qualifier
from engine.values.elements import WHOLE_TABLE, ColumnContent, ValueList
from schema_catalog.naming import KEYWORDS, is_plain, quote_ident, quote_literal
from schema_catalog.types import ColumnKey, Snapshot, Table

Values = Mapping[str, Sequence[str]]
"""All values of columns of one table, by the column's name."""


def sql_grammar(
    snapshot: Snapshot,
    masked: frozenset[ColumnKey],
    lists: Iterable[ValueList] = (),
    contents: Iterable[ColumnContent] = (),
) -> str:
    """The Lark grammar of one SELECT over `snapshot` without `masked`; `lists` are of listed columns.

    `contents`: a column of JSON that is among them has the keys that are known alone.

    Beside `=`, `<>` and `IN` a listed column has texts of its list alone; patterns, order and casts stay free.

    Raises `ValueError` where no column is left.
    """
    tables = [_visible(table, masked) for table in snapshot.tables if (*table.key, WHOLE_TABLE) not in masked]
    tables = [table for table in tables if table.columns]
    if not tables:
        raise ValueError("every column is masked")
    touched = {key[:2] for key in masked} | {table.key for table in tables if table.partial}
    taken = frozenset(table.name for table in snapshot.tables)
    numbers = range(len(tables))
    scoped = _lark("scoped")
    parts = [
        _lark("statement"),
        *(f"{rule}: {_each(rule, numbers)}" for rule in ("single_query", "single_select", "table_ref")),
        *(f"{rule}: {_each(f'{rule}_of', numbers)}" for rule in ("free", "listed", "matched", "path")),
        *_of_types(tables),
        f"output: {_alternatives(_quoted(snapshot)) + ' | ALIAS'}".replace("output:  | ", "output: "),
        _scope(scoped, "", _each("star", numbers) + ("" if touched else ' | "*"')),
    ]
    keys = {each.column: keys_of(each.expressions) for each in contents}
    written = [each for each in lists if each.values and all(map(_writable, each.values))]
    for number, table in enumerate(tables):
        values = {each.column[2]: each.values for each in written if each.column[:2] == table.key}
        parts.append(_table_rules(snapshot, table, number, taken, values))
        parts.append(_path_rules(snapshot, table, number, keys))
        parts.append(
            f'star_{number}: name_{number} "." "*"' if table.key not in touched else f"star_{number}: NOTHING"
        )
        parts.append(_scope(scoped, f"_{number}", '"*"' if table.key not in touched else "NOTHING"))
    return "\n".join(parts)


def _quoted(snapshot: Snapshot) -> Iterator[str]:
    """The columns' names that are no aliases, as a subquery that gives such columns calls them."""
    names = {column.name for _, column in snapshot.columns()}
    spelt = _spellings(snapshot)
    return (each for name in sorted(names) if quote_ident(name) != name for each in spelt(name))


def _spellings(snapshot: Snapshot) -> Callable[[str], list[str]]:
    """Gives how a name may be written: quoted where it has to be, and as models write it, without quotes.

    What is written in capitals `engine.findings.rules.references.as_named` quotes, unless two names differ by them
    alone; a keyword in small letters, in which the grammar writes none of its own, `in_postgresql`.
    """
    names = {each for table, column in snapshot.columns() for each in (table.schema, table.name, column.name)}
    often = Counter(name.lower() for name in names)

    def spelt(name: str) -> list[str]:
        bare = name != name.lower() and is_plain(name) and often[name.lower()] == 1
        return [quote_ident(name), name] if bare or name in KEYWORDS else [quote_ident(name)]

    return spelt


_PART = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(?<!::)(?<!AS )\b[a-z_][a-z0-9_]*\b""")


_CALENDAR = re.compile(r"'(?:[^']|'')*'|\b(YEAR|MONTH|DAY)\(([^()]*)\)")


def in_postgresql(sql: str, snapshot: Snapshot) -> str:
    """A statement that was written under the grammar as the server reads it.

    With quotes around the keywords that are names of the schema, and EXTRACT for the `YEAR(ordered_on)` of other
    dialects, which models write first: were it no way to go on, they would take another column.
    """
    sql = _CALENDAR.sub(lambda found: f"EXTRACT({found[1]} FROM {found[2]})" if found[1] else found[0], sql)
    names = {each for table, column in snapshot.columns() for each in (table.name, column.name)} & KEYWORDS
    return (
        _PART.sub(lambda found: quote_ident(found[0]) if found[0] in names else found[0], sql)
        if names
        else sql
    )


def _writable(value: str) -> bool:
    """Whether a statement with the value reads back as it is: no control character, no fence."""
    return "```" not in value and not any(unicodedata.category(each)[0] == "C" for each in value)


def _lark(name: str) -> str:
    return resources.files(__package__).joinpath(f"{name}.lark").read_text(encoding="utf-8")


def _visible(table: Table, masked: frozenset[ColumnKey]) -> Table:
    return replace(table, columns=tuple(c for c in table.columns if (*table.key, c.name) not in masked))


def _each(rule: str, numbers: Iterable[int]) -> str:
    return " | ".join(f"{rule}_{number}" for number in numbers)


def _scope(rules: str, scope: str, star: str) -> str:
    """The scoped rules under the names of one scope. `star`: what an item may be besides an expression."""
    return rules.replace("$", scope) + f'item{scope}: expr{scope} (" AS " ALIAS)? | {star}\n'


def _table_rules(snapshot: Snapshot, table: Table, number: int, taken: Container[str], values: Values) -> str:
    """The names of one table and of its columns, and the statements over it alone.

    A name and its alias are lexemes of their own: the lexer takes the longest and cannot go back.
    """
    short = aliases(table, taken)
    items = f'"SELECT " "DISTINCT "? item_{number} (", " item_{number})*'
    clauses = f"where_{number}? group_{number}? having_{number}?"
    alias = f' (" " "AS "? ({_alternatives(short)}))?' if short else ""
    spelt = _spellings(snapshot)
    free = [name for column in table.columns if column.name not in values for name in spelt(column.name)]
    listed = [name for column in table.columns if column.name in values for name in spelt(column.name)]
    places = {column.name: place for place, column in enumerate(table.columns) if column.name in values}
    called = [snapshot.display_name(table)]
    called += spelt(table.name)[1:] if called[0] == quote_ident(table.name) else []
    labelled = {column.name for column in table.columns if column.labels}
    matches = " | ".join(f"match_{number}_{place}" for place in places.values()) or "NOTHING"
    lines = [
        f"table_ref_{number}: ({_alternatives(called)}){alias}",
        f"name_{number}: {_alternatives([qualifier(snapshot, table), *spelt(table.name)[1:], *short])}",
        f"bare_{number}: {_alternatives(free) or 'NOTHING'}",
        f"bare_listed_{number}: {_alternatives(listed) or 'NOTHING'}",
        f"bare_matched_{number}: {matches}",
        f"single_query_{number}: single_select_{number} order_{number}? limit?",
        f"single_select_{number}: {items} FROM table_ref_{number} {clauses}",
    ]
    for rule, bare in (
        ("free", "bare"),
        ("listed", "bare_listed"),
        ("matched", "bare_matched"),
        ("path", "bare_path"),
    ):
        lines.append(f'{rule}_of_{number}: name_{number} "." {bare}_{number}')
        lines.append(f"{rule}_{number}: {bare}_{number} | {rule}")
    for name, place in places.items():
        text = f"VALUE_{number}_{place}"
        some = f'(" IN (" | " NOT IN (") {text} (", " {text})* ")"'
        # Patterns, order and casts of a text stay free; a label is compared with labels alone.
        ordered = text if name in labelled else "STRING"
        order = f'ordering {ordered} | between {ordered} " AND " {ordered}'
        match = f"equality {text} | {some} | {order}"
        lines.append(f"match_{number}_{place}: ({_alternatives(spelt(name))}) ({match})")
        lines.append(f"{text}: {_alternatives(map(quote_literal, values[name]))}")
    return "\n".join(lines)


def _path_rules(
    snapshot: Snapshot, table: Table, number: int, keys: Mapping[ColumnKey, Sequence[str]]
) -> str:
    """What columns of JSON hold: `payload->'door'->>'open'`."""
    lines, paths = [], []
    for place, column in enumerate(table.columns):
        if column.type in JSON_TYPES:
            known = [each for each in keys.get((*table.key, column.name), ()) if _writable(each)]
            text = _alternatives(map(quote_literal, known)) or "STRING"
            lines.append(f"KEY_{number}_{place}: {text}")
            paths.append(f"path_{number}_{place}")
            called = _alternatives(_spellings(snapshot)(column.name))
            lines.append(f"{paths[-1]}: ({called}) (arrow KEY_{number}_{place})+")
    return "\n".join([f"bare_path_{number}: {' | '.join(paths) or 'NOTHING'}", *lines])


_SPREAD = {
    "json": '"json_array_elements" | "json_array_elements_text" | "json_array_length"',
    "jsonb": '"jsonb_array_elements" | "jsonb_array_elements_text" | "jsonb_array_length"',
    "[]": '"UNNEST" | "CARDINALITY"',
}
"""Functions of what holds several values, by the ending of its type."""


def _of_types(tables: Iterable[Table]) -> Iterator[str]:
    """Rules for operators and functions of types that the schema has; a rule for others writes nothing."""
    types = {column.type for table in tables for column in table.columns}
    arrays = any(each.endswith("[]") for each in types)
    ranges = sorted(each for each in types if each.endswith("range"))
    spread = [text for ending, text in _SPREAD.items() if any(_ends(each, ending) for each in types)]
    holds = arrays or ranges or "jsonb" in types
    zoned = any(each.endswith("with time zone") for each in types)
    dated = any(each == "date" or each.startswith("timestamp") for each in types)
    rules = {
        "spread": " | ".join(spread),
        "any": '"ANY("' if arrays else "",
        "array": '"ARRAY["' if arrays else "",
        "holds": '" @> " | " <@ " | " && "' if holds else "",
        "range": _alternatives([*ranges, *(each.upper() for each in ranges)]),
        "zone": '" AT TIME ZONE " STRING' if zoned else "",
        "calendar": '"YEAR" | "MONTH" | "DAY"' if dated else "",
    }
    return (f"{name}: {text or 'NOTHING'}" for name, text in rules.items())


def _ends(type_: str, ending: str) -> bool:
    return type_.endswith(ending) if ending == "[]" else type_ == ending


def _alternatives(names: Iterable[str]) -> str:
    return " | ".join(map(_literal, dict.fromkeys(names)))


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
