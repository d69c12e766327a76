"""Which database a role meets, how it logs in there, and what it may read, as PostgreSQL then lets it."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.dsn import password_of
from schema_catalog.identity import read_identity
from schema_catalog.introspect import introspect
from schema_catalog.logins import login_for, make_login
from schema_catalog.privileges import readable_columns, untrusted_owners
from schema_catalog.refresh import ConnectSettings, describe
from schema_catalog.types import EVERYONE, Database, ReadableColumns
from tests.conftest import Postgres
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import connected, execute, fetch


async def identity(dsn: str, **options: Any) -> str | None:
    async with connected(dsn, **options) as connection:
        return await read_identity(connection)


async def test_databases_differ_and_roles_agree(
    server: Cluster, make_database: MakeDatabase, make_role: MakeRole
) -> None:
    role = await make_role()
    one, two = await make_database("SELECT 1"), await make_database("SELECT 1")
    seen = await identity(one.dsn)
    assert seen is not None
    assert seen == await identity(server.dsn(one.dbname, role))
    assert seen.partition("/")[0] == str(await identity(two.dsn)).partition("/")[0]
    assert seen != await identity(two.dsn)
    assert (await describe("x", one.dsn, (), ConnectSettings())).identity == seen


async def test_names_planted_in_the_search_path_are_not_asked(
    server: Cluster, make_database: MakeDatabase, make_role: MakeRole
) -> None:
    role = await make_role()
    database = await make_database(
        """CREATE FUNCTION public.concat(bigint, text, oid) RETURNS text LANGUAGE sql AS $$ SELECT 'mine' $$;
           CREATE FUNCTION public.current_database() RETURNS name LANGUAGE sql AS $$ SELECT 'mine'::name $$;
           CREATE TABLE public.pg_database (oid oid, datname name)"""
    )
    planted = {"search_path": "public, pg_catalog"}
    found = await identity(server.dsn(database.dbname, role), server_settings=planted)
    assert found == await identity(database.dsn)


async def test_where_it_may_not_be_read_there_is_none(
    server: Cluster, make_database: MakeDatabase, make_role: MakeRole
) -> None:
    role = await make_role()
    database = await make_database("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
    assert await identity(server.dsn(database.dbname, role)) is None
    assert await identity(database.dsn) is not None


ROLES = """
CREATE ROLE askers;
CREATE ROLE ana LOGIN PASSWORD 'one' IN ROLE askers;
CREATE ROLE "Bob ""B" LOGIN PASSWORD 'two' IN ROLE askers;
CREATE ROLE stranger LOGIN PASSWORD 'three';
"""


@pytest.fixture
async def strict(postgres: Postgres) -> AsyncIterator[Cluster]:
    """A server of its own: its databases `peered` and `secret` take nobody but members of `askers`."""
    with postgres("strict") as running:
        await execute(running.dsn(), ROLES, "CREATE DATABASE peered", "CREATE DATABASE secret")
        rules = (running.data_dir / "pg_hba.conf").read_text("utf-8")
        (running.data_dir / "pg_hba.conf").write_text(
            "local  peered         +askers  peer  map=pgparley\n"
            "local  secret         +askers  scram-sha-256\n"
            f"local  peered,secret  all      reject\n{rules}",
            encoding="utf-8",
        )
        line = f"pgparley  {getpass.getuser()}  +askers\n"
        (running.data_dir / "pg_ident.conf").write_text(line, encoding="utf-8")
        await execute(running.dsn(), "SELECT pg_reload_conf()")
        await _until_strict(running)
        yield running


async def _until_strict(running: Cluster) -> None:
    """Waits until the server has read its rules again: it says no sooner."""
    async with asyncio.timeout(20):
        while await who(running.dsn("secret")) is not None:  # noqa: ASYNC110 - no event tells of it
            await asyncio.sleep(0.05)


async def who(dsn: str | None) -> str | None:
    """The role that a login has, None where the server refuses it."""
    assert dsn is not None
    try:
        ((role,),) = await fetch(dsn, "SELECT session_user::text")
    except (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidPasswordError):
        return None
    return str(role)


def everyone(running: Cluster, dbname: str, dsn: str | None = None) -> Database:
    database = Database(dbname, running.dsn(dbname), dbname, ("public",))
    login = make_login(database, EVERYONE, dsn)
    assert not password_of(login.dsn)
    return replace(database, logins=(login,))


async def test_peer_with_a_map(strict: Cluster) -> None:
    database = everyone(strict, "peered")
    for asker in ("ana", 'Bob "B'):
        assert await who(login_for(database, asker)) == asker
    for asker in ("stranger", "postgres", "askers", "nobody"):
        assert await who(login_for(database, asker)) is None


async def test_a_password_file(strict: Cluster, tmp_path: Path) -> None:
    file = tmp_path / "pgpass"
    file.write_text(f'localhost:{strict.port}:secret:ana:one\n*:*:secret:Bob "B:two\n', encoding="utf-8")
    file.chmod(0o600)
    dsn = f"host={strict.socket_dir} port={strict.port} passfile={file}"
    database = everyone(strict, "secret", dsn)
    for asker in ("ana", 'Bob "B'):
        assert await who(login_for(database, asker)) == asker
    for asker in ("stranger", "postgres"):
        assert await who(login_for(database, asker)) is None


async def readable(database: Database, role: str) -> ReadableColumns:
    """The answer, after a check that the server agrees about every column of the database."""
    async with connected(database.dsn) as connection:
        answer = await readable_columns(connection, role)
        snapshot = await introspect(connection, database)
        if await connection.fetchval("SELECT count(*) FROM pg_roles WHERE rolname = $1", role):
            await connection.execute(f"SET ROLE {role}")
        for table, column in snapshot.columns():
            allowed = True
            try:
                await connection.execute(f'SELECT "{column.name}" FROM "{table.schema}"."{table.name}"')
            except asyncpg.InsufficientPrivilegeError:
                allowed = False
            if await connection.fetchval("SELECT current_user") == role:
                assert ((*table.key, column.name) in answer) == allowed
    return answer


TABLES = "CREATE TABLE pay (id int, name text, salary int); CREATE TABLE public_ (a int); "

PAY = {("public", "pay", column) for column in ("id", "name", "salary")}

PUBLIC = {("public", "public_", "a")}


async def test_grants_on_tables_and_to_everybody(make_role: MakeRole, make_database: MakeDatabase) -> None:
    role = await make_role()
    database = await make_database(f"{TABLES} GRANT SELECT ON public_ TO PUBLIC")
    assert await readable(database, role) == PUBLIC
    await execute(database.dsn, f"GRANT SELECT ON pay TO {role}")
    assert await readable(database, role) == PAY | PUBLIC
    await execute(database.dsn, f"REVOKE SELECT ON pay FROM {role}; GRANT INSERT, UPDATE ON pay TO {role}")
    assert await readable(database, role) == PUBLIC


async def test_grants_on_columns(make_role: MakeRole, make_database: MakeDatabase) -> None:
    role = await make_role()
    database = await make_database(f"{TABLES} GRANT SELECT (id, name) ON pay TO {role}")
    assert await readable(database, role) == {("public", "pay", "id"), ("public", "pay", "name")}


async def test_membership_counts_as_it_does_when_running(
    make_role: MakeRole, make_database: MakeDatabase
) -> None:
    group = await make_role("NOLOGIN")
    member = await make_role(f"LOGIN IN ROLE {group}")
    apart = await make_role("LOGIN NOINHERIT")
    database = await make_database(
        f"{TABLES} GRANT SELECT ON pay TO {group}; GRANT {group} TO {apart} WITH INHERIT FALSE"
    )
    assert await readable(database, member) == PAY
    assert await readable(database, apart) == frozenset()
    await execute(database.dsn, f"REVOKE {group} FROM {apart}, {member}")


async def test_a_schema_without_usage_hides_its_tables(
    make_role: MakeRole, make_database: MakeDatabase
) -> None:
    role = await make_role()
    database = await make_database(f"{TABLES} GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    assert await readable(database, role) == PAY | PUBLIC
    await execute(database.dsn, "REVOKE USAGE ON SCHEMA public FROM PUBLIC")
    assert await readable(database, role) == frozenset()


async def test_superusers_and_owners_read_without_a_grant(
    make_role: MakeRole, make_database: MakeDatabase
) -> None:
    super_ = await make_role("SUPERUSER")
    owner = await make_role()
    database = await make_database(TABLES)
    assert await readable(database, super_) == PAY | PUBLIC
    await execute(database.dsn, f"ALTER TABLE public_ OWNER TO {owner}")
    assert await readable(database, owner) == PUBLIC
    await execute(database.dsn, "ALTER TABLE public_ OWNER TO postgres")


async def test_what_belongs_to_others_is_not_read_unless_they_are_trusted(
    make_role: MakeRole, make_database: MakeDatabase
) -> None:
    """Whoever owns a table, or its schema, decides which code reading it runs."""
    role, other = await make_role(), await make_role()
    database = await make_database(f"{TABLES} GRANT SELECT ON pay, public_ TO {role}")
    await execute(database.dsn, f"ALTER TABLE public_ OWNER TO {other}")
    connection = await asyncpg.connect(database.dsn)
    try:
        assert await readable_columns(connection, role) == PAY
        assert await readable_columns(connection, role, (other,)) == PAY | PUBLIC
        assert await untrusted_owners(connection, ()) == (other,)
        assert await untrusted_owners(connection, (), (other,)) == ()
        assert await untrusted_owners(connection, ("elsewhere",)) == ()
        await connection.execute(f"ALTER SCHEMA public OWNER TO {other}")
        assert await readable_columns(connection, role) == frozenset()
        await connection.execute("ALTER SCHEMA public OWNER TO pg_database_owner")
        await connection.execute(f"ALTER DATABASE {database.dbname} OWNER TO {other}")
        assert await readable_columns(connection, role) == PAY | PUBLIC
    finally:
        await connection.execute(f"ALTER DATABASE {database.dbname} OWNER TO postgres")
        await connection.execute("ALTER TABLE public_ OWNER TO postgres")
        await connection.close()


async def test_unknown_role_and_no_connect(make_role: MakeRole, make_database: MakeDatabase) -> None:
    role = await make_role()
    database = await make_database(f"{TABLES} GRANT SELECT ON pay TO PUBLIC")
    assert await readable(database, "nobody_here") == frozenset()
    assert await readable(database, role) == PAY
    await execute(database.dsn, f"REVOKE CONNECT ON DATABASE {database.dbname} FROM PUBLIC")
    async with connected(database.dsn) as connection:
        assert await readable_columns(connection, role) == frozenset()


async def test_a_view_on_a_hidden_table_is_readable_and_the_table_is_not(
    make_role: MakeRole, make_database: MakeDatabase
) -> None:
    role = await make_role()
    database = await make_database(
        f"{TABLES} CREATE VIEW names AS SELECT name FROM pay; GRANT SELECT ON names TO {role}"
    )
    answer = await readable(database, role)
    assert answer == {("public", "names", "name")}
    async with connected(database.dsn) as connection:
        snapshot = await introspect(connection, database)
    assert [table.name for table in snapshot.restricted_to(answer).tables] == ["names"]


async def test_roles_with_odd_names(make_database: MakeDatabase) -> None:
    database = await make_database(
        f"""{TABLES} CREATE ROLE "O'Neil ü" LOGIN; GRANT SELECT ON pay TO "O'Neil ü" """
    )
    try:
        async with connected(database.dsn) as connection:
            assert await readable_columns(connection, "O'Neil ü") == PAY
    finally:
        await execute(database.dsn, """DROP OWNED BY "O'Neil ü"; DROP ROLE "O'Neil ü" """)
