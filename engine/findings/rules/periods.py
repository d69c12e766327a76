"""Rules about periods of time: a day or a text in the place of the year, quarter or month that is meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from sqlglot import exp

from engine.findings.lint import Context
from engine.question.periods import Period, Side, months_after, named_grain, shortest
from engine.statement.read import Draft
from engine.statement.scope import Scopes
from engine.values import wording

_COMPARISONS = (exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between)

_ONE_DAY = timedelta(days=1)

_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]00:00(?::00)?)?$")
"""A day, or its beginning."""

_SAID = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(-?%)?$")
"""A year, month or day, or the pattern of what begins with it."""

_Days = tuple[date, date]
"""The first one, and the first one behind them."""


def _at_midnight(moment: str) -> bool:
    """Of a timestamp as the server writes it."""
    return moment[10:19] == " 00:00:00" and moment[19:20] != "."


def whole_period(statement: Draft, context: Context) -> str | None:
    """Compares a date or a timestamp with all of a period that the question names, where one of its days stands."""
    periods = context.question.named_periods
    changed = []
    for node in list(statement.tree.find_all(*_COMPARISONS)) if periods else ():
        kind = statement.scopes.time_type(node.this)
        meant = _meant(node, periods, timed=kind.startswith("timestamp")) if kind else None
        if meant is not None:
            changed.append(
                wording.READS_AS.format(node.sql(dialect="postgres"), meant.sql(dialect="postgres"))
            )
            node.replace(meant)
    return wording.of(wording.READS, changed)


def whole_day(statement: Draft, context: Context) -> str | None:
    """Compares a timestamp with all of a day, where only its first moment is compared with or let in."""
    changed = []
    for node, meant in list(_first_moments(statement, context)):
        changed.append(wording.READS_AS.format(node.sql(dialect="postgres"), meant.sql(dialect="postgres")))
        node.replace(meant)
    return wording.of(wording.READS, changed)


def first_moments(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the days of which a timestamp is to be the first moment."""
    for node, _ in _first_moments(statement, context):
        if isinstance(node, exp.EQ) and (day := _day(node.expression)) is not None:
            yield wording.FIRST_MOMENT.format(day)


def _first_moments(statement: Draft, context: Context) -> Iterator[tuple[exp.Expr, exp.Condition]]:
    """Comparisons of a timestamp that leave out all of a day but its first moment, and those with all of it.

    Not of a column whose first and last values, as far as they are known, are such moments: it holds days.
    """
    ends = {each.column: (each.least or "", each.greatest or "") for each in context.told}
    days = {column for column, both in ends.items() if all(map(_at_midnight, both))}
    for node in statement.tree.find_all(exp.EQ, exp.NEQ, exp.LTE, exp.Between):
        between = isinstance(node, exp.Between)
        if between and node.args.get("symmetric"):
            continue
        day = _day(node.args["high"] if between else node.expression)
        if day is None or day == date.max or not statement.scopes.type_of(node.this).startswith("timestamp"):
            continue
        if statement.scopes.key(node.this) in days:
            continue
        whole = (day, day + _ONE_DAY)
        if not between:
            yield node, _within(node, whole)
            continue
        first = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
        yield node, exp.paren(exp.and_(first, _before(node.this, whole[1]), copy=False), copy=False)


def text_as_period(statement: Draft, _context: Context) -> str | None:
    """Reads a text that says a year or month beside a date as all of its days; another pattern as one of its text."""
    changed = []
    for node in list(statement.tree.find_all(*_COMPARISONS, exp.NEQ, exp.Like, exp.ILike)):
        meant = _as_period(node, statement.scopes)
        if meant is not None:
            changed.append(
                wording.READS_AS.format(node.sql(dialect="postgres"), meant.sql(dialect="postgres"))
            )
            node.replace(meant)
    return wording.of(wording.READS, changed)


def _as_period(node: exp.Expr, scopes: Scopes) -> exp.Expr | None:
    """None where it compares no date, or says a day."""
    compared = node.this
    if isinstance(compared, exp.TimestampTrunc):
        return _truncated(node) if scopes.time_type(compared.this) else None
    if not scopes.time_type(compared):
        return None
    if isinstance(node, exp.Between):
        return _between(node)
    if isinstance(node, exp.Like | exp.ILike):
        days = _days(node.expression, pattern=True)
        text = type(node)(this=exp.cast(compared.copy(), "text"), expression=node.expression.copy())
        like = text if days is None else _within(exp.EQ(this=compared.copy()), days)
        return exp.not_(like, copy=False) if node.args.get("negate") else like
    days = _days(node.expression, pattern=False)
    return None if days is None else _within(node, days)


def _truncated(node: exp.Expr) -> exp.Expr | None:
    days = _days(node.expression, pattern=False) if isinstance(node, exp.Binary) else None
    return None if days is None else type(node)(this=node.this.copy(), expression=_text(days[0]))


