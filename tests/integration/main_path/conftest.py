"""Everything as `pgparley serve` runs it: a real server, the real model, the catalog, the engine, the gateway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Postgres, free_port
from tests.support.stack import Stack
from tests.support.statements import execute_now

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text NOT NULL, country text, age int);
CREATE TABLE concert (concert_id int PRIMARY KEY, title text, year int, singer_id int REFERENCES singer);
INSERT INTO singer VALUES (1, 'Joe', 'France', 52), (2, 'Ann', 'France', 32), (3, 'Tim', 'Japan', 41);
INSERT INTO concert VALUES (1, 'Opening', 2014, 1), (2, 'Summer', 2015, 1), (3, 'Home', 2015, 3);
"""

SHOP = """
CREATE TABLE product (product_id int PRIMARY KEY, name text, price numeric);
CREATE TABLE sale (sale_id int PRIMARY KEY, product_id int REFERENCES product, gross_sales numeric, net_sales numeric);
INSERT INTO product VALUES (1, 'lamp', 20), (2, 'chair', 80);
INSERT INTO sale VALUES (1, 1, 40, 36), (2, 2, 80, 70), (3, 2, 160, 140);
"""


@pytest.fixture(scope="session")
def model_port() -> int:
    """Where the embedded model listens that `pgparley serve` starts."""
    return free_port()


@pytest.fixture(scope="session")
def stack(model_port: int, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with postgres("stack") as cluster:
        execute_now(
            cluster.dsn(),
            *(f"CREATE ROLE {role} LOGIN" for role in ("analyst", "hidden")),
            *(f"CREATE DATABASE {name}" for name in ("music", "shop", "store")),
        )
        running = Stack(cluster, tmp_path_factory.mktemp("stack"), free_port())
        running.configure(model_port, nl_timeout=120.0)
        for name, script in (("music", MUSIC), ("shop", SHOP)):
            execute_now(cluster.dsn(name), script, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst")
            running.register(name)
        with running.serving():
            yield running
