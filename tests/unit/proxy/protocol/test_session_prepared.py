"""NL statements of the extended query protocol: described without the engine, answered at Bind."""

from __future__ import annotations

from typing import Any

from engine.values.messages import Asker, AskRequest, ErrorReply, RowSet
from proxy.protocol import codec
from tests.support.messages import bound, parsed, token_of

ANN = Asker("ann", "sales")
NO_ROUTE = ErrorReply("NL003", "no database fits", "None.", "Ask otherwise.")


def test_parse_and_describe_need_no_engine(session: Any, say: Any) -> None:
    session.client(say.parse("NL: how many", "s"), say.describe("S", "s"), say.flush)
    assert session.consulted == []
    parse = parsed(session.to_server)
    assert b"json_to_recordset($1::pg_catalog.text::pg_catalog.json)" in parse.text
    assert parse.types == (25,)
    session.server(say.parsed, say.described(25), say.columns())
    assert session.to_client == say.parsed + say.described() + say.columns()


def test_bind_asks_and_carries_the_answer(session: Any, say: Any) -> None:
    session.client(say.parse("NL: how many", "s"), say.sync).server(say.parsed, say.ready()).forget()
    for _ in range(2):
        session.client(say.bind(name="s", portal="p"), say.execute, say.sync)
        assert session.to_server == b""
        session.engine(say.answer("ü"))
        bind = bound(session.to_server)
        assert (bind.portal, bind.statement, bind.results) == (b"p", b"s", b"\0\1\0\1")
        assert bind.parameters[0] is not None
        assert b'"explanation":"\xc3\xbc"' in bind.parameters[0]
        assert session.to_server.endswith(say.execute + say.sync)
        session.server(say.bound, say.done(), say.ready()).forget()
    assert len(session.consulted) == 2


def test_engine_error_at_bind_is_raised_by_the_server(session: Any, say: Any) -> None:
    session.client(say.parse("NL: x"), say.bind(), say.execute, say.sync).engine(NO_ROUTE)
    token = token_of(session.to_server)
    raised = say.error("26000", f"l'instruction préparée « {token} » n'existe pas")
    session.server(say.parsed, raised, say.ready())
    assert session.to_client == say.parsed + codec.encode_error(NO_ROUTE, "utf-8") + say.ready()


def test_bad_statement_fails_at_parse(session: Any, say: Any) -> None:
    session.client(say.parse("NL:", "s"), say.describe("S", "s"), say.sync)
    token = token_of(session.to_server)
    session.server(say.error("22P02", f'bad: "{token}"'), say.ready())
    assert b"C42601\0Mthe question is empty" in session.to_client


def test_unnamed_statement_is_redefined(session: Any, say: Any) -> None:
    session.client(say.parse("NL: x"), say.sync).server(say.parsed, say.ready())
    session.client(say.parse("SELECT 1"), say.bind(), say.sync)
    assert session.consulted == []
    session.client(say.bind(), say.sync)
    assert session.consulted == []


def test_failed_parse_leaves_the_former_statement(session: Any, say: Any) -> None:
    session.client(say.parse("NL: x", "s"), say.sync).server(say.error("42P05"), say.ready())
    session.client(say.bind(name="s"), say.sync)
    assert session.consulted == []


def test_skipped_redefinition_leaves_the_special_statement(session: Any, say: Any) -> None:
    session.client(say.parse("NL: x", "s"), say.sync).server(say.parsed, say.ready())
    session.client(say.parse("bad"), say.close("S", "s"), say.sync).server(say.error(), say.ready())
    session.client(say.bind(name="s"), say.sync)
    assert len(session.consulted) == 1


def test_pipeline_strips_the_right_description(session: Any, say: Any) -> None:
    session.client(say.parse("SELECT $1", "a"), say.describe("S", "a"), say.sync)
    session.client(say.parse("NL: x", "b"), say.describe("S", "a"), say.describe("S", "b"), say.sync)
    session.server(say.parsed, say.described(25), say.columns(), say.ready())
    session.server(
        say.parsed, say.described(25), say.columns(), say.described(25), say.columns(), say.ready()
    )
    first = say.parsed + say.described(25) + say.columns() + say.ready()
    second = say.parsed + say.described(25) + say.columns() + say.described() + say.columns() + say.ready()
    assert session.to_client == first + second


