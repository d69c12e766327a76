"""Real clients are told of a statement that is expensive before it runs, and their transaction goes on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.values.role_limits import ChooseCost
from engine.values.settings import Limits
from tests.wire_fixtures import CURSORS, psql, refusal

from .conftest import House

ASK = "NL: $$name of each singer$$"
CROSS = "SELECT a.name FROM singer AS a CROSS JOIN singer AS b CROSS JOIN singer AS c"
OPEN = psycopg.pq.TransactionStatus.INTRANS
IDLE = psycopg.pq.TransactionStatus.IDLE
TOLD = "the statement is expensive, and was not run"
DRIVERS = sorted(Path.home().glob(".m2/repository/org/postgresql/postgresql/*/postgresql-*.jar"))

PROGRAM = """
import java.sql.*;

public class Bill {
    static void told(Statement s, String sql) throws SQLException {
        try {
            s.executeQuery(sql);
            System.out.println("ran");
        } catch (SQLException e) {
            System.out.println(e.getSQLState() + " " + e.getMessage().replace("\\n", " "));
        }
    }

    static int rows(Statement s, String sql) throws SQLException {
        int n = 0;
        try (ResultSet r = s.executeQuery(sql)) { while (r.next()) n++; }
        return n;
    }

    public static void main(String[] words) throws SQLException {
        try (Connection c = DriverManager.getConnection(words[0]); Statement s = c.createStatement()) {
            c.setAutoCommit(Boolean.parseBoolean(words[1]));
            rows(s, words[2]);
            if (!c.getAutoCommit()) s.executeUpdate("CREATE TEMP TABLE kept AS SELECT 1 AS n");
            for (int i = 0; i < 7; i++) told(s, "NL CHOOSE 1");
            if (!c.getAutoCommit()) System.out.println("kept " + rows(s, "TABLE kept"));
            System.out.println("rows " + rows(s, "NL CHOOSE 1 ANYWAY"));
            if (!c.getAutoCommit()) c.commit();
        }
    }
}
"""


@pytest.fixture(autouse=True)
def limited(house: House, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets limits of choosing; a cross join of three tables is above them."""

    def limit(**changes: Any) -> None:
        monkeypatch.setattr(house.service, "_limits", replace(before, **changes))

    before: Limits = house.service._limits
    limit(choose_cost=10_000.0)
    house.model.lines[:] = [CROSS]
    return limit


@pytest.mark.parametrize("protocol", CURSORS)
@pytest.mark.parametrize("own", [True, False])
def test_psycopg_is_told_and_its_transaction_goes_on(house: House, protocol: str, *, own: bool) -> None:
    """`own`: of the asker's, before the first statement for us; else one that is begun with it."""
    with house.connect(autocommit=False) as ana:
        ana.cursor_factory = CURSORS[protocol]
        if own:
            ana.execute("CREATE TEMP TABLE kept AS SELECT 1 AS n")
        ana.execute(ASK).fetchall()
        for statement in ("NL CHOOSE 1", "SELECT * FROM nl.run('{qid}', 1) AS t"):
            qid = ana.execute("NL HISTORY 1").fetchall()[0][1]
            error = refusal(ana, statement.format(qid=qid))
            assert (error.sqlstate, error.diag.message_primary) == ("NL006", TOLD)
            assert "up to 10,000 runs without being asked again" in (error.diag.message_detail or "")
            assert error.diag.message_hint == "NL CHOOSE 1 ANYWAY runs it; NL PLAN 1 shows the plan."
            assert ana.info.transaction_status is OPEN
        assert len(ana.execute("NL CHOOSE 1 ANYWAY").fetchall()) == 8
        if own:
            assert ana.execute("TABLE kept").fetchall() == [(1,)]


def test_run_is_told_and_what_it_asked_can_be_chosen(house: House, limited: Callable[..., None]) -> None:
    limited(choose_cost=0.5)
    house.model.lines[:] = ["SELECT count(*) FROM singer"]
    with house.connect() as ana:
        assert refusal(ana, "NL RUN $$how many singers$$").sqlstate == "NL006"
        assert ana.info.transaction_status is IDLE
        assert len(ana.execute("NL CHOOSE 1 ANYWAY").fetchall()) == 1


