"""Only what was printed anew reaches a registered database: no other text that somebody wrote does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[4]

SENDING = {"execute", "executemany", "fetch", "fetchrow", "fetchval", "prepare", "cursor", "copy_from_query"}
"""Methods of the driver that take SQL."""

WRITTEN = {"sql", "body", "analysis", "question", "candidate", "definition", "tree"}
"""What holds a text that a person or a model wrote."""


def sent(path: Path) -> Iterator[ast.expr]:
    """The first argument of each call that sends SQL in a module."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in SENDING
            and node.args
        ):
            yield node.args[0]


def names(expression: ast.expr) -> set[str]:
    """Every name and attribute in an expression."""
    nodes = list(ast.walk(expression))
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }


def test_the_engine_sends_no_text_that_was_written() -> None:
    calls = [(path, each) for path in (ROOT / "engine" / "upstream").glob("*.py") for each in sent(path)]
    assert len(calls) > 10
    assert {"statement", "text"} <= {name for _, call in calls for name in names(call)}
    written = [f"{path.name}: {ast.unparse(each)}" for path, each in calls if names(each) & WRITTEN]
    assert written == []


def test_a_statement_is_printed_in_one_place() -> None:
    makers = {
        path.relative_to(ROOT).as_posix()
        for package in ("engine", "packages", "proxy", "pgparley", "page")
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Printed"
    }
    assert makers == {"engine/statement/printing/statement.py"}


def test_what_runs_in_place_is_what_was_printed() -> None:
    """The gateway puts the text of a choice into the client's session as it is: one method says what that may be."""
    service = ast.parse((ROOT / "engine" / "app" / "service.py").read_text("utf-8"))
    in_place = [
        ast.unparse(node)
        for path in (ROOT / "engine").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "Chosen"
        and "in_place=False" not in ast.unparse(node)
    ]
    assert in_place == ["Chosen(database.name, text, in_place=True)"]
    makes = next(node for node in ast.walk(service) if getattr(node, "name", "") == "_in_place")
    assert "text = await self._tools.upstream.in_place(" in ast.unparse(makes)
