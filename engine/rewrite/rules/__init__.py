"""The rules, in the order in which they run. Within a kind, later ones see what earlier ones made."""

from __future__ import annotations

from engine.rewrite.rule import Rule, RuleKind
from engine.rewrite.rules import (
    dimensions,
    flags,
    grouping,
    limits,
    literals,
    periods,
    quantifiers,
    references,
    repetition,
    shares,
    unknowns,
)

RULES: tuple[Rule, ...] = (
    Rule("drop_total_join", 1, RuleKind.NORMALISE, repetition.drop_total_join),
    Rule("requalify", 1, RuleKind.REPAIR, references.requalify),
    Rule("repair_join", 2, RuleKind.REPAIR, references.repair_join),
    Rule("join_missing_tables", 1, RuleKind.REPAIR, references.join_missing_tables),
    Rule("text_as_number", 2, RuleKind.REPAIR, literals.text_as_number),
    Rule("group_by_shown", 1, RuleKind.REPAIR, grouping.group_by_shown),
    Rule("join_by_reference", 2, RuleKind.READING, references.join_by_reference),
    Rule("compare_by_reference", 1, RuleKind.READING, references.compare_by_reference),
    Rule("literal_in_its_column", 1, RuleKind.READING, literals.literal_in_its_column),
    Rule("literal_by_reference", 1, RuleKind.READING, literals.literal_by_reference),
    Rule("drop_unsaid_literal", 1, RuleKind.READING, literals.drop_unsaid_literal),
    Rule("drop_naming_literal", 1, RuleKind.READING, literals.drop_naming_literal),
    Rule("said_value", 1, RuleKind.READING, literals.said_value),
    Rule("said_flag", 1, RuleKind.READING, flags.said_flag),
    Rule("exclude_referring_rows", 1, RuleKind.READING, quantifiers.exclude_referring_rows),
    Rule("count_referring_rows", 1, RuleKind.READING, grouping.count_referring_rows),
    Rule("whole_period", 1, RuleKind.READING, periods.whole_period),
    Rule("group_by_dimension", 1, RuleKind.READING, dimensions.group_by_dimension),
    Rule("drop_unasked_limit", 1, RuleKind.READING, limits.drop_unasked_limit),
    Rule("show_groups", 1, RuleKind.READING, grouping.show_groups),
    Rule("both", 1, RuleKind.READING, quantifiers.both),
    Rule("none_of_them", 2, RuleKind.READING, quantifiers.none_of_them),
    Rule("keep_unmatched", 1, RuleKind.READING, unknowns.keep_unmatched),
    Rule("order_by_total", 1, RuleKind.READING, grouping.order_by_total),
    Rule("share_of_group", 1, RuleKind.READING, shares.share_of_group),
    Rule("share_of_itself", 1, RuleKind.READING, shares.share_of_itself),
    Rule("sum_counted", 1, RuleKind.READING, grouping.sum_counted),
    Rule("each_once", 1, RuleKind.READING, repetition.each_once),
    Rule("each_match_once", 1, RuleKind.READING, repetition.each_match_once),
    Rule("drop_unasked_join", 3, RuleKind.READING, repetition.drop_unasked_join),
    Rule("unknown_last", 1, RuleKind.READING, unknowns.unknown_last),
    Rule("known_excluded", 1, RuleKind.READING, unknowns.known_excluded),
    Rule("literal_as_stored", 2, RuleKind.CORRECTION, literals.literal_as_stored),
)
