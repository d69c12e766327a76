"""What choices, corrections and rejections teach, over a real store and real privileges; only the model is scripted."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from engine.app.service import Service
from engine.judge.model import packaged
from engine.judge.point_store import CalibrationStore
from engine.learn.feedback import Learner
from engine.learn.store import LearningStore, NewExample
from engine.values.learned import ExampleKind, Vote
from engine.values.messages import (
    Asker,
    AskReply,
    AskRequest,
    ChooseRequest,
    CorrectRequest,
    MoreRequest,
    NoneRequest,
    RowKind,
    Topic,
    TopicRequest,
)
from engine.values.model_profile import UNKNOWN, ModelProfile
from engine.values.ports import Completion, Prompt
from engine.values.settings import LearningSettings
from engine.values.tools import Tools
from tests.integration.engine_service.conftest import serving

ANA = Asker("ana", "music")
BOB = Asker("bob", "music")
RECIPE = "recipe"
QUESTION = "name of each singer"
OTHER = "What is the name of each old singer?"
NAME, STAGE = "SELECT name FROM singer", "SELECT stage_name FROM singer"
HINT = '"name": singer.stage_name rather than singer.name'
COLUMNS = ("name", "stage_name", "family_name")


@dataclass
class Reader:
    """Names the first of three columns that the schema in the prompt still shows."""

    prompts: list[Prompt] = field(default_factory=list)
    profile: ModelProfile = UNKNOWN

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        """One statement."""
        self.prompts.append(prompt)
        schema = prompt.user.partition("\n\n")[0]
        column = next((each for each in COLUMNS if re.search(rf"\b{each} ", schema)), "singer_id")
        return Completion(f"SELECT {column} FROM singer\n```", 1, 0, 1, -0.1, finished=True)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing to keep."""


@pytest.fixture
def model() -> Reader:
    return Reader()


def remembering(tools: Tools, pool: Any, settings: LearningSettings) -> Tools:
    """With a judgement that finds nothing three times as likely as something else: that no preference turns round."""
    search = replace(packaged().search, which={**packaged().search.which, "similarity": 1.0})
    judgement = replace(packaged(), search=search)
    return replace(tools, memory=LearningStore(pool, settings), learning=settings, judgement=judgement)


def learner_of(tools: Tools, pool: Any, settings: LearningSettings) -> Learner:
    return Learner(remembering(tools, pool, settings), LearningStore(pool, settings))


def made(tools: Tools, pool: Any, settings: LearningSettings, learner: Learner | None = None) -> Service:
    using, points = remembering(tools, pool, settings), CalibrationStore(pool, RECIPE)
    learner = learner or learner_of(tools, pool, settings)
    return serving(using, pool, points=points, learner=learner)


@pytest.fixture
def learning(tools: Tools, pool: Any) -> Service:
    return made(tools, pool, LearningSettings())


@pytest.fixture
async def music(owner: Any) -> Any:
    """The database as its owner; bob may read what ana may."""
    await owner.execute("GRANT SELECT (singer_id, name, stage_name, family_name, age) ON singer TO bob")
    return owner


async def ask(service: Service, question: str = OTHER, asker: Asker = ANA, **more: Any) -> AskReply:
    return await service.ask(AskRequest(asker, question, **more))


async def choose(service: Service, sql: str, question: str = QUESTION, asker: Asker = ANA) -> AskReply:
    """Asks, and chooses the row of that statement."""
    reply = await ask(service, question, asker)
    (row,) = [row for row in reply.rows if row.sql == sql]
    await service.choose(ChooseRequest(asker, reply.qid, row.n))
    return reply


async def approve(pool: Any) -> None:
    await pool.execute("UPDATE pgparley.learned_example SET approved_at = now()")


def shown(model: Any) -> str:
    """The last question's prompt that masks nothing."""
    return next(
        each.user for each in reversed(model.prompts) if " name text" in each.user.partition("\n\n")[0]
    )


