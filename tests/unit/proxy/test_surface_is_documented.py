"""What a client can say, and every error that it can get, stands in docs/surface.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engine.values import errors
from engine.values.messages import ANSWER_COLUMNS, TOPIC_COLUMNS
from proxy.protocol.nl.grammar import _COMMANDS, COMMANDS
from proxy.protocol.nl.questions import OPTION_NAMES

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "surface.md").read_text("utf-8")
SQLSTATES = {
    kind.sqlstate
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.NLError)
}


@pytest.mark.parametrize("verb", ["run", *_COMMANDS])
def test_command_is_on_the_page_and_in_help(verb: str) -> None:
    form = re.compile(rf"NL {verb.upper()}\b")
    assert form.search(PAGE)
    assert any(form.search(command) for command, _ in COMMANDS)


@pytest.mark.parametrize(
    "form", [form for form, _ in COMMANDS if form.startswith("NL ") and "$$q" not in form]
)
def test_form_of_help_is_that_of_the_page(form: str) -> None:
    assert f"`{form}`" in PAGE.replace("\\|", "|")


@pytest.mark.parametrize("sqlstate", sorted(SQLSTATES))
def test_sqlstate(sqlstate: str) -> None:
    assert re.search(rf"^\| [^|]*{sqlstate}[^|]* \|", PAGE, re.MULTILINE)


def test_sqlstates_of_the_gateways_own() -> None:
    source = "".join(file.read_text("utf-8") for file in (ROOT / "proxy").rglob("*.py"))
    used = set(re.findall(r"ErrorReply\(\s*\"([0-9A-Z]{5})\"", source)) - {"01000"}
    assert {"08P01", "57P01", "08001"} <= used
    for sqlstate in used:
        assert sqlstate in PAGE


@pytest.mark.parametrize("name", OPTION_NAMES)
def test_option(name: str) -> None:
    assert f"| `{name}` |" in PAGE


@pytest.mark.parametrize("columns", [ANSWER_COLUMNS, *TOPIC_COLUMNS.values()])
def test_columns(columns: tuple[tuple[str, str], ...]) -> None:
    assert ", ".join(f"{name} {kind}" for name, kind in columns) in PAGE.replace("\n", " ")
