"""`pgparley eval` over a real store and real databases: verdicts, and that nothing of an evaluation is kept."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from engine.app.evaluating import Evaluating, Trials
from engine.app.service import Service
from engine.judge.point_store import CalibrationStore
from engine.learn.store import LearningStore
from engine.values.calibration import KnownQuestion, Source
from engine.values.errors import InvalidSettingError, ModelUnavailableError
from engine.values.evaluation import EvaluateRequest, KnownRequest, TrialRequest, Verdict
from engine.values.messages import Asker, AskRequest, RowKind
from engine.values.settings import DialogueSettings, LearningSettings
from engine.values.tools import Tools
from pgparley.config import load
from pgparley.evaluation.calibration import calibration
from pgparley.evaluation.command import Evaluation, evaluate
from schema_catalog.store import CatalogStore
from tests.integration.engine_service.conftest import LIMITS

QUESTION = "name of each singer"
SHOWN = ("SELECT name FROM singer", "SELECT stage_name FROM singer", "SELECT family_name FROM singer")


@pytest.fixture
def tools(tools: Tools, pool: Any) -> Tools:
    """As the folder's, with a memory."""
    return replace(tools, memory=LearningStore(pool, LearningSettings()))


@pytest.fixture
def evaluating(tools: Tools, pool: Any, points: CalibrationStore) -> Evaluating:
    return Evaluating(tools, LIMITS, Trials(pool, tools.upstream), points)


def request(sql: str = SHOWN[0], **more: Any) -> EvaluateRequest:
    return replace(EvaluateRequest(Asker("ana", ""), QUESTION, "music", sql), **more)


async def verify(pool: Any, question: str, sql: str) -> None:
    await pool.execute("SELECT nl_catalog.verify($1, $2, $3)", "music", question, sql)
    await pool.execute("UPDATE pgparley.definition SET state = 'checked'")


async def kept(pool: Any) -> list[int]:
    tables = ("question", "calibration_point", "learned_example", "verdict", "choice")
    return [await pool.fetchval(f"SELECT count(*) FROM pgparley.{table}") for table in tables]


async def test_an_answer_is_judged_by_its_results_and_nothing_is_kept(
    evaluating: Evaluating, service: Service, pool: Any
) -> None:
    rows = (await service.ask(AskRequest(Asker("ana", "music"), QUESTION))).rows
    before = await kept(pool)
    shown = [row.sql for row in rows]
    assert len(shown) == 2
    for rank, verdict in ((1, Verdict.FIRST), (2, Verdict.IN_SET)):
        evaluating.tools.model.prompts.clear()  # type: ignore[attr-defined] # scripted
        reply = await evaluating.evaluate(request(str(shown[rank - 1])))
        assert (reply.verdict, reply.rank, reply.shown, reply.sql) == (verdict, rank, 2, shown[0])
    evaluating.tools.model.prompts.clear()  # type: ignore[attr-defined] # scripted
    wrong = await evaluating.evaluate(request("SELECT max(age) FROM singer"))
    assert (wrong.verdict, wrong.rank, wrong.sql) == (Verdict.WRONG, None, shown[0])
    assert await kept(pool) == before


async def test_what_cannot_be_judged(evaluating: Evaluating) -> None:
    for asked, why in (
        (request("DELETE FROM singer"), "is refused"),
        (request("SELECT salary FROM singer"), "is refused"),
        (request("SELECT name FROM singer WHERE age > 99"), "gives no row"),
        (request(database="nowhere"), "is not registered"),
        (request(asker=Asker("bob", "")), "nothing of it may be read"),
    ):
        reply = await evaluating.evaluate(asked)
        assert reply.verdict is Verdict.UNJUDGED, asked
        assert why in reply.detail, asked


async def test_a_verified_query_does_not_answer_its_own_question(
    evaluating: Evaluating, service: Service, pool: Any
) -> None:
    sql = "SELECT max(age) FROM singer"
    await verify(pool, QUESTION, sql)
    verified = KnownQuestion(QUESTION, "music", sql, source=Source.VERIFIED)
    assert (await evaluating.known(KnownRequest())).questions == (verified,)
    assert (await evaluating.known(KnownRequest("copy"))).questions == ()
    asked = await service.ask(AskRequest(Asker("ana", "music"), QUESTION))
    assert (asked.rows[0].kind, asked.rows[0].sql) == (RowKind.VERIFIED, sql)
    assert (await evaluating.evaluate(request(sql, question=f"{QUESTION.upper()}?"))).verdict is Verdict.WRONG


