"""Rules about flags, which say yes or no of a row, by what the question calls them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.question.tokens import identifier_words
from engine.statement.scope import TableRef, identifier
from engine.values.elements import ValueList
from schema_catalog.types import ColumnKey, Snapshot, TableKey

_PAIRS = (("t", "f"), ("y", "n"), ("yes", "no"), ("true", "false"), ("1", "0"))
_BEFORE, _BEHIND = ("is", "has", "was", "are"), ("flag", "yn", "ind")

_SHORTEST = 4
"""Letters of a word behind an `is` that is written together with it."""


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag. `words`: what it says, folded. `yes`: the text that stands for it, None in a boolean column."""

    column: ColumnKey
    words: tuple[str, ...]
    yes: str | None

    def test(self, qualifier: str) -> exp.Expr:
        """That it is so."""
        column = exp.column(identifier(self.column[2]), identifier(qualifier))
        return column if self.yes is None else exp.EQ(this=column, expression=exp.Literal.string(self.yes))


def said_flag(statement: Statement, context: Context) -> str | None:
    """Tests each flag that the question names, where its table is read and the flag is not."""
    added = []
    named = named_flags(context.question, context.snapshot, context.lists)
    for select, read, flag in list(flags_left_out(statement, named)):
        select.where(flag.test(read.name), copy=False)
        added.append(flag.column[2])
    return f"takes those that are {', '.join(added)}" if added else None


def flags_left_out(
    statement: Statement, named: Iterable[Flag]
) -> Iterator[tuple[exp.Select, TableRef, Flag]]:
    """Those of `named` that the statement does not read, with each place where their table is read."""
    unread = [f for f in named if not statement.scopes.columns(statement.tree, f.column[:2], f.column[2])]
    for select in statement.tree.find_all(exp.Select) if unread else ():
        reads: dict[TableKey, list[TableRef]] = {}
        for read in statement.scopes.reads.get(id(select), ()):
            if read.table is not None:
                reads.setdefault(read.table.key, []).append(read)
        for flag in unread:
            found = reads.get(flag.column[:2], [])
            if len(found) == 1:
                yield select, found[0], flag


def named_flags(question: str, snapshot: Snapshot, lists: Iterable[ValueList]) -> list[Flag]:
    """The flags all of whose words the question says and does not deny, and that no table or column is called."""
    asked = identifier_words(question)
    every = list(_flags(snapshot, lists, asked))
    named = [each for each in every if each.words and set(each.words) <= set(asked)]
    if not named:
        return []
    own = {each.column for each in every}
    names = {identifier_words(each.name) for each in snapshot.tables}
    names.update(identifier_words(c.name) for t, c in snapshot.columns() if (*t.key, c.name) not in own)
    return [each for each in named if each.words not in names and not _denied(each, question)]


def _denied(flag: Flag, question: str) -> bool:
    return (
        re.search(rf"\b(?:not|non|no|never|without)[ -]+{re.escape(flag.words[0])}", question.lower())
        is not None
    )


def _flags(snapshot: Snapshot, lists: Iterable[ValueList], asked: Sequence[str]) -> Iterator[Flag]:
    """Columns that are boolean, or whose values are all known to be a yes and a no. `asked`: the question's words."""
    known = {each.column: each.values for each in lists}
    for table, column in snapshot.columns():
        key = (*table.key, column.name)
        yes = _yes(known.get(key, ()))
        if column.type == "boolean" or yes is not None:
            yield Flag(key, _said(identifier_words(column.name), asked), yes)


def _yes(values: Sequence[str]) -> str | None:
    by_text = {value.casefold(): value for value in values}
    return next((by_text[yes] for yes, no in _PAIRS if by_text.keys() == {yes, no}), None)


def _said(words: tuple[str, ...], asked: Sequence[str]) -> tuple[str, ...]:
    """A flag's name without what only says that it is one: `is_active`, `isofficial`, `active_flag`."""
    if len(words) > 1 and words[-1] in _BEHIND:
        words = words[:-1]
    if len(words) > 1 and words[0] in _BEFORE:
        return words[1:]
    for prefix in _BEFORE:
        rest = words[0].removeprefix(prefix) if words else ""
        if rest in asked and len(rest) >= _SHORTEST and rest != words[0]:
            return (rest, *words[1:])
    return words
