"""The engine's networks on Ray Serve: the numbers are the engine's own, and a replica that is killed loses nothing."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import psycopg
import pytest
from aiohttp import web

from engine.app.networks import Networks, networks_of
from engine.client import EngineAddress
from engine.models.pointer import packaged_base
from engine.ranking import ranker
from engine.ranking.ranker import cross_encoder
from engine.routing.artifact import BASE, ArtifactError, ArtifactStore
from engine.settings import EncoderSettings, EngineSettings
from pgparley import cluster
from tests.chat_server import chat_server, completion
from tests.conftest import ROOT, free_port
from tests.support.parts import START, command, connected, part, until_ready
from tests.support.ray_serve import RayServe, ray_serve
from tests.support.schemas import MUSIC

pytest.importorskip(
    "ray.serve", reason="Ray is not installed: pip install 'pgparley[ray]'", exc_type=ImportError
)
pytestmark = [pytest.mark.slow, pytest.mark.timeout(6 * START)]

REPLICAS, ASKERS, OLDEST = 2, 4, 90

KILLED = ("Encoder", "Router", "Ranker", "Linker")

_AGE = re.compile(r"older than (\d+)")

QUESTIONS = ("How many singers are there?", "Which stadium is the largest?", "Show names of singers by age")
PAIRS = [(question, ("select the name of singers", "ordered by age")) for question in QUESTIONS]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayServe]:
    with ray_serve(tmp_path_factory.mktemp("ray"), REPLICAS) as running:
        deadline = time.monotonic() + 3 * START
        while any(len(running.replicas(each)) < REPLICAS for each in KILLED):
            assert time.monotonic() < deadline, running.log.read_text("utf-8")
            time.sleep(0.5)
        yield running


def settings(url: str | None) -> EngineSettings:
    return EngineSettings(Path(), "", encoder=EncoderSettings(base_url=url, timeout=START))


@pytest.fixture(scope="module")
def networks(served: RayServe) -> Iterator[tuple[Networks, Networks]]:
    """In this process, and on Ray."""
    with networks_of(settings(None)) as own, networks_of(settings(served.url)) as elsewhere:
        yield own, elsewhere


def test_the_encoders_vectors_are_the_same(networks: tuple[Networks, Networks]) -> None:
    texts = [f"customers.region_{number} (text)" for number in range(300)]
    own, elsewhere = (each.encoder.encode(texts) for each in networks)
    np.testing.assert_allclose(own, elsewhere, atol=1e-5)


def test_questions_asked_together_have_the_vectors_of_each_alone(
    networks: tuple[Networks, Networks],
) -> None:
    own, elsewhere = networks
    artifact = ArtifactStore(Path("none"), packaged_base()).load(BASE)
    there = elsewhere.pointer(artifact)
    asked = [f"{question} ({number})" for question in QUESTIONS for number in range(10)]
    with ThreadPoolExecutor(len(asked)) as pool:
        encoded = list(pool.map(lambda text: elsewhere.encoder.encode_tokens_many([text])[0], asked))
        read = list(pool.map(lambda text: there.read([text])[0], asked))
    for (sentence, tokens), (own_sentence, own_tokens) in zip(
        encoded, own.encoder.encode_tokens_many(asked), strict=True
    ):
        np.testing.assert_allclose(sentence, own_sentence, atol=1e-5)
        np.testing.assert_allclose(tokens, own_tokens, atol=1e-5)
    for one, other in zip(read, own.pointer(artifact).read(asked), strict=True):
        np.testing.assert_allclose(one.sentence, other.sentence, atol=1e-5)
        np.testing.assert_allclose(one.tokens, other.tokens, atol=1e-5)


def test_the_rankers_scores_and_the_linkers_links_are_the_same(networks: tuple[Networks, Networks]) -> None:
    reader = networks[1].reader
    assert reader is not None
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda _: reader.scores(PAIRS), range(8)))
    alone = cross_encoder(ranker.packaged(), EncoderSettings()).scores(PAIRS)
    for each in scores:
        np.testing.assert_allclose(each, alone, atol=1e-4)
    links, there = (each.linker.link(QUESTIONS[0], MUSIC) for each in networks)
    assert links is not None
    assert there is not None
    assert links.probabilities == pytest.approx(dict(there.probabilities), abs=1e-5)
    assert (links.linked, links.branching) == (there.linked, there.branching)


def test_a_router_version_that_is_not_served_is_refused(networks: tuple[Networks, Networks]) -> None:
    artifact = ArtifactStore(Path("none"), packaged_base()).load(BASE)
    other = replace(artifact, manifest=replace(artifact.manifest, version="another"))
    with pytest.raises(ArtifactError, match="another"):
        networks[1].pointer(other).read(["who?"])


def test_a_call_that_a_killed_replica_had_is_made_again(
    served: RayServe, networks: tuple[Networks, Networks]
) -> None:
    own, elsewhere = networks
    victim = min(served.replicas("Linker"))
    elsewhere.linker.link(QUESTIONS[0], MUSIC)
    os.kill(victim, signal.SIGSTOP)  # what it gets from now on stays with it
    with ThreadPoolExecutor(16) as pool:
        try:
            calls = [pool.submit(elsewhere.linker.link, QUESTIONS[0], MUSIC) for _ in range(16)]
            _, held = wait(calls, timeout=5)
        finally:
            os.kill(victim, signal.SIGKILL)
        assert held
        assert [call.result() for call in calls] == [own.linker.link(QUESTIONS[0], MUSIC)] * len(calls)
    until_replaced(served, "Linker", victim)


async def answer(request: web.Request) -> web.Response:
    """The statement that the last question asks for."""
    ages = _AGE.findall(str((await request.json())["messages"]))
    return completion(f"SELECT count(*) FROM singer WHERE age > {ages[-1]}\n```" if ages else "nothing")


@pytest.fixture
async def model() -> AsyncIterator[str]:
    async with chat_server(answer) as url:
        yield url


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[cluster.Cluster]:
    running = cluster.start(tmp_path / "data")
    with psycopg.connect(running.dsn(), autocommit=True) as admin:
        for statement in ("CREATE ROLE analyst LOGIN", "CREATE DATABASE store", "CREATE DATABASE music"):
            admin.execute(statement)
    with psycopg.connect(running.dsn("music"), autocommit=True) as music:
        music.execute("CREATE TABLE singer (singer_id int PRIMARY KEY, name text, age int)")
        music.execute("INSERT INTO singer SELECT n, 'Singer ' || n, n FROM generate_series(1, 90) n")
        music.execute("GRANT SELECT ON singer TO analyst")
    yield running
    cluster.stop(running)


async def test_replicas_are_killed_while_questions_are_asked(
    served: RayServe, upstream: cluster.Cluster, model: str, tmp_path: Path
) -> None:
    """One of each network, the other one answering meanwhile; every question gets the answer that it gets in peace."""
    config, port = tmp_path / "pgparley.toml", free_port()
    config.write_text(
        f"""[gateway]
