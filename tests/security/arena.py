"""The place of the attacks: two roles, a secret of role_b's, and what planted code has told about itself.

Owns the roles, the database `arena` and the reading of the server's log, where planted code leaves a line each time
it runs: a line there survives whatever the transaction does, and a read-only one may write it. Does not know how the
engine connects (`engine_door`) or what is planted (`attacks`).
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import asyncpg

from schema_catalog.pg import Connection
from tests.security.attacks import Attack
from tests.security.servers import Server

SECRET = "the secret of b"
ATTACKER, VICTIM, CATALOG = "role_a", "role_b", "catalog"

PLANTED = Path(__file__).with_name("planted.sql").read_text("utf-8")

_ROLES = """
CREATE ROLE role_a LOGIN;
CREATE ROLE role_b LOGIN;
CREATE ROLE catalog LOGIN;
CREATE DATABASE arena;
"""

_EMPTY = """
DROP EXTENSION IF EXISTS citext, fuzzystrmatch, ltree CASCADE;
DROP SCHEMA IF EXISTS types CASCADE;
DROP OWNED BY role_a, role_b CASCADE;
GRANT CREATE ON DATABASE arena TO role_a, role_b;
GRANT CREATE, USAGE ON SCHEMA public TO role_a;
GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO role_a;
"""

_SECRETS = f"""
CREATE SCHEMA b;
CREATE TABLE b.secrets (secret text);
INSERT INTO b.secrets VALUES ('{SECRET}');
GRANT USAGE ON SCHEMA b TO PUBLIC;
"""

_ALONE = """
SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity
WHERE datname = 'arena' AND pid <> pg_catalog.pg_backend_pid();
"""

_LINE = re.compile(r"LOG:  planted\|(.*?)\|(.*?)\|(.*)")


@dataclass(frozen=True, slots=True)
class Sighting:
    """Planted code ran: as whom, in whose session, and what its attempts to become somebody else brought."""

    current_user: str
    session_user: str
    loot: str

    def harmless_for(self, role: str) -> bool:
        """Whether it ran with the rights of `role`, in a session of `role`, and found no secret."""
        return self.current_user == self.session_user == role and SECRET not in self.loot


class Log:
    """What planted code wrote into a server's log since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen = path.stat().st_size

    def sightings(self) -> tuple[Sighting, ...]:
        """Each run of planted code since the last call, in order."""
        with self._path.open("rb") as file:
            file.seek(self._seen)
            text = file.read()
            self._seen = file.tell()
        return tuple(Sighting(*found) for found in _LINE.findall(text.decode("utf-8", "replace")))


@dataclass(frozen=True, slots=True)
class Arena:
    """The database with nothing planted but `planted.sql`. `admin`: a superuser's connection to it."""

    server: Server
    admin: Connection
    log: Log

    def dsn(self, role: str = "postgres") -> str:
        """A libpq URI of `role` to the database."""
        return self.server.cluster.dsn("arena", role)

    async def plant(self, attack: Attack) -> None:
        """Runs the attack's three scripts, each as its role; raises what the server says against it."""
        for role, script in ((ATTACKER, attack.plant), ("postgres", attack.admin), (VICTIM, attack.victim)):
            if script:
                await self.as_role(role, script)
        self.log.sightings()

    async def as_role(self, role: str, *scripts: str) -> None:
        """Runs scripts in a session of that role's own."""
        connection = await asyncpg.connect(self.dsn(role))
        try:
            for script in scripts:
                await connection.execute(script)
        finally:
            await connection.close()

    async def alone(self) -> None:
        """Ends every other session in the database."""
        await self.admin.execute(_ALONE)

    async def typed(self, role: str, script: str) -> None:
        """A script as a role types it into its own client, where the server may refuse it while it runs."""
        connection = await asyncpg.connect(self.dsn(role))
        try:
            await connection.execute(f"BEGIN READ ONLY; {script}")
        except asyncpg.PostgresError as error:
            # A foreign table without a server behind it is planned all the same; a slip of the pen tests nothing.
            if isinstance(error, asyncpg.PostgresSyntaxError):
                raise
        finally:
            await connection.close()


async def prepare(server: Server) -> None:
    """Makes the roles and the database on a new server."""
    postgres = await asyncpg.connect(server.cluster.dsn())
    for statement in _ROLES.split(";")[:-1]:
        await postgres.execute(statement)
    await postgres.close()
    arena = await asyncpg.connect(server.cluster.dsn("arena"))
    await arena.execute("CREATE EXTENSION postgres_fdw")
    await arena.close()


@asynccontextmanager
async def emptied(server: Server) -> AsyncIterator[Arena]:
    """The arena as it is before an attack."""
    admin = await asyncpg.connect(server.cluster.dsn("arena"))
    try:
        await admin.execute(_EMPTY)
        arena = Arena(server, admin, Log(server.log))
        await arena.as_role(VICTIM, _SECRETS)
        await arena.as_role(ATTACKER, PLANTED)
        yield arena
    finally:
        # What planted code still does there holds locks against the next test.
        await admin.execute(_ALONE)
        await admin.close()
