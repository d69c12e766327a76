"""How the roles of an installation look to somebody who tries to log in, so that made-up ones look the same.

Owns what shows before anybody has proved anything: the challenge of a method, a salt's size, the iterations, and
whether the gateway has to derive keys first. Roles can differ in these; a made-up role then looks like most.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from proxy.protocol.auth.scram import ITERATIONS, SALT_SIZE, Verifier
from proxy.protocol.auth.secrets import Password, Secret


@dataclass(frozen=True, slots=True)
class VisibleTraits:
    """What shows of one role's secret; `iterations` and `salt_size` are 0 where it is no verifier."""

    iterations: int = 0
    salt_size: int = 0
    is_password: bool = False

    @staticmethod
    def of(secret: Secret) -> VisibleTraits:
        """What shows of `secret`."""
        if isinstance(secret, Verifier):
            return VisibleTraits(secret.iterations, len(secret.salt))
        return VisibleTraits(is_password=isinstance(secret, Password))


@dataclass(frozen=True, slots=True)
class MockRole:
    """What shows of a role that is not there.

    `asks_scram`: method `md5` asks it for SCRAM. `derives_keys`: some role has a password, so every SCRAM login begins
    with a derivation of keys, needed or not.
    """

    iterations: int = ITERATIONS
    salt_size: int = SALT_SIZE
    asks_scram: bool = True
    derives_keys: bool = False


def typical_role(traits: Counter[VisibleTraits]) -> MockRole:
    """What most roles look like; what PostgreSQL's look like by default where there are none."""
    verifiers = Counter({trait: count for trait, count in traits.items() if trait.iterations})
    common = verifiers.most_common(1)[0][0] if verifiers else VisibleTraits(ITERATIONS, SALT_SIZE)
    return MockRole(
        iterations=common.iterations,
        salt_size=common.salt_size,
        asks_scram=2 * verifiers.total() >= traits.total(),
        derives_keys=any(trait.is_password for trait in traits),
    )