def _between(node: exp.Between) -> exp.Condition | None:
    first = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    last = exp.LTE(this=node.this.copy(), expression=node.args["high"].copy())
    said = [(end, _days(end.expression, pattern=False)) for end in (first, last)]
    if all(days is None for _, days in said):
        return None
    both = [end if days is None else _within(end, days) for end, days in said]
    return exp.paren(exp.and_(*both, copy=False), copy=False)


def _within(node: exp.Expr, days: _Days) -> exp.Condition:
    """The comparison with a text, as one with the days that the text says."""
    (first, behind), column = days, node.this
    if isinstance(node, exp.GT | exp.GTE):
        return _from(column, first if isinstance(node, exp.GTE) else behind)
    if isinstance(node, exp.LT | exp.LTE):
        return _before(column, first if isinstance(node, exp.LT) else behind)
    among = exp.paren(exp.and_(_from(column, first), _before(column, behind), copy=False), copy=False)
    return exp.not_(among, copy=False) if isinstance(node, exp.NEQ) else among


def _days(node: exp.Expr, *, pattern: bool) -> _Days | None:
    """The days of the year or month that a literal says, or of the day that it says as a pattern."""
    said = _SAID.match(_literal(node))
    if said is None or bool(said[4]) is not pattern or (said[3] and not pattern):
        return None
    year, month, day = (int(each or 0) for each in said.groups()[:3])
    try:
        first = date(year, month or 1, day or 1)
        if day:
            return first, first + _ONE_DAY
        return first, months_after(first, 1 if month else 12)
    except (ValueError, OverflowError):
        return None


def cut_short(statement: Draft, context: Context) -> Iterator[str]:
    """In words, the periods that the question names all of, where a statement compares with a day of theirs alone."""
    periods = context.question.named_periods
    for each in statement.tree.find_all(exp.EQ, exp.GT, exp.GTE, exp.LT, exp.LTE) if periods else ():
        if named_grain(each.this.name) is None and _meant(each, periods, timed=False) is not None:
            period = shortest(periods, _day(each.expression))
            yield wording.ONE_DAY.format(period.text if period else "")


def _meant(node: exp.Expr, periods: tuple[Period, ...], *, timed: bool) -> exp.Condition | None:
    """The comparison with whole periods; None where it says so already. `timed`: days end at the next one."""
    if isinstance(node, exp.Between):
        return _meant_between(node, periods) if timed else None
    day = _day(node.expression)
    period = shortest(periods, day)
    if period is None or day not in (period.start, period.end - _ONE_DAY):
        return None
    column, (low, high) = node.this, period.bounds
    if isinstance(node, exp.EQ):
        both = [*([_from(column, low)] if low else []), *([_before(column, high)] if high else [])]
        return exp.paren(exp.and_(*both, copy=False), copy=False) if len(both) > 1 else both[0]
    within = period.side is Side.WITHIN
    if isinstance(node, exp.GT | exp.GTE):
        said = day if isinstance(node, exp.GTE) else None if timed else day + _ONE_DAY
        return _from(column, low) if low and low != said and not (within and day != low) else None
    said = day if isinstance(node, exp.LT) else None if timed else day + _ONE_DAY
    return _before(column, high) if high and high != said and not (within and day == period.start) else None


def _meant_between(node: exp.Between, periods: tuple[Period, ...]) -> exp.Condition | None:
    """To the end of a last day with times of day."""
    last = shortest(periods, _day(node.args["high"]))
    if last is None or _day(node.args["high"]) != last.end - _ONE_DAY:
        return None
    first = exp.GTE(this=node.this.copy(), expression=node.args["low"].copy())
    return exp.paren(exp.and_(first, _before(node.this, last.end), copy=False), copy=False)


def period_of(column: exp.Expr, period: Period) -> exp.Condition:
    """The condition that a column is one of a period's days."""
    return _within(exp.EQ(this=column), (period.start, period.end))


def _from(column: exp.Expr, day: date) -> exp.GTE:
    return exp.GTE(this=column.copy(), expression=_text(day))


def _before(column: exp.Expr, day: date) -> exp.LT:
    return exp.LT(this=column.copy(), expression=_text(day))


def _text(day: date) -> exp.Literal:
    literal: exp.Literal = exp.Literal.string(day.isoformat())
    return literal


def _day(node: exp.Expr) -> date | None:
    said = _literal(node)
    try:
        return date.fromisoformat(said[:10]) if _ISO.match(said) else None
    except ValueError:
        return None


def _literal(node: exp.Expr) -> str:
    """The text that a literal says, cast or not; empty for anything else."""
    literal = node.this if isinstance(node, exp.Cast) else node
    return literal.name if isinstance(literal, exp.Literal) and literal.is_string else ""
