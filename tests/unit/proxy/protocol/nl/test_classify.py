"""What is for us in a text, and what it says: tables."""

from __future__ import annotations

import re

import pytest

from engine.values.messages import (
    AnswerRequest,
    ChooseRequest,
    CorrectRequest,
    ErrorReply,
    MoreRequest,
    NoneRequest,
    PlanRequest,
    ShowRequest,
    Topic,
)
from proxy.protocol.nl.classify import examine, holds_nl_word
from proxy.protocol.nl.statements import (
    NOBODY,
    AnswerTopic,
    AskCall,
    Examination,
    FollowUp,
    HistoryTopic,
    NLQuestion,
    Parameter,
    RunCall,
    RunQuestion,
    SettingChange,
    SqlStatement,
)
from proxy.protocol.scan import may_hold_nl


def look(text: str, *, standard_strings: bool = True) -> Examination:
    return examine(text, standard_strings=standard_strings, max_chars=100)


QUESTIONS = {
    "NL: how many singers": "how many singers",
    "Nl:x": "x",
    "nL : x": "x",
    "  \n\tNL: x  ": "x",
    "NL: x;": "x",
    "NL: x -- and a comment": "x",
    "NL: x /* and a comment */": "x",
    "NL: x /* 1 */ y": "x   y",
    "-- Metabase:: userID: 1\nNL: x": "x",
    "/* a; b */ NL: x": "x",
    "/* /* nested */ */NL: x": "x",
    "NL: 2010--2015": "2010--2015",
    "NL: a\nb": "a\nb",
    "NL: 100% of 'em": "100% of 'em",
    "NL: what's the artist's name": "what's the artist's name",
    "NL: what's up": "what's up",
    'NL: the "best" singers': 'the "best" singers',
    "NL: costs $5 or $10": "costs $5 or $10",
    "NL: smile :(": "smile :(",
    "NL: $$how many$$": "how many",
    "NL: $$what's; up$$;": "what's; up",
    "NL: $q$costs $$5$q$": "costs $$5",
    "NL: $$\nline\n$$": "line",
    "NL: 'it''s'": "it's",
    "NL: 'x' -- why": "x",
    "NL: E'it\\'s\\n'": "it's",
    "NL: U&'caf\\00e9'": "café",
    "NL: 'a' or 'b'": "'a' or 'b'",
    "NL: wie viele Sänger größer als 1,80 m?": "wie viele Sänger größer als 1,80 m?",
    "NL: select * from singer": "select * from singer",
    "NL:: x": ": x",
}


