"""The gateway's page for Prometheus shows every engine's figures, told apart by their addresses."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import aiohttp
from aiohttp import web
from prometheus_client.parser import text_string_to_metric_families

from pgparley.metrics import MetricsPage
from proxy.net.worker.worker_ipc import WorkerAnswer, WorkerChannel, WorkerRequest
from proxy.settings import GatewaySettings
from tests.conftest import free_port

PAGE = """# HELP pgparley_requests_total Requests
# TYPE pgparley_requests_total counter
pgparley_requests_total{{verb="ask"}} {count}
# HELP pgparley_questions_running Questions
# TYPE pgparley_questions_running gauge
pgparley_questions_running 1.0
"""


async def shown(folder: Path, engines: dict[str, int], *, named: str) -> str:
    """The page where `engines` (file → questions asked) listen and the gateway knows those that are `named`."""

    async def nothing(_: WorkerRequest) -> WorkerAnswer:
        return WorkerAnswer()

    async with AsyncExitStack() as stack:
        for name, count in engines.items():

            async def metrics(_: web.Request, count: int = count) -> web.Response:
                return web.Response(text=PAGE.format(count=count))

            app = web.Application()
            app.router.add_get("/metrics", metrics)
            runner = web.AppRunner(app)
            await runner.setup()
            stack.push_async_callback(runner.cleanup)
            await web.UnixSite(runner, name).start()
        port = free_port()
        settings = GatewaySettings(
            "127.0.0.1", engine=named, runtime_dir=str(folder / "run"), prometheus_listen=f"127.0.0.1:{port}"
        )
        control = WorkerChannel(folder / "run", "supervisor.sock", nothing)
        page = MetricsPage(settings, control)
        await control.open()
        stack.push_async_callback(control.close)
        await page.open()
        stack.push_async_callback(page.close)
        async with aiohttp.ClientSession() as session, session.get(f"http://127.0.0.1:{port}/metrics") as got:
            return await got.text()


def values(page: str, name: str) -> dict[str | None, float]:
    return {
        sample.labels.get("engine"): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == name
    }


async def test_several_engines_are_told_apart(tmp_path: Path) -> None:
    one, two, away = (str(tmp_path / name) for name in ("one", "two", "away"))
    page = await shown(tmp_path, {one: 3, two: 4}, named=f"{one}, {two}, {away}")
    assert values(page, "pgparley_requests_total") == {one: 3, two: 4}
    assert values(page, "pgparley_questions_running") == {one: 1, two: 1}
    assert page.count("# TYPE pgparley_requests_total counter") == 1


async def test_the_only_engines_page_is_shown_as_it_is(tmp_path: Path) -> None:
    one = str(tmp_path / "one")
    assert PAGE.format(count=3) in await shown(tmp_path, {one: 3}, named=one)


async def test_without_engines_the_gateways_figures_stand_alone(tmp_path: Path) -> None:
    assert "pgparley_requests" not in await shown(tmp_path, {}, named="")
