"""Statements made of the corrections of near questions: what the two questions differ in is exchanged, all else stays.

Without a call of the model. Owns which phrase, value, number and period of the earlier question each of the new one
stands for. Where one has no counterpart, or the statement would be doubted for more than the correction, none is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from sqlglot import exp

from engine.findings.admit import Door
from engine.findings.driver import said
from engine.findings.lint import Context
from engine.findings.rules.literals import literal_as_stored
from engine.link.element_text import linked
from engine.link.mentions import CERTAIN, values_not_used
from engine.link.missing_values import compared_literals
from engine.link.synonyms import Exchange, interchangeable
from engine.link.unknown import alike
from engine.question.question import Question
from engine.question.spans import numbers_not_used
from engine.statement.read import Draft, statement_of
from engine.statement.scope import identifier
from engine.values import wording
from engine.values.candidate import AGAINST, Candidate, Change, Origin, RuleKind
from engine.values.elements import Entity, Relation, elements_read
from engine.values.learned import Example
from engine.write.exchanges import substituted
from engine.write.masks import Mask
from schema_catalog.types import ColumnKey, Snapshot, TableKey
from schema_catalog.words import identifier_words

NEAR = 0.4
"""Least cosine of a phrase to what it is taken for."""

BEST = 0.8
"""Least share that this is of the phrase's best cosine in the schema."""

_DAY = timedelta(days=1)

_Texts = Mapping[tuple[ColumnKey, str], str]
"""A column with a text of the statement → the value that is written for it."""

_Pair = tuple[Exchange, str]
"""An exchange, and the phrase of the earlier question that stood for the column used there."""

T = TypeVar("T")


async def of_near_questions(door: Door, root: Mask, score: Callable[[Mask], float]) -> list[Candidate]:
    """Those that run, the likest question's first. `root`: what none may read; `score`: of a masked schema."""
    found = []
    for example in (each for each in door.route.learned.examples if each.corrected):
        made = await asyncio.to_thread(_Corrected(example, door).made)
        if made is None:
            continue
        sql, exchanged = made
        whose = wording.OF_CORRECTION.format("your" if example.own else "an approved", example.question)
        change = Change("near_question", RuleKind.TAUGHT, "; ".join((whose, *exchanged)), example.sql, sql)
        origin = Origin(root, score(root) * example.similarity)
        candidate = Candidate(door.route.database.name, sql, origin=origin, changes=(change,))
        outcome = await door.admitted(candidate)
        if isinstance(outcome, Candidate) and not elements_read(outcome.columns, outcome.tables) & root:
            found.append(outcome)
    return found


@dataclass(frozen=True, slots=True)
class _Corrected:
    """A correction, and the door of the question that it may serve."""

    example: Example
    door: Door

    def made(self) -> tuple[str, list[str]] | None:
        """The statement, and in words what was exchanged. Parses: not for the event loop."""
        route, before, now = self.door.route, Question(self.example.question), self.door.state.question
        texts = self._texts()
        draft = None if texts is None else statement_of(self.example.sql, route.snapshot).draft()
        if texts is None or draft is None:
            return None
        values = literal_as_stored(draft, Context(route.snapshot, stored=texts))
        numbers = wording.of(wording.READS, _numbers(draft, before, now))
        sql, told = draft.sql, [values, numbers]
        pairs = self._columns(sql, *self._phrases(before, texts))
        for exchange, phrase in pairs or ():
            made = substituted(sql, exchange, route.snapshot)
            if made is None:
                return None
            sql = _called_so(made, exchange, phrase, route.snapshot)
            told.append(wording.READS_OTHER.format(exchange.other[2], exchange.used[2]))
        if pairs is None or not self._says_all(sql):
            return None
        doubts = self._doubts(sql, now) - self._doubts(self.example.sql, before)
        return None if doubts else (sql, list(filter(None, told)))

    def _texts(self) -> _Texts | None:
        """What the question names of the columns that the correction compares with other texts; None where unclear."""
        found: dict[tuple[ColumnKey, str], str] = {}
        for literal in compared_literals(self.example.sql, self.door.route.snapshot):
            named = {
                value
                for link in self.door.route.values
                if link.span and link.column == literal.column and link.similarity >= CERTAIN
                for value in link.values
                if link.relation is Relation.EQUALS
            }
            if not named or literal.text in named:
                continue
            if len(named) > 1 or literal.pattern or any(column == literal.column for column, _ in found):
                return None
            found[literal.column, literal.text] = named.pop()
        return found

    def _phrases(self, before: Question, texts: _Texts) -> tuple[list[str], list[Entity]]:
        """The phrases of either question with a word that the other has not; less those of the values exchanged."""
        written = {word for _, text in texts for word in identifier_words(text)}
        linked_to = [each for each in self.door.route.values if not {*texts.values()}.isdisjoint(each.values)]
        named = {word for each in linked_to for word in identifier_words(each.span)}
        asked = self.door.state.question.words
        lost = [each for each in before.entities if _strange(each, (*asked, *written))]
        return lost, [
            each for each in self.door.route.entities if _strange(each.text, (*before.words, *named))
        ]

    def _columns(self, sql: str, lost: Sequence[str], new: Sequence[Entity]) -> list[_Pair] | None:
        """For each new phrase the column exchanged for that of a lost one; None where one has no counterpart.

        A follow-up says what changes, and not what it was: any column that it may stand for is exchanged.
        """
        follows = self.door.state.dialogue.follow_up is not None and not lost and len(new) == 1
        if len(lost) != len(new) and not follows:
            return None
        snapshot = self.door.route.snapshot
        read, found = statement_of(sql, snapshot).resolution, list[_Pair]()
        elements = elements_read(read.columns, read.tables)
        left = list(new if follows else linked(lost, snapshot, self.door.tools.encoder))
        for phrase in new:
            other = _meant(phrase, read.tables)
            if other is None:
                return None
            if other in elements:
                same = [each for each in left if _nearest(each, elements) == other]
                if not same:
                    return None
                left.remove(same[0])
                continue
            used = [each for each in read.columns if each[:2] == other[:2]]
            fitting = [
                (each.similarities[column], each.text, column)
                for each in left
                for column in used
                if interchangeable(column, other, snapshot)
            ]
            if not fitting:
                return None
            _, text, column = max(fitting)
            left = [each for each in left if each.text != text]
            found.append((Exchange(column, other, phrase.similarities[other]), text))
        return found

    def _says_all(self, sql: str) -> bool:
        """Whether it uses each value and number that the question names."""
        route, now = self.door.route, self.door.state.question
        statement = statement_of(sql, route.snapshot)
        read, tree = statement.resolution, statement.tree
        names = [name for key in elements_read(read.columns, read.tables) for name in key[1:]]
        unused = None if tree is None else numbers_not_used(now.numbers, tree, names)
        return not values_not_used(now, sql, route.values) and not unused

    def _doubts(self, sql: str, question: Question) -> frozenset[str]:
        """The lints that speak against it as an answer to `question`."""
        route, off = self.door.route, self.door.tools.generation.rules_off
        context = Context(route.snapshot, question, lists=route.lists)
        return frozenset(each.lint for each in said(statement_of(sql, route.snapshot), context, AGAINST, off))