async def test_a_choice_changes_order_prompt_and_trace_of_the_next_question(
    learning: Service, pool: Any, model: Any
) -> None:
    before = await ask(learning)
    assert [row.sql for row in before.rows] == [NAME, STAGE]
    assert "rather than" not in shown(model)
    model.prompts.clear()
    await choose(learning, STAGE)
    (vote,) = await pool.fetch("SELECT phrase, preferred, rejected, weight FROM pgparley.learned_vote")
    assert tuple(vote) == ("name", ["public", "singer", "stage_name"], ["public", "singer", "name"], 1.0)
    model.prompts.clear()
    after = await ask(learning)
    assert [row.sql for row in after.rows] == [STAGE, NAME]
    # A confidence is its own statement's: what is preferred gains by it, and the other loses.
    plain, moved = ({row.sql: row.confidence or 0.0 for row in reply.rows} for reply in (before, after))
    assert (moved[STAGE] > plain[STAGE], moved[NAME] < plain[NAME]) == (True, True)
    assert sum(moved.values()) == pytest.approx(sum(plain.values()), abs=0.002)
    assert "where 1 uses singer.stage_name" in after.rows[1].explanation
    schema, _, behind = shown(model).partition("### What the asker meant before")
    assert schema.startswith("### Schema")
    assert HINT in behind
    assert f'"{QUESTION}"\n{STAGE}' in behind
    events = {(line.stage, line.event) for line in after.trace}
    assert {
        ("link", "hint"),
        ("link", "example, yours"),
    } <= events
    assert {line.detail.rpartition("preferred ")[2] for line in after.trace if line.stage == "judge"} == {
        "0.549",
        "-0.549",
    }
    told = await learning.topic(TopicRequest(ANA, Topic.WHY, after.qid))
    assert any(row[1] == "hint" and HINT in str(row[2]) and "weak" in str(row[2]) for row in told.rows)


async def test_another_users_choice_counts_once_it_is_approved(
    learning: Service, pool: Any, model: Any, music: Any
) -> None:
    await choose(learning, STAGE)
    unshared = await ask(learning, asker=BOB)
    assert [row.sql for row in unshared.rows] == [NAME, STAGE]
    assert "rather than" not in shown(model)
    assert QUESTION not in shown(model)
    assert (await ask(learning, QUESTION, BOB)).rows[0].kind is RowKind.CANDIDATE
    await approve(pool)
    assert [row.sql for row in (await ask(learning, asker=BOB)).rows] == [STAGE, NAME]
    assert HINT in shown(model)
    assert (await ask(learning, QUESTION, BOB)).rows[0].kind is RowKind.VERIFIED


async def test_what_a_person_behind_a_login_shows_counts_for_that_person_alone(learning: Service) -> None:
    eva, udo = (replace(ANA, person=name) for name in ("eva", "udo"))
    await choose(learning, STAGE, asker=eva)
    kinds = [(await ask(learning, QUESTION, asker)).rows[0].kind for asker in (eva, udo, ANA)]
    assert kinds == [RowKind.VERIFIED, RowKind.CANDIDATE, RowKind.CANDIDATE]


async def test_auto_approval_shares_at_once(tools: Tools, pool: Any, music: Any) -> None:
    shared = made(tools, pool, LearningSettings(auto_approve=True))
    await choose(shared, STAGE)
    assert [row.sql for row in (await ask(shared, asker=BOB)).rows] == [STAGE, NAME]


async def test_what_the_asker_cannot_read_is_neither_used_nor_shown(
    learning: Service, pool: Any, model: Any, music: Any
) -> None:
    await choose(learning, STAGE)
    await approve(pool)
    await music.execute("REVOKE SELECT (stage_name) ON singer FROM bob")
    for question in (OTHER, QUESTION):
        reply = await ask(learning, question, BOB)
        assert all("stage_name" not in (row.sql or "") for row in reply.rows)
        assert all(row.kind is not RowKind.VERIFIED for row in reply.rows)
        assert "stage_name" not in shown(model)
        assert all("stage_name" not in line.detail for line in reply.trace if line.stage == "link")


