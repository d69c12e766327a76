"""The pages that show something, read as the role that is signed in, and the one address that changes something."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg
from aiohttp import web

from page import drift, elements, failures, health, learned, suggestions
from page.actions import ACTIONS, Action, ActionError, perform
from page.coverage_plot import TICKS, across, down, marks
from page.desk import Desk, UnreadableError, log
from page.elements import Definition, Element, Key, Path
from page.ports import Coverage, UnavailableError
from page.schema_graph import Graph, Join, schema_graph
from page.security import local
from page.sessions import Notice, Session, Tone
from schema_catalog.pg import Connection

FOUND = 100
"""Elements that a search shows at most."""


@dataclass(frozen=True, slots=True)
class _Tick:
    """A line of the plot's grid."""

    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Views:
    """The handlers. All of them need a session."""

    desk: Desk

    async def databases(self, request: web.Request) -> web.Response:
        """All databases that are open to the role."""
        session = self.desk.session(request)
        async with self.desk.reading(session) as connection:
            found = await elements.overviews(connection)
            waiting = await elements.waiting(connection) if session.signed.admin else ()
        return self.desk.answer(session, "/", "databases", databases=found, waiting=waiting)

    async def database(self, request: web.Request) -> web.Response:
        """One database: its picture, tables and definitions."""
        session, path = self.desk.session(request), Path(request.query.get("database", ""))
        async with self.desk.reading(session) as connection:
            found = await _known(connection, path)
            tables = await elements.tables(connection, path.database)
            keys = await elements.keys(connection, path.database)
            joins = await elements.declared_joins(connection, path.database)
            values = {
                "terms": await elements.terms(connection, path.database),
                "queries": await elements.verified_queries(connection, path.database),
                "history": await elements.history(connection, path.database, found.name),
            }
        graph = _graph(tables, keys, joins)
        shown = {"element": found, "tables": tables, "joins": joins, "graph": graph, **values}
        return self.desk.answer(session, request.path_qs, "database", **shown)

    async def table(self, request: web.Request) -> web.Response:
        """One table with its columns and keys."""
        session, path = self.desk.session(request), _path(request, "database", "schema", "table")
        async with self.desk.reading(session) as connection:
            found = await _known(connection, path)
            columns = await elements.columns(connection, path)
            keys = await elements.keys(connection, path.database)
            history = await elements.history(connection, path.database, found.name)
        near = [key for key in keys if (path.schema, path.table) in key.tables]
        shown = {"element": found, "columns": columns, "keys": near, "history": history}
        return self.desk.answer(session, request.path_qs, "table", **shown)

    async def column(self, request: web.Request) -> web.Response:
        """One column."""
        session, path = self.desk.session(request), _path(request, "database", "schema", "table", "column")
        async with self.desk.reading(session) as connection:
            found = await _known(connection, path)
            history = await elements.history(connection, path.database, found.name)
        return self.desk.answer(session, request.path_qs, "column", element=found, history=history)

    async def search(self, request: web.Request) -> web.Response:
        """Elements by words."""
        session, words = self.desk.session(request), request.query.get("words", "").strip()[:200]
        async with self.desk.reading(session) as connection:
            found = await elements.search(connection, words, FOUND) if words else ()
        return self.desk.answer(session, request.path_qs, "search", words=words, found=found, most=FOUND)

    async def health(self, request: web.Request) -> web.Response:
        """What a database lacks; of the first one where none is named."""
        session, wanted = self.desk.session(request), request.query.get("database", "")
        async with self.desk.reading(session) as connection:
            databases = await elements.overviews(connection)
            names = [each.database for each in databases]
            chosen = wanted if wanted in names else next(iter(names), "")
            found = await health.health(connection, chosen)
        here = request.path_qs if request.query else "/health"
        return self.desk.answer(session, here, "health", databases=databases, chosen=chosen, health=found)

    async def questions(self, request: web.Request) -> web.Response:
        """Questions that failed, by the word that did."""
        return await self._listed(request, "questions", "groups", failures.failures)

    async def learned(self, request: web.Request) -> web.Response:
        """What users' choices have taught."""
        return await self._listed(request, "learned", "examples", learned.examples)

    async def drift(self, request: web.Request) -> web.Response:
        """How schemas changed."""
        return await self._listed(request, "drift", "changes", drift.changes)

    async def suggestions(self, request: web.Request) -> web.Response:
        """What the language model suggests to say."""
        return await self._listed(request, "suggestions", "suggestions", suggestions.waiting)

    async def _listed(
        self, request: web.Request, page: str, what: str, read: Callable[[Connection], Awaitable[object]]
    ) -> web.Response:
        session = self.desk.session(request)
        async with self.desk.reading(session) as connection:
            found = await read(connection)
        return self.desk.answer(session, f"/{page}", page, **{what: found})

    async def coverage(self, request: web.Request) -> web.Response:
        """The calibration: all of it for an nl_admin, else of the databases that are open to the role."""
        session = self.desk.session(request)
        async with self.desk.reading(session) as connection:
            rows = await connection.fetch("SELECT database FROM nl_catalog.databases")
            admin = session.signed.admin and await connection.fetchval("SELECT nl_catalog.is_admin()")
        opened, problem, shown = {row["database"] for row in rows}, "", Coverage(0.0, 0, ())
        try:
            whole = await self.desk.coverage.coverage()
            lines = (line for line in whole.lines if admin or line.database in opened)
            shown = Coverage(whole.promised, whole.stale, tuple(lines))
        except UnavailableError as unavailable:
            problem = str(unavailable)
        ticks = tuple(_Tick(across(share), down(share), f"{share:.0%}") for share in TICKS)
        drawn = marks(line for line in shown.lines if line.used)
        return self.desk.answer(
            session, "/coverage", "coverage", coverage=shown, problem=problem, marks=drawn, ticks=ticks
        )

    async def perform(self, request: web.Request) -> web.StreamResponse:
        """Does what a form says, as the role, and leads back; else says why not, and shows the form again."""
        session, form = self.desk.session(request), await request.post()
        if not session.owns(str(form.get("token", ""))):
            raise web.HTTPForbidden(text="This form is not of your session.")
        action = ACTIONS.get(request.match_info["name"])
        if action is None:
            raise web.HTTPNotFound(text="There is no such action.")
        given = {field.name: str(form.get(field.name, "")) for field in action.fields}
        back = local(str(form.get("back", "")))
        problem = await self._performed(session, action, given)
        if problem is None:
            log.info("catalog changed", role=session.signed.role, function=action.name)
            session.notice = Notice(Tone.DONE, action.done)
            raise web.HTTPSeeOther(back)
        response = self.desk.answer(session, back, "not_done", action=action, given=given, problem=problem)
        response.set_status(problem.status)
        return response

    async def _performed(
        self, session: Session, action: Action, given: Mapping[str, str]
    ) -> ActionError | None:
        """Why it was not done; None where it was."""
        try:
            async with session.changing() as connection:
                await perform(connection, action, given)
        except ActionError as refused:
            return refused
        except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as problem:
            log.warning("page cannot change", error=type(problem).__name__)
            return ActionError("The store does not answer", hint="Try again.", status=503)
        return None


