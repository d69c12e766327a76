"""The systemd units: understood by systemd, closed off as promised, in agreement with the program and each other."""

from __future__ import annotations

import re
import shutil
import subprocess
from configparser import ConfigParser
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pgparley.cli import app
from pgparley.config import load

FOLDER = Path(__file__).parents[3] / "deploy" / "systemd"
UNITS = sorted(FOLDER.glob("*.service"))
PROGRAM = "/opt/pgparley/bin/pgparley"
EXPOSED = 3.0
"""What `systemd-analyze security` may say at most, of 10."""

units = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)


class Unit(ConfigParser):
    """A unit file; of a key that stands several times its values are joined by blanks."""

    def __init__(self, path: Path) -> None:
        super().__init__(interpolation=None, strict=False, delimiters=("=",))
        self.optionxform = str  # type: ignore[assignment, method-assign]
        section = ""
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("["):
                section = line.strip("[]")
                self.add_section(section)
            elif "=" in line and not line.startswith("#"):
                key, _, value = line.partition("=")
                self.set(section, key, " ".join(filter(None, (self.get(section, key, fallback=""), value))))

    @property
    def environment(self) -> dict[str, str]:
        words = self.get("Service", "Environment", fallback="").split()
        return dict(word.split("=", 1) for word in words)


def analyze(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `systemd-analyze`; skips where it is not, or too old to look at files."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed (Debian: systemd)")
    command = [program, "--no-pager", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - the system's own
    if "unrecognized option" in done.stderr:
        pytest.skip("this systemd-analyze cannot look at a unit's file: it is older than 250")
    return done


@units
def test_a_unit_is_understood(unit: Path, tmp_path: Path) -> None:
    copy = tmp_path / unit.name
    copy.write_text(unit.read_text("utf-8").replace(PROGRAM, "/bin/true"), encoding="utf-8")
    done = analyze("verify", "--man=no", str(copy))
    assert (done.returncode, done.stderr) == (0, "")


@units
def test_a_unit_is_closed_off(unit: Path) -> None:
    done = analyze("security", "--offline=true", str(unit))
    found = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
    assert found is not None, done.stderr
    assert float(found[1]) <= EXPOSED


@units
def test_a_unit_starts_what_the_program_has(unit: Path) -> None:
    command = Unit(unit).get("Service", "ExecStart").split()
    assert command[:2] == [PROGRAM, "serve"]
    assert unit.stem == f"pgparley-{command[2]}"
    assert CliRunner().invoke(app, [*command[1:], "--help"]).exit_code == 0


@units
def test_a_units_user_is_made(unit: Path) -> None:
    made = re.findall(r"^u (\S+)", (FOLDER / "pgparley.sysusers").read_text("utf-8"), re.MULTILINE)
    assert Unit(unit).get("Service", "User") in made


@units
def test_a_units_environment_is_understood_and_stays_in_its_folders(unit: Path, tmp_path: Path) -> None:
    service = Unit(unit)
    environment = {key: value for key, value in service.environment.items() if key != "PGPARLEY_CONFIG"}
    (tmp_path / "empty.toml").touch()
    config = load(tmp_path / "empty.toml", environment)
    folders = {
        f"{base}/{service.get('Service', key)}"
        for base, key in (
            ("/run", "RuntimeDirectory"),
            ("/var/cache", "CacheDirectory"),
            ("/var/lib", "StateDirectory"),
        )
        if service.has_option("Service", key)
    }
    if unit.stem == "pgparley-model":
        used = [config.embedded_model.path, config.embedded_model.prefixes]
    else:
        used = [config.engine.socket, Path(config.gateway.runtime_dir), config.engine.vectors]
    for path in used:
        assert path is not None
        assert any(path.is_relative_to(folder) for folder in folders), path


def test_gateway_and_engine_share_user_folder_and_configuration() -> None:
    gateway, engine = (Unit(FOLDER / f"pgparley-{name}.service") for name in ("gateway", "engine"))
    for key in ("User", "RuntimeDirectory", "RuntimeDirectoryMode", "RuntimeDirectoryPreserve"):
        assert gateway.get("Service", key) == engine.get("Service", key)
    for name in ("PGPARLEY_CONFIG", "XDG_RUNTIME_DIR"):
        assert gateway.environment[name] == engine.environment[name]


def test_the_models_key_is_made_for_its_unit_and_the_engine(tmp_path: Path) -> None:
    file = Unit(FOLDER / "pgparley-model.service").get("Service", "EnvironmentFile")
    page = (FOLDER.parents[1] / "docs" / "operations.md").read_text("utf-8")
    block = page.partition("## One machine, under systemd")[2].split("```")[1]
    steps = [line for line in block.splitlines() if file in line]
    config = tmp_path / "pgparley.toml"
    command = ["--config", str(config), "init", "--yes", "--model", "http://127.0.0.1:6433/v1"]
    assert CliRunner().invoke(app, command).exit_code == 0
    for step in steps:
        subprocess.run(["sh", "-euc", step.replace("/etc/pgparley", str(tmp_path))], check=True)  # noqa: S603, S607 - as documented
    made = tmp_path / Path(file).name
    name, _, key = made.read_text("utf-8").strip().partition("=")
    assert load(config, {}).model.api_key == load(config, {name: key}).model.api_key == key
    assert len(key) > 40
    assert made.stat().st_mode & 0o077 == 0
