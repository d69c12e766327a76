"""A file that `pgparley catalog export --to` made: what it says is what people say, not another tool's word.

What the tool's form cannot hold stands in its extension field.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from pgparley_dbt.statements import SaidText, Statements, stands_at
from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    LeftOut,
    Source,
    TableBlock,
    TermBlock,
    located,
)
from schema_catalog.store import CatalogError
from schema_catalog.types import DeclaredKey

_PATH = "$.databases[0]"

T = TypeVar("T", DatabaseBlock, TableBlock, ColumnBlock)


def taken_back(said: Statements, name: str) -> Source:
    """The file called `name`, of which all is `said`; raises `CatalogError`."""
    about = said.about
    if about is None or not isinstance(about.rest, dict):
        raise CatalogError(f"{name} is no export of this catalog; --database says what it is about")
    left_out, places = [*said.left_out], {_PATH: about.place}
    tables, joins, terms = list[TableBlock](), list[JoinBlock](), list[TermBlock]()
    for table in said.tables:
        path = f"{_PATH}.tables[{len(tables)}]"
        if table.table.schema is None:
            left_out.append(LeftOut(f"table {table.table}", "it has no schema", table.text.place))
            continue
        columns = list[ColumnBlock]()
        for column in table.columns:
            key = DeclaredKey.UNIQUE if column.unique else None
            block = _block(ColumnBlock, column.text, name=column.name, key=key)
            if block != ColumnBlock(column.name):
                places[f"{path}.columns[{len(columns)}]"] = column.text.place
                columns.append(block)
        empty = TableBlock(table.table.schema, table.table.name)
        whole = _block(TableBlock, table.text, schema=empty.schema, name=empty.name)
        whole = msgspec.structs.replace(whole, columns=tuple(columns))
        if whole != empty:
            places[path] = table.text.place
            tables.append(whole)
    for join in said.joins:
        one, other = (
            (table.schema or "public", table.name, column)
            for table, column in ((join.table, join.column), (join.referred, join.referred_column))
        )
        places[f"{_PATH}.joins[{len(joins)}]"] = join.place
        joins.append(
            JoinBlock(one, other, Cardinality.ONE_TO_ONE if join.unique else Cardinality.MANY_TO_ONE)
        )
    for metric in said.metrics:
        places[f"{_PATH}.terms[{len(terms)}]"] = metric.place
        terms.append(TermBlock(*metric.written, metric.description or None))
    database = _block(DatabaseBlock, about)
    database = msgspec.structs.replace(
        database,
        tables=tuple(tables),
        joins=(*joins, *database.joins),
        terms=(*terms, *database.terms),
    )
    return Source(name, KnowledgeFile(1, (database,)), stands_at(name, places), None, tuple(left_out))


def _block(kind: type[T], text: SaidText, **form: object) -> T:
    """What the form holds with what its extension has."""
    rest = text.rest if isinstance(text.rest, dict) else {}
    words = {"description": text.description, "synonyms": text.synonyms}
    said = {**{name: value for name, value in words.items() if value}, **text.attributes, **form}
    try:
        return msgspec.convert({**rest, **said}, kind, strict=False)
    except msgspec.ValidationError as error:
        message, path = located(error)
        raise CatalogError(f"{text.place}: {message} ({path})") from None
