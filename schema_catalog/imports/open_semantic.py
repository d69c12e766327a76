"""What a file in the Open Semantic Interchange format says (Apache Ossie, `core-spec/spec.md`), in YAML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from schema_catalog.imports.documents import read_documents, words_in
from schema_catalog.imports.expressions import ExpressionError, qualified
from schema_catalog.imports.statements import (
    LeftOut,
    Place,
    SaidColumn,
    SaidJoin,
    SaidMetric,
    SaidTable,
    SaidText,
    Statements,
    TableName,
)
from schema_catalog.naming import is_plain, quote_ident
from schema_catalog.store import CatalogError

_SQL = ("ANSI_SQL", "OSSIE_SQL_2026")
"""The dialects that are read, the first first."""

_WITH_DATABASE = 3
"""Parts of a table's name that has the database before the schema."""


class _Dialect(msgspec.Struct, frozen=True):
    dialect: str
    expression: str


class _Expression(msgspec.Struct, frozen=True):
    dialects: list[_Dialect] = []


class _Field(msgspec.Struct, frozen=True):
    name: str
    expression: _Expression = _Expression()
    description: str | None = None
    ai_context: Any = None


class _Dataset(msgspec.Struct, frozen=True):
    name: str
    source: Any = None
    primary_key: list[str] | None = None
    unique_keys: list[list[str]] | None = None
    description: str | None = None
    ai_context: Any = None
    fields: list[_Field] | None = None


class _Relationship(msgspec.Struct, frozen=True, rename={"many": "from", "one": "to"}):
    name: str
    many: str
    one: str
    from_columns: list[str] = []
    to_columns: list[str] = []


class _Model(msgspec.Struct, frozen=True):
    name: str = ""
    description: str | None = None
    datasets: list[_Dataset] | None = None
    relationships: list[_Relationship] | None = None
    metrics: list[_Field] | None = None


class _File(_Model, frozen=True):
    version: str | None = None
    semantic_model: list[_Model] | None = None


def read_open_semantic(path: Path) -> Statements:
    """What the file at `path` says; raises `CatalogError` and `OSError`."""
    if path.is_dir():
        raise CatalogError(f"{path} is a folder; name the file")
    [document] = read_documents([(path.name, path)])
    file = document.as_(_File)
    if file.version is None or (file.datasets is None and file.semantic_model is None):
        raise CatalogError(f"{document.name}: it has no version, or neither datasets nor semantic_model")
    place = document.place
    said = Statements() if file.datasets is None else _of_model(file, place)
    for n, model in enumerate(file.semantic_model or ()):
        said += _of_model(model, place.below(f".semantic_model[{n}]"))
    return said


def _of_model(model: _Model, place: Place) -> Statements:
    said = Statements()
    tables: dict[str, TableName] = {}
    columns: dict[tuple[str, str], str] = {}
    for n, dataset in enumerate(model.datasets or ()):
        at = place.below(f".datasets[{n}]")
        table = _table(dataset.source)
        if table is None:
            reason = "its source is no name of a table"
            said += Statements(left_out=(LeftOut(f"dataset {dataset.name}", reason, at),))
            continue
        tables[dataset.name] = table
        columns.update(
            {(dataset.name, field.name): sql for field in dataset.fields or () if (sql := _sql(field))}
        )
        said += _of_dataset(dataset, table, at)
    for n, relationship in enumerate(model.relationships or ()):
        said += _of_relationship(relationship, model, tables, columns, place.below(f".relationships[{n}]"))
    for n, metric in enumerate(model.metrics or ()):
        said += _of_metric(metric, tables, columns, place.below(f".metrics[{n}]"))
    return said


