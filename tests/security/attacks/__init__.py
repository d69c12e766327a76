"""Ways to have PostgreSQL run a user's code unasked, as data."""

from __future__ import annotations

from tests.security.attacks.attack import Attack, Moment
from tests.security.attacks.casts import CASTS
from tests.security.attacks.domains import DOMAINS
from tests.security.attacks.loans import LOANS
from tests.security.attacks.ranges import RANGES
from tests.security.attacks.relations import RELATIONS
from tests.security.attacks.shadows import SHADOWS

__all__ = ["ATTACKS", "REPRESENTATIVES", "Attack", "Moment"]

FAMILIES = (CASTS, DOMAINS, RANGES, RELATIONS, SHADOWS, LOANS)

ATTACKS = tuple(attack for family in FAMILIES for attack in family)

REPRESENTATIVES = {(n, each.moment): each for n, family in enumerate(FAMILIES) for each in reversed(family)}
"""The first of each family and moment."""