async def test_a_question_back_and_a_refusal_are_told(evaluating: Evaluating) -> None:
    asking = replace(
        evaluating.tools,
        dialogue=DialogueSettings(question=0.01, row=0.2, abstention=1.0),
    )
    back = await replace(evaluating, tools=asking).evaluate(request())
    assert (back.verdict, back.rank) == (Verdict.ASKED_BACK, None)
    assert back.detail.endswith("?")
    evaluating.tools.model.prompts.clear()  # type: ignore[attr-defined] # scripted
    evaluating.tools.model.lines[:] = ["SELECT nothing FROM nowhere"]  # type: ignore[attr-defined] # scripted
    refused = await evaluating.evaluate(request())
    assert (refused.verdict, refused.sql) == (Verdict.REFUSED, None)
    assert refused.detail


async def test_errors_end_a_question_or_all(evaluating: Evaluating) -> None:
    with pytest.raises(InvalidSettingError):
        await evaluating.evaluate(request(k=99))

    class Silent:
        async def known(self, *_: str) -> None:
            raise ModelUnavailableError("the model does not answer")

    silent: Any = Silent()
    with pytest.raises(ModelUnavailableError):
        await replace(evaluating, tools=replace(evaluating.tools, memory=silent)).evaluate(request())


# -- the command, through the engine's interface


@pytest.fixture
def engine(api: str, tmp_path: Path) -> Path:
    """The configuration file of an engine that answers on a socket."""
    file = tmp_path / "pgparley.toml"
    file.write_text(f'[engine]\nsocket = "{api}"\n', encoding="utf-8")
    return file