upstream_host = "{upstream.socket_dir}"
upstream_port = {upstream.port}
listen_port = {port}
[engine]
socket = "{tmp_path}/engine.sock"
store = "{upstream.dsn("store")}"
[encoder]
base_url = "{served.url}"
timeout = 60.0
[model]
base_url = "{model}/v1"
[limits]
calls = 1
[dialogue]
questions = 0
abstention = 1.0
""",
        encoding="utf-8",
    )
    for arguments in (
        ("store", "migrate"),
        ("catalog", "add", "music", "--dsn", upstream.dsn("music")),
        ("catalog", "login", "music", "*"),
    ):
        await asyncio.to_thread(run, config, *arguments)
    with ExitStack() as stack:
        stack.enter_context(part(config, "engine"))
        stack.enter_context(part(config, "gateway"))
        await asyncio.to_thread(until_ready, [EngineAddress(f"{tmp_path}/engine.sock")])
        over = threading.Event()
        askers = [asyncio.create_task(asyncio.to_thread(ask, port, number, over)) for number in range(ASKERS)]
        try:
            for deployment in KILLED:
                await asyncio.to_thread(kill_one, served, deployment)
        finally:
            over.set()
        asked = await asyncio.gather(*askers)
    assert min(asked) > 1


def run(config: Path, *arguments: str) -> None:
    subprocess.run(command(config, *arguments), cwd=ROOT, check=True)  # noqa: S603 - our own program


def ask(port: int, asker: int, over: threading.Event) -> int:
    """Asks one question after the other and chooses its first candidate, until it is over; how many were asked."""
    asked = 0
    with connected(port, "music", "analyst") as session:
        for age in cycle(range(10 + asker, OLDEST, ASKERS)):
            if over.is_set():
                break
            rows = session.execute(f"NL: $$How many singers are older than {age}?$$").fetchall()
            assert rows[0][1] in {"candidate", "verified"}, rows
            [(count,)] = session.execute(f"NL CHOOSE 1 OF '{rows[0][7]}'").fetchall()
            assert int(str(count)) == OLDEST - age
            asked += 1
    return asked


def kill_one(served: RayServe, deployment: str) -> None:
    victim = min(served.replicas(deployment))
    os.kill(victim, signal.SIGKILL)
    until_replaced(served, deployment, victim)


def until_replaced(served: RayServe, deployment: str, victim: int) -> None:
    """Waits until another replica has taken its place."""
    deadline = time.monotonic() + START
    while len(served.replicas(deployment) - {victim}) < REPLICAS:
        assert time.monotonic() < deadline, served.log.read_text("utf-8")
        time.sleep(0.5)
