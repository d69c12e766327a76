"""The questioner: plan, calls, journal, with a model that says what the test wrote."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

import pytest

from engine.core.ports import Completion, LanguageModel, Prompt
from engine.errors import ModelUnavailableError
from engine.routing.question_filter import Style
from engine.routing.synthesis import (
    Journal,
    Progress,
    SynthesisSettings,
    plan,
    planned,
    read_questions,
    synthesise,
    tables_of,
)
from schema_catalog.types import Column, Snapshot, Table, TableKind

SETTINGS = SynthesisSettings("scripted", least=2, most=4, concurrent=1)


def database(name: str, *tables: str, schema: str = "public") -> Snapshot:
    columns = (Column("name", "text"), Column("city", "text"))
    return Snapshot(name, ("public",), tuple(Table(schema, t, TableKind.TABLE, columns) for t in tables))


MUSIC = database("music", "singer", "stadium")
HR = database("hr", "employee")


@dataclass
class ScriptedLLM:
    """Answers by `script`, given the number of the call; an exception in it is raised."""

    script: Mapping[int, str | Exception] = field(default_factory=dict)
    grammars: bool = False
    finished: bool = True
    prompts: list[Prompt] = field(default_factory=list)
    kept: list[dict[str, object]] = field(default_factory=list)

    async def complete(self, prompt: Prompt, **how: object) -> Completion:
        """The scripted answer, or a question that no other call gets."""
        number = len(self.prompts)
        self.prompts.append(prompt)
        self.kept.append(how)
        await asyncio.sleep(0)
        said = self.script.get(number, f"Who is number {number} here?\n")
        if isinstance(said, Exception):
            raise said
        return Completion(said, 1, 0, 1, -0.1, finished=self.finished)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing to keep."""


def spoken_by(model: ScriptedLLM) -> LanguageModel:
    """The part of a language model that the questioner calls."""
    return cast("LanguageModel", model)


async def run(
    model: ScriptedLLM, path: Path, *snapshots: Snapshot, settings: SynthesisSettings = SETTINGS
) -> Progress:
    seen: list[Progress] = []
    last = await synthesise(snapshots, spoken_by(model), Journal(path), settings, seen.append)
    assert [progress.walks for progress in seen] == list(range(1, last.walks + 1))
    return last


async def test_questions_are_written_with_what_they_were_written_for(tmp_path: Path) -> None:
    said = "How many singers are there?\nWhich vocalists live in Rome?\nIn which city is the star at home?\n"
    last = await run(
        ScriptedLLM({0: said}),
        tmp_path / "j",
        database("music", "singer"),
        settings=replace(SETTINGS, least=1, per_table=1),
    )
    written = list(read_questions(tmp_path / "j"))
    assert [(q.question, q.style) for q in written] == [
        ("How many singers are there?", Style.OWN),
        ("Which vocalists live in Rome?", Style.OTHER),
        ("In which city is the star at home?", Style.MIXED),
    ]
    assert {(q.db, q.tables, q.columns) for q in written} == {
        ("music", ("singer",), ("singer.name", "singer.city"))
    }
    assert (last.walks, last.planned, last.questions, last.failed) == (1, 1, 3, 0)


async def test_prompts_share_their_beginning_and_hold_the_tables(tmp_path: Path) -> None:
    model = ScriptedLLM()
    await run(model, tmp_path / "j", MUSIC)
    assert len({prompt.system for prompt in model.prompts}) == 1
    assert {prompt.user for prompt in model.prompts} == {
        f"Tables of music\n{name}(name, city)\nQuestions" for name in ("singer", "stadium")
    }
    assert all(how["grammar"] is None for how in model.kept)
    assert len({how["seed"] for how in model.kept}) > 1


async def test_a_grammar_is_sent_where_the_server_takes_one(tmp_path: Path) -> None:
    model = ScriptedLLM(grammars=True)
    await run(model, tmp_path / "j", HR)
    assert all(str(how["grammar"]).startswith("start: ") for how in model.kept)


async def test_prose_duplicates_and_half_answers_are_left_out(tmp_path: Path) -> None:
    said = {
        0: "Here are the questions:\nWho lives in Rome?\nwho lives in rome\nSELECT name FROM singer;\nWho is half",
        1: "I'm sorry, I cannot help you.\n\nWho lives in Rome?\nWho lives anywhere else?\nhalf",
    }
    await run(ScriptedLLM(said, finished=False), tmp_path / "j", HR, settings=replace(SETTINGS, per_table=2))
    assert [q.question for q in read_questions(tmp_path / "j")] == [
        "Who lives in Rome?",
        "Who lives anywhere else?",
    ]


async def test_a_second_run_asks_nothing_again(tmp_path: Path) -> None:
    await run(ScriptedLLM(), tmp_path / "j", MUSIC, HR)
    before = (tmp_path / "j").read_bytes()
    again = ScriptedLLM()
    last = await run(again, tmp_path / "j", MUSIC, HR)
    assert again.prompts == []
    assert last.walks == last.planned == 6
    assert (tmp_path / "j").read_bytes() == before


