"""What the language model says of schemas before anybody asks, at rest: questions by table set, and proposed words.

Owns the SQL of `pgparley.made_set`, `made_question` and `proposed_synonym`, which people change by functions of
`nl_catalog` (`sql/0014_made_questions.sql`), and of who asks, and for how much a day. Does not ask a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import msgspec

from schema_catalog.pg import Connection, Pool
from schema_catalog.types import ColumnKey, MadeQuestion, TableKey

Words = dict[tuple[str, ...], tuple[str, ...]]
"""By element, (schema, table) or (schema, table, column)."""

# A steward's verified questions are such questions, too, and stand first; those with parameters are forms.
_QUESTIONS = """
    SELECT database, question, reads::text
    FROM (SELECT 0 AS n, d.database, d.body ->> 'question' AS question, d.reads FROM pgparley.definition d
          WHERE d.kind = 'query' AND d.state = 'checked'
          UNION ALL
          SELECT q.id, s.database, q.question, s.tables || s.reads
          FROM pgparley.made_question q JOIN pgparley.made_set s ON s.id = q.made_set) AS every
    WHERE question !~ '[{}]' AND reads <> '[]' ORDER BY database, n, question
"""

_WORDS = """
    SELECT database, element, array_agg(phrase ORDER BY made_at, phrase) FROM pgparley.proposed_synonym
    WHERE decided_by IS NULL GROUP BY database, element ORDER BY database, element
"""


@dataclass(frozen=True, slots=True)
class Made:
    """What a model says of `tables`, of which it saw `reads`, and `words` for their elements."""

    tables: tuple[TableKey, ...]
    reads: tuple[ColumnKey, ...]
    questions: tuple[str, ...]
    words: Mapping[tuple[str, ...], tuple[str, ...]]


async def read_questions(store: Pool | Connection) -> dict[str, tuple[MadeQuestion, ...]]:
    """Verified and made questions of each database. Raises asyncpg's errors or `OSError`."""
    found = defaultdict[str, list[MadeQuestion]](list)
    for database, question, body in await store.fetch(_QUESTIONS):
        elements = msgspec.json.decode(body, type=tuple[tuple[str, ...], ...])
        tables = dict.fromkeys((schema, table) for schema, table, *_ in elements)
        reads = tuple((each[0], each[1], each[2]) for each in elements if each[2:])
        found[database].append(MadeQuestion(question, tuple(tables), reads))
    return {database: tuple(each) for database, each in found.items()}


async def read_words(store: Pool | Connection) -> dict[str, Words]:
    """The words that are proposed in each database and wait. Raises asyncpg's errors or `OSError`."""
    found = defaultdict[str, Words](dict)
    for database, element, phrases in await store.fetch(_WORDS):
        found[database][tuple(element)] = tuple(phrases)
    return dict(found)


