"""The rules, in the order in which they run. Within a kind, later ones see what earlier ones made."""

from __future__ import annotations

from engine.core.candidate import RuleKind
from engine.rewrite.rule import Rule
from engine.rewrite.rules import (
    coverage,
    division,
    grain,
    grouping,
    literals,
    periods,
    references,
    repetition,
    unknown_values,
)

RULES: tuple[Rule, ...] = (
    Rule("drop_total_join", 1, RuleKind.NORMALISE, repetition.drop_total_join),
    Rule("meaning_as_code", 1, RuleKind.REPAIR, literals.meaning_as_code),
    Rule("repair_literal", 1, RuleKind.REPAIR, literals.repair_literal),
    Rule("requalify", 1, RuleKind.REPAIR, references.requalify),
    Rule("repair_join", 3, RuleKind.REPAIR, references.repair_join),
    Rule("join_missing_tables", 2, RuleKind.REPAIR, references.join_missing_tables),
    Rule("text_as_number", 2, RuleKind.REPAIR, literals.text_as_number),
    Rule("text_as_period", 1, RuleKind.REPAIR, periods.text_as_period),
    Rule("aggregate_in_having", 1, RuleKind.REPAIR, grouping.aggregate_in_having),
    Rule("group_by_shown", 1, RuleKind.REPAIR, grouping.group_by_shown),
    Rule("literal_in_its_column", 1, RuleKind.READING, literals.literal_in_its_column),
    Rule("literal_by_reference", 1, RuleKind.READING, literals.literal_by_reference),
    Rule("said_value", 1, RuleKind.READING, literals.said_value),
    Rule("whole_period", 1, RuleKind.READING, periods.whole_period),
    Rule("said_period", 1, RuleKind.READING, coverage.said_period, by_facts=True),
    Rule("sums_apart", 1, RuleKind.READING, grain.sums_apart, by_facts=True),
    Rule("sum_once", 1, RuleKind.READING, grain.sum_once, by_facts=True),
    Rule("counts_joined", 1, RuleKind.READING, grain.counts_joined, by_facts=True),
    Rule("exact_division", 1, RuleKind.READING, division.exact_division, by_facts=True),
    Rule("group_by_dimension", 1, RuleKind.READING, grouping.group_by_dimension),
    Rule("drop_unasked_limit", 1, RuleKind.READING, grouping.drop_unasked_limit),
    Rule("both", 1, RuleKind.READING, repetition.both),
    Rule("none_of_them", 2, RuleKind.READING, repetition.none_of_them),
    Rule("each_once", 1, RuleKind.READING, repetition.each_once),
    Rule("drop_unasked_join", 3, RuleKind.READING, repetition.drop_unasked_join),
    Rule("counts_each_once", 1, RuleKind.BESIDE, grain.counts_each_once, by_facts=True),
    Rule("group_by_key", 1, RuleKind.BESIDE, grain.group_by_key, by_facts=True),
    Rule("list_without_null", 1, RuleKind.BESIDE, unknown_values.list_without_null, by_facts=True),
    Rule("unknown_as_other", 1, RuleKind.BESIDE, unknown_values.unknown_as_other, by_facts=True),
    Rule("literal_as_stored", 2, RuleKind.CORRECTION, literals.literal_as_stored),
    Rule("missing_by_reference", 1, RuleKind.CORRECTION, literals.missing_by_reference),
)
