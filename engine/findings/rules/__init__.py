"""The rules, in the order in which they run. Within a kind, later ones see what earlier ones made."""

from __future__ import annotations

from engine.findings.rule import Doubt, On, Rule
from engine.findings.rules import (
    contents,
    coverage,
    grain,
    grouping,
    labels,
    literals,
    nulls,
    periods,
    references,
    repetition,
    sums,
)
from engine.values.candidate import RuleKind

RULES: tuple[Rule, ...] = (
    Rule("drop_total_join", 1, RuleKind.NORMALISE, repetition.drop_total_join),
    Rule("highest_known", 1, RuleKind.NORMALISE, nulls.highest_known, by_facts=True),
    Rule("as_named", 1, RuleKind.REPAIR, references.as_named),
    Rule("as_label", 1, RuleKind.REPAIR, literals.as_label),
    Rule("repair_literal", 2, RuleKind.REPAIR, literals.repair_literal),
    Rule("requalify", 1, RuleKind.REPAIR, references.requalify),
    Rule("name_in_full", 1, RuleKind.REPAIR, labels.name_in_full),
    Rule("repair_join", 3, RuleKind.REPAIR, references.repair_join),
    Rule("join_missing_tables", 2, RuleKind.REPAIR, references.join_missing_tables),
    Rule("json_as_value", 1, RuleKind.REPAIR, contents.json_as_value),
    Rule("in_range", 1, RuleKind.REPAIR, contents.in_range),
    Rule("in_array", 1, RuleKind.REPAIR, contents.in_array),
    Rule("text_as_day", 1, RuleKind.REPAIR, contents.text_as_day),
    Rule("text_as_number", 2, RuleKind.REPAIR, literals.text_as_number),
    Rule("text_as_period", 1, RuleKind.REPAIR, periods.text_as_period),
    Rule("aggregate_in_having", 1, RuleKind.REPAIR, grouping.aggregate_in_having),
    Rule("sum_ungrouped", 1, RuleKind.REPAIR, grouping.sum_ungrouped),
    Rule("group_by_shown", 1, RuleKind.REPAIR, grouping.group_by_shown),
    Rule("compare_by_reference", 1, RuleKind.READING, references.compare_by_reference),
    Rule("literal_in_its_column", 1, RuleKind.READING, literals.literal_in_its_column),
    Rule("literal_by_reference", 1, RuleKind.READING, literals.literal_by_reference),
    Rule("text_by_day", 1, RuleKind.READING, contents.text_as_day),
    Rule("whole_period", 1, RuleKind.READING, periods.whole_period),
    Rule("said_period", 1, RuleKind.READING, coverage.said_period),
    Rule("sums_apart", 1, RuleKind.READING, grain.sums_apart, by_facts=True),
    Rule("sum_once", 1, RuleKind.READING, grain.sum_once, by_facts=True),
    Rule("counts_joined", 1, RuleKind.READING, grain.counts_joined, by_facts=True),
    Rule("exact_division", 2, RuleKind.READING, sums.exact_division),
    Rule("group_by_dimension", 1, RuleKind.READING, grouping.group_by_dimension),
    Rule("show_groups", 3, RuleKind.READING, labels.show_groups),
    Rule("drop_unasked_limit", 1, RuleKind.READING, grouping.drop_unasked_limit),
    Rule("none_of_them", 2, RuleKind.READING, repetition.none_of_them),
    Rule("each_once", 2, RuleKind.READING, repetition.each_once),
    Rule("drop_unasked_join", 3, RuleKind.READING, repetition.drop_unasked_join),
    Rule("counts_each_once", 2, RuleKind.BESIDE, grain.counts_each_once, by_facts=True),
    Rule("group_by_key", 1, RuleKind.BESIDE, grain.group_by_key, by_facts=True),
    Rule("list_without_null", 1, RuleKind.BESIDE, nulls.list_without_null, by_facts=True),
    Rule("unknown_as_other", 1, RuleKind.BESIDE, nulls.unknown_as_other, by_facts=True),
    Rule("literal_as_stored", 3, RuleKind.CORRECTION, literals.literal_as_stored),
    Rule("rows_once", 1, RuleKind.REPETITION, repetition.rows_once),
)

DOUBTS = {
    "compare_by_reference": Doubt(references.strangers_compared),
    "whole_period": Doubt(periods.cut_short),
    "said_period": Doubt(coverage.periods_missed, On.CALENDAR),
    "sum_once": Doubt(grain.repeated_sums, On.KEYS),
    "exact_division": Doubt(sums.divided_whole, On.KEYS),
    "group_by_dimension": Doubt(grouping.not_grouped),
    "show_groups": Doubt(labels.groups_hidden),
    "drop_unasked_limit": Doubt(grouping.rows_left_out),
    "none_of_them": Doubt(repetition.one_denied),
    "drop_unasked_join": Doubt(repetition.sums_repeated_rows),
}
"""What these rules mend speaks against a statement, also where they cannot mend it."""
