"""deploy/stubs.sql: the surface is visible, and bypassing the gateway is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

STUBS = Path(__file__).parents[3] / "deploy" / "stubs.sql"


def test_stubs(gateway: Any) -> None:
    with psycopg.connect(gateway.direct(), autocommit=True) as direct:
        for _ in range(2):
            direct.execute(STUBS.read_text("utf-8"))
        for call in ("nl.ask('x')", "nl.run('q1', 1) AS t (a int)"):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="bypasses") as error:
                direct.execute(f"SELECT * FROM {call}")
            assert "gateway" in str(error.value.diag.message_hint)
        with psycopg.connect(gateway.dsn(), autocommit=True) as through:
            assert len(through.execute("SELECT * FROM nl.ask('x')").fetchall()) == 2
            assert len(through.execute("SELECT * FROM nl.run('q1', 1) AS t").fetchall()) == 3
            functions = "SELECT proname::text FROM pg_proc WHERE pronamespace = 'nl'::regnamespace ORDER BY 1"
            assert through.execute(functions).fetchall() == [("ask",), ("run",)]
        direct.execute("DROP SCHEMA nl CASCADE")
