"""psql, pg_dump and pg_restore, pgbench."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

from clients.ends import DATABASE, USER, Case, Ends, run, same

PLAIN = r"""
SELECT 1 AS a, 'x' AS b, NULL AS c \gx
\d pg_class
\dt pg_catalog.pg_c*
SELEC 1;
SELECT 1/0;
\set FETCH_COUNT 7
SELECT g, repeat('x', g) FROM generate_series(1, 50) g;
BEGIN; SELECT * FROM missing; SELECT 1; ROLLBACK;
SELECT 'a' AS one \; SELECT 'b' AS two;
CREATE TEMP TABLE copied (a int, b text);
\copy copied FROM STDIN
1	NL: x
2	\N
\.
\copy (TABLE copied) TO STDOUT
SELECT $1 AS x \bind 5 \g
\echo :ROW_COUNT :SQLSTATE
"""


def _psql(program: str | None, **more: str) -> dict[str, Case]:
    """The cases of a psql; None is the one of the server's version."""

    def script(ends: Ends, text: str, *words: str, port: int | None = None) -> tuple[str, str, int]:
        done = run(program or str(ends.bindir / "psql"), "-X", *words, ends.dsn(port, **more), stdin=text)
        return done.stdout, done.stderr, done.returncode

    def answered(ends: Ends, text: str, *expected: str) -> None:
        out, err, code = script(ends, text, "-A", "-v", "ON_ERROR_STOP=1")
        assert code == 0, err
        for line in expected:
            assert line in out

    def plain(ends: Ends) -> None:
        same(script(ends, PLAIN, "-a"), script(ends, PLAIN, "-a", port=ends.direct))

    def error(ends: Ends) -> None:
        _, err, _ = script(
            ends, "NL: no route;\nNL:;\nDECLARE c CURSOR FOR NL: x;\nBEGIN;\nNL:;\nNL: x;\nROLLBACK;\n"
        )
        assert "ERROR:  no database can answer this\nDETAIL:  None matched.\nHINT:  Try another." in err
        assert "NL cannot stand inside of another statement" in err
        assert "current transaction is aborted" in err

    def cancel(ends: Ends) -> None:
        words = [program or str(ends.bindir / "psql"), "-X", "-A", "-t", ends.dsn(**more)]
        words += ["-c", "SELECT pg_sleep(60)", "-c", "SELECT 'after'"]
        psql = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # noqa: S603
        sleeping = "SELECT count(*) > 0 FROM pg_stat_activity WHERE state = 'active' AND query = 'SELECT pg_sleep(60)'"
        with psycopg.connect(ends.dsn(ends.direct), autocommit=True) as admin:
            while not (admin.execute(sleeping).fetchone() or (False,))[0]:
                assert psql.poll() is None
        psql.send_signal(signal.SIGINT)
        out, err = psql.communicate(timeout=20)
        assert "canceling statement due to user request" in err
        assert out in ("", "after\n")

    def large_objects(ends: Ends) -> None:
        with tempfile.TemporaryDirectory() as folder:
            one, two = Path(folder) / "one", Path(folder) / "two"
            one.write_bytes(bytes(range(256)) * 5000)
            answered(
                ends, f"\\lo_import {one}\n\\lo_export :LASTOID {two}\n\\lo_unlink :LASTOID\n", "lo_unlink"
            )
            assert one.read_bytes() == two.read_bytes()

    return {
        "cancel": cancel,
        "function call": large_objects,
        "plain SQL": plain,
        "question": lambda ends: answered(
            ends,
            "nl: $$what's; up$$;\nNL: what's up;",
            *("1|candidate|sales|0.75|", "|what's; up|", "|what's up|"),
        ),
        "follow-up": lambda ends: answered(
            ends,
            "NL: x;\nNL CHOOSE 1;\nNL SHOW 1;\nNL WHY;\nNL MORE;\nNL RUN $$single$$;\nNL HELP;\n"
            "SELECT sum(a) AS s FROM nl.run('q1', 1);\n"
            "NL: which name;\nNL ANSWER 2;\nNL ANSWER $$it's; both$$ OF 'q7';\nNL NONE $$old$$;\n",
            "a|b\n1|1\n2|2\n3|3\n",
            "3|option|||Which name is meant?",
            "|second option 2|",
            "|second it's; both|",
            "route|chosen|it's sales|0.25",
            "s\n6\n",
        ),
        "describe": lambda ends: answered(
            ends, "NL: x \\gdesc\nNL CHOOSE 1 OF 'q1' \\gdesc\n", "confidence|double precision"
        ),
        "transaction": lambda ends: answered(
            ends,
            "BEGIN;NL: x;CREATE TEMP TABLE k AS SELECT * FROM nl.ask('x');COMMIT;\nSELECT count(*) FROM k;",
            "2\n(1 row)",
        ),
        "error": error,
        "cursor": lambda ends: answered(
            ends,
            "\\set FETCH_COUNT 1\nSELECT n FROM nl.ask('x');\nNL: x;\n",
            "n\n1\n2\n(2 rows)",
            "1|candidate",
        ),
        "batch": lambda ends: answered(ends, "SELECT 1 AS a\\; NL: x\\; SELECT 3 AS b;\n", "b\n3\n"),
        "notices": lambda ends: answered(ends, "SET nl.output = notices;\nNL: x;\n", "(0 rows)"),
    }


