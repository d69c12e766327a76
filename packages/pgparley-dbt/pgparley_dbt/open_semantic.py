"""What a file in the Open Semantic Interchange format says (Apache Ossie, `core-spec/spec.md`), in YAML or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from pgparley_dbt.documents import read_documents, words_in
from pgparley_dbt.expressions import ExpressionError, qualified
from pgparley_dbt.statements import (
    VENDOR,
    SaidColumn,
    SaidJoin,
    SaidMetric,
    SaidTable,
    SaidText,
    Statements,
    TableName,
)
from schema_catalog.knowledge_files.format import LeftOut, Place
from schema_catalog.naming import dotted, is_plain, parts_of
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


class _Extension(msgspec.Struct, frozen=True):
    vendor_name: str
    data: str


class _Described(msgspec.Struct, frozen=True):
    name: str = ""
    description: str | None = None
    ai_context: Any = None
    custom_extensions: list[_Extension] = []


class _Field(_Described, frozen=True, kw_only=True):
    name: str
    expression: _Expression = _Expression()


class _Dataset(_Described, frozen=True, kw_only=True):
    name: str
    source: Any = None
    primary_key: list[str] | None = None
    unique_keys: list[list[str]] | None = None
    fields: list[_Field] | None = None


class _Relationship(msgspec.Struct, frozen=True, rename={"many": "from", "one": "to"}):
    name: str
    many: str
    one: str
    from_columns: list[str] = []
    to_columns: list[str] = []


class _Model(_Described, frozen=True):
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
    said = Statements(about=_text(model, place))
    tables: dict[str, TableName] = {}
    columns: dict[tuple[str, str], str | None] = {}
    for n, dataset in enumerate(model.datasets or ()):
        at = place.below(f".datasets[{n}]")
        table = _table(dataset.source)
        if table is None:
            reason = "its source is no name of a table"
            said += Statements(left_out=(LeftOut(f"dataset {dataset.name}", reason, at),))
            continue
        tables[dataset.name] = table
        columns.update(
            {
                (dataset.name, field.name): _column(sql)
                for field in dataset.fields or ()
                if (sql := _sql(field))
            }
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
    parts = parts_of(source) if isinstance(source, str) else ()
    if not 0 < len(parts) <= _WITH_DATABASE:
        return None
    return TableName(parts[-1], parts[-2] if len(parts) > 1 else None)


def _of_dataset(dataset: _Dataset, table: TableName, place: Place) -> Statements:
    unique = _single_keys(dataset)
    columns, left_out = [], []
    for n, field in enumerate(dataset.fields or ()):
        at, name = place.below(f".fields[{n}]"), _column(_sql(field))
        if name is None:
            left_out.append(LeftOut(f"field {dataset.name}.{field.name}", "it is no column of the table", at))
        else:
            keys = {field.name, name} & unique
            columns.append(SaidColumn(name, _text(field, at), bool(keys)))
    fields = {field.name for field in dataset.fields or ()} | {column.name for column in columns}
    columns += [SaidColumn(name, SaidText(None, (), place), unique=True) for name in sorted(unique - fields)]
    text = _text(dataset, place)
    return Statements(tables=(SaidTable(table, text, tuple(columns)),), left_out=tuple(left_out))


def _single_keys(dataset: _Dataset) -> set[str]:
    keys = [dataset.primary_key or [], *(dataset.unique_keys or ())]
    return {key[0] for key in keys if len(key) == 1}


def _text(said: _Described, place: Place) -> SaidText:
    context = said.ai_context if isinstance(said.ai_context, dict) else {}
    ours = next((each.data for each in said.custom_extensions if each.vendor_name == VENDOR), None)
    try:
        rest = None if ours is None else msgspec.json.decode(ours)
    except msgspec.DecodeError as error:
        raise CatalogError(f"{place}: the data of {VENDOR} are no JSON: {error}") from None
    rules = (
        {"rules": context["instructions"]} if isinstance(said, _Model) and context.get("instructions") else {}
    )
    return SaidText(said.description, words_in(context, "synonyms"), place, rules, rest)


def _column(sql: str | None) -> str | None:
    """The column that an expression is; None of another."""
    parts = parts_of(sql or "")
    return parts[0] if len(parts) == 1 and (sql != parts[0] or is_plain(parts[0])) else None


def _sql(field: _Field) -> str | None:
    """Its expression in SQL, as the file has it."""
    written = {each.dialect: each.expression.strip() for each in field.expression.dialects}
    return next((written[dialect] for dialect in _SQL if dialect in written), None)


def _of_relationship(
    relationship: _Relationship,
    model: _Model,
    tables: dict[str, TableName],
    columns: dict[tuple[str, str], str | None],
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
    own = columns.get((relationship.many, own)) or own
    other = columns.get((relationship.one, other)) or other
    return Statements(joins=(SaidJoin(many, own, one, other, place, unique),))


def _of_metric(
    metric: _Field, tables: dict[str, TableName], columns: dict[tuple[str, str], str | None], place: Place
) -> Statements:
    only = next(iter(tables)) if len(tables) == 1 else ""

    def column(dataset: str, name: str) -> str:
        found = columns.get((dataset or only, name), name)
        if found is None:
            raise ExpressionError(f"it reads the field {name}, which is no column of the table")
        return dotted(filter(None, (dataset or only, found)))

    try:
        sql = _sql(metric)
        if sql is None:
            raise ExpressionError(f"it has no expression in {' or '.join(_SQL)}")  # noqa: TRY301 - one way out
        expression = qualified(sql, column)
    except ExpressionError as problem:
        return Statements(left_out=(LeftOut(f"metric {metric.name}", str(problem), place),))
    synonyms = _text(metric, place).synonyms
    names = (metric.name.replace("_", " "), *synonyms)
    written = (metric.name, sql)
    named = tuple(tables.items())
    return Statements(
        metrics=(SaidMetric(names, metric.description, expression, place, None, named, written),)
    )
