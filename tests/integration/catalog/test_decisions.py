"""What a DBA decides on: what users taught, and joins that are proposed of a real database without keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from engine.learn.store import AdapterTraining, LearningStore, NewExample
from engine.values.learned import ExampleKind, Vote
from engine.values.settings import LearningSettings
from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.foreign_keys import foreign_key_graph
from schema_catalog.implied_references import with_implied_references
from schema_catalog.join_values import proposed_joins
from schema_catalog.knowledge import described
from schema_catalog.knowledge_files.format import read_text
from schema_catalog.refresh import ConnectSettings
from schema_catalog.refresh import connected as reading
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Snapshot
from tests.integration.catalog.conftest import MakeDatabase, MakeRole, newest, read_anew
from tests.support.commands import runner
from tests.support.statements import connected, refused

VOTE = Vote("name", ("public", "t", "stage"), ("public", "t", "name"), 1.0)


async def teach(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        store = LearningStore(pool, LearningSettings())
        for number, (user, kind, sql) in enumerate(
            [
                ("ana", ExampleKind.CHOSEN, "SELECT stage FROM t"),
                ("ana", ExampleKind.REJECTED, "SELECT 1 FROM t"),
                ("bob", ExampleKind.CORRECTED, "SELECT 'x' FROM t"),
            ],
            1,
        ):
            votes = () if kind is ExampleKind.REJECTED else (VOTE,)
            await store.keep(
                [NewExample(user, "music", f"question {number}", sql, kind, f"q{number}", votes)]
            )
        await store.keep_adapter(AdapterTraining("", 30, b"\0" * 8, 0.4, 0.7, "used"))
        await store.keep_adapter(
            AdapterTraining("", 60, None, 0.7, 0.6, "dropped: 60% of the held-out votes")
        )
        await store.keep_adapter(AdapterTraining("ana", 30, b"\0" * 8, 0.5, 0.6, "used"))


@pytest.fixture
async def dba(make_store: MakeDatabase) -> AsyncIterator[asyncpg.Connection]:
    dsn = (await make_store(Snapshot("music", ("public",), ()))).dsn
    await teach(dsn)
    async with connected(dsn) as connection:
        yield connection


async def listed(dba: asyncpg.Connection, where: str = "true") -> list[int]:
    rows = await dba.fetch(f"SELECT example FROM nl_catalog.learned WHERE {where} ORDER BY 1")
    return [row["example"] for row in rows]


PENDING = "approved_at IS NULL AND kind <> 'rejected'"


async def test_what_was_taught_is_listed_with_what_it_says_of_words(dba: asyncpg.Connection) -> None:
    assert await listed(dba) == [1, 2, 3]
    assert await listed(dba, "asker = 'ana'") == [1, 2]
    assert await listed(dba, PENDING) == [1, 3]
    preferences = await dba.fetchval("SELECT preferences FROM nl_catalog.learned WHERE example = 1")
    assert preferences == ['"name": public.t.stage rather than public.t.name']


async def test_approve_revoke_forget(dba: asyncpg.Connection) -> None:
    await dba.execute("SELECT nl_catalog.approve(1), nl_catalog.approve(3)")
    assert await listed(dba, PENDING) == []
    assert await dba.fetchval("SELECT generation FROM pgparley.learning_version") == "1/1"
    for wrong in ("approve(2)", "revoke_approval(9)", "forget(9)"):
        with pytest.raises(asyncpg.UndefinedObjectError):
            await dba.execute(f"SELECT nl_catalog.{wrong}")
    await dba.execute("SELECT nl_catalog.revoke_approval(3)")
    assert await listed(dba, PENDING) == [3]
    await dba.execute("SELECT nl_catalog.forget(example) FROM nl_catalog.learned WHERE asker = 'ana'")
    assert await listed(dba) == [3]


async def adapters(dba: asyncpg.Connection) -> dict[int, bool]:
    return {
        row["version"]: row["used"]
        for row in await dba.fetch("SELECT version, used FROM nl_catalog.adapters")
    }


async def test_an_adapter_that_was_dropped_is_said_so_and_one_in_use_can_be_withdrawn(
    dba: asyncpg.Connection,
) -> None:
    assert await adapters(dba) == {1: True, 2: False, 3: True}
    verdict = "SELECT verdict FROM nl_catalog.adapters WHERE version = $1"
    assert await dba.fetchval(verdict, 2) == "dropped: 60% of the held-out votes"
    await dba.execute("SELECT nl_catalog.withdraw_adapter(3)")
    assert await adapters(dba) == {1: True, 2: False, 3: False}
    assert await dba.fetchval(verdict, 3) == "withdrawn"
    with pytest.raises(asyncpg.UndefinedObjectError):
        await dba.execute("SELECT nl_catalog.withdraw_adapter(9)")


TERSE = """
CREATE TABLE knd (kdnr int, nam text, lnd text);
CREATE TABLE auf (aufnr int, kdnr int, sta text, vtrnr int);
CREATE TABLE pos (aufnr int, artnr text, mng int);
CREATE TABLE art (artnr text, bez text);
CREATE TABLE vtr (vtrnr int, nam text);
CREATE TABLE lnd (lndnr int, kdnr int);
COMMENT ON COLUMN auf.sta IS 'N = new, P = paid';
INSERT INTO knd SELECT n, 'k' || n, 'DE' FROM generate_series(1, 1500) AS n;
INSERT INTO auf SELECT n, n % 1204 + 1, 'N', 900 + n FROM generate_series(1, 3000) AS n;
INSERT INTO pos SELECT n % 3000 + 1, 'A' || n % 40, 1 FROM generate_series(1, 5000) AS n;
INSERT INTO art SELECT 'A' || n, 'b' FROM generate_series(0, 50) AS n;
INSERT INTO vtr SELECT n, 'v' FROM generate_series(1, 50) AS n;
INSERT INTO lnd SELECT n, n + 100000 FROM generate_series(1, 9) AS n;
"""

KDNR = "auf.kdnr knd.kdnr"


@pytest.fixture
async def terse(make_database: MakeDatabase, pool: asyncpg.Pool) -> Database:
    """The database, registered as sales and read once."""
    made = await make_database(TERSE)
    database = Database("sales", made.dsn, made.dbname, ("public",))
    await CatalogStore(pool).add(database)
    await read_anew(pool)
    return database


async def proposals(pool: asyncpg.Pool) -> dict[str, str]:
    """Evidence by the two columns."""
    rows = await pool.fetch("SELECT from_column, to_column, evidence FROM nl_catalog.proposed_joins")
    return {
        f"{one.removeprefix('sales.public.')} {other.removeprefix('sales.public.')}": evidence
        for one, other, evidence in rows
    }


async def shown(pool: asyncpg.Pool) -> Snapshot:
    found = described(await newest(pool), (await CatalogStore(pool).said())["sales"])
    assert found is not None
    return found


async def test_values_bear_a_name_out_or_not(terse: Database, pool: asyncpg.Pool) -> None:
    found = await proposals(pool)
    # Neither auf.vtrnr nor lnd.kdnr, of whose values none occurs there; names alone imply both.
    assert set(found) == {KDNR, "pos.aufnr auf.aufnr", "pos.artnr art.artnr"}
    assert found[KDNR] == "kdnr: 1,204 of 1,204 values occur in knd.kdnr, which is unique"
    assert "2,000 of 2,000 values looked at occur" in found["pos.aufnr auf.aufnr"]


async def test_what_the_role_may_not_read_is_left_to_the_names(
    terse: Database, pool: asyncpg.Pool, make_role: MakeRole, server: Cluster
) -> None:
    role = await make_role()
    async with reading(server.dsn(terse.dbname, role), ConnectSettings()) as connection:
        found = await proposed_joins(connection, await newest(pool))
    told = {each.column[1:]: each.evidence for each in found}
    assert told["auf", "vtrnr"] == "vtrnr is named after vtr.vtrnr; its values were not compared"
    # What the names leave open.
    assert ("auf", "kdnr") not in told


async def test_out_of_time_is_left_to_the_names(terse: Database, pool: asyncpg.Pool) -> None:
    async with reading(terse.dsn, ConnectSettings()) as connection:
        found = await proposed_joins(connection, await newest(pool), seconds=0.0)
    assert all("not compared" in each.evidence for each in found)


async def test_a_proposal_is_implied_until_it_is_accepted_or_declined(
    terse: Database, pool: asyncpg.Pool
) -> None:
    auf, knd, pos = ("public", "auf"), ("public", "knd"), ("public", "pos")
    before = await shown(pool)
    assert foreign_key_graph(before).edges(auf) == ()
    assert foreign_key_graph(with_implied_references(before)).column_pairs(auf, knd) == [("kdnr", "kdnr")]
    await pool.execute("SELECT nl_catalog.accept_join('sales.auf.kdnr', 'sales.knd.kdnr')")
    await pool.execute("SELECT nl_catalog.decline_join('sales.pos.aufnr', 'sales.auf.aufnr')")
    await pool.execute("UPDATE pgparley.definition SET state = 'checked'")
    await read_anew(pool)
    assert set(await proposals(pool)) == {"pos.artnr art.artnr"}
    after = await shown(pool)
    assert foreign_key_graph(after).column_pairs(auf, knd) == [("kdnr", "kdnr")]
    assert foreign_key_graph(with_implied_references(after)).column_pairs(auf, pos) == []
    assert await pool.fetchval("SELECT nl_catalog.accept_joins('sales')") == 1
    assert await proposals(pool) == {}
    for call in ("accept", "decline"):
        await refused(
            pool.execute(f"SELECT nl_catalog.{call}_join('sales.auf.sta', 'sales.knd.lnd')"),
            asyncpg.UndefinedObjectError,
        )


async def test_the_skeleton_holds_all_elements_and_what_may_help(
    terse: Database, pool: asyncpg.Pool, own_store: Database, tmp_path: Path
) -> None:
    await pool.execute("SELECT nl_catalog.describe('sales.knd', 'who buys')")
    await pool.execute(
        'INSERT INTO pgparley.value_column (database, schema, "table", "column", stored)'
        " VALUES ('sales', 'public', 'knd', 'lnd', '{DE,AT}')"
    )
    file = tmp_path / "sales.yaml"
    run = runner(catalog_app(lambda: own_store.dsn))

    def command(*words: str) -> str:
        done = run(*words)
        assert done.exit_code == 0, done.output
        return done.output

    text = await asyncio.to_thread(command, "export", "sales", "--skeleton")
    tables = read_text("sales.yaml", text).content.databases[0].tables
    assert {table.name: len(table.columns) for table in tables}["auf"] == 4
    assert [table.description for table in tables if table.description] == ["who buys"]
    assert "    - name: sta\n      description: # text; codes: N = new, P = paid" in text
    assert "values: DE, AT" in text
    # As it stands it says nothing new; without the # of the first proposal it declares that join.
    file.write_text(text, "utf-8")
    assert "Nothing to change" in await asyncio.to_thread(command, "import", str(file))
    head, _, rest = text.partition("  # joins:\n")
    lines = rest.splitlines(keepends=True)
    first = "".join(line.replace("  # ", "  ", 1) for line in ("  # joins:\n", *lines[:2]))
    file.write_text(head + first + "".join(lines[2:]), "utf-8")
    await asyncio.to_thread(command, "import", str(file))
    assert KDNR not in await proposals(pool)
    assert await pool.fetchval("SELECT count(*) FROM nl_catalog.joins") == 1
