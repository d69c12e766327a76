"""Everything as `pgparley serve` runs it: a real server, the real model, the catalog, the engine, the gateway."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from pgparley import cluster as postgres
from pgparley.cluster import Cluster
from tests.conftest import free_port
from tests.support.stack import Stack

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
def stack(model_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("stack")
    cluster = postgres.start(home / "postgres")
    try:
        _load(cluster)
        running = Stack(cluster, home, free_port())
        running.configure(model_url, nl_timeout=120.0)
        for name in ("music", "shop"):
            running.catalog("add", name, "--dsn", cluster.dsn(name))
            running.catalog("login", name, "*")
        with running.serving():
            yield running
    finally:
        postgres.stop(cluster)


def _load(cluster: Cluster) -> None:
    with psycopg.connect(cluster.dsn(), autocommit=True) as admin:
        admin.execute("CREATE ROLE analyst LOGIN")
        admin.execute("CREATE ROLE hidden LOGIN")
        for name in ("music", "shop", "store"):
            admin.execute(f"CREATE DATABASE {name}")
    for name, script in (("music", MUSIC), ("shop", SHOP)):
        with psycopg.connect(cluster.dsn(name), autocommit=True) as connection:
            connection.execute(script)
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst")
