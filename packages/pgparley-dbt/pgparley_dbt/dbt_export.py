"""What was said of a database as a dbt properties file (docs.getdbt.com/reference/source-properties).

A schema is a source, so that any project takes the file as it stands; a declared join is a test `relationships`. All
else is in `config: {meta: {pgparley: …}}`.
"""

from __future__ import annotations

from pgparley_dbt.export_blocks import held_joins, only_database, rest_of, tables_with, unique_columns
from pgparley_dbt.statements import VENDOR
from schema_catalog.knowledge_files.format import (
    Cardinality,
    ColumnBlock,
    JoinBlock,
    KnowledgeFile,
    TableBlock,
)
from schema_catalog.knowledge_files.yaml_text import dump
from schema_catalog.types import ColumnKey

_TEMPLATE = ("{{", "{%", "{#")
"""What dbt would fill in."""


def dbt_text(content: KnowledgeFile) -> str:
    """`content`, of one database, as a properties file; raises `CatalogError`."""
    database = only_database(content)
    keys = unique_columns(database)
    unique = keys | {each.column for each in database.joins if each.cardinality is Cardinality.ONE_TO_ONE}
    joins, others = held_joins(database, unique)
    others += [rest_of(each) for each in joins if _quoted(each)]
    joins = [each for each in joins if not _quoted(each)]
    rest = rest_of(database, "tables", "joins") | ({"joins": others} if others else {})
    sources: dict[str, list[object]] = {}
    for table in tables_with(database, (end for join in joins for end in (join.column, join.referred))):
        sources.setdefault(table.schema, []).append(_table(table, joins, unique))
    meta = _config({VENDOR: rest})
    named = []
    for schema, tables in (sources or {"public": []}).items():
        named.append({"name": schema, "schema": schema} | meta | {"tables": tables})
        meta = {}
    return dump({"version": 2, "sources": named})


def _table(table: TableBlock, joins: list[JoinBlock], unique: frozenset[ColumnKey]) -> dict[str, object]:
    columns = []
    for each in table.columns:
        column = (table.schema, table.name, each.name)
        tests: list[object] = [
            *(["unique"] if column in unique else []),
            *(["not_null"] if each.key is not None else []),
            *(_relationship(join.referred) for join in joins if join.column == column),
        ]
        columns.append(_said(each, "key") | ({"data_tests": tests} if tests else {}))
    return _said(table, "schema", "columns") | {"columns": columns}


def _quoted(join: JoinBlock) -> bool:
    """Whether `source('…', '…')` cannot name what it refers to."""
    return any(mark in name for name in join.referred[:2] for mark in "\"'")


def _relationship(referred: ColumnKey) -> dict[str, object]:
    schema, table, column = referred
    return {"relationships": {"arguments": {"to": f"source('{schema}', '{table}')", "field": column}}}


def _said(block: TableBlock | ColumnBlock, *elsewhere: str) -> dict[str, object]:
    """Name, description and meta. A description in which dbt would see a template is in our part of it."""
    held: dict[str, object] = {}
    if block.description and not any(each in block.description for each in _TEMPLATE):
        held["description"] = block.description
    rest = rest_of(block, "name", "synonyms", "sensitivity", "unit", "time_zone", *held, *elsewhere)
    meta = {
        "synonyms": block.synonyms,
        "sensitive": block.sensitivity is not None,
        "unit": getattr(block, "unit", None),
        "time_zone": getattr(block, "time_zone", None),
        VENDOR: rest,
    }
    return {"name": block.name} | held | _config({name: value for name, value in meta.items() if value})


def _config(meta: dict[str, object]) -> dict[str, object]:
    return {"config": {"meta": meta}} if meta else {}
