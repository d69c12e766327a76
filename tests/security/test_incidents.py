"""Public incidents of products of this kind, by their numbers: what happened there does not happen here.

Owns the rows about the guard, the engine and the catalog; `docs/security.md` has them all, with what they were.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.guard import BUILT_IN, Refused, check
from engine.settings import GuardSettings
from pgparley.config import ConfigError, load
from schema_catalog.dsn import in_the_clear
from tests.security.arena import SECRET, VICTIM, Arena
from tests.security.engine_door import Door
from tests.security.servers import VERSIONS, marks

_ENDS = (
    "COMMIT",
    "COMMIT AND CHAIN",
    "ROLLBACK",
    "END",
    "ABORT",
    "PREPARE TRANSACTION 'x'",
    "SET TRANSACTION READ WRITE",
    "START TRANSACTION READ WRITE",
)

REFUSED = {
    "mcp-server-postgres: stacked COMMIT": tuple(
        f"SELECT 1; {end}; DROP SCHEMA public CASCADE" for end in _ENDS
    ),
    "CVE-2026-12045 stacked COMMIT, COPY TO PROGRAM": (
        *(f"SELECT 1; {end}; COPY (SELECT 1) TO PROGRAM 'id'" for end in _ENDS),
        *(f"{end}" for end in _ENDS),
    ),
    "CVE-2026-17351 another lexer than the server's": (
        r"SELECT '\'; COMMIT; DROP TABLE b.secrets; --'",
        r"SELECT E'\''; COMMIT; --'",
        r"SELECT U&'\0027'; COMMIT; --",
        "SELECT $a$ $b$ $a$; COMMIT; -- $b$",
        "SELECT /* /* */ 1; */ 1; COMMIT",
        "SELECT 1\0; COMMIT",
        "SELECT 1\u00a0; COMMIT",
    ),
    "pgEdge PR 196: a comment first": ("/* x */ SELECT 1; DROP TABLE b.secrets", "-- x\nSELECT 1; COMMIT"),
    "CVE-2026-53556 files as a SELECT": (
        "SELECT pg_read_file('PG_VERSION')",
        "VALUES (pg_read_file('PG_VERSION'))",
        "SELECT 1 ORDER BY pg_ls_dir('.')",
        "SELECT lag(1, 1, length(pg_read_file('PG_VERSION'))) OVER ()",
        "SELECT f.pg_read_file FROM unnest(ARRAY['PG_VERSION']) AS f",
    ),
    "CVE-2026-85620 a function in FROM": (
        "SELECT * FROM pg_read_file('PG_VERSION')",
        "SELECT * FROM ROWS FROM (pg_ls_dir('.'), generate_series(1, 2)) AS r",
        "SELECT * FROM (VALUES (1)) v JOIN LATERAL pg_ls_dir('.') d ON true",
        "SELECT * FROM b.secrets TABLESAMPLE mine (1)",
        "SELECT * FROM XMLTABLE('/a' PASSING pg_read_file('PG_VERSION')::xml COLUMNS a text)",
        "SELECT * FROM JSON_TABLE(pg_read_file('PG_VERSION')::jsonb, '$' COLUMNS (a text PATH '$'))",
    ),
    "CVE-2026-87911 COPY PROGRAM behind other words": (
        "COPY (SELECT 1) TO PROGRAM 'id'",
        "EXPLAIN ANALYZE COPY (SELECT 1) TO PROGRAM 'id'",
        "WITH x AS (COPY b.secrets TO PROGRAM 'id') SELECT 1",
        "DO $$BEGIN EXECUTE 'COPY b.secrets TO PROGRAM ''id'''; END$$",
    ),
    "CVE-2026-33324 SQL that an injected prompt asks for": (
        "SELECT lo_import('/etc/passwd')",
        "CREATE FUNCTION x() RETURNS int LANGUAGE c AS 'libc', 'system'",
        "SELECT dblink_exec('host=x', 'DROP TABLE y')",
    ),
    "CVE-2026-23984 WITH that writes": (
        "WITH x AS (SELECT 1) UPDATE b.secrets SET secret = 'x'",
        "WITH x AS (DELETE FROM b.secrets RETURNING *) SELECT * FROM x",
        "SELECT * INTO stolen FROM b.secrets",
    ),
    "postgres-mcp-hardened: writes in READ ONLY": ("SELECT pg_import_system_collations('pg_catalog')",),
}


@pytest.mark.parametrize("incident", REFUSED)
def test_the_guard_refuses(incident: str) -> None:
    for version in VERSIONS:
        passed = [
            sql
            for sql in REFUSED[incident]
            if not isinstance(check(sql, replace(BUILT_IN, version=version)), Refused)
        ]
        assert passed == [], (incident, version)


@pytest.mark.parametrize(
    "server", [pytest.param(each, marks=marks(each)) for each in VERSIONS], indirect=True
)
async def test_nothing_of_it_reaches_the_server(arena: Arena, door: Door) -> None:
    for statements in REFUSED.values():
        for sql in statements:
            told = await door.all_of_it(VICTIM, sql)
            assert SECRET not in told, sql
            assert "Result(" not in told, sql
    assert await arena.admin.fetchval("SELECT secret FROM b.secrets") == SECRET
    assert await arena.admin.fetchval("SELECT to_regclass('public.stolen')") is None


@pytest.mark.parametrize(
    "text",
    [
        '[guard]\nfunction = ["public.f"]',
        '[guard]\nFunctions = ["public.f"]',
        '[guard]\nfunctions = ["f"]',
        '[guard]\nextensions = ["dblink"]',
        '[guard]\nextensions = ["Citext"]',
        '[guard.database.shop]\nfunctions = ["public.f"]',
        '[guard.databases.shop]\nfunction = ["public.f"]',
        "[guard.databases.shop]\ndatabases = {}",
        '[gaurd]\nfunctions = ["public.f"]',
    ],
)
def test_cve_2026_130595_another_spelling_of_a_setting_is_an_error(text: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError):
        load(file, {})


def test_cve_2026_130595_what_is_allowed_in_one_database_is_refused_under_another_spelling() -> None:
    guard = GuardSettings(databases={"shop": GuardSettings(functions=("public.f",))})
    assert guard.of("shop").functions == ("public.f",)
    assert [guard.of(name).functions for name in ("Shop", "shop ", "postgresql", "")] == [()] * 4


@pytest.mark.parametrize(
    ("dsn", "clear"),
    [
        ("postgresql://u:p@db.example/x", True),
        ("postgresql://u:p@db.example/x?sslmode=prefer", True),
        ("postgresql://u:p@db.example/x?sslmode=disable", True),
        ("postgresql://u:p@db.example/x?sslmode=require", False),
        ("postgresql://u:p@db.example/x?sslmode=verify-full", False),
        ("postgresql://u:p@127.0.0.1/x", False),
        ("postgresql:///x?host=/run/postgresql", False),
        ("postgresql:///x?host=db.example", True),
    ],
)
def test_postgres_mcp_hardened_a_downgrade_to_plain_text_is_warned_of(dsn: str, *, clear: bool) -> None:
    assert in_the_clear(dsn) is clear