def test_what_was_prepared_is_told_at_each_execution(house: House, limited: Callable[..., None]) -> None:
    with house.connect(autocommit=False) as ana:
        qid = ana.execute(ASK).fetchall()[0][7]
        limited(choose_cost=0.0)
        choose = f"NL CHOOSE 1 OF '{qid}'"
        for _ in range(2):
            assert len(ana.execute(choose, prepare=True).fetchall()) == 8
        limited(choose_cost=10_000.0)
        with pytest.raises(psycopg.Error) as error:
            ana.execute(choose, prepare=True)
        assert error.value.sqlstate == "NL006"
        assert ana.info.transaction_status is OPEN


def test_what_follows_in_the_same_pipeline_is_skipped(house: House) -> None:
    with house.connect(autocommit=False) as ana:
        ana.execute("CREATE TEMP TABLE kept (n int)")
        ana.execute(ASK).fetchall()
        with pytest.raises(psycopg.Error) as error, ana.pipeline():  # noqa: PT012 - the error comes with its end
            ana.execute("NL CHOOSE 1")
            ana.execute("INSERT INTO kept VALUES (1)")
        assert error.value.sqlstate == "NL006"
        assert ana.info.transaction_status is OPEN
        assert ana.execute("TABLE kept").fetchall() == []


def test_several_statements_of_a_message_end_as_with_any_error(house: House) -> None:
    with house.connect(autocommit=False) as ana:
        ana.execute(ASK).fetchall()
        assert refusal(ana, "SELECT 1; NL CHOOSE 1").sqlstate == "NL006"
        assert ana.info.transaction_status is psycopg.pq.TransactionStatus.INERROR


def test_psql_is_told(house: House) -> None:
    script = f"BEGIN;\nCREATE TEMP TABLE kept AS SELECT 1 AS n;\n{ASK};\nNL CHOOSE 1;\nTABLE kept;\n"
    done = psql(house.gateway.dsn("ana", "music"), script=f"{script}NL CHOOSE 1 ANYWAY;\nCOMMIT;\n")
    assert f"ERROR:  {TOLD}\nDETAIL:  The planner puts its cost at " in done.stderr
    assert "HINT:  NL CHOOSE 1 ANYWAY runs it; NL PLAN 1 shows the plan." in done.stderr
    assert done.stdout.splitlines()[-10:] == ["1", *["Joe"] * 4, *["Ann"] * 4, "COMMIT"]


@pytest.mark.skipif(not (DRIVERS and shutil.which("java")), reason="no Java or no pgjdbc: make compat")
@pytest.mark.parametrize("autocommit", ["true", "false"])
def test_pgjdbc_is_told(house: House, tmp_path: Path, autocommit: str) -> None:
    program = tmp_path / "Bill.java"
    program.write_text(PROGRAM)
    url = f"jdbc:postgresql://127.0.0.1:{house.gateway.port}/music?user=ana"
    words = ["java", "-cp", str(DRIVERS[-1]), str(program), url, autocommit, ASK]
    done = subprocess.run(  # noqa: S603 - the program above
        words, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stdout.splitlines() if line.startswith(f"NL006 ERROR: {TOLD}")]
    assert len(told) == 7
    assert "Hint: NL CHOOSE 1 ANYWAY runs it" in told[0]
    last = ["rows 8"] if autocommit == "true" else ["kept 1", "rows 8"]
    assert done.stdout.splitlines()[7:] == last


def test_the_plan_tells_it(house: House) -> None:
    with house.connect() as ana:
        told: list[str] = []
        ana.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
        ana.execute(ASK).fetchall()
        assert "cost=" in ana.execute("NL PLAN 1").fetchall()[0][0]
        assert any(line.startswith(TOLD) and "NL CHOOSE 1 ANYWAY" in line for line in told)


def test_limits_are_of_roles_and_databases_and_anyway_can_be_forbidden(
    house: House, limited: Callable[..., None]
) -> None:
    costs = (
        ChooseCost("music", "bob", 10_000.0, anyway=False),
        ChooseCost("pets", "*", 1.0),
        ChooseCost("*", "ana"),
    )
    limited(choose_costs=costs)
    with house.connect("ana") as ana:
        ana.execute(ASK).fetchall()
        assert len(ana.execute("NL CHOOSE 1").fetchall()) == 8
    with house.connect("bob") as bob:
        bob.execute(ASK).fetchall()
        error = refusal(bob, "NL CHOOSE 1 ANYWAY")
        assert (error.sqlstate, error.diag.message_hint) == (
            "NL006",
            "Ask for less; NL PLAN 1 shows the plan.",
        )
