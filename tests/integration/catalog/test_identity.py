"""Which database a connection leads to, as an ordinary role can read it."""

from __future__ import annotations

from typing import Any

from pgparley.cluster import Cluster
from schema_catalog.identity import read_identity
from schema_catalog.refresh import ConnectSettings, describe
from tests.integration.catalog.conftest import MakeDatabase, MakeRole
from tests.support.statements import connected


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