def _table(source: Any) -> TableName | None:
    """`table`, `schema.table` or `database.schema.table`, as a text or in `object`; None of a query."""
    if isinstance(source, dict):
        source = source.get("object") if source.get("kind") == "table" else None
    if not isinstance(source, str):
        return None
    parts = [part.strip().strip('"') for part in source.split(".")]
    if len(parts) > _WITH_DATABASE or not all(parts) or any(" " in part for part in parts):
        return None
    return TableName(parts[-1], parts[-2] if len(parts) > 1 else None)


def _of_dataset(dataset: _Dataset, table: TableName, place: Place) -> Statements:
    unique = _single_keys(dataset)
    columns, left_out = [], []
    for n, field in enumerate(dataset.fields or ()):
        at, sql = place.below(f".fields[{n}]"), _sql(field)
        if sql is None or not is_plain(sql):
            left_out.append(LeftOut(f"field {dataset.name}.{field.name}", "it is no column of the table", at))
        else:
            keys = {field.name, sql} & unique
            columns.append(SaidColumn(sql, _text(field.description, field.ai_context, at), bool(keys)))
    fields = {field.name for field in dataset.fields or ()} | {column.name for column in columns}
    columns += [SaidColumn(name, SaidText(None, (), place), unique=True) for name in sorted(unique - fields)]
    text = _text(dataset.description, dataset.ai_context, place)
    return Statements(tables=(SaidTable(table, text, tuple(columns)),), left_out=tuple(left_out))


def _single_keys(dataset: _Dataset) -> set[str]:
    keys = [dataset.primary_key or [], *(dataset.unique_keys or ())]
    return {key[0] for key in keys if len(key) == 1}


def _text(description: str | None, context: Any, place: Place) -> SaidText:
    synonyms = words_in(context, "synonyms") if isinstance(context, dict) else ()
    return SaidText(description, synonyms, place)


def _sql(field: _Field) -> str | None:
    written = {each.dialect: each.expression.strip() for each in field.expression.dialects}
    return next((written[dialect] for dialect in _SQL if dialect in written), None)


def _of_relationship(
    relationship: _Relationship,
    model: _Model,
    tables: dict[str, TableName],
    columns: dict[tuple[str, str], str],
    place: Place,
) -> Statements:
    many, one = tables.get(relationship.many), tables.get(relationship.one)
    what = f"relationship {relationship.name}"
    if many is None or one is None:
        return Statements(left_out=(LeftOut(what, "one of its datasets is no table", place),))
    if len(relationship.from_columns) != 1 or len(relationship.to_columns) != 1:
        return Statements(left_out=(LeftOut(what, "a declared join has one column on each side", place),))
    [own], [other] = relationship.from_columns, relationship.to_columns
    unique = any(
        own in _single_keys(dataset) for dataset in model.datasets or () if dataset.name == relationship.many
    )
    own, other = columns.get((relationship.many, own), own), columns.get((relationship.one, other), other)
    return Statements(joins=(SaidJoin(many, own, one, other, place, unique),))


def _of_metric(
    metric: _Field, tables: dict[str, TableName], columns: dict[tuple[str, str], str], place: Place
) -> Statements:
    only = next(iter(tables)) if len(tables) == 1 else ""

    def column(dataset: str, name: str) -> str:
        sql = columns.get((dataset or only, name), name)
        if not is_plain(sql):
            raise ExpressionError(f"it reads the field {name}, which is no column of the table")
        return f"{quote_ident(dataset or only)}.{sql}" if dataset or only else sql

    try:
        sql = _sql(metric)
        if sql is None:
            raise ExpressionError(f"it has no expression in {' or '.join(_SQL)}")  # noqa: TRY301 - one way out
        expression = qualified(sql, column)
    except ExpressionError as problem:
        return Statements(left_out=(LeftOut(f"metric {metric.name}", str(problem), place),))
    synonyms = _text(None, metric.ai_context, place).synonyms
    names = (metric.name.replace("_", " "), *synonyms)
    return Statements(
        metrics=(SaidMetric(names, metric.description, expression, place, None, tuple(tables.items())),)
    )
