"""A statement in words, by rule: what it shows, from where, which rows and groups count, in which order.

Nothing is cut. A clause without words, such as a window, a recursion or LATERAL, is told as it is written.

And what each statement of an answer does: in words, with its terms and units, what rules changed, what is against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.question.names import name_words
from engine.statement.expressions import Reader, is_plain_table, is_told, says_something
from engine.statement.scope import conjuncts
from engine.statement.tree import parsed
from engine.statement.written import defined
from engine.values.candidate import Candidate
from engine.values.refusal import absent
from engine.values.state import State

_READER = Reader(None, {}, whole=True)

_COMBINED = {exp.Union: "and also", exp.Except: "without", exp.Intersect: "that are also"}

Aspects = Iterator[tuple[str, str]]


def describe(sql: str) -> str:
    """One line for a person who will not read the SQL; empty where `sql` cannot be parsed."""
    return _line(parsed(sql))


def in_parts(sql: str) -> tuple[tuple[str, str], ...]:
    """The same by (aspect, words)."""
    return tuple((aspect or "shows", words) for aspect, words in _aspects(parsed(sql)))


def _line(tree: exp.Expr | None) -> str:
    return " ".join(f"{aspect} {words}".strip() for aspect, words in _aspects(tree))


def _aspects(tree: exp.Expr | None) -> Aspects:
    """Of a query; the aspect of what it shows is empty."""
    if isinstance(tree, exp.SetOperation):
        yield from _aspects(tree.left.unnest())
        kind = next(words for kind, words in _COMBINED.items() if isinstance(tree, kind))
        yield kind, _line(tree.right.unnest())
    elif isinstance(tree, exp.Select):
        yield from _selected(tree)
    else:
        return
    if (order := tree.args.get("order")) is not None:
        yield "ordered by", ", ".join(_sort(each, tree) for each in order.expressions)
    if (offset := tree.args.get("offset")) is not None:
        yield "behind the first", _text(offset.expression)
    if (limit := tree.args.get("limit")) is not None:
        yield "limited to", _text(limit.expression) if isinstance(limit, exp.Limit) else _sql(limit)
    if (given := tree.args.get("with_")) is not None:
        for each in given.expressions:
            # What refers to itself has no words.
            yield (
                f"where {name_words(each.alias)} is",
                _sql(each.this) if given.recursive else _line(each.this),
            )


def _selected(select: exp.Select) -> Aspects:
    distinct = select.args.get("distinct")
    shown = ", ".join(map(_text, select.expressions))
    if distinct is not None:
        shown = f"{_sql(distinct) if distinct.args.get('on') else 'distinct'} {shown}"
    yield "", shown
    if (source := select.args.get("from_")) is not None:
        yield "from", _sources([source, *(select.args.get("joins") or [])], select.args.get("laterals") or [])
    if (where := select.args.get("where")) is not None:
        yield "where", _conditions(where.this)
    if (group := select.args.get("group")) is not None:
        plain = not any(group.args.get(each) for each in ("rollup", "cube", "grouping_sets", "all"))
        keys = ", ".join(_text(_output(each, select)) for each in group.expressions)
        yield "for each", keys if plain else _sql(group).removeprefix("GROUP BY ")
    if (having := select.args.get("having")) is not None:
        yield "only groups where", _conditions(having.this)


def _sources(parts: Sequence[exp.Expr], laterals: Sequence[exp.Expr]) -> str:
    """What FROM and JOIN read; the clause itself where there are no words for a part of it."""
    words = [_source(each) for each in parts]
    if laterals or None in words:
        return " ".join(map(_sql, (*parts, *laterals))).removeprefix("FROM ").replace(" , ", ", ")
    return " with ".join(dict.fromkeys(filter(None, words)))


def _source(part: exp.Expr) -> str | None:
    """None where there are no words for it."""
    source, side = part.this, part.args.get("side") or ""
    if side not in ("", "LEFT") or part.args.get("method") or part.args.get("kind") in ("SEMI", "ANTI"):
        return None
    if isinstance(source, exp.Subquery):
        words = f"({_text(source.this)})" if is_told(source.this) else None
    else:
        words = name_words(source.name) if is_plain_table(source) else None
    if words is None:
        return None
    more = (
        [each for each in conjuncts(part.args["on"]) if says_something(each)] if part.args.get("on") else []
    )
    words += f" where {' and '.join(map(_text, more))}" if more else ""
    return f"{words}, if any" if side else words


def _conditions(condition: exp.Expr) -> str:
    """Each in words, or as it is written."""
    several = [each.unnest().copy() for each in conjuncts(condition)]
    return " and ".join(
        f"({words})" if isinstance(each, exp.Or) and len(several) > 1 else words
        for each, words in zip(several, map(_text, several), strict=True)
    )


def _output(key: exp.Expr, query: exp.Query) -> exp.Expr:
    """What rows are put together or ordered by; for its number the output that it stands for."""
    place = int(key.name) if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit() else 0
    return query.selects[place - 1] if 0 < place <= len(query.selects) else key


def _sort(expression: exp.Expr, query: exp.Query) -> str:
    descending = isinstance(expression, exp.Ordered) and expression.args.get("desc")
    return _text(_output(expression.this, query)) + (" descending" if descending else "")


def _text(expression: exp.Expr) -> str:
    """In words, where there are such for all of it; else as it is written."""
    return _READER.words(expression) if is_told(expression) else _sql(expression)


def _sql(clause: exp.Expr) -> str:
    return clause.sql(dialect="postgres")


def explained(state: State) -> State:
    """`state` with its candidates' explanations, behind what is said of them. Parses each: not for the event loop."""
    if not state.candidates or state.from_catalog:
        return state
    first = state.verified or state.candidates[0]
    doubts = {
        route.database.name: [f"nothing stands for '{each.text}'" for each in route.unknown]
        for route in state.routes
        if state.doubtful
    }
    told = (
        replace(each, explanation=each.explanation + explain(each, first, doubts.get(each.database)))
        for each in state.candidates
    )
    return replace(state, candidates=tuple(told))


