"""The systems: what they send, and what they give back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from benchmarks.harness.questions import Question
from benchmarks.harness.systems import READER, Alone, Gateway, Place, Task
from engine import pipeline
from engine.core.candidate import Candidate
from engine.core.ports import Completion, LanguageModel, Prompt
from engine.core.state import State
from engine.core.tools import Tools
from engine.settings import Limits
from schema_catalog.types import Column, Database, ForeignKey, Snapshot, Table, TableKind
from tests.support.tools import bare_tools

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
    tools = bare_tools(*(cast("Any", None),) * 3, cast("LanguageModel", model), cast("Any", None))
    return Task(Question("q", "Who sings?", "music"), place, tools)


async def test_the_model_alone_is_asked_once_without_a_grammar() -> None:
    model = ScriptedLLM(["SELECT 1"])
    assert [each.sql for each in await Alone().answer(task(model))] == ["SELECT 1"]
    (prompt, options) = model.asked[0]
    assert "grammar" not in options
    assert prompt.user.startswith("### Schema\nconcert(singer int -> singer.id)\n")
    assert prompt.user.endswith("### Question\nWho sings?")


async def test_pgparley_is_the_pipeline_with_real_stages_and_the_asked_ks() -> None:
    heard: list[State] = []

    async def write(state: State, tools: Tools) -> State:
        heard.append(state)
        found = [Candidate("music", f"SELECT {n}", confidence=0.25) for n in range(5)]
        return replace(state, candidates=tuple(found))

    system = Gateway("pgparley", 3, stages=(write,))
    proposals = await system.answer(task(ScriptedLLM([])))
    assert [each.sql for each in proposals] == ["SELECT 0", "SELECT 1", "SELECT 2"]
    assert proposals[0].confidence == 0.25
    assert (heard[0].ask.db, heard[0].ask.asker.user, heard[0].k, heard[0].calls) == (
        "music",
        READER,
        3,
        Limits().calls,
    )
    assert Gateway("pgparley", 3).stages is pipeline.CANDIDATE_STAGES


def test_the_engines_code_decides_pgparleys_answers() -> None:
    sources = Gateway("pgparley", 6).sources
    root = Path(pipeline.__file__).parent
    assert {root / "pipeline.py", root / "prompting" / "prompts" / "generate_user.txt"} <= set(sources)
