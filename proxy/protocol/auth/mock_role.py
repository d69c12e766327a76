"""Mock roles: what a login shows of a role before authentication, so that roles that do not exist look the same.

Visible are the challenge of a method, a salt's size, the iterations, and whether the gateway has to derive keys first
(PostgreSQL's mock authentication). Real roles can differ in these; a mock role then looks like most of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from proxy.protocol.auth.scram import ITERATIONS, SALT_SIZE, Verifier
from proxy.protocol.auth.secrets import Password, Secret


@dataclass(frozen=True, slots=True)
class VisibleTraits:
    """The visible traits of one role's secret; `iterations` and `salt_size` are 0 where it is no verifier."""

    iterations: int = 0
    salt_size: int = 0
    is_password: bool = False

    @staticmethod
    def of(secret: Secret) -> VisibleTraits:
        """The visible traits of `secret`."""
        if isinstance(secret, Verifier):
            return VisibleTraits(secret.iterations, len(secret.salt))
        return VisibleTraits(is_password=isinstance(secret, Password))


@dataclass(frozen=True, slots=True)
class MockRole:
    """The visible traits of a role that does not exist.

    `asks_scram`: method `md5` asks it for SCRAM. `derives_keys`: some role has a password, so every SCRAM login begins
    with a derivation of keys, needed or not.
    """

    iterations: int = ITERATIONS
    salt_size: int = SALT_SIZE
    asks_scram: bool = True
    derives_keys: bool = False


def typical_role(traits: Counter[VisibleTraits]) -> MockRole:
    """The most common traits; PostgreSQL's defaults where there are no roles."""
    verifiers = Counter({trait: count for trait, count in traits.items() if trait.iterations})
    common = verifiers.most_common(1)[0][0] if verifiers else VisibleTraits(ITERATIONS, SALT_SIZE)
    return MockRole(
        iterations=common.iterations,
        salt_size=common.salt_size,
        asks_scram=2 * verifiers.total() >= traits.total(),
        derives_keys=any(trait.is_password for trait in traits),
    )