async def test_an_unchanged_repeat_is_verified_and_waits_for_no_model(learning: Service, model: Any) -> None:
    await choose(learning, STAGE)
    model.prompts.clear()
    again = await ask(learning, f"  {QUESTION.upper()}? ")
    assert [(row.kind, row.sql) for row in again.rows] == [(RowKind.VERIFIED, STAGE)]
    assert again.rows[0].confidence is None
    assert "your answer to this question before" in again.rows[0].explanation
    for alone in (await ask(learning, QUESTION, k=1), await ask(learning, QUESTION, run=True)):
        assert [row.kind for row in alone.rows] == [RowKind.VERIFIED]
        assert alone.members == 1
    assert model.prompts == []
    more = await learning.more(MoreRequest(ANA, again.qid))
    assert model.prompts
    assert NAME in [row.sql for row in more.rows]
    assert STAGE not in [row.sql for row in more.rows]
    assert all(row.kind is not RowKind.VERIFIED for row in more.rows)


async def test_an_answer_that_would_no_longer_run_is_not_verified(learning: Service, music: Any) -> None:
    reply = await ask(learning, QUESTION)
    await learning.correct(CorrectRequest(ANA, reply.qid, "SELECT family_name FROM singer"))
    assert (await ask(learning, QUESTION)).rows[0].kind is RowKind.VERIFIED
    await music.execute("ALTER TABLE singer DROP COLUMN family_name")
    later = await ask(learning, QUESTION)
    assert later.rows[0].kind is RowKind.CANDIDATE
    assert any(line.event == "no longer answers" for line in later.trace)


async def test_a_correction_is_strong(learning: Service, model: Any, pool: Any) -> None:
    reply = await ask(learning, QUESTION)
    corrected = await learning.correct(CorrectRequest(ANA, reply.qid, "SELECT family_name FROM singer"))
    # Choosing the correction afterwards is the same lesson, not another.
    await learning.choose(ChooseRequest(ANA, reply.qid, corrected.rows[0].n))
    assert await pool.fetchval("SELECT array_agg(kind) FROM pgparley.learned_example") == ["corrected"]
    after = await ask(learning, k=3)
    assert after.rows[0].sql == "SELECT family_name FROM singer"
    hints = [line.detail for line in after.trace if line.event == "hint"]
    assert len(hints) == 2
    assert all("strong" in detail for detail in hints)


async def test_a_rejection_puts_the_statements_last_and_ends_the_verified_one(
    learning: Service, pool: Any
) -> None:
    await choose(learning, NAME)
    again = await ask(learning, QUESTION)
    assert again.rows[0].kind is RowKind.VERIFIED
    refused = {row.sql for row in again.rows}
    await learning.none(NoneRequest(ANA, again.qid))
    after = await ask(learning, QUESTION, k=3)
    assert all(row.kind is RowKind.CANDIDATE for row in after.rows)
    assert [row.sql in refused for row in after.rows] == [False, False, True]
    assert await pool.fetchval("SELECT count(*) FROM pgparley.learned_example WHERE kind = 'rejected'") == 1


async def test_another_mind_replaces_what_the_answer_taught(learning: Service, pool: Any) -> None:
    reply = await ask(learning, QUESTION)
    for number in (1, 2, 2):
        await learning.choose(ChooseRequest(ANA, reply.qid, number))
    assert [row["sql"] for row in await pool.fetch("SELECT sql FROM pgparley.learned_example")] == [STAGE]


