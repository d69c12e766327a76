"""The lints, in the order in which they run. Within a kind, later rules see what earlier ones made."""

from __future__ import annotations

from functools import partial

from engine.findings.lint import Lint
from engine.findings.rules import (
    called,
    conditions,
    contents,
    coverage,
    grain,
    grouping,
    key_joins,
    labels,
    left_out,
    literals,
    nulls,
    periods,
    references,
    remarks,
    repetition,
    sums,
)
from engine.values.candidate import PAIRS_ROWS, On, RuleKind

_repair = partial(Lint, on=On.SERVER, kind=RuleKind.REPAIR)
_by_words = partial(Lint, on=On.QUESTION, kind=RuleKind.READING)
_by_values = partial(Lint, on=On.DATA, kind=RuleKind.READING)
_by_keys = partial(Lint, on=On.SCHEMA, kind=RuleKind.READING)
_beside = partial(Lint, on=On.SCHEMA, kind=RuleKind.BESIDE, by_facts=True)
_says = partial(Lint, on=On.QUESTION)

LINTS: tuple[Lint, ...] = (
    Lint("drop_total_join", 1, repetition.drop_total_join, on=On.SCHEMA, kind=RuleKind.NORMALISE),
    Lint("highest_known", 1, nulls.highest_known, by_facts=True, on=On.SCHEMA, kind=RuleKind.NORMALISE),
    _repair("as_named", 1, references.as_named),
    _repair("as_label", 1, literals.as_label),
    _repair("repair_literal", 3, literals.repair_literal),
    _repair("requalify", 2, references.requalify),
    _repair("name_in_full", 1, labels.name_in_full),
    _repair("repair_join", 4, references.repair_join),
    _repair("join_missing_tables", 3, references.join_missing_tables),
    _repair("json_as_value", 1, contents.json_as_value),
    _repair("as_member", 1, contents.as_member),
    _repair("text_as_day", 1, contents.text_as_day),
    _repair("text_as_number", 2, literals.text_as_number),
    _repair("text_as_period", 1, periods.text_as_period),
    _repair("mend_groups", 1, grouping.mend_groups),
    _by_keys(
        "compare_by_reference", 2, key_joins.compare_by_reference, key_joins.strangers_compared, by_facts=True
    ),
    _by_words("as_catalog_calls", 1, called.as_catalog_calls, called.not_as_catalog_calls),
    _by_values("literal_in_its_column", 1, literals.literal_in_its_column),
    _by_values("literal_by_reference", 1, literals.literal_by_reference),
    _by_values("text_by_day", 1, contents.text_as_day),
    _by_keys("whole_day", 2, periods.whole_day, periods.first_moments, by_facts=True),
    _by_words("whole_period", 1, periods.whole_period, periods.cut_short),
    Lint(
        "said_period", 1, coverage.said_period, coverage.periods_missed, on=On.CALENDAR, kind=RuleKind.READING
    ),
    _by_keys("sums_apart", 1, grain.sums_apart, by_facts=True),
    _by_keys("sum_once", 1, grain.sum_once, grain.repeated_sums, by_facts=True),
    _by_keys("counts_joined", 1, grain.counts_joined, by_facts=True),
    _by_keys("exact_division", 2, sums.exact_division, sums.divided_whole),
    _by_words("group_by_dimension", 1, grouping.group_by_dimension, grouping.not_grouped),
    _by_words("show_groups", 3, labels.show_groups, labels.groups_hidden),
    _by_words("drop_unasked_limit", 1, grouping.drop_unasked_limit, grouping.rows_left_out),
    _by_words("none_of_them", 2, repetition.none_of_them, repetition.one_denied),
    _by_words("each_once", 2, repetition.each_once),
    _by_words("drop_unasked_join", 3, repetition.drop_unasked_join, repetition.sums_repeated_rows),
    _beside("counts_each_once", 2, grain.counts_each_once),
    _beside("group_by_key", 1, grain.group_by_key),
    _beside("list_without_null", 1, nulls.list_without_null),
    _beside("unknown_as_other", 1, nulls.unknown_as_other),
    Lint("literal_as_stored", 3, literals.literal_as_stored, on=On.DATA, kind=RuleKind.CORRECTION),
    Lint(
        "newest_period", 1, coverage.newest_period, coverage.nothing_of_period, On.DATA, RuleKind.CORRECTION
    ),
    Lint("rows_once", 1, repetition.rows_once, on=On.DATA, kind=RuleKind.REPETITION),
    _says("idle_part", 1, says=remarks.idle_parts),
    Lint("no_choice", 2, says=conditions.no_choice, on=On.SCHEMA),
    Lint("adds_up_keys", 2, says=sums.adds_up_keys, on=On.SCHEMA),
    _says("first_by_words", 1, says=grouping.first_by_words),
    Lint("left_out", 1, says=left_out.left_out, on=On.DATA),
    Lint("rows_that_do_not_count", 1, says=remarks.rows_that_do_not_count, on=On.CATALOG),
    Lint(PAIRS_ROWS, 1, says=key_joins.pairs_rows, on=On.CATALOG),
    Lint("undeclared_join", 1, says=remarks.undeclared_joins, on=On.CATALOG),
)

RULES = tuple(each for each in LINTS if each.fix is not None)
"""Those that change statements."""
