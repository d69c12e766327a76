"""Has the language model propose descriptions and synonyms for tables and columns that lack them, and keeps them.

What is kept counts for nothing until a DBA accepts it (`schema_catalog/sql/0006_drift.sql`). Hidden elements are
in no prompt; of sensitive columns, and of those that nobody allowed, no value is. The answer has a line for each
element that is asked for, `name: description | synonyms`; whatever else stands in it is dropped.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import asyncpg

from engine.link.standing import is_sensitive
from engine.llm.prompts import prompt
from engine.statement.written import quoted
from engine.values.deadline import Deadline
from engine.values.errors import InvalidSettingError, ModelUnavailableError
from engine.values.ports import Catalog, LanguageModel, Prompt
from engine.values.suggestions import SuggestReply, SuggestRequest
from engine.write.schema_questions import folded, plain_words, takes
from engine.write.schema_text import table_text
from schema_catalog.catalog import StoreUnavailableError
from schema_catalog.naming import dotted, quote_ident, quote_literal
from schema_catalog.personal import personal_by_name, personal_value
from schema_catalog.pg import Pool
from schema_catalog.store import SuggestionStore, UnknownNameError
from schema_catalog.types import Column, ColumnKey, Database, Snapshot, Suggestion, SuggestionKind, Table
from schema_catalog.values import ValueStore

VALUES = 5
"""Allowed values of a column that the model sees, the commonest."""

SYNONYMS = 3
"""For one element at most."""

DESCRIPTION_LENGTH, SYNONYM_LENGTH = 120, 40

_FORM = """start: {lines}
TEXT: / [A-Za-z][^\\n|"`]{{2,90}}/
WORDS: /( [A-Za-z][A-Za-z ]{{1,24}}(, [A-Za-z][A-Za-z ]{{1,24}}){{0,2}})?/
"""
"""A line may end wherever the model would end it: what it may not write where it has said all, it fills up."""

_END = re.compile(r"[,.;:(]| - ")
"""What a small model writes behind a description and then goes on with."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An element that lacks something. `name`: as the prompt and the answer have it."""

    name: str
    element: tuple[str, ...]
    shown: Table | Column


def lacking(table: Table, suggested: frozenset[tuple[str, ...]]) -> tuple[Asked, ...]:
    """The table and its columns that lack a description or synonyms, except for those of `suggested`.

    A column that is a primary or foreign key is left out: the key tells what it holds.
    """
    keys = {key for key in (table.primary_key, *(key.columns for key in table.foreign_keys)) if key}
    every = [Asked(f"table {quote_ident(table.name)}", table.key, table)]
    every += [Asked(quote_ident(column.name), (*table.key, column.name), column) for column in table.columns]
    return tuple(
        each
        for each in every
        if each.element not in suggested
        and each.element[2:] not in keys
        and not (each.shown.description and each.shown.synonyms)
    )


def asking(
    snapshot: Snapshot, table: Table, asked: Sequence[Asked], values: Mapping[ColumnKey, Sequence[str]]
) -> Prompt:
    """The prompt. `values`: of columns whose values may be shown; those of sensitive ones are left out all the same."""
    lines = [
        f"{quote_ident(column.name)}: {', '.join(quote_literal(value) for value in held[:VALUES])}"
        for column in table.columns
        if (held := values.get((*table.key, column.name))) and not is_sensitive(column)
    ]
    shown = replace(table, columns=tuple(column for column in table.columns if _near(column, table, asked)))
    return Prompt(
        prompt("suggest_system"),
        prompt(
            "suggest_user",
            database=quoted(snapshot.database),
            schema=table_text(snapshot, shown),
            values="\n".join(lines) or "none",
            names="\n".join(each.name for each in asked),
        ),
    )


def _near(column: Column, table: Table, asked: Sequence[Asked]) -> bool:
    """Whether the column is asked for, or is one of the first, which say what the table is."""
    first = {each.name for each in table.columns[:8]}
    return column.name in first or any(each.element[2:] == (column.name,) for each in asked)


def grammar(asked: Sequence[Asked]) -> str:
    """The answer's form in Lark: the lines in their order."""
    lines = " ".join(f'{json.dumps(f"{each.name}:")} TEXT ("|" WORDS)? "\\n"' for each in asked)
    return _FORM.format(lines=lines)


def suggestions(answer: str, asked: Sequence[Asked]) -> tuple[Suggestion, ...]:
    """What the answer says of the elements that were asked for, where they lack it."""
    by_name = {each.name: each for each in asked}
    found: list[Suggestion] = []
    for line in answer.splitlines():
        name, _, rest = line.strip().partition(": ")
        if (each := by_name.pop(name, None)) is None:
            continue
        description, _, synonyms = rest.partition("|")
        if not each.shown.description:
            found += _described(each, _END.split(description, maxsplit=1)[0])
        found += _synonyms(each, synonyms.split(","))
    return tuple(_telling(found))


def _telling(found: Sequence[Suggestion]) -> Iterable[Suggestion]:
    """Those of `found` that tell elements of a table apart: of two with the same words neither does."""
    texts = Counter(folded(each.text) for each in found)
    return (each for each in found if texts[folded(each.text)] == 1)


def _described(each: Asked, text: str) -> Iterable[Suggestion]:
    text = plain_words(text)
    if takes(text, DESCRIPTION_LENGTH) and folded(text) != folded(each.element[-1]):
        yield Suggestion(each.element, SuggestionKind.DESCRIPTION, text)


def _synonyms(each: Asked, words: Iterable[str]) -> Iterable[Suggestion]:
    known = {folded(word) for word in (each.element[-1], *each.shown.synonyms)}
    kept = 0
    for word in map(plain_words, words):
        if kept < SYNONYMS and takes(word, SYNONYM_LENGTH) and folded(word) not in known:
            known.add(folded(word))
            kept += 1
            yield Suggestion(each.element, SuggestionKind.SYNONYM, word)


TOGETHER = 12
"""Elements that one call of the model is about."""

SECONDS = 120.0
"""For one call."""

TOKENS = 60
"""For one element."""

_VALUES = 100_000
"""Values of a database that are looked through."""


@dataclass(frozen=True, slots=True)
class Suggesting:
    """The verb. `pool`: of the store."""

    catalog: Catalog
    model: LanguageModel
    pool: Pool

    async def suggest(self, request: SuggestRequest) -> SuggestReply:
        """Suggests for one table.

        Raises `InvalidSettingError` where the database or table is not there, and the model's and the store's errors.
        """
        try:
            return await self._suggest(request)
        except UnknownNameError as problem:
            raise InvalidSettingError(
                str(problem), hint="pgparley catalog list shows the names."
            ) from problem
        except (StoreUnavailableError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            raise ModelUnavailableError(
                "the engine's store does not answer", detail=str(problem), hint="Check [engine] store."
            ) from problem

    async def _suggest(self, request: SuggestRequest) -> SuggestReply:
        database, snapshot = await self._entry(request.database)
        store = SuggestionStore(self.pool)
        suggested = await store.elements(request.database)
        missed = await store.missed(request.database) if request.missed else None
        waiting = [
            (table, asked)
            for table in _wanted(snapshot, request.table)
            if request.after is None or table.key > request.after
            if (
                asked := [one for one in lacking(table, suggested) if missed is None or one.element in missed]
            )
        ]
        if not waiting:
            return SuggestReply()
        table, asked = waiting[0]
        found = await self._written(snapshot, table, asked, local=database.local)
        await store.add(request.database, found)
        return SuggestReply(table.key, found, len(waiting) - 1)

    async def _entry(self, name: str) -> tuple[Database, Snapshot]:
        for database, snapshot in await self.catalog.entries():
            if database.name == name:
                return database, snapshot
        raise UnknownNameError(f'database "{name}" is not registered, or all of it is hidden')

    async def _written(
        self, snapshot: Snapshot, table: Table, asked: Sequence[Asked], *, local: bool
    ) -> tuple[Suggestion, ...]:
        values = await showable_values(self.pool, snapshot.database, (table,))
        found: list[Suggestion] = []
        for first in range(0, len(asked), TOGETHER):
            some = asked[first : first + TOGETHER]
            completion = await self.model.complete(
                replace(asking(snapshot, table, some, values), local=local),
                deadline=Deadline(time.monotonic() + SECONDS),
                max_tokens=TOKENS * len(some),
                grammar=grammar(some) if self.model.profile.grammars else None,
            )
            found += suggestions(completion.text, some)
        return tuple(found)


async def showable_values(
    pool: Pool, database: str, tables: Sequence[Table]
) -> Mapping[ColumnKey, Sequence[str]]:
    """The kept values of tables' columns, except what is sensitive by now, and personal data."""
    store, keys = ValueStore(pool), {table.key for table in tables}
    sensitive = await store.sensitive(database)
    named = {
        (*table.key, column.name)
        for table in tables
        for column in table.columns
        if personal_by_name(table.name, column)
    }
    return {
        each.key: tuple(
            value for value in each.values if each.personal_allowed or personal_value(value) is None
        )
        for each in await store.values(database, _VALUES)
        if each.key[:2] in keys
        and sensitive.isdisjoint((each.key, each.key[:2]))
        and (each.personal_allowed or not (each.personal or each.key in named))
    }


def _wanted(snapshot: Snapshot, name: str | None) -> Sequence[Table]:
    if name is None:
        return snapshot.tables
    found = [each for each in snapshot.tables if name in {dotted(each.key), snapshot.display_name(each)}]
    if not found:
        raise InvalidSettingError(
            f'"{name}" is no table of "{snapshot.database}", or it is hidden',
            hint="nl_catalog.tables lists them.",
        )
    return found
