"""Makes the store say of databases what a file says, by `nl_catalog`'s functions, whose rights and checks hold."""

from __future__ import annotations

from dataclasses import dataclass

import asyncpg

from schema_catalog.drift import Difference
from schema_catalog.knowledge_files.export import open_databases, stored_file
from schema_catalog.knowledge_files.facts import Call, Fact, facts_of
from schema_catalog.knowledge_files.format import KnowledgeFile, Source
from schema_catalog.naming import dotted
from schema_catalog.pg import Connection
from schema_catalog.store import CatalogError

_ONE_AT_A_TIME = "SELECT pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('pgparley.import'), 0)"
_SHOWN = 10
"""Names that an error lists."""


@dataclass(frozen=True, slots=True)
class Step:
    """A difference of the store from the file, as the store would come to it. `was`: the value before a change."""

    difference: Difference
    fact: Fact
    was: str = ""

    @property
    def call(self) -> Call:
        """What does it."""
        return self.fact.take_back if self.difference is Difference.REMOVED else self.fact.say

    @property
    def shown(self) -> str:
        """What differs, in words."""
        values = " → ".join(filter(None, [self.was, self.fact.value]))
        return f"{self.fact.shown}: {values}" if values else self.fact.shown


async def differences(connection: Connection, source: Source) -> tuple[Step, ...]:
    """What importing `source` would change, in order: first what is taken back. Raises `CatalogError`."""
    wanted = source.content
    visible = await open_databases(connection)
    for n, database in enumerate(wanted.databases):
        if database.name not in visible:
            raise CatalogError(
                f'{source.at(f"$.databases[{n}].name")}: database "{database.name}" is not registered, or not open to'
                " you; `pgparley catalog list` shows those that are"
            )
    stored = await stored_file(connection, [each.name for each in wanted.databases], source.origin)
    await _check_elements(connection, source, stored)
    before = {fact.key: fact for fact in facts_of(stored)}
    after: dict[tuple[str, ...], Fact] = {}
    for fact in facts_of(wanted):
        if fact.key in after:
            raise CatalogError(f"{source.at(fact.path)}: the {fact.shown} is given twice")
        after[fact.key] = fact
    gone = (Step(Difference.REMOVED, fact) for key, fact in before.items() if key not in after)
    new = (Step(Difference.ADDED, fact) for key, fact in after.items() if key not in before)
    changed = (
        Step(Difference.CHANGED, fact, before[key].value)
        for key, fact in after.items()
        if key in before and fact != before[key]
    )
    return (*gone, *new, *changed)


async def one_at_a_time(connection: Connection) -> None:
    """Waits for the end of another import's transaction, and holds others up until the end of this one."""
    await connection.execute(_ONE_AT_A_TIME)


async def apply(connection: Connection, source: Source) -> tuple[Step, ...]:
    """Makes the store say what `source` says; returns the changes. In a transaction; raises `CatalogError`."""
    await one_at_a_time(connection)
    if source.origin is not None:
        await connection.execute("SELECT nl_catalog.import_as($1)", source.origin)
    steps = await differences(connection, source)
    for step in steps:
        await _take(connection, source, step)
    if left := await differences(connection, source):
        raise CatalogError(
            f"nothing was imported: the store took the {left[0].fact.shown} in another form than it is given; write it"
            " in that form, or try again if somebody else changes the catalog as well"
        )
    return steps


async def _take(connection: Connection, source: Source, step: Step) -> None:
    """Does one step; an error says where in the file its reason stands."""
    try:
        await connection.execute(step.call.sql, *step.call.arguments)
    except asyncpg.PostgresError as error:
        removed = step.difference is Difference.REMOVED
        where = f"{source.name} lacks the {step.fact.shown}" if removed else source.at(step.fact.path)
        texts = filter(None, [f"{where}: {error.message}", error.detail, error.hint])
        raise CatalogError("; ".join(text.rstrip(".") for text in texts)) from error


async def _check_elements(connection: Connection, source: Source, stored: KnowledgeFile) -> None:
    """Every table and column that is named is in the newest snapshot, or something is said of it already."""
    names = [database.name for database in source.content.databases]
    rows = await connection.fetch(
        'SELECT database, ARRAY[schema, "table"] FROM nl_catalog.tables WHERE database = ANY ($1) UNION ALL'
        ' SELECT database, ARRAY[schema, "table", "column"] FROM nl_catalog.columns WHERE database = ANY ($1)',
        names,
    )
    known = {(name, *element) for name, element in rows}
    known.update((name, *element) for name, element, _ in stored.elements())
    unknown = [each for each in source.content.elements() if (each[0], *each[1]) not in known]
    if unknown:
        lines = [f"{source.at(path)}: {dotted((name, *element))}" for name, element, path in unknown[:_SHOWN]]
        more = len(unknown) - len(lines)
        raise CatalogError(
            f"{len(unknown)} tables and columns are in no snapshot; `pgparley catalog refresh` reads new ones: "
            + "; ".join(lines)
            + (f"; and {more} more" if more else "")
        )
