"""`pgparley check` on servers that are well, and on what goes wrong with them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import asyncpg
import msgspec
import pytest
import structlog
from aiohttp import web
from aiohttp.test_utils import TestServer
from typer.testing import CliRunner

from engine.app.own_roles import warn_of_own_roles
from pgparley.catalog_commands import catalog_app
from pgparley.check import parts as model_checks
from pgparley.check.finding import Finding, Outcome, Report
from pgparley.check_command import check
from pgparley.cluster import Cluster
from pgparley.config import load
from pgparley.processes import PartKind
from pgparley_local.model_file import QWEN_CODER_1_5B
from schema_catalog.login_rights import store_rights
from schema_catalog.migrate import bundled, migrate
from schema_catalog.refresh import ConnectSettings, refresh
from schema_catalog.store import CatalogStore
from schema_catalog.types import Database, Login, Snapshot
from tests.support.allowed_values import allow
from tests.support.providers import PROVIDERS, serve
from tests.support.statements import connected, execute, fetch

Check = Callable[..., Awaitable[dict[str, Finding]]]

PAGE = (Path(__file__).parents[3] / "docs" / "operations.md").read_text("utf-8")

HANDING_OVER = PAGE.partition("**A role for the store**")[2].partition("```sql\n")[2].partition("\\gexec")[0]
"""The query of the page whose rows are statements."""


@pytest.fixture
async def store(server: Cluster) -> AsyncIterator[str]:
    await execute(server.dsn(), "CREATE ROLE keeper LOGIN", "CREATE DATABASE kept OWNER keeper")
    yield server.dsn("kept", "keeper")
    await execute(server.dsn(), "DROP DATABASE kept WITH (FORCE)", "DROP ROLE keeper")


@pytest.fixture
def run(server: Cluster, store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs the command; gives the findings by what they are about, once the exit status has been compared.

    No engine that runs on this machine is the one that the configuration leaves out.
    """
    file = tmp_path / "pgparley.toml"

    alone = {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}

    async def go(part: PartKind | None = PartKind.ENGINE, **settings: str) -> dict[str, Finding]:
        text = settings.get("text") or (
            f'[gateway]\nupstream_host = "{settings.get("host", server.socket_dir)}"\n'
            f"upstream_port = {server.port}\n{settings.get('gateway', '')}"
            f'[engine]\nstore = "{settings.get("store", store)}"\n'
            f'[model]\nbase_url = "{settings.get("model", "http://127.0.0.1:1/v1")}"\n'
        )
        file.write_text(text, encoding="utf-8")
        status = await check(lambda: load(file, alone), file, part, as_json=True)
        report = msgspec.json.decode(capsys.readouterr().out, type=Report)
        assert status == (0 if report.working else 1)
        assert report.working == all(each.outcome is not Outcome.PROBLEM for each in report.findings)
        for finding in report.findings:
            assert bool(finding.action) == (finding.outcome is not Outcome.OK), finding
        return {finding.check: finding for finding in report.findings}

    return go


@pytest.fixture
async def models() -> AsyncIterator[TestServer]:
    """A model server that lists the default model to whoever has the default key."""

    async def listed(request: web.Request) -> web.Response:
        if request.headers["Authorization"] != "Bearer none":
            return web.Response(status=401)
        return web.json_response({"data": [{"id": "qwen2.5-coder-1.5b-instruct-q4_k_m"}]})

    app = web.Application()
    app.router.add_get("/v1/models", listed)
    async with TestServer(app) as running:
        yield running


async def migrated(store: str) -> None:
    """Applies the migrations as the store's own role."""
    async with connected(store) as connection:
        await migrate(connection)


