"""`pgparley catalog login` and `logout` as a DBA runs them, and the logins that come of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from pgparley.catalog_commands import catalog_app
from pgparley.cluster import Cluster
from schema_catalog.logins import login_for
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database
from tests.conftest import COPY
from tests.support.commands import Run, runner
from tests.support.statements import execute_now, fetch_now

ODD = 'Bob "B@/:%ü'
"""A role whose name is a trap for whoever writes connection strings."""


@pytest.fixture
def run(server: Cluster, empty_store: str) -> Iterator[Run]:
    """Runs a command on a store of its own, in which `shop` is registered by the role `pgparley`."""
    odd = ODD.replace('"', '""')
    roles = f'pgparley, ana, ana_ro, boss, "{odd}"'
    execute_now(
        server.dsn(),
        f"CREATE DATABASE store TEMPLATE {empty_store} {COPY}",
        "CREATE DATABASE shop",
        "CREATE ROLE pgparley LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE ana_ro LOGIN PASSWORD 'hunter2'",
        "CREATE ROLE boss LOGIN SUPERUSER",
        f'CREATE ROLE "{odd}" LOGIN',
    )
    go = runner(catalog_app(lambda: server.dsn("store")))
    assert go("add", "shop", "--dsn", server.dsn("shop", "pgparley")).exit_code == 0
    yield go
    execute_now(
        server.dsn(),
        "DROP DATABASE store WITH (FORCE)",
        "DROP DATABASE shop WITH (FORCE)",
        f"DROP ROLE {roles}",
    )


def stored(server: Cluster) -> Database:
    """`shop` as the store has it."""

    async def go() -> Database:
        async with asyncpg.create_pool(server.dsn("store"), min_size=1, max_size=1) as pool:
            return (await CatalogStore(pool).get("shop")).database

    return asyncio.run(go())


def who(server: Cluster, asker: str) -> tuple[str, str]:
    """The role and the database that statements of `asker` would have."""
    dsn = login_for(stored(server), asker)
    assert dsn is not None
    rows = fetch_now(dsn, "SELECT session_user::text, current_database()::text")
    return (rows[0][0], rows[0][1])


def test_a_login_from_its_start_to_its_end(run: Run, server: Cluster) -> None:
    assert login_for(stored(server), "ana") is None
    given = run("login", "shop", "ana")
    assert (given.exit_code, given.output) == (0, "shop: ana logs in as ana; the login works\n")
    assert who(server, "ana") == ("ana", "shop")
    assert login_for(stored(server), "bob") is None
    changed = run("login", "shop", "ana", "--dsn", f"{server.dsn('shop', 'ana_ro')}&password=hunter2")
    assert changed.output == "shop: ana logs in as ana_ro; the login works\n"
    assert who(server, "ana") == ("ana_ro", "shop")
    taken = run("logout", "shop", "ana")
    assert (taken.exit_code, "ana has no login any more" in taken.output) == (0, True)
    assert login_for(stored(server), "ana") is None
    again = run("logout", "shop", "ana")
    assert again.exit_code == 1
    assert '"ana" has no login of its own in "shop"' in again.output
    assert "catalog list" in again.output


def test_everyone_logs_in_under_their_own_name(run: Run, server: Cluster) -> None:
    given = run("login", "shop", "*")
    assert given.exit_code == 0
    assert "every other asker logs in under their own name" in given.output
    assert "is tried when one of them asks" in given.output
    for asker in ("ana", ODD):
        assert who(server, asker) == (asker, "shop")
    run("login", "shop", "ana", "--dsn", server.dsn("shop", "ana_ro"))
    assert who(server, "ana") == ("ana_ro", "shop")
    assert run("logout", "shop", "*").exit_code == 0
    assert login_for(stored(server), ODD) is None
    assert who(server, "ana") == ("ana_ro", "shop")


def test_a_login_that_does_not_work_is_not_registered(run: Run, server: Cluster) -> None:
    dsn = f"postgresql://nobody:hunter2@/shop?host={server.socket_dir}&port={server.port}"
    refused = run("login", "shop", "ana", "--dsn", dsn)
    assert refused.exit_code == 1
    assert 'role "nobody" does not exist; nothing was registered' in refused.output
    assert "--no-try" in refused.output
    assert "hunter2" not in refused.output
    assert stored(server).logins == ()
    trusted = run("login", "shop", "ana", "--dsn", dsn, "--no-try")
    assert (trusted.exit_code, trusted.output) == (
        0,
        "shop: ana logs in as nobody; the login was not tried\n",
    )


def test_a_login_to_another_database_is_not_registered(run: Run, server: Cluster) -> None:
    elsewhere = run("login", "shop", "ana", "--dsn", server.dsn("store", "ana"))
    assert elsewhere.exit_code == 1
    assert 'leads to another database than the registered "shop"' in elsewhere.output
    assert stored(server).logins == ()


def test_wrong_requests_are_refused(run: Run) -> None:
    for database, asker, said in (
        ("nowhere", "ana", '"nowhere" is not registered'),
        ("shop", "", "the name of a role"),
    ):
        result = run("login", database, asker)
        assert (result.exit_code, said in result.output) == (1, True)


def test_the_catalog_s_own_login_and_a_superuser_s_are_warned_of(run: Run, server: Cluster) -> None:
    own = run("login", "shop", "ana", "--dsn", server.dsn("shop", "pgparley"))
    assert own.exit_code == 0
    assert "warning: pgparley is the role that the catalog itself connects with" in own.stderr
    boss = run("login", "shop", "boss")
    assert boss.exit_code == 0
    assert "warning: boss is a superuser there" in boss.stderr
    assert [login.asker for login in stored(server).logins] == ["ana", "boss"]


def test_logins_are_shown_without_passwords(run: Run, server: Cluster) -> None:
    run("login", "shop", "*")
    run("login", "shop", "ana", "--dsn", f"{server.dsn('shop', 'ana_ro')}&password=hunter2")
    listed = run("list")
    assert "*, ana" in listed.output
    entry = json.loads(run("list", "--json").output)[0]
    assert [(login["asker"], login["user"]) for login in entry["logins"]] == [("*", None), ("ana", "ana_ro")]
    assert "password=***" in entry["logins"][1]["dsn"]
    assert "hunter2" not in listed.output + json.dumps(entry)


def test_secrets_by_reference(
    run: Run, server: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the catalog need not hold: a service is read where the driver connects."""
    services = tmp_path / "services.conf"
    services.write_text(f"[shop]\nhost={server.socket_dir}\nport={server.port}\ndbname=store\n", "utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert run("login", "shop", "ana", "--dsn", "service=shop user=ana_ro").exit_code == 0
    assert who(server, "ana") == ("ana_ro", "shop")
    assert str(server.socket_dir) not in stored(server).logins[0].dsn


def test_the_identity_is_read_and_a_change_is_said(run: Run, server: Cluster) -> None:
    before = stored(server).identity
    rows = fetch_now(
        server.dsn("shop"),
        "SELECT (SELECT system_identifier FROM pg_control_system()) || '/' || oid FROM pg_database"
        " WHERE datname = 'shop'",
    )
    assert before == rows[0][0]
    assert json.loads(run("list", "--json").output)[0]["identity"] == before
    assert "not the database that it was" not in run("refresh", "shop").output
    execute_now(server.dsn("store"), "UPDATE pgparley.database SET identity = '1/1'")
    moved = run("refresh", "shop")
    assert (moved.exit_code, "not the database that it was" in moved.output) == (0, True)
    assert stored(server).identity == before


def test_a_password_that_may_go_in_the_clear_is_warned_of(run: Run, server: Cluster) -> None:
    dsn = "postgresql://ana_ro:hunter2@db.example/shop"
    warned = run("login", "shop", "ana", "--dsn", dsn, "--no-try")
    assert warned.exit_code == 0
    assert "the password may cross the network unencrypted" in warned.output
    assert "hunter2" not in warned.output
    quiet = run("login", "shop", "ana", "--dsn", f"{dsn}?sslmode=verify-full", "--no-try")
    assert "unencrypted" not in quiet.output


def test_a_login_that_no_grant_bounds_is_warned_of(run: Run, server: Cluster) -> None:
    everything = "pg_read_all_data"
    for given, taken, why in (
        ("ALTER ROLE ana_ro BYPASSRLS", "ALTER ROLE ana_ro NOBYPASSRLS", "passes by row security"),
        (f"GRANT {everything} TO ana_ro", f"REVOKE {everything} FROM ana_ro", f"is a member of {everything}"),
    ):
        execute_now(server.dsn(), given)
        warned = run("login", "shop", "ana", "--dsn", server.dsn("shop", "ana_ro"))
        assert f"ana_ro {why} there: no privilege bounds" in " ".join(warned.output.split())
        execute_now(server.dsn(), taken)
        assert why not in run("login", "shop", "ana", "--dsn", server.dsn("shop", "ana_ro")).output
