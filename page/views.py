"""The handlers: pages read as the role that is signed in, the one that changes something, signing in and out."""

from __future__ import annotations

import asyncio
import hmac
import math
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg
from aiohttp import web

from page import elements, review
from page.actions import ACTIONS, Action, ActionError, perform
from page.ask_views import open_asking
from page.coverage import TICKS, Coverage, Model, UnavailableError, across, down, marks
from page.elements import Definition, Element, Path
from page.failures import failures
from page.health import health
from page.next_steps import next_steps
from page.picture import keyed, picture, said, table_name
from page.rendering import Frame
from page.schema_graph import Origin
from page.security import local
from page.sessions import Notice, Session, Tone
from page.sign_in import Credentials, SignInError, WrongLoginError, sign_in
from page.site import Site, UnreadableError, log
from schema_catalog.gaps import Gaps, gaps
from schema_catalog.pg import Connection

FOUND = 100
"""Elements that a search shows at most."""

_LOOKED_THROUGH = 1000
"""Those of all databases among which the picture's are."""

LISTS: Mapping[str, tuple[str, Callable[[Connection], Awaitable[object]]]] = {
    "questions": ("groups", failures),
    "learned": ("examples", lambda connection: connection.fetch(review.EXAMPLES)),
    "drift": ("changes", lambda connection: connection.fetch(review.CHANGES)),
    "suggestions": ("suggestions", lambda connection: connection.fetch(review.SUGGESTIONS)),
}
"""Address → what its template calls the list, and the reading."""