def explain(candidate: Candidate, best: Candidate, doubts: Sequence[str] | None = None) -> str:
    """What the statement does in words, its terms and units, what rules changed, and what it alone reads.

    `doubts`: what else is against it where it is hardly what was asked; None where it is not doubted.
    """
    meaning = candidate.meaning.says.rstrip(".")
    # Some models give the statement once more as its meaning.
    said = [describe(candidate.sql) if parsed(meaning) is not None else meaning or describe(candidate.sql)]
    said += [f"assuming {candidate.meaning.assumes.rstrip('.')}"] if candidate.meaning.assumes else []
    said += candidate.meaning.beside
    said += [*(f"{each.name}: {defined(each)}" for each in candidate.evidence.used)]
    said += [*candidate.evidence.notes, *(change.how for change in candidate.changes)]
    against = [absent(candidate.missing)] if candidate.missing else []
    named = ", ".join(f"'{each}'" for each in candidate.evidence.words)
    against += [f"says nothing of {named}"] if named else []
    if doubts is not None:
        against = [f"not sure: {', '.join([*against, *doubts]) or 'hardly what you ask'}"]
    words = "; ".join([*said, *against, *_in_rows(candidate, best)])
    # A reading says itself what it is.
    if candidate.database != best.database or candidate.meaning.says:
        return words
    gained = sorted(".".join(key[1:]) for key in candidate.columns - best.columns)
    lost = sorted(".".join(key[1:]) for key in best.columns - candidate.columns)
    if gained and lost:
        return f"{words}; uses {', '.join(gained)} where 1 uses {', '.join(lost)}"
    return words


def _in_rows(candidate: Candidate, best: Candidate) -> list[str]:
    """How many rows a statement finds, where one of it and the best was made of the other, which finds others."""
    made = [each.changes[-1] for each in (candidate, best) if each.changes]
    counts = [_rows_found(each) for each in (candidate, best)]
    if not any({each.before, each.after} == {candidate.sql, best.sql} for each in made) or None in counts:
        return []
    return [f"{counts[0]} rows where 1 finds {counts[1]}"] if counts[0] != counts[1] else []


def _rows_found(candidate: Candidate) -> str | None:
    """Rows that a statement gives, or that it counts where it does nothing else; None where that is not known."""
    preview, tree = candidate.preview, parsed(candidate.sql)
    if preview is None or preview.total is None or tree is None:
        return None
    alone = [item.unalias() for item in tree.expressions]
    counts = preview.total == len(alone) == 1 and isinstance(alone[0], exp.Count)
    return preview.rows[0][0] if counts else str(preview.total)
