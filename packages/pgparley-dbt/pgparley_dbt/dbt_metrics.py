"""dbt's metrics (MetricFlow, https://docs.getdbt.com/docs/build/metrics-overview) as SQL expressions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from pgparley_dbt.documents import words_in
from pgparley_dbt.expressions import ExpressionError, composed
from pgparley_dbt.statements import SaidMetric, Statements, TableName
from schema_catalog.knowledge_files.format import LeftOut, Place

_DIMENSION = re.compile(r"""\{\{\s*Dimension\(\s*['"](\w+)__(\w+)['"]\s*\)\s*\}\}""")
_AGGREGATES = {
    "sum": "sum({})",
    "count": "count({})",
    "count_distinct": "count(DISTINCT {})",
    "average": "avg({})",
    "avg": "avg({})",
    "min": "min({})",
    "max": "max({})",
    "median": "percentile_cont(0.5) WITHIN GROUP (ORDER BY {})",
    "sum_boolean": "sum(CASE WHEN {} THEN 1 ELSE 0 END)",
}
_DEEPEST = 8


class _Part(msgspec.Struct, frozen=True):
    name: str
    expr: str | None = None
    agg: str | None = None
    type: str | None = None


class _Relation(msgspec.Struct, frozen=True):
    alias: str
    schema_name: str | None = None


class SemanticModel(msgspec.Struct, frozen=True):
    """A table with the measures, dimensions and entities that it has for metrics."""

    name: str
    model: str | None = None
    node_relation: _Relation | None = None
    measures: list[_Part] | None = None
    dimensions: list[_Part] | None = None
    entities: list[_Part] | None = None
    primary_entity: str | None = None


class _Input(msgspec.Struct, frozen=True):
    """A measure or metric that goes into another."""

    name: str
    alias: str | None = None
    filter: Any = None
    offset_window: Any = None
    offset_to_grain: Any = None


class _Aggregation(msgspec.Struct, frozen=True):
    semantic_model: str
    agg: str
    expr: str | None = None


class _Params(msgspec.Struct, frozen=True):
    measure: str | _Input | None = None
    numerator: str | _Input | None = None
    denominator: str | _Input | None = None
    expr: str | None = None
    metrics: list[str | _Input] | None = None
    metric_aggregation_params: _Aggregation | None = None


class MetricBlock(msgspec.Struct, frozen=True):
    """A metric as its file has it."""

    name: str
    label: str | None = None
    description: str | None = None
    type: str = "simple"
    type_params: _Params | None = None
    filter: Any = None
    agg: str | None = None
    expr: str | None = None
    meta: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _Measure:
    agg: str
    expr: str
    model: SemanticModel | None
    table: TableName


class _NoExpressionError(Exception):
    """The metric has none here; the message says why."""


Placed = tuple[Place, MetricBlock, TableName | None]
"""A metric, and the table in whose properties it stands."""


def said_metrics(
    models: Iterable[tuple[Place, SemanticModel]],
    metrics: Sequence[Placed],
    find: Callable[[str], TableName | None],
) -> Statements:
    """What the metrics say; `find`: the table that a `ref(…)` means."""
    listed = [model for _, model in models]
    tables = {model.name: _table(model, find) for model in listed}
    measures = {
        measure.name: _Measure(measure.agg or "", measure.expr or measure.name, model, table)
        for model in listed
        if (table := tables[model.name]) is not None
        for measure in model.measures or ()
    }
    reader = _Reader(
        measures,
        {model.name: (model, table) for model in listed if (table := tables[model.name]) is not None},
        {metric.name: (metric, table) for _, metric, table in metrics},
    )
    said = Statements()
    for place, metric, _ in metrics:
        try:
            expression, table = reader.expression(metric.name)
        except (_NoExpressionError, ExpressionError) as problem:
            said += Statements(left_out=(LeftOut(f"metric {metric.name}", str(problem), place),))
        else:
            name = (metric.label or metric.name).replace("_", " ")
            names = (name, *words_in(metric.meta or {}, "synonyms"))
            said += Statements(metrics=(SaidMetric(names, metric.description, expression, place, table),))
    return said


def _table(model: SemanticModel, find: Callable[[str], TableName | None]) -> TableName | None:
    if model.node_relation is not None:
        return TableName(model.node_relation.alias, model.node_relation.schema_name)
    return find(model.model or "")


@dataclass(frozen=True, slots=True)
class _Reader:
    measures: Mapping[str, _Measure]
    models: Mapping[str, tuple[SemanticModel, TableName]]
    metrics: Mapping[str, tuple[MetricBlock, TableName | None]]

    def expression(self, name: str, depth: int = 0) -> tuple[str, TableName]:
        """The metric's expression and table; raises `_NoExpressionError` and `ExpressionError`."""
        if name not in self.metrics:
            raise _NoExpressionError(f"the files have no metric {name}")
        if depth > _DEEPEST:
            raise _NoExpressionError("metrics are computed of each other too deeply")
        metric, table = self.metrics[name]
        params = metric.type_params or _Params()
        if metric.type == "simple":
            return self._simple(metric, params, table)
        if metric.type == "ratio" and params.numerator is not None and params.denominator is not None:
            inputs = {"numerator": params.numerator, "denominator": params.denominator}
            return self._computed(
                "CAST(numerator AS numeric) / nullif(denominator, 0)", inputs, metric, depth
            )
        if metric.type == "derived" and params.expr:
            listed = [_input(each) for each in params.metrics or ()]
            return self._computed(params.expr, {i.alias or i.name: i for i in listed}, metric, depth)
        raise _NoExpressionError(f"it is of the type {metric.type}, which is no expression over one table")

    def _simple(self, metric: MetricBlock, params: _Params, table: TableName | None) -> tuple[str, TableName]:
        measure, inner = self._measure(metric, params, table)
        if measure.agg.lower() not in _AGGREGATES:
            raise _NoExpressionError(f"the aggregate {measure.agg or 'of its measure'} is not known here")
        expression = _AGGREGATES[measure.agg.lower()].format(measure.expr)
        conditions = [
            _condition(each, measure.model) for each in (*_filters(metric.filter), *_filters(inner))
        ]
        if conditions:
            expression += f" FILTER (WHERE {' AND '.join(conditions)})"
        return expression, measure.table

    def _measure(self, metric: MetricBlock, params: _Params, table: TableName | None) -> tuple[_Measure, Any]:
        """What the metric sums up, and the filter that goes with it."""
        if (own := params.metric_aggregation_params) is not None:
            if own.semantic_model not in self.models:
                raise _NoExpressionError(f"the files have no semantic model {own.semantic_model}")
            model, of_model = self.models[own.semantic_model]
            return _Measure(own.agg, own.expr or metric.name, model, of_model), None
        if metric.agg is not None and table is not None:
            return _Measure(metric.agg, metric.expr or metric.name, None, table), None
        if params.measure is None:
            raise _NoExpressionError("it names no measure")
        given = _input(params.measure)
        if given.name not in self.measures:
            raise _NoExpressionError(f"the files have no measure {given.name} of a table that they describe")
        return self.measures[given.name], given.filter

    def _computed(
        self, expression: str, inputs: Mapping[str, str | _Input], metric: MetricBlock, depth: int
    ) -> tuple[str, TableName]:
        if _filters(metric.filter):
            raise _NoExpressionError("it has a filter over what it is computed of")
        parts, tables = {}, set()
        for name, given in inputs.items():
            one = _input(given)
            if one.offset_window or one.offset_to_grain or _filters(one.filter):
                raise _NoExpressionError(f"{one.name} goes into it with a filter or an offset in time")
            parts[name], table = self.expression(one.name, depth + 1)
            tables.add(table)
        if len(tables) != 1:
            raise _NoExpressionError("it is computed over several tables")
        return composed(expression, parts), tables.pop()


def _input(given: str | _Input) -> _Input:
    return _Input(given) if isinstance(given, str) else given


def _filters(given: Any) -> list[str]:
    """The conditions of a filter, which is a text, a list of them, or what a manifest makes of it."""
    if isinstance(given, dict):
        given = given.get("where_filters")
    if isinstance(given, str):
        return [given] if given.strip() else []
    if not isinstance(given, list):
        return []
    return [str(each.get("where_sql_template")) if isinstance(each, dict) else str(each) for each in given]


def _condition(template: str, model: SemanticModel | None) -> str:
    """SQL of a filter over dimensions of the measure's own table."""

    def column(match: re.Match[str]) -> str:
        if model is None or match[1] not in _entities(model):
            raise _NoExpressionError(f"its filter reads {match[1]}__{match[2]}, which is of another table")
        for dimension in model.dimensions or ():
            if dimension.name == match[2]:
                return f"({dimension.expr})" if dimension.expr else dimension.name
        raise _NoExpressionError(f"its filter reads {match[1]}__{match[2]}, which is no dimension")

    condition = _DIMENSION.sub(column, template)
    if "{{" in condition or "{%" in condition:
        raise _NoExpressionError("its filter is a template that only dbt can fill in")
    return f"({condition})"


def _entities(model: SemanticModel) -> set[str]:
    own = {entity.name for entity in model.entities or () if entity.type in ("primary", "unique")}
    return own | {name for name in (model.primary_entity,) if name}
