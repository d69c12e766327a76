"""psycopg 3, by the extended and by the simple query protocol, and with prepared statements."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from clients.ends import BAD, CHOSEN, PLAIN, Case, Ends, same


def _psycopg(**options: Any) -> dict[str, Case]:  # noqa: C901 - a case is a function
    def connect(ends: Ends, port: int | None = None) -> psycopg.Connection[Any]:
        return psycopg.connect(ends.dsn(port), autocommit=True, **options)

    def plain(ends: Ends) -> None:
        same(_plain(connect(ends)), _plain(connect(ends, ends.direct)))

    def question(ends: Ends) -> None:
        with connect(ends) as connection:
            for _ in range(7):
                assert [row[0] for row in connection.execute("NL: wie viele Sänger?").fetchall()] == [1, 2]

    def bound(ends: Ends) -> None:
        with connect(ends) as connection:
            for n in range(7):
                query = "SELECT explanation FROM nl.ask(%s) WHERE n = %s"
                assert connection.execute(query, (f"it's; {n}?", 2)).fetchall() == [(f"it's; {n}?",)]

    def follow_up(ends: Ends) -> None:
        with connect(ends) as connection:
            connection.execute("NL: x")
            assert connection.execute("NL CHOOSE 1").fetchall() == CHOSEN
            assert connection.execute("SELECT sum(a) FROM nl.run('q1', 1)").fetchall() == [(6,)]
            assert connection.execute("NL RUN $$single$$").fetchall() == CHOSEN
            assert connection.execute("NL WHY").fetchall()[0][0] == "route"
            assert [row[1] for row in connection.execute("NL: which name").fetchall()] == ["option"] * 3
            for n in range(7):
                answered = connection.execute("NL ANSWER 2 OF 'q7'").fetchall()
                assert (n, answered[0][4]) == (n, "second option 2")
            assert connection.execute("NL NONE $$it's old$$").fetchall()[0][1] == "option"

    def transaction(ends: Ends) -> None:
        with connect(ends) as connection:
            with connection.transaction(force_rollback=True):
                connection.execute("NL: x")
                connection.execute("CREATE TEMP TABLE kept AS SELECT * FROM nl.ask('x')")
            assert connection.execute("SELECT to_regclass('kept')").fetchall() == [(None,)]

    def error(ends: Ends) -> None:
        with connect(ends) as connection, pytest.raises(psycopg.Error) as caught:
            connection.execute("NL: no route")
        assert caught.value.sqlstate == "NL003"
        assert caught.value.diag.message_hint == "Try another."

    def copies(ends: Ends) -> None:
        with connect(ends) as connection:
            connection.execute("CREATE TEMP TABLE copied (a int, b text)")
            with connection.cursor().copy("COPY copied FROM STDIN") as copy:
                for n in range(1000):
                    copy.write_row((n, "NL: x"))
            with connection.cursor().copy("COPY copied TO STDOUT") as copy:
                assert sum(1 for _ in copy.rows()) == 1000

    def notices(ends: Ends) -> None:
        heard: list[str | None] = []
        with connect(ends) as connection:
            connection.add_notice_handler(lambda notice: heard.append(notice.message_primary))
            connection.execute("SET nl.output = 'both'")
            assert len(connection.execute("NL: x").fetchall()) == len(heard) == 2

    return {
        "plain SQL": plain,
        "question": question,
        "nl.ask bound": bound,
        "follow-up": follow_up,
        "transaction": transaction,
        "error": error,
        "COPY": copies,
        "notices": notices,
    }


def _plain(connection: psycopg.Connection[Any]) -> list[object]:
    extended = connection.cursor_factory is psycopg.Cursor
    found: list[object] = []
    with connection:
        for query in PLAIN:
            for binary in (False, True) if extended else (False,):
                cursor = connection.execute(query, binary=binary)
                found += [[(c.name, c.type_code) for c in cursor.description or ()], cursor.fetchall()]
        for query in BAD:
            with pytest.raises(psycopg.Error) as caught:
                connection.execute(query)
            found.append((caught.value.sqlstate, str(caught.value)))
    return found


def _pipeline(ends: Ends) -> None:
    with psycopg.connect(ends.dsn(), autocommit=True) as connection, connection.pipeline():
        queries = ("SELECT 1", "NL: a", "SELECT 2", "NL CHOOSE 1 OF 'q1'", "NL WHY OF 'q1'", "SELECT 3")
        cursors = [connection.execute(query) for query in queries]
        assert [len(cursor.fetchall()) for cursor in cursors] == [1, 2, 1, 3, 2, 1]


def _listen(ends: Ends) -> None:
    with psycopg.connect(ends.dsn(), autocommit=True) as connection:
        connection.execute("LISTEN news")
        with psycopg.connect(ends.dsn(), autocommit=True) as other:
            other.execute("NOTIFY news, 'NL: hello'")
        heard = next(connection.notifies(timeout=10, stop_after=1))
        assert (heard.channel, heard.payload) == ("news", "NL: hello")


def _server_cursor(ends: Ends) -> None:
    with psycopg.connect(ends.dsn()) as connection:
        with connection.cursor("c") as cursor:
            cursor.execute("SELECT n FROM nl.ask(%s)", ("x",))
            assert [cursor.fetchone(), cursor.fetchone(), cursor.fetchone()] == [(1,), (2,), None]
        with connection.cursor("d") as cursor, pytest.raises(psycopg.errors.FeatureNotSupported):
            cursor.execute("NL: x")


CASES: dict[str, dict[str, Case]] = {
    "psycopg 3, extended": _psycopg() | {"pipeline": _pipeline, "cursor": _server_cursor, "LISTEN": _listen},
    "psycopg 3, simple": _psycopg(cursor_factory=psycopg.ClientCursor),
    "psycopg 3, prepared": _psycopg(prepare_threshold=0),
}
