"""The session's NL settings and its client encoding."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from engine.values.messages import Asker, AskRequest, OnDoubt, RowKind
from proxy.protocol import codec

ANN = Asker("ann", "sales")


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


@pytest.mark.parametrize(
    "text",
    [
        *("NL: x", "NL MORE", "NL ANSWER 1", "NL ANSWER 'x'", "NL NONE", "NL CORRECT 'SELECT 1'"),
        *("NL CHOOSE 1", "NL PLAN 1", "SELECT * FROM nl.run('q1', 1) AS t", "NL RUN 'x'"),
    ],
)
def test_a_timeout_is_every_statements(session: Any, say: Any, text: str) -> None:
    session.answered().client(say.query("SET nl.timeout = '3s'")).server(say.done("SET"), say.ready())
    session.client(say.query(text))
    assert session.consulted[-1].timeout == 3.0


def test_what_runs_after_a_question_has_the_questions_own_timeout(session: Any, say: Any) -> None:
    session.client(say.query("NL RUN (timeout 500ms): $$x$$")).engine(replace(say.answer(), members=1))
    assert [request.timeout for request in session.consulted] == [0.5, 0.5]


@pytest.mark.parametrize("k", ["0", "-1", "many", "1e1", "1.5", "12345678901234567890"])
def test_setting_out_of_range(session: Any, say: Any, k: str) -> None:
    session.client(say.query(f"NL (k '{k}'): x"))
    assert session.sqlstates == ["22023"]


def test_how_many_rows_are_too_many_is_the_engines_to_say(session: Any, say: Any) -> None:
    session.client(say.query("NL (k 51): x"))
    assert session.consulted[-1].k == 51


@pytest.mark.parametrize(("kind", "sqlstate"), [(RowKind.ABSTAIN, "NL002"), (RowKind.OPTION, "NL001")])
def test_abstention_can_be_an_error(session: Any, say: Any, kind: RowKind, sqlstate: str) -> None:
    session.client(say.query("NL (on_abstain error): x")).engine(say.answer(kind=kind))
    assert session.sqlstates == [sqlstate]
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
    assert session.sqlstates == ["42601"]


def test_what_becomes_of_doubtful_statements_is_a_setting(session: Any, say: Any) -> None:
    session.client(say.query("SET nl.on_doubt = ask"), say.query("NL: x")).engine(say.answer())
    session.client(say.query("NL (on_doubt Abstain): x")).engine(say.answer())
    session.client(say.query("RESET nl.on_doubt"), say.query("NL: x")).engine(say.answer())
    assert [each.on_doubt for each in session.consulted] == [OnDoubt.ASK, OnDoubt.ABSTAIN, None]
    session.client(say.query("NL (on_doubt maybe): x"))
    assert session.sqlstates == ["22023"]


@pytest.mark.parametrize("output", ["rows", "'both'"])
def test_what_is_told_beside_an_answer_comes_as_a_notice(session: Any, say: Any, output: str) -> None:
    session.client(say.query(f"SET nl.output = {output}")).server(say.done("SET"), say.ready()).forget()
    late = replace(say.answer(), notices=("out of time: 1 candidate so far",))
    session.client(say.query("NL: x")).engine(late).server(say.done(), say.ready())
    assert session.to_client.count(b"Mout of time: 1 candidate so far\0") == 1
