"""What is measured: the whole pipeline, and the pipeline without one part each.

An arm is data: other stages, or tools with one of them set otherwise, for `engine.app.pipeline.run`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness.systems import Gateway, as_built
from benchmarks.harness.without import NoValues
from engine.app import pipeline
from engine.findings.admit import admit
from engine.findings.rules import RULES
from engine.findings.stored_literals import write_as_stored
from engine.judge.judge import judge
from engine.judge.run import run
from engine.values.candidate import RuleKind
from engine.values.state import State
from engine.values.tools import Tools

WHOLE = "all"
"""The arm that lacks nothing."""


async def all_fruitful(state: State, tools: Tools) -> State:  # noqa: ARG001 - a stage
    """Forgets which candidates found nothing."""
    return replace(state, candidates=tuple(replace(each, fruitless=False) for each in state.candidates))


@dataclass(frozen=True, slots=True)
class Arm:
    """pgparley without one part. `name`: the part's, in the results. `lacks`: the same in words."""

    name: str
    lacks: str
    stages: tuple[pipeline.Stage, ...] = pipeline.CANDIDATE_STAGES
    adapt: Callable[[Tools], Tools] = as_built


def _exchanged(one: pipeline.Stage, *others: pipeline.Stage) -> tuple[pipeline.Stage, ...]:
    """The product's stages with `others` in the place of `one`."""
    return tuple(
        stage for each in pipeline.CANDIDATE_STAGES for stage in (others if each is one else (each,))
    )


def _switched(**switches: Any) -> Callable[[Tools], Tools]:
    """Tools with these of `[generation]`."""

    def adapt(tools: Tools) -> Tools:
        return replace(tools, generation=replace(tools.generation, **switches))

    return adapt


def _never_run(tools: Tools) -> Tools:
    return replace(tools, limits=replace(tools.limits, run_candidates=False))


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose questions rules were written for, by the first commit of each."""

    of: str
    rules: tuple[str, ...]


ORIGINS = (
    Origin(
        "spider",
        (
            *("drop_total_join", "requalify", "repair_join", "join_missing_tables", "text_as_number"),
            *("mend_groups", "compare_by_reference", "literal_in_its_column", "show_groups"),
            *("none_of_them", "each_once", "drop_unasked_join", "literal_as_stored", "rows_once"),
        ),
    ),
    Origin(
        "real",
        (
            *("repair_literal", "literal_by_reference", "text_as_period"),
            *("whole_period", "group_by_dimension", "drop_unasked_limit", "name_in_full"),
            "highest_known",
        ),
    ),
    Origin(
        "day",
        (
            *("as_named", "as_label", "json_as_value", "as_member"),
            *("as_catalog_calls", "whole_day", "newest_period"),
            *("text_as_day", "text_by_day", "said_period", "sums_apart", "sum_once"),
            *("counts_joined", "exact_division", "counts_each_once", "group_by_key", "list_without_null"),
            "unknown_as_other",
        ),
    ),
)

_READINGS = tuple(rule.name for rule in RULES if rule.kind is RuleKind.READING)

BY_ORIGIN = tuple(
    Arm(
        f"born_of_{each.of}",
        f"the rules written for questions of {each.of}",
        adapt=_switched(rules_off=each.rules),
    )
    for each in ORIGINS
)

ARMS = (
    Arm(WHOLE, "nothing"),
    Arm("exchanges", "one name exchanged for another", adapt=_switched(exchanges=False)),
    Arm("forks", "what the model nearly began", adapt=_switched(forks=False)),
    Arm("repair", "asking again with the reason", adapt=_switched(repair=False)),
    Arm("normal_form", "merging statements of one normal form", _exchanged(admit, write_as_stored)),
    Arm("links", "forbidding names that the schema linker finds unlikely", adapt=_switched(links=False)),
    Arm("values", "stored values", adapt=partial(replace, values=NoValues())),
    Arm("deduplication", "running candidates before ranking", adapt=_never_run),
    Arm("fruitless", "less weight for what finds nothing", _exchanged(run, run, all_fruitful)),
    Arm("ranking", "ranking (in the order found)", _exchanged(judge)),
    Arm("retell", "asking which question each statement answers", adapt=_switched(retell=False)),
    Arm("readings", "the rules that add readings", adapt=_switched(rules_off=_READINGS)),
    *BY_ORIGIN,
    Arm("rules", "all rules", adapt=_switched(rules_off=tuple(rule.name for rule in RULES))),
    *(
        Arm(
            f"rule_{rule.name}",
            f"the rule {rule.name} ({rule.kind})",
            adapt=_switched(rules_off=(rule.name,)),
        )
        for rule in RULES
    ),
)


def system(arm: Arm, k: int) -> Gateway:
    """The arm's pipeline, asked for `k` candidates with the calls that a user's question has."""
    return Gateway(arm.name, k, None, arm.stages, arm.adapt, arm.lacks, Path(__file__))


def by_origin(k: int) -> tuple[Gateway, ...]:
    """The pipelines without the rules that were written for one kind of questions."""
    return tuple(system(each, k) for each in BY_ORIGIN)
