"""Code that PostgreSQL runs unasked never gets more rights through the engine than whoever wrote it has.

Three questions for each attack and version. Does it work at all, where somebody types the statement? Does role_a,
who planted it, get at role_b's secret by asking? Does it run with the rights of others who ask about it?
"""

from __future__ import annotations

import pytest

from tests.security.arena import ATTACKER, CATALOG, SECRET, VICTIM, Arena
from tests.security.attacks import Attack, Moment
from tests.security.cases import on_every_attack
from tests.security.engine_door import Door


@on_every_attack
async def test_the_attack_is_real(arena: Arena, attack: Attack) -> None:
    await arena.plant(attack)
    role = VICTIM if attack.victim else ATTACKER
    for statement in attack.statements:
        await arena.typed(role, "SET search_path = public; EXPLAIN " + statement)
        planned = arena.log.sightings()
        await arena.typed(role, "SET search_path = public; " + statement)
        seen = planned if attack.moment is Moment.PLANNED else arena.log.sightings()
        assert seen, statement
        assert {sighting.current_user for sighting in seen} == {role}, statement


@on_every_attack
async def test_whoever_planted_it_gets_nothing_by_asking(arena: Arena, door: Door, attack: Attack) -> None:
    await arena.plant(attack)
    for statement in attack.statements:
        told = await door.all_of_it(ATTACKER, statement)
        assert SECRET not in told, statement
        risen = [sighting for sighting in arena.log.sightings() if not sighting.harmless_for(ATTACKER)]
        assert not risen, statement


@on_every_attack
@pytest.mark.parametrize("asker", [VICTIM, CATALOG])
async def test_it_runs_for_nobody_else(arena: Arena, door: Door, attack: Attack, asker: str) -> None:
    await arena.plant(attack)
    for statement in attack.statements:
        await door.all_of_it(asker, statement)
        assert not arena.log.sightings(), statement