def _dump(ends: Ends) -> None:
    _prepared(ends)
    words = ["--restrict-key=same", "-h", "127.0.0.1", "-U", USER]
    texts = [
        run(str(ends.bindir / "pg_dump"), *words, "-p", str(port), DATABASE)
        for port in (ends.gateway, ends.direct)
    ]
    assert texts[0].returncode == 0, texts[0].stderr
    same(texts[0].stdout, texts[1].stdout)


def _restore(ends: Ends) -> None:
    _prepared(ends)
    at = ["-h", "127.0.0.1", "-p", str(ends.gateway), "-U", USER]
    with tempfile.TemporaryDirectory() as folder:
        for program, *words in (
            ("pg_dump", *("-F", "d", "-j", "2", "-f", f"{folder}/d", "-n", "compat"), *at, DATABASE),
            ("psql", "-X", "-c", "DROP SCHEMA compat CASCADE", ends.dsn()),
            ("pg_restore", *("-j", "2", "--exit-on-error"), *at, "-d", DATABASE, f"{folder}/d"),
        ):
            done = run(str(ends.bindir / program), *words)
            assert done.returncode == 0, done.stderr
    with psycopg.connect(ends.dsn(ends.direct)) as connection:
        assert connection.execute("SELECT count(*), sum(a) FROM compat.t").fetchall() == [(1000, 500500)]


def _base_backup(ends: Ends) -> None:
    with tempfile.TemporaryDirectory() as folder:
        words = ["-D", f"{folder}/backup", "-X", "stream", "-c", "fast", "-h", "127.0.0.1", "-U", "postgres"]
        done = run(str(ends.bindir / "pg_basebackup"), *words, "-p", str(ends.gateway))
        assert done.returncode == 0, done.stderr
        verified = run(str(ends.bindir / "pg_verifybackup"), f"{folder}/backup")
        assert "successfully verified" in verified.stdout, verified.stderr


def _prepared(ends: Ends) -> None:
    with psycopg.connect(ends.dsn(ends.direct), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS compat CASCADE; CREATE SCHEMA compat")
        connection.execute("CREATE TABLE compat.t (a int PRIMARY KEY, b text DEFAULT 'NL: x')")
        connection.execute("INSERT INTO compat.t SELECT g, 'é' FROM generate_series(1, 1000) g")
        connection.execute("SELECT lo_from_bytea(0, '\\x00ff')")
        connection.execute("CREATE VIEW compat.v AS SELECT count(*) FROM compat.t")


def _bench(mode: str) -> Case:
    def case(ends: Ends) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder) / "nl.sql"
            script.write_text("BEGIN;\nSELECT 1;\nSELECT n FROM nl.ask('x');\nEND;\n")
            words = ["-n", "-M", mode, "-c", "4", "-t", "20", "-f", str(script)]
            at = ["-h", "127.0.0.1", "-p", str(ends.gateway), "-U", USER]
            done = run(str(ends.bindir / "pgbench"), *words, *at, DATABASE)
        assert "number of failed transactions: 0" in done.stdout, done.stderr
        assert "actually processed: 80/80" in done.stdout

    return case


def _missing(name: str, package: str) -> Case:
    def case(_ends: Ends) -> None:
        pytest.skip(f"no {name} on this machine: install {package}")

    return case


_SYSTEM = shutil.which("psql")
CASES: dict[str, dict[str, Case]] = {
    "psql of the system": _psql(_SYSTEM) if _SYSTEM else {"question": _missing("psql", "postgresql-client")},
    "psql 18, protocol 3.2": _psql(None, max_protocol_version="3.2"),
    "pg_dump, pg_restore": {"plain SQL": _dump, "COPY": _restore},
    "pg_basebackup": {"replication": _base_backup},
    "pgbench": {f"nl.ask {mode}": _bench(mode) for mode in ("simple", "extended", "prepared")},
}