async def test_a_gateway_needs_its_server_and_works_without_an_engine(run: Check, tmp_path: Path) -> None:
    well = await run(PartKind.GATEWAY)
    found = [well[name].outcome for name in ("configuration", "logins", "server", "engine")]
    assert found == [*[Outcome.OK] * 3, Outcome.WARNING]
    assert "does not answer" in (await run(PartKind.GATEWAY, host=str(tmp_path)))["server"].found
    insisting = await run(PartKind.GATEWAY, gateway='server_tls_sslmode = "require"\n')
    assert "server_tls_sslmode insists" in insisting["server"].found
    without_rules = await run(PartKind.GATEWAY, gateway='auth_type = "hba"\n')
    assert without_rules["logins"].outcome is Outcome.PROBLEM


async def test_a_configuration_that_is_not_understood_is_a_finding(run: Check) -> None:
    found = await run(text="[gatewy]\n")
    assert list(found) == ["configuration"]
    assert 'did you mean "gateway"' in found["configuration"].found


async def test_a_store_from_nothing_to_a_registered_database(
    run: Check, store: str, server: Cluster, models: TestServer
) -> None:
    model = str(models.make_url("/v1"))
    assert (await run(store=store.replace("/kept", "/none")))["store"].outcome is Outcome.PROBLEM
    new = await run(model=model)
    assert new["migrations"].outcome is Outcome.WARNING
    assert bundled()[-1].name in new["migrations"].found
    assert "databases" not in new
    assert (new["store's role"].found, new["clock"].outcome) == ("keeper", Outcome.OK)
    await migrated(store)
    ready = await run(model=model)
    assert (ready["migrations"].outcome, ready["databases"].outcome) == (Outcome.OK, Outcome.WARNING)
    assert ready["model"].outcome is Outcome.OK
    super_store = await run(store=server.dsn("kept"), model=model)
    assert super_store["store's role"].outcome is Outcome.WARNING
    await execute(store, "INSERT INTO pgparley.migration (name, digest) VALUES ('9999_later.sql', '')")
    assert "upgrade pgparley" in (await run(model=model))["migrations"].found


async def test_a_store_whose_role_may_not_make_its_schema(run: Check, server: Cluster, store: str) -> None:
    await execute(server.dsn(), "ALTER DATABASE kept OWNER TO postgres")
    assert (await run())["migrations"].outcome is Outcome.PROBLEM


async def test_the_catalogs_role_and_the_logins_of_askers(run: Check, server: Cluster, store: str) -> None:
    await migrated(store)
    await execute(server.dsn(), "CREATE ROLE reader LOGIN", "CREATE ROLE asker LOGIN")
    try:
        logins = (("asker", "asker"), ("boss", "postgres"), ("same", "reader"), ("lost", "nobody"))
        async with asyncpg.create_pool(store, min_size=1, max_size=1) as pool:
            catalog = CatalogStore(pool)
            for name, role, identity in (
                ("plain", "reader", None),
                ("moved", "reader", "0/0"),
                ("dear", "postgres", None),
                ("gone", "nobody", None),
            ):
                dsn = server.dsn("postgres", role)
                await catalog.add(Database(name, dsn, "postgres", ("public",), identity=identity))
                await catalog.save_snapshot(Snapshot(name, ("public",), ()))
            for asker, role in logins:
                await catalog.add_login("plain", Login(asker, server.dsn("postgres", role)))
        found = await run()
        assert found["database plain"].found == "read as reader"
        assert "another database" in found["database moved"].found
        assert "is a superuser" in found["database dear"].found
        assert found["database gone"].outcome is Outcome.PROBLEM
        assert [found[f"login of {asker} in plain"].outcome for asker, _ in logins] == [
            Outcome.OK,
            Outcome.WARNING,
            Outcome.WARNING,
            Outcome.PROBLEM,
        ]
        await execute(server.dsn(), "GRANT asker TO reader")
        assert "is a member of asker" in (await run())["database plain"].found
    finally:
        await execute(server.dsn(), "DROP ROLE reader", "DROP ROLE asker")


