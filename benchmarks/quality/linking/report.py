"""What a run says: tables on the terminal, the part of the results file, and the flat summary."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table as Grid

from benchmarks.quality.candidates.figures import Figure
from benchmarks.quality.dialogue_results import Part, write_parts
from benchmarks.quality.linking.figures import Discrimination, Flagging, Linking
from benchmarks.quality.linking.surrogate import SurrogateFigures
from benchmarks.wire.machine import Machine
from engine.schema_linking.branching import Aggregation

DEV = "dev"
PRODUCT_WAY, PRODUCT_ALPHA = "calibrated", 0.1


@dataclass(frozen=True, slots=True)
class Origin:
    """How the figures came about. `linker`, `probes`: hashes of the weights. `chosen`: the layers, best first."""

    machine: Machine
    command: str
    seed: int
    linker: str
    probes: str
    chosen: tuple[int, ...]
    aggregation: Aggregation


@dataclass(frozen=True, slots=True)
class Cell:
    """The figures of one way to flag, with one aggregation at one alpha."""

    way: str
    aggregation: Aggregation
    alpha: float
    figures: Flagging


@dataclass(frozen=True, slots=True)
class SetFigures:
    """All figures of one set. `branching`: branching points, of `decisions` forced ones."""

    name: str
    n: int
    databases: int
    decisions: int
    branching: int
    table: Linking
    column: Linking
    layers: tuple[Discrimination, ...]
    cells: tuple[Cell, ...]


def summary(origin: Origin, sets: Sequence[SetFigures]) -> dict[str, float | None]:
    """The flat numbers, of the development questions as the product flags by default."""
    flat: dict[str, float | None] = {}
    for one in sets:
        before = "" if one.name == DEV else f"{one.name}_"
        chosen = [layer for layer in one.layers if layer.layer in origin.chosen]
        areas = [(each.table.value, each.column.value) for each in chosen]
        for each in one.cells:
            if (each.way, each.aggregation, each.alpha) == (PRODUCT_WAY, origin.aggregation, PRODUCT_ALPHA):
                flat |= {
                    f"{before}{name}": _rounded(value)
                    for name, value in {
                        "table_em": each.figures.table.exact_match.value,
                        "table_far": each.figures.table.far.value,
                        "column_em": each.figures.column.exact_match.value,
                        "column_far": each.figures.column.far.value,
                        "branch_coverage_a10": each.figures.coverage.value,
                        "sbpp_auc": sum(map(sum, areas)) / (2 * len(areas)),
                    }.items()
                }
    return flat


def write_json(
    origin: Origin, sets: Sequence[SetFigures], surrogate: SurrogateFigures | None, file: Path
) -> None:
    """Replaces the linking part of the results file and its keys of the summary."""
    whole = dataclasses.asdict(origin) | {
        "commit": origin.machine.commit,
        "n": {one.name: one.n for one in sets},
        "sets": {one.name: _plain(dataclasses.asdict(one)) for one in sets},
    }
    if surrogate is not None:
        whole["surrogate"] = _plain(dataclasses.asdict(surrogate))
    write_parts(file, {Part.LINKING: whole}, summary(origin, sets))


def _plain(value: Any) -> Any:
    """Figures as numbers of four digits; what is not known as None."""
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return _rounded(value) if isinstance(value, float) else value


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 4)


def linking_table(sets: Sequence[SetFigures]) -> Grid:
    """Linking without abstention, and the probes."""
    grid = Grid("set", "n", "databases", "of", "EM", "precision", "recall", "branching", "AUC by layer")
    for one in sets:
        for name, each in (("tables", one.table), ("columns", one.column)):
            areas = " ".join(f"{getattr(layer, name[:-1]).value:.3f}" for layer in one.layers)
            grid.add_row(
                one.name,
                str(one.n),
                str(one.databases),
                name,
                *(_ranged(figure) for figure in (each.exact_match, each.precision, each.recall)),
                f"{one.branching}/{one.decisions}",
                areas,
            )
    return grid


def curves_table(one: SetFigures) -> Grid:
    """Flagging and abstaining, a row for each way, aggregation and alpha."""
    names = ("way", "aggregation", "alpha", "covered: tables", "columns", "questions", "EAR t/c")
    kinds = ("tables", "columns", "columns given tables")
    grid = Grid(*names, *(f"{kind}: EM, TAR, FAR" for kind in kinds), title=one.name)
    for cell in one.cells:
        found = cell.figures
        grid.add_row(
            cell.way,
            cell.aggregation.value,
            f"{cell.alpha:g}",
            *(_ranged(f) for f in (found.coverage_table, found.coverage_column, found.coverage_question)),
            f"{100 * found.ear_table.value:.1f}/{100 * found.ear_column.value:.1f}",
            *(
                f"{_ranged(each.exact_match)} {100 * each.tar.value:.1f} {_ranged(each.far)}"
                for each in (found.table, found.column, found.column_given_tables)
            ),
        )
    return grid


def _ranged(figure: Figure) -> str:
    return f"{100 * figure.value:.1f} [{100 * figure.low:.1f}, {100 * figure.high:.1f}]"
