"""The Dockerfile and compose.yaml by their texts: what they copy exists, nobody is root, roots are read-only.

Building and running them is for a machine with a container engine; this is what can be known without one.
"""

from __future__ import annotations

import fnmatch
import re
import shlex
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from pgparley.cli import app
from pgparley.config import load
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
OURS = {name: COMPOSE["services"][name] for name in IMAGES}

images = pytest.mark.parametrize("image", IMAGES)


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


def test_the_build_has_every_package_of_the_wheel() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packages = {name.rstrip("*") for name in project["tool"]["setuptools"]["packages"]["find"]["include"]}
    assert packages <= set(STAGES["build"].copies)


def test_nothing_of_the_machine_that_builds_gets_into_the_build() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    patterns = [line.removeprefix("**/") for line in ignored if line.startswith("**/")]
    for name in ("_pump.cpython-311-x86_64-linux-gnu.so", "__pycache__"):
        assert any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def test_the_images_install_this_version() -> None:
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


@images
def test_an_images_environment_is_understood(image: str, tmp_path: Path) -> None:
    texts = [text for word, text in STAGES[image].instructions if word == "ENV"]
    given = dict(word.split("=", 1) for text in texts for word in shlex.split(text))
    given |= OURS[image].get("environment", {})
    (tmp_path / "empty.toml").touch()
    config = load(tmp_path / "empty.toml", given)
    mounted = [volume.split(":")[1] for volume in OURS[image]["volumes"]]
    if image == "model":
        assert parts(config)[1].environment["PGPARLEY_EMBEDDED_MODEL_PORT"] == "6433"
        written = [config.embedded_model.path, config.embedded_model.prefixes]
    else:
        written = [
            config.engine.socket,
            Path(config.gateway.runtime_dir),
            config.engine.vectors,
            config.engine.router,
        ]
    for path in written:
        assert path is not None
        assert any(path.is_relative_to(folder) for folder in mounted), path


@images
def test_a_service_is_closed_off(image: str) -> None:
    service = OURS[image]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["user"].split(":")[0] == STAGES[image].last("USER").split(":")[0]
    assert service["build"]["target"] == image
    assert (FOLDER / service["build"]["context"]).resolve() == ROOT
    assert (ROOT / service["build"]["dockerfile"]).is_file()


def test_services_agree_with_each_other() -> None:
    assert OURS["gateway"]["volumes"] == OURS["engine"]["volumes"]
    for service in COMPOSE["services"].values():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or (FOLDER / source).is_file()
        assert set(service.get("depends_on", {})) <= set(COMPOSE["services"])
    scraped = yaml.safe_load((FOLDER / "prometheus.yaml").read_text("utf-8"))["scrape_configs"][0]
    page = OURS["gateway"]["environment"]["PGPARLEY_GATEWAY_PROMETHEUS_LISTEN"]
    assert scraped["static_configs"][0]["targets"] == [f"gateway:{page.split(':')[1]}"]