async def test_an_extension_that_somebody_may_replace_is_told(
    run: Check, server: Cluster, store: str
) -> None:
    await migrated(store)
    owner, shop = "tinkerer", server.dsn("tinkered")
    await execute(server.dsn(), f"CREATE ROLE {owner}; CREATE ROLE reader LOGIN", "CREATE DATABASE tinkered")
    try:
        await execute(shop, f"CREATE SCHEMA kit AUTHORIZATION {owner}; CREATE EXTENSION citext SCHEMA kit")
        async with asyncpg.create_pool(store, min_size=1, max_size=1) as pool:
            dsn = server.dsn("tinkered", "reader")
            await CatalogStore(pool).add(Database("shop", dsn, "tinkered", ("public",)))
            await CatalogStore(pool).save_snapshot(Snapshot("shop", ("public",), ()))
        found = (await run())["database shop"]
        assert found.outcome is Outcome.WARNING
        assert "no question can use the extension citext" in found.found
        assert owner in found.found
        await execute(shop, "ALTER SCHEMA kit OWNER TO postgres")
        assert (await run())["database shop"].outcome is Outcome.OK
    finally:
        await execute(server.dsn(), "DROP DATABASE tinkered WITH (FORCE)")
        await execute(server.dsn(), f"DROP ROLE {owner}, reader")


async def test_a_superusers_place_is_taken_by_the_roles_that_are_named(
    run: Check, server: Cluster, store: str, tmp_path: Path
) -> None:
    """What the findings print is run as it stands, with the page that they name, and nothing is left to find."""
    by_superuser = server.dsn("kept")
    await migrated(by_superuser)
    await execute(by_superuser, "CREATE TABLE customer (city text, name text, pay int)")
    async with asyncpg.create_pool(by_superuser, min_size=1, max_size=1) as pool:
        await CatalogStore(pool).add(Database("shop", by_superuser, "kept", ("public",)))
        await refresh(CatalogStore(pool), (await CatalogStore(pool).get("shop")).database, ConnectSettings())
        await allow(pool, "shop", [("public", "customer", "name"), ("public", "customer", "city")])
        with structlog.testing.capture_logs() as logs:
            await warn_of_own_roles(pool, ConnectSettings())
    found = await run(store=by_superuser)
    catalog, own = found["database shop"], found["store's role"]
    assert (catalog.found, own.found) == (
        "the catalog's role postgres is a superuser",
        "postgres is a superuser",
    )
    assert [(line["of"], line["instead"]) for line in logs] == [
        ("store", own.action),
        ("shop", catalog.action),
    ]
    assert "GRANT SELECT (city, name) ON public.customer TO pgparley_catalog;" in catalog.action
    try:
        await execute(by_superuser, own.action, catalog.action)
        for (statement,) in await fetch(by_superuser, HANDING_OVER):
            await execute(by_superuser, statement)
        mine = server.dsn("kept", "pgparley")
        app = catalog_app(lambda: mine)
        done = await asyncio.to_thread(CliRunner().invoke, app, ["refresh", "shop"])
        assert (done.exit_code, "values: 0 of 2 columns" in done.output) == (0, True), done.output
        after = await run(store=mine)
        assert after["migrations"].outcome is Outcome.OK
        assert (after["store's role"].found, after["database shop"].found) == (
            "pgparley",
            "read as pgparley_catalog",
        )
    finally:
        await execute(by_superuser, "DROP OWNED BY pgparley, pgparley_catalog CASCADE")
        await execute(
            server.dsn(), "ALTER DATABASE kept OWNER TO keeper", "DROP ROLE pgparley, pgparley_catalog"
        )


_NL_ADMIN = "DO $$ BEGIN CREATE ROLE nl_admin; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
"""The server's other stores may have made it."""


