"""wire → engine → model → candidates → choose, with the embedded model and real clients."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import aiohttp
import asyncpg
import psycopg
import pytest

from engine.values.messages import ANSWER_COLUMNS
from pgparley.processes import PartKind
from tests.support.stack import Stack

pytestmark = [pytest.mark.llm, pytest.mark.timeout(300)]

FRENCH = "How many singers are from France?"


def psql(stack: Stack, script: str, dbname: str = "music") -> subprocess.CompletedProcess[str]:
    command = [str(stack.cluster.bin_dir / "psql"), "-X", "-A", "-t", stack.uri(dbname)]
    return subprocess.run(command, input=script, capture_output=True, text=True, check=False)  # noqa: S603


def test_an_analyst_asks_and_chooses_in_psql(stack: Stack) -> None:
    done = psql(stack, f"NL: {FRENCH}\n;\nNL CHOOSE 1;\n")
    *answers, rows = done.stdout.strip().splitlines()
    assert answers[0].split("|")[:3] == ["1", "candidate", "music"], done
    assert rows == "2"
    assert "ERROR" not in done.stderr


@pytest.mark.slow
def test_a_question_about_another_database_than_the_connected_one(stack: Stack) -> None:
    question = "NL (ask off): $$What are the total sales of each product?$$"
    done = psql(stack, f"{question};\nNL CHOOSE 1;\n", dbname="music")
    first = done.stdout.splitlines()[0].split("|")
    assert first[:3] == ["1", "candidate", "shop"], done
    assert "lamp" in done.stdout or "1|" in done.stdout


@pytest.mark.slow
def test_both_readings_of_an_ambiguous_word_are_offered(stack: Stack) -> None:
    with psycopg.connect(stack.uri("shop"), autocommit=True) as connection:
        rows = connection.execute("NL (k 4, ask off): $$What are the total sales?$$").fetchall()
    statements = " ".join(row[5] for row in rows)
    assert "gross_sales" in statements
    assert "net_sales" in statements


def test_what_is_ambiguous_is_asked_back_and_the_answer_decides(stack: Stack) -> None:
    with psycopg.connect(stack.uri("shop"), autocommit=True) as connection:
        options = connection.execute("NL (k 4): $$What are the total sales?$$").fetchall()
        assert {row[1] for row in options} == {"option"}
        assert all(row[5] is None for row in options)
        net = next(row for row in options if "net" in row[4])
        rows = connection.execute(net[6]).fetchall()
        assert rows[0][1] == "candidate"
        assert "net_sales" in rows[0][5]
        assert connection.execute(rows[0][6]).fetchall() == [(246,)]


def test_psycopg_asks_with_a_bind_parameter_and_chooses(stack: Stack) -> None:
    with psycopg.connect(stack.uri("music")) as connection:
        cursor = connection.execute("SELECT * FROM nl.ask(%s) WHERE n = 1", (FRENCH,))
        assert [column.name for column in cursor.description or ()] == [name for name, _ in ANSWER_COLUMNS]
        row = cursor.fetchone()
        assert row is not None
        assert connection.execute(row[6]).fetchall() == [(2,)]
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


async def test_asyncpg_asks_and_chooses(stack: Stack) -> None:
    connection = await asyncpg.connect(stack.uri("music"))
    try:
        rows = await connection.fetch(f"NL: $${FRENCH}$$")
        # Verified, and so without a confidence, where this user has chosen an answer to it already, in another test.
        if rows[0]["kind"] == "verified":
            assert rows[0]["confidence"] is None
        else:
            assert rows[0]["kind"] == "candidate"
            assert 0 < rows[0]["confidence"] <= 1
        assert await connection.fetchval(f"NL CHOOSE 1 OF '{rows[0]['qid']}'") == 2
    finally:
        await connection.close()


def test_what_a_role_may_not_read_is_not_offered(stack: Stack) -> None:
    with psycopg.connect(stack.uri("music", "hidden"), autocommit=True) as connection:
        with pytest.raises(psycopg.Error) as raised:
            connection.execute(f"NL: $${FRENCH}$$")
        assert raised.value.sqlstate == "NL003"
        assert "singer" not in str(raised.value)
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_the_command_line_prints_the_whole_outcome(stack: Stack) -> None:
    done = stack.pgparley("ask", f"{FRENCH}, please", "--json", "--user", "analyst")
    outcome = json.loads(done)
    assert outcome["rows"][0]["database"] == "music"
    assert {timing["stage"] for timing in outcome["timings"]} >= {
        "route",
        "link",
        "write",
        "admit",
        "judge",
    }
    usage = outcome["usage"]
    assert usage["calls"] >= 1
    assert usage["generated"] > 0
    assert 0 < usage["first_candidate_seconds"] <= outcome["seconds"]
    assert any(line["stage"] == "write" for line in outcome["trace"])


BAD = {
    "an empty question": ("NL: ", "42601"),
    "10,000 characters": ("NL: $$" + "how many singers " * 600 + "$$", "42601"),
    "a row that is not there": ("NL CHOOSE 99 OF '{qid}'", "22023"),
    "an expired or foreign qid": ("NL CHOOSE 1 OF 'qzzzzzz'", "NL004"),
    "an unknown command": ("NL DANCE", "42601"),
    "an unknown database": ("NL (db nowhere): $$how many?$$", "NL003"),
    "too many rows": ("NL (k 1000): $$how many singers?$$", "22023"),
}


def test_bad_input_is_a_clear_error_and_the_session_goes_on(stack: Stack) -> None:
    with psycopg.connect(stack.uri("music"), autocommit=True) as connection:
        row = connection.execute(f"NL: $${FRENCH}$$").fetchone()
        assert row is not None
        for case, (statement, sqlstate) in BAD.items():
            with pytest.raises(psycopg.Error) as raised:
                connection.execute(statement.replace("{qid}", row[7]))
            assert raised.value.sqlstate == sqlstate, (case, raised.value)
            assert raised.value.diag.message_hint or raised.value.diag.message_detail, case
            assert connection.execute("SELECT 41 + 1").fetchone() == (42,)


KEY = "PGPARLEY_MODEL_API_KEY="


def test_the_model_answers_the_engine_and_nobody_else(stack: Stack, model_port: int) -> None:
    """It wants the key that `pgparley serve` made, which stands in no command line and no log."""
    commands = {each.parent: _words(each) for each in Path("/proc").glob("[0-9]*/cmdline")}
    ours = {place: words for place, words in commands.items() if str(stack.config) in words}
    found = {place: [each for each in _words(place / "environ") if each.startswith(KEY)] for place in ours}
    (key,) = {each.removeprefix(KEY) for keys in found.values() for each in keys}
    kinds = {word for place in ours if found[place] for word in ours[place]}
    assert kinds & {*PartKind} == {PartKind.MODEL, PartKind.ENGINE}
    assert not [words for words in ours.values() if any(key in word for word in words)]
    for given, statuses in (("", [200, 401, 401]), (key[1:], [200, 401, 401]), (key, [200, 400, 200])):
        assert asyncio.run(_statuses(model_port, given)) == statuses
    assert key not in (stack.home / "serve.log").read_text("utf-8")


def _words(file: Path) -> list[str]:
    try:
        return file.read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


async def _statuses(port: int, key: str) -> list[int]:
    """HTTP's status for health, a completion, and the list of models."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as http:
        health = await http.get("/health")
        completion = await http.post("/v1/chat/completions", data=b"{}")
        return [health.status, completion.status, (await http.get("/v1/models")).status]


def test_a_question_that_no_database_can_answer_is_not_guessed(stack: Stack) -> None:
    with psycopg.connect(stack.uri("music"), autocommit=True) as connection:
        row = connection.execute("NL: $$zzyzx qwrtplk$$").fetchone()
    assert row is not None
    assert row[1] == "abstain"
    assert row[5] is None
    assert row[4]