@dataclass(frozen=True, slots=True)
class _Tick:
    """A line of the plot's grid."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Views:
    """The handlers. All of them need a session."""

    site: Site

    async def databases(self, request: web.Request) -> web.Response:
        """All databases that are open to the role."""
        session = self.site.session(request)
        async with self.site.reading(session) as connection:
            found = await connection.fetch(elements.OVERVIEWS)
            waiting = await connection.fetch(elements.WAITING) if session.signed.admin else ()
            steps = await next_steps(connection) if session.signed.changes else ()
            missing = await self._gaps(session, connection)
        shown = {"databases": found, "waiting": waiting, "steps": steps, "gaps": missing}
        return self.site.answer(session, "/", "databases", **shown)

    async def database(self, request: web.Request) -> web.Response:
        """One database: its picture, tables and definitions."""
        session, path = self.site.session(request), Path(request.query.get("database", ""))
        wanted = request.query.get("find", "").strip()[:200]
        async with self.site.reading(session) as connection:
            found = await _known(connection, path)
            tables = await elements.tables(connection, path.database)
            keys = await connection.fetch(elements.KEYS, path.database)
            near = await elements.search(connection, wanted, _LOOKED_THROUGH) if wanted else ()
            defined = {
                kind: await elements.definitions(connection, path.database, kind)
                for kind in ("terms", "queries", "joins", "proposed")
            }
            history = await elements.history(connection, path.database, found.name)
            made = await _made(session, connection, elements.MADE_QUESTIONS, path.database)
            missing = await self._gaps(session, connection)
        marked = {table_name(each) for each in near if each.path.database == path.database}
        lines = [
            *keyed(keys),
            *said(tables, defined["joins"], Origin.DECLARED),
            *said(tables, defined["proposed"], Origin.PROPOSED),
        ]
        shown = {
            "element": found,
            "tables": tables,
            "history": history,
            "find": wanted,
            "made": made,
            **defined,
        }
        shown["gaps"] = [each for each in missing if each.database == path.database]
        shown["picture"] = picture(tables, lines, marked if wanted else None)
        return self.site.answer(session, request.path_qs, "database", **shown)

    async def _gaps(self, session: Session, connection: Connection) -> tuple[Gaps, ...]:
        """What questions miss, for who can mend it."""
        return await gaps(connection, self.site.engine.explains) if session.signed.changes else ()

    async def table(self, request: web.Request) -> web.Response:
        """One table with its columns and keys."""
        session, path = self.site.session(request), _path(request, "database", "schema", "table")
        async with self.site.reading(session) as connection:
            found = await _known(connection, path)
            columns = await elements.columns(connection, path)
            keys = await connection.fetch(elements.KEYS, path.database)
            declared = await elements.definitions(connection, path.database, "joins")
            proposed = await elements.definitions(connection, path.database, "proposed")
            history = await elements.history(connection, path.database, found.name)
            names = (path.database, path.schema, path.table, "")
            words = await _made(session, connection, elements.PROPOSED_WORDS, *names)
        here = (path.schema, path.table)
        near = [k for k in keys if here in ((k["schema"], k["table"]), (k["to_schema"], k["to_table"]))]
        joins, proposals = (_of_table(each, columns) for each in (declared, proposed))
        shown = {"element": found, "columns": columns, "keys": near, "history": history}
        shown |= {"joins": joins, "proposed": proposals, "words": words}
        return self.site.answer(session, request.path_qs, "table", **shown)

    async def column(self, request: web.Request) -> web.Response:
        """One column."""
        session, path = self.site.session(request), _path(request, "database", "schema", "table", "column")
        async with self.site.reading(session) as connection:
            found = await _known(connection, path)
            history = await elements.history(connection, path.database, found.name)
            named = (path.database, found.name)
            allowed = await connection.fetchrow(elements.ALLOWED, *named) if session.signed.changes else None
            names = (path.database, path.schema, path.table, path.column)
            words = await _made(session, connection, elements.PROPOSED_WORDS, *names)
        asking = open_asking(session, path.database)
        looked = None if asking is None else asking.values
        shown = {"element": found, "history": history, "allowed": allowed, "asking": asking}
        shown["words"] = words
        shown["values"] = (
            looked if looked and looked.column == (path.schema, path.table, path.column) else None
        )
        shown["explained"] = self.site.engine.explains(found.description or "")
        return self.site.answer(session, request.path_qs, "column", **shown)

    async def search(self, request: web.Request) -> web.Response:
        """Elements by words."""
        session, words = self.site.session(request), request.query.get("words", "").strip()[:200]
        async with self.site.reading(session) as connection:
            found = await elements.search(connection, words, FOUND) if words else ()
        return self.site.answer(session, request.path_qs, "search", words=words, found=found, most=FOUND)

    async def health(self, request: web.Request) -> web.Response:
        """What a database lacks; of the first one where none is named."""
        session, wanted = self.site.session(request), request.query.get("database", "")
        async with self.site.reading(session) as connection:
            databases = await connection.fetch(elements.OVERVIEWS)
            names = [each["database"] for each in databases]
            chosen = wanted if wanted in names else next(iter(names), "")
            found = await health(connection, chosen)
        here = request.path_qs if request.query else "/health"
        return self.site.answer(session, here, "health", databases=databases, chosen=chosen, health=found)

    async def listed(self, request: web.Request) -> web.Response:
        """One of `LISTS`, by the last part of the address."""
        session, name = self.site.session(request), request.path.strip("/")
        called, read = LISTS[name]
        async with self.site.reading(session) as connection:
            found = await read(connection)
        return self.site.answer(session, f"/{name}", name, **{called: found})

    async def coverage(self, request: web.Request) -> web.Response:
        """The calibration: all of it for an nl_admin, else of the databases that are open to the role."""
        session = self.site.session(request)
        async with self.site.reading(session) as connection:
            rows = await connection.fetch("SELECT database FROM nl_catalog.databases")
            admin = session.signed.admin and await connection.fetchval("SELECT nl_catalog.is_admin()")
        opened, problem, shown = {row["database"] for row in rows}, "", Coverage(0.0, 0, ())
        try:
            whole = await self.site.engine.coverage()
            lines = (line for line in whole.lines if admin or line.database in opened)
            shown = Coverage(whole.promised, whole.stale, tuple(lines))
        except UnavailableError as unavailable:
            problem = str(unavailable)
        ticks = tuple(_Tick(across(share), down(share), f"{share:.0%}") for share in TICKS)
        drawn = marks(line for line in shown.lines if line.used)
        return self.site.answer(
            session, "/coverage", "coverage", coverage=shown, problem=problem, marks=drawn, ticks=ticks
        )

    async def models(self, request: web.Request) -> web.Response:
        """The models, and what may be spent on them."""
        session = self.site.session(request)
        async with self.site.reading(session) as connection:
            use, limits = await connection.fetch(review.TOKEN_USE), await connection.fetch(review.LIMITS)
        models: tuple[Model, ...] = ()
        problem = ""
        try:
            models = await self.site.engine.models()
        except UnavailableError as unavailable:
            problem = str(unavailable)
        shown = {"models": models, "problem": problem, "use": use, "limits": limits}
        return self.site.answer(session, "/models", "models", **shown)

    async def words(self, request: web.Request) -> web.StreamResponse:
        """Says what was typed of a table and its columns; shows the first call that was refused."""
        session, form = self.site.session(request), await request.post()
        if not session.owns(str(form.get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        back, saved = local(str(form.get("back", ""))), 0
        columns = (map(str, form.getall(name, [])) for name in ("element", "was", "description", "synonyms"))
        refused: list[tuple[Action, dict[str, str], ActionError]] = []
        for action, given in _typed(zip(*columns, strict=False)):
            outcome = await self._performed(session, action, given)
            if isinstance(outcome, ActionError):
                refused.append((action, given, outcome))
            else:
                saved += 1
        log.info("catalog changed", role=session.signed.role, function="words", saved=saved)
        session.notice = Notice(Tone.DONE, f"{saved} saved." if saved else "Nothing new was typed.")
        if not refused:
            raise web.HTTPSeeOther(back)
        return self._refused(session, back, *refused[0])

    async def perform(self, request: web.Request) -> web.StreamResponse:
        """Does what a form says, as the role, and leads back; else says why not, and shows the form again."""
        session, form = self.site.session(request), await request.post()
        if not session.owns(str(form.get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        action = ACTIONS.get(request.match_info["name"])
        if action is None:
            raise web.HTTPNotFound(text="There is no such action.")
        given = {field.name: str(form.get(field.name, "")) for field in action.fields}
        back = local(str(form.get("back", "")))
        outcome = await self._performed(session, action, given)
        if not isinstance(outcome, ActionError):
            log.info("catalog changed", role=session.signed.role, function=action.name)
            session.notice = Notice(Tone.DONE, f"{action.done} {outcome}".strip())
            raise web.HTTPSeeOther(back)
        return self._refused(session, back, action, given, outcome)

    def _refused(
        self, session: Session, back: str, action: Action, given: Mapping[str, str], problem: ActionError
    ) -> web.Response:
        response = self.site.answer(session, back, "not_done", action=action, given=given, problem=problem)
        response.set_status(problem.status)
        return response

    async def _performed(
        self, session: Session, action: Action, given: Mapping[str, str]
    ) -> ActionError | str:
        """Why it was not done; where it was, what the store says beside, or nothing."""
        try:
            async with session.changing() as connection:
                return await perform(connection, action, given)
        except ActionError as refused:
            return refused
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as problem:
            log.warning("page cannot change", error=type(problem).__name__)
            return ActionError("The store does not answer", hint="Try again.", status=503)


def _path(request: web.Request, *parts: str) -> Path:
    """The element that the address names; raises `UnreadableError` where a part is missing."""
    named = [request.query.get(part, "") for part in parts]
    if not all(named):
        raise UnreadableError(404, "Not found", "The address names no element.")
    return Path(*named)


def _of_table(joins: Iterable[Definition], columns: Iterable[Element]) -> list[Definition]:
    names = {column.name for column in columns}
    return [join for join in joins if {join.name, join.body} & names]


async def _made(
    session: Session, connection: Connection, query: str, *names: str
) -> Sequence[asyncpg.Record]:
    """What the model said beforehand, for who can decide on it."""
    return await connection.fetch(query, *names) if session.signed.changes else ()


async def _known(connection: Connection, path: Path) -> Element:
    """The element; raises `UnreadableError`."""
    found = await elements.element(connection, path)
    if found is None:
        raise UnreadableError(404, "Not found", "There is no such element, or it is not open to you.")
    return found


def _typed(rows: Iterable[tuple[str, ...]]) -> Iterable[tuple[Action, dict[str, str]]]:
    """The calls for what was typed: `rows` of element, description before and now, and new synonyms."""
    for element, was, description, synonyms in rows:
        if description.replace("\r\n", "\n").strip() != was.replace("\r\n", "\n").strip():
            yield ACTIONS["describe"], {"element": element, "description": description}
        for word in filter(None, map(str.strip, synonyms.split(","))):
            yield ACTIONS["add_synonym"], {"element": element, "synonym": word}


@dataclass(frozen=True, slots=True)
class SignInForms:
    """The forms of signing in and out."""

    site: Site

    async def show(self, request: web.Request) -> web.Response:
        """The form; who is signed in already is led on."""
        name = request.cookies.get(self.site.cookies.session, "")
        if self.site.sessions.find(name, asyncio.get_running_loop().time()) is not None:
            raise web.HTTPSeeOther("/")
        return self._form()

    async def enter(self, request: web.Request) -> web.StreamResponse:
        """Signs in, or shows the form with what is wrong."""
        form = await request.post()
        role, password, token = (str(form.get(name, "")) for name in ("role", "password", "token"))
        expected = request.cookies.get(self.site.cookies.form, "")
        if not expected or not hmac.compare_digest(token.encode(), expected.encode()):
            return self._form(role, "The form was too old.", "Try again.", status=403)
        role, address, now = role.strip(), request.remote or "", asyncio.get_running_loop().time()
        if wait := self.site.attempts.wait(role, address, now):
            response = self._form(
                role, "Too many attempts have failed.", f"Wait {math.ceil(wait)} seconds.", status=429
            )
            response.headers["Retry-After"] = str(math.ceil(wait))
            return response
        self.site.attempts.begun(role, address, now)
        try:
            signed = await sign_in(self.site.store, Credentials(role, password))
        except SignInError as problem:
            if not isinstance(problem, WrongLoginError):
                self.site.attempts.succeeded(role, address)
            log.warning("page sign-in failed", address=address, error=type(problem).__name__)
            status = 401 if isinstance(problem, WrongLoginError) else 403
            return self._form(role, str(problem), problem.hint, status=status)
        self.site.attempts.succeeded(role, address)
        log.info("page signed in", role=role)
        await self.site.sessions.end(request.cookies.get(self.site.cookies.session, ""))
        response = web.Response(status=303, headers={"Location": "/"})
        self.site.cookies.put(
            response, self.site.cookies.session, await self.site.sessions.begin(signed, now)
        )
        self.site.cookies.drop(response, self.site.cookies.form)
        return response

    async def leave(self, request: web.Request) -> web.StreamResponse:
        """Signs out."""
        session = self.site.session(request)
        if not session.owns(str((await request.post()).get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        await self.site.sessions.end(request.cookies[self.site.cookies.session])
        response = web.Response(status=303, headers={"Location": "/sign-in"})
        self.site.cookies.drop(response, self.site.cookies.session)
        return response

    def _form(self, role: str = "", problem: str = "", hint: str = "", *, status: int = 200) -> web.Response:
        token = secrets.token_urlsafe(32)
        text = self.site.renderer.page(
            "sign_in", Frame("/sign-in"), token=token, role=role, problem=problem, hint=hint
        )
        response = web.Response(text=text, content_type="text/html", status=status)
        self.site.cookies.put(response, self.site.cookies.form, token)
        return response