@pytest.mark.parametrize(
    ("given", "may", "ends"),
    [
        ("ALTER ROLE reader CREATEROLE", "has CREATEROLE", "ALTER ROLE reader NOCREATEROLE;"),
        ("ALTER ROLE reader BYPASSRLS", "has BYPASSRLS", "ALTER ROLE reader NOBYPASSRLS;"),
        ("GRANT ana TO reader", "is a member of ana", "REVOKE ana FROM reader;"),
        ("GRANT askers TO ana, reader", "is a member of askers", "REVOKE askers FROM reader;"),
        (
            "GRANT pg_read_server_files TO reader",
            "is a member of pg_read_server_files",
            "REVOKE pg_read_server_files FROM reader;",
        ),
        (
            "GRANT pg_read_all_data TO askers; GRANT askers TO reader",
            "is a member of askers",
            "REVOKE askers FROM reader;",
        ),
        ("GRANT askers TO reader; GRANT pg_monitor TO reader", "", ""),
        ("GRANT nl_admin TO ana, reader", "", ""),
    ],
)
async def test_a_role_that_may_more_than_it_needs(server: Cluster, given: str, may: str, ends: str) -> None:
    await execute(
        server.dsn(), "CREATE ROLE reader LOGIN; CREATE ROLE ana LOGIN; CREATE ROLE askers", _NL_ADMIN
    )
    try:
        await execute(server.dsn(), given)
        async with connected(server.dsn("postgres", "reader")) as connection:
            rights = await store_rights(connection)
            assert (rights.beyond, rights.sql) == (may, ends)
            if ends:
                await execute(server.dsn(), ends)
            assert (await store_rights(connection)).beyond == ""
    finally:
        await execute(server.dsn(), "DROP ROLE reader, ana, askers")


async def test_a_model_server_that_is_not_there_or_refuses(run: Check, models: TestServer) -> None:
    assert (await run())["model"].outcome is Outcome.PROBLEM
    model = str(models.make_url("/v1"))
    refused = await run(model=f'{model}"\napi_key = "wrong')
    assert "answers 401" in refused["model"].found
    other = (await run(model=f'{model}"\nmodel = "other'))["model"]
    assert "does not list other" in other.found
    assert other.action == "Correct model in [model]. It lists: qwen2.5-coder-1.5b-instruct-q4_k_m."


async def test_what_a_model_server_can_do_is_found_out_once_and_kept(run: Check, store: str) -> None:
    await migrated(store)
    async with serve(PROVIDERS["groq"], lambda _: '{"answer": "yes"}') as service:
        named = f'{service.base_url}"\nmodel = "{service.model}"\napi_key = "{service.key}'
        name = f"model {service.model}"
        assert name not in await run(model=named), "nothing is known yet"
        assert not service.requests
        found = (await run(PartKind.MODEL, model=named))[name]
        asked = len(service.requests)
        kept = (await run(model=named))[name]
        assert "answers in JSON; grammar: none" in kept.found
        assert "context: 131072 tokens" in kept.found
        assert kept.found.endswith(found.found)
        assert "logprobs" in found.found
        assert 0 < asked <= 4
        assert len(service.requests) == asked, "what is kept is shown without a call"
        wrong = (await run(PartKind.MODEL, model=f"{named}-wrong"))[name]
        assert wrong.outcome is Outcome.PROBLEM
        assert "as api_key in [model]" in wrong.action
    absent = await run(PartKind.MODEL, model='http://127.0.0.1:9/v1"\napi_key_file = "/nowhere')
    assert "api_key_file cannot be read" in absent["configuration"].found


async def test_the_embedded_models_file_and_its_room(
    run: Check, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "models" / QWEN_CODER_1_5B.name
    text = f'[embedded_model]\npath = "{path}"\nprefixes = "{tmp_path}"\n'
    missing = await run(PartKind.MODEL, text=text)
    assert missing["model"].action == "Run: pgparley fetch-model"
    path.parent.mkdir()
    path.write_bytes(b"not a model")
    assert "never verified" in (await run(PartKind.MODEL, text=text))["model"].found
    monkeypatch.setattr(model_checks, "ROOM", 1 << 60)
    assert (await run(PartKind.MODEL, text=text))["disk of prefixes"].outcome is Outcome.WARNING
    assert (await run(PartKind.MODEL, text=text))["model's key"].outcome is Outcome.WARNING
    keyed = await run(PartKind.MODEL, text=f'{text}[model]\napi_key = "a key"\n')
    assert keyed["model's key"].outcome is Outcome.OK