def _path(request: web.Request, *parts: str) -> Path:
    """The element that the address names; raises `UnreadableError` where a part is missing."""
    named = [request.query.get(part, "") for part in parts]
    if not all(named):
        raise UnreadableError(404, "Not found", "The address names no element.")
    return Path(*named)


async def _known(connection: Connection, path: Path) -> Element:
    """The element; raises `UnreadableError`."""
    found = await elements.element(connection, path)
    if found is None:
        raise UnreadableError(404, "Not found", "There is no such element, or it is not open to you.")
    return found


def _graph(tables: Iterable[Element], keys: Iterable[Key], joins: Sequence[Definition]) -> Graph:
    names = [(each.path.schema, each.path.table) for each in tables]
    known = set(names)
    drawn = [
        Join(
            (key.schema, key.table),
            (key.to_schema or "", key.to_table or ""),
            f"{key.table} ({', '.join(key.columns)}) refers to {key.to_table} ({', '.join(key.to_columns)})",
        )
        for key in keys
        if key.kind == "foreign"
    ]
    drawn += _declared(tables, joins)
    return schema_graph(names, [join for join in drawn if {join.table, join.referred} <= known])


def _declared(tables: Iterable[Element], joins: Sequence[Definition]) -> Iterable[Join]:
    """Declared joins by the tables whose written names their columns' begin with."""
    by_name = {each.name: (each.path.schema, each.path.table) for each in tables}
    for join in joins:
        ends = [
            next((key for name, key in by_name.items() if column.startswith(f"{name}.")), None)
            for column in (join.name, join.body)
        ]
        if ends[0] is not None and ends[1] is not None:
            yield Join(ends[0], ends[1], f"{join.name} refers to {join.body}", declared=True)
