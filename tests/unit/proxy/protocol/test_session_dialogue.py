"""A question back and its answers, as transcripts."""

from __future__ import annotations

from typing import Any

import pytest

from engine.values.messages import (
    AnswerRequest,
    AnswerRow,
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    ErrorReply,
    NoneRequest,
    RowKind,
    ShowRequest,
)
from proxy.protocol.commands import StatementSeen
from tests.support.messages import bound, first_message, parsed

ANN = Asker("ann", "sales")
BACK = "Which name do you mean?"
OPTIONS = ("artist name: Zoë", "stage name: Zed", "Something else: say it in your own words.")
NO_OPTION = ErrorReply("22023", "there is no option 9", None, "NL SHOW OF 'q7' shows the options.")


def asked_back(qid: str = "q7", words: tuple[str, ...] = OPTIONS, back: str = f"{BACK} ") -> AskReply:
    last = len(words)
    steps = (*range(1, last), "$$in your own words$$")
    rows = (
        AnswerRow(n, RowKind.OPTION, "sales", 0.5, back + option, None, f"NL ANSWER {step} OF '{qid}'", qid)
        for n, (option, step) in enumerate(zip(words, steps, strict=True), 1)
    )
    return AskReply(qid, tuple(rows))


def told(data: bytes) -> list[tuple[str, str | None]]:
    """(message, hint) of the notices among the messages in `data`."""
    found = []
    while data:
        message = first_message(data)
        data = data.removeprefix(message)
        if message[:1] == b"N":
            fields = {field[:1]: field[1:].decode() for field in message[5:].split(b"\0") if field}
            found.append((fields[b"M"], fields.get(b"H")))
    return found


@pytest.mark.parametrize(
    ("text", "request_"),
    [
        ("NL ANSWER 2", AnswerRequest(ANN, "q7", n=2)),
        ("NL ANSWER 2 OF 'q5'", AnswerRequest(ANN, "q5", n=2)),
        ("NL ANSWER $$ the artist's; yes $$", AnswerRequest(ANN, "q7", text="the artist's; yes")),
        ("NL ANSWER 'it''s both' OF q5;", AnswerRequest(ANN, "q5", text="it's both")),
        ("NL NONE", NoneRequest(ANN, "q7")),
        ("NL NONE 'too old' OF q5", NoneRequest(ANN, "q5", "too old")),
        ("NL NONE SEND $$too old$$", NoneRequest(ANN, "q7", "too old", send=True)),
    ],
)
def test_a_turn_is_asked_and_its_answer_is_the_last_one(
    session: Any, say: Any, text: str, request_: object
) -> None:
    session.client(say.query("NL: x")).engine(asked_back()).server(say.done(), say.ready()).forget()
    session.client(say.query(text))
    assert session.to_server == b""
    assert session.consulted[1:] == [request_]
    session.engine(say.answer(qid="q8"))
    assert b'"qid":"q8"' in session.to_server
    session.server(say.done(), say.ready()).client(say.query("NL CHOOSE 1"))
    assert session.consulted[-1] == ChooseRequest(ANN, "q8", 1)


def test_kinds_are_counted(session: Any, say: Any) -> None:
    session.client(say.query("NL ANSWER 1 OF q1")).engine(say.answer())
    session.client(say.query("NL ANSWER 'x' OF q1")).engine(say.answer())
    session.client(say.query("NL NONE OF q1")).engine(say.answer())
    seen = [command for command in session.commands if isinstance(command, StatementSeen)]
    assert seen == [StatementSeen("answer"), StatementSeen("answer"), StatementSeen("none")]


