"""Files with secrets that others can read: `check` and `serve` warn of them, and of no other file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from pgparley.check.finding import Outcome
from pgparley.check.secret_files import check_secret_files
from pgparley.config import load
from pgparley.private_file import private
from pgparley.processes import PartKind
from pgparley.serve_command import CannotStartError, serve_parts
from proxy.net import access

SECRETS = {
    "a password in the store's address": '[engine]\nstore = "postgresql://keeper:hush@db/kept"\n',
    "one in a keyword string": "[engine]\nstore = \"host=db password='hush'\"\n",
    "one for the key of TLS": '[engine]\nstore = "postgresql://keeper@db/kept?sslpassword=hush"\n',
    "a model's key": '[model]\napi_key = "hush"\n',
    "a key of one that stands in": '[[model.fallback]]\nbase_url = "http://there/v1"\napi_key = "hush"\n',
    "a password in the model's address": '[model]\nbase_url = "http://me:hush@there/v1"\n',
}
NONE = '[engine]\nstore = "postgresql://keeper@db/kept?passfile=/a"\n[model]\nbase_url = "http://there/v1"\n'


def warned(file: Path) -> list[str]:
    found = list(check_secret_files(load(file, {}), file))
    assert all(each.outcome is Outcome.WARNING and "chmod 600" in each.action for each in found)
    assert "hush" not in str(found)
    return [each.found.split()[0] for each in found]


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS.keys())
def test_a_configuration_with_a_secret(text: str, tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(text, encoding="utf-8")
    file.chmod(0o644)
    assert warned(file) == [str(file)]
    assert warned(private(file)) == []


def test_a_configuration_without_one(tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(NONE, encoding="utf-8")
    file.chmod(0o644)
    assert warned(file) == []


def test_the_files_that_it_names(tmp_path: Path) -> None:
    keys = {"gateway": ("auth_file", "client_tls_key_file", "server_tls_key_file", "engine_secret_file")}
    keys["gateway"] += ("engine_tls_key_file",)
    keys |= {"engine": ("secret_file", "tls_key_file"), "page": ("tls_key_file",), "model": ("api_key_file",)}
    text, named = "", []
    for section, names in keys.items():
        text += f"[{section}]\n"
        for name in names:
            named.append(tmp_path / f"{section}-{name}")
            named[-1].touch(0o644)
            text += f'{name} = "{named[-1]}"\n'
    file = tmp_path / "pgparley.toml"
    file.write_text(
        f'{text}[[model.fallback]]\nbase_url = "http://there/v1"\napi_key_file = "/nowhere"\n',
        encoding="utf-8",
    )
    assert sorted(warned(file)) == sorted(map(str, named))
    named.pop().unlink()
    assert len(warned(file)) == len(named), "what is on another machine is its own matter"


def test_a_group_may_read_what_root_owns(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.touch()
    file.chmod(0o640)
    if os.geteuid() == 0:
        assert access.exposed([str(file)]) == []
        os.chown(file, 65534, -1)
    assert access.exposed([str(file)]) == [str(file)]


def test_serve_says_so_and_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "pgparley.toml"
    file.write_text(SECRETS["a model's key"], encoding="utf-8")
    file.chmod(0o644)
    config = load(file, {"XDG_RUNTIME_DIR": str(tmp_path / ("d" * 100))})
    with capture_logs() as logs, pytest.raises(CannotStartError, match="too long"):
        serve_parts(config, file, PartKind.GATEWAY)
    assert [(each["event"], each["file"]) for each in logs] == [("secrets_readable_by_others", str(file))]
