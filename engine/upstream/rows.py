"""The rows of a statement as text, within limits of rows and of bytes that the server itself keeps.

Owns the statement around a statement: the server cuts values that are too long, and sends no rows beyond the cap.
(`meter` counts all bytes once more.)
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files

from engine.guard import allowed
from engine.statement.printing.statement import Printed
from engine.upstream.meter import MeteredConnection
from engine.values.ports import Result
from engine.values.role_limits import ResultCaps

_FIRST_OF_USERS = 16_384
"""The first OID that is not built in (`FirstNormalObjectId`)."""

_UTF8 = 4
"""The most bytes of a character."""


@dataclass(frozen=True, slots=True)
class ResultColumn:
    """A column of the result; `fixed`: its type has a fixed length."""

    name: str
    type: str
    fixed: bool


class TypeNames:
    """The names of types; those of built-in types, the same on every server, are kept."""

    def __init__(self) -> None:
        self._query = files("engine").joinpath("upstream", "sql", "result_types.sql").read_text("utf-8")
        self._known: dict[int, tuple[str, bool]] = {}

    async def columns(self, connection: MeteredConnection, statement: Printed) -> list[ResultColumn]:
        """The columns of `statement`; their types are those that every PostgreSQL has, others are text.

        Raises the driver's exceptions.
        """
        attributes = (await connection.prepare(statement.text)).get_attributes()
        oids = {attribute.type.oid for attribute in attributes}
        described = {oid: self._known[oid] for oid in oids & self._known.keys()}
        if unknown := sorted(oids - described.keys()):
            listed = json.dumps(sorted(allowed.TYPES))
            rows = await connection.fetch(self._query, json.dumps(unknown), listed)
            described |= {row["oid"]: (row["type"], row["fixed"]) for row in rows}
            self._known |= {oid: described[oid] for oid in unknown if oid < _FIRST_OF_USERS}
        return [ResultColumn(attribute.name, *described[attribute.type.oid]) for attribute in attributes]


async def rows(
    connection: MeteredConnection,
    statement: Printed,
    columns: list[ResultColumn],
    row_cap: int,
    caps: ResultCaps,
) -> Result:
    """The first rows of `statement`, in its order: at most `row_cap`, and no more bytes than `caps` allow.

    Raises the driver's exceptions.
    """
    fetched = await connection.fetch(_capped(statement, columns, row_cap + 1, caps))
    # The first row that goes over the cap still comes: it tells that there was one.
    over = bool(fetched) and fetched[-1][-1]
    kept = fetched[: min(row_cap, len(fetched) - over)]
    return Result(
        columns=tuple((column.name, column.type) for column in columns),
        rows=tuple(tuple(row)[:-2] for row in kept),
        truncated=over or len(fetched) > row_cap,
        shortened=any(row[-2] for row in kept),
    )


def _capped(statement: Printed, columns: list[ResultColumn], limit: int, caps: ResultCaps) -> str:
    """The rows of `statement` as text, then whether a value was cut, then whether the answer has gone over its cap.

    `format` writes a value as its type's output function does, where a cast to text does not (inet, boolean);
    `num_nonnulls` tells NULL from a row of NULLs. What was printed cannot reach past its parentheses. The window has no
    order of its own and keeps that of the rows.
    """
    names = [f"c{number}" for number in range(len(columns))]
    wide = [name for name, column in zip(names, columns, strict=True) if not column.fixed]
    longest = min(caps.value_bytes, caps.answer_bytes // max(1, len(wide)))
    texts = [
        f"CASE pg_catalog.num_nonnulls({name}) WHEN 1 THEN pg_catalog.format('%s', {name}) END AS {name}"
        for name in names
    ]
    cut = [
        f"CASE WHEN pg_catalog.octet_length({name}) > {longest}"
        f" THEN pg_catalog.left({name}, {longest // _UTF8}) ELSE {name} END AS {name}"
        if name in wide
        else name
        for name in names
    ]
    was_cut = " OR ".join(f"pg_catalog.octet_length({name}) > {longest}" for name in wide) or "false"
    size = " + ".join(["0", *(f"coalesce(pg_catalog.octet_length({name}), 0)" for name in names)])
    alias = f"({', '.join(names)})" if names else ""
    shown = ", ".join([*names, "was_cut", f"total > {caps.answer_bytes}"])
    return (
        f"SELECT {shown} FROM ("  # noqa: S608 - names and numbers of ours, and what was printed
        "SELECT *, pg_catalog.sum(size) OVER (ROWS UNBOUNDED PRECEDING) AS total FROM ("
        f"SELECT *, {size} AS size FROM ("
        f"SELECT {', '.join([*cut, f'coalesce({was_cut}, false) AS was_cut'])} FROM ("
        f"SELECT {', '.join(texts)} FROM ({statement.text}) AS t {alias} LIMIT {limit}"
        f") AS t) AS t) AS t) AS t WHERE total - size <= {caps.answer_bytes}"
    )
