"""A session's server is lent to the engine for one transaction, and comes back as the client left it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.values.messages import ErrorReply
from proxy.protocol import codec
from proxy.protocol.commands import AbortConsult, CancelLent, Close, LoanEnded, ToBorrower

NO_ROUTE = ErrorReply("NL003", "no database fits")
BEGIN = "BEGIN READ ONLY; SET LOCAL client_encoding = 'UTF8'"
SAVEPOINT = (
    "SAVEPOINT pgparley_loan; SET LOCAL transaction_read_only = on; SET LOCAL client_encoding = 'UTF8'"
)
UNDO = "ROLLBACK TO SAVEPOINT pgparley_loan; RELEASE SAVEPOINT pgparley_loan"


def lend(session: Any) -> Any:
    session._take(session.session.lend())
    return session


def borrower(session: Any, *messages: bytes) -> Any:
    for piece in session._cut(messages):
        session._take(session.session.loan.receive_borrower(piece))
    return session


def leave(session: Any) -> Any:
    session._take(session.session.loan.borrower_left())
    return session


def told(session: Any) -> bytes:
    return b"".join(c.data for c in session.commands if isinstance(c, ToBorrower))


def ended(session: Any) -> list[LoanEnded]:
    return [c for c in session.commands if isinstance(c, LoanEnded)]


def asked(session: Any, say: Any) -> Any:
    session.client(say.query("NL: a"))
    return lend(session)


def lent(session: Any, say: Any, status: str = "I") -> Any:
    """A session that has been lent; what was said so far is forgotten."""
    asked(session, say).server(say.ready(status)).forget()
    session.server(say.status("client_encoding", "UTF8"), say.done("SET"), say.ready("T"))
    session.commands.clear()
    return session.forget()


def test_idle_session_is_lent_in_a_transaction_of_its_own(session: Any, say: Any) -> None:
    asked(session, say)
    assert session.to_server == say.sync
    session.forget().server(say.ready())
    assert session.to_server == say.query(BEGIN)
    session.server(say.done("BEGIN"), say.status("client_encoding", "UTF8"), say.done("SET"), say.ready("T"))
    assert session.to_client == b""
    assert told(session).startswith(say.authenticated)
    assert told(session).endswith(say.key() + say.ready("T"))


def test_open_transaction_is_lent_behind_a_savepoint(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("T")).forget()
    asked(session, say).server(say.ready("T"))
    assert session.to_server == say.sync + say.query(SAVEPOINT)
    session.server(say.done("SAVEPOINT"), say.done("SET"), say.done("SET"), say.ready("T")).forget()
    leave(session)
    assert session.to_server == say.query(UNDO)
    session.server(say.done("ROLLBACK"), say.done("RELEASE"), say.ready("T"))
    assert ended(session) == [LoanEnded(intact=True)]
    assert session.to_client == b""


def test_bytes_pass_between_borrower_and_server(session: Any, say: Any) -> None:
    lent(session, say)
    query = say.query("EXPLAIN SELECT 1")
    borrower(session, query, say.parse("SELECT 2"), say.sync)
    assert session.to_server == query + say.parse("SELECT 2") + say.sync
    answer = say.columns() + say.row(b"Result") + say.done("EXPLAIN") + say.ready("T")
    session.server(answer, say.parsed + say.ready("T"))
    assert told(session) == answer + say.parsed + say.ready("T")
    assert session.to_client == b""
    leave(session.forget())
    assert session.to_server == say.query("ROLLBACK")
    assert CancelLent() not in session.commands


def test_answer_that_comes_during_the_loan_waits_for_its_end(session: Any, say: Any) -> None:
    lent(session, say)
    session.engine(say.answer("late"))
    assert session.to_server == say.query("ROLLBACK")
    session.forget().server(say.done("ROLLBACK"), say.ready())
    assert b"late" in session.to_server
    session.client(say.query("SELECT 1"))
    assert session.to_server.endswith(say.query("SELECT 1"))


def test_what_the_borrower_left_running_is_cancelled_before_it_is_undone(session: Any, say: Any) -> None:
    lent(session, say)
    borrower(session, say.parse("SELECT pg_sleep(9)"))
    leave(session.forget())
    assert session.to_server == say.sync
    assert session.commands[-1] == CancelLent()
    session.forget().server(say.error("57014", "canceling"), say.ready("E"))
    assert session.to_server == b""
    session._take(session.session.loan.cancel_sent())
    assert session.to_server == say.query("ROLLBACK")
    session.server(say.done("ROLLBACK"), say.ready())
    assert ended(session) == [LoanEnded(intact=True)]


def test_half_a_message_never_reaches_the_server(session: Any, say: Any) -> None:
    lent(session, say)
    borrower(session, say.query("SELECT 1")[:-3])
    assert session.to_server == b""
    leave(session)
    assert session.to_server == say.query("ROLLBACK")


@pytest.mark.parametrize("message", [codec.message(b"d", b"x"), codec.message(b"F", b"x"), b"\0\0\0\0\0"])
def test_borrower_may_send_queries_only(session: Any, say: Any, message: bytes) -> None:
    lent(session, say)
    borrower(session, message)
    assert b"a borrower may send queries only" in told(session)
    assert session.to_server == say.query("ROLLBACK")


def test_terminate_gives_the_server_back(session: Any, say: Any) -> None:
    lent(session, say)
    borrower(session, codec.message(b"X", b""))
    assert (session.to_server, told(session)) == (say.query("ROLLBACK"), b"")


def test_notifications_reach_the_client_whoever_has_its_server(session: Any, say: Any) -> None:
    lent(session, say)
    heard = codec.message(b"A", b"\0\0\0\1jobs\0done\0")
    session.server(heard)
    leave(session).server(say.done("ROLLBACK"), heard, say.ready(), heard)
    assert session.to_client == heard * 3


def test_failed_transaction_is_not_lent(session: Any, say: Any) -> None:
    asked(session, say).server(say.ready("E"))
    assert b"25P02" in told(session)
    assert ended(session) == [LoanEnded(intact=True)]
    assert session.to_server == say.sync


def test_server_that_cannot_open_the_frame_says_so_to_the_borrower(session: Any, say: Any) -> None:
    asked(session, say).server(say.ready())
    session.forget().server(say.error("22023", "no such encoding"), say.ready())
    assert b"no such encoding" in told(session)
    assert session.to_server == say.query("ROLLBACK")
    assert session.to_client == b""


def test_borrower_that_leaves_early_costs_nothing(session: Any, say: Any) -> None:
    asked(session, say)
    leave(session).server(say.ready())
    assert (session.to_server, ended(session)) == (say.sync, [LoanEnded(intact=True)])


def test_session_that_does_not_come_back_as_it_was_ends(session: Any, say: Any) -> None:
    lent(session, say)
    leave(session).server(say.error("XX000", "broken"), say.ready("E"))
    assert b"could not be given back" in session.to_client
    assert isinstance(session.commands[-1], Close)


def test_loan_that_does_not_end_ends_the_session(session: Any, say: Any) -> None:
    lent(session, say)
    borrower(session, say.query("SELECT burn()"))
    session.engine(NO_ROUTE)
    session._take(session.session.loan.overdue())
    assert b"did not stop" in session.to_client
    assert isinstance(session.commands[-1], Close)


def test_cancelling_the_question_ends_the_loan_first(session: Any, say: Any) -> None:
    lent(session, say)
    borrower(session, say.query("SELECT 1"))
    session.cancelled()
    assert AbortConsult() in session.commands
    assert CancelLent() in session.commands
    session.forget().server(say.error("57014"), say.ready("E"))
    session._take(session.session.loan.cancel_sent())
    session.server(say.done("ROLLBACK"), say.ready())
    assert session.to_server.startswith(say.query("ROLLBACK"))
    assert b"pgparley_error_" in session.to_server


# -- what the client has sent before the question, without a Sync


def test_unsynced_parse_is_answered_first_and_the_unnamed_statement_given_back(
    session: Any, say: Any
) -> None:
    session.client(say.parse("NL: a"), say.bind())
    parse = session.to_server
    assert parse.startswith(b"P")
    lend(session.forget())
    assert session.to_server == say.flush
    session.forget().server(say.parsed)
    assert (session.to_client, session.to_server) == (say.parsed, say.sync)
    session.server(say.ready(), say.done("BEGIN"), say.done("SET"), say.ready("T"))
    leave(session.forget())
    assert session.to_server == say.query("ROLLBACK") + parse + say.sync
    session.server(say.done("ROLLBACK"), say.ready(), say.parsed, say.ready())
    assert ended(session) == [LoanEnded(intact=True)]
    session.forget().engine(say.answer())
    assert session.to_server.startswith(b"B")
    session.client(say.execute, say.sync).server(say.bound, say.done(), say.ready())
    assert session.to_client == say.bound + say.done() + say.ready()


def begun(session: Any, say: Any, *tags: str) -> Any:
    """A batch as pgjdbc sends it: commands and a choice before one Sync."""
    session.client(say.parse("BEGIN", "s"), *([say.bind(name="s"), say.execute] * len(tags)))
    session.client(say.parse("NL CHOOSE 1 OF 'q1'"))
    lend(session.forget())
    session.server(say.parsed, *(say.bound + say.done(tag) for tag in tags))
    return session


@pytest.mark.parametrize("tags", [("BEGIN",), ("START TRANSACTION", "SET"), ("BEGIN", "INSERT 0 1")])
def test_block_begun_in_the_batch_is_lent(session: Any, say: Any, tags: tuple[str, ...]) -> None:
    begun(session, say, *tags)
    assert session.to_server == say.flush + say.sync
    session.server(say.ready("T"))
    assert session.to_server.endswith(say.query(SAVEPOINT))
    assert say.ready("T") not in session.to_client


@pytest.mark.parametrize("tags", [("INSERT 0 1",), ("BEGIN", "COMMIT"), ("BEGIN", "INSERT 0 1", "ROLLBACK")])
def test_batch_that_a_sync_would_commit_is_not_lent(session: Any, say: Any, tags: tuple[str, ...]) -> None:
    begun(session, say, *tags)
    assert session.to_server == say.flush
    assert b"inside of a pipeline" in told(session)
    assert ended(session) == [LoanEnded(intact=True)]


def test_batch_that_has_failed_is_not_lent(session: Any, say: Any) -> None:
    session.client(say.parse("SELEC", "s"), say.parse("NL CHOOSE 1 OF 'q1'"))
    lend(session.forget()).server(say.error())
    assert session.to_server == say.flush
    assert b"25P02" in told(session)
    session.engine(NO_ROUTE).client(say.sync).server(say.ready())
    assert session.to_client == say.error() + say.ready()
