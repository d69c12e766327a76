"""The chain of an audit log: what was changed, removed, put elsewhere or cut off is found, and where."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pgparley.cli import app
from proxy.audit import AuditLine
from proxy.net.audit_log import AuditLog
from proxy.settings import AuditSettings

LINES = 10_000
LINE = AuditLine(time="2026-11-28T10:00:00.000+00:00", role="ana", verb="ask", question="how many?")


def command(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--config", str(folder / "pgparley.toml"), *words])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A configuration with a key."""
    names = {"log": "audit.log", "key": "audit.key", "heads": "heads", "people": "people"}
    lines = [f'{key} = "{tmp_path / name}"' for key, name in names.items()]
    text = "\n".join(["[audit]", "pseudonyms = true", *lines])
    (tmp_path / "pgparley.toml").write_text(text, encoding="utf-8")
    made = command(tmp_path, "audit", "key")
    assert made.exit_code == 0, made.output
    assert (tmp_path / "audit.key").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "people").stat().st_mode & 0o777 == 0o700
    return tmp_path


def lost() -> None:
    raise AssertionError("a line was lost")


def opened(folder: Path, *, pseudonyms: bool = False, days: float = 0.0) -> AuditLog:
    places = {name: str(folder / name) for name in ("heads", "people")}
    key = str(folder / "audit.key")
    settings = AuditSettings(str(folder / "audit.log"), key=key, pseudonyms=pseudonyms, **places)
    return AuditLog(settings, lost, days)


def written(folder: Path, count: int = 20, workers: int = 2) -> Path:
    """A log of so many lines, by workers in turn."""
    logs = [opened(folder) for _ in range(workers)]
    for number in range(count):
        logs[number % workers].write(replace(LINE, n=number))
    for log in logs:
        log.close()
    return folder / "audit.log"


def verified(folder: Path, *files: Path, heads: bool = True) -> Result:
    more = ["--heads", str(folder / "heads")] if heads else []
    return command(folder, "audit", "verify", *map(str, files or [folder / "audit.log"]), *more)


def test_one_changed_byte_of_a_long_chain_is_found(folder: Path) -> None:
    file = written(folder, LINES)
    data = bytearray(file.read_bytes())
    place = data.index(b"how many?", len(data) // 2)
    data[place] ^= 1
    file.write_bytes(data)
    found = verified(folder)
    line = data.count(b"\n", 0, place) + 1
    assert found.exit_code == 1
    assert f"audit.log:{line}: changed" in found.output
    assert "1 flaws" in found.output


def _swapped(lines: list[bytes]) -> list[bytes]:
    return [*lines[:6], lines[8], lines[7], lines[6], *lines[9:]]


CHANGES: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str]] = {
    "a line removed": (
        lambda lines: lines[:6] + lines[7:],
        r":8: 1 line of chain \w+ missing before place 5",
    ),
    "the first line removed": (lambda lines: lines[1:], r":2: 1 line of chain \w+ missing before place 2"),
    "two lines swapped": (_swapped, r"in another order: place 4 of chain \w+ stands behind place 5"),
    "a line twice": (lambda lines: [*lines[:6], lines[4], *lines[6:]], "in another order: place 3"),
    "another's line": (
        lambda lines: [*lines[:6], b'{"time":"now"}', *lines[6:]],
        ":7: changed: no line with",
    ),
    "the MAC of a line": (
        lambda lines: [*lines[:6], lines[6][:-4] + b'ab"}', *lines[7:]],
        ":7: changed: the MAC",
    ),
    "the tail cut off": (
        lambda lines: lines[:-3],
        r"audit.log: cut off: chain \w+ had come to place 10, and ends at place 8",
    ),
    "a chain taken out": (lambda lines: lines[::2], "had come to place 10, and is in none of the files"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_was_changed_is_found(folder: Path, change: str) -> None:
    file = written(folder)
    make, told = CHANGES[change]
    file.write_bytes(b"".join(line + b"\n" for line in make(file.read_bytes().splitlines())))
    found = verified(folder)
    assert found.exit_code == 1, found.output
    assert re.search(told, found.output), found.output


def test_without_heads_it_is_said_that_the_end_is_not_known(folder: Path) -> None:
    file = written(folder)
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-3]))
    found = verified(folder, heads=False)
    assert found.exit_code == 0
    assert "cannot be told without --heads" in found.output


