"""A rule about conditions that nobody asked for: comparisons with constants of which the question is silent.

A model that is shown values likes to write them. A condition is needless where neither its constants nor its columns
are said, and the rest of the statement accounts for every word of the question: none is left that it could stand for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence

from sqlglot import exp

from engine.findings.rule import Context, Statement
from engine.link.legends import legends
from engine.link.mentions import ShortName, short_names
from engine.link.unknown import alike
from engine.question.spans import SpanKind
from engine.question.tokens import LABEL_WORDS
from engine.statement.scope import Scopes, keep_tests, tests_of, without_tests
from schema_catalog.types import Column, ColumnKey, Table
from schema_catalog.words import identifier_words

_PARTS = (exp.Connector, exp.Not, exp.Paren, exp.Predicate, exp.Column, exp.Identifier, exp.Literal)
"""What a condition consists of that only compares columns with constants."""

_CHOOSING = (exp.Order, exp.Max, exp.Min)
_SUPERLATIVE = re.compile(r"\w{3,}est").fullmatch
"""What says it, in words and in a statement, that the first of some order is asked for."""


def drop_unasked_condition(statement: Statement, context: Context) -> str | None:
    """Leaves out the comparisons with constants that no word of the question can stand for."""
    if context.question.denial:
        return None
    asked = _Asked(context)
    needless = [
        (select, list(asked.silent_about(select, statement.scopes)))
        for select in statement.tree.find_all(exp.Select)
    ]
    dropped = [test for _, tests in needless for test in tests]
    if not dropped or any(asked.words_left(statement, dropped)):
        return None
    for select, tests in needless:
        if tests:
            keep_tests(select, without_tests(tests_of(select), tests))
    return f"leaves out {' and '.join(test.unnest().sql(dialect='postgres') for test in dropped)}"


class _Asked:
    """What a question says, by its words."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._words = frozenset(context.question.words)
        self._periods = context.question.periods
        self._links = [link for link in context.values if link.span]

    @functools.cached_property
    def _short(self) -> Sequence[ShortName]:
        """Only of a statement with constants that are not said: it reads the whole schema."""
        return short_names(self._context.question, self._context.snapshot)

    def silent_about(self, select: exp.Select, scopes: Scopes) -> Iterator[exp.Expr]:
        """The parts of a WHERE that compare what no other part does with constants of which nothing is said."""
        tests = tests_of(select)
        silent = [test for test in tests if self._is_silent_about(test, scopes)]
        others = scopes.keys(without_tests(tests, silent))
        yield from (test for test in silent if others.isdisjoint(scopes.keys([test])))

    def _is_silent_about(self, test: exp.Expr, scopes: Scopes) -> bool:
        """Whether a condition compares columns with constants alone, and neither is said."""
        nodes = list(test.walk())
        literals = [each for each in nodes if isinstance(each, exp.Literal)]
        columns = [each for each in nodes if isinstance(each, exp.Column)]
        if not literals or not all(isinstance(each, _PARTS) for each in nodes):
            return False
        return not (
            any(self._says_value(each) for each in literals)
            or any(self._says_column(scopes.key(each), scopes.stored(each)) for each in columns)
        )

    def words_left(self, statement: Statement, dropped: Sequence[exp.Expr]) -> Iterator[str]:
        """The words of the question for which nothing in the statement stands but for `dropped`."""
        inside = {id(node) for test in dropped for node in test.walk()}
        rest = [node for node in statement.tree.walk() if id(node) not in inside]
        known = {word for text in _texts(rest, statement.scopes) for word in identifier_words(text)}
        short = (each for each in self._short if known.issuperset(identifier_words(each.part)))
        known.update(word for each in short for word in identifier_words(each.words))
        known.update(word for each in self._periods for word in identifier_words(each.text))
        sorted_by = any(isinstance(node, _CHOOSING) for node in rest)
        question = self._context.question
        named = (each.text for each in question.spans if each.kind is SpanKind.NAME)
        for phrase in (*question.entities, *named):
            for word in identifier_words(phrase):
                plain = word in LABEL_WORDS or (sorted_by and _SUPERLATIVE(word))
                if not plain and not any(alike(word, each) for each in known):
                    yield word

    def _says_value(self, literal: exp.Literal) -> bool:
        if not literal.is_string:
            return literal.name in self._context.question.text or bool(self._periods)
        if any(literal.name in link.values for link in self._links) or self._of_a_period(literal):
            return True
        return any(alike(word, each) for word in identifier_words(literal.name) for each in self._words)

    def _of_a_period(self, literal: exp.Literal) -> bool:
        return bool(self._periods) and literal.name[:1].isdigit()

    def _says_column(self, key: ColumnKey | None, column: Column | None) -> bool:
        """Whether it is no table's, or the question says it: by name, by what is stored there, by what codes mean."""
        if key is None or column is None:
            return True
        references = self._context.references
        same = {key, *references.counterparts(key)}
        tables = {each[:2] for each in same if each != key}
        if any(link.column in same or link.column[:2] in tables for link in self._links):
            return True
        meanings = [each.words for each in legends(self._context.snapshot).get(key, ())]
        words = {word for text in (*_names(column), *meanings) for word in identifier_words(text)}
        short = any(words.issuperset(identifier_words(each.part)) for each in self._short)
        return short or any(alike(word, each) for word in words for each in self._words)


def _names(element: Table | Column) -> Iterable[str]:
    return (element.name, *element.synonyms)


def _texts(nodes: Iterable[exp.Expr], scopes: Scopes) -> Iterator[str]:
    """Names, descriptions and constants of what `nodes` read."""
    for node in nodes:
        if isinstance(node, exp.Literal | exp.Var):
            yield node.name
        elif (column := scopes.stored(node)) is not None:
            yield from (*_names(column), column.description or "")
    for read in scopes.all_reads():
        if read.table is not None:
            yield from (*_names(read.table), read.table.description or "")
