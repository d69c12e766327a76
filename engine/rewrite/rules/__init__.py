"""The rules, in the order in which they run. Within a kind, later ones see what earlier ones made."""

from __future__ import annotations

from engine.core.candidate import RuleKind
from engine.rewrite.rule import Rule
from engine.rewrite.rules import (
    flags,
    grouping,
    literals,
    periods,
    references,
    repetition,
    sums,
)

RULES: tuple[Rule, ...] = (
    Rule("drop_total_join", 1, RuleKind.NORMALISE, repetition.drop_total_join),
    Rule("repair_literal", 1, RuleKind.REPAIR, literals.repair_literal),
    Rule("requalify", 1, RuleKind.REPAIR, references.requalify),
    Rule("repair_join", 3, RuleKind.REPAIR, references.repair_join),
    Rule("join_missing_tables", 2, RuleKind.REPAIR, references.join_missing_tables),
    Rule("text_as_number", 2, RuleKind.REPAIR, literals.text_as_number),
    Rule("text_as_period", 1, RuleKind.REPAIR, periods.text_as_period),
    Rule("aggregate_in_having", 1, RuleKind.REPAIR, grouping.aggregate_in_having),
    Rule("group_by_shown", 1, RuleKind.REPAIR, grouping.group_by_shown),
    Rule("compare_by_reference", 1, RuleKind.READING, references.compare_by_reference),
    Rule("literal_in_its_column", 1, RuleKind.READING, literals.literal_in_its_column),
    Rule("literal_by_reference", 1, RuleKind.READING, literals.literal_by_reference),
    Rule("said_value", 1, RuleKind.READING, literals.said_value),
    Rule("said_flag", 1, RuleKind.READING, flags.said_flag),
    Rule("whole_period", 1, RuleKind.READING, periods.whole_period),
    Rule("group_by_dimension", 1, RuleKind.READING, grouping.group_by_dimension),
    Rule("drop_unasked_limit", 1, RuleKind.READING, grouping.drop_unasked_limit),
    Rule("both", 1, RuleKind.READING, repetition.both),
    Rule("none_of_them", 2, RuleKind.READING, repetition.none_of_them),
    Rule("sum_counted", 1, RuleKind.READING, sums.sum_counted),
    Rule("asked_total", 1, RuleKind.READING, sums.asked_total),
    Rule("each_once", 1, RuleKind.READING, repetition.each_once),
    Rule("each_match_once", 1, RuleKind.READING, repetition.each_match_once),
    Rule("drop_unasked_join", 3, RuleKind.READING, repetition.drop_unasked_join),
    Rule("literal_as_stored", 2, RuleKind.CORRECTION, literals.literal_as_stored),
    Rule("rows_once", 1, RuleKind.REPETITION, repetition.rows_once),
)
