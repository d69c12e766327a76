"""What the store keeps ends when `[retention]` says so, and a person's part of it with `pgparley forget`."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from engine.app.question_store import Questions
from engine.app.service import Service
from engine.learn.store import ExampleKind, LearningStore, NewExample
from engine.values.background import Background
from engine.values.errors import UnknownQuestionError
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, ChooseRequest, RowKind
from engine.values.ports import Prompt
from engine.values.settings import LearningSettings, RetentionSettings
from pgparley.cli import app
from pgparley.cluster import Cluster
from proxy.audit import AuditLine
from proxy.net.audit_log import AuditLog
from proxy.net.pseudonyms import People
from proxy.settings import AuditSettings

SQL = "SELECT name FROM singer"


async def asked(pool: Any, qid: str, who: str = "ana", person: str = "") -> None:
    """A question with its prompt, and what its choice taught."""
    row = AnswerRow(1, RowKind.CANDIDATE, "music", 0.5, "", SQL, None, qid)
    ask = AskRequest(Asker(who, "music", person=person), f"who is {qid}?")
    await Questions(pool, RetentionSettings(questions=30.0)).save(
        ask, AskReply(qid, (row,)), (Prompt("system", "user"),)
    )
    taught = NewExample(ask.asker.owner, "music", ask.question, SQL, ExampleKind.CHOSEN, qid, ())
    await LearningStore(pool, LearningSettings()).keep([taught])


async def count(pool: Any, table: str, who: str = "ana") -> int:
    found: int = await pool.fetchval(f"SELECT count(*) FROM pgparley.{table} WHERE asker = $1", who)
    return found


async def test_prompts_and_what_was_learned_end_before_their_question(pool: Any) -> None:
    for qid in ("q1", "q2", "q3"):
        await asked(pool, qid)
    await pool.execute("UPDATE pgparley.question SET asked_at = now() - interval '3 days' WHERE qid <> 'q3'")
    await pool.execute(
        "UPDATE pgparley.learned_example SET learned_at = now() - interval '3 days' WHERE qid <> 'q3'"
    )
    await pool.execute("UPDATE pgparley.learned_example SET approved_at = now() WHERE qid = 'q2'")
    await Questions(pool).keep_to_retention()
    assert len(await Questions(pool).prompts("q1", "ana")) == 1
    assert await count(pool, "learned_example") == 3
    keeping = Questions(pool, RetentionSettings(prompts=2.0, learned=2.0))
    await keeping.keep_to_retention()
    assert [len(await keeping.prompts(qid, "ana")) for qid in ("q1", "q2", "q3")] == [0, 0, 1]
    left = await pool.fetch("SELECT qid FROM pgparley.learned_example ORDER BY qid")
    assert [each["qid"] for each in left] == ["q2", "q3"]
    await pool.execute("UPDATE pgparley.question SET expires_at = now() - interval '1 s' WHERE qid = 'q3'")
    await keeping.keep_to_retention()
    with pytest.raises(UnknownQuestionError):
        await keeping.prompts("q3", "ana")


@pytest.mark.parametrize("pseudonyms", [False, True])
async def test_a_person_is_forgotten(pool: Any, server: Cluster, tmp_path: Path, *, pseudonyms: bool) -> None:
    for qid, who in (("q1", "ana"), ("q2", "ana"), ("q3", "bob")):
        await asked(pool, qid, who)
    (tmp_path / "people").mkdir()
    (tmp_path / "key").write_text("k" * 64, encoding="ascii")
    people = People(tmp_path / "people", b"k" * 64)
    before = [people.pseudonym(who) for who in ("ana", "bob")]
    config = tmp_path / "pgparley.toml"
    config.write_text(
        f'[engine]\nstore = "{server.dsn("store")}"\n[audit]\npseudonyms = {str(pseudonyms).lower()}\n'
        f'key = "{tmp_path}/key"\npeople = "{tmp_path}/people"\n',
        encoding="utf-8",
    )
    words = ["--config", str(config), "forget", "ana"]
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert done.exit_code == 0, done.output
    assert "deleted 2 questions of ana" in done.output
    said = "destroyed the key of their pseudonym" if pseudonyms else "has people's names"
    assert said in done.output
    for table in ("question", "learned_example"):
        assert [await count(pool, table, who) for who in ("ana", "bob")] == [0, 1]
    assert (people.known("ana"), people.known("bob")) == (None if pseudonyms else before[0], before[1])


async def test_a_person_behind_a_login_is_forgotten(pool: Any, server: Cluster, tmp_path: Path) -> None:
    eva, udo = (Asker("ana", "", person=name).owner for name in ("eva", "udo"))
    for qid, person in (("q1", ""), ("q2", "eva"), ("q3", "udo")):
        await asked(pool, qid, person=person)
    (tmp_path / "people").mkdir()
    (tmp_path / "key").write_text("k" * 64, encoding="ascii")
    people = People(tmp_path / "people", b"k" * 64)
    log = AuditLog(
        AuditSettings(
            log=f"{tmp_path}/log", key=f"{tmp_path}/key", pseudonyms=True, people=f"{tmp_path}/people"
        ),
        lambda: None,
    )
    log.write(AuditLine(role="ana", on_behalf="eva"))
    log.close()
    line = json.loads((tmp_path / "log").read_text())
    assert (line["role"], line["on_behalf"]) == (people.known("ana"), people.known(eva))
    config = tmp_path / "pgparley.toml"
    config.write_text(
        f'[engine]\nstore = "{server.dsn("store")}"\n[audit]\npseudonyms = true\n'
        f'key = "{tmp_path}/key"\npeople = "{tmp_path}/people"\n',
        encoding="utf-8",
    )
    words = ["--config", str(config), "forget", "ana", "--on-behalf", "eva"]
    done = await asyncio.to_thread(CliRunner().invoke, app, words)
    assert done.exit_code == 0, done.output
    assert [await count(pool, "question", who) for who in ("ana", eva, udo)] == [1, 0, 1]
    assert people.known(eva) is None
    assert people.known("ana") == line["role"]


ANA = Asker("ana", "music")

KEPT = "SELECT (SELECT count(*) FROM pgparley.question), (SELECT count(*) FROM pgparley.choice)"


async def test_what_has_expired_goes_and_the_rest_stays(service: Service, pool: Any) -> None:
    for _ in range(2):
        reply = await service.ask(AskRequest(ANA, "names of all singers"))
        await service.choose(ChooseRequest(ANA, reply.qid, 1))
    await pool.execute(
        "UPDATE pgparley.question SET expires_at = now() - interval '1 second' WHERE qid = $1", reply.qid
    )
    questions = Questions(pool)
    sweeping = asyncio.create_task(Background().repeat("retention", 0.01, questions.delete_expired))
    async with asyncio.timeout(30):
        while tuple(await pool.fetchrow(KEPT)) != (1, 1):
            pass
    sweeping.cancel()


class Failing(Questions):
    """Fails once; `again`: set when it is asked once more."""

    def __init__(self) -> None:
        """Needs no store."""
        self.rounds = 0
        self.again = asyncio.Event()

    async def delete_expired(self) -> None:
        self.rounds += 1
        if self.rounds == 1:
            raise OSError("the store is away")
        self.again.set()


async def test_a_store_that_does_not_answer_costs_one_round() -> None:
    questions = Failing()
    sweeping = asyncio.create_task(Background().repeat("retention", 0.0, questions.delete_expired))
    async with asyncio.timeout(30):
        await questions.again.wait()
    sweeping.cancel()
