"""NL statements are translated in place: what goes upstream, what the client sees."""

from __future__ import annotations

from typing import Any

import pytest

from engine.values.messages import Asker, AskRequest, ErrorReply, RowSet
from proxy.protocol import codec
from proxy.protocol.commands import AbortConsult, StatementFailed, StatementSeen
from tests.support.messages import text_of, token_of

ANN = Asker("ann", "sales")
NO_ROUTE = ErrorReply("NL003", "no database fits", "None.", "Ask otherwise.")


def test_question_is_replaced_by_its_answer(session: Any, say: Any) -> None:
    session.client(say.query("/* hello */ nl: how many singers?;"))
    assert session.to_server == b""
    assert session.consulted == [AskRequest(ANN, "how many singers?")]
    session.engine(say.answer("it's $nl0$"))
    sql = text_of(session.to_server)
    assert sql.startswith('/* hello */ SELECT "n", "kind", "database"')
    assert '$nl1$[{"n":1,"kind":"candidate"' in sql
    assert sql.endswith(";")
    assert StatementSeen("question") in session.commands


def test_only_the_nl_statement_is_replaced(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN;NL: a;SELECT ';NL: b' ; NL: c"))
    session.engine(say.answer())
    assert session.to_server == b""
    session.engine(say.answer())
    parts = text_of(session.to_server).split(";")
    assert (parts[0], parts[2], parts[3]) == ("BEGIN", "SELECT '", "NL: b' ")
    assert session.questions == ["a", "c"]


def test_later_bytes_wait_and_earlier_ones_do_not(session: Any, say: Any) -> None:
    session.client(say.query("SELECT 1"), say.query("NL: a"), say.query("SELECT 2"))
    assert session.to_server == say.query("SELECT 1")
    session.server(say.done(), say.ready())
    assert session.to_client == say.done() + say.ready()
    session.engine(say.answer())
    assert session.to_server.startswith(say.query("SELECT 1"))
    assert session.to_server.endswith(say.query("SELECT 2"))


def test_backlog_asks_for_a_pause(session: Any, say: Any) -> None:
    session.client(say.query("NL: a"), say.query("x" * 70_000) if session.chunk > 2 else b"")
    assert session.session.backlogged is (session.chunk > 2)
    session.engine(say.answer())
    assert session.session.backlogged is False


@pytest.mark.parametrize("status", ["I", "T"])
def test_server_raises_our_error(session: Any, say: Any, status: str) -> None:
    session.client(say.query("NL: x")).engine(NO_ROUTE)
    token = token_of(session.to_server)
    assert text_of(session.to_server) == f"SELECT '{token}'::pg_catalog.int4"
    session.server(say.error("22P02", f'Eingabe falsch: "{token}"'), say.ready(status))
    assert session.to_client == codec.encode_error(NO_ROUTE, "utf-8") + say.ready(status)
    assert StatementFailed(NO_ROUTE) in session.commands


def test_other_errors_stay_the_servers(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(NO_ROUTE)
    told = say.error("57014", "canceling statement due to statement timeout") + say.ready()
    session.server(told)
    assert session.to_client == told


def test_failed_transaction_needs_no_engine(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("E")).forget()
    session.client(say.query("NL: x"))
    assert session.consulted == []
    assert "$nl0$[]$nl0$" in text_of(session.to_server)
    session.client(say.query("ROLLBACK; NL: x"))
    assert len(session.consulted) == 1


def test_rollback_under_way_may_have_ended_the_failed_transaction(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("E"))
    session.client(say.parse("ROLLBACK"), say.bind(), say.execute, say.sync, say.query("NL: x"))
    assert session.questions == ["x"]


def test_help_ends_with_what_can_be_asked_here(session: Any, say: Any) -> None:
    session.client(say.query("NL HELP"))
    session.engine(RowSet((("NL: $$how many orders?$$", "a question"),)))
    shown = text_of(session.to_server)
    assert 0 < shown.index("NL CHOOSE n [OF 'qid']") < shown.index("how many orders?")


def test_without_the_engine_help_is_the_list_of_statements(session: Any, say: Any) -> None:
    session.client(say.query("NL HELP"))
    session.engine(ErrorReply("58000", "the engine does not answer"))
    assert "NL CHOOSE n [OF 'qid']" in text_of(session.to_server)
    assert "58000" not in text_of(session.to_server)


@pytest.mark.parametrize("text", ["NL: x", "NL ANSWER $$x$$ OF q1"])
def test_cancel_of_the_wait(session: Any, say: Any, text: str) -> None:
    session.client(say.query(text))
    assert isinstance(session.cancelled()[0], AbortConsult)
    token = token_of(session.to_server)
    session.server(say.error("22P02", f'bad: "{token}"'), say.ready())
    assert b"C57014\0" in session.to_client


def test_cancel_of_a_running_statement_is_the_servers(session: Any, say: Any) -> None:
    session.client(say.query("SELECT pg_sleep(9)"), say.query("NL: x"))
    assert session.session.cancelled() == (True, [])
    session.server(say.error("57014"), say.ready())
    assert session.session.cancelled()[0] is False


def test_progress_stands_between_messages_alone(session: Any, say: Any) -> None:
    assert session.session.progress(5.0) == []
    session.client(say.query("SELECT 1"), say.query("NL: x"))
    (told,) = session.session.progress(5.0)
    assert told.data.startswith(b"N")
    assert b"5 seconds so far" in told.data
    row = say.row(b"x" * 50)
    session.server(say.columns(), row[:20])
    assert session.session.progress(10.0) == []
    session.server(row[20:])
    assert len(session.session.progress(10.0)) == 1
    session.server(say.done(), say.ready()).engine(say.answer())
    assert session.session.progress(20.0) == []
