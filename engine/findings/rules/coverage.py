"""Which span of time the conditions of a statement on a date cover, and whether it is the one that the question says.

Owns reading literals, the clock, `date_trunc`, `EXTRACT(YEAR …)` and intervals as moments. What the question says is
`engine.question.periods`'s. A condition that cannot be read covers nothing that is known, and is never doubted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from sqlglot import exp

from engine.findings.lint import Context
from engine.question import normalise as folding
from engine.question.periods import Grain, Period, first_of, named_grain, shifted, span_words
from engine.question.question import Question
from engine.statement.read import Draft
from engine.statement.scope import Scopes, keep_tests, tests_of, without_tests
from engine.values import wording
from engine.values.elements import DATED

_DAY, _INSTANT = timedelta(days=1), timedelta(microseconds=1)
_NOON = time(12)
"""The clock's time: which one it is decides nothing, but that it is no day's beginning."""

_CLOCKS = (exp.CurrentTimestamp, exp.Localtimestamp)
_RANGE = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_AROUND = (exp.Paren, exp.AtTimeZone, exp.Cast, exp.Date, exp.TimestampTrunc)
_YEARS = range(1, 9_999)
_UNITS = frozenset(Grain)


@dataclass(frozen=True, slots=True)
class Covered:
    """What `tests` of a query's WHERE say of a column: from `start` to before `end`, None where it is open."""

    select: exp.Select
    column: exp.Column
    tests: list[exp.Expr]
    start: datetime | None
    end: datetime | None

    @property
    def words(self) -> str:
        """The days in words."""
        last = None if self.end is None else (self.end + _DAY - _INSTANT).date()
        return span_words(self.start.date() if self.start else None, last)


def said_period(statement: Draft, context: Context) -> str | None:
    """Compares the one date that is tested for another span of time with the one period that the question says."""
    found = _missed(statement, context.question)
    if found is None or found[0].slack or len(found[1]) > 1:
        return None
    period, (covered,) = found
    first, behind = period.bounds
    kept = without_tests(tests_of(covered.select), covered.tests)
    bounds = [(exp.GTE, first), (exp.LT, behind)]
    said = [
        test(this=covered.column.copy(), expression=exp.Literal.string(day.isoformat()))
        for test, day in bounds
        if day
    ]
    keep_tests(covered.select, [*kept, *said])
    return wording.READS.format(wording.READS_AS.format(period.text, period.words))


def periods_missed(statement: Draft, context: Context) -> Iterator[str]:
    """In words, where a statement covers another span of time than the one that the question says, or none."""
    found = _missed(statement, context.question)
    if found is not None:
        period, covered = found
        yield wording.COVERS.format(covered[0].words, period.text, period.words)
    for period in context.question.periods:
        if period.relative and _is_timeless(statement):
            yield wording.SAYS_NOTHING.format(period.text)


def the_covered(statement: Draft, today: date) -> Covered | None:
    """What a statement covers from some day on, where it tests one column of dates alone; else None."""
    covered = list(_covered(statement, today))
    return covered[0] if len(covered) == 1 and covered[0].start is not None else None


def newest_period(statement: Draft, context: Context) -> str | None:
    """Compares with the same days of the newest year, where those that are compared with lie behind all of a column.

    Days before that, of which it holds nothing either, may well be meant.
    """
    covered = the_covered(statement, context.question.today) if context.newest else None
    newest = (
        None if covered is None else context.newest.get(statement.scopes.key(covered.column) or ("", "", ""))
    )
    if covered is None or covered.start is None or newest is None:
        return None
    years = newest.year - covered.start.year
    if _later(covered.start, Grain.YEAR, years).date() > newest:
        years -= 1
    if years >= 0:
        return None
    moved = [each and _later(each, Grain.YEAR, years) for each in (covered.start, covered.end)]
    kept = without_tests(tests_of(covered.select), covered.tests)
    said = [
        test(this=covered.column.copy(), expression=exp.Literal.string(_moment_words(moment)))
        for test, moment in zip((exp.GTE, exp.LT), moved, strict=True)
        if moment is not None
    ]
    keep_tests(covered.select, [*kept, *said])
    return wording.READS.format(replace(covered, start=moved[0], end=moved[1]).words)


