"""What a role may read, checked against what PostgreSQL then lets it read."""

from __future__ import annotations

import asyncpg

from schema_catalog.introspect import introspect
from schema_catalog.privileges import readable_columns, untrusted_owners
from schema_catalog.types import Database, ReadableColumns
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import connected, execute


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