def test_a_refused_answer_leaves_the_question_the_last_one(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(asked_back())
    session.client(say.query("NL ANSWER 9")).engine(NO_OPTION)
    session.client(say.query("NL ANSWER 1"))
    assert session.consulted[-1] == AnswerRequest(ANN, "q7", n=1)


def test_prepared_answer_asks_when_it_is_bound(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(asked_back()).server(say.done(), say.ready()).forget()
    session.client(say.parse("NL ANSWER 2", "s"), say.describe("S", "s"), say.sync)
    assert len(session.consulted) == 1
    assert b'SELECT "n", "kind", "database"' in parsed(session.to_server).text
    session.server(say.parsed, say.described(25), say.columns(), say.ready())
    assert session.to_client == say.parsed + say.described() + say.columns() + say.ready()
    for qid, answered in (("q7", "q8"), ("q8", "q9")):
        session.forget().client(say.bind(name="s"), say.execute, say.sync)
        assert session.consulted[-1] == AnswerRequest(ANN, qid, n=2)
        session.engine(asked_back(answered)).server(say.bound, say.done(), say.ready())
        assert f'"qid":"{answered}"'.encode() in (bound(session.to_server).parameters[0] or b"")


def test_failed_transaction_asks_nobody(session: Any, say: Any) -> None:
    session.client(say.query("BEGIN")).server(say.done("BEGIN"), say.ready("E")).forget()
    for text in ("NL ANSWER 1 OF q1", "NL ANSWER $$x$$ OF q1", "NL NONE OF q1"):
        session.client(say.query(text)).server(say.error("25P02"), say.ready("E"))
    session.client(say.parse("NL ANSWER 1 OF q1"), say.bind(), say.execute, say.sync)
    assert session.consulted == []
    assert session.failures == []


# -- nl.ask


@pytest.mark.parametrize(
    ("statements", "ask"),
    [
        (["NL: x"], True),
        (["NL (ask off): x"], False),
        (["SET nl.ask = off", "NL: x"], False),
        (["SET nl.ask = OFF", "NL (ask on): x"], True),
        (["SET nl.ask TO 'off'", "SELECT * FROM nl.ask('x')"], False),
        (["SET nl.ask = off", "RESET nl.ask", "SELECT * FROM nl.ask('x')"], True),
    ],
)
def test_whether_a_question_back_is_wanted(
    session: Any, say: Any, statements: list[str], *, ask: bool
) -> None:
    session.client(*map(say.query, statements))
    assert session.consulted == [AskRequest(ANN, "x", ask=ask)]


# -- nl.output


@pytest.mark.parametrize(
    ("back", "words", "lines"),
    [
        ("Which?\n", ("a\nn: 1", "b\nn: 2"), ["Which?", "1. a\nn: 1", "2. b\nn: 2"]),
        ("It is open. Which one? ", ("the a", "the b"), ["It is open. Which one?", "1. the a", "2. the b"]),
        ("", ("the a", "the b"), ["1. the a", "2. the b"]),
    ],
)
def test_the_question_is_what_all_options_begin_with(
    session: Any, say: Any, back: str, words: tuple[str, ...], lines: list[str]
) -> None:
    session.client(say.query("NL (output both): x")).engine(asked_back(words=words, back=back))
    session.server(say.columns(), say.done(), say.ready())
    assert [message for message, _ in told(session.to_client)][:-1] == lines
    assert session.to_server.count(b'"kind":"option"') == 2


def test_a_single_option_is_told_apart_from_the_question(session: Any, say: Any) -> None:
    (row,) = asked_back(words=("artist name. For example: Zoë.",)).rows
    session.client(say.query("SET nl.output = notices"), say.query("NL SHOW 1 OF q7"))
    session.engine(AskReply("q7", (row,)))
    session.server(say.done("SET"), say.ready(), say.columns(), say.done(), say.ready())
    assert [message for message, _ in told(session.to_client)][:-1] == [
        BACK,
        "1. artist name. For example: Zoë.",
    ]


# -- nl.on_abstain


@pytest.mark.parametrize(
    "text", ["NL: x", "NL RUN $$x$$", "NL MORE OF q1", "NL ANSWER 1 OF q1", "NL NONE OF q1"]
)
def test_a_question_back_can_be_an_error(session: Any, say: Any, text: str) -> None:
    session.client(say.query("SET nl.on_abstain = error"), say.query(text)).engine(asked_back())
    (error,) = session.failures
    assert error == ErrorReply(
        "NL001",
        "the question waits for an answer",
        f"{BACK}\n1. {OPTIONS[0]}\n2. {OPTIONS[1]}\n3. {OPTIONS[2]}",
        "Answer with NL ANSWER n OF 'q7', or in your own words with NL ANSWER $$text$$ OF 'q7'.",
    )
    session.client(say.query("NL ANSWER 1"))
    assert session.consulted[-1] == AnswerRequest(ANN, "q7", n=1)


def test_an_abstention_names_what_comes_next(session: Any, say: Any) -> None:
    row = AnswerRow(1, RowKind.ABSTAIN, None, None, "nothing fits", None, "NL HELP", "q9")
    session.client(say.query("SET nl.on_abstain = error"), say.query("NL ANSWER 1 OF q7"))
    session.engine(AskReply("q9", (row,)))
    assert session.failures == [
        ErrorReply("NL002", "the question was not answered", "nothing fits", "NL HELP")
    ]


@pytest.mark.parametrize("setting", ["SET nl.timeout = soon", "SET nl.on_abstain = error"])
def test_a_stored_answer_is_shown_as_it_is(session: Any, say: Any, setting: str) -> None:
    session.client(say.query(setting), say.query("NL SHOW OF q7")).engine(asked_back())
    assert session.consulted == [ShowRequest(ANN, "q7")]
    assert session.failures == []


def test_a_question_names_the_answer_before_it(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q1"))
    session.client(say.query("NL (k 2): y"))
    assert session.consulted[-1] == AskRequest(ANN, "y", k=2, after="q1")


@pytest.mark.parametrize(
    "text",
    ["NL NEW: y", "NL NEW $$y$$", "NL (context off): y", "SET nl.context = off; NL: y", "RESET ALL; NL: y"],
)
def test_a_question_starts_anew(text: str, session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q1"))
    session.client(say.query(text))
    assert session.consulted[-1] == AskRequest(ANN, "y")


def test_a_question_that_failed_has_no_dialogue(session: Any, say: Any) -> None:
    session.client(say.query("NL: x")).engine(say.answer(qid="q1"))
    session.client(say.query("NL: z")).engine(NO_OPTION)
    session.client(say.query("NL: y"))
    assert session.consulted[-1] == AskRequest(ANN, "y")
