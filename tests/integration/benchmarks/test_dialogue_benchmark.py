"""The dialogue benchmark over a real server and the service; only the model, the data and the scorer are made up."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from benchmarks.harness.command import Options, options_of, parser
from benchmarks.harness.replay import Completions, Replay
from benchmarks.harness.scorer import Scorer, Verdicts
from benchmarks.harness.site import site
from benchmarks.quality.dialogue.figures import evaluated
from benchmarks.quality.dialogue.intent import intent, reading_of
from benchmarks.quality.dialogue.measuring import Measuring, passes
from benchmarks.quality.dialogue.records import Said
from benchmarks.quality.dialogue.systems import AMBIQT, DIALOGUE, FEEDBACK, LIST, SETS
from tests.integration.benchmarks.test_candidates_site import AMBIGUOUS, SINGER, scripted_model, written

SCORER = """
import argparse, json, pathlib
p = argparse.ArgumentParser()
p.add_argument("command")
for name in ("--dsn", "--questions", "--predictions", "--only", "--json", "--cache"):
    p.add_argument(name)
a = p.parse_args()
given = [json.loads(line) for line in pathlib.Path(a.predictions).read_text().splitlines()]
items = [{"id": g["id"], "right": [
    [int("artist_name" in c["sql"]), int("performer_name" in c["sql"])] for c in g["candidates"]]} for g in given]
pathlib.Path(a.json).write_text(json.dumps(
    {"n": len(items), "figures": {}, "intervals95": {}, "items": items}))
"""
COLUMNS = ("id", "artist_name", "performer_name")
QUESTION = AMBIGUOUS | {
    "ddl_both": "CREATE SCHEMA {schema}; CREATE VIEW {schema}.singer AS"
    ' SELECT id, name AS artist_name, name AS performer_name FROM "music"."singer"',
    "schema_both": [SINGER | {"columns": [{"name": name, "type": "text"} for name in COLUMNS]}],
    "gold_1": "SELECT artist_name FROM singer",
    "gold_2": "SELECT performer_name FROM singer",
}


async def test_a_user_talks_with_the_service_and_a_later_run_has_nothing_left(tmp_path: Path) -> None:
    bench, of = written(tmp_path / "bench"), replace(SETS[0], looked_at=0)
    (bench / "ambiqt/C.jsonl").write_text(json.dumps(QUESTION) + "\n", encoding="utf-8")
    (bench / "score.py").write_text(SCORER, encoding="utf-8")
    # The model says the other column first.
    seed = next(n for n in range(20) if reading_of(QUESTION, of.questions, n) == 2)
    words = ["--bench", str(bench), "--work", str(tmp_path / "work"), "--seed", str(seed), "--k", "3"]
    setup = options_of(parser("x", "", k=5).parse_args(words), Options)
    systems = (LIST, DIALOGUE, FEEDBACK)
    async with site(setup.work, bench) as place, scripted_model("artist_name") as place.meter.target:
        replay = Replay(place.tools.model, Completions(tmp_path / "kept"))
        verdicts = Verdicts(Scorer(bench, place.dsn, setup.work / "scoring"), tmp_path / "verdicts.jsonl")
        measuring = Measuring(place, replay, verdicts, seed, setup.k, "abc")
        for one in passes(of, systems, setup):
            await measuring.measure(one, lambda _: None)
        task = await place.task(passes(of, systems, setup)[0].asked[0])
        assert task.place is not None
        meant = await intent(QUESTION, 2, task.place, task.tools.upstream)
        assert (meant.headings, meant.rows) == (("performer_name",), (("Ann",),))
        assert (task.place.database.name, "singer", "performer_name") in meant.elements
        made = passes(of, systems, setup)
        assert not any(one.left for one in made)
        results = evaluated(made, verdicts)
    by_system = {one.system: one.conversations[0] for one in made}
    assert [each.error for each in by_system.values()] == [None] * 3
    assert by_system[LIST].turns[0].statements[0] == "SELECT artist_name FROM singer"
    assert by_system[FEEDBACK].turns[0].said is Said.NONE
    assert [each.after[0].value for each in results.figures[AMBIQT]] == [0.0] * 3
