"""Checks of the store: reachable, migrated, its role, its clock; then of the databases that it registers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator

import asyncpg

from pgparley.check.answers import check_answers
from pgparley.check.databases import check_databases
from pgparley.check.finding import Finding, ok, problem, said, warning
from pgparley.config import Config
from schema_catalog.dsn import DSNError, as_uri, redacted
from schema_catalog.login_rights import store_rights
from schema_catalog.migrate import MigrationError, rehearse
from schema_catalog.pg import Connection, Pool, store_pool
from schema_catalog.refresh import ConnectSettings
from schema_catalog.store_setup import DBA_ROLES, MAKE_DBA_ROLES, dba_roles_ready

SETTINGS = ConnectSettings(connect_timeout=5.0, query_timeout=30.0)

APART = 5.0
"""Seconds by which two clocks may differ: what was learned and what an answer is worth count in minutes and days."""


async def check_store(config: Config) -> AsyncIterator[Finding]:
    """The store, and where it can be used what is in it."""
    try:
        uri = as_uri(config.engine.store)
    except DSNError as error:
        yield problem("store", said(error), "Correct store in [engine].")
        return
    try:
        pool = await store_pool(
            uri, 1, timeout=SETTINGS.connect_timeout, command_timeout=SETTINGS.query_timeout, cached=0
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        action = "Start its server, create the database, or correct store in [engine]."
        yield problem("store", f"{redacted(uri)} cannot be reached: {said(error)}", action)
        return
    async with pool:
        async for finding in _inside(config, pool, redacted(uri)):
            yield finding


async def _inside(config: Config, pool: Pool, shown: str) -> AsyncIterator[Finding]:
    async with pool.acquire() as connection:
        yield ok("store", f"{shown} answers, PostgreSQL {connection.get_server_version().major}")
        yield await _role(connection)
        yield await _clock(connection)
        try:
            pending = await rehearse(connection)
        except MigrationError as error:
            action = "Install the version that this store belongs to, or restore the backup from before."
            yield problem("migrations", said(error), action)
            return
        except asyncpg.PostgresError as error:
            action = "The store's role has to own the schema pgparley, or to be allowed to create it."
            yield problem("migrations", said(error), action)
            return
        if not pending:
            yield ok("migrations", "the store is up to date")
    if pending:
        found = f"{len(pending)} to apply, up to {pending[-1]}; tried, and taken back"
        yield warning("migrations", found, "Back the store up, then run: pgparley store migrate")
        return
    async with pool.acquire() as connection:
        yield await _dba_roles(connection)
    async for finding in check_databases(pool, config.upstream, SETTINGS):
        yield finding
    async with pool.acquire() as connection:
        async for finding in check_answers(config, connection):
            yield finding


async def _role(connection: Connection) -> Finding:
    rights = await store_rights(connection)
    if rights.beyond:
        return warning("store's role", f"{rights.role} {rights.beyond}", rights.sql)
    return ok("store's role", rights.role)


async def _dba_roles(connection: Connection) -> Finding:
    if await dba_roles_ready(connection):
        return ok("roles of DBAs", ", ".join(DBA_ROLES))
    action = f"Run: pgparley store migrate; or, as a superuser in the store's database: {MAKE_DBA_ROLES}"
    return warning("roles of DBAs", f"{' or '.join(DBA_ROLES)} is not there, or without its rights", action)


async def _clock(connection: Connection) -> Finding:
    before = time.time()
    theirs = await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
    apart = abs(theirs - (before + time.time()) / 2)
    if apart > APART:
        action = "Let both machines take the time from the same servers (chrony, systemd-timesyncd)."
        return warning("clock", f"{apart:.0f} seconds apart from the store's", action)
    return ok("clock", f"{apart:.1f} seconds apart from the store's")