def test_another_key_proves_nothing(folder: Path) -> None:
    written(folder)
    (folder / "audit.key").write_text("0" * 64, encoding="ascii")
    assert "20 flaws" in verified(folder).output


def test_the_chain_goes_on_in_the_next_file(folder: Path) -> None:
    log, file, old = opened(folder), folder / "audit.log", folder / "audit.log.1"
    for number in range(3):
        log.write(replace(LINE, n=number))
    file.rename(old)
    for number in range(3, 6):
        log.write(replace(LINE, n=number, time="2026-11-29T10:00:00.000+00:00"))
    log.close()
    assert json.loads(file.read_bytes().splitlines()[0])["event"] == "continued"
    both = verified(folder, file, old)
    assert both.exit_code == 0, both.output
    assert "7 lines, 1 chains: all as they were written" in both.output
    alone = verified(folder, file)
    assert alone.exit_code == 0
    assert "goes on from place 3 of a file not given" in alone.output
    old.write_bytes(b"".join(old.read_bytes().splitlines(keepends=True)[:-1]))
    cut = verified(folder, old, file)
    assert cut.exit_code == 1
    assert "audit.log:1: 1 line of chain" in cut.output


def test_a_torn_line_is_told_and_the_next_one_begins_anew(folder: Path) -> None:
    file = written(folder, 3, workers=1)
    with file.open("ab") as torn:
        torn.write(b'{"event":"intent"\n')
    written(folder, 3, workers=1)
    assert "audit.log:4: changed: no line with a place and a MAC" in verified(folder).output


def test_files_that_are_too_old_are_deleted_and_no_others(folder: Path) -> None:
    kept = ["audit.log.key", "audit.log.1.sig", "audit.logs", "other.1"]
    old = ["audit.log.1", "audit.log-20260101.gz", "audit.log.2.gz"]
    log = opened(folder, days=1.0)
    for name in (*kept, *old, "audit.log.3"):
        (folder / name).touch()
    for name in (*kept, *old, "audit.log"):
        os.utime(folder / name, (0, 0))
    log.delete_old()
    there = {file.name for file in folder.iterdir()}
    assert there >= {*kept, "audit.log", "audit.log.3"}
    assert there.isdisjoint(old)
    log.close()


def test_people_stand_in_it_as_pseudonyms_until_they_are_forgotten(folder: Path) -> None:
    logs = [opened(folder, pseudonyms=True) for _ in range(2)]
    for log in logs:
        log.write(LINE)
        log.write(replace(LINE, role="bob"))
    ana, bob, again, _ = (
        json.loads(line)["role"] for line in (folder / "audit.log").read_bytes().splitlines()
    )
    assert ana == again != bob
    assert re.fullmatch("p-[0-9a-f]{20}", ana)
    assert command(folder, "audit", "person", "ana").output == f"{ana}\n"
    assert not any(
        b"ana" in file.read_bytes() or "ana" in file.name for file in (folder / "people").iterdir()
    )
    people = logs[0]._people
    assert people is not None
    assert people.forget("ana")
    assert not people.forget("ana")
    assert command(folder, "audit", "person", "ana").exit_code == 1
    logs[1].write(LINE)
    assert json.loads((folder / "audit.log").read_bytes().splitlines()[-1])["role"] not in {ana, bob, "ana"}
    for log in logs:
        log.close()


def test_a_key_is_made_once(folder: Path) -> None:
    before = (folder / "audit.key").read_bytes()
    assert "is there already" in command(folder, "audit", "key").output
    assert (folder / "audit.key").read_bytes() == before


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("before = true", "before needs log"),
        ('heads = "syslog"', "heads needs log and key"),
        ("pseudonyms = true", "pseudonyms needs key and people"),
    ],
)
def test_settings_that_prove_nothing_are_refused(tmp_path: Path, settings: str, said: str) -> None:
    (tmp_path / "pgparley.toml").write_text(f"[audit]\n{settings}\n", encoding="utf-8")
    found = command(tmp_path, "audit", "key")
    assert found.exit_code == 1
    assert said in found.output
