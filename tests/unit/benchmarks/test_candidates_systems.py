"""The systems: what they send, what they give back, and how they are told apart."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from benchmarks.quality.candidates.alone import Alone, Diversity, Sampling
from benchmarks.quality.candidates.ddl import ddl
from benchmarks.quality.candidates.gateway import TAKEN_AWAY, Gateway, gateways
from benchmarks.quality.candidates.journal import identity
from benchmarks.quality.candidates.options import PACES
from benchmarks.quality.candidates.peers import PEERS
from benchmarks.quality.candidates.peers.langchain import statement
from benchmarks.quality.candidates.questions import SETS, Question
from benchmarks.quality.candidates.tasks import READER, Place, Task
from engine import pipeline
from engine.calibration.records import Score
from engine.core.candidate import Candidate
from engine.core.ports import Completion, LanguageModel, Prompt
from engine.core.state import State
from engine.core.tools import Tools
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind

SINGER = Table("music", "singer", TableKind.TABLE, (Column("id", "bigint"), Column("Name", "text")), ("id",))
CONCERT = Table(
    "music",
    "concert",
    TableKind.TABLE,
    (Column("singer", "bigint"),),
    foreign_keys=(ForeignKey(("singer",), "music", "singer", ("id",)),),
)
SNAPSHOT = Snapshot("music", ("music",), (CONCERT, SINGER))


@dataclass
class ScriptedLLM:
    """Says its lines in turn and remembers what it was asked."""

    lines: list[str]
    asked: list[tuple[Prompt, dict[str, Any]]] = field(default_factory=list)
    grammars: bool = True
    goes_on: bool = False

    async def complete(self, prompt: Prompt, **options: Any) -> Completion:
        """The next line."""
        self.asked.append((prompt, options))
        return Completion(
            self.lines[len(self.asked) - 1] + ";\n```\nwhich is right", 1, 0, 1, -0.1, finished=True
        )


def task(model: ScriptedLLM) -> Task:
    place = Place(Database("music", "postgresql:///x", "x", ("music",)), SNAPSHOT)
    tools = Tools(*(cast("Any", None),) * 3, cast("LanguageModel", model), cast("Any", None))
    return Task(Question("q", "Who sings?", "music"), place, tools)


async def test_the_model_alone_is_asked_once_without_a_grammar() -> None:
    model = ScriptedLLM(["SELECT 1"])
    assert [each.sql for each in await Alone().answer(task(model))] == ["SELECT 1"]
    (prompt, options) = model.asked[0]
    assert "grammar" not in options
    assert options["temperature"] == 0.0
    assert prompt.user.startswith("### Schema\nconcert(singer int -> singer.id)\n")
    assert prompt.user.endswith("### Question\nWho sings?")


async def test_samples_are_distinct_and_the_most_frequent_first() -> None:
    model = ScriptedLLM(["SELECT a", "SELECT  B", "select b", "SELECT c", "SELECT a"])
    assert [each.sql for each in await Sampling().answer(task(model))] == [
        "SELECT a",
        "SELECT  B",
        "SELECT c",
    ]
    seeds = [options["seed"] for _, options in model.asked]
    assert len(set(seeds)) == 5
    assert all(options["temperature"] > 0 for _, options in model.asked)
    again = ScriptedLLM(model.lines)
    await Sampling().answer(task(again))
    assert [options["seed"] for _, options in again.asked] == seeds


async def test_forced_diversity_shows_what_was_said_and_drops_repetitions() -> None:
    model = ScriptedLLM(["SELECT a", "SELECT A", "SELECT b", "SELECT b", "SELECT c"])
    assert [each.sql for each in await Diversity().answer(task(model))] == [
        "SELECT a",
        "SELECT b",
        "SELECT c",
    ]
    assert "Already given" not in model.asked[0][0].user
    assert "### Already given\nSELECT a\nSELECT A\n\nWrite a different" in model.asked[2][0].user


async def test_pgparley_is_the_pipeline_with_real_stages_and_the_asked_ks() -> None:
    heard: list[State] = []

    async def write(state: State, tools: Tools) -> State:
        heard.append(state)
        scores = (Score("encoder-1", -0.5), Score("model-1", float("inf")))
        found = [Candidate("music", f"SELECT {n}", confidence=0.1, scores=scores) for n in range(5)]
        return replace(state, candidates=tuple(found))

    system = Gateway("pgparley", 3, 6, stages=(write,))
    proposals = await system.answer(task(ScriptedLLM([])))
    assert [each.sql for each in proposals] == ["SELECT 0", "SELECT 1", "SELECT 2"]
    assert proposals[0].scores == {"encoder-1": -0.5, "model-1": None}
    assert (heard[0].ask.db, heard[0].ask.asker.user, heard[0].k, heard[0].calls) == ("music", READER, 3, 6)
    assert Gateway("pgparley", 3, 6).stages is pipeline.CANDIDATE_STAGES


def test_ablations_take_away_what_there_is_and_only_that() -> None:
    systems = {each.name: each for each in gateways(cast("LanguageModel", None), 6)}
    names = [stage.__name__ for stage in pipeline.CANDIDATE_STAGES]
    for stage, called in TAKEN_AWAY.items():
        assert (called in systems) == (stage in names)
        if called in systems:
            assert [each.__name__ for each in systems[called].stages] == [n for n in names if n != stage]
    assert systems["one_candidate"].calls == 1


def test_each_system_has_answers_and_a_pace_of_its_own() -> None:
    systems = [*gateways(cast("LanguageModel", None), 6), Alone(), Sampling(), Diversity()]
    names = [each.name for each in systems] + list(PEERS)
    assert len(set(names)) == len(names)
    assert set(names) <= set(PACES)
    assert len({identity(each.settings, each.sources) for each in systems}) == len(systems)
    assert {name for each in systems for name in each.sets} <= {each.name for each in SETS}


def test_the_engines_code_decides_pgparleys_answers() -> None:
    sources = Gateway("pgparley", 6, 6).sources
    root = Path(pipeline.__file__).parent
    assert {root / "pipeline.py", root / "prompting" / "prompts" / "generate_user.txt"} <= set(sources)


def test_peers_are_trained_with_the_schemas_ddl() -> None:
    assert ddl(SNAPSHOT) == (
        "CREATE TABLE concert (\n  singer bigint,\n  FOREIGN KEY (singer) REFERENCES singer (id)\n);",
        'CREATE TABLE singer (\n  id bigint,\n  "Name" text,\n  PRIMARY KEY (id)\n);',
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "Question: x\nSQLQuery: SELECT 1\nSQLResult: 7",
        "```sql\nSELECT 1\n```\nThis counts.",
        "SQLQuery:\n```\nSELECT 1\n```",
    ],
)
def test_the_chains_text_is_cut_to_its_statement(text: str) -> None:
    assert statement(text) == "SELECT 1"