class MadeStore:
    """Raises asyncpg's errors or `OSError`."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def alone(self, database: str, seconds: float) -> AsyncIterator[bool]:
        """Whether no other engine asks about a database; while the block runs, none does for so many `seconds`."""
        until = await self._pool.fetchval(
            "INSERT INTO pgparley.asking_ahead VALUES ($1, clock_timestamp() + make_interval(secs => $2))"
            " ON CONFLICT (database) DO UPDATE SET until = excluded.until"
            " WHERE asking_ahead.until < clock_timestamp() RETURNING until",
            database,
            seconds,
        )
        try:
            yield until is not None
        finally:
            if until is not None:
                await self._pool.execute(
                    "DELETE FROM pgparley.asking_ahead WHERE (database, until) = ($1, $2)", database, until
                )

    async def spent(self) -> tuple[int, float]:
        """The tokens and seconds that engines have asked for by themselves today, in UTC."""
        row = await self._pool.fetchrow(
            "SELECT tokens, seconds FROM pgparley.asked_ahead WHERE day = (now() AT TIME ZONE 'UTC')::date"
        )
        return (0, 0.0) if row is None else (row["tokens"], row["seconds"])

    async def spend(self, tokens: int, seconds: float) -> None:
        """Adds to them."""
        await self._pool.execute(
            "INSERT INTO pgparley.asked_ahead VALUES ((now() AT TIME ZONE 'UTC')::date, $1, $2) ON CONFLICT (day)"
            " DO UPDATE SET tokens = asked_ahead.tokens + $1, seconds = asked_ahead.seconds + $2",
            tokens,
            seconds,
        )

    async def asked(self, database: str) -> dict[tuple[TableKey, ...], str]:
        """The table sets of which a model was asked, each with the fingerprint of its schema then."""
        rows = await self._pool.fetch(
            "SELECT tables::text, fingerprint FROM pgparley.made_set WHERE database = $1", database
        )
        return {msgspec.json.decode(tables, type=tuple[TableKey, ...]): known for tables, known in rows}

    async def keep(self, database: str, made: Made, fingerprint: str, written_by: str) -> None:
        """Keeps what was made in the place of what was made of the same tables; what a person edited stays.

        The catalog's version moves only where what is read of it has changed.

        Raises asyncpg's `ForeignKeyViolationError` where the database is gone.
        """
        async with self._pool.acquire() as connection, connection.transaction():
            ((number, same),) = await connection.fetch(
                "WITH before AS (SELECT reads FROM pgparley.made_set WHERE (database, tables) = ($1, $2::jsonb))"
                " INSERT INTO pgparley.made_set (database, tables, reads, fingerprint, written_by)"
                " VALUES ($1, $2::jsonb, $3::jsonb, $4, $5)"
                " ON CONFLICT (database, tables) DO UPDATE SET reads = excluded.reads,"
                " fingerprint = excluded.fingerprint, written_by = excluded.written_by, made_at = excluded.made_at"
                " RETURNING id, coalesce((SELECT before.reads = $3::jsonb FROM before), false)",
                database,
                *(msgspec.json.encode(each).decode() for each in (made.tables, made.reads)),
                fingerprint,
                written_by,
            )
            await connection.execute(
                "DELETE FROM pgparley.made_question WHERE made_set = $1 AND edited_by IS NULL"
                " AND NOT ($3 AND question = ANY ($2))",
                number,
                list(made.questions),
                same,
            )
            await connection.execute(
                "INSERT INTO pgparley.made_question (made_set, question) SELECT $1, said.question"
                " FROM unnest($2::text[]) WITH ORDINALITY AS said (question, n) WHERE NOT EXISTS"
                " (SELECT FROM pgparley.made_question q WHERE (q.made_set, q.question) = ($1, said.question))"
                " ORDER BY said.n",
                number,
                list(made.questions),
            )
            await connection.executemany(
                "DELETE FROM pgparley.proposed_synonym WHERE (database, element) = ($1, $2) AND decided_by IS NULL"
                " AND phrase <> ALL ($3)",
                [(database, list(element), list(phrases)) for element, phrases in made.words.items()],
            )
            await connection.executemany(
                "INSERT INTO pgparley.proposed_synonym (database, element, phrase, written_by) VALUES ($1, $2, $3, $4)"
                " ON CONFLICT DO NOTHING",
                [
                    (database, list(element), phrase, written_by)
                    for element, phrases in made.words.items()
                    for phrase in phrases
                ],
            )

    async def prune(self, database: str, sets: Collection[tuple[TableKey, ...]]) -> None:
        """Drops what was made of other table sets, but for what a person edited, and words for what is gone."""
        kept = [msgspec.json.encode(each).decode() for each in sets]
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "DELETE FROM pgparley.made_question q USING pgparley.made_set s WHERE s.id = q.made_set"
                " AND s.database = $1 AND s.tables <> ALL ($2::jsonb[]) AND q.edited_by IS NULL",
                database,
                kept,
            )
            await connection.execute(
                "DELETE FROM pgparley.made_set s WHERE s.database = $1 AND s.tables <> ALL ($2::jsonb[])"
                " AND NOT EXISTS (SELECT FROM pgparley.made_question q WHERE q.made_set = s.id)",
                database,
                kept,
            )
            await connection.execute(
                "DELETE FROM pgparley.proposed_synonym p WHERE p.database = $1 AND NOT EXISTS"
                " (SELECT FROM pgparley.element e WHERE (e.database, e.element) = (p.database, p.element))",
                database,
            )