def test_description_skipped_by_an_error_is_not_waited_for(session: Any, say: Any) -> None:
    session.client(say.parse("bad"), say.parse("NL: x", "b"), say.describe("S", "b"), say.sync)
    session.client(say.parse("SELECT $1", "a"), say.describe("S", "a"), say.sync)
    session.server(say.error(), say.ready(), say.parsed, say.described(25), say.columns(), say.ready())
    assert session.to_client.endswith(say.parsed + say.described(25) + say.columns() + say.ready())


def test_call_with_parameter(session: Any, say: Any) -> None:
    session.client(say.parse("SELECT sql FROM nl.ask($2::text) LIMIT $1", types=(23, 1043)))
    assert b"json_to_recordset($2::pg_catalog.text::pg_catalog.json)" in session.to_server
    assert b") AS ask LIMIT $1" in session.to_server
    session.forget().client(say.bind(b"5", "wie viele Sänger".encode()), say.execute, say.sync)
    assert session.consulted == [AskRequest(ANN, "wie viele Sänger")]
    session.engine(say.answer())
    bind = bound(session.to_server)
    assert bind.parameters[0] == b"5"
    assert bind.parameters[1] is not None
    assert bind.parameters[1].startswith(b'[{"n":1')


def test_call_with_constant_hides_a_parameter_behind_the_clients(session: Any, say: Any) -> None:
    session.client(say.parse("SELECT * FROM nl.ask('how many') AS t WHERE n < $1"), say.describe(), say.flush)
    assert b"json_to_recordset($2::pg_catalog.text::pg_catalog.json)" in session.to_server
    assert b") AS t WHERE n < $1" in session.to_server
    session.server(say.parsed, say.described(23, 25), say.columns())
    assert session.to_client == say.parsed + say.described(23) + say.columns()
    session.forget().client(say.bind(b"9"))
    session.engine(say.answer())
    assert len(bound(session.to_server).parameters) == 2


def test_copy_in_ignores_sync(session: Any, say: Any) -> None:
    """Libpq sends Sync behind the Execute of a COPY, and again behind CopyDone."""
    session.client(say.parse("COPY t FROM STDIN"), say.bind(), say.execute, say.sync)
    session.server(say.parsed, say.bound, say.copy_in)
    session.client(say.copy_data(b"NL: x"), say.copy_done, say.sync)
    assert session.session.backend.replies.cycles_forwarded == 2
    session.server(say.done("COPY 1"), say.ready())
    assert session.session.backend.replies.waiting_for_server is False


def test_query_after_an_extended_error_is_skipped(session: Any, say: Any) -> None:
    session.client(say.parse("bad"), say.query("SELECT 1"), say.sync).server(say.error(), say.ready("I"))
    assert session.session.backend.replies.waiting_for_server is False


def test_table_is_one_hidden_parameter(session: Any, say: Any) -> None:
    session.client(say.parse("NL WHY OF 'q1'", "s"), say.describe("S", "s"), say.flush)
    assert session.consulted == []
    assert (
        b'SELECT "stage", "event", "detail", "score"'
        b" FROM pg_catalog.json_to_recordset($1::pg_catalog.text::pg_catalog.json)" in session.to_server
    )
    session.server(say.parsed, say.described(25), say.columns())
    assert session.to_client == say.parsed + say.described() + say.columns()
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    session.engine(RowSet((("route", "chosen", "it\0s", None),)))
    assert bound(session.to_server).parameters == (
        b'[{"stage":"route","event":"chosen","detail":"it\\ufffds","score":null}]',
    )


def test_notices_of_an_answer_go_with_its_bind(session: Any, say: Any) -> None:
    session.client(say.parse("NL (output both): x", "s"), say.bind(name="s"), say.execute, say.sync)
    session.engine(say.answer())
    session.server(say.parsed, say.bound)
    assert session.to_client.startswith(say.parsed + b"N")
    assert session.to_client.endswith(say.bound)
    assert b"M1. [sales 0.500] SELECT 1\0" in session.to_client
