"""A statement in words, by rule: what it shows, from where, which rows and groups count, in which order.

And what each statement of an answer does: in words, with its terms and units, what rules changed, what is against it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from engine.core.candidate import Candidate
from engine.core.state import State
from engine.dialogue.expressions import Reader
from engine.dialogue.refusal import absent
from engine.linking.element_text import name_words
from engine.prompting.known_text import defined
from engine.sql.tree import parsed

SHORT, LONG = 80, 400
"""Characters of a part of a line, and of one that stands by itself."""

_READER = Reader(None, {}, whole=True)

_COMBINED = {exp.Union: "and also", exp.Except: "without", exp.Intersect: "that are also"}


def describe(sql: str) -> str:
    """One line for a person who will not read the SQL; empty where `sql` cannot be parsed."""
    return " ".join(f"{aspect} {words}".strip() for aspect, words in _aspects(parsed(sql), SHORT))


def in_parts(sql: str) -> tuple[tuple[str, str], ...]:
    """The same by (aspect, words), in more of them."""
    return tuple((aspect or "shows", words) for aspect, words in _aspects(parsed(sql), LONG))


def _aspects(tree: exp.Expr | None, length: int) -> Iterator[tuple[str, str]]:
    """Of a query; the aspect of what it shows is empty."""
    if isinstance(tree, exp.SetOperation):
        yield from _aspects(tree.left.unnest(), length)
        kind = next(words for kind, words in _COMBINED.items() if isinstance(tree, kind))
        yield (
            kind,
            _cut(
                " ".join(f"{name} {words}".strip() for name, words in _aspects(tree.right.unnest(), length)),
                length,
            ),
        )
    elif isinstance(tree, exp.Select):
        yield from _selected(tree, length)
    else:
        return
    if (order := tree.args.get("order")) is not None:
        yield "ordered by", ", ".join(_sort(each, tree, length) for each in order.expressions)
    if (limit := tree.args.get("limit")) is not None and limit.expression is not None:
        yield "limited to", _text(limit.expression, length)
    for each in tree.args["with_"].expressions if tree.args.get("with_") else ():
        told = " ".join(f"{name} {words}".strip() for name, words in _aspects(each.this, length))
        yield f"where {name_words(each.alias)} is", _cut(told, length)


def _selected(select: exp.Select, length: int) -> Iterator[tuple[str, str]]:
    distinct = "distinct " if select.args.get("distinct") else ""
    yield "", distinct + ", ".join(_text(each, length) for each in select.expressions)
    tables = [each for each in select.find_all(exp.Table, exp.Subquery) if each.parent_select is select]
    sources = [each for each in tables if isinstance(each.parent, exp.From | exp.Join)]
    if sources:
        yield "from", " with ".join(dict.fromkeys(_source(each, length) for each in sources))
    if (where := select.args.get("where")) is not None:
        yield "where", _text(where.this, length)
    if (group := select.args.get("group")) is not None:
        yield "for each", ", ".join(_text(_output(each, select), length) for each in group.expressions)
    if (having := select.args.get("having")) is not None:
        yield "only groups where", _text(having.this, length)


def _source(source: exp.Expr, length: int) -> str:
    side = source.parent.args.get("side") if isinstance(source.parent, exp.Join) else None
    words = f"({_text(source.this, length)})" if isinstance(source, exp.Subquery) else name_words(source.name)
    return f"{words}, if any" if side == "LEFT" else words


def _output(key: exp.Expr, query: exp.Query) -> exp.Expr:
    """What rows are put together or ordered by; for its number the output that it stands for."""
    place = int(key.name) if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit() else 0
    return query.selects[place - 1] if 0 < place <= len(query.selects) else key


def _sort(expression: exp.Expr, query: exp.Query, length: int) -> str:
    descending = isinstance(expression, exp.Ordered) and expression.args.get("desc")
    return _text(_output(expression.this, query), length) + (" descending" if descending else "")


def _text(expression: exp.Expr, length: int) -> str:
    return _cut(_READER.words(expression), length)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


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
