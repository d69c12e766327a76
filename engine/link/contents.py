"""What a column holds that SQL has to take out: the keys of JSON, the dates of texts; as expressions in SQL.

Keys and texts are values: they are known of columns that a DBA allowed. An expression has `{}` for the column.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime

from schema_catalog.naming import quote_literal

JSON_TYPES = frozenset({"json", "jsonb"})

DEPTH = 3
"""Keys of a path at most."""

PATHS = 40
"""Paths that are kept of one column, those of most documents."""

DATES = 50
"""Texts of a column that are read to tell their form, at most."""

FORMS = {
    "YYYY-MM-DD": "%Y-%m-%d",
    "DD.MM.YYYY": "%d.%m.%Y",
    "DD/MM/YYYY": "%d/%m/%Y",
    "MM/DD/YYYY": "%m/%d/%Y",
    "DD-MM-YYYY": "%d-%m-%Y",
    "YYYY/MM/DD": "%Y/%m/%d",
    "YYYY.MM.DD": "%Y.%m.%d",
    "YYYYMMDD": "%Y%m%d",
    "DD Mon YYYY": "%d %b %Y",
    "DD-Mon-YYYY": "%d-%b-%Y",
    "Mon DD, YYYY": "%b %d, %Y",
}
"""Forms of `to_date` and the same for `strptime`."""

_TYPES: dict[type, str] = {bool: "boolean", int: "numeric", float: "numeric", str: "text"}

Path = tuple[str, ...]


def date_form(texts: Iterable[str]) -> str | None:
    """The form of `to_date` in which every one of some texts is a day; None where none is, or more than one may be."""
    some = [text for text, _ in zip(texts, range(DATES), strict=False)]
    found = [form for form in FORMS if some and all(day_of(each, form) is not None for each in some)]
    return found[0] if len(found) == 1 else None


def day_of(text: str, form: str) -> date | None:
    """The day that a text is in a form of `to_date`; None where it is none."""
    if len(text) < len("YYYYMMDD") or text[-1:].isspace():
        return None
    try:
        day = datetime.strptime(text, FORMS[form]).replace(tzinfo=UTC).date()
    except ValueError:
        return None
    return day if day.year >= 1000 else None  # noqa: PLR2004 - four digits


def json_expressions(documents: Iterable[str], type_: str) -> tuple[str, ...]:
    """Expressions for the values in `documents`, those of most of them first; `type_`: `json` or `jsonb`."""
    counts: Counter[Path] = Counter()
    kinds: dict[Path, set[str]] = {}
    for document in documents:
        held = set(_paths(json.loads(document), ()))
        counts.update({path for path, _ in held})
        for path, kind in held:
            kinds.setdefault(path, set()).add(kind)
    # A key that holds a number here and a text there is read as a text.
    kept = sorted(counts, key=lambda path: (-counts[path], path))[:PATHS]
    return tuple(
        _expression(path, kinds[path].pop() if len(kinds[path]) == 1 else "text", type_) for path in kept
    )


def _paths(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Paths to what is no object, each with its type in SQL; of arrays those of their elements, behind an empty key."""
    if isinstance(value, dict) and len(path) < DEPTH:
        for key, inner in value.items():
            if key:
                yield from _paths(inner, (*path, key))
    elif isinstance(value, list) and path and "" not in path:
        for inner in value:
            yield from _paths(inner, (*path, ""))
    elif path and type(value) in _TYPES:
        yield path, _TYPES[type(value)]


def _expression(path: Path, kind: str, type_: str) -> str:
    """`({}->'door'->>'open')::boolean`."""
    if "" in path:
        at = path.index("")
        array = "{}" + "".join(f"->{quote_literal(key)}" for key in path[:at])
        rest = path[at + 1 :]
        made = f"{type_}_array_elements{'' if rest else '_text'}({array}){_taken(rest)}"
    else:
        made = "{}" + _taken(path)
    return made if kind == "text" else f"({made})::{kind}"


def _taken(path: Sequence[str]) -> str:
    inner = "".join(f"->{quote_literal(key)}" for key in path[:-1])
    return f"{inner}->>{quote_literal(path[-1])}" if path else ""


_KEY = re.compile(r"->>?'((?:[^']|'')+)'")


def keys_of(expressions: Iterable[str]) -> tuple[str, ...]:
    """The keys that expressions name, each once."""
    found = (key.replace("''", "'") for each in expressions for key in _KEY.findall(each))
    return tuple(dict.fromkeys(found))
