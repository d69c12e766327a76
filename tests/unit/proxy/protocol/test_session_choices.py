"""What follows an answer: a choice, its plan, the answer again, and the run of a single statement."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.values.messages import (
    AnswerRow,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    ErrorReply,
    ResultColumn,
    RowKind,
)
from proxy.protocol import codec
from proxy.protocol.commands import StatementSeen
from tests.support.messages import parsed, text_of, token_of

ANN = Asker("ann", "sales")


def test_choose_needs_a_question_or_a_qid(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1"))
    assert session.consulted == []
    assert session.sqlstates == ["NL004"]
    session.client(say.query("NL CHOOSE 2 OF 'q8'"))
    assert session.consulted == [ChooseRequest(ANN, "q8", 2)]


def test_choose_in_place_is_the_chosen_statement(session: Any, say: Any) -> None:
    session.answered("q5").client(say.parse("nl choose 1"))
    assert session.consulted[-1] == ChooseRequest(ANN, "q5", 1)
    session.engine(Chosen("sales", "SELECT name FROM singer;", in_place=True))
    assert parsed(session.to_server).text == b"SELECT name FROM singer"


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
        'SELECT c0::pg_catalog.int4 AS "a""b", c1::pg_catalog.text AS "x" FROM '
        'pg_catalog.json_to_recordset($nl0$[{"c0":"1","c1":null}]$nl0$::pg_catalog.json)'
        " AS r(c0 pg_catalog.text, c1 pg_catalog.text)"
    )


@pytest.mark.parametrize("protocol", ["simple", "extended"])
def test_rows_from_elsewhere_are_no_part_of_a_transaction(session: Any, say: Any, protocol: str) -> None:
    told = b'Mthese rows of database "other" were read there, outside of this transaction\0'
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("T")).forget()
    if protocol == "simple":
        session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere())
        session.server(say.columns(), say.done(), say.ready("T"))
    else:
        session.client(say.parse("NL CHOOSE 1 OF q1", "s")).engine(elsewhere())
        session.client(say.bind(name="s"), say.execute, say.sync)
        session.server(say.parsed, say.bound, say.done(), say.ready("T"))
    assert session.to_client.count(told) == 1
    assert session.failures == []
    session.client(say.query("COMMIT")).server(say.done("COMMIT"), say.ready()).forget()
    session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere())
    session.server(say.columns(), say.done(), say.ready())
    assert told not in session.to_client


def test_cut_result_is_told_before_its_end(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1 OF q1")).engine(elsewhere(truncated=True))
    session.server(say.columns(), say.done(), say.ready())
    start, end = say.columns() + say.done(), say.ready()
    assert session.to_client.startswith(start + b"N")
    assert session.to_client.endswith(end)
    assert b"C01000\0" in session.to_client


def single(qid: str = "q5") -> AskReply:
    row = AnswerRow(1, RowKind.CANDIDATE, "sales", 0.5, "why", "SELECT 1", None, qid)
    return AskReply(qid, (row,), members=1)


def test_run_is_prepared_once_and_stays(session: Any, say: Any) -> None:
    session.client(say.parse("NL RUN $$x$$", "s"), say.describe("S", "s"), say.sync)
    assert session.consulted == [AskRequest(ANN, "x", run=True)]
    session.engine(single())
    assert session.consulted[1:] == [ChooseRequest(ANN, "q5", 1, learn=False)]
    session.engine(Chosen("sales", "SELECT name FROM singer", in_place=True))
    parse = parsed(session.to_server)
    assert parse.text == b"SELECT name FROM singer"
    session.server(say.parsed, say.described(), say.columns(), say.ready()).forget()
    session.client(say.query("NL: y")).engine(say.answer(qid="q9")).server(say.done(), say.ready())
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    assert session.to_server == b""
    assert session.consulted[3:] == [ChooseRequest(ANN, "q5", 1, learn=False)]
    session.engine(Chosen("sales", "SELECT name FROM singer", in_place=True))
    # It ends by nl.timeout: nothing follows that a late cancelling could meet.
    run = say.bind(name="s") + say.flush + say.execute + say.flush
    assert session.to_server == run
    session.server(say.bound, say.done())
    assert session.to_server == run + say.sync


@pytest.mark.parametrize(
    ("now", "sqlstate"),
    [
        (Chosen("sales", "SELECT name FROM other.singer", in_place=True), b"C0A000\0"),
        (Chosen("sales", "SELECT 1", in_place=False), b"C0A000\0"),
        (ErrorReply("NL005", "code of somebody else"), b"CNL005\0"),
    ],
)
def test_what_was_prepared_is_looked_at_again(
    session: Any, say: Any, now: Chosen | ErrorReply, sqlstate: bytes
) -> None:
    session.client(say.parse("SELECT * FROM nl.run('q5', 1)", "s"), say.sync)
    session.engine(Chosen("sales", "SELECT name FROM singer", in_place=True))
    session.server(say.parsed, say.ready()).forget()
    session.client(say.bind(name="s"), say.execute, say.sync).engine(now)
    assert say.bind(name="s") not in session.to_server
    session.server(say.error("26000", f"{token_of(session.to_server)} is not here"), say.ready())
    assert sqlstate in session.to_client


def test_what_was_prepared_and_bound_at_once_is_asked_once(session: Any, say: Any) -> None:
    session.client(say.parse("NL CHOOSE 1 OF q5"), say.bind(), say.execute, say.sync)
    session.engine(Chosen("sales", "SELECT 1", in_place=True))
    assert len(session.consulted) == 1


@pytest.mark.parametrize("members", [0, 2])
def test_run_of_a_set_that_has_not_one_member_chooses_nothing(session: Any, say: Any, members: int) -> None:
    session.client(say.query("NL RUN $$x$$")).engine(replace(single(), members=members))
    assert len(session.consulted) == 1
    assert "json_to_recordset" in text_of(session.to_server)


def test_cancel_between_the_two_requests_of_a_run(session: Any, say: Any) -> None:
    session.client(say.query("NL RUN $$x$$")).engine(single())
    session.cancelled()
    token = token_of(session.to_server)
    session.server(say.error("22P02", f'bad: "{token}"'), say.ready())
    assert b"C57014\0" in session.to_client


def test_prepared_plan_goes_stale_with_the_next_question(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q5"))
    session.client(say.parse("NL PLAN 1", "s")).engine(Chosen("sales", "EXPLAIN SELECT 1", in_place=True))
    session.client(say.sync, say.query("NL: y")).engine(say.answer(qid="q6"))
    session.forget().client(say.bind(name="s"), say.execute, say.sync)
    assert b"pgparley_error_1" in session.to_server


# -- the last question failed


@pytest.mark.parametrize("text", ["NL: y", "NL RUN $$y$$", "SELECT * FROM nl.ask('y')"])
def test_a_question_that_failed_leaves_nothing_to_choose(session: Any, say: Any, text: str) -> None:
    session.answered().client(say.query(text)).engine(ErrorReply("57014", "out of time"))
    session.server(say.error("22P02", 'bad: "pgparley_error_1"'), say.ready()).forget()
    asked = len(session.consulted)
    session.client(say.query("NL CHOOSE 1"))
    assert len(session.consulted) == asked
    assert session.failures[-1].sqlstate == "NL004"
    assert session.failures[-1].message == "the last question has no answer"


@pytest.mark.parametrize("text", ["NL:", "NL (k many): y", "NL: it's;\nSELECT 1", "NL RUN"])
def test_so_does_one_that_was_refused_unasked(session: Any, say: Any, text: str) -> None:
    session.answered().client(say.query(text), say.query("NL CHOOSE 1"))
    assert len(session.consulted) == 1


@pytest.mark.parametrize("text", ["NL CHOSE 1", "NL CHOOSE 0", "SELECT nl.ask('x')", "EXPLAIN NL: x"])
def test_a_wrong_statement_that_asks_nothing_leaves_the_last_answer(
    session: Any, say: Any, text: str
) -> None:
    session.answered("q5").client(say.query(text)).server(say.error("22P02", "x"), say.ready())
    session.client(say.query("NL CHOOSE 1"))
    assert session.consulted[-1] == ChooseRequest(ANN, "q5", 1)


# -- the next step


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("NL: x", "NL CHOOSE 1"),
        ("NL SHOW OF 'q5'", "NL CHOOSE 1"),
        ("NL RUN $$x$$", "NL CHOOSE 1"),
        ("SELECT * FROM nl.ask('x')", "NL CHOOSE 1 OF 'q5'"),
    ],
)
def test_the_next_step_names_its_answer_where_it_may_be_kept(
    session: Any, say: Any, text: str, step: str
) -> None:
    row = replace(single().rows[0], next="NL CHOOSE 1 OF 'q5'")
    session.client(say.query(text)).engine(AskReply("q5", (row,), members=2))
    assert f'"next":"{step}","qid":"q5"' in text_of(session.to_server)


BILL = ErrorReply("NL006", "expensive", hint="NL CHOOSE 1 OF 'q5' ANYWAY runs it")
TOLD = codec.encode_error(replace(BILL, hint="NL CHOOSE 1 ANYWAY runs it"), "utf-8")


@pytest.mark.parametrize("status", ["I", "T"])
def test_a_bill_is_told_without_an_error_of_the_server(session: Any, say: Any, status: str) -> None:
    session.answered("q5").client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready(status)).forget()
    session.client(say.query("NL CHOOSE 1"), say.query("SELECT 2")).engine(BILL)
    assert session.to_client == TOLD
    assert session.to_server == say.sync + say.query("SELECT 2")
    session.server(say.ready(status), say.columns(), say.done(), say.ready(status))
    assert session.to_client == TOLD + say.ready(status) + say.columns() + say.done() + say.ready(status)
    assert session.sqlstates == ["NL006"]


def test_what_follows_a_bill_is_skipped_to_its_sync(session: Any, say: Any) -> None:
    session.answered("q5").client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("T")).forget()
    rest = (say.bind(name="s"), say.describe("P"), say.execute, say.parse("INSERT"), say.query("INSERT"))
    session.client(say.parse("NL CHOOSE 1", "s"), *rest).engine(BILL)
    session.client(say.close(name="s"), say.sync, say.query("SELECT 2"))
    assert (session.to_client, session.to_server) == (TOLD, say.sync + say.query("SELECT 2"))
    # It was never defined: a Bind of it meets the server.
    session.server(say.ready("T"), say.ready("T")).forget().client(say.bind(name="s"), say.sync)
    assert session.to_server == say.bind(name="s") + say.sync


def test_a_bill_behind_other_statements_of_a_pipeline_is_an_error_of_the_server(
    session: Any, say: Any
) -> None:
    session.answered("q5").client(say.parse("INSERT"), say.bind(), say.execute, say.parse("NL CHOOSE 1"))
    session.engine(BILL)
    assert session.to_client == b""
    assert token_of(session.to_server)


def test_a_message_that_is_too_long_to_be_skipped_ends_the_session(session: Any, say: Any) -> None:
    session.answered("q5").client(say.parse("NL CHOOSE 1")).engine(BILL).forget()
    session.client(codec.message(b"B", bytes(5))[:1] + (1 << 30).to_bytes(4, "big"))
    assert b"C08P01\0" in session.to_client


def test_anyway_is_said_to_the_engine(session: Any, say: Any) -> None:
    session.client(say.query("NL CHOOSE 1 OF 'q8' anyway"))
    assert session.consulted == [ChooseRequest(ANN, "q8", 1, anyway=True)]
    assert StatementSeen("choose_anyway") in session.commands


def test_anyway_stands_behind_a_choice_alone(session: Any, say: Any) -> None:
    session.client(say.query("NL PLAN 1 ANYWAY"))
    assert session.sqlstates == ["42601"]
