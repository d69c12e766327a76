"""What all handlers share: sessions, templates, a request's session, and what becomes of PostgreSQL's errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncpg
import structlog
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware

from page.coverage import RunningEngine
from page.rendering import Frame, Renderer
from page.security import Cookies
from page.sessions import Attempts, Session, Sessions
from schema_catalog.pg import Connection

log = structlog.stdlib.get_logger("page")


@dataclass(frozen=True, slots=True)
class Site:
    """The parts of one page. `store`, `gateway`: their URIs, of which the login is nobody's here."""

    store: str = field(repr=False)
    gateway: str = field(repr=False)
    cookies: Cookies
    sessions: Sessions
    attempts: Attempts
    engine: RunningEngine
    renderer: Renderer

    def session(self, request: web.Request) -> Session:
        """Who sent the request; raises `web.HTTPSeeOther` to the sign-in form where nobody is signed in."""
        name = request.cookies.get(self.cookies.session, "")
        session = self.sessions.find(name, asyncio.get_running_loop().time())
        if session is None:
            raise web.HTTPSeeOther("/sign-in")
        return session

    def frame(self, session: Session, here: str) -> Frame:
        """What is the same on every page of a session; takes its notice."""
        signed = session.signed
        said = session.take_notice()
        return Frame(
            *(here, signed.role, session.token, signed.admin, signed.changes, said), asks=bool(self.gateway)
        )

    def answer(self, session: Session, here: str, template: str, **values: Any) -> web.Response:
        """A page of a session."""
        text = self.renderer.page(template, self.frame(session, here), **values)
        return web.Response(text=text, content_type="text/html")

    @asynccontextmanager
    async def reading(self, session: Session) -> AsyncIterator[Connection]:
        """The session's connection for reading; PostgreSQL's refusal and failures become `UnreadableError`."""
        try:
            async with session.reading() as connection:
                yield connection
        except asyncpg.InsufficientPrivilegeError as problem:
            why = str(problem).splitlines()[0]
            words = f"{why}. A member of nl_steward or nl_admin may; {session.signed.role} may not."
            raise UnreadableError(403, "Not yours to read", words) from None
        except (asyncpg.QueryCanceledError, TimeoutError):
            raise UnreadableError(
                503, "That took too long", "The store did not answer in time. Try again."
            ) from None
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as problem:
            if session.signed.connection.is_closed():
                raise web.HTTPSeeOther("/sign-in") from None
            log.warning("page cannot read", error=type(problem).__name__)
            raise UnreadableError(
                503, "The store cannot be read", f"{type(problem).__name__}: pgparley check says more."
            ) from None


class UnreadableError(Exception):
    """Nothing can be shown; `status` is HTTP's."""

    def __init__(self, status: int, title: str, words: str) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.words = words


def unreadable(site: Site) -> Middleware:
    """The middleware that shows an `UnreadableError` as a page."""

    @web.middleware
    async def shown(request: web.Request, handler: Handler) -> web.StreamResponse:
        try:
            return await handler(request)
        except UnreadableError as problem:
            response = site.answer(
                site.session(request), "/", "refused", title=problem.title, words=problem.words
            )
            response.set_status(problem.status)
            return response

    return shown
