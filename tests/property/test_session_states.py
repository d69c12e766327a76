"""Every phase of a session with every event: what the table allows happens, anything else is refused."""

from __future__ import annotations

import random
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.protocol import codec
from proxy.protocol.codec import Parse
from proxy.protocol.session import Session
from proxy.protocol.session_phases import TRANSITIONS, Event, Phase
from tests.fuzz.corpus import SEEDS
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import TARGETS

names = st.binary(max_size=20).map(lambda data: data.replace(b"\0", b""))


@pytest.mark.parametrize(("phase", "event"), list(product(Phase, Event)))
def test_transition(phase: Phase, event: Event) -> None:
    session = Session(4000, 60.0)
    session.phase = phase
    if (phase, event) in TRANSITIONS:
        session._move(event)
        assert session.phase is TRANSITIONS[phase, event]
    else:
        with pytest.raises(KeyError):
            session._move(event)
        assert session.phase is phase


def test_every_phase_is_reached_and_the_last_one_is_never_left() -> None:
    reached, before = {Phase.STARTUP}, set[Phase]()
    while reached != before:
        before = set(reached)
        reached |= {after for (phase, _), after in TRANSITIONS.items() if phase in before}
    assert reached == set(Phase)
    assert not any(phase is Phase.CLOSED for phase, _ in TRANSITIONS)
    assert {event for _, event in TRANSITIONS} == set(Event)


@given(names, names, st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_parse_round_trip(name: bytes, text: bytes, types: list[int]) -> None:
    parse = Parse(name, text, tuple(types))
    assert codec.decode_parse(codec.encode_parse(parse)) == parse


@given(st.sampled_from(b"SP"), names)
def test_target_round_trip(kind: int, name: bytes) -> None:
    target = codec.decode_target(codec.message(b"D", bytes([kind]) + name + b"\0"))
    assert (target.kind, target.name) == (bytes([kind]), name)


@given(names)
def test_query_round_trip(text: bytes) -> None:
    assert codec.decode_query(codec.encode_query(text)) == text


@given(st.sampled_from(sorted(TARGETS)), st.integers(0, 2**32))
def test_fuzzer_finds_nothing_in_a_glance(target: str, seed: int) -> None:
    """The ten minutes are `python -m tests.fuzz --minutes 10`."""
    rng = random.Random(seed)  # noqa: S311 - reproducible on purpose
    for _ in range(10):
        TARGETS[target](mutated(rng.choice(SEEDS[target]), SEEDS[target], rng), rng)
