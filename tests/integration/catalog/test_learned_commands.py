"""`pgparley learned`: what a DBA sees and shares."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import asyncpg
import pytest
from typer.testing import CliRunner, Result

from engine.learning.store import AdapterTraining, LearningStore, NewExample
from engine.learning.types import ExampleKind, Vote
from engine.settings import LearningSettings
from pgparley.learned_commands import learned_app
from schema_catalog.types import Snapshot

Run = Callable[..., Result]
VOTE = Vote("name", ("public", "t", "stage"), ("public", "t", "name"), 1.0)


async def _teach(dsn: str) -> None:
    async with asyncpg.create_pool(dsn, min_size=1, max_size=1) as pool:
        store = LearningStore(pool, LearningSettings())
        for number, (user, kind, sql) in enumerate(
            [
                ("ana", ExampleKind.CHOSEN, "SELECT stage FROM t"),
                ("ana", ExampleKind.REJECTED, "SELECT 1 FROM t"),
                ("bob", ExampleKind.CORRECTED, "SELECT '\x1b[31m' FROM t"),
            ],
            1,
        ):
            votes = () if kind is ExampleKind.REJECTED else (VOTE,)
            await store.keep(
                [NewExample(user, "music", f"question {number}", sql, kind, f"q{number}", votes)]
            )
        await store.keep_adapter(AdapterTraining("", 30, b"\0" * 8, 0.4, 0.7, "used"))
        await store.keep_adapter(
            AdapterTraining("", 60, None, 0.7, 0.6, "dropped: 60% of the held-out votes")
        )
        await store.keep_adapter(AdapterTraining("ana", 30, b"\0" * 8, 0.5, 0.6, "used"))


async def _query(dsn: str, statement: str) -> Any:
    connection = await asyncpg.connect(dsn)
    try:
        return [tuple(row) for row in await connection.fetch(statement)]
    finally:
        await connection.close()


@pytest.fixture
def dsn(make_store_now: Callable[..., str]) -> str:
    made = make_store_now(Snapshot("music", ("public",), ()))
    asyncio.run(_teach(made))
    return made


@pytest.fixture
def run(dsn: str) -> Run:
    app = learned_app(lambda: dsn)

    def go(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})

    return go


def listed(run: Run, *options: str) -> list[int]:
    return [each["example"] for each in json.loads(run("list", "--json", *options).output)]


def test_list_and_show(run: Run) -> None:
    assert listed(run) == [3, 2, 1]
    assert listed(run, "--user", "ana") == [2, 1]
    assert listed(run, "--pending") == [3, 1]
    assert listed(run, "--db", "other") == []
    assert listed(run, "--limit", "1") == [3]
    table = run("list").output
    assert "question 1" in table
    assert "\x1b" not in table
    shown = run("show", "1").output
    assert '"name": public.t.stage rather than public.t.name' in shown
    assert "approved:  no" in shown
    assert run("show", "9").exit_code == 1


def test_approve_revoke_forget(run: Run, dsn: str) -> None:
    assert run("approve", "1", "3").exit_code == 0
    assert listed(run, "--pending") == []
    assert asyncio.run(_query(dsn, "SELECT generation FROM pgparley.learning_version")) == [("1/1",)]
    # What is shared by nobody's word, or does not exist, is refused whole.
    for wrong in (("approve", "2"), ("revoke", "1", "9"), ("forget", "1", "9")):
        result = run(*wrong)
        assert result.exit_code == 1
        assert "nothing was changed" in result.output
    assert listed(run, "--pending") == []
    assert run("revoke", "3").exit_code == 0
    assert listed(run, "--pending") == [3]
    assert run("forget", "1").exit_code == 0
    assert listed(run) == [3, 2]
    assert run("forget", "--user", "ana").output == "forgotten: 1\n"
    assert listed(run) == [3]
    assert (run("forget").exit_code, run("forget", "3", "--user", "bob").exit_code) == (2, 2)


def adapters(run: Run, *options: str) -> dict[int, bool]:
    return {each["version"]: each["used"] for each in json.loads(run("adapters", "--json", *options).output)}


def test_an_adapter_that_was_dropped_is_said_so_and_one_in_use_can_be_withdrawn(run: Run) -> None:
    assert adapters(run) == {1: True, 2: False, 3: True}
    assert "dropped: 60% of the held-out votes" in run("adapters").output
    assert adapters(run, "--withdraw", "3") == {1: True, 2: False, 3: False}
    assert "withdrawn" in run("adapters").output
    assert run("adapters", "--withdraw", "9").exit_code == 1


def test_an_adapter_goes_with_what_it_was_trained_on(run: Run) -> None:
    run("approve", "3")
    run("revoke", "3")
    # Revoked: everybody's adapters may have seen it; ana's may have as well.
    assert adapters(run) == {}


def test_forgetting_what_was_never_shared_leaves_everybodys_adapter(run: Run) -> None:
    run("forget", "--user", "bob")
    assert adapters(run) == {1: True, 2: False, 3: True}
    run("forget", "1")
    assert adapters(run) == {1: True, 2: False}


def test_an_empty_store_says_how_to_teach(run: Run) -> None:
    run("forget", "--user", "ana")
    run("forget", "--user", "bob")
    assert "NL CHOOSE" in run("list").output
