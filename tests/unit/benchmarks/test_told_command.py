"""A result names the command that makes it again, and no folder of the machine that it ran on."""

from __future__ import annotations

from benchmarks.harness.command import told_command


def test_what_lies_where_is_left_out() -> None:
    given = ["--bench", "/data", "--half", "0", "--work=/tmp/a b", "--arms", "all,masks", "--json", "x.json"]
    assert told_command("b.q", given) == "python -m b.q --half 0 --arms all,masks"
    assert told_command("b.q", ["--score", "--page", "p.md", "--n=5"]) == "python -m b.q --score --n 5"
    assert told_command("b.q", []) == "python -m b.q"
