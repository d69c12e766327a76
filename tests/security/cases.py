"""Each attack on each server that it works on, as parameters of a test."""

from __future__ import annotations

import pytest

from tests.security.attacks import ATTACKS
from tests.security.servers import VERSIONS, marks

on_every_attack = pytest.mark.parametrize(
    ("server", "attack"),
    [
        pytest.param(version, attack, id=f"{version}-{attack.name}", marks=marks(version))
        for version in VERSIONS
        for attack in ATTACKS
        if attack.on(version)
    ],
    indirect=["server"],
)
