"""The stored questions: each belongs to its asker and expires.

Owns the SQL of the tables `question`, `choice` and `verdict`. Feedback on a question is deleted with it.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import replace
from datetime import datetime

import msgspec

from engine.values import wording
from engine.values.dialogue import Dialogue, Stored
from engine.values.errors import InvalidSettingError, UnknownQuestionError
from engine.values.messages import AnswerRow, Asker, AskReply, AskRequest, Cell, RowKind
from engine.values.ports import Prompt
from engine.values.settings import RetentionSettings
from schema_catalog.pg import Pool

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"

_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")

_OWN = "SELECT {} FROM pgparley.question WHERE qid = $1 AND asker = $2 AND expires_at > now()"

_VERSIONS = """
    SELECT (SELECT version FROM pgparley.catalog_version WHERE only_row) AS catalog,
           (SELECT version FROM pgparley.learning_version WHERE only_row) AS learning
"""

_REPEATED = """
    SELECT q.reply, q.asked_at FROM pgparley.question q
    WHERE q.asker = $1 AND q.asked_at > now() - make_interval(secs => $3) AND q.reply ->> 'key' = $2
      AND NOT EXISTS (SELECT FROM pgparley.verdict v WHERE v.qid = q.qid) AND q.expires_at > now()
    ORDER BY q.asked_at DESC LIMIT 1
