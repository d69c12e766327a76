"""A dialogue through psycopg: follow-ups are read with the statement that was taken, and in its database."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import psycopg
import pytest

from pgparley import cluster as postgres
from tests.conftest import free_port
from tests.support.stack import Stack

SINGERS = "SELECT count(*) FROM singer WHERE country = 'France'"
NAMES = "SELECT name FROM singer WHERE country = 'France'"
OLD = "SELECT count(*) FROM singer WHERE country = 'France' AND age > 40"
FULL = "How many singers from France are over 40?"
THEN = "only those over 40"
BEFORE = "### Asked before"


SCRIPT = {
    "how many singers are from France?": [SINGERS, NAMES],
    "what does each product cost?": ["SELECT name, price FROM product"],
    THEN: [OLD],
    FULL: [OLD],
    "only the lamp": ["SELECT price FROM product WHERE name = 'lamp'"],
}


class Model(ThreadingHTTPServer):
    """Says the readings that are scripted for a question; `prompts`: what it was asked, probes apart."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Says)
        self.prompts: list[str] = []

    def reply(self, user: str) -> dict[str, Any]:
        """With the question in full where the prompt tells of one before."""
        question = user.rpartition("### Question\n")[2].partition("\n\n")[0]
        said = SCRIPT.get(question)
        if said is None:
            return {"answer": "yes"}
        self.prompts.append(user)
        listed = [{"meaning": "", "sql": sql, "assumes": ""} for sql in said]
        full = {"question": FULL if question == THEN else question} if BEFORE in user else {}
        return {**full, "readings": listed, "cannot": None}


class Says(BaseHTTPRequestHandler):
    """A chat completion."""

    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = json.dumps(self.server.reply(body["messages"][-1]["content"]))
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": None}
        usage = {"prompt_tokens": 10, "completion_tokens": 4, "total_tokens": 14}
        reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        data = json.dumps(reply | {"usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with Model() as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def stack(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    home = tmp_path_factory.mktemp("follow-ups")
    cluster = postgres.start(home / "postgres")
    try:
        with psycopg.connect(cluster.dsn(), autocommit=True) as admin:
            admin.execute("CREATE ROLE analyst LOGIN")
            for name in ("music", "shop", "store"):
                admin.execute(f"CREATE DATABASE {name}")
        for name, script in (
            ("music", "CREATE TABLE singer (singer_id int PRIMARY KEY, name text, country text, age int)"),
            ("shop", "CREATE TABLE product (product_id int PRIMARY KEY, name text, price numeric)"),
        ):
            with psycopg.connect(cluster.dsn(name), autocommit=True) as connection:
                connection.execute(script)
                connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO analyst")
        running = Stack(cluster, home, free_port())
        running.configure(f"http://127.0.0.1:{model.server_port}/v1", nl_timeout=60.0, grammar="none")
        with running.config.open("a", encoding="utf-8") as file:
            file.write('[generation]\nstrategy = "readings"\n')
        for name in ("music", "shop"):
            running.catalog("add", name, "--dsn", cluster.dsn(name))
            running.catalog("login", name, "*")
        with running.serving():
            yield running
    finally:
        postgres.stop(cluster)


@pytest.fixture
def ask(stack: Stack) -> Iterator[Any]:
    """Sends a statement; the first row's database and explanation, where it has such."""
    with psycopg.connect(stack.uri("music"), autocommit=True) as connection:

        def ask(statement: str) -> tuple[str, str] | None:
            cursor = connection.execute(statement)
            if cursor.description is None or cursor.description[0].name != "n":
                return None
            row = cursor.fetchone()
            assert row is not None
            return row[2], row[5]

        yield ask


FIRST = "NL (db music): $$how many singers are from France?$$"


def test_a_follow_up_is_read_with_the_dialogue(ask: Any, model: Model) -> None:
    ask(FIRST)
    database, explanation = ask(f"NL: $${THEN}$$")
    assert database == "music"
    assert explanation.startswith(f"Read as: \u201c{FULL}\u201d. ")
    assert SINGERS in model.prompts[-1]
    assert "how many singers are from France?" in model.prompts[-1]
    _, again = ask(f"NL: $${THEN}$$")
    assert "Read as" not in again, "the very same text again goes on from nothing"


def test_what_was_chosen_is_what_it_goes_on_from(ask: Any, model: Model) -> None:
    ask(FIRST)
    ask("NL CHOOSE 2")
    ask(f"NL: $${THEN}$$")
    assert NAMES in model.prompts[-1]
    _, more = ask("NL MORE")
    assert f"### Question\n{FULL}\n" in model.prompts[-1]
    assert BEFORE not in model.prompts[-1]
    assert more.startswith(f"Read as: \u201c{FULL}\u201d. ")


@pytest.mark.parametrize(
    "statement", [f"NL NEW: {THEN}", f"NL NEW $${THEN}$$", f"NL (db music, context off): {THEN}"]
)
def test_a_question_starts_anew(statement: str, ask: Any) -> None:
    ask(FIRST)
    assert "Read as" not in ask(statement)[1]


def test_a_session_without_context(ask: Any) -> None:
    ask("SET nl.context = off")
    ask(FIRST)
    assert "Read as" not in ask(f"NL (db music): {THEN}")[1]


def test_it_stays_in_the_database_of_the_answer_before(ask: Any, model: Model) -> None:
    ask(FIRST)
    ask("NL (db shop): $$what does each product cost?$$")
    database, _ = ask("NL: only the lamp")
    assert database == "shop"
    assert "SELECT name, price FROM product" in model.prompts[-1]


def test_a_question_that_failed_is_gone_on_from_by_none(ask: Any) -> None:
    ask(FIRST)
    with pytest.raises(psycopg.Error):
        ask("NL (k 99): $$what does each product cost?$$")
    assert "Read as" not in ask(f"NL (db music): {THEN}")[1]
