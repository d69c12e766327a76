"""Every setting, metric, command and option is documented, and settings in documents can be loaded."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints

import msgspec
import pytest
import typer.main
from typer.core import TyperGroup

from engine.app.metrics import Metrics
from pgparley.cli import app
from pgparley.config import Config, load
from proxy.console import views
from proxy.console.grammar import ADMIN_COMMANDS
from proxy.metrics import GatewayMetrics, exposition
from proxy.settings import FIXED, GatewaySettings
from tests.conftest import ROOT

EXAMPLE = ROOT / "deploy" / "pgparley.example.toml"
PAGE = (ROOT / "docs" / "operations.md").read_text("utf-8")
MONITORING = (ROOT / "docs" / "monitoring.md").read_text("utf-8")


def keys() -> set[tuple[str, str]]:
    found = set()
    for name, kind in get_type_hints(Config).items():
        inner = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
        found |= {(name, field.name) for field in inner} or {("", name)}
    return found


def test_every_key_is_in_the_example() -> None:
    shown, section = set(), ""
    for line in EXAMPLE.read_text("utf-8").splitlines():
        if (header := re.fullmatch(r"\[(\w+)\]", line)) is not None:
            section = header[1]
        elif (setting := re.match(r"#?(\w+) = ", line)) is not None:
            shown.add((section, setting[1]))
    assert shown == keys()


def test_the_example_holds_the_defaults(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.touch()
    environment = {"XDG_CACHE_HOME": "/cache", "XDG_RUNTIME_DIR": "/run"}
    assert load(EXAMPLE, environment) == load(empty, environment)
    uncommented = re.sub(r"(?m)^#(?=\w+ = )", "", EXAMPLE.read_text("utf-8"))
    whole = tmp_path / "whole.toml"
    whole.write_text(uncommented, encoding="utf-8")
    assert load(whole, {}) != load(empty, environment)
    assert set(tomllib.loads(uncommented)["gateway"]) == {
        field.name for field in dataclasses.fields(GatewaySettings)
    }


def test_the_example_explains_every_key() -> None:
    """A comment stands in each paragraph, above the keys that it is about."""
    for paragraph in re.split(r"\n\n+", EXAMPLE.read_text("utf-8")):
        lines = [line for line in paragraph.splitlines() if not re.fullmatch(r"\[\w+\]", line)]
        setting = re.compile(r"#?\w+ = ")
        assert not lines or not setting.match(lines[0]), lines[0]


def test_the_page_leads_to_every_key_and_says_what_a_reload_leaves() -> None:
    assert "(../deploy/pgparley.example.toml)" in PAGE
    for section, key in keys():
        assert f"`[{section}]`" in PAGE if section else f"`{key}`" in PAGE
    assert {field.name for field in dataclasses.fields(GatewaySettings)} >= FIXED
    unchanged = PAGE.partition("Not changed by a reload:")[2].partition("A rolling restart")[0]
    assert set(re.findall(r"`(\w+)`", unchanged)) == FIXED


def test_every_metric_and_every_command_is_on_the_page() -> None:
    families = {family.name for family in GatewayMetrics().registry.collect()}
    families |= {
        line.split()[2] for line in exposition([]).decode().splitlines() if line.startswith("# TYPE")
    }
    families |= {family.name for family in Metrics().registry.collect()}
    for name in families:
        assert f"`{name.removesuffix('_total')}`" in MONITORING, name
    console = MONITORING.partition("## Console")[2]
    for name in (*views.NAMES, *ADMIN_COMMANDS):
        assert re.search(rf"\b{name.upper()}\b", console), name
    assert all(name.upper() in views.HELP for name in (*views.NAMES, *ADMIN_COMMANDS))


def test_settings_travel_as_they_are() -> None:
    settings = load(EXAMPLE, {}).gateway
    assert msgspec.convert(msgspec.to_builtins(settings), GatewaySettings) == settings


def test_every_option_of_the_command_line_is_on_some_page() -> None:
    pages = "".join(page.read_text("utf-8") for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
    group = typer.main.get_command(app)
    found = list(options(group))
    assert len(found) > 40
    for words, names in found:
        assert any(re.search(rf"(?<![\w-]){name}(?![\w-])", pages) for name in names), (words, names)


def options(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """(command, names) of each option that it or a command below it takes."""
    for parameter in command.params:
        if parameter.param_type_name == "option" and "--help" not in parameter.opts:
            yield words, [*parameter.opts, *parameter.secondary_opts]
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, *words, name)


def test_every_command_line_is_on_some_page() -> None:
    """As `pgparley store migrate`, or among others: `pgparley catalog add|list`."""
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    for words in commands(group):
        before, last = " ".join(["pgparley", *words[:-1]]), words[-1]
        assert re.search(rf"{before} [\w|-]*(?<![\w-]){last}(?![\w-])", pages), words


def commands(group: TyperGroup, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command of `group`."""
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from commands(command, (*before, name))
        else:
            yield (*before, name)


COPIED = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [
    pytest.param(block, id=f"{page.name}: {block.partition(chr(10))[0]}")
    for page in COPIED
    for block in re.findall(r"^```(?:toml)?\n(\[.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
]
SERVICES = re.findall(
    r"^\| (.+?) \| (`base_url = .+?) \|", (ROOT / "docs" / "models.md").read_text("utf-8"), re.MULTILINE
)


def test_there_are_such_blocks_and_services() -> None:
    assert len(BLOCKS) > 5
    assert {"OpenAI", "Ollama", "vLLM"} <= {service for service, _ in SERVICES}


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_is_loaded(block: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(block, "utf-8")
    load(file, {"OPENAI_API_KEY": "k", "GROQ_API_KEY": "k"})


@pytest.mark.parametrize(("service", "lines"), SERVICES)
def test_a_service_is_loaded(service: str, lines: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    settings = re.findall(r"(\w+ = \"[^\"]*\")", lines)
    file.write_text("\n".join(["[model]", *settings, 'api_key = "k"']), "utf-8")
    model = load(file, {}).model
    assert model.base_url, service
    assert model.model or model.deployment, service
