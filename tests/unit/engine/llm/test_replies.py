"""Replies of the families of models, and the statements or readings in them."""

from __future__ import annotations

import json
import time

import pytest

from engine.llm.reading import Choice, Likely, Logprobs, Message, Reply, Told, completion
from engine.llm.replies import Reading, Readings, readings, statement, statements
from engine.question.plain import plain

STATEMENTS = [
    pytest.param("SELECT 1;", ("SELECT 1",), id="plain"),
    pytest.param("```sql\nSELECT a\nFROM t;\n```", ("SELECT a FROM t",), id="fence"),
    pytest.param("```\nSELECT a FROM t\n```", ("SELECT a FROM t",), id="fence without a language"),
    pytest.param("SELECT a FROM t\n```", ("SELECT a FROM t",), id="the opened fence was gone on with"),
    pytest.param("```sql\nSELECT a FROM t", ("SELECT a FROM t",), id="fence that is not closed"),
    pytest.param(
        "Here is the SQL:\n```sql\nSELECT a FROM t\n```\nIt shows a.", ("SELECT a FROM t",), id="prose around"
    ),
    pytest.param("Sure! Here it is:\n\nSELECT a\nFROM t\n\nThis shows a.", ("SELECT a FROM t",), id="prose"),
    pytest.param("SELECT a\nFROM t\n\nWHERE b = 1", ("SELECT a FROM t WHERE b = 1",), id="an empty line"),
    pytest.param(
        "<think>SELECT wrong FROM t</think>\n```sql\nSELECT a FROM t\n```",
        ("SELECT a FROM t",),
        id="thoughts",
    ),
    pytest.param("<think>it could be SELECT wrong FROM t", (), id="thoughts without an end"),
    pytest.param(
        "SELECT a, -- the name\n b /* both; */ FROM t", ("SELECT a, b FROM t",), id="comments on the way"
    ),
    pytest.param("SELECT 'x--y;\nz' FROM t", ("SELECT 'x--y;\nz' FROM t",), id="marks inside a literal"),
    pytest.param(
        "```sql\nSELECT 1;\nSELECT 2;\n```\nor\n```sql\nSELECT 3\n```",
        ("SELECT 1", "SELECT 2", "SELECT 3"),
        id="several",
    ),
    pytest.param(
        "WITH x AS (SELECT 1) SELECT * FROM x", ("WITH x AS (SELECT 1) SELECT * FROM x",), id="with"
    ),
    pytest.param("I'm sorry, I can't help with that.", (), id="refusal"),
    pytest.param("", (), id="nothing"),
]


@pytest.mark.parametrize(("reply", "expected"), STATEMENTS)
def test_statements_are_found_however_they_are_wrapped(reply: str, expected: tuple[str, ...]) -> None:
    assert statements(reply) == expected
    assert statement(reply) == (expected[0] if expected else "")


def test_a_change_behind_a_query_is_left_to_the_guard() -> None:
    assert statement("SELECT 1; DROP TABLE t") == "SELECT 1; DROP TABLE t"
    assert statement("SELECT 1; SELECT 2") == "SELECT 1"


ONE = Readings((Reading("SELECT a FROM t", "all a", "t is meant"),))
JSON = (
    '{"readings": [{"meaning": "all a", "sql": "SELECT a FROM t;", "assumes": "t is meant"}], "cannot": null}'
)

REPLIES = [
    pytest.param(JSON, ONE, id="as asked for"),
    pytest.param(f"```json\n{JSON}\n```", ONE, id="JSON in a fence"),
    pytest.param(f"Here you go:\n{JSON}\nAnything else?", ONE, id="prose around JSON"),
    pytest.param(f"<think>{{maybe}}</think>{JSON}", ONE, id="thoughts before JSON"),
    pytest.param(JSON[:-15], ONE, id="cut short"),
    pytest.param(JSON.replace('"', "'"), ONE, id="single quotes"),
    pytest.param(JSON.replace("null}", "null,}"), ONE, id="a comma too many"),
    pytest.param(
        '[{"meaning": "all a", "sql": "SELECT a FROM t", "assumes": ["t is meant"]}]',
        ONE,
        id="the list alone",
    ),
    pytest.param(
        '{"meaning": "all a", "sql": "```sql\\nSELECT a\\nFROM t\\n```", "assumes": "t is meant"}',
        ONE,
        id="one reading alone, its statement in a fence",
    ),
    pytest.param(
        '{"readings": [{"sql": "SELECT 1", "meaning": "one", "assumes": "none"}]}',
        Readings((Reading("SELECT 1", "one"),)),
        id="nothing is taken for granted",
    ),
    pytest.param(
        '{"readings": [], "cannot": "There is no table of prices."}',
        Readings((), "There is no table of prices."),
        id="cannot",
    ),
    pytest.param(
        '{"readings": [{"sql": "", "meaning": "?"}], "cannot": "no prices"}',
        Readings((), "no prices"),
        id="empty SQL",
    ),
    pytest.param(
        "SELECT a FROM t WHERE b = '{x}'", Readings((Reading("SELECT a FROM t WHERE b = '{x}'"),)), id="SQL"
    ),
    pytest.param("I'd rather not.", None, id="neither"),
    pytest.param("", None, id="empty"),
]


@pytest.mark.parametrize(("reply", "expected"), REPLIES)
def test_readings_are_found_however_they_are_wrapped(reply: str, expected: Readings | None) -> None:
    assert readings(reply) == expected


SIGNS = "\x00\x07\x1b\x7f\x9b\xad\u061c\u200b\u200e\u200f\u202e\u2066\u2069\ufeff\ud800\U000e0041"


def test_nothing_that_a_terminal_obeys_or_nobody_sees_is_left_of_what_a_model_says() -> None:
    parts = {
        "meaning": f"a{SIGNS}b",
        "sql": f"SELECT '{SIGNS}c' AS d",
        "assumes": f"e{SIGNS}",
        "database": SIGNS,
    }
    said = {"readings": [parts], "cannot": SIGNS, "question": f"f{SIGNS}\u2028g"}
    assert readings(json.dumps(said)) == Readings((Reading("SELECT 'c' AS d", "ab", "e", ""),), "", "f g")
    message = Message(content=f"h{SIGNS}\n\ti", refusal=f"j{SIGNS}")
    token = Told(f"k{SIGNS}", -0.1, None, (Likely(f"l{SIGNS}", -0.1),))
    made = completion(Reply((Choice(message, "stop", Logprobs((token,))),)))
    assert (made.text, made.refusal) == ("h\n\ti", "j")
    assert (made.tokens[0].text, made.tokens[0].others[0][0]) == ("k", "l")


def test_joiners_that_writing_needs_stay() -> None:
    written = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 👩\u200d💻"
    assert plain(written) == written


@pytest.mark.parametrize("before", ["SELECT ", '{"sql": "'])
@pytest.mark.parametrize(
    "sign",
    ["{", "[", '{"', '["', '{"a":', '"', "\\", "/*", "/**/", "+", "+-", "```", "<think>", "\n\nA", ";", "$$"],
)
def test_a_reply_takes_time_by_its_length_alone(before: str, sign: str) -> None:
    began = time.thread_time()
    readings(before + sign * (200_000 // len(sign)))
    assert time.thread_time() - began < 3.0, "it took 10 s and more, far more than that for most"


def test_of_a_reply_so_many_statements_are_read() -> None:
    many = [f"SELECT {number}" for number in range(1000)]
    assert len(statements(";".join(many))) == 20
    assert len((readings(json.dumps({"readings": many})) or ONE).readings) == 20