"""

_ANSWERED = """
    SELECT DISTINCT ON (q.question) q.qid, q.question, d.database, d.body ->> 'sql' AS sql
    FROM pgparley.question q
         JOIN pgparley.definition d ON d.kind = 'query' AND d.element = ARRAY[pgparley.question_key(q.question)]
    WHERE q.asker = $1 AND q.sent AND NOT q.answered AND q.expires_at > now() AND d.state = 'checked'
          AND (q.reply #>> '{rows,0,kind}' = 'abstain' OR EXISTS (SELECT FROM pgparley.verdict v WHERE v.qid = q.qid))
    ORDER BY q.question, q.asked_at LIMIT 3
"""

_TOLD = """
    UPDATE pgparley.question q SET answered = true,
        reply = CASE WHEN q.qid = $1 THEN coalesce($2, q.reply) ELSE q.reply END
    FROM pgparley.question told
    WHERE told.qid = $1 AND q.asker = told.asker AND q.question = told.question AND q.sent AND NOT q.answered
"""

_CHOSEN = """
    SELECT n FROM pgparley.choice c WHERE qid = $1 AND NOT EXISTS (
        SELECT FROM pgparley.verdict v WHERE v.qid = c.qid AND v.kind = 'corrected' AND v.given_at > c.chosen_at)
    ORDER BY chosen_at DESC LIMIT 1
"""

_HISTORY = """
    SELECT q.asked_at, q.qid, q.question, jsonb_array_length(q.reply -> 'rows') AS rows,
           (SELECT n FROM pgparley.choice c WHERE c.qid = q.qid ORDER BY chosen_at DESC LIMIT 1) AS chosen,
           (SELECT kind FROM pgparley.verdict v WHERE v.qid = q.qid ORDER BY given_at DESC LIMIT 1) AS verdict
    FROM pgparley.question q
    WHERE q.asker = $1 AND q.expires_at > now() ORDER BY q.asked_at DESC, q.qid LIMIT $2
"""

_OLD_PROMPTS = """
    UPDATE pgparley.question SET prompts = '[]'
    WHERE prompts <> '[]' AND asked_at < now() - make_interval(secs => $1)
"""

_OLD_EXAMPLES = """
    DELETE FROM pgparley.learned_example
    WHERE approved_at IS NULL AND learned_at < now() - make_interval(secs => $1)
"""

DAY = 86_400.0


class Questions:
    """Questions in the store's schema `pgparley`. A qid belongs to the role that asked.

    Every method that takes a qid and a user raises `UnknownQuestionError`, alike for an expired, a foreign and an
    unknown one.
    """

    def __init__(
        self,
        pool: Pool,
        retention: RetentionSettings = RetentionSettings(),  # noqa: B008 - frozen
    ) -> None:
        """`retention`: of questions, their prompts, and what is learned."""
        self._pool = pool
        self._retention = retention

    @staticmethod
    def new_qid() -> str:
        """A random name, e.g. `q7f3k2m`: one of 31^6."""
        return "q" + "".join(secrets.choice(_ALPHABET) for _ in range(6))

    async def save(
        self,
        ask: AskRequest,
        reply: AskReply,
        prompts: tuple[Prompt, ...] = (),
        dialogue: Dialogue | None = None,
    ) -> None:
        """Stores an answer for `ttl` seconds; deletes expired ones."""
        await self.delete_expired()
        await self._pool.execute(
            "INSERT INTO pgparley.question"
            " (qid, asker, dbname, question, reply, request, prompts, dialogue, expires_at, sent)"
            " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, now() + make_interval(secs => $9), $10)",
            reply.qid,
            ask.asker.owner,
            ask.asker.dbname,
            ask.question,
            _json(reply),
            _json(replace(ask, asker=replace(ask.asker, session=None))),
            _json(prompts),
            _json(dialogue or Dialogue()),
            self._retention.questions * DAY,
            ask.send,
        )

    async def delete_expired(self) -> None:
        """Deletes the questions whose time is over, with what their askers said about the answers."""
        await self._pool.execute("DELETE FROM pgparley.question WHERE expires_at < now()")

    async def keep_to_retention(self) -> None:
        """Deletes all whose time is over: questions, their prompts, and examples that nobody approved."""
        await self.delete_expired()
        if self._retention.prompts:
            await self._pool.execute(_OLD_PROMPTS, self._retention.prompts * DAY)
        if self._retention.learned:
            await self._pool.execute(_OLD_EXAMPLES, self._retention.learned * DAY)

    async def get(self, qid: str, user: str) -> AskReply:
        """The answer that `user` got."""
        text = await self._pool.fetchval(_OWN.format("reply"), qid, user)
        if text is None:
            raise _unknown(qid)
        return msgspec.json.decode(text, type=AskReply)

    async def stored(self, qid: str, user: str) -> Stored:
        """The question that `user` asked, with its answer and dialogue."""
        row = await self._pool.fetchrow(_OWN.format("dbname, question, request, reply, dialogue"), qid, user)
        if row is None:
            raise _unknown(qid)
        if row["request"] == "{}":
            request = AskRequest(Asker(user, row["dbname"]), row["question"])
        else:
            request = msgspec.json.decode(row["request"], type=AskRequest)
        return Stored(
            request,
            msgspec.json.decode(row["reply"], type=AskReply),
            msgspec.json.decode(row["dialogue"], type=Dialogue),
        )

    async def versions(self) -> tuple[int, int]:
        """Of the catalog and of what was learned: each changes with all that an answer may come of."""
        (row,) = await self._pool.fetch(_VERSIONS)
        return row["catalog"], row["learning"]

    async def repeated(self, user: str, key: str, seconds: float) -> tuple[AskReply, datetime] | None:
        """The newest answer with this `key` that `user` has got since, and has said nothing about; and when."""
        row = await self._pool.fetchrow(_REPEATED, user, key, seconds)
        return None if row is None else (msgspec.json.decode(row["reply"], type=AskReply), row["asked_at"])

    async def prompts(self, qid: str, user: str) -> tuple[Prompt, ...]:
        """The prompts sent for it, in the order of the calls."""
        text = await self._pool.fetchval(_OWN.format("prompts"), qid, user)
        if text is None:
            raise _unknown(qid)
        return msgspec.json.decode(text, type=tuple[Prompt, ...])

    async def history(self, user: str, limit: int) -> tuple[tuple[Cell, ...], ...]:
        """The newest questions of `user`, newest first, as rows of `Topic.HISTORY`."""
        rows = await self._pool.fetch(_HISTORY, user, limit)
        return tuple((asked_at.isoformat(), *line) for asked_at, *line in rows)

    async def forget(self, user: str, qid: str | None) -> int:
        """Deletes one question of `user`, or all, with its feedback; returns how many.

        Feedback outlives the answer: of an expired one it counts as one.
        """
        done = await self._pool.fetch(
            "WITH gone AS (DELETE FROM pgparley.question"
            " WHERE asker = $1 AND ($2::text IS NULL OR qid = $2) RETURNING qid),"
            " points AS (DELETE FROM pgparley.calibration_point WHERE qid IN (SELECT qid FROM gone)),"
            " learned AS (DELETE FROM pgparley.learned_example"
            " WHERE asker = $1 AND ($2::text IS NULL OR qid = $2) RETURNING qid)"
            " SELECT qid FROM gone UNION SELECT qid FROM learned",
            user,
            qid,
        )
        if qid is not None and not done:
            raise _unknown(qid)
        return len(done)

    async def chosen(self, qid: str, n: int) -> None:
        """Stores a choice."""
        await self._pool.execute("INSERT INTO pgparley.choice (qid, n) VALUES ($1, $2)", qid, n)

    async def taken(self, stored: Stored) -> AnswerRow | None:
        """The row that its asker chose or wrote last, else the first; None without a statement."""
        n = await self._pool.fetchval(_CHOSEN, stored.reply.qid)
        rows = [row for row in stored.reply.rows if row.sql is not None]
        # What is written comes behind what was shown.
        last = max((row.n for row in rows if row.kind is RowKind.VERIFIED), default=None)
        return min(rows, key=lambda row: (row.n != n, row.n != last), default=None)

    async def none_fits(self, qid: str, user: str, why: str | None, *, send: bool = False) -> None:
        """Stores that `user` found no row of an answer right; `send`: and agrees to be named with that to stewards."""
        done = await self._pool.execute(
            "WITH own AS (UPDATE pgparley.question SET sent = sent OR $4"
            " WHERE qid = $1 AND asker = $2 AND expires_at > now() RETURNING qid)"
            " INSERT INTO pgparley.verdict (qid, kind, body) SELECT qid, 'none', $3 FROM own",
            qid,
            user,
            why,
            send,
        )
        if done == "INSERT 0 0":
            raise _unknown(qid)

    async def verified_since(self, user: str) -> list[tuple[str, str, str, str]]:
        """Questions that `user` sent to stewards and was told no answer of: qid, text, database and statement."""
        return [tuple(row) for row in await self._pool.fetch(_ANSWERED, user)]

    async def told(self, qid: str, reply: AskReply | None) -> bool:
        """Stores that the asker is told now, and the answer with the steward's row; False: they had been told."""
        done = await self._pool.execute(_TOLD, qid, None if reply is None else _json(reply))
        return bool(done != "UPDATE 0")

    async def corrected(self, reply: AskReply, database: str, sql: str) -> None:
        """Stores a correction, and the answer with it as its last row, in one transaction."""
        async with self._pool.acquire() as connection, connection.transaction():
            await connection.execute(
                "UPDATE pgparley.question SET reply = $2 WHERE qid = $1", reply.qid, _json(reply)
            )
            await connection.execute(
                "INSERT INTO pgparley.verdict (qid, kind, database, body) VALUES ($1, 'corrected', $2, $3)",
                reply.qid,
                database,
                sql,
            )


def find_row(reply: AskReply, number: int) -> AnswerRow:
    """Row `number` of an answer; raises `InvalidSettingError` where there is none."""
    for row in reply.rows:
        if row.n == number:
            return row
    raise InvalidSettingError.told(wording.NO_ROW, qid=reply.qid, n=number, rows=len(reply.rows))


def _json(value: object) -> str:
    # jsonb has no NUL; a model could write one.
    return _NUL.sub(r"\1\\ufffd", msgspec.json.encode(value).decode())


def _unknown(qid: str) -> UnknownQuestionError:
    return UnknownQuestionError.told(wording.UNKNOWN_QUESTION, qid=qid)
