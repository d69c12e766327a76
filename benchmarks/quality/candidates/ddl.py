"""A schema as statements that would create it: what peers are trained with."""

from __future__ import annotations

from schema_catalog.naming import quote_ident
from schema_catalog.types import Snapshot


def ddl(snapshot: Snapshot) -> tuple[str, ...]:
    """A schema as statements that would create it, one a table: without schema names."""
    made = []
    for table in snapshot.tables:
        lines = [f"{quote_ident(column.name)} {column.type}" for column in table.columns]
        if table.primary_key:
            lines.append(f"PRIMARY KEY ({_listed(table.primary_key)})")
        lines += [
            f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES"
            f" {quote_ident(key.ref_table)} ({_listed(key.ref_columns)})"
            for key in table.foreign_keys
        ]
        made.append(f"CREATE TABLE {quote_ident(table.name)} (\n  " + ",\n  ".join(lines) + "\n);")
    return tuple(made)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(quote_ident, names))