@pytest.mark.parametrize("text", QUESTIONS)
def test_question(text: str) -> None:
    (finding,) = look(text).findings
    assert finding.content == NLQuestion(QUESTIONS[text])
    assert may_hold_nl(text.encode())
    assert holds_nl_word(text.encode(), watch_resets=False)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("NL (db sales): x", (("db", "sales"),)),
        ("NL(db sales, k 5): x", (("db", "sales"), ("k", "5"))),
        ("NL (db = 'my db', coverage=0.9) : x", (("db", "my db"), ("coverage", "0.9"))),
        ('NL (db "My Db", timeout => 30s): x', (("db", "My Db"), ("timeout", "30s"))),
        ("NL (k 2, ask = on): x", (("k", "2"), ("ask", "on"))),
    ],
)
def test_options(text: str, options: tuple[tuple[str, str], ...]) -> None:
    assert [finding.content for finding in look(text).findings] == [NLQuestion("x", options)]


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("NL CHOOSE 1", SqlStatement(ChooseRequest(NOBODY, "", 1))),
        ("nl choose 2 of 'q7f3';", SqlStatement(ChooseRequest(NOBODY, "", 2), "q7f3")),
        ("NL /* this */ CHOOSE 1", SqlStatement(ChooseRequest(NOBODY, "", 1))),
        ("NL SHOW", FollowUp(ShowRequest(NOBODY, ""))),
        ("NL SHOW 2", FollowUp(ShowRequest(NOBODY, "", 2))),
        ("NL SHOW 2 OF $$q1$$", FollowUp(ShowRequest(NOBODY, "", 2), "q1")),
        ("NL HELP", HistoryTopic(Topic.HELP)),
        ("NL RUN $$what's up$$", RunQuestion(NLQuestion("what's up"))),
        ("nl run: how many?;", RunQuestion(NLQuestion("how many?"))),
        ("NL RUN (k 2) 'x'", RunQuestion(NLQuestion("x", (("k", "2"),)))),
        ("NL PLAN 2 OF q1", SqlStatement(PlanRequest(NOBODY, "", 2), "q1")),
        ("NL EXPLAIN 1 OF 'q1'", AnswerTopic(Topic.EXPLAIN, "q1", 1)),
        ("NL WHY", AnswerTopic(Topic.WHY)),
        ("NL SHOWPROMPT", AnswerTopic(Topic.PROMPT)),
        ("NL MORE OF 'q1'", FollowUp(MoreRequest(NOBODY, ""), "q1")),
        ("NL NONE", FollowUp(NoneRequest(NOBODY, ""))),
        ("NL NONE $$it's old$$ OF 'q1'", FollowUp(NoneRequest(NOBODY, "", "it's old"), "q1")),
        ("NL NONE $$ $$", FollowUp(NoneRequest(NOBODY, ""))),
        ("NL ANSWER 1", FollowUp(AnswerRequest(NOBODY, "", 1))),
        ("nl answer 12 of 'q1';", FollowUp(AnswerRequest(NOBODY, "", 12), "q1")),
        (
            "NL ANSWER $$the singer's name; not hers$$",
            FollowUp(AnswerRequest(NOBODY, "", text="the singer's name; not hers")),
        ),
        (
            "NL ANSWER 'it''s the second' OF 'q1'",
            FollowUp(AnswerRequest(NOBODY, "", text="it's the second"), "q1"),
        ),
        (
            "NL ANSWER $q$ costs $$5 $q$ OF $$q1$$;",
            FollowUp(AnswerRequest(NOBODY, "", text="costs $$5"), "q1"),
        ),
        ("NL ANSWER '" + "x" * 100 + "'", FollowUp(AnswerRequest(NOBODY, "", text="x" * 100))),
        ("NL CORRECT $$SELECT 'a;b'$$", FollowUp(CorrectRequest(NOBODY, "", "SELECT 'a;b'"))),
        ("NL CORRECT 'SELECT 1' OF 'q1';", FollowUp(CorrectRequest(NOBODY, "", "SELECT 1"), "q1")),
        ("NL HISTORY", HistoryTopic(Topic.HISTORY)),
        ("NL HISTORY 5", HistoryTopic(Topic.HISTORY, 5)),
        ("NL FORGET", AnswerTopic(Topic.FORGET)),
        ("nl forget all", HistoryTopic(Topic.FORGET)),
    ],
)
def test_command(text: str, statement: object) -> None:
    assert [finding.content for finding in look(text).findings] == [statement]


PLAIN = [
    "SELECT 1",
    "",
    ";;",
    "SELECT only FROM unloaded",
    "SELECT 'NL: x'",
    "SELECT $$NL: x$$",
    "/* NL: x */ SELECT 1",
    "-- NL: x\nSELECT 1",
    "/*NL: x*/",
    'SELECT "NL: x"',
    "SELECT nl::text FROM t",
    "SELECT a[nl:5] FROM t",
    "SELECT f(nl := 5)",
    "SELECT * FROM nl",
    "SELECT * FROM nl.singer",
    "SELECT nl.ask FROM nl",
    "INSERT INTO t VALUES ('x; NL: y')",
    "INSERT INTO t VALUES (E'x\\'; NL: y')",
    "CREATE FUNCTION f() RETURNS text LANGUAGE sql AS $$ SELECT * FROM nl.ask('x') $$",
    "NLP: x",
    "NL_x: y",
    "SELECT nlx.ask('x')",
    "EXPLAIN SELECT nl FROM t",
    'NL$x: "a"',
]


@pytest.mark.parametrize("text", PLAIN)
def test_plain(text: str) -> None:
    assert look(text).findings == ()