def _strange(phrase: str, words: Iterable[str]) -> bool:
    """Whether a word of it is like none of `words`."""
    known = frozenset(words)
    return any(not any(alike(word, other) for other in known) for word in identifier_words(phrase))


def _meant(phrase: Entity, tables: Iterable[TableKey]) -> ColumnKey | None:
    """What it stands for of the tables; None where it is likelier something else."""
    among = frozenset(tables)
    nearest = _nearest(phrase, [key for key in phrase.similarities if key[:2] in among])
    least = max(NEAR, BEST * max(phrase.similarities.values(), default=1.0))
    return nearest if nearest is not None and phrase.similarities[nearest] >= least else None


def _nearest(phrase: Entity, among: Iterable[ColumnKey]) -> ColumnKey | None:
    known = sorted(key for key in among if key in phrase.similarities)
    return max(known, key=phrase.similarities.__getitem__, default=None)


def _numbers(draft: Draft, before: Question, now: Question) -> Iterator[str]:
    """Writes the numbers and days that a question says for those that an earlier one says; in words, which."""
    pairs = dict[str, str]()
    for was, period in _paired(before.named_periods, now.named_periods):
        pairs[str(was.start.year)] = str(period.start.year)
        days = ((was.start, period.start), (was.end, period.end), (was.end - _DAY, period.end - _DAY))
        pairs |= {old.isoformat(): new.isoformat() for old, new in days}
    numbers = ([f"{number:g}" for _, number in each.numbers] for each in (before, now))
    years = {*pairs, *pairs.values()}
    pairs |= _paired(*([each for each in some if each not in years] for some in numbers))
    for literal in list(draft.tree.find_all(exp.Literal)) if pairs else ():
        text = literal.name
        said_so = text if text in pairs or not literal.is_string else text[: len("2000-01-01")]
        # The 1 of GROUP BY 1 is a place.
        if said_so in pairs and not isinstance(literal.parent, exp.Group | exp.Ordered):
            literal.set("this", pairs[said_so] + text[len(said_so) :])
            yield wording.READS_AS.format(text, literal.name)


def _paired(before: Iterable[T], now: Iterable[T]) -> list[tuple[T, T]]:
    """What one has and the other has not, in their order; nothing where these are not as many."""
    before, now = list(before), list(now)
    gone = [each for each in before if each not in now]
    come = [each for each in now if each not in before]
    return list(zip(gone, come, strict=True)) if len(gone) == len(come) else []


def _called_so(sql: str, exchange: Exchange, phrase: str, snapshot: Snapshot) -> str:
    """`sql` in which no name of a result says the column that was exchanged, or its phrase."""
    draft = statement_of(sql, snapshot).draft()
    if draft is None:
        return sql
    olds = [tuple(_parts(each)) for each in (exchange.used[2], phrase)]
    places = [
        *(each.args["alias"] for each in draft.tree.find_all(exp.Alias)),
        *(each for alias in draft.tree.find_all(exp.TableAlias) for each in alias.columns),
        *(each.this for each in draft.tree.find_all(exp.Column) if draft.scopes.key(each) is None),
    ]
    for place in places:
        if isinstance(place, exp.Identifier):
            place.replace(identifier(_renamed(place.name, olds, exchange.other[2])))
    return draft.sql


def _parts(name: str) -> list[str]:
    return name.lower().replace(" ", "_").split("_")


def _renamed(name: str, olds: Iterable[tuple[str, ...]], new: str) -> str:
    """A result's name with `new` in the place of the first of `olds` that stands in it as whole words."""
    parts = _parts(name)
    for old in olds:
        for start in range(len(parts) - len(old) + 1):
            if tuple(parts[start : start + len(old)]) == old:
                return "_".join([*parts[:start], new, *parts[start + len(old) :]])
    return name
