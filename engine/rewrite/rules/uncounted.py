"""Rules about rows that do not count by themselves (`engine.linking.exclusions`): deleted ones, and test orders."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from engine.linking.exclusions import Exclusion, exclusions, tested
from engine.rewrite.rule import Context, Statement
from engine.rewrite.scope import conjuncts, from_parts, identifier, keep_tests, tests_of, without_tests
from engine.sql.tree import parsed
from engine.text.tokens import identifier_words


def leave_out_uncounted(statement: Statement, context: Context) -> str | None:
    """Tests what says which rows do not count, where the table is read and the question says nothing of such rows."""
    left = []
    for each in _unsaid(context):
        if statement.scopes.columns(statement.tree, each.column[:2], each.column[2]):
            continue
        selects = list(statement.tree.find_all(exp.Select))
        left += [each.rows for select in selects if _leave_out(select, each, statement)]
    return f"leaves {', '.join(dict.fromkeys(left))} out" if left else None


def count_all_rows(statement: Statement, context: Context) -> str | None:
    """Drops such tests, where the question says nothing of such rows."""
    lifted = []
    for each in _unsaid(context):
        for column in statement.scopes.columns(statement.tree, each.column[:2], each.column[2]):
            select = column.parent_select
            own = (
                []
                if select is None
                else [t for t in tests_of(select) if [*t.find_all(exp.Column)] == [column]]
            )
            if select is not None and own and set(tested(column)) & set(each.tests):
                keep_tests(select, without_tests(tests_of(select), own))
                lifted.append(each.rows)
    return f"counts {', '.join(dict.fromkeys(lifted))} as well" if lifted else None


def _unsaid(context: Context) -> Iterator[Exclusion]:
    """What the schema excludes, of which the question does not speak."""
    asked = set(identifier_words(context.question))
    for each in exclusions(context.snapshot):
        own = set(identifier_words(each.rows)) - set(identifier_words(each.column[1]))
        if each.told and not own & asked:
            yield each


def _leave_out(select: exp.Select, each: Exclusion, statement: Statement) -> bool:
    """Adds the test for each time that the table is read: to the join where rows without a partner stay."""
    test, parts = parsed(f"SELECT 1 WHERE {each.tests[0]}"), from_parts(select)
    reads = statement.scopes.reads.get(id(select), [])
    found = [(r, p) for r, p in zip(reads, parts, strict=True) if r.table and r.table.key == each.column[:2]]
    sides = {part.args.get("side") for part in parts}
    left = [part for _, part in found if part.args.get("side") == "LEFT"]
    if test is None or sides & {"RIGHT", "FULL"} or not all(part.args.get("on") for part in left):
        return False
    for read, part in found:
        own = test.args["where"].this.copy()
        for column in list(own.find_all(exp.Column)):
            column.set("table", identifier(read.name))
        if part in left:
            part.set("on", exp.and_(*conjuncts(part.args["on"]), own, copy=False))
        else:
            select.where(own, copy=False)
    return bool(found)
