"""The file of databases of which little is said: every table and column, with room for a description.

Comments show what may help: the type, `COMMENT ON` and the codes that it explains, allowed values, proposed joins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import cycle

import msgspec

from schema_catalog.knowledge_files.export import stored_file
from schema_catalog.knowledge_files.format import ColumnBlock, DatabaseBlock, TableBlock, write_text
from schema_catalog.knowledge_files.yaml_text import dump
from schema_catalog.pg import Connection

VALUES, LENGTH = 8, 160
"""Values of a column that are shown at most, and characters of what stands behind it."""

_ROOM = re.compile(r"description: room (\d+) of the skeleton$", re.MULTILINE)

_ELEMENTS = """
    SELECT ARRAY[schema, "table"] AS element, kind AS type, comment FROM nl_catalog.tables WHERE database = $1
    UNION ALL
    (SELECT ARRAY[schema, "table", "column"], type, comment FROM nl_catalog.columns WHERE database = $1 ORDER BY place)
"""

Explained = Callable[[str], Sequence[tuple[str, str]]]
"""The codes that a comment explains, with their meanings."""


async def skeleton(connection: Connection, databases: Sequence[str], explained: Explained) -> str:
    """What the store says of `databases`, and room for the rest, as YAML that `read_text` takes as it stands."""
    content = await stored_file(connection, databases)
    head = write_text(msgspec.structs.replace(content, databases=())).replace(" []", "")
    texts = [head if content.databases else write_text(content)]
    for block in content.databases:
        filled, notes = await _filled(connection, block, explained)
        text = write_text(msgspec.structs.replace(content, databases=(filled,))).removeprefix(head)
        parts = _ROOM.split(text)
        behind = (
            f"description:{notes[int(part)]}" if odd else part
            for part, odd in zip(parts, cycle((0, 1)), strict=False)
        )
        texts += ["".join(behind), await _proposed(connection, block.name)]
    return "".join(texts)


async def _filled(
    connection: Connection, block: DatabaseBlock, explained: Explained
) -> tuple[DatabaseBlock, list[str]]:
    """The database with all its elements, and what stands behind each room, by the room's number."""
    blocks: dict[tuple[str, ...], TableBlock | ColumnBlock] = {}
    for table in block.tables:
        blocks[table.schema, table.name] = table
        blocks |= {(table.schema, table.name, column.name): column for column in table.columns}
    values, notes, places = await _values(connection, block.name), list[str](), dict[tuple[str, ...], int]()
    for (*names,), kind, comment in await connection.fetch(_ELEMENTS, block.name):
        element = tuple(names)
        places[element] = len(places)
        new = ColumnBlock(names[2]) if names[2:] else TableBlock(*names)
        found = blocks.setdefault(element, new)
        if found.description is None:
            codes = ", ".join(f"{code} = {meaning}" for code, meaning in explained(comment or ""))
            told = "; ".join(filter(None, (kind, codes and f"codes: {codes}", comment, values.get(element))))
            notes.append(f" # {' '.join(told.split())[:LENGTH]}")
            room = f"room {len(notes) - 1} of the skeleton"
            blocks[element] = msgspec.structs.replace(found, description=room)
    columns: dict[tuple[str, ...], list[ColumnBlock]] = {}
    for element in sorted(blocks, key=lambda each: places.get(each, 0)):
        if isinstance(column := blocks[element], ColumnBlock):
            columns.setdefault(element[:2], []).append(column)
    tables = (
        msgspec.structs.replace(table, columns=tuple(columns.get(element, ())))
        for element, table in sorted(blocks.items())
        if isinstance(table, TableBlock)
    )
    return msgspec.structs.replace(block, tables=tuple(tables)), notes


async def _values(connection: Connection, database: str) -> dict[tuple[str, ...], str]:
    """Values that may be shown; none to who may not read them."""
    if not await connection.fetchval("SELECT has_schema_privilege('pgparley', 'USAGE')"):
        return {}
    rows = await connection.fetch(
        'SELECT schema, "table", "column", stored[:$2] FROM pgparley.value_column'
        " WHERE database = $1 AND cardinality(stored) > 0",
        *(database, VALUES),
    )
    return {(schema, table, column): f"values: {', '.join(stored)}" for schema, table, column, stored in rows}


async def _proposed(connection: Connection, database: str) -> str:
    """The proposed joins as comments, so that an import takes those whose # is taken away."""
    rows = await connection.fetch(
        "SELECT (parse_ident(from_column))[2:], (parse_ident(to_column))[2:], evidence FROM nl_catalog.proposed_joins"
        " WHERE database = $1 ORDER BY 1, 2",
        database,
    )
    lines = ["  # Proposed joins: take the # away of the next line and of what is right.", "  # joins:"]
    for column, referred, evidence in rows:
        one, other = (dump(list(names)).strip() for names in (column, referred))
        lines += [f"  # - from: {one}  # {evidence}", f"  #   to: {other}"]
    return "".join(f"{line}\n" for line in lines) if rows else ""
