"""compose.yaml as containers, with a store's password of any letters: two engines, of which one is killed."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from tests.containers.compose import started
from tests.containers.container import PASSWORD, Container, Site, eventually
from tests.unit.deploy.test_containers import COMPOSE, FOLDER, OURS, image_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4000)]

PARTS = ("gateway", "engine", "engine-2", "page")

QUESTION = "NL: $$Which tables are there?$$"


@pytest.fixture(scope="module")
def running(site: Site, images: dict[str, str]) -> dict[str, Container]:
    script = COMPOSE["services"]["postgres"]["volumes"][1].split(":")[1]
    postgres = site.postgres(["postgres", "model"], {script: FOLDER / "store.sh"})
    postgres.run("env", "PGHOST=/tmp", "sh", script)
    site.psql(5432, "postgres", "CREATE DATABASE shop")
    site.psql(5432, "shop", "CREATE TABLE orders (id int PRIMARY KEY, placed date)")
    given = dict.fromkeys(("POSTGRES_PASSWORD", "PGPARLEY_STORE_PASSWORD"), PASSWORD) | {
        "PGPARLEY_MODEL_API_KEY": "k"
    }
    made = {name: started(site, name, OURS[name], images[image_of(name)], given) for name in PARTS}
    for each in made.values():
        each.until_well(600)
    dsn = f"postgresql://postgres:{quote(PASSWORD, safe='')}@postgres/shop"
    made["engine"].run("pgparley", "catalog", "add", "shop", "--dsn", dsn)
    made["engine"].run("pgparley", "catalog", "login", "shop", "*")
    return made


def asked(site: Site) -> str:
    return site.psql(6432, "shop", QUESTION)


def test_a_question_is_answered(site: Site, running: dict[str, Container]) -> None:
    eventually(lambda: "orders" in asked(site))
    assert site.psql(6432, "shop", "SELECT 6 * 7").strip() == "42"
    shown = running["engine"].run("pgparley", "check", check=False) + "".join(
        each.log() for each in running.values()
    )
    for secret in (PASSWORD, quote(PASSWORD, safe="")):
        assert secret not in shown


@pytest.mark.parametrize(("name", "number"), [("engine", "SIGINT"), ("engine-2", "SIGTERM")])
def test_an_engine_ends_by_a_stop_signal_and_says_so(
    name: str, number: str, running: dict[str, Container]
) -> None:
    engine = running[name]
    engine.signal(number)
    # In the grace that compose gives it.
    assert engine.ended(30) == 0
    assert "engine stopping" in engine.log()
    assert not engine.healthy()
    engine.until_well(600)


@pytest.mark.parametrize("name", ["engine", "engine-2"])
def test_one_engine_is_killed_and_the_other_answers(
    name: str, site: Site, running: dict[str, Container]
) -> None:
    running[name].signal("SIGKILL")
    assert running[name].ended(9) == 137
    for _ in range(2):
        began = time.monotonic()
        assert "orders" in asked(site)
        assert time.monotonic() - began < 5.0
    # Its socket is still there, and its health check is not deceived by it.
    gateway = running["gateway"]
    gateway.run(
        "test", "-S", "/run/pgparley/" + ("engine-2.sock" if name == "engine-2" else "pgparley-10001.sock")
    )
    running[name].until_well(600)


def test_a_gateway_alone_has_no_problem(running: dict[str, Container]) -> None:
    found = running["gateway"].run("pgparley", "check", "gateway")
    assert "problem" not in found
