"""When a model server is called, and when not: decisions by a clock that the tests turn."""

from __future__ import annotations

import pytest

from engine.llm.circuit import Circuit, CircuitState, Outage
from engine.values.model_settings import ModelSettings

SETTINGS = ModelSettings(circuit_failures=3, circuit_pause=10.0, circuit_patience=30.0)


class Clocked:
    """A circuit, and what it has told of."""

    def __init__(self, settings: ModelSettings = SETTINGS) -> None:
        self.told: list[Outage | None] = []
        self.circuit = Circuit(settings, self.told.append)

    def fail(self, *times: float) -> None:
        for now in times:
            assert self.circuit.refused(now) is None
            self.circuit.failed(now, now + 0.5, f"refused at {now:g}")

    def opened(self) -> Circuit:
        self.fail(1, 2, 3)
        assert self.circuit.state is CircuitState.OPEN
        return self.circuit


def test_failures_in_a_row_open_it() -> None:
    clocked = Clocked()
    clocked.fail(1, 2)
    clocked.circuit.answered(2.7)
    clocked.fail(3, 4)
    assert clocked.told == []
    clocked.fail(5)
    outage = Outage(since=3, failures=3, last="refused at 5", again_at=15.5)
    assert clocked.told == [outage]
    assert clocked.circuit.refused(15.4) == outage


def test_one_call_sees_whether_the_server_is_back() -> None:
    clocked = Clocked()
    circuit = clocked.opened()
    assert circuit.refused(13.5) is None
    assert circuit.refused(13.5) is not None, "one alone"
    circuit.failed(13.5, 14, "still away")
    seen = circuit.refused(23.9)
    assert seen == Outage(since=1, failures=4, last="still away", again_at=24)
    assert circuit.refused(24) is None
    circuit.answered(25)
    assert (circuit.state, circuit.outage, circuit.refused(25)) == (CircuitState.CLOSED, None, None)
    assert [each is None for each in clocked.told] == [False, True], "told once, however often it was tried"


def test_where_nobody_waits_for_the_answer_the_next_call_sees() -> None:
    circuit = Clocked().opened()
    assert circuit.refused(14) is None
    circuit.given_up(14, 15)
    assert circuit.refused(15) is None
    circuit.timed_out(15, 16)
    assert circuit.refused(16) is None
    circuit.timed_out(16, 46)
    assert circuit.outage == Outage(since=1, failures=4, last="no answer in 30 seconds", again_at=56)


def test_an_impatient_asker_opens_nothing() -> None:
    clocked = Clocked()
    for n in range(10):
        clocked.circuit.timed_out(n, n + 0.2)
    clocked.fail(20, 21)
    assert clocked.told == []
    clocked.circuit.timed_out(22, 52)
    assert clocked.circuit.state is CircuitState.OPEN


def test_calls_from_before_say_nothing_but_that_it_is_back() -> None:
    circuit = Clocked().opened()
    circuit.failed(2, 5, "begun before it opened")
    assert circuit.refused(6) == Outage(since=1, failures=3, last="refused at 3", again_at=13.5)
    assert circuit.refused(14) is None
    circuit.failed(2, 15, "no probe")
    circuit.given_up(2, 15)
    assert circuit.state is CircuitState.HALF_OPEN
    circuit.answered(16)
    for began in range(5):
        circuit.failed(began, 17, "of the server as it was")
    assert circuit.state is CircuitState.CLOSED
    circuit = Clocked().opened()
    circuit.answered(4)
    assert circuit.state is CircuitState.CLOSED


def test_it_can_be_switched_off() -> None:
    clocked = Clocked(ModelSettings(circuit_failures=0))
    clocked.fail(*range(100))
    assert clocked.told == []


@pytest.mark.parametrize("name", ["circuit_failures", "circuit_pause", "circuit_patience"])
def test_no_setting_is_negative(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        ModelSettings(**{name: -1})  # type: ignore[arg-type]  # each by its name
