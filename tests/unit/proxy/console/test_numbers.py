"""Numbers in commands of the console: refused with words where nothing can be done with them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
import structlog

from engine.values.messages import ErrorReply
from proxy.console.grammar import AdminCommand
from proxy.net.console.console_connection import carry_out
from proxy.settings import GatewaySettings, assigned

SETTINGS = GatewaySettings("127.0.0.1")


@pytest.mark.parametrize("number", ["9" * 4301, "9" * 20, "0", "0" * 5000, "-1", "1.5", "٣", "NaN"])
async def test_there_is_no_such_client(number: str) -> None:
    nobody = cast("Any", SimpleNamespace(log=structlog.stdlib.get_logger("proxy")))
    outcome = await carry_out(nobody, AdminCommand("kill_client", number), "ann")
    assert outcome == ErrorReply("22023", "invalid client id", hint="SHOW CLIENTS shows it in the column id.")


@pytest.mark.parametrize("key", ["nl_timeout", "max_client_conn"])
@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "1e999", "9" * 20, "9" * 5000])
def test_a_setting_is_no_number_without_end(key: str, number: str) -> None:
    with pytest.raises(ValueError, match=key):
        assigned(SETTINGS, key, number)


def test_other_numbers_are_taken() -> None:
    assert assigned(SETTINGS, "nl_timeout", "1.5").nl_timeout == 1.5
    assert assigned(SETTINGS, "max_client_conn", "10").max_client_conn == 10
