"""Makes a running server ready for the demo: databases, their data, and roles that may do what they need."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import asyncpg
from rich.console import Console

from pgparley.cluster import SUPERUSER, Cluster
from pgparley.demo.loading import Sample
from pgparley.demo.samples import SAMPLES
from schema_catalog.login_rights import CATALOG_ROLE, STORE_ROLE
from schema_catalog.migrate import MigrationError, rehearse

ANALYST = "analyst"
"""The demo's login role: no superuser, reads all sample data, writes nothing."""

DBA = "dba"
"""The demo's role for the page: an nl_admin, who may become the analyst."""

STORE = "catalog"
"""The store's database: the gateway's console has the name pgparley."""

_ROLES = {ANALYST: "LOGIN", STORE_ROLE: "LOGIN", CATALOG_ROLE: "LOGIN", "nl_admin": "", "nl_steward": ""}

_SECONDS = 60.0


async def prepare(
    cluster: Cluster, console: Console, samples: Sequence[Sample] = SAMPLES
) -> tuple[tuple[str, str], ...]:
    """Creates and loads what is missing or old; (name, DSN of the catalog's role) of each. Raises `SampleError`."""
    await _create(cluster, samples)
    for sample in samples:
        with console.status(f"loading {sample.name}"):
            made = await sample.load(cluster.dsn(sample.name))
            await _grant(cluster.dsn(sample.name))
        console.print(f"{sample.name}: {'loaded' if made else 'already there'}")
    return tuple((sample.name, cluster.dsn(sample.name, CATALOG_ROLE)) for sample in samples)


async def _create(cluster: Cluster, samples: Sequence[Sample]) -> None:
    admin = await asyncpg.connect(cluster.dsn(), timeout=10, command_timeout=_SECONDS)
    try:
        roles = {row["rolname"] for row in await admin.fetch("SELECT rolname FROM pg_roles")}
        for role in _ROLES.keys() - roles:
            await admin.execute(f"CREATE ROLE {role} {_ROLES[role]}")
        databases = {row["datname"] for row in await admin.fetch("SELECT datname FROM pg_database")}
        if STORE in databases and await _of_another_version(cluster.dsn(STORE, STORE_ROLE)):
            await admin.execute(f"DROP DATABASE {STORE} WITH (FORCE)")
            databases.remove(STORE)
        owners = {STORE: STORE_ROLE, **{sample.name: SUPERUSER for sample in samples}}
        for name in owners.keys() - databases:
            await admin.execute(
                f"CREATE DATABASE \"{name}\" OWNER {owners[name]} TEMPLATE template0 ENCODING 'UTF8'"
            )
    finally:
        await admin.close()


async def let_dba_sign_in(cluster: Cluster) -> str:
    """Makes the DBA's role where it is missing, has the server ask for its password, and returns a new one."""
    password = secrets.token_urlsafe(9)
    hba, line = cluster.data_dir / "pg_hba.conf", f"local all {DBA} scram-sha-256\n"
    lines = hba.read_text(encoding="utf-8")
    if not lines.startswith(line):
        hba.write_text(line + lines, encoding="utf-8")
    admin = await asyncpg.connect(cluster.dsn(), timeout=10, command_timeout=_SECONDS)
    try:
        await admin.execute("SET password_encryption = 'scram-sha-256'")
        if not await admin.fetchval("SELECT to_regrole($1) IS NOT NULL", DBA):
            await admin.execute(f"CREATE ROLE {DBA} LOGIN")
        await admin.execute(
            f"ALTER ROLE {DBA} PASSWORD '{password}'; GRANT nl_admin, {ANALYST} TO {DBA}; SELECT pg_reload_conf()"
        )
    finally:
        await admin.close()
    return password


async def _of_another_version(store: str) -> bool:
    """Whether the store cannot be migrated to this version; the demo's holds nothing of anybody and is made anew."""
    connection = await asyncpg.connect(store, timeout=10, command_timeout=_SECONDS)
    try:
        await rehearse(connection)
    except MigrationError:
        return True
    finally:
        await connection.close()
    return False


async def _grant(dsn: str) -> None:
    connection = await asyncpg.connect(dsn, timeout=10, command_timeout=_SECONDS)
    try:
        await connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {ANALYST}, {CATALOG_ROLE}")
    finally:
        await connection.close()
