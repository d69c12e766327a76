"""What was asked for longest ago makes room."""

from __future__ import annotations

from engine.values.recent import Recent


def test_the_values_asked_for_last_are_kept() -> None:
    kept = Recent[str, int](2)
    assert [kept.keep("a", 1), kept.keep("b", 2)] == [1, 2]
    assert kept.get("a") == 1
    kept.keep("c", 3)
    assert [kept.get(name) for name in "abc"] == [1, None, 3]
    kept.keep("a", 4)
    kept.replace(lambda value: 10 * value)
    assert [kept.get(name) for name in "ac"] == [40, 30]
