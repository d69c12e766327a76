"""The personalisation benchmark over a real server, pipeline and learner; only the model and the data are made up."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.harness.command import Options, options_of, parser
from benchmarks.harness.questions import AMBIQT
from benchmarks.harness.site import site
from benchmarks.quality.personal.__main__ import summary
from benchmarks.quality.personal.measuring import Measuring, Outcome
from benchmarks.quality.personal.pairs import pairs
from tests.chat_server import chat_server, completion

LOADER = """
import sys, psycopg
dsn, what = sys.argv[sys.argv.index("--dsn") + 1], sys.argv[sys.argv.index("--what") + 1]
with psycopg.connect(dsn, autocommit=True) as c:
    c.execute("CREATE SCHEMA IF NOT EXISTS bench_meta")
    c.execute("CREATE TABLE IF NOT EXISTS bench_meta.loaded"
              " (name text PRIMARY KEY, loaded_at timestamptz NOT NULL DEFAULT now())")
    c.execute("INSERT INTO bench_meta.loaded VALUES (%s) ON CONFLICT DO NOTHING", (what + "/all",))
    c.execute("CREATE SCHEMA IF NOT EXISTS music")
    c.execute("CREATE TABLE IF NOT EXISTS music.singer (id bigint PRIMARY KEY, name text, age bigint)")
    c.execute("INSERT INTO music.singer VALUES (1, 'Ann', 30), (2, 'Bob', 40) ON CONFLICT DO NOTHING")
"""

SCORER = """
import json, pathlib, sys
given = dict(zip(sys.argv[2::2], sys.argv[3::2]))
lines = [json.loads(line) for line in pathlib.Path(given["--predictions"]).read_text().splitlines()]
items = [{"id": line["id"], "right": [[int("artist_name" in c["sql"]), int("performer_name" in c["sql"])]
                                     for c in line["candidates"]]} for line in lines]
report = {"n": len(items), "figures": {}, "intervals95": {}, "items": items}
pathlib.Path(given["--json"]).write_text(json.dumps(report))
"""

COLUMNS = ("artist_name", "performer_name")
TABLE = {
    "db": "music",
    "table": "singer",
    "columns": [{"name": "id", "type": "bigint"}, *({"name": each, "type": "text"} for each in COLUMNS)],
    "primary_key": ["id"],
    "foreign_keys": [],
}
DDL = (
    "CREATE SCHEMA {schema};"
    ' CREATE VIEW {schema}.singer AS SELECT id, name AS artist_name, name AS performer_name FROM "music"."singer"'
)
QUESTIONS = (
    "Show the name of every singer",
    "What is the singer name with the lowest id",
    "List names of singers",
)


def item(number: int) -> dict[str, Any]:
    """Question 0, 1, 2 of the first ambiguity, the next three of a second one, and so on."""
    group, which = divmod(number, 3)
    return {
        "id": f"ambiqt-C-{number:04}",
        "kind": "C",
        "db": "music",
        "question": f"{QUESTIONS[which]}.",
        "ambiguous": {"table": "singer", "column": "name", "names": [*COLUMNS, group]},
        "ddl_both": DDL,
        # The last question of a group is a paraphrase of the first.
        "gold_base": "b" if which == 1 else "a",
        "gold_1": "SELECT artist_name FROM singer",
        "gold_2": "SELECT performer_name FROM singer",
        "schema_both": [TABLE],
    }


def written(bench: Path, groups: int) -> Path:
    files: dict[str, list[dict[str, Any]]] = {
        "spider/schemas.jsonl": [TABLE],
        "defog/schemas.jsonl": [TABLE],
        "ambiqt/C.jsonl": [item(number) for number in range(3 * groups)],
    }
    for name, items in files.items():
        (bench / name).parent.mkdir(parents=True, exist_ok=True)
        (bench / name).write_text("".join(json.dumps(each) + "\n" for each in items), encoding="utf-8")
    (bench / "load.py").write_text(LOADER, encoding="utf-8")
    (bench / "score.py").write_text(SCORER, encoding="utf-8")
    return bench


@asynccontextmanager
async def first_allowed(asked: list[str]) -> AsyncIterator[str]:
    """A server that names the first of the two columns that the grammar allows."""

    async def chat(request: web.Request) -> web.Response:
        body = await request.json()
        asked.append(body["messages"][-1]["content"] if body["messages"][-1]["role"] == "user" else "")
        grammar = json.dumps({key: value for key, value in body.items() if key != "messages"})
        column = next((each for each in COLUMNS if each in grammar), COLUMNS[0])
        return completion(f"SELECT {column} FROM singer\n```")

    async with chat_server(chat) as address:
        yield address


def test_pairs_are_of_one_ambiguity_and_are_no_paraphrases(tmp_path: Path) -> None:
    bench = written(tmp_path, 8)
    made = pairs(bench, AMBIQT[0], 8, 1)
    assert len(made) == 8
    for each in made:
        numbers = [int(asked.question.id[-4:]) for asked in (each.first, each.second)]
        assert numbers[0] // 3 == numbers[1] // 3
        assert {number % 3 == 1 for number in numbers} == {True, False}
        assert each.gold == f"SELECT {COLUMNS[each.reading]} FROM singer"
    assert {each.reading for each in made} == {0, 1}
    assert {each.name for each in pairs(bench, AMBIQT[0], 3, 1)} < {each.name for each in made}
    assert made == pairs(bench, AMBIQT[0], 100, 1)


async def test_the_second_meeting_goes_better_and_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    bench = written(tmp_path / "bench", 3)
    words = ["--bench", str(bench), "--work", str(tmp_path / "work"), "--n", "3", "--k", "2"]
    options = options_of(parser("x", "", k=2).parse_args(words), Options)
    readings = [each.reading for each in pairs(bench, AMBIQT[0], 3, 1)]
    assert set(readings) == {0, 1}
    asked: list[str] = []
    async with site(options.work, bench) as place, first_allowed(asked) as place.meter.target:
        cut = Measuring(AMBIQT[0], replace(options, n=1), place)
        await cut.measure(lambda _: None)
        answered = len(asked)
        told: list[str] = []
        whole = Measuring(AMBIQT[0], options, place)
        assert whole.left == 6
        await whole.measure(told.append)
        assert (whole.left, len(told)) == (0, 2)
        assert len(asked) > answered
        outcomes = whole.outcomes()
        asked.clear()
        again = Measuring(AMBIQT[0], options, place)
        await again.measure(told.append)
        assert asked == []
        assert again.outcomes() == outcomes
    assert [each.without_first for each in outcomes] == [reading == 0 for reading in readings]
    assert all(each.with_first and each.with_set and each.without_set for each in outcomes)
    found = summary(outcomes)
    assert found["personal_gain"] == 3 / readings.count(0)
    assert (found["personal_n"], found["personal_with"]) == (3, 1.0)
    assert found["personal_c_gain"] == found["personal_gain"]


def test_a_gain_over_nothing_is_no_number() -> None:
    outcome = Outcome("ambiqt_t", "a+b", "music", True, False, True, True, False, True)  # noqa: FBT003 - one of each
    found = summary([outcome])
    assert found["personal_gain"] is None
    assert (found["personal_t_with"], found["personal_t_without"]) == (1.0, 0.0)
    assert "personal_c_gain" not in found
