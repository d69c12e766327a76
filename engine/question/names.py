"""The names of schema elements as words."""

from __future__ import annotations

import re

from schema_catalog.types import Column, Table


def qualified_words(table: Table, column: Column) -> str:
    """A column's name behind its table's, as lower-case words."""
    return f"{name_words(table.name)} {name_words(column.name)}"


def name_words(name: str) -> str:
    """A name of the schema as lower-case words: `OrderItems` and `order_items` are `order items`."""
    return re.sub(r"[_\W]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower().strip()
