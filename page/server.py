"""The page as a web server: its addresses, its listening socket, and the end of sessions that are over."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from aiohttp import web

from page.ask_views import AskViews
from page.coverage import RunningEngine
from page.rendering import Renderer
from page.security import Cookies, guarded
from page.sessions import Attempts, Sessions
from page.settings import PageSettings, address, tls_context
from page.site import Site, log, unreadable
from page.views import LISTS, SignInForms, Views

_SWEEP = 30.0
"""Seconds between two looks for sessions that are over."""

_LONGEST_FORM = 512 * 1024
"""Bytes of a request's body at most."""


def application(store: str, settings: PageSettings, engine: RunningEngine, *, https: bool) -> web.Application:
    """The page over the store at the URI `store`."""
    sessions = Sessions(60 * settings.idle_minutes)
    site = Site(store, settings.gateway, Cookies(https), sessions, Attempts(), engine, Renderer())
    app = web.Application(middlewares=[guarded(https=https), unreadable(site)], client_max_size=_LONGEST_FORM)
    forms, views, asking = SignInForms(site), Views(site), AskViews(site)
    app.router.add_get("/sign-in", forms.show)
    app.router.add_post("/sign-in", forms.enter)
    app.router.add_post("/sign-out", forms.leave)
    app.router.add_get("/", views.databases)
    for name in ("database", "table", "column", "search", "health", "coverage", "models"):
        app.router.add_get(f"/{name}", getattr(views, name))
    for name in LISTS:
        app.router.add_get(f"/{name}", views.listed)
    if settings.gateway:
        app.router.add_get("/ask", asking.show)
        app.router.add_post("/ask", asking.ask)
        app.router.add_post("/ask/values", asking.look)
        app.router.add_post("/ask/{step:run|reply}", asking.go_on)
    app.router.add_post("/words", views.words)
    app.router.add_post("/do/{name}", views.perform)
    app.router.add_static("/static", Path(__file__).parent / "static")
    app.cleanup_ctx.append(_sweeping(site.sessions))
    return app


def run(store: str, settings: PageSettings, engine: RunningEngine) -> None:
    """Serves the page until SIGTERM or SIGINT; raises `PageConfigError`, and `OSError` for an address that is taken."""
    asyncio.run(_serve(store, settings, engine))


async def _serve(store: str, settings: PageSettings, engine: RunningEngine) -> None:
    where, context = address(settings), tls_context(settings)
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    runner = web.AppRunner(application(store, settings, engine, https=where.https), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, where.host, where.port, ssl_context=context).start()
        log.info("page listens", host=where.host, port=where.port, https=where.https)
        await ended.wait()
        log.info("page stopping")
    finally:
        await runner.cleanup()


def _sweeping(sessions: Sessions) -> Callable[[web.Application], AsyncIterator[None]]:
    async def sweeping(_: web.Application) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(_SWEEP)
                await sessions.end_over(asyncio.get_running_loop().time())

        task = asyncio.create_task(sweep(), name="sweep-sessions")
        yield
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await sessions.end_all()

    return sweeping
