"""Statements that differ from another one in one name: the exchanges to try, in which order, and which ones run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace

from engine.alternatives.substitute import substituted
from engine.alternatives.synonyms import Exchange, exchanges, interchangeable, phrases
from engine.core.candidate import Candidate
from engine.core.elements import WHOLE_TABLE, Relation
from engine.core.ports import Encoder
from engine.decoding.mask_search import Mask
from engine.rewrite.driver import Checker
from engine.rewrite.rule import Context
from engine.understanding.missing_values import compared_literals
from schema_catalog.types import ColumnKey

SURE = 0.95
"""Least likeness of an exchange that is made beside another one."""


async def find_exchanges(candidate: Candidate, context: Context, encoder: Encoder) -> list[Exchange]:
    """Exchanges of tables, then of columns: by values held, foreign columns kept, and similar names."""
    snapshot = context.snapshot
    holding = await asyncio.to_thread(_of_shared_values, candidate, context)
    texts = phrases(table for table in snapshot.tables if table.key in candidate.tables)
    vectors = await asyncio.to_thread(encoder.encode, texts) if texts else ()
    by_text = dict(zip(texts, vectors, strict=True))
    alike = exchanges(
        candidate.columns, candidate.tables, snapshot, lambda one, other: float(by_text[one] @ by_text[other])
    )
    apart = [each for each in alike if each.used[:2] != each.other[:2] and each.likeness == 1]
    found: dict[tuple[ColumnKey, ColumnKey], Exchange] = {}
    for each in (*holding, *apart, *alike):
        found.setdefault((each.used, each.other), each)
    return sorted(found.values(), key=lambda each: each.used[2] != WHOLE_TABLE)


def _of_shared_values(candidate: Candidate, context: Context) -> list[Exchange]:
    """Columns that hold as well what the question names and the statement compares a column of their table with."""
    holding: dict[str, set[ColumnKey]] = {}
    for link in context.values:
        for value in link.values if link.relation is Relation.EQUALS else ():
            holding.setdefault(value.casefold(), set()).add(link.column)
    return [
        Exchange(literal.column, other, 1.0)
        for literal in compared_literals(candidate.sql, context.snapshot)
        for other in sorted(holding.get(literal.text.casefold(), ()))
        if other[:2] == literal.column[:2] and interchangeable(literal.column, other, context.snapshot)
        if other != literal.column
    ]


class ExchangedStatements:
    """The statements that `exchanges` make of `leading`, each checked once; `score`: of a masked schema."""

    def __init__(
        self,
        leading: Candidate,
        exchanges: Iterable[Exchange],
        score: Callable[[Mask], float],
        checker: Checker,
    ) -> None:
        self._leading = leading
        self._exchanges = tuple(exchanges)
        self._left = iter(self._exchanges)
        self._score = score
        self._checker = checker

    def beside(self, made: Candidate, used: ColumnKey) -> ExchangedStatements:
        """Those that the surer of the other exchanges make of `made`, which exchanging `used` has given."""
        others = (each for each in self._exchanges if each.used != used and each.likeness >= SURE)
        return ExchangedStatements(made, others, self._score, self._checker)

    async def take(self, most: int) -> list[tuple[Candidate, ColumnKey]]:
        """At most `most` further ones that run, each with the element that was exchanged."""
        made: list[tuple[Candidate, ColumnKey]] = []
        while len(made) < most and (exchange := next(self._left, None)) is not None:
            candidate = await self._made(exchange)
            if candidate is not None:
                made.append((candidate, exchange.used))
        return made

    async def _made(self, exchange: Exchange) -> Candidate | None:
        leading = self._leading
        sql = await asyncio.to_thread(substituted, leading.sql, exchange, self._checker.context.snapshot)
        if sql is None or sql == leading.sql or await self._checker.misplaces_literal(sql):
            return None
        mask = leading.masked | {exchange.used}
        score = self._score(mask) * exchange.likeness
        other = replace(leading, sql=sql, masked=mask, schema_score=score, logprob=None, cost=None)
        outcome = await self._checker.statement(other)
        return outcome if isinstance(outcome, Candidate) else None