async def test_a_changed_schema_asks_for_what_changed_alone(tmp_path: Path) -> None:
    settings = replace(SETTINGS, per_table=1, least=1)
    await run(ScriptedLLM(), tmp_path / "j", MUSIC, settings=settings)
    more = ScriptedLLM()
    await run(more, tmp_path / "j", database("music", "band", "singer", "stadium"), settings=settings)
    assert ["band(" in prompt.user for prompt in more.prompts] == [True]


@pytest.mark.parametrize("change", [{"model": "another"}, {"seed": 9}, {"temperature": 1.0}])
async def test_another_model_or_seed_is_another_question(tmp_path: Path, change: dict[str, Any]) -> None:
    await run(ScriptedLLM(), tmp_path / "j", HR)
    more = ScriptedLLM({n: f"Is {n} asked again now?\n" for n in range(9)})
    await run(more, tmp_path / "j", HR, settings=replace(SETTINGS, **change))
    assert len(more.prompts) == 2


async def test_a_run_goes_on_after_a_crash_in_the_middle_of_a_line(tmp_path: Path) -> None:
    await run(ScriptedLLM(), tmp_path / "j", MUSIC, HR)
    whole = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(whole[:-30])
    assert len(list(read_questions(tmp_path / "j"))) == 5
    more = ScriptedLLM({0: "Who is the one after the crash?\n"})
    await run(more, tmp_path / "j", MUSIC, HR)
    assert len(more.prompts) == 1
    assert (tmp_path / "j").read_bytes().startswith(whole[: whole[:-30].rfind(b"\n") + 1])
    assert [q.question for q in read_questions(tmp_path / "j")][-1] == "Who is the one after the crash?"


async def test_a_cancelled_run_leaves_the_journal_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    first = asyncio.Event()

    def progress(_: Progress) -> None:
        first.set()

    work = asyncio.create_task(synthesise([MUSIC, HR], spoken_by(ScriptedLLM()), journal, SETTINGS, progress))
    await first.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert list(read_questions(tmp_path / "j")) == journal.questions


async def test_a_failed_call_is_asked_again_by_the_next_run(tmp_path: Path) -> None:
    gone = ModelUnavailableError("the language model is not available")
    last = await run(ScriptedLLM({1: gone}), tmp_path / "j", MUSIC)
    assert (last.failed, last.questions, last.walks) == (1, 3, 4)
    more = ScriptedLLM({0: "Who came at the second try?\n"})
    await run(more, tmp_path / "j", MUSIC)
    assert len(more.prompts) == 1


async def test_a_model_that_never_answers_ends_the_run(tmp_path: Path) -> None:
    gone = ModelUnavailableError("the language model is not available")
    model = ScriptedLLM(dict.fromkeys(range(99), gone))
    settings = replace(SETTINGS, least=40, most=40, concurrent=3)
    with pytest.raises(ModelUnavailableError):
        await run(model, tmp_path / "j", HR, settings=settings)
    assert len(model.prompts) < 20


def test_stopping_early_leaves_every_database_its_share() -> None:
    settings = replace(SETTINGS, least=8, most=40)
    large = database("large", *(f"t{n}" for n in range(10)))
    tasks = list(islice(plan([HR, large, database("tiny", "one")], settings), 18))
    assert Counter(task.database for task in tasks) == {"large": 10, "hr": 4, "tiny": 4}
    assert {task.tables for task in tasks if task.database == "large"} == {(f"t{n}",) for n in range(10)}


def test_a_database_without_tables_gets_no_walks() -> None:
    assert planned(database("empty"), SETTINGS) == 0
    assert list(plan([database("empty")], SETTINGS)) == []


async def test_tables_are_found_again_by_name(tmp_path: Path) -> None:
    twins = Snapshot(
        "hr", ("public",), database("hr", "employee").tables + database("hr", "employee", schema="old").tables
    )
    await run(ScriptedLLM(), tmp_path / "j", twins)
    written = list(read_questions(tmp_path / "j"))
    assert {(q.tables, tables_of(q, twins)) for q in written} == {
        (("public.employee",), (0,)),
        (("old.employee",), (1,)),
    }
    assert tables_of(written[0], MUSIC) is None


async def test_comments_are_shown_on_one_line_and_cut(tmp_path: Path) -> None:
    noted = Table(
        "public", "t7", TableKind.TABLE, (Column("c1", "text", description="the colour\nof " + "x" * 99),)
    )
    model = ScriptedLLM()
    await run(model, tmp_path / "j", Snapshot("odd", ("public",), (noted,)))
    assert model.prompts[0].user == f"Tables of odd\nt7(c1 (the colour of {'x' * 26}))\nQuestions"
