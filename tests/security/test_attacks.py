"""Code that PostgreSQL runs unasked never gets more rights through the engine than whoever wrote it has.

Four questions for each attack and version. Does it work at all, where somebody types the statement? Does role_a, who
planted it, get at role_b's secret by asking? Does it run with the rights of others who ask about it? Does it run where
the engine reads with the catalog's login: schema, privileges, sample values?
"""

from __future__ import annotations

import asyncpg
import pytest

from engine.link.value_reader import read_values
from schema_catalog.introspect import introspect
from schema_catalog.refresh import ConnectSettings
from tests.security import engine_door
from tests.security.arena import ATTACKER, CATALOG, SECRET, VICTIM, Arena
from tests.security.attacks import ATTACKS, REPRESENTATIVES, Attack, Moment
from tests.security.engine_door import Door
from tests.security.servers import VERSIONS, marks


def _marks(version: int, attack: Attack) -> list[pytest.MarkDecorator]:
    """Each on the newest version; on the oldest what newer ones do not know, and one of each family and moment."""
    older = attack.last < VERSIONS[-1] or attack in REPRESENTATIVES.values()
    return marks(version, VERSIONS[0 if older else -1])


@pytest.mark.parametrize(
    ("server", "attack"),
    [
        pytest.param(version, attack, id=f"{version}-{attack.name}", marks=_marks(version, attack))
        for version in VERSIONS
        for attack in ATTACKS
        if attack.on(version)
    ],
    indirect=["server"],
)
async def test_it_runs_with_the_rights_of_nobody_else(arena: Arena, door: Door, attack: Attack) -> None:
    await arena.plant(attack)
    await _is_real(arena, attack)
    for statement in attack.statements:
        assert SECRET not in await door.all_of_it(ATTACKER, statement), statement
        risen = [sighting for sighting in arena.log.sightings() if not sighting.harmless_for(ATTACKER)]
        assert not risen, statement
    # Who asks in good faith has an engine that knows nothing of what was asked before.
    async with engine_door.opened(arena) as new:
        for asker in (VICTIM, CATALOG):
            for statement in attack.statements:
                await new.all_of_it(asker, statement)
                assert not arena.log.sightings(), (asker, statement)
        await _is_read(arena, new)
    assert not arena.log.sightings(), "the catalog's login ran it"


async def _is_real(arena: Arena, attack: Attack) -> None:
    role = VICTIM if attack.victim else ATTACKER
    for statement in attack.statements:
        await arena.typed(role, "SET search_path = public; EXPLAIN " + statement)
        planned = arena.log.sightings()
        await arena.typed(role, "SET search_path = public; " + statement)
        run = arena.log.sightings()
        seen = planned if attack.moment is Moment.PLANNED else run
        assert seen, statement
        assert {sighting.current_user for sighting in seen} == {role}, statement


async def _is_read(arena: Arena, door: Door) -> None:
    """What the engine reads with the catalog's login."""
    connection = await asyncpg.connect(arena.dsn(CATALOG))
    try:
        snapshot = await introspect(connection, door.database)
    finally:
        await connection.close()
    await door.databases.readable(door.database, engine_door.asker(VICTIM))
    await door.databases.row_secured(door.database)
    columns = [(*table.key, column.name) for table, column in snapshot.columns()]
    assert columns, "nothing was there to read"
    await read_values(door.database, snapshot, columns, door.databases, ConnectSettings())
