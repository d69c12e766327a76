"""Whatever role_a plants, in whatever combination: it runs with role_a's rights or not at all."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.security import arena as arenas
from tests.security import engine_door
from tests.security.arena import ATTACKER, CATALOG, SECRET, VICTIM
from tests.security.attacks import Attack
from tests.security.combinations import plantings
from tests.security.servers import NEWEST, Server

EXAMPLES = 30


async def _typed_and_asked(server: Server, planted: Attack) -> bool:
    """Whether the code runs where role_a or role_b types the statement; fails where it does for whoever asks."""
    async with arenas.emptied(server) as arena, engine_door.opened(arena) as door:
        await arena.plant(planted)
        for statement in planted.statements:
            await arena.typed(
                VICTIM if planted.victim else ATTACKER, "SET search_path = public; " + statement
            )
        fired = bool(arena.log.sightings())
        for statement in planted.statements:
            assert SECRET not in await door.all_of_it(ATTACKER, statement), statement
            seen = arena.log.sightings()
            assert all(sighting.harmless_for(ATTACKER) for sighting in seen), (statement, seen)
            for asker in (VICTIM, CATALOG):
                await door.all_of_it(asker, statement)
                seen = arena.log.sightings()
                assert not seen, (asker, statement, seen)
    return fired


@pytest.mark.parametrize("server", NEWEST, indirect=True)
def test_nothing_runs_with_other_rights(server: Server) -> None:
    fired: list[bool] = []

    @settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def combinations(data: st.DataObject) -> None:
        planted = data.draw(plantings(server.version))
        fired.append(asyncio.run(_typed_and_asked(server, planted)))

    combinations()
    # A property over code that never runs would hold of anything.
    assert sum(fired) > EXAMPLES / 3
