"""The engine's service over a real server, catalog and store; only the language model is scripted."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.questions import Questions
from engine.routing.router import HybridRouter
from engine.routing.words import identifier_words
from engine.service import Service
from engine.settings import Limits, UpstreamSettings
from engine.state import Completion, Prompt, Tools
from engine.upstream import Databases
from pgparley import cluster
from pgparley.cluster import Cluster
from schema_catalog.catalog import CachedCatalog
from schema_catalog.introspect import introspect
from schema_catalog.logins import make_login
from schema_catalog.migrate import migrate
from schema_catalog.store import CatalogStore
from schema_catalog.types import EVERYONE, Database

MUSIC = """
CREATE TABLE singer (singer_id int PRIMARY KEY, name text, stage_name text, family_name text, age int, salary int);
INSERT INTO singer VALUES (1, 'Joe', 'J', 'Ash', 52, 1), (2, 'Ann', 'A', 'Birk', 32, 2);
GRANT SELECT (singer_id, name, stage_name, family_name, age) ON singer TO ana;
"""
"""Three columns are what "name" may mean: masking one leaves another, so that there are several statements."""


class WordEncoder:
    """A text is the sum of its words' vectors, drawn from the word's hash: only equal words are alike."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit vectors of `texts`."""
        return np.stack([self._sum(identifier_words(text) or ("",)) for text in texts])

    def encode_tokens_many(
        self, texts: Sequence[str]
    ) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Each text's vector and its words'."""
        spoken = [identifier_words(text) or ("",) for text in texts]
        return [(self._sum(words), np.stack([self._sum((word,)) for word in words])) for words in spoken]

    @staticmethod
    def _sum(words: Sequence[str]) -> NDArray[np.float32]:
        # The mark decides chance likenesses, by which a stage name is nearer to a name than a family name is.
        seeds = (int.from_bytes(hashlib.sha256(f"{word}-".encode()).digest()[:8], "big") for word in words)
        total = sum((np.random.default_rng(seed).normal(size=128) for seed in seeds), np.zeros(128))
        return (total / (float(np.linalg.norm(total)) or 1.0)).astype(np.float32)


@dataclass
class ScriptedLLM:
    """Says its lines in turn, the last one for ever."""

    lines: list[str]
    prompts: list[Prompt] = field(default_factory=list)
    grammars: bool = False

    async def complete(self, prompt: Prompt, **_: object) -> Completion:
        """The next line."""
        self.prompts.append(prompt)
        line = self.lines[min(len(self.prompts), len(self.lines)) - 1]
        return Completion(line + "\n```", 1, 0, 1, -0.1, finished=True)

    async def read(self, prompt: Prompt, **_: object) -> None:
        """Nothing to keep."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    running = cluster.start(tmp_path_factory.mktemp("service") / "pg")
    yield running
    cluster.stop(running)


@pytest.fixture
async def pool(server: Cluster) -> AsyncIterator[Any]:
    """The store; the databases `music` and `copy` are made and registered in it."""
    admin = await asyncpg.connect(server.dsn())
    await admin.execute("CREATE ROLE ana LOGIN")
    await admin.execute("CREATE ROLE bob LOGIN")
    for name in ("store", "music", "copy"):
        await admin.execute(f"CREATE DATABASE {name}")
    made = await asyncpg.create_pool(server.dsn("store"), min_size=1, max_size=3)
    async with made.acquire() as connection:
        await migrate(connection)
    for name in ("music", "copy"):
        connection = await asyncpg.connect(server.dsn(name))
        await connection.execute(MUSIC if name == "music" else "CREATE TABLE pets (id int)")
        database = Database(name, server.dsn(name), name, ("public",))
        database = replace(database, logins=(make_login(database, EVERYONE),))
        store = CatalogStore(made)
        await store.add(database)
        await store.save_snapshot(await introspect(connection, database))
        await connection.close()
    yield made
    await made.close()
    for name in ("store", "music", "copy"):
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
    await admin.execute("DROP ROLE ana, bob")
    await admin.close()


@pytest.fixture
def model() -> ScriptedLLM:
    return ScriptedLLM([f"SELECT {column} FROM singer" for column in ("name", "stage_name", "family_name")])


@pytest.fixture
async def tools(pool: Any, model: ScriptedLLM) -> AsyncIterator[Tools]:
    upstream = Databases(UpstreamSettings(pool_size=2))
    encoder: Any = WordEncoder()
    yield Tools(
        catalog=CachedCatalog(CatalogStore(pool)),
        upstream=upstream,
        encoder=encoder,
        model=model,
        router=HybridRouter(encoder),
    )
    await upstream.aclose()


@pytest.fixture
def service(pool: Any, tools: Tools) -> Service:
    return Service(tools, Questions(pool, 600.0), Limits(k=2, calls=4))