def nothing_of_period(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the period of which the data holds nothing, and how new it is."""
    covered = the_covered(statement, context.question.today) if context.newest else None
    newest = (
        None if covered is None else context.newest.get(statement.scopes.key(covered.column) or ("", "", ""))
    )
    if covered is not None and newest is not None:
        yield wording.NOTHING_OF.format(covered.words, newest)


def _moment_words(moment: datetime) -> str:
    return (moment.date() if moment.time() == time() else moment).isoformat()


def _missed(statement: Draft, question: Question) -> tuple[Period, Sequence[Covered]] | None:
    """The question's period and what the statement covers, where there is one and it is none of these."""
    periods = question.periods
    if len(periods) != 1 or any(day.count("-") > 1 for day, _ in folding.dates(question.text)):
        return None
    covered = list(_covered(statement, question.today))
    denied = question.denial is not None
    if not covered or any(
        _fits(each, periods[0], question.today) or (denied and _is_all_else(each, periods[0]))
        for each in covered
    ):
        return None
    return periods[0], covered


def _fits(covered: Covered, period: Period, today: date) -> bool:
    """What lies behind today does not count where the period does not end before; nor a few days of slack."""
    first, behind = period.bounds
    late = covered.end is None or covered.end >= datetime.combine(today, _NOON)
    if late and (behind is None or behind > today):
        return _alike(covered.start, first, period.slack)
    return _alike(covered.start, first, period.slack) and _alike(covered.end, behind, period.slack)


def _is_all_else(covered: Covered, period: Period) -> bool:
    """Whether it is what lies outside of an open period: what was not bought since 2024 was bought before."""
    first, behind = period.bounds
    before = behind is None and covered.start is None and _alike(covered.end, first, period.slack)
    return before or (first is None and covered.end is None and _alike(covered.start, behind, period.slack))


def _alike(moment: datetime | None, day: date | None, slack: int) -> bool:
    if moment is None or day is None:
        return moment is day
    return abs(moment - datetime.combine(day, time())) <= timedelta(days=slack)


def _covered(statement: Draft, today: date) -> Iterator[Covered]:
    """Of each column of dates that a query tests with what can be read, and with nothing else."""
    for select in statement.tree.find_all(exp.Select):
        found: dict[str, list[tuple[exp.Expr, exp.Column, _Span]]] = {}
        unread = set[str]()
        for test in tests_of(select):
            span = _span(test, statement.scopes, today)
            columns = [each for each in test.find_all(exp.Column) if statement.scopes.time_type(each)]
            if span is None or len(columns) != 1:
                unread.update(each.sql() for each in columns)
            else:
                found.setdefault(columns[0].sql(), []).append((test, columns[0], span))
        for name, tests in found.items():
            if name not in unread:
                starts = [start for _, _, (start, _) in tests if start is not None]
                ends = [end for _, _, (_, end) in tests if end is not None]
                yield Covered(
                    select,
                    tests[0][1],
                    [test for test, _, _ in tests],
                    max(starts, default=None),
                    min(ends, default=None),
                )


_Span = tuple[datetime | None, datetime | None]


def _span(test: exp.Expr, scopes: Scopes, today: date) -> _Span | None:
    """From when to before when a test lets a column of dates be; None where it cannot be read or is in no calendar."""
    try:
        return _read_span(test.unnest(), scopes, today)
    except (ValueError, OverflowError):
        return None


def _read_span(test: exp.Expr, scopes: Scopes, today: date) -> _Span | None:
    if isinstance(test, exp.Between):
        low = _bounds(exp.GTE, test.this, test.args["low"], scopes, today)
        high = _bounds(exp.LTE, test.this, test.args["high"], scopes, today)
        return None if low is None or high is None else (low[0], high[1])
    if not isinstance(test, (*_RANGE, exp.EQ)):
        return None
    return _bounds(type(test), test.this, test.expression, scopes, today)


def _bounds(
    how: type[exp.Expr], compared: exp.Expr, value: exp.Expr, scopes: Scopes, today: date
) -> _Span | None:
    grain = _grain(compared, scopes)
    moment = _start_of_year(value, today) if isinstance(compared, exp.Extract) else _moment(value, today)
    if grain is None or moment is None:
        return None
    behind = moment
    if grain is not Grain.HOUR:
        moment = datetime.combine(first_of(grain, moment.date()), time())
        behind = _later(moment, grain, 1)
    spans: dict[type[exp.Expr], _Span] = {
        exp.EQ: (moment, behind),
        exp.GTE: (moment, None),
        exp.GT: (behind, None),
        exp.LT: (None, moment),
        exp.LTE: (None, behind + _INSTANT if grain is Grain.HOUR else behind),
    }
    return spans[how]


def _grain(compared: exp.Expr, scopes: Scopes) -> Grain | None:
    """What a column of dates is cut to where it is compared, HOUR for a timestamp as it is; None for anything else."""
    if isinstance(compared, exp.Extract):
        yearly = compared.name.upper() == "YEAR" and scopes.time_type(compared.expression)
        return Grain.YEAR if yearly else None
    cut = _cut(compared)
    column = compared if cut is None else compared.this
    kind = scopes.time_type(column)
    return (
        None if not kind else cut or named_grain(column.name) or (Grain.DAY if kind == "date" else Grain.HOUR)
    )


def _moment(node: exp.Expr, today: date) -> datetime | None:
    """What a literal, the clock, or either cut or moved says."""
    if isinstance(node, (exp.CurrentDate, *_CLOCKS)):
        return datetime.combine(today, time() if isinstance(node, exp.CurrentDate) else _NOON)
    if isinstance(node, exp.Add | exp.Sub):
        return _moved(node, today)
    if isinstance(node, exp.Literal):
        return _written(node)
    inner = _moment(node.this, today) if isinstance(node, _AROUND) else None
    cut = _cut(node)
    return inner if inner is None or cut is None else datetime.combine(first_of(cut, inner.date()), time())


def _cut(node: exp.Expr) -> Grain | None:
    """What a node cuts a moment to; None where it leaves it as it is."""
    if isinstance(node, exp.TimestampTrunc):
        return Grain(node.args["unit"].name.lower())
    return (
        Grain.DAY
        if isinstance(node, exp.Date) or (isinstance(node, exp.Cast) and node.is_type("date"))
        else None
    )


def _written(literal: exp.Literal) -> datetime | None:
    try:
        return datetime.fromisoformat(literal.name).replace(tzinfo=None) if literal.is_string else None
    except ValueError:
        return None


def _moved(node: exp.Add | exp.Sub, today: date) -> datetime | None:
    """Later or earlier by an interval of one unit, or by days."""
    moment, by = _moment(node.left, today), node.right.unnest()
    sign = 1 if isinstance(node, exp.Add) else -1
    unit = by.args.get("unit") if isinstance(by, exp.Interval) else exp.var("day")
    count = by.this if isinstance(by, exp.Interval) else by
    named = unit.name.lower().rstrip("s") if isinstance(unit, exp.Expr) else ""
    if (
        moment is None
        or named not in _UNITS
        or not isinstance(count, exp.Literal)
        or not count.name.isdigit()
    ):
        return None
    return _later(moment, Grain(named), sign * int(count.name))


def _later(moment: datetime, unit: Grain, count: int) -> datetime:
    if unit is Grain.HOUR:
        return moment + timedelta(hours=count)
    return datetime.combine(shifted(moment.date(), unit, count), moment.time())


def _start_of_year(node: exp.Expr, today: date) -> datetime | None:
    """Of a number, of the year of a moment, or so many before or behind."""
    if isinstance(node, exp.Literal) and node.name.isdigit() and int(node.name) in _YEARS:
        return datetime.combine(date(int(node.name), 1, 1), time())
    if (
        isinstance(node, exp.Add | exp.Sub)
        and isinstance(node.right, exp.Literal)
        and node.right.name.isdigit()
    ):
        start, sign = _start_of_year(node.left, today), 1 if isinstance(node, exp.Add) else -1
        return None if start is None else _later(start, Grain.YEAR, sign * int(node.right.name))
    if isinstance(node, exp.Extract) and node.name.upper() == "YEAR":
        moment = _moment(node.expression, today)
        return None if moment is None else datetime.combine(first_of(Grain.YEAR, moment.date()), time())
    return None


def _is_timeless(statement: Draft) -> bool:
    """Whether it reads a table with dates, and uses neither a date nor the number of a month or year nor the clock."""
    tables = [read.table for read in statement.scopes.all_reads() if read.table is not None]
    dated = any(column.type.startswith(DATED) for table in tables for column in table.columns)
    used = (
        each
        for each in statement.tree.find_all(exp.Column)
        if statement.scopes.time_type(each) or named_grain(each.name)
    )
    return dated and next(used, None) is None and not statement.tree.find(exp.CurrentDate, *_CLOCKS)
