"""What a dbt project says: its `schema.yml` files (docs.getdbt.com/reference/model-properties) or its manifest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from pgparley_dbt.dbt_metrics import MetricBlock, SemanticModel, said_metrics
from pgparley_dbt.documents import YAML_ENDINGS, Document, read_documents, words_in, yaml_files
from pgparley_dbt.statements import (
    VENDOR,
    SaidColumn,
    SaidJoin,
    SaidTable,
    SaidText,
    Statements,
    TableName,
)
from schema_catalog.knowledge_files.format import LeftOut, Place
from schema_catalog.store import CatalogError

_REF = re.compile(r"""ref\(\s*['"]([^'"]+)['"](?:\s*,\s*['"]([^'"]+)['"])?""")
_SOURCE = re.compile(r"""source\(\s*['"]([^'"]+)['"]\s*,\s*['"]([^'"]+)['"]""")
_SENSITIVE = ("sensitive", "contains_pii", "pii")
"""What of `meta` says that values are nobody's business."""

_TABLES = frozenset({"model", "seed", "snapshot"})


class _Config(msgspec.Struct, frozen=True):
    alias: str | None = None
    schema_: str | None = msgspec.field(default=None, name="schema")
    materialized: str | None = None
    meta: dict[str, Any] | None = None


class _Column(msgspec.Struct, frozen=True):
    name: str
    description: str | None = None
    tests: list[Any] | None = None
    data_tests: list[Any] | None = None
    meta: dict[str, Any] | None = None
    config: _Config | None = None


class _Table(msgspec.Struct, frozen=True):
    name: str
    description: str | None = None
    alias: str | None = None
    identifier: str | None = None
    columns: list[_Column] | None = None
    meta: dict[str, Any] | None = None
    config: _Config | None = None
    metrics: list[MetricBlock] | None = None


class _SourceGroup(msgspec.Struct, frozen=True):
    name: str
    schema_: str | None = msgspec.field(default=None, name="schema")
    description: str | None = None
    tables: list[_Table] | None = None
    meta: dict[str, Any] | None = None
    config: _Config | None = None


class _Properties(msgspec.Struct, frozen=True):
    models: list[_Table] | None = None
    seeds: list[_Table] | None = None
    snapshots: list[_Table] | None = None
    sources: list[_SourceGroup] | None = None
    semantic_models: list[SemanticModel] | None = None
    metrics: list[MetricBlock] | None = None


class _TestMetadata(msgspec.Struct, frozen=True):
    name: str
    kwargs: dict[str, Any] = {}


class _DependsOn(msgspec.Struct, frozen=True):
    nodes: list[str] = []


class _Node(msgspec.Struct, frozen=True):
    name: str
    resource_type: str
    schema_: str | None = msgspec.field(default=None, name="schema")
    alias: str | None = None
    identifier: str | None = None
    source_name: str | None = None
    description: str | None = None
    columns: dict[str, _Column] = {}
    meta: dict[str, Any] | None = None
    config: _Config | None = None
    test_metadata: _TestMetadata | None = None
    attached_node: str | None = None
    column_name: str | None = None
    depends_on: _DependsOn | None = None


class _Manifest(msgspec.Struct, frozen=True):
    nodes: dict[str, _Node] = {}
    sources: dict[str, _Node] = {}
    semantic_models: dict[str, SemanticModel] | list[SemanticModel] = {}
    metrics: dict[str, MetricBlock] | list[MetricBlock] = {}


@dataclass(frozen=True, slots=True)
class _Names:
    models: Mapping[str, TableName]
    sources: Mapping[tuple[str, str], TableName]

    def find(self, reference: str) -> TableName | None:
        """The table of a `ref(…)` or `source(…)`."""
        if match := _SOURCE.search(reference):
            return self.sources.get((match[1], match[2]))
        if match := _REF.search(reference):
            return self.models.get(match[2] or match[1])
        return None


def read_dbt(path: Path) -> Statements:
    """What the project at `path` says, by its manifest where it was compiled; raises `CatalogError` and `OSError`."""
    manifest = path / "target" / "manifest.json"
    if path.is_dir() and not manifest.is_file():
        folder = path / "models" if (path / "models").is_dir() else path
        files = yaml_files(folder)
        if not files:
            raise CatalogError(
                f"{path} has neither target/manifest.json nor a file {' or '.join(YAML_ENDINGS)}"
            )
    else:
        file = manifest if path.is_dir() else path
        files = [(file.name, file)]
    documents = read_documents(files)
    if any(document.is_json for document in documents):
        return _of_manifest(documents[0])
    return _of_properties(documents)


def _of_properties(documents: Iterable[Document]) -> Statements:
    read = [(document.place, document.as_(_Properties)) for document in documents]
    tables = [each for place, properties in read for each in _tables(place, properties)]
    names = _Names(
        {one.name: name for _, one, name, group in tables if group is None},
        {(group, one.name): name for _, one, name, group in tables if group is not None},
    )
    groups = (
        _text(group, place.below(f".sources[{n}]"))
        for place, properties in read
        for n, group in enumerate(properties.sources or ())
    )
    said = Statements(
        tables=tuple(_said(one, name, place) for place, one, name, _ in tables),
        about=next((text for text in groups if text.rest is not None), None),
    )
    for place, one, name, _ in tables:
        for c, column in enumerate(one.columns or ()):
            at = place.below(f".columns[{c}]")
            said += _said_joins(name, column.name, _tests(column), names, at)
    models = [
        (place.below(f".semantic_models[{n}]"), each)
        for place, properties in read
        for n, each in enumerate(properties.semantic_models or ())
    ]
    metrics = [
        (place.below(f".metrics[{n}]"), each, None)
        for place, properties in read
        for n, each in enumerate(properties.metrics or ())
    ]
    of_tables = [
        (place.below(f".metrics[{n}]"), each, name)
        for place, one, name, _ in tables
        for n, each in enumerate(one.metrics or ())
    ]
    return said + said_metrics(models, [*metrics, *of_tables], names.find)


def _tables(place: Place, properties: _Properties) -> Iterator[tuple[Place, _Table, TableName, str | None]]:
    """Each table with its place, its name in the database, and the group of sources that it is in."""
    for kind in ("models", "seeds", "snapshots"):
        for n, one in enumerate(getattr(properties, kind) or ()):
            alias = one.alias or (one.config and one.config.alias)
            yield place.below(f".{kind}[{n}]"), one, TableName(alias or one.name), None
    for s, group in enumerate(properties.sources or ()):
        for n, one in enumerate(group.tables or ()):
            name = TableName(one.identifier or one.name, group.schema_ or group.name)
            yield place.below(f".sources[{s}].tables[{n}]"), one, name, group.name


def _said(one: _Table, name: TableName, place: Place) -> SaidTable:
    columns = tuple(
        SaidColumn(
            column.name,
            _text(column, place.below(f".columns[{n}]")),
            unique={"unique", "not_null"} <= {test for test, _ in _tests(column)},
        )
        for n, column in enumerate(one.columns or ())
    )
    return SaidTable(name, _text(one, place), columns)


def _text(one: _Table | _Column | _Node | _SourceGroup, place: Place) -> SaidText:
    meta = {**((one.config and one.config.meta) or {}), **(one.meta or {})}
    marks: dict[str, object] = {key: meta[key] for key in ("unit", "time_zone") if key in meta}
    if any(str(meta.get(key)).lower() == "true" for key in _SENSITIVE):
        marks["sensitivity"] = "sensitive"
    return SaidText(one.description, words_in(meta, "synonyms"), place, marks, meta.get(VENDOR))


def _tests(column: _Column) -> list[tuple[str, Mapping[str, Any]]]:
    """The tests of a column with their arguments, which newer versions have under `arguments`."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    for each in (*(column.tests or ()), *(column.data_tests or ())):
        if isinstance(each, str):
            found.append((each, {}))
        elif isinstance(each, dict):
            found += [(str(name), _arguments(given)) for name, given in each.items()]
    return found


def _arguments(given: object) -> Mapping[str, Any]:
    inner = given.get("arguments", given) if isinstance(given, dict) else None
    return inner if isinstance(inner, dict) else {}


def _said_joins(
    table: TableName, column: str, tests: Iterable[tuple[str, Mapping[str, Any]]], names: _Names, place: Place
) -> Statements:
    listed = list(tests)
    unique = any(test == "unique" for test, _ in listed)
    said = Statements()
    for test, given in listed:
        if test != "relationships":
            continue
        referred, field = names.find(str(given.get("to"))), given.get("field")
        if referred is None or not isinstance(field, str):
            reason = f"{given.get('to')!s} is no table that the files describe"
            said += Statements(left_out=(LeftOut(f"join of {table}.{column}", reason, place),))
        else:
            said += Statements(joins=(SaidJoin(table, column, referred, field, place, unique),))
    return said


def _of_manifest(document: Document) -> Statements:
    manifest = document.as_(_Manifest)
    nodes = {
        uid: node
        for uid, node in (*manifest.nodes.items(), *manifest.sources.items())
        if node.resource_type in _TABLES or node.resource_type == "source"
        if node.config is None or node.config.materialized != "ephemeral"
    }
    tables = {
        uid: TableName(node.identifier or node.alias or node.name, node.schema_)
        for uid, node in nodes.items()
    }
    names = _Names(
        {node.name: tables[uid] for uid, node in nodes.items() if node.source_name is None},
        {(node.source_name, node.name): tables[uid] for uid, node in nodes.items() if node.source_name},
    )
    tests = _manifest_tests(manifest, tables)
    said = Statements(
        tables=tuple(
            SaidTable(
                tables[uid],
                _text(node, document.place.below(f".{uid}")),
                tuple(
                    SaidColumn(
                        column.name,
                        _text(column, document.place.below(f".{uid}.{column.name}")),
                        unique={"unique", "not_null"}
                        <= {test for test, _ in tests.get((uid, column.name), ())},
                    )
                    for column in node.columns.values()
                ),
            )
            for uid, node in nodes.items()
        )
    )
    for (uid, column), given in tests.items():
        said += _said_joins(tables[uid], column, given, names, document.place.below(f".{uid}.{column}"))
    models = [(document.place.below(f".{uid}"), each) for uid, each in _named(manifest.semantic_models)]
    metrics = [(document.place.below(f".{uid}"), each, None) for uid, each in _named(manifest.metrics)]
    return said + said_metrics(models, metrics, names.find)


def _named(blocks: Any) -> list[tuple[str, Any]]:
    """By identifier in a manifest, a plain list in a semantic manifest."""
    return list(blocks.items()) if isinstance(blocks, dict) else [(each.name, each) for each in blocks]


def _manifest_tests(
    manifest: _Manifest, tables: Mapping[str, TableName]
) -> dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]]:
    found: dict[tuple[str, str], list[tuple[str, Mapping[str, Any]]]] = {}
    for node in manifest.nodes.values():
        if node.resource_type != "test" or node.test_metadata is None:
            continue
        given = _arguments(node.test_metadata.kwargs)
        column = node.column_name or given.get("column_name") or node.test_metadata.kwargs.get("column_name")
        read = [] if node.depends_on is None else node.depends_on.nodes
        table = node.attached_node or (read[0] if len(read) == 1 else None)
        if table is not None and table in tables and isinstance(column, str):
            found.setdefault((table, column), []).append((node.test_metadata.name, given))
    return found