async def test_the_command_reports_compares_and_fails_below_a_share(
    engine: Path, model: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, file = load(engine, {}), tmp_path / "questions.yaml"
    file.write_text(
        "- {question: age of each singer, sql: SELECT age FROM singer}\n"
        "- {question: nothing, sql: SELECT 1 WHERE false}\n",
        encoding="utf-8",
    )
    run = Evaluation(file, "ana", "music", named=True, json=tmp_path / "a.json")
    model.lines[:] = [SHOWN[0]]
    assert await evaluate(config, run) == 0
    shown = capsys.readouterr().out
    assert "0/1" in shown
    assert "1 could not be judged" in shown
    assert json.loads((tmp_path / "a.json").read_bytes())["questions"][0]["reply"]["verdict"] == "wrong"
    assert await evaluate(config, replace(run, json=None, fail_under=0.5)) == 1
    assert "First right: 0.000, below 0.5." in capsys.readouterr().out
    model.lines[:] = ["SELECT age FROM singer"]
    later = replace(run, json=None, fail_under=1.0, baseline=tmp_path / "a.json")
    assert await evaluate(config, later) == 0
    assert "Of 1 questions judged before, 1 are better and 0 worse." in capsys.readouterr().out


async def test_the_command_asks_verified_queries(
    engine: Path, pool: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    config, run = load(engine, {}), Evaluation(None, "ana")
    with pytest.raises(typer.Exit):
        await evaluate(config, run)
    assert "no question to ask in the catalog's verified queries" in capsys.readouterr().err
    await verify(pool, QUESTION, "SELECT max(age) FROM singer")
    assert await evaluate(config, run) == 0
    assert "0/1" in capsys.readouterr().out


async def test_the_command_calibrates(
    engine: Path, tmp_path: Path, points: CalibrationStore, capsys: pytest.CaptureFixture[str]
) -> None:
    config, file = load(engine, {}), tmp_path / "questions.jsonl"
    lines = [
        {"question": f"{QUESTION} {number}", "database": "music", "sql": sql}
        for number, sql in enumerate([SHOWN[0], "SELECT max(age) FROM singer", "SELECT 1 WHERE false"])
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n\n", encoding="utf-8")
    assert await evaluate(config, Evaluation(file, "ana", named=True, calibrate=True)) == 0
    shown = capsys.readouterr().out
    assert "1 could not be judged" in shown
    assert "Judged questions: 2 from file; 0 more count no longer." in shown
    assert len(await points.points()) == 2
    with pytest.raises(typer.Exit):
        await evaluate(config, Evaluation(None, "ana", feedback=True))
    assert "no question to ask in what users corrected or chose" in capsys.readouterr().err
    await calibration(config, as_json=True)
    assert json.loads(capsys.readouterr().out)["sources"] == [["file", 2]]


# -- with a catalog that is not saved

TRIED = """
version: 1
databases:
- name: music
  tables:
  - schema: public
    name: singer
    columns:
    - name: stage_name
      synonyms: [nom de scene]
    - name: family_name
      hidden: true
  terms:
  - name: old singer
    definition: singer.age > 40
  - name: broken
    definition: singer.no_such_column > 40
"""


async def said(pool: Any) -> list[int]:
    return [
        await pool.fetchval(f"SELECT count(*) FROM pgparley.{table}")
        for table in ("knowledge", "definition", "knowledge_change")
    ]


async def test_a_trial_has_what_the_file_says_and_the_store_does_not(
    evaluating: Evaluating, pool: Any
) -> None:
    model: Any = evaluating.tools.model
    version = await CatalogStore(pool).version()
    trial = await evaluating.trials.begin(TrialRequest("tried.yaml", TRIED))
    assert "+ music.public.singer.stage_name synonym: nom de scene" in trial.changes
    assert len(trial.changes) == 4
    assert [line.split(": ")[:2] for line in trial.refused] == [["music", "the term broken would be refused"]]
    await evaluating.evaluate(request(question="name of each old singer", trial=trial.trial))
    seen = "\n".join(f"{prompt.system}\n{prompt.user}" for prompt in model.prompts)
    assert "nom de scene" in seen
    assert '"old singer": singer.age > 40' in seen
    assert "family_name" not in seen
    model.prompts.clear()
    await evaluating.evaluate(request())
    assert "nom de scene" not in model.prompts[0].user + model.prompts[0].system
    assert await said(pool) == [0, 0, 0]
    assert await CatalogStore(pool).version() == version


async def test_what_is_hidden_on_trial_still_judges(evaluating: Evaluating) -> None:
    trial = await evaluating.trials.begin(TrialRequest("tried.yaml", TRIED))
    reply = await evaluating.evaluate(request("SELECT family_name FROM singer", trial=trial.trial))
    assert reply.verdict is Verdict.WRONG


async def test_a_file_that_cannot_be_imported_is_not_tried(evaluating: Evaluating, pool: Any) -> None:
    nowhere = "version: 1\ndatabases: [{name: nowhere}]"
    for text, told in (
        (nowhere, 'tried.yaml, line 2: database "nowhere" is not registered'),
        ("version: 2\n", "tried.yaml, line 1"),
        (TRIED.replace("stage_name", "nothing"), "music.public.singer.nothing"),
        (TRIED.replace("[nom de scene]", '["nom\\u0007"]'), "cannot be a synonym"),
    ):
        with pytest.raises(InvalidSettingError) as problem:
            await evaluating.trials.begin(TrialRequest("tried.yaml", text))
        assert told in problem.value.message
        assert problem.value.hint
        assert await said(pool) == [0, 0, 0]


async def test_the_command_says_what_a_file_would_change(
    engine: Path, model: Any, pool: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, tried = tmp_path / "questions.yaml", tmp_path / "tried.yaml"
    asked.write_text(f"- {{question: {QUESTION}, sql: {SHOWN[2]}}}\n", encoding="utf-8")
    tried.write_text(
        "version: 1\ndatabases:\n- name: music\n  tables:\n  - schema: public\n    name: singer\n    columns:\n"
        "    - {name: name, hidden: true}\n    - {name: stage_name, hidden: true}\n",
        encoding="utf-8",
    )
    run = Evaluation(asked, "ana", "music", k=1, named=True, tried=tried)
    model.lines[:] = [SHOWN[0], SHOWN[2]]
    assert await evaluate(load(engine, {}), run) == 0
    shown = capsys.readouterr().out
    assert "With 2 changes, none of which is saved:" in shown
    assert "Of 1 questions judged before, 1 are better and 0 worse." in shown
    assert await said(pool) == [0, 0, 0]
    for unreadable, told in ((tmp_path / "none.yaml", "cannot read"), (_large(tmp_path), "is too large")):
        with pytest.raises(typer.Exit):
            await evaluate(load(engine, {}), replace(run, tried=unreadable))
        assert told in capsys.readouterr().err


def _large(folder: Path) -> Path:
    file = folder / "large.yaml"
    file.write_text("#" * 1_000_001, encoding="utf-8")
    return file
