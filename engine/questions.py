"""The questions that were asked: kept in the store, owned by their asker, forgotten when they expire."""

from __future__ import annotations

import secrets

import msgspec

from engine.errors import UnknownQuestionError
from engine.types import AskReply, AskRequest
from schema_catalog.pg import Pool

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
_HINT = "NL CHOOSE and NL SHOW take the qid of an answer; ask again to get a new one."


class Questions:
    """Questions in the store's schema `pgparley`. A qid belongs to the role that asked."""

    def __init__(self, pool: Pool, ttl: float) -> None:
        self._pool = pool
        self._ttl = ttl

    @staticmethod
    def new_qid() -> str:
        """A short name, e.g. `q7f3k2m`: 31^6 of them, and only the asker's own are ever looked up."""
        return "q" + "".join(secrets.choice(_ALPHABET) for _ in range(6))

    async def save(self, ask: AskRequest, reply: AskReply) -> None:
        """Keeps an answer for `ttl` seconds, and forgets what expired."""
        await self._pool.execute("DELETE FROM pgparley.question WHERE expires_at < now()")
        await self._pool.execute(
            "INSERT INTO pgparley.question (qid, asker, dbname, question, reply, expires_at)"
            " VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))",
            reply.qid,
            ask.asker.user,
            ask.asker.dbname,
            ask.question,
            msgspec.json.encode(reply).decode(),
            self._ttl,
        )

    async def get(self, qid: str, user: str) -> AskReply:
        """The answer that `user` got; raises `UnknownQuestionError` alike for expired, foreign and unknown ones."""
        text = await self._pool.fetchval(
            "SELECT reply FROM pgparley.question WHERE qid = $1 AND asker = $2 AND expires_at > now()", qid, user
        )
        if text is None:
            raise UnknownQuestionError(f'no question "{qid}"', detail="It expired, or was never yours.", hint=_HINT)
        return msgspec.json.decode(text, type=AskReply)

    async def chosen(self, qid: str, n: int) -> None:
        """Remembers a choice."""
        await self._pool.execute("INSERT INTO pgparley.choice (qid, n) VALUES ($1, $2)", qid, n)
