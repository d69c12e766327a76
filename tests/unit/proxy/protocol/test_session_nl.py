"""NL statements are translated in place: what goes upstream, what the client sees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.types import (
    AnswerRow,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    ErrorReply,
    ResultColumn,
    RowKind,
    RowSet,
    ShowRequest,
)
from proxy.protocol import codec
from proxy.protocol.commands import AbortConsult, StatementFailed, StatementSeen

ANN = Asker("ann", "sales")
NO_ROUTE = ErrorReply("NL003", "no database fits", "None.", "Ask otherwise.")


def text_of(message: bytes) -> str:
    return codec.decode_query(message).decode()


def token_of(data: bytes) -> str:
    start = data.index(b"pgparley_error_")
    return data[start:].split(b"'", 1)[0].split(b"\0", 1)[0].decode()


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
    assert [request.question for request in session.consulted] == ["a", "c"]


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
    assert text_of(session.to_server) == f"SELECT '{token}'::int4"
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
    assert [request.question for request in session.consulted] == ["x"]


def test_parse_and_describe_need_no_engine(session: Any, say: Any) -> None:
    session.client(say.parse("NL: how many", "s"), say.describe("S", "s"), say.flush)
    assert session.consulted == []
    parse = codec.decode_parse(session.to_server[: 1 + int.from_bytes(session.to_server[1:5], "big")])
    assert parse is not None
    assert b"json_to_recordset($1::text::json)" in parse.text
    assert parse.types == (25,)
    session.server(say.parsed, say.described(25), say.columns())
    assert session.to_client == say.parsed + say.described() + say.columns()


def test_bind_asks_and_carries_the_answer(session: Any, say: Any) -> None:
    session.client(say.parse("NL: how many", "s"), say.sync).server(say.parsed, say.ready()).forget()
    for _ in range(2):
        session.client(say.bind(name="s", portal="p"), say.execute, say.sync)
        assert session.to_server == b""
        session.engine(say.answer("ü"))
        bind = codec.decode_bind(session.to_server[: 1 + int.from_bytes(session.to_server[1:5], "big")])
        assert bind is not None
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
    assert b"json_to_recordset($2::text::json)" in session.to_server
    assert b") AS ask LIMIT $1" in session.to_server
    session.forget().client(say.bind(b"5", "wie viele Sänger".encode()), say.execute, say.sync)
    assert session.consulted == [AskRequest(ANN, "wie viele Sänger")]
    session.engine(say.answer())
    bind = codec.decode_bind(session.to_server[: 1 + int.from_bytes(session.to_server[1:5], "big")])
    assert bind is not None
    assert bind.parameters[0] == b"5"
    assert bind.parameters[1] is not None
    assert bind.parameters[1].startswith(b'[{"n":1')


def test_call_with_constant_hides_a_parameter_behind_the_clients(session: Any, say: Any) -> None:
    session.client(say.parse("SELECT * FROM nl.ask('how many') AS t WHERE n < $1"), say.describe(), say.flush)
    assert b"json_to_recordset($2::text::json)" in session.to_server
    assert b") AS t WHERE n < $1" in session.to_server
    session.server(say.parsed, say.described(23, 25), say.columns())
    assert session.to_client == say.parsed + say.described(23) + say.columns()
    session.forget().client(say.bind(b"9"))
    session.engine(say.answer())
    bind = codec.decode_bind(session.to_server)
    assert bind is not None
    assert len(bind.parameters) == 2


def test_choose_needs_a_question_or_a_qid(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1"))
    assert session.consulted == []
    failed = [command.error.sqlstate for command in session.commands if isinstance(command, StatementFailed)]
    assert failed == ["NL004"]
    session.client(say.query("NL CHOOSE 2 OF 'q8'"))
    assert session.consulted == [ChooseRequest(ANN, "q8", 2)]


def test_choose_in_place_is_the_chosen_statement(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q5")).forget()
    session.client(say.parse("nl choose 1"))
    assert session.consulted[-1] == ChooseRequest(ANN, "q5", 1)
    session.engine(Chosen("sales", "SELECT name FROM singer;", in_place=True))
    parse = codec.decode_parse(session.to_server)
    assert parse is not None
    assert parse.text == b"SELECT name FROM singer"


def elsewhere(*, truncated: bool = False) -> Chosen:
    columns = (ResultColumn('a"b', "int4"), ResultColumn("x", "no; type"))
    return Chosen(
        "other", "SELECT 1", in_place=False, columns=columns, rows=(("1", None),), truncated=truncated
    )


def test_prepared_choice_goes_stale_with_the_next_question(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q5"))
    session.client(say.parse("NL CHOOSE 1", "s")).engine(Chosen("sales", "SELECT 1", in_place=True))
    session.forget().client(say.bind(name="s"))
    assert session.to_server == say.bind(name="s")
    session.client(say.sync, say.query("NL: y")).engine(say.answer(qid="q6"))
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    session.server(
        say.done(), say.ready(), say.parsed, say.bound, say.ready(), say.done(), say.ready()
    ).forget()
    assert session.session.backend.replies.waiting_for_server
    session.server(say.error("26000", "pgparley_error_1 is not here"), say.ready())
    assert b"C0A000\0" in session.to_client
    assert b"RRevalidateCachedQuery\0" in session.to_client


def test_choose_elsewhere_is_a_constant_table(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere())
    assert text_of(session.to_server) == (
        'SELECT c0::int4 AS "a""b", c1::text AS "x" FROM '
        'json_to_recordset($nl0$[{"c0":"1","c1":null}]$nl0$::json) AS r(c0 text, c1 text)'
    )


def test_choose_elsewhere_is_refused_in_a_transaction(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("T"))
    session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere())
    failed = [command.error.sqlstate for command in session.commands if isinstance(command, StatementFailed)]
    assert failed == ["25001"]


def test_cut_result_is_told_before_its_end(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere(truncated=True))
    session.server(say.columns(), say.done(), say.ready())
    start, end = say.columns() + say.done(), say.ready()
    assert session.to_client.startswith(start + b"N")
    assert session.to_client.endswith(end)
    assert b"C01000\0" in session.to_client


def test_show_asks_for_the_stored_answer(session: Any, say: Any) -> None:
    session.client(say.query("NL SHOW 2 OF 'q1'"))
    assert session.consulted == [ShowRequest(ANN, "q1", 2)]


def test_help_needs_no_engine(session: Any, say: Any) -> None:
    session.client(say.query("NL HELP"))
    assert session.consulted == []
    assert text_of(session.to_server).endswith('AS help("command", "description")')


def test_settings_are_watched(session: Any, say: Any) -> None:
    session.client(say.query("SET nl.k = 3; SET SESSION nl.db TO 'a''b'"), say.query("NL (k 7): x"))
    assert session.to_server == say.query("SET nl.k = 3; SET SESSION nl.db TO 'a''b'")
    assert session.consulted[-1] == AskRequest(ANN, "x", k=7, db="a'b")
    session.engine(say.answer()).client(say.query("DISCARD ALL"), say.query("NL: y"))
    assert session.consulted[-1] == AskRequest(ANN, "y")


def test_local_setting_ends_with_its_transaction(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN; SET LOCAL nl.k = 3")).server(say.done(), say.ready("T"))
    session.client(say.query("NL: x"))
    assert session.consulted[-1].k == 3
    session.engine(say.answer()).server(say.done(), say.ready("T"))
    session.client(say.query("COMMIT")).server(say.done(), say.ready("I"))
    session.client(say.query("NL: x"))
    assert session.consulted[-1].k is None


def test_startup_settings(new_transcript: Any, say: Any) -> None:
    t = new_transcript().started(user="ann", options="-c nl.k=4 --nl.timeout=2min -cnl.db=a\\ b -c x=y")
    t.client(say.query("NL: x"))
    assert t.consulted == [AskRequest(Asker("ann", "ann"), "x", k=4, db="a b", timeout=120.0)]


@pytest.mark.parametrize("k", ["0", "-1", "many", "1e1", "1.5", "12345678901234567890"])
def test_setting_out_of_range(session: Any, say: Any, k: str) -> None:
    session.client(say.query(f"NL (k '{k}'): x"))
    failed = [command.error.sqlstate for command in session.commands if isinstance(command, StatementFailed)]
    assert failed == ["22023"]


def test_how_many_rows_are_too_many_is_the_engines_to_say(session: Any, say: Any) -> None:
    session.client(say.query("NL (k 51): x"))
    assert session.consulted[-1].k == 51


@pytest.mark.parametrize(("kind", "sqlstate"), [(RowKind.ABSTAIN, "NL002"), (RowKind.OPTION, "NL001")])
def test_abstention_can_be_an_error(session: Any, say: Any, kind: RowKind, sqlstate: str) -> None:
    session.client(say.query("NL (on_abstain error): x")).engine(say.answer(kind=kind))
    failed = [command.error.sqlstate for command in session.commands if isinstance(command, StatementFailed)]
    assert failed == [sqlstate]
    session.client(say.query("NL: x")).engine(say.answer(kind=kind))
    assert session.to_server.count(b"json_to_recordset") == 1


def test_client_encoding_is_kept(session: Any, say: Any) -> None:
    session.server(say.status("client_encoding", "LATIN1"))
    session.client(say.query("SELECT 'é'; NL: wo ist das Café", "latin-1"))
    assert session.consulted == [AskRequest(ANN, "wo ist das Café")]
    session.engine(say.answer("Ω"))
    assert session.to_server[5:].startswith("SELECT 'é'; SELECT".encode("latin-1"))
    assert b"\\u03a9" in session.to_server


def test_bytes_that_are_no_text_are_refused(session: Any) -> None:
    session.client(codec.encode_query(b"NL: caf\xe9"))
    failed = [command.error.sqlstate for command in session.commands if isinstance(command, StatementFailed)]
    assert failed == ["42601"]


def test_cancel_of_the_wait(session: Any, say: Any) -> None:
    session.client(say.query("NL: x"))
    forward, commands = session.session.cancelled()
    assert forward is False
    assert isinstance(commands[0], AbortConsult)
    session._take(commands)
    token = token_of(session.to_server)
    session.server(say.error("22P02", f'bad: "{token}"'), say.ready())
    assert b"C57014\0" in session.to_client


def test_cancel_of_a_running_statement_is_the_servers(session: Any, say: Any) -> None:
    session.client(say.query("SELECT pg_sleep(9)"), say.query("NL: x"))
    assert session.session.cancelled() == (True, [])
    session.server(say.error("57014"), say.ready())
    assert session.session.cancelled()[0] is False


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


def single(qid: str = "q5") -> AskReply:
    row = AnswerRow(1, RowKind.CANDIDATE, "sales", 0.5, "SELECT 1", "why", None, qid)
    return AskReply(qid, (row,), members=1)


def test_run_is_prepared_once_and_stays(session: Any, say: Any) -> None:
    session.client(say.parse("NL RUN $$x$$", "s"), say.describe("S", "s"), say.sync)
    assert session.consulted == [AskRequest(ANN, "x", run=True)]
    session.engine(single())
    assert session.consulted[1:] == [ChooseRequest(ANN, "q5", 1, learn=False)]
    session.engine(Chosen("sales", "SELECT name FROM singer", in_place=True))
    parse = codec.decode_parse(session.to_server[: 1 + int.from_bytes(session.to_server[1:5], "big")])
    assert parse is not None
    assert parse.text == b"SELECT name FROM singer"
    session.server(say.parsed, say.described(), say.columns(), say.ready()).forget()
    session.client(say.query("NL: y")).engine(say.answer(qid="q9")).server(say.done(), say.ready())
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    assert session.to_server == say.bind(name="s") + say.execute + say.sync
    assert len(session.consulted) == 3


@pytest.mark.parametrize("members", [0, 2])
def test_run_of_a_set_that_has_not_one_member_chooses_nothing(session: Any, say: Any, members: int) -> None:
    session.client(say.query("NL RUN $$x$$")).engine(replace(single(), members=members))
    assert len(session.consulted) == 1
    assert "json_to_recordset" in text_of(session.to_server)


def test_cancel_between_the_two_requests_of_a_run(session: Any, say: Any) -> None:
    session.client(say.query("NL RUN $$x$$")).engine(single())
    forward, commands = session.session.cancelled()
    assert forward is False
    session._take(commands)
    token = token_of(session.to_server)
    session.server(say.error("22P02", f'bad: "{token}"'), say.ready())
    assert b"C57014\0" in session.to_client


def test_prepared_plan_goes_stale_with_the_next_question(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q5"))
    session.client(say.parse("NL PLAN 1", "s")).engine(Chosen("sales", "EXPLAIN SELECT 1", in_place=True))
    session.client(say.sync, say.query("NL: y")).engine(say.answer(qid="q6"))
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    assert b"pgparley_error_1" in session.to_server


def test_table_is_one_hidden_parameter(session: Any, say: Any) -> None:
    session.client(say.parse("NL WHY OF 'q1'", "s"), say.describe("S", "s"), say.flush)
    assert session.consulted == []
    assert (
        b'SELECT "stage", "event", "detail", "score" FROM json_to_recordset($1::text::json)'
        in session.to_server
    )
    session.server(say.parsed, say.described(25), say.columns())
    assert session.to_client == say.parsed + say.described() + say.columns()
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    session.engine(RowSet((("route", "chosen", "it\0s", None),)))
    bind = codec.decode_bind(session.to_server[: 1 + int.from_bytes(session.to_server[1:5], "big")])
    assert bind is not None
    assert bind.parameters == (b'[{"stage":"route","event":"chosen","detail":"it\\ufffds","score":null}]',)


def test_notices_of_an_answer_go_with_its_bind(session: Any, say: Any) -> None:
    session.client(say.parse("NL (output both): x", "s"), say.bind(name="s"), say.execute, say.sync)
    session.engine(say.answer())
    session.server(say.parsed, say.bound)
    assert session.to_client.startswith(say.parsed + b"N")
    assert session.to_client.endswith(say.bound)
    assert b"M1. [sales 0.500] SELECT 1\0" in session.to_client
