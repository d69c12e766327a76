"""Attempts to sign in that fail make the next ones wait."""

from __future__ import annotations

from page.sessions import FREE_OF_ADDRESS, FREE_OF_ROLE, LONGEST_WAIT, Attempts


def failed(times: int, role: str = "dora", address: str = "10.0.0.1", now: float = 0.0) -> Attempts:
    attempts = Attempts()
    for _ in range(times):
        attempts.begun(role, address, now)
    return attempts


def test_the_first_ones_are_free_then_each_waits_longer_and_a_wait_is_over_when_its_time_is() -> None:
    waits = [failed(times).wait("dora", "10.0.0.2", 0.0) for times in range(FREE_OF_ROLE + 9)]
    assert waits[:FREE_OF_ROLE] == [0.0] * FREE_OF_ROLE
    assert waits[FREE_OF_ROLE : FREE_OF_ROLE + 4] == [1.0, 2.0, 4.0, 8.0]
    assert waits[-1] == LONGEST_WAIT
    attempts = failed(FREE_OF_ROLE + 1)
    assert [attempts.wait("dora", "10.0.0.2", now) for now in (0.5, 1.9, 2.0)] == [1.5, 2.0 - 1.9, 0.0]


def test_an_address_that_tries_many_roles_waits_as_well_and_memory_has_an_end() -> None:
    attempts = Attempts()
    for number in range(11_000):
        attempts.begun(f"role{number}", "10.0.0.1", 0.0)
        if number == FREE_OF_ADDRESS - 1:
            assert attempts.wait("another", "10.0.0.1", 0.0) > 0
            assert attempts.wait("another", "10.0.0.2", 0.0) == 0
    assert len(attempts._failures) <= 10_000


def test_success_and_time_forget() -> None:
    attempts = failed(FREE_OF_ROLE + 3)
    attempts.succeeded("dora", "10.0.0.1")
    assert attempts.wait("dora", "10.0.0.1", 0.0) == 0
    attempts = failed(FREE_OF_ROLE + 9)
    attempts.begun("dora", "10.0.0.1", 4 * LONGEST_WAIT + 1)
    assert attempts.wait("dora", "10.0.0.1", 4 * LONGEST_WAIT + 1) == 0