REFUSED = {
    "NL": ("42601", "needs a question"),
    "NL:": ("42601", "empty"),
    "NL: -- nothing": ("42601", "empty"),
    "NL: $$ $$": ("42601", "empty"),
    "NL: $1": ("42601", "no parameters"),
    "NL (k 2): $1": ("42601", "no parameters"),
    "NL: " + "x" * 101: ("42601", "too long"),
    "NL: $$x": ("42601", "unterminated"),
    "NL: $$x$$ y": ("42601", "unexpected text"),
    "NL: what's up;\nSELECT 1": ("42601", "unbalanced quote"),
    'NL: 5" pipes; \nSELECT 1': ("42601", "unbalanced quote"),
    "NL how many singers": ("42601", 'unrecognized NL command "how"'),
    "NL $$x$$": ("42601", "unrecognized NL command"),
    "NL CHOOSE": ("42601", "row number"),
    "NL CHOOSE x": ("42601", "syntax error"),
    "NL CHOOSE 0": ("42601", "no whole number from 1"),
    "NL CHOOSE 1 2": ("42601", "syntax error"),
    "NL CHOOSE 99999999999": ("42601", "no whole number from 1"),
    "NL RUN": ("42601", "needs a question"),
    "NL RUN how many": ("42601", "needs a question"),
    "NL RUN $$x$$ y": ("42601", "unexpected text"),
    "NL RUN (db sales)": ("42601", "needs a question"),
    "NL EXPLAIN": ("42601", "row number"),
    "NL PLAN OF 'q1'": ("42601", "row number"),
    "NL HISTORY 0": ("42601", "no whole number from 1"),
    "NL FORGET ALL OF 'q1'": ("42601", "syntax error"),
    "NL CORRECT": ("42601", "needs a statement"),
    "NL CORRECT SELECT 1": ("42601", "syntax error"),
    "NL NONE '" + "x" * 101 + "'": ("42601", "the reason is too long"),
    "NL ANSWER": ("42601", "needs the number of an option, or a text"),
    "NL ANSWER '  '": ("42601", "needs the number of an option, or a text"),
    "NL ANSWER '" + "x" * 101 + "'": ("42601", "the answer is too long"),
    "NL ANSWER 0": ("42601", "no whole number from 1"),
    "NL ANSWER -1": ("42601", "syntax error"),
    "NL ANSWER 1 2": ("42601", "syntax error"),
    "NL ANSWER 1 $$and more$$": ("42601", "syntax error"),
    "NL ANSWER the second": ("42601", "syntax error"),
    "NL ANSWER $$open": ("42601", "syntax error"),
    "SELECT nl.run('q1', 1)": ("0A000", "only in FROM"),
    "SELECT * FROM nl.run('q1')": ("0A000", "both constants"),
    "SELECT * FROM nl.run($1, 1)": ("0A000", "both constants"),
    "SELECT * FROM nl.run('q1', 1) WITH ORDINALITY": ("0A000", "WITH ORDINALITY"),
    "SELECT * FROM nl.run('q1', 1), nl.ask('x')": ("0A000", "both nl.ask and nl.run"),
    "NL (db sales) x": ("42601", "followed by a colon"),
    "NL (colour red): x": ("42601", 'unrecognized NL option "colour red"'),
    "NL (db): x": ("42601", 'unrecognized NL option "db"'),
    **dict.fromkeys(
        (
            "DECLARE c CURSOR FOR NL: x",
            'DECLARE "c" NO SCROLL CURSOR WITHOUT HOLD FOR NL: x',
            *("EXPLAIN NL: x", "PREPARE p AS NL: x", "COPY (NL: x) TO STDOUT", "CREATE TABLE t AS NL: x"),
            "WITH a AS (NL: x) SELECT * FROM a",
        ),
        ("0A000", "inside of another statement"),
    ),
    "SELECT nl.ask('x')": ("0A000", "only in FROM"),
    "SELECT * FROM nl.ask('a'), nl.ask('b')": ("0A000", "one call"),
    **{
        f"SELECT * FROM nl.ask({argument})": ("0A000", "one string constant or parameter")
        for argument in (
            *("()", "(('a'),)", "('a')('b')", "'a' text", "::text", "cast()", "cast(text)", "cast('a' text)"),
            *("cast('a' AS int)", "cast('a' AS varchar(1))", "answer => 'a'", "question => "),
            *("'a':text", "('a' || 'b')", "('a') || ('b')", "text", "cast", "NULL::text", "question = 'a'"),
            *("", "f(1)", "'a' || 'b'", "'a', 5", "$1::int", '"a"'),
        )
    },
    "SELECT * FROM nl.ask($1) WHERE sql = $1": ("0A000", "a second time"),
    "SELECT * FROM nl.ask('a'": ("0A000", "not closed"),
    "SELECT * FROM nl.ask('a') WITH ORDINALITY": ("0A000", "WITH ORDINALITY"),
    "PREPARE p AS SELECT * FROM nl.ask('x')": ("0A000", "stored"),
    "CREATE VIEW v AS SELECT * FROM nl.ask('x')": ("0A000", "stored"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    (finding,) = look(text).findings
    sqlstate, message = REFUSED[text]
    assert isinstance(finding.content, ErrorReply)
    assert finding.content.sqlstate == sqlstate
    assert message in finding.content.message


@pytest.mark.parametrize("text", ["NL ANSWER", "NL ANSWER the second", "NL ANSWER '' OF q1"])
def test_hint_shows_both_ways_to_answer(text: str) -> None:
    (finding,) = look(text).findings
    assert isinstance(finding.content, ErrorReply)
    hint = finding.content.hint or ""
    assert "NL ANSWER n" in hint
    assert "NL ANSWER $$text$$" in hint


CALLS = {
    "SELECT * FROM «nl.ask('it''s')» LIMIT 1": [AskCall("it's", named=False)],
    "SELECT * FROM «NL . Ask ( $1 )»": [AskCall(Parameter(1), named=False)],
    'SELECT * FROM «"nl"."ask"($1)»': [AskCall(Parameter(1), named=False)],
    "SELECT * FROM «nl.ask($2::varchar)» a": [AskCall(Parameter(2), named=True)],
    "SELECT * FROM «nl.ask($1::pg_catalog.text)»": [AskCall(Parameter(1), named=False)],
    "SELECT * FROM «nl.ask(('x'))»": [AskCall("x", named=False)],
    "SELECT * FROM «nl.ask((('x')::varchar)::text)» a": [AskCall("x", named=True)],
    "SELECT * FROM «nl.ask(cast('x; y' AS text))»": [AskCall("x; y", named=False)],
    "SELECT * FROM «nl.ask(CAST(($1) AS pg_catalog.varchar))»": [AskCall(Parameter(1), named=False)],
    "SELECT * FROM «nl.ask(question => 'x')»": [AskCall("x", named=False)],
    "SELECT * FROM «nl.ask(question := ($2::text))» q": [AskCall(Parameter(2), named=True)],
    "SELECT * FROM «nl.ask($q$x$q$)» AS t(a, b)": [AskCall("x", named=True)],
    "SELECT * FROM «nl.ask(E'a\\nb')» \"T\"": [AskCall("a\nb", named=True)],
    "SELECT * FROM t, «nl.ask('x')» WHERE true": [AskCall("x", named=False)],
    "SELECT * FROM t JOIN «nl.ask('x')» ON true": [AskCall("x", named=False)],
    "SELECT * FROM t, LATERAL «nl.ask('x')» ask": [AskCall("x", named=True)],
    "SELECT (SELECT count(*) FROM «nl.ask('x')»)": [AskCall("x", named=False)],
    "DECLARE c CURSOR FOR SELECT * FROM «nl.ask('x')»": [AskCall("x", named=False)],
    "CREATE TABLE a AS SELECT * FROM «nl.ask('x')» UNION TABLE b": [AskCall("x", named=False)],
    "SELECT * FROM «nl.run('q1', 2)» AS t": [RunCall("q1", 2, named=True)],
    "SELECT count(*) FROM «nl.run($$q1$$, 1)»": [RunCall("q1", 1, named=False)],
    "CREATE VIEW v AS SELECT * FROM «nl.run('q1', 1)» t": [RunCall("q1", 1, named=True)],
    "SELECT * FROM «nl.run('q1', 1)» a JOIN «nl.run('q2', 3)» b USING (x)": [
        RunCall("q1", 1, named=True),
        RunCall("q2", 3, named=True),
    ],
}


@pytest.mark.parametrize("marked", CALLS)
def test_call(marked: str) -> None:
    """Exactly what stands in quotation marks is replaced."""
    text = re.sub("[«»]", "", marked)
    found = look(text).findings
    assert [text[each.start : each.end] for each in found] == re.findall("«(.*?)»", marked)
    assert [each.content for each in found] == CALLS[marked]


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("SET nl.k = 5", [SettingChange("k", "5")]),
        ("set session nl.db to 'a b'", [SettingChange("db", "a b")]),
        ("SET LOCAL nl.coverage = 0.9", [SettingChange("coverage", "0.9", local=True)]),
        ("SET nl.k = DEFAULT", [SettingChange("k", None)]),
        ("SET nl.k TO -1", [SettingChange("k", "-1")]),
        ("RESET nl.k", [SettingChange("k", None)]),
        ("SET nl.ask = off", [SettingChange("ask", "off")]),
        ("SET LOCAL nl.ask TO on", [SettingChange("ask", "on", local=True)]),
        ("RESET ALL; SET nl.k = 1", [SettingChange(None, None), SettingChange("k", "1")]),
        ("DISCARD ALL", [SettingChange(None, None)]),
        ("SET work_mem = 5", []),
        ("SELECT nl.k", []),
        ("UPDATE t SET nl = 5", []),
    ],
)
def test_setting(text: str, changes: list[SettingChange]) -> None:
    assert list(look(text).changes) == changes


def test_positions_in_a_script_and_old_strings() -> None:
    text = "BEGIN; NL: a -- why\n; SELECT $3; NL: 'b'"
    found = look(text)
    assert [(text[f.start : f.end], f.first) for f in found.findings] == [
        ("NL: a -- why\n", False),
        ("NL: 'b'", False),
    ]
    assert (found.statements, found.parameters) == (4, 3)
    text = "SELECT 'a\\'; NL: x'"
    assert look(text, standard_strings=False).findings == ()
    assert len(look(text).findings) == 1
