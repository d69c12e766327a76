"""The handlers of the page on which a question is tried: its form, asking, replying, running."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from dataclasses import dataclass

from aiohttp import web

from page import elements
from page.asking import AskError, Asking, connect
from page.elements import Element, Path
from page.rendering import element_address, query
from page.sessions import Notice, Session, Tone
from page.sign_in import Credentials, SignInError, WrongLoginError
from page.site import Site, UnreadableError, log

LONGEST_QUESTION = 4000
"""Characters, as the gateway takes them by default."""


@dataclass(frozen=True, slots=True)
class AskViews:
    """All of them need a session."""

    site: Site

    async def show(self, request: web.Request) -> web.Response:
        """The form; below it the last answer, its trace, rows, and what may be said of its tables."""
        session, typed = self.site.session(request), request.query.get("question", "")
        return await self._shown(session, request.query.get("database", ""), typed)

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Asks what the form says; connects first, where that was not done for this database."""
        session, given = await self._form(request)
        database, question, role = (given.get(name, "").strip() for name in ("database", "question", "role"))
        asking = open_asking(session, database)
        if asking is None:
            asking = await self._connected(request, session, database, given.get("password", ""))
        if asking is not None and question:
            log.info("page asks", role=session.signed.role, database=database, set_role=role)
            await _done(session, asking.ask(question[:LONGEST_QUESTION], role))
            raise web.HTTPSeeOther(query("/ask", database=database))
        return await self._shown(session, database, question)

    async def go_on(self, request: web.Request) -> web.StreamResponse:
        """Runs a candidate, or takes an option: the last part of the address says which, `n` of which row."""
        session, given = await self._form(request)
        database, n = given.get("database", ""), given.get("n", "")
        asking = open_asking(session, database)
        if asking is not None and n.isascii() and n.isdecimal() and len(n) < 4:  # noqa: PLR2004 - rows of an answer
            step = asking.run if request.match_info["step"] == "run" else asking.reply
            await _done(session, step(int(n)))
        raise web.HTTPSeeOther(query("/ask", database=database))

    async def look(self, request: web.Request) -> web.StreamResponse:
        """Reads the values of a column, and leads back to its page."""
        session, given = await self._form(request)
        path = Path(*(given.get(name, "") for name in ("database", "schema", "table", "column")))
        asking = open_asking(session, path.database)
        if asking is None:
            asking = await self._connected(request, session, path.database, given.get("password", ""))
        if asking is not None:
            log.info("page looks at values", role=session.signed.role, database=path.database)
            await _done(session, asking.look(path.schema, path.table, path.column))
        raise web.HTTPSeeOther(element_address(path) + "#values")

    async def _shown(self, session: Session, database: str, typed: str) -> web.Response:
        async with self.site.reading(session) as connection:
            if await elements.element(connection, Path(database)) is None:
                raise UnreadableError(
                    404, "Not found", "There is no such database, or it is not open to you."
                )
            tables = await elements.tables(connection, database)
        asking = open_asking(session, database)
        last = None if asking is None else asking.answer
        shown: dict[str, object] = {"database": database, "asking": asking, "last": last}
        shown["longest"] = LONGEST_QUESTION
        shown["question"] = typed[:LONGEST_QUESTION] or (last.question if last else "")
        sql = "" if last is None else " ".join(row["sql"] or "" for row in last.rows)
        shown["named"] = _named(tables, sql)
        return self.site.answer(session, query("/ask", database=database), "ask", **shown)

    async def _form(self, request: web.Request) -> tuple[Session, dict[str, str]]:
        session, form = self.site.session(request), await request.post()
        if not session.owns(str(form.get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        return session, {name: str(value).replace("\0", "") for name, value in form.items()}

    async def _connected(
        self, request: web.Request, session: Session, database: str, password: str
    ) -> Asking | None:
        """The session's connection through the gateway from now on; None, with a notice, where there is none."""
        role, address, now = session.signed.role, request.remote or "", asyncio.get_running_loop().time()
        if wait := self.site.attempts.wait(role, address, now):
            session.notice = Notice(Tone.PROBLEM, f"Too many attempts have failed. Wait {wait:.0f} seconds.")
            return None
        self.site.attempts.begun(role, address, now)
        try:
            asking = await connect(self.site.gateway, database, Credentials(role, password))
        except SignInError as problem:
            if not isinstance(problem, WrongLoginError):
                self.site.attempts.succeeded(role, address)
            log.warning("page cannot ask", role=role, error=type(problem).__name__)
            session.notice = Notice(Tone.PROBLEM, f"{problem} {problem.hint}")
            return None
        self.site.attempts.succeeded(role, address)
        await session.ask_over(asking)
        return asking


def open_asking(session: Session, database: str) -> Asking | None:
    """The session's open connection, where it is to this database."""
    asking = session.asking
    if asking is None or asking.database != database or asking.connection.is_closed():
        return None
    return asking


async def _done(session: Session, work: Awaitable[None]) -> None:
    try:
        await work
    except AskError as problem:
        words = " ".join(filter(None, (f"{problem}.", problem.detail, problem.hint)))
        session.notice = Notice(Tone.PROBLEM, words)


def _named(tables: tuple[Element, ...], sql: str) -> list[Element]:
    """The tables whose names stand in `sql`."""
    words = set(re.findall(r"\w+", sql))
    return [each for each in tables if each.path.table in words]
