"""What the audit log writes down: a line for each request, one for what has left, and no literal that is not wanted."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.values.messages import (
    AnswerRow,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    Chosen,
    CorrectRequest,
    ErrorReply,
    RowKind,
    RowSet,
    Topic,
    TopicRequest,
)
from proxy.audit import AuditLine, Event, Outcome, OutcomeLine, redacted_statement, redacted_text, replied
from proxy.console.reports import ClientReport
from proxy.net.audit_log import AuditLog, AuditTrail
from proxy.protocol.lexer import dollar_quoted
from proxy.protocol.meter import Delivered
from proxy.settings import AuditRedaction, AuditSettings

ANA = Asker("ana", "music")
CLIENT = ClientReport(7, "ana", "music", "psql", "", "::1", 1, "::1", 2, "", 0.0)
SQL = "SELECT name FROM singer WHERE country = 'New Zealand' AND age > 30"


def answer(kind: RowKind = RowKind.CANDIDATE, sql: str | None = SQL) -> AskReply:
    return AskReply("q1", (AnswerRow(1, kind, "music", 0.5, "", sql, None, "q1"),))


class Written:
    """A trail and the lines that it wrote."""

    def __init__(self, folder: Path, redaction: AuditRedaction = AuditRedaction.NONE, **more: Any) -> None:
        self._file = folder / "audit.log"
        self.lost = 0
        self.log = AuditLog(AuditSettings(str(self._file), redaction, **more), self._lose)
        self.trail = AuditTrail(CLIENT, self.log)

    def _lose(self) -> None:
        self.lost += 1

    @property
    def lines(self) -> list[AuditLine | OutcomeLine]:
        return [
            msgspec.json.decode(line, type=OutcomeLine if b'"event":"outcome"' in line else AuditLine)
            for line in self._file.read_bytes().splitlines()
        ]

    @property
    def asked(self) -> list[AuditLine]:
        return [line for line in self.lines if isinstance(line, AuditLine)]

    @property
    def only(self) -> AuditLine:
        (line,) = self.lines
        assert isinstance(line, AuditLine)
        return line


async def test_a_question_is_one_line_with_all_that_is_known(tmp_path: Path) -> None:
    found = Written(tmp_path)
    found.trail.begun(AskRequest(ANA, "Who is from New Zealand?"))
    await found.trail.answered(answer())
    line = found.only
    assert (line.session, line.role, line.database, line.verb) == (7, "ana", "music", "ask")
    assert (line.question, line.statements, line.source) == ("Who is from New Zealand?", (SQL,), "music")
    assert (line.event, line.reply, line.qid, line.sqlstate) == (Event.INTENT, Outcome.ANSWERED, "q1", None)
    assert (line.address, line.application_name) == ("::1", "psql")
    assert line.ms >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", line.time)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (answer(RowKind.VERIFIED), Outcome.ANSWERED),
        (answer(RowKind.OPTION, None), Outcome.ASKED_BACK),
        (answer(RowKind.ABSTAIN, None), Outcome.ABSTAINED),
        (Chosen("music", SQL, in_place=True), Outcome.IN_SESSION),
        (Chosen("far", SQL, in_place=False, rows=(("1",), ("2",))), Outcome.RAN),
        (RowSet(((1,),)), Outcome.ANSWERED),
        (ErrorReply("NL003", "none"), Outcome.REFUSED),
        (ErrorReply("58000", "down"), Outcome.FAILED),
        (ErrorReply("57014", "late"), Outcome.CANCELLED),
    ],
)
def test_what_became_of_it(reply: AskReply | Chosen | RowSet | ErrorReply, outcome: Outcome) -> None:
    assert replied(AuditLine(), reply).reply is outcome


async def test_what_has_left_is_a_line_of_the_same_id_and_half_a_line_of_another_process_stands_alone(
    tmp_path: Path,
) -> None:
    (tmp_path / "audit.log").write_bytes(b'{"half":')
    found = Written(tmp_path)
    found.trail.begun(AskRequest(ANA, "?"))
    await found.trail.answered(answer())
    found.trail.delivered(Delivered(1, 2, 345, None))
    found.trail.delivered(Delivered(1, 7, 8, None))
    begun, *lines = (tmp_path / "audit.log").read_bytes().splitlines()
    intent, outcome = (msgspec.json.decode(line) for line in lines)
    assert (begun, intent["event"], outcome["event"]) == (b'{"half":', "intent", "outcome")
    assert outcome["id"] == intent["id"]
    assert (outcome["rows"], outcome["bytes"], outcome.get("sqlstate")) == (2, 345, None)


async def test_names_in_no_encoding_are_written_down(tmp_path: Path) -> None:
    found = Written(tmp_path)
    found.trail = AuditTrail(replace(CLIENT, application_name="caf\udce9"), found.log)
    found.trail.begun(AskRequest(ANA, "?"))
    await found.trail.answered(answer())
    assert (found.only.application_name, found.lost) == ("caf?", 0)


async def test_without_its_line_nothing_leaves_where_that_is_set(tmp_path: Path) -> None:
    for before in (False, True):
        folder = tmp_path / str(before)
        folder.mkdir()
        found = Written(folder, before=before)
        folder.rename(tmp_path / f"{before} gone")
        found.trail.begun(AskRequest(ANA, "?"))
        reply = await found.trail.answered(answer())
        assert found.lost == 1
        if not before:
            assert reply == answer()
            continue
        assert isinstance(reply, ErrorReply)
        assert (reply.sqlstate, reply.detail) == ("58030", "The answer was dropped.")
        assert reply.hint is not None
        assert found.log.target in reply.hint
        # The client gets that error: no second line is tried.
        found.trail.failed(reply)
        assert found.lost == 1


async def test_an_error_stands_on_the_line_of_its_request(tmp_path: Path) -> None:
    found = Written(tmp_path)
    error = ErrorReply("NL003", "none")
    found.trail.begun(AskRequest(ANA, "?"))
    await found.trail.answered(error)
    found.trail.failed(error)
    assert found.only.sqlstate == "NL003"


async def test_two_statements_of_one_query_fail_apart(tmp_path: Path) -> None:
    """The client gets both errors behind the last reply."""
    found = Written(tmp_path)
    first, second = ErrorReply("NL003", "none"), ErrorReply("42601", "the question is empty")
    found.trail.begun(AskRequest(ANA, "?"))
    await found.trail.answered(first)
    found.trail.begun(AskRequest(ANA, "!"))
    await found.trail.answered(answer())
    found.trail.failed(first)
    found.trail.failed(second)
    assert [(line.verb, line.sqlstate) for line in found.asked] == [
        ("ask", "NL003"),
        ("ask", None),
        ("statement", "42601"),
    ]


@pytest.mark.parametrize("told_first", [True, False])
def test_a_cancelled_one_is_one_line(told_first: bool, tmp_path: Path) -> None:  # noqa: FBT001
    found = Written(tmp_path)
    found.trail.begun(AskRequest(ANA, "?"))
    steps = [lambda: found.trail.failed(ErrorReply("57014", "cancelled")), found.trail.dropped]
    for step in steps if told_first else reversed(steps):
        step()
    assert (found.only.reply, found.only.sqlstate) == (Outcome.CANCELLED, "57014")


@pytest.mark.parametrize("sqlstate", ["NL001", "NL002"])
async def test_an_error_made_of_an_answer_is_not_told_twice(sqlstate: str, tmp_path: Path) -> None:
    found = Written(tmp_path)
    found.trail.begun(AskRequest(ANA, "?"))
    await found.trail.answered(answer(RowKind.ABSTAIN, None))
    found.trail.failed(ErrorReply(sqlstate, "no answer"))
    assert found.only.reply is Outcome.ABSTAINED


async def test_a_request_about_an_answer_names_it(tmp_path: Path) -> None:
    found = Written(tmp_path)
    for request in (ChooseRequest(ANA, "q9", 2), TopicRequest(ANA, Topic.FORGET, "q9")):
        found.trail.begun(request)
        await found.trail.answered(ErrorReply("NL004", "unknown"))
    assert [(line.verb, line.qid, line.n) for line in found.asked] == [
        ("choose", "q9", 2),
        ("forget", "q9", None),
    ]


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT 'a''b', E'c\\'d', $x$e$x$, B'101', U&'f'", "SELECT ?, ?, ?, ?, ?"),
        ("SELECT -1.5e3, .25, 0xFF, 1_000", "SELECT -?, .?, ?, ?"),
        ('SELECT "a 1" /* told to nobody */ FROM t1 -- nor this', 'SELECT "a 1" ? FROM t1 ?'),
        ("SELECT 'not closed", "SELECT ?"),
        ("SELECT a FROM b WHERE c IN ('x', 'y')", "SELECT a FROM b WHERE c IN (?, ?)"),
    ],
)
def test_a_statement_without_its_literals(sql: str, left: str) -> None:
    assert redacted_statement(sql) == left


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1))
def test_no_literal_is_left_of_a_statement(value: str) -> None:
    quoted = "'" + value.replace("'", "''") + "'"
    for literal in (quoted, dollar_quoted(value)):
        assert redacted_statement(f"SELECT a FROM b WHERE c = {literal}") == "SELECT a FROM b WHERE c = ?"


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Who is from New Zealand and over 30?", "Who is from ? ? and over ??"),
        ("Who is called 'Joe' or “Ann”?", "Who is called ? or ??"),
        ("How many singers are there?", "How many singers are there?"),
    ],
)
def test_a_question_without_its_literals(question: str, left: str) -> None:
    assert redacted_text(question, (SQL,)) == left


@pytest.mark.parametrize("redaction", list(AuditRedaction))
async def test_redaction_leaves_no_literal(redaction: AuditRedaction, tmp_path: Path) -> None:
    found = Written(tmp_path, redaction)
    found.trail.begun(AskRequest(ANA, "Who is from New Zealand and over 30?"))
    await found.trail.answered(answer())
    found.trail.begun(CorrectRequest(ANA, "q1", SQL))
    await found.trail.answered(ErrorReply("NL005", "refused"))
    text = " ".join(str((line.question, line.statements)) for line in found.asked)
    hidden = redaction is not AuditRedaction.NONE
    assert all((literal not in text) is hidden for literal in ("Zealand", "30"))
    assert (found.asked[0].question is None) is (redaction is AuditRedaction.QUESTIONS)
