"""A dialogue with a scripted engine: who may be asked, who rejects, when it ends, and what is kept of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import pytest

from benchmarks.harness.command import Options, options_of, parser
from benchmarks.harness.journal import Cost, Journal
from benchmarks.quality.dialogue import measuring
from benchmarks.quality.dialogue.conversation import ASKER, Ended, Listener, converse
from benchmarks.quality.dialogue.intent import Intent
from benchmarks.quality.dialogue.measuring import Measuring, passes
from benchmarks.quality.dialogue.records import Conversation, Said, Shown
from benchmarks.quality.dialogue.simulated_user import SimulatedUser
from benchmarks.quality.dialogue.systems import (
    DIALOGUE,
    FEEDBACK,
    LIST,
    MOST_ANSWERS,
    SETS,
    SYSTEMS,
    UNANSWERABLE,
    System,
)
from engine.core.candidate import Candidate
from engine.dialogue.types import Ambiguity, ClarifyingQuestion, Dialogue, Option
from engine.errors import ModelUnavailableError, NoRouteError
from engine.types import (
    AnswerRequest,
    AnswerRow,
    AskReply,
    AskRequest,
    NoneRequest,
    RowKind,
)

RIGHT, WRONG = "right one", "wrong one"
MEANT = Intent(("name",), (("Ann",),), ordered=False, elements=frozenset({("m", "singer", "name")}))


def reply(*statements: str, kind: RowKind = RowKind.CANDIDATE) -> AskReply:
    rows = tuple(AnswerRow(n, kind, "m", 0.5, sql, "words", None, "q") for n, sql in enumerate(statements, 1))
    return AskReply("q", rows or (AnswerRow(1, RowKind.ABSTAIN, None, None, None, "", None, "q"),))


def question(*columns: str) -> ClarifyingQuestion:
    options = tuple(
        Option(column, (f"SELECT {column}",), frozenset({("m", "singer", column)})) for column in columns
    )
    return ClarifyingQuestion(Ambiguity.COLUMN, "Which name?", options)


def asking(asked: ClarifyingQuestion, *survivors: str) -> tuple[AskReply, Dialogue]:
    rows = tuple(
        AnswerRow(n, RowKind.OPTION, None, None, None, option.words, None, "q")
        for n, option in enumerate(asked.options, 1)
    )
    return AskReply("q", rows), Dialogue(
        pending=asked, survivors=tuple(Candidate("m", sql) for sql in survivors)
    )


Step = tuple[AskReply, Dialogue] | Exception


@dataclass
class ScriptedEngine:
    """Replies in turn, the last for ever."""

    steps: Sequence[Step]
    heard: list[AskRequest | AnswerRequest | NoneRequest] = field(default_factory=list)

    async def ask(self, request: AskRequest) -> AskReply:
        """The next reply."""
        return self._next(request)

    async def answer(self, request: AnswerRequest) -> AskReply:
        """The next reply."""
        return self._next(request)

    async def none(self, request: NoneRequest) -> AskReply:
        """The next reply."""
        return self._next(request)

    async def dialogue(self, _qid: str) -> Dialogue:
        """That of the last reply."""
        step = self._step()
        assert not isinstance(step, Exception)
        return step[1]

    def _next(self, request: AskRequest | AnswerRequest | NoneRequest) -> AskReply:
        self.heard.append(request)
        step = self._step()
        if isinstance(step, Exception):
            raise step
        return step[0]

    def _step(self) -> Step:
        return self.steps[min(len(self.heard), len(self.steps)) - 1]


async def talk(engine: ScriptedEngine, system: System, user: SimulatedUser | None = None) -> Ended:
    async def right(sql: str) -> bool:
        return sql.startswith("right")

    ask = AskRequest(ASKER, "Names?", k=5, db="m", ask=system.asks)
    return await converse(engine, ask, system, Listener(user, right), lambda: Cost(1.0, calls=2))


USER = SimulatedUser(MEANT, "q")


async def test_the_user_answers_until_statements_come_and_takes_them() -> None:
    engine = ScriptedEngine(
        [asking(question("title", "name"), WRONG, RIGHT), (reply(WRONG, RIGHT), Dialogue())]
    )
    ended = await talk(engine, DIALOGUE, USER)
    assert engine.heard[1:] == [AnswerRequest(ASKER, "q", n=2)]
    first, last = ended.turns
    assert (first.shown, first.said, first.words) == (Shown.QUESTION, Said.OPTION, "2")
    assert first.statements == (WRONG, RIGHT, "SELECT title", "SELECT name")
    assert (first.considered, first.question) == ((WRONG, RIGHT), "Which name?")
    assert (last.shown, last.said, last.statements) == (Shown.STATEMENTS, Said.NOTHING, (WRONG, RIGHT))
    assert last.cost == Cost(1.0, calls=2)


async def test_own_words_and_rejections_of_options_are_sent() -> None:
    engine = ScriptedEngine([asking(question("title", "stage")), asking(question("title", "stage"))])
    await talk(engine, DIALOGUE, USER)
    assert engine.heard[1:3] == [
        AnswerRequest(ASKER, "q", text="I mean name of singer"),
        NoneRequest(ASKER, "q"),
    ]


@pytest.mark.parametrize("answers", [2, MOST_ANSWERS])
async def test_nobody_answers_more_often_than_is_compared(answers: int) -> None:
    system = replace(DIALOGUE, answers=answers)
    ended = await talk(ScriptedEngine([asking(question("title", "name"))]), system, USER)
    assert len(ended.turns) == answers + 1
    assert ended.turns[-1].said is Said.NOTHING


async def test_simple_feedback_rejects_until_the_first_is_right() -> None:
    engine = ScriptedEngine(
        [(reply(WRONG, RIGHT), Dialogue()), (reply("wrong again"), Dialogue()), (reply(RIGHT), Dialogue())]
    )
    ended = await talk(engine, FEEDBACK, USER)
    assert [turn.said for turn in ended.turns] == [Said.NONE, Said.NONE, Said.NOTHING]
    assert all(isinstance(each, NoneRequest) for each in engine.heard[1:])
    assert isinstance(engine.heard[0], AskRequest)
    assert not engine.heard[0].ask


async def test_a_list_is_taken_as_it_is_and_without_a_user_nothing_is_said() -> None:
    listed = await talk(ScriptedEngine([(reply(WRONG, RIGHT), Dialogue())]), LIST, USER)
    unheard = await talk(ScriptedEngine([asking(question("title", "name"))]), DIALOGUE, None)
    assert len(listed.turns) == len(unheard.turns) == 1
    assert (await talk(ScriptedEngine([(reply(), Dialogue())]), FEEDBACK, USER)).turns[
        0
    ].shown is Shown.ABSTENTION


async def test_errors_end_a_dialogue_and_what_was_said_stays() -> None:
    asked = asking(question("title", "name"))
    ended = await talk(ScriptedEngine([asked, NoRouteError("nothing fits")]), DIALOGUE, USER)
    assert (len(ended.turns), ended.error, ended.crashed) == (1, "NL003 nothing fits", False)
    broken = await talk(ScriptedEngine([KeyError("x")]), DIALOGUE, USER)
    assert broken.crashed
    with pytest.raises(ModelUnavailableError):
        await talk(ScriptedEngine([ModelUnavailableError("gone")]), DIALOGUE, USER)


class _Place:
    """A site whose tasks have no database: the user says nothing."""

    async def task(self, asked: object) -> object:
        """The question itself."""
        return asked


class _Gateway:
    sources = ()

    def __init__(self, *_: object) -> None:
        pass

    async def begins(self, _task: object) -> None:
        """Nothing."""

    async def prepare(self, _task: object) -> None:
        """Nothing."""


def options(bench: Path, work: Path, k: int = 5) -> Options:
    given = ["--bench", str(bench), "--work", str(work), "--n", "3", "--k", str(k)]
    return options_of(parser("x", "", k=5).parse_args(given), Options)


async def test_a_run_that_was_cut_off_goes_on(
    bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench / "defog/idk.jsonl").write_text((bench / "defog/questions.jsonl").read_text(), encoding="utf-8")
    monkeypatch.setattr(measuring, "Gateway", _Gateway)
    of = next(each for each in SETS if each.questions == UNANSWERABLE)
    setting = options(bench, tmp_path / "work")
    (one,) = passes(of, SYSTEMS, setting)
    assert len(one.left) == 3
    stopped = one.left[2].question.id
    asked: list[str] = []

    class Talking(Measuring):
        async def _conversation(self, one: object, each: object, _task: object) -> Conversation:
            identity = cast("measuring.Asked", each).question.id
            if identity == stopped and len(asked) < 3:
                raise KeyboardInterrupt
            asked.append(identity)
            return Conversation(identity, "idk", "dialogue", 1, ())

    maker = Talking(cast("measuring.Site", _Place()), *([None] * 2), 1, 5, "abc")  # type: ignore[arg-type]
    with pytest.raises(KeyboardInterrupt):
        await maker.measure(one, lambda _: None)
    (again,) = passes(of, SYSTEMS, setting)
    assert [each.question.id for each in again.left] == [stopped]
    asked.append("")
    await maker.measure(again, lambda _: None)
    (done,) = passes(of, SYSTEMS, setting)
    assert not done.left
    assert len(done.conversations) == 3
    assert sorted(asked) == sorted(["", *(each.id for each in done.conversations)])


def test_other_settings_have_a_journal_of_their_own(bench: Path, tmp_path: Path) -> None:
    of = replace(SETS[0], looked_at=0)
    made = passes(of, SYSTEMS, options(bench, tmp_path))
    assert [each.system for each in made] == list(SYSTEMS)
    for each in made:
        each.journal.add(Conversation(each.asked[0].question.id, of.name, each.system.name, 1, ()))
    other = passes(of, SYSTEMS, options(bench, tmp_path, k=4))
    assert all(len(each.left) == 3 for each in other)
    assert len(list((tmp_path / "dialogues" / of.name).iterdir())) == len(SYSTEMS)


def test_dialogues_are_read_as_they_were_written(tmp_path: Path) -> None:
    ended = asyncio.run(talk(ScriptedEngine([asking(question("title", "name"))]), DIALOGUE, USER))
    kept = Conversation("1", "idk", "dialogue", 2, ended.turns, "NL003 x", commit="abc")
    Journal(tmp_path / "a.jsonl", Conversation).add(kept)
    assert Journal(tmp_path / "a.jsonl", Conversation).answers == {"1": kept}
