"""What was said of a database in the Open Semantic Interchange format (Apache Ossie, `core-spec/spec.md`).

The database is a semantic model, a table a dataset, a column a field, a declared join a relationship, and a term that
aggregates a metric. All else is in `custom_extensions`.
"""

from __future__ import annotations

import json

from sqlglot import exp

from pgparley_dbt.export_blocks import (
    held_joins,
    only_database,
    rest_of,
    tables_with,
    unique_columns,
)
from pgparley_dbt.expressions import ExpressionError, parsed
from pgparley_dbt.statements import VENDOR
from schema_catalog.knowledge_files.format import (
    ColumnBlock,
    DatabaseBlock,
    JoinBlock,
    KnowledgeFile,
    TableBlock,
    TermBlock,
)
from schema_catalog.knowledge_files.yaml_text import dump
from schema_catalog.naming import dotted, quote_ident
from schema_catalog.types import ColumnKey, TableKey

VERSION = "0.2.0.dev0"

_WORDS = ("description", "synonyms")


def open_semantic_text(content: KnowledgeFile) -> str:
    """`content`, of one database, as YAML of the format; raises `CatalogError`."""
    database = only_database(content)
    joins, other_joins = held_joins(database, unique_columns(database))
    named: set[ColumnKey] = {end for join in joins for end in (join.column, join.referred)}
    metrics, other_terms = list[TermBlock](), list[dict[str, object]]()
    for term in database.terms:
        if (read := _aggregated(term.definition)) is None:
            other_terms.append(rest_of(term))
        else:
            metrics.append(term)
            named |= read
    others = {"joins": other_joins, "terms": other_terms}
    rest = rest_of(database, *_WORDS, "rules", "tables", "joins", "terms")
    rest |= {name: blocks for name, blocks in others.items() if blocks}
    model = {
        "name": database.name,
        **_words(
            database,
            rest,
            instructions=database.rules,
            examples=[query.question for query in database.verified_queries],
        ),
        "datasets": [_dataset(table) for table in tables_with(database, named)],
        "relationships": [_relationship(join) for join in joins],
        "metrics": [{"name": term.name, **_sql(term.definition), **_words(term, {})} for term in metrics],
    }
    return dump({"version": VERSION, "semantic_model": [model]})


def _words(
    block: DatabaseBlock | TableBlock | ColumnBlock | TermBlock, rest: dict[str, object], **context: object
) -> dict[str, object]:
    context["synonyms"] = getattr(block, "synonyms", ())
    data = json.dumps(rest, ensure_ascii=False)
    said = {
        "description": block.description,
        "ai_context": {name: value for name, value in context.items() if value},
        "custom_extensions": [{"vendor_name": VENDOR, "data": data}] if rest else None,
    }
    return {name: value for name, value in said.items() if value}


def _sql(expression: str) -> dict[str, object]:
    return {"expression": {"dialects": [{"dialect": "ANSI_SQL", "expression": expression}]}}


def _dataset(table: TableBlock) -> dict[str, object]:
    keys = [[each.name] for each in table.columns if each.key is not None]
    return {
        "name": _dataset_name((table.schema, table.name)),
        "source": dotted((table.schema, table.name)),
        **({"unique_keys": keys} if keys else {}),
        **_words(table, rest_of(table, *_WORDS, "schema", "name", "columns")),
        "fields": [
            {
                "name": each.name,
                **_sql(quote_ident(each.name)),
                **_words(each, rest_of(each, *_WORDS, "name", "key")),
            }
            for each in table.columns
        ],
    }


def _dataset_name(table: TableKey) -> str:
    """As definitions write it."""
    return dotted(table[table[0] == "public" :])


def _relationship(join: JoinBlock) -> dict[str, object]:
    return {
        "name": f"{dotted(join.column)} = {dotted(join.referred)}",
        "from": _dataset_name(join.column[:2]),
        "to": _dataset_name(join.referred[:2]),
        "from_columns": [join.column[2]],
        "to_columns": [join.referred[2]],
    }


def _aggregated(definition: str) -> set[ColumnKey] | None:
    """The columns that a definition reads; None of one that is no metric."""
    try:
        tree = parsed(definition)
    except ExpressionError:
        return None
    read = list(tree.find_all(exp.Column))
    if tree.find(exp.AggFunc) is None or not all(column.table for column in read):
        return None
    return {(column.db or "public", column.table, column.name) for column in read}