async def test_forgetting_is_whole(learning: Service, pool: Any, model: Any) -> None:
    first = await choose(learning, STAGE)
    second = await choose(learning, STAGE, "Give the name of singers")
    await approve(pool)
    await pool.execute("DELETE FROM pgparley.question WHERE qid = $1", first.qid)
    assert (await learning.topic(TopicRequest(ANA, Topic.FORGET, first.qid))).rows == ((1,),)
    assert [row["qid"] for row in await pool.fetch("SELECT qid FROM pgparley.learned_example")] == [
        second.qid
    ]
    await learning.topic(TopicRequest(ANA, Topic.FORGET))
    assert await pool.fetchval("SELECT count(*) FROM pgparley.learned_example") == 0
    assert [row.sql for row in (await ask(learning)).rows] == [NAME, STAGE]
    assert "rather than" not in shown(model)


async def test_turned_off_it_neither_learns_nor_recalls(tools: Tools, pool: Any, learning: Service) -> None:
    await choose(learning, STAGE)
    off = made(tools, pool, LearningSettings(enabled=False))
    assert [row.sql for row in (await ask(off)).rows] == [NAME, STAGE]
    await choose(off, NAME)
    assert await pool.fetchval("SELECT count(*) FROM pgparley.learned_example") == 1


async def test_calibration_is_due_when_what_is_shared_has_doubled(learning: Service, pool: Any) -> None:
    points = CalibrationStore(pool, RECIPE)
    reply = await ask(learning, QUESTION)
    await learning.choose(ChooseRequest(ANA, reply.qid, 2))
    assert len(await points.points()) == 1
    personal = await ask(learning)
    await learning.choose(ChooseRequest(ANA, personal.qid, 1))
    # An answer that only this asker's votes have shaped is no point.
    assert len(await points.points()) == 1
    await approve(pool)
    assert (len(await points.points()), await points.stale()) == (0, 1)
    await pool.execute("UPDATE pgparley.learned_example SET approved_at = NULL")
    assert (len(await points.points()), await points.stale()) == (1, 0)


async def test_a_store_that_fails_costs_what_was_learned_alone(
    learning: Service, tools: Tools, pool: Any
) -> None:
    await choose(learning, STAGE)
    await pool.execute("ALTER TABLE pgparley.learning_version RENAME TO gone")
    using = remembering(tools, pool, LearningSettings())
    reply = await serving(using, pool).ask(AskRequest(ANA, OTHER))
    assert [row.sql for row in reply.rows] == [NAME, STAGE]
    assert any(line.event == "nothing is recalled" for line in reply.trace)


async def test_an_adapter_is_trained_when_it_is_due_and_used_if_it_was_kept(
    tools: Tools, pool: Any, learning: Service
) -> None:
    columns = ("singer_id", "name", "stage_name", "family_name", "age")
    pairs = list(itertools.combinations(columns, 2))
    store = LearningStore(pool, LearningSettings())
    for number in range(5):
        votes = tuple(
            Vote(f"the {one} {other} {number}", ("public", "singer", one), ("public", "singer", other), 1.0)
            for one, other in pairs
        )
        await store.keep(
            [NewExample("ana", "music", f"question {number}", NAME, ExampleKind.CHOSEN, f"q{number}", votes)]
        )
    settings = LearningSettings(adapter_votes=51)
    learner = learner_of(tools, pool, settings)
    eager = made(tools, pool, settings, learner)
    await choose(eager, STAGE)
    await learner.settled()
    (kept,) = await pool.fetch(
        "SELECT scope, votes, weights, before, after, verdict FROM pgparley.learned_adapter"
    )
    assert (kept["scope"], kept["votes"]) == ("ana", 51)
    assert (kept["weights"] is not None) == (kept["verdict"] == "used")
    if kept["verdict"] == "used":
        assert kept["after"] >= kept["before"]
    adapted = any(line.event == "adapter" for line in (await ask(eager)).trace)
    assert adapted == (kept["verdict"] == "used")
    # Not due again at once, and gone with what it was trained on.
    await choose(eager, STAGE, "name of every singer")
    assert len(await pool.fetch("SELECT FROM pgparley.learned_adapter")) == 1
    await eager.topic(TopicRequest(ANA, Topic.FORGET))
    assert await pool.fetch("SELECT FROM pgparley.learned_adapter") == []
    await learner.aclose()
