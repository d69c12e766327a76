"""The guard's golden statements: what must pass, what must not and what the refusal has to say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.guard import Allowed, Reason, Refused, check

GOLDEN = Path(__file__).parents[3] / "golden" / "guard"


def blocks(name: str) -> list[str]:
    text = (GOLDEN / name).read_text("utf-8")
    return [block.strip() for block in re.split(r"\n{2,}", text)[1:]]


@pytest.mark.parametrize("sql", blocks("allowed.sql"))
def test_an_analytic_query_passes(sql: str) -> None:
    assert isinstance(check(sql), Allowed), check(sql)


@pytest.mark.parametrize("block", blocks("refused.sql"))
def test_everything_else_is_refused_and_says_what(block: str) -> None:
    header, sql = block.split("\n", 1)
    reason, named = header.removeprefix("-- ").split(":", 1)
    verdict = check(sql)
    assert isinstance(verdict, Refused)
    assert verdict.reason is Reason(reason)
    assert named.strip().lower() in verdict.detail.lower()


def test_there_are_enough_of_both() -> None:
    assert len(blocks("allowed.sql")) >= 80
    assert len(blocks("refused.sql")) >= 100
    seen = {Reason(block.split("\n")[0].removeprefix("-- ").split(":")[0]) for block in blocks("refused.sql")}
    made_elsewhere = {Reason.TOO_LONG, Reason.TOO_DEEP, Reason.TOO_MANY_RELATIONS}
    assert seen | made_elsewhere == set(Reason)
