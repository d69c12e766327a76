"""Every client in every way that it has: plain SQL as from the server itself, NL answered."""

from __future__ import annotations

import pytest
from clients import Ends, agents, drivers, foreign, programs, psycopg3

CASES = {**programs.CASES, **psycopg3.CASES, **drivers.CASES, **foreign.CASES, **agents.CASES}


@pytest.mark.parametrize(
    ("client", "case"), [(client, case) for client, cases in CASES.items() for case in cases]
)
def test_client(client: str, case: str, ends: Ends) -> None:
    CASES[client][case](ends)
