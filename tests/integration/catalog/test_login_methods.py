"""Ways to log in that docs/catalog.md shows, on a server that lets nobody in otherwise; the catalog holds no secret."""

from __future__ import annotations

import asyncio
import getpass
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from pgparley.cluster import Cluster
from schema_catalog.dsn import password_of
from schema_catalog.logins import login_for, make_login
from schema_catalog.types import EVERYONE, Database
from tests.conftest import Postgres
from tests.support.statements import execute, fetch

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
